//! Weights of words and of documents, which multiply the counts.
//!
//! A word of weight W counts W f_i times in a message, and W N_ci times in a class (exponents: in
//! a message alone, and all of them and the prior have a common factor). The extra weight of
//! documents is stored next to the counts. The caller computes the weights on a copy of the counts
//! and swaps them in. The totals of the classes then follow each message, so that counts and totals
//! always agree.

use crate::counts::alloc::{element, heap_size};
use crate::counts::export::ClassRows;
use crate::counts::rows::SparseRows;
use crate::counts::{
    Cell, Cells, ClassId, Counted, MAX_COUNT, Rows, SavedOrder, Statistic, Store, WordId,
};
use crate::error::{Error, Result};

/// The weight of a word that is unseen, or newer than the weights.
pub const NEW_WORD: f64 = 1.0;

/// The weighted documents and tokens of a class.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Totals {
    pub documents: f64,
    pub tokens: f64,
}

/// The weights as arrays. Words without a weight are newer. `documents` is the extra weight of the
/// documents by class, and `tokens` the extra weight of tokens.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WeightArrays {
    pub words: Vec<f64>,
    pub unseen: f64,
    pub scale: f64,
    pub documents: Vec<f64>,
    pub tokens: ClassRows,
}

/// The weights in use.
#[derive(Clone)]
pub struct WordWeights {
    words: Vec<f64>,
    /// The weight of words that no class has seen.
    pub unseen: f64,
    /// The factor of all weights and of the prior, if the weights are exponents; else 1.
    pub scale: f64,
    /// The extra weight of tokens by the documents that contain them.
    instances: SparseRows<f64>,
    totals: Vec<Totals>,
}

impl WordWeights {
    /// Check the arrays, and sum up the totals of the classes of a store.
    pub fn new(arrays: &WeightArrays, store: &Store) -> Result<Self> {
        let fits = |value: &f64| (0.0..=MAX_COUNT).contains(value);
        let all = [&arrays.words, &arrays.documents, &arrays.tokens.values];
        if !all.into_iter().flatten().chain([&arrays.unseen, &arrays.scale]).all(fits) {
            return Err(Error::Invalid("weights must be numbers from 0 to 2**53".into()));
        }
        let of_class = |&documents: &f64| Totals { documents, tokens: 0.0 };
        let mut weights = WordWeights {
            words: arrays.words.clone(),
            unseen: arrays.unseen,
            scale: arrays.scale,
            instances: arrays.tokens.read("weights", store.classes.len())?,
            totals: arrays.documents.iter().map(of_class).collect(),
        };
        weights.recount(&store.counted());
        Ok(weights)
    }

    pub fn of_word(&self, word: WordId) -> f64 {
        self.words.get(word as usize).copied().unwrap_or(NEW_WORD)
    }

    /// The weighted tokens of a word in a class.
    #[inline]
    pub fn count(&self, word: WordId, class: ClassId, tokens: f64) -> f64 {
        self.of_word(word) * (tokens + self.extra(word, class))
    }

    fn extra(&self, word: WordId, class: ClassId) -> f64 {
        self.instances.cell(word, class).copied().unwrap_or(0.0)
    }

    /// Remove up to `tokens` of the extra tokens of a word; return the number removed.
    fn take_extra(&mut self, word: WordId, class: ClassId, tokens: f64) -> f64 {
        let extra = self.extra(word, class);
        if extra <= tokens {
            self.instances.remove(word, class);
            return extra;
        }
        *self.instances.entry(word, class) -= tokens;
        tokens
    }

    /// The extra weight of the documents of a class, and all of its weighted tokens.
    pub fn totals(&self, class: ClassId) -> Totals {
        self.totals.get(class as usize).copied().unwrap_or_default()
    }

    /// The arrays as a restored store would number them.
    pub fn export(&self, order: &SavedOrder) -> WeightArrays {
        let documents = order.classes.iter().map(|&class| self.totals(class).documents);
        WeightArrays {
            words: order.words.iter().map(|&word| self.of_word(word)).collect(),
            unseen: self.unseen,
            scale: self.scale,
            documents: documents.collect(),
            tokens: ClassRows::of(&self.instances, order),
        }
    }
}

/// The weighted counts of words: W_i × (tokens of i in c).
pub struct Weighted<'a> {
    pub rows: &'a Rows,
    pub weights: &'a WordWeights,
}

impl Cells for Weighted<'_> {
    fn cells(&self, word: WordId) -> impl Iterator<Item = Cell> + Clone {
        let tokens = move |cell: &Cell| self.weights.count(word, cell.class, cell.tokens);
        self.rows.cells(word).map(move |cell| Cell { tokens: tokens(&cell), ..cell })
    }
}

impl Statistic for WordWeights {
    fn forget_word(&mut self, word: WordId) {
        if let Some(weight) = self.words.get_mut(word as usize) {
            *weight = NEW_WORD;
        }
        self.instances.clear(word);
    }

    fn forget_class(&mut self, class: ClassId) {
        if let Some(totals) = self.totals.get_mut(class as usize) {
            *totals = Totals::default();
        }
    }

    fn learn(&mut self, words: &[(WordId, f64)], class: ClassId, weight: f64) {
        let mut tokens = self.totals(class).tokens;
        for &(word, count) in words {
            tokens += self.of_word(word) * (weight * count);
        }
        element(&mut self.totals, class as usize).tokens = tokens;
    }

    fn take(&mut self, word: WordId, class: ClassId, tokens: f64, gone: bool) {
        let mut taken = tokens;
        if gone {
            taken += self.take_extra(word, class, f64::INFINITY);
        }
        let weight = self.of_word(word);
        if let Some(totals) = self.totals.get_mut(class as usize) {
            totals.tokens = (totals.tokens - weight * taken).max(0.0);
        }
    }

    /// Sum up the totals of the classes.
    fn recount(&mut self, counted: &Counted<'_>) {
        let mut counts = vec![Vec::new(); counted.classes.len()];
        for word in 0..counted.rows.slots() as WordId {
            for cell in counted.rows.cells(word) {
                counts[cell.class as usize].push(self.count(word, cell.class, cell.tokens));
            }
        }
        let sum = |(class, mut counts): (usize, Vec<f64>)| {
            // Sorted, so that the sum does not depend on the ids of words.
            counts.sort_unstable_by(f64::total_cmp);
            let documents = self.totals(class as ClassId).documents;
            Totals { documents, tokens: counts.iter().sum() }
        };
        self.totals = counts.into_iter().enumerate().map(sum).collect();
    }

    fn size(&self) -> usize {
        self.instances.size() + heap_size(&self.words)
    }
}
