//! Weights of words as exponents of a score alone: statistics in use.
//!
//! A word of weight v counts v f_i times in the score of a message, while every estimate stays as
//! it is: P(w_i|c)^(v f_i). All exponents, and the prior, may share a scale besides. They are
//! computed outside, aside, on a copy of the counts, and swapped in whole.

use crate::bag::Bag;
use crate::error::{Error, Result};
use crate::scoring::Scoring;
use crate::store::{MAX_COUNT, Store};
use crate::vocabulary::WordId;

/// The weight of a word that is newer than the weights, or that no class has seen.
const NEW_WORD: f64 = 1.0;

/// Exponents in use.
#[derive(Clone, Debug, PartialEq)]
pub struct Exponents {
    words: Vec<f64>,
    /// What the exponents of all words and that of the prior are multiplied by.
    scale: f64,
}

impl Exponents {
    pub fn new(words: Vec<f64>, scale: f64) -> Result<Self> {
        if !words.iter().chain([&scale]).all(|value| (0.0..=MAX_COUNT).contains(value)) {
            return Err(Error::Invalid("exponents: each is a number from 0 to 2**53".into()));
        }
        Ok(Exponents { words, scale })
    }

    #[inline]
    fn of_word(&self, word: WordId) -> f64 {
        self.words.get(word as usize).copied().unwrap_or(NEW_WORD)
    }

    /// A word that is no more: its id may come to mean another one.
    pub(crate) fn forget_word(&mut self, word: WordId) {
        if let Some(weight) = self.words.get_mut(word as usize) {
            *weight = NEW_WORD;
        }
    }

    pub fn size(&self) -> usize {
        self.words.capacity() * size_of::<f64>()
    }
}

impl Store {
    /// Takes exponents; false, with nothing changed, if ids have changed their meaning since
    /// `layout`.
    pub fn set_exponents(&mut self, exponents: Exponents, layout: u64) -> bool {
        if layout != self.layout {
            return false;
        }
        self.exponents = Some(Box::new(exponents));
        true
    }

    /// The exponents in use, words numbered as in a store restored from a snapshot, and the scale.
    pub fn export_exponents(&self) -> Option<(Vec<f64>, f64)> {
        let exponents = self.exponents.as_deref()?;
        let words = self.vocabulary.sorted_ids();
        Some((words.iter().map(|&word| exponents.of_word(word)).collect(), exponents.scale))
    }
}

impl Scoring {
    /// The exponents of a store, where this scoring has any.
    fn exponents_of<'a>(&self, store: &'a Store) -> Option<&'a Exponents> {
        store.exponents.as_deref().filter(|_| self.minimised)
    }

    /// Weighs the tokens of a message, known and unknown.
    pub(crate) fn raise_bag(&self, store: &Store, bag: &mut Bag) {
        if let Some(exponents) = self.exponents_of(store) {
            bag.weigh(|word| exponents.scale * exponents.of_word(word));
            bag.unseen.iter_mut().for_each(|word| word.count *= exponents.scale * NEW_WORD);
        }
    }

    /// The exponent of the prior.
    pub(crate) fn prior_exponent(&self, store: &Store) -> f64 {
        self.exponents_of(store).map_or(1.0, |exponents| exponents.scale)
    }
}
