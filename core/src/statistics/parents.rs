//! The parents of words and their weights, and the words with enough messages to be parents.
//!
//! A word with few messages separates the classes perfectly, but by chance.

use crate::counts::alloc::element;
use crate::counts::{Counted, Rows, SavedOrder, Statistic, Store, WordId};

/// W_t by word id; 0 for words that are not parents.
#[derive(Clone, Default)]
pub struct Parents(pub Vec<f64>);

static NONE: Parents = Parents(Vec::new());

impl Parents {
    /// The weights of words in this order; 0 for all others.
    pub fn new(weights: &[f64], order: &SavedOrder) -> Self {
        let mut by_id = Vec::new();
        for (&word, &weight) in order.words.iter().zip(weights) {
            *element(&mut by_id, word as usize) = weight;
        }
        Parents(by_id)
    }

    /// The weight of a word as a parent.
    pub fn weight(&self, word: WordId) -> f64 {
        self.0.get(word as usize).copied().unwrap_or(0.0)
    }
}

impl Statistic for Parents {
    fn forget_word(&mut self, word: WordId) {
        if let Some(weight) = self.0.get_mut(word as usize) {
            *weight = 0.0;
        }
    }

    fn size(&self) -> usize {
        self.0.capacity() * size_of::<f64>()
    }
}

impl Store {
    /// The parents in use.
    pub fn parents(&self) -> &Parents {
        self.statistic().unwrap_or(&NONE)
    }

    /// The weight of each word as a parent; 0 if it no longer has `min_df` messages.
    #[inline]
    pub fn parent_weights(&self) -> impl Fn(WordId) -> f64 {
        let (parents, frequent) = (self.parents(), self.statistic::<FrequentWords>());
        move |word| match parents.weight(word) {
            weight if weight > 0.0 && frequent.is_some_and(|f| !f.has(&self.rows, word)) => 0.0,
            weight => weight,
        }
    }
}

/// The relative rounding error of a sum of weights: ten messages of weight 0.1 count as one.
const ROUNDING: f64 = 1e-12;

/// The number of words with at least `min_df` messages.
#[derive(Clone, Debug, PartialEq)]
pub struct FrequentWords {
    min_df: f64,
    number: usize,
}

impl FrequentWords {
    fn count(&mut self, rows: &Rows) {
        let words = 0..rows.slots() as WordId;
        self.number = words.filter(|&word| self.has(rows, word)).count();
    }

    /// Whether a word has enough messages.
    #[inline]
    pub fn has(&self, rows: &Rows, word: WordId) -> bool {
        rows.cells(word).map(|cell| cell.documents).sum::<f64>() >= self.min_df
    }

    fn number_in(&self, rows: &Rows, words: &[(WordId, f64)]) -> usize {
        words.iter().filter(|&&(word, _)| self.has(rows, word)).count()
    }
}

impl Statistic for FrequentWords {
    fn outlives_word_ids(&self) -> bool {
        true
    }

    fn take_words(&mut self, rows: &Rows, words: &[(WordId, f64)]) {
        self.number -= self.number_in(rows, words);
    }

    fn add_words(&mut self, rows: &Rows, words: &[(WordId, f64)]) {
        self.number += self.number_in(rows, words);
    }

    fn recount(&mut self, counted: &Counted<'_>) {
        self.count(counted.rows);
    }
}

impl Store {
    /// Require `min_df` messages of a parent, and of the words that m counts in probabilities given a
    /// parent.
    pub fn set_min_df(&mut self, min_df: u64) {
        if min_df > 1 {
            let min_df = min_df as f64 * (1.0 - ROUNDING);
            let mut frequent = FrequentWords { min_df, number: 0 };
            frequent.count(&self.rows);
            self.statistics.put(frequent);
        }
    }

    /// Number of words with enough messages.
    pub fn frequent_words(&self) -> usize {
        let counted = self.statistic::<FrequentWords>();
        counted.map_or(self.vocabulary.len(), |frequent| frequent.number)
    }
}
