//! Counts of each class.

use super::counted::left_of;
use crate::counts::WordId;
use std::collections::BTreeMap;

/// Counts of one class.
#[derive(Clone, Default)]
pub struct Class {
    /// Weight of the learned documents; a class without documents does not exist.
    pub documents: f64,
    /// Tokens of those documents.
    pub tokens: f64,
    /// Words that may be in most documents.
    pub common: Vec<WordId>,
    /// Every other word is missing from documents of this weight, at least. Learning changes nothing
    /// about that: it adds as much to the class as to a word, or more.
    pub spare: f64,
    /// Document frequency → number of words of the class. With it the Bernoulli model's Σ_w log(1 −
    /// p_wc) costs the number of distinct frequencies instead of the vocabulary.
    frequencies: BTreeMap<Bits, u32>,
}

/// The bits of a positive number, which are in the order of the numbers.
type Bits = u64;

impl Class {
    pub fn new(documents: f64, tokens: f64) -> Self {
        Class { documents, tokens, ..Class::default() }
    }

    pub fn exists(&self) -> bool {
        self.documents > 0.0
    }

    /// Moves one word of the class to another document frequency (0 is not stored).
    pub fn move_frequency(&mut self, from: f64, to: f64) {
        if from > 0.0
            && let Some(words) = self.frequencies.get_mut(&from.to_bits())
        {
            *words -= 1;
            if *words == 0 {
                self.frequencies.remove(&from.to_bits());
            }
        }
        if to > 0.0 {
            *self.frequencies.entry(to.to_bits()).or_insert(0) += 1;
        }
    }

    /// Divides all counts by 2^256, `times` times.
    pub fn divide(&mut self, times: u32) {
        self.documents = left_of(self.documents, times);
        self.tokens = left_of(self.tokens, times);
        self.spare = 0.0; // words keep a least count
        for (frequency, words) in std::mem::take(&mut self.frequencies) {
            let left = left_of(f64::from_bits(frequency), times);
            *self.frequencies.entry(left.to_bits()).or_insert(0) += words;
        }
    }

    /// Pairs (document frequency, number of words) in ascending order.
    pub fn frequencies(&self) -> impl Iterator<Item = (f64, f64)> {
        self.frequencies.iter().map(|(&key, &words)| (f64::from_bits(key), f64::from(words)))
    }

    pub fn size(&self) -> usize {
        self.frequencies.len() * (size_of::<Bits>() + size_of::<u32>()) * 3 / 2
            + self.common.len() * size_of::<WordId>()
    }
}

/// `value - amount`, or `None` if `value` is smaller.
///
/// Fractional weights leave rounding residue: a result within a few units in the last place of zero
/// is zero. Integers are exact.
pub fn take(value: f64, amount: f64) -> Option<f64> {
    let left = value - amount;
    let rounded = value.fract() != 0.0 || amount.fract() != 0.0;
    if left == 0.0 || rounded && left.abs() <= 1e-15 * value {
        Some(0.0)
    } else if left > 0.0 {
        Some(left)
    } else {
        None
    }
}
