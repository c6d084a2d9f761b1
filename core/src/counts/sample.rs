//! A copy of the counts and of the indexed documents, which periodic statistics are computed from.

use crate::counts::array::{Piecewise, Purpose};
use crate::counts::attributes::Attributes;
use crate::counts::codec::ranks;
use crate::counts::export::{Counts, Documents, export};
use crate::counts::index::{Index, Recent};
use crate::counts::partial::{Copied, PartialCopy};
use crate::counts::{
    Class, ClassId, Counted, Document, Rows, SavedOrder, Settings, Store, Vocabulary,
};
use std::sync::OnceLock;

/// A copy of a store at one moment.
///
/// Its arrays number words, classes and attributes as a restored store does. So statistics that are
/// computed from them have the same bits in a model and in its restored copies.
pub struct Sample {
    settings: Settings,
    /// The words, which cannot be found by their bytes.
    vocabulary: Vocabulary,
    attributes: Attributes,
    classes: Vec<Class>,
    class_order: Vec<ClassId>,
    rows: Rows,
    recent: Recent,
    unit: f64,
    order: OnceLock<SavedOrder>,
    /// The number of the refresh that has begun at this moment, if one has.
    pub refresh: Option<u64>,
    pub layout: u64,
    pub version: u64,
}

impl Sample {
    /// A copy of a store; without `documents` the index is empty.
    pub fn of(store: &Store, documents: bool, refresh: Option<u64>) -> Self {
        Sample {
            settings: store.settings,
            vocabulary: store.vocabulary.words_alone(),
            attributes: store.attributes.clone(),
            classes: store.classes.clone(),
            class_order: store.class_order(),
            rows: store.rows.clone(),
            recent: if documents { store.index.recent().clone() } else { Recent::default() },
            unit: store.unit(),
            order: OnceLock::new(),
            refresh,
            layout: store.layout,
            version: store.version,
        }
    }

    /// The counts as statistics see them; `index` takes the place of the index.
    pub fn counted<'a>(&'a self, index: &'a Index) -> Counted<'a> {
        Counted { classes: &self.classes, rows: &self.rows, index }
    }

    pub fn settings(&self) -> Settings {
        self.settings
    }

    /// Words, classes and attributes in the order of the arrays.
    pub fn order(&self) -> &SavedOrder {
        self.order.get_or_init(|| {
            let classes = self.class_order.clone();
            SavedOrder::of(self.settings, &self.vocabulary, &self.attributes, classes)
        })
    }

    /// The place of each word in the order, by word id.
    pub fn word_places(&self) -> Vec<u32> {
        ranks(&self.order().words, self.vocabulary.slots())
    }

    /// The place of each class in the order, by class id.
    pub fn class_places(&self) -> Vec<u32> {
        ranks(&self.order().classes, self.classes.len())
    }

    /// The copied documents, oldest first, with ids of the store.
    pub fn indexed(&self) -> impl Iterator<Item = &Document> {
        self.recent.documents()
    }

    /// The counts in units of the clock.
    pub fn counts(&self) -> Counts {
        let SavedOrder { words, classes, .. } = self.order();
        export(&self.rows, &self.classes, self.unit, words.iter().copied(), classes)
    }

    /// The copied documents.
    pub fn documents(&self) -> Documents {
        let order = self.order();
        let (words, classes) = (self.word_places(), self.class_places());
        let attributes = if self.settings.columns {
            let places = ranks(&order.attributes, self.attributes.slots());
            let place = |&word| i64::from(places[self.attributes.of(word) as usize]);
            order.words.iter().map(place).collect()
        } else {
            (0..order.words.len() as i64).collect()
        };
        let mut exported = Documents { attributes, ..Documents::default() };
        exported.indptr.push(0);
        for document in self.indexed() {
            let Document { class, weight, words } =
                document.renamed(classes[document.class as usize], &words);
            exported.classes.push(i64::from(class));
            exported.weights.push(weight / self.unit);
            exported.words.extend(words.iter().map(|&(word, _)| i64::from(word)));
            exported.counts.extend(words.iter().map(|&(_, count)| count));
            exported.indptr.push(exported.words.len() as i64);
        }
        exported
    }
}

impl Store {
    /// Begins a refresh of this number, with a copy of this moment; one in progress is abandoned. Its
    /// statistics wait in [`add_next`](Self::add_next).
    pub fn begin_refresh(&mut self, documents: bool, number: u64) -> PartialCopy<Sample> {
        self.statistics.begin_next(number);
        PartialCopy::begin_of(self, |store| Sample::of(store, documents, Some(number)))
    }
}

impl Copied for Sample {
    const PURPOSE: Purpose = Purpose::Refresh;

    fn sources(store: &mut Store) -> Vec<&mut dyn Piecewise> {
        arrays(&mut store.vocabulary, &mut store.rows, store.index.recent_mut())
    }

    fn targets(&mut self) -> Vec<&mut dyn Piecewise> {
        arrays(&mut self.vocabulary, &mut self.rows, &mut self.recent)
    }
}

fn arrays<'a>(
    vocabulary: &'a mut Vocabulary,
    rows: &'a mut Rows,
    recent: &'a mut Recent,
) -> Vec<&'a mut dyn Piecewise> {
    vocabulary.word_arrays().into_iter().chain(rows.arrays()).chain([recent.array()]).collect()
}
