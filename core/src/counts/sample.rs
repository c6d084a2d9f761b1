//! A copy of the counts and of the indexed documents, which periodic statistics are computed from.

use crate::counts::attributes::Attributes;
use crate::counts::codec::ranks;
use crate::counts::export::{Counts, Documents, export};
use crate::counts::index::Index;
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
    vocabulary: Vocabulary,
    attributes: Attributes,
    classes: Vec<Class>,
    class_order: Vec<ClassId>,
    rows: Rows,
    documents: Vec<Document>,
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
        let copied = store.index.documents().take(if documents { usize::MAX } else { 0 }).cloned();
        Sample {
            settings: store.settings,
            vocabulary: store.vocabulary.clone(),
            attributes: store.attributes.clone(),
            classes: store.classes.clone(),
            class_order: store.class_order(),
            rows: store.rows.clone(),
            documents: copied.collect(),
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
    pub fn indexed(&self) -> &[Document] {
        &self.documents
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
        for document in &self.documents {
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
