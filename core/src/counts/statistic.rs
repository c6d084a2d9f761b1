//! What is computed from the counts now and then, kept beside them, and swapped in whole.
//!
//! The store tells its statistics what happens to the counts, and knows none of them by name.

use crate::counts::attributes::AttributeId;
use crate::counts::index::{Document, Index};
use crate::counts::rows::{Class, ClassId, Rows};
use crate::counts::vocabulary::{Vocabulary, WordId};
use std::any::Any;

/// The counts as a statistic sees them.
pub struct Counted<'a> {
    pub vocabulary: &'a Vocabulary,
    pub classes: &'a [Class],
    pub rows: &'a Rows,
    pub index: &'a Index,
}

/// A statistic in use. What it does not name below leaves it as it is.
pub trait Statistic: Any + Send + Sync {
    /// A word is no more: its id may come to mean another one.
    fn forget_word(&mut self, _word: WordId) {}

    /// An attribute is no more; in texts each word is one.
    fn forget_attribute(&mut self, _attribute: AttributeId) {}

    /// A class is no more: its id may come to mean another one.
    fn forget_class(&mut self, _class: ClassId) {}

    /// Whether it keeps its meaning where all words get other ids and attributes keep theirs.
    fn outlives_word_ids(&self) -> bool {
        false
    }

    /// The counts of these words are about to change …
    fn take_words(&mut self, _rows: &Rows, _words: &[(WordId, f64)]) {}

    /// … and have changed.
    fn add_words(&mut self, _rows: &Rows, _words: &[(WordId, f64)]) {}

    /// A message was learned.
    fn learn(&mut self, _words: &[(WordId, f64)], _class: ClassId, _weight: f64) {}

    /// Tokens of a word were taken from a class; with `gone` the class has none left.
    fn take(&mut self, _word: WordId, _class: ClassId, _tokens: f64, _gone: bool) {}

    /// A document, or a part of its weight, enters the index.
    fn enter(&mut self, _document: &Document, _weight: f64) {}

    /// A document, or a part of its weight, leaves the index.
    fn leave(&mut self, _document: &Document, _weight: f64) {}

    /// The newest document of the index has entered, and all that its entry made leave has left.
    fn indexed(&mut self, _counted: &Counted<'_>) {}

    /// Another store was added: takes in what its statistic of this kind holds. The maps lead from
    /// its words and classes to those here.
    fn merge(&mut self, _others: &Statistics, _word_of: &[WordId], _class_of: &[ClassId]) {}

    /// Counts changed all at once: whatever follows them message by message is summed up anew.
    fn recount(&mut self, _counted: &Counted<'_>) {}

    /// Takes over what does not follow from the counts, from the statistic it takes the place of.
    fn take_over(&mut self, _used: &Self)
    where
        Self: Sized,
    {
    }

    /// Heap bytes held.
    fn size(&self) -> usize;

    /// A copy, for a copy of the store.
    fn boxed_clone(&self) -> Box<dyn Statistic>;
}

/// Words and classes in the order in which a snapshot has them: a restored store numbers them so.
pub struct SavedOrder {
    pub words: Vec<WordId>,
    pub classes: Vec<ClassId>,
}

/// A statistic that is saved as arrays.
pub trait Exported: Statistic {
    type Arrays;

    /// What is in use, as a restored store would number it.
    fn export(&self, order: &SavedOrder) -> Self::Arrays;
}

/// Ids have changed their meaning since a statistic was computed: it must be computed again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stale;

/// The statistics in use, one of a kind.
#[derive(Default)]
pub struct Statistics(Vec<Box<dyn Statistic>>);

impl Clone for Statistics {
    fn clone(&self) -> Self {
        Statistics(self.0.iter().map(|statistic| statistic.boxed_clone()).collect())
    }
}

impl Statistics {
    #[inline]
    pub fn get<T: Statistic>(&self) -> Option<&T> {
        self.0.iter().find_map(|statistic| (&**statistic as &dyn Any).downcast_ref())
    }

    pub fn get_mut<T: Statistic>(&mut self) -> Option<&mut T> {
        self.0.iter_mut().find_map(|statistic| (&mut **statistic as &mut dyn Any).downcast_mut())
    }

    /// Puts a statistic in the place of the one of its kind, which is returned.
    pub fn put<T: Statistic>(&mut self, statistic: T) -> Option<Box<T>> {
        let mut kinds = self.0.iter().map(|used| (&**used as &dyn Any).is::<T>());
        let used = kinds.position(|same| same).map(|place| self.0.swap_remove(place));
        self.0.push(Box::new(statistic));
        used.and_then(|used| (used as Box<dyn Any>).downcast().ok())
    }

    #[inline]
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut Box<dyn Statistic>> {
        self.0.iter_mut()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Drops what has no meaning once words have other ids.
    pub fn forget_word_ids(&mut self) {
        self.0.retain(|statistic| statistic.outlives_word_ids());
    }

    pub fn size(&self) -> usize {
        self.0.iter().map(|statistic| size_of_val(&**statistic) + statistic.size()).sum()
    }
}
