//! Statistics of the counts: computed periodically, kept next to the counts, and replaced as a
//! whole.
//!
//! The store notifies its statistics of each change and does not depend on their types.

use crate::counts::array::Piecewise;
use crate::counts::index::Index;
use crate::counts::{AttributeId, Class, ClassId, Document, Rows, WordId};
use std::any::Any;
use std::cmp::Ordering;

/// The counts as a statistic sees them.
pub struct Counted<'a> {
    pub classes: &'a [Class],
    pub rows: &'a Rows,
    pub index: &'a Index,
}

/// A statistic in use. Every notification does nothing by default.
pub trait Statistic: Any + Send + Sync + BoxedClone {
    /// A word was forgotten: its id may belong to another word later.
    fn forget_word(&mut self, _word: WordId) {}

    /// An attribute was forgotten; in texts each word is an attribute.
    fn forget_attribute(&mut self, _attribute: AttributeId) {}

    /// A class was forgotten: its id may belong to another class later.
    fn forget_class(&mut self, _class: ClassId) {}

    /// Whether the statistic stays valid if all words get new ids and attributes keep theirs.
    fn outlives_word_ids(&self) -> bool {
        false
    }

    /// The counts of these words are about to change.
    fn take_words(&mut self, _rows: &Rows, _words: &[(WordId, f64)]) {}

    /// The counts of these words have changed.
    fn add_words(&mut self, _rows: &Rows, _words: &[(WordId, f64)]) {}

    /// A message was learned.
    fn learn(&mut self, _words: &[(WordId, f64)], _class: ClassId, _weight: f64) {}

    /// Tokens of a word were removed from a class; with `gone` the class has no tokens of it left.
    fn take(&mut self, _word: WordId, _class: ClassId, _tokens: f64, _gone: bool) {}

    /// A document, or a part of its weight, entered the index.
    fn enter(&mut self, _document: &Document, _weight: f64) {}

    /// A document, or a part of its weight, left the index.
    fn leave(&mut self, _document: &Document, _weight: f64) {}

    /// The newest document has entered the index, and all documents that it evicted have left. `order`
    /// compares words by their bytes.
    fn indexed(&mut self, _index: &Index, _order: &dyn Fn(WordId, WordId) -> Ordering) {}

    /// Another store was merged: add its statistic of the same type. The maps translate its words
    /// and classes to the ids of this store.
    fn merge(&mut self, _others: &Statistics, _word_of: &[WordId], _class_of: &[ClassId]) {}

    /// Many counts changed together: recompute every sum that otherwise follows single messages.
    fn recount(&mut self, _counted: &Counted<'_>) {}

    /// The arrays that grow with the words, which are copied piece by piece. The rest of the statistic
    /// is copied at once.
    fn arrays(&mut self) -> Vec<&mut dyn Piecewise> {
        Vec::new()
    }

    /// Heap bytes of all that grows with the words or the documents.
    fn size(&self) -> usize {
        0
    }
}

/// A copy of a statistic, for a copy of the store.
pub trait BoxedClone {
    fn boxed_clone(&self) -> Box<dyn Statistic>;
}

impl<T: Statistic + Clone> BoxedClone for T {
    fn boxed_clone(&self) -> Box<dyn Statistic> {
        Box::new(self.clone())
    }
}

/// Words by their bytes and classes by their ranks: a restored store numbers them in this order.
#[derive(Clone, Debug, Default)]
pub struct SavedOrder {
    pub words: Vec<WordId>,
    pub classes: Vec<ClassId>,
    /// Attributes by their names; in texts, the words.
    pub attributes: Vec<AttributeId>,
}

/// Ids changed their meaning since a statistic was computed: compute it again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stale;

/// The statistics in use, one per type.
#[derive(Default)]
pub struct Statistics(Vec<Box<dyn Statistic>>);

impl Clone for Statistics {
    fn clone(&self) -> Self {
        Statistics(self.0.iter().map(|statistic| statistic.boxed_clone()).collect())
    }
}

impl Statistics {
    pub fn get<T: Statistic>(&self) -> Option<&T> {
        self.0.iter().find_map(|statistic| (&**statistic as &dyn Any).downcast_ref())
    }

    pub fn get_mut<T: Statistic>(&mut self) -> Option<&mut T> {
        self.0.iter_mut().find_map(|statistic| (&mut **statistic as &mut dyn Any).downcast_mut())
    }

    /// Replaces the statistic of this type and returns the old one.
    pub fn put<T: Statistic>(&mut self, statistic: T) -> Option<Box<T>> {
        let mut kinds = self.0.iter().map(|used| (&**used as &dyn Any).is::<T>());
        let used = kinds.position(|same| same).map(|place| self.0.swap_remove(place));
        self.0.push(Box::new(statistic));
        used.and_then(|used| (used as Box<dyn Any>).downcast().ok())
    }

    /// Drops the statistic of this type.
    pub fn remove<T: Statistic>(&mut self) {
        self.0.retain(|used| !(&**used as &dyn Any).is::<T>());
    }

    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut Box<dyn Statistic>> {
        self.0.iter_mut()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Drops statistics that become invalid if words get new ids.
    pub fn forget_word_ids(&mut self) {
        self.0.retain(|statistic| statistic.outlives_word_ids());
    }

    pub fn size(&self) -> usize {
        self.0.iter().map(|statistic| size_of_val(&**statistic) + statistic.size()).sum()
    }
}
