//! The changes of a store since a refresh has begun, for the statistics that it computes meanwhile.

use crate::counts::{AttributeId, ClassId, Document, Statistic, WordId};
use std::sync::Arc;

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

/// A statistic that records its notifications.
#[derive(Clone)]
pub struct Journal {
    number: u64,
    changes: Vec<Change>,
}

impl Journal {
    /// The journal of the refresh of this number.
    pub fn new(number: u64) -> Self {
        Journal { number, changes: Vec::new() }
    }

    pub fn number(&self) -> u64 {
        self.number
    }

    /// Notifies a statistic of the changes, in their order.
    pub fn repeat_on(&self, statistic: &mut impl Statistic) {
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
