//! Statistics of the counts: computed periodically, kept next to the counts, and replaced as a
//! whole.
//!
//! The store notifies its statistics of each change and does not depend on their types.

use crate::counts::array::Piecewise;
use crate::counts::index::Index;
use crate::counts::{AttributeId, Class, ClassId, Document, Rows, WordId};
use std::any::Any;
use std::cmp::Ordering;
use std::sync::Arc;

/// The counts as a statistic sees them.
pub struct Counted<'a> {
    pub classes: &'a [Class],
    pub rows: &'a Rows,
    pub index: &'a Index,
}

/// A movement of the clock of decaying counts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Passed {
    /// The new unit.
    pub unit: f64,
    /// The share of older messages that is left.
    pub left: f64,
    /// The factor of older counts, a power of two: 1 unless they were divided.
    pub divided: f64,
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

    /// The clock of decaying counts has moved.
    fn decay(&mut self, _passed: Passed) {}

    /// Another store was merged: add its statistic of the same type. The maps translate its words
    /// and classes to the ids of this store; `units` times one of its counts is a count of this store.
    fn merge(
        &mut self,
        _others: &Statistics,
        _word_of: &[WordId],
        _class_of: &[ClassId],
        _units: f64,
    ) {
    }

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

/// The statistics in use, one per type, and those of a refresh that has begun.
///
/// A refresh computes statistics from a copy of the counts while the store goes on learning. A journal
/// records the changes meanwhile. They are repeated on each computed statistic, which then follows the
/// store directly, and waits until it is used.
#[derive(Default)]
pub struct Statistics {
    used: Vec<Box<dyn Statistic>>,
    next: Vec<Box<dyn Statistic>>,
}

impl Clone for Statistics {
    fn clone(&self) -> Self {
        let copy = |all: &[Box<dyn Statistic>]| all.iter().map(|each| each.boxed_clone()).collect();
        Statistics { used: copy(&self.used), next: copy(&self.next) }
    }
}

impl Statistics {
    pub fn get<T: Statistic>(&self) -> Option<&T> {
        found(&self.used)
    }

    pub fn get_mut<T: Statistic>(&mut self) -> Option<&mut T> {
        self.used.iter_mut().find_map(|one| (&mut **one as &mut dyn Any).downcast_mut())
    }

    /// Replaces the statistic of this type and returns the old one.
    pub fn put<T: Statistic>(&mut self, statistic: T) -> Option<Box<T>> {
        let old = put(&mut self.used, Box::new(statistic));
        old.and_then(|old| (old as Box<dyn Any>).downcast().ok())
    }

    /// Drops the statistic of this type.
    pub fn remove<T: Statistic>(&mut self) {
        self.used.retain(|used| !(&**used as &dyn Any).is::<T>());
    }

    /// The statistics that follow the store, also those of a refresh that has begun.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut Box<dyn Statistic>> {
        self.used.iter_mut().chain(&mut self.next)
    }

    pub fn is_empty(&self) -> bool {
        self.used.is_empty() && self.next.is_empty()
    }

    /// Drops statistics that become invalid if words get new ids.
    pub fn forget_word_ids(&mut self) {
        self.used.retain(|statistic| statistic.outlives_word_ids());
        self.next.clear();
    }

    pub fn size(&self) -> usize {
        let all = self.used.iter().chain(&self.next);
        all.map(|statistic| size_of_val(&**statistic) + statistic.size()).sum()
    }

    /// Begins a refresh of this number; the one before is dropped.
    pub fn begin_next(&mut self, number: u64) {
        self.next = vec![Box::new(Journal::new(number))];
    }

    /// Lets a statistic of the refresh of this number wait, after it has repeated the changes since the
    /// beginning. Return false, without a change, if the refresh was dropped.
    pub fn add_next<T: Statistic>(&mut self, mut statistic: T, number: u64) -> bool {
        let Some(journal) = found::<Journal>(&self.next).filter(|it| it.number == number) else {
            return false;
        };
        journal.repeat_on(&mut statistic);
        self.put_next(statistic);
        true
    }

    /// Lets a statistic wait that has followed the store so far.
    pub fn put_next<T: Statistic>(&mut self, statistic: T) {
        put(&mut self.next, Box::new(statistic));
    }

    /// The statistic of this type that waits.
    pub fn next<T: Statistic>(&self) -> Option<&T> {
        found(&self.next)
    }

    /// Uses the statistics that wait, and returns the old ones, to be dropped without a lock.
    pub fn use_next(&mut self) -> Vec<Box<dyn Statistic>> {
        let next = std::mem::take(&mut self.next);
        let statistics = next.into_iter().filter(|next| !(&**next as &dyn Any).is::<Journal>());
        statistics.filter_map(|statistic| put(&mut self.used, statistic)).collect()
    }

    /// Drops a refresh that has begun.
    pub fn drop_next(&mut self) -> Vec<Box<dyn Statistic>> {
        std::mem::take(&mut self.next)
    }
}

fn found<T: Statistic>(all: &[Box<dyn Statistic>]) -> Option<&T> {
    all.iter().find_map(|statistic| (&**statistic as &dyn Any).downcast_ref())
}

/// Replaces the statistic of the same type, and returns the old one.
fn put(
    all: &mut Vec<Box<dyn Statistic>>,
    statistic: Box<dyn Statistic>,
) -> Option<Box<dyn Statistic>> {
    let kind = (&*statistic as &dyn Any).type_id();
    let place = all.iter().position(|other| (&**other as &dyn Any).type_id() == kind);
    let old = place.map(|place| all.swap_remove(place));
    all.push(statistic);
    old
}

/// A change of a store.
#[derive(Clone)]
enum Change {
    ForgetWord(WordId),
    ForgetAttribute(AttributeId),
    ForgetClass(ClassId),
    Learn(Arc<[(WordId, f64)]>, ClassId, f64),
    Take(WordId, ClassId, f64, bool),
    Enter(Document, f64),
    Leave(Document, f64),
}

/// A statistic that records the changes since a refresh has begun, for the statistics that it computes
/// meanwhile.
#[derive(Clone)]
struct Journal {
    number: u64,
    changes: Vec<Change>,
}

impl Journal {
    /// The journal of the refresh of this number.
    fn new(number: u64) -> Self {
        Journal { number, changes: Vec::new() }
    }

    /// Notifies a statistic of the changes, in their order.
    fn repeat_on(&self, statistic: &mut impl Statistic) {
        for change in &self.changes {
            match change {
                Change::ForgetWord(word) => statistic.forget_word(*word),
                Change::ForgetAttribute(attribute) => statistic.forget_attribute(*attribute),
                Change::ForgetClass(class) => statistic.forget_class(*class),
                Change::Learn(words, class, weight) => statistic.learn(words, *class, *weight),
                Change::Take(word, class, tokens, gone) => {
                    statistic.take(*word, *class, *tokens, *gone);
                }
                Change::Enter(document, weight) => statistic.enter(document, *weight),
                Change::Leave(document, weight) => statistic.leave(document, *weight),
            }
        }
    }
}

impl Statistic for Journal {
    fn forget_word(&mut self, word: WordId) {
        self.changes.push(Change::ForgetWord(word));
    }

    fn forget_attribute(&mut self, attribute: AttributeId) {
        self.changes.push(Change::ForgetAttribute(attribute));
    }

    fn forget_class(&mut self, class: ClassId) {
        self.changes.push(Change::ForgetClass(class));
    }

    fn learn(&mut self, words: &[(WordId, f64)], class: ClassId, weight: f64) {
        self.changes.push(Change::Learn(words.into(), class, weight));
    }

    fn take(&mut self, word: WordId, class: ClassId, tokens: f64, gone: bool) {
        self.changes.push(Change::Take(word, class, tokens, gone));
    }

    fn enter(&mut self, document: &Document, weight: f64) {
        self.changes.push(Change::Enter(document.clone(), weight));
    }

    fn leave(&mut self, document: &Document, weight: f64) {
        self.changes.push(Change::Leave(document.clone(), weight));
    }

    fn size(&self) -> usize {
        self.changes.capacity() * size_of::<Change>()
    }
}
