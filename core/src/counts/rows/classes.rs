//! Counts of each class.

use super::ClassId;
use super::counted::{DIVISOR, FLOOR, left_of};
use std::collections::BTreeMap;
use std::ops::Bound;

/// Counts of one class.
#[derive(Clone, Default)]
pub struct Class {
    /// Weight of the learned documents; a class without documents does not exist.
    pub documents: f64,
    /// Tokens of those documents.
    pub tokens: f64,
    /// Upper bound of the document frequency of any word of the class. Learning raises it,
    /// unlearning lowers it periodically.
    pub most_documents: f64,
    /// Document frequency → number of words of the class. With it the Bernoulli model's Σ_w log(1 −
    /// p_wc) costs the number of distinct frequencies instead of the vocabulary.
    frequencies: BTreeMap<Scaled, u32>,
    /// Number of divisions of all counts: the scale of the frequencies.
    divisions: u32,
}

/// A number times 2^256 for each earlier division, so old keys stay in place. The bits above the
/// number hold the excess of its exponent.
type Scaled = u128;

/// Number of fraction bits.
const FRACTION: u32 = f64::MANTISSA_DIGITS - 1;

impl Class {
    pub fn new(documents: f64, tokens: f64) -> Self {
        Class { documents, tokens, ..Class::default() }
    }

    /// The class of an id; adds missing classes.
    #[inline]
    pub fn at(classes: &mut Vec<Class>, class: ClassId) -> &mut Class {
        if class as usize >= classes.len() {
            classes.resize_with(class as usize + 1, Class::default);
        }
        &mut classes[class as usize]
    }

    pub fn exists(&self) -> bool {
        self.documents > 0.0
    }

    /// Moves one word of the class to another document frequency (0 is not stored).
    pub fn move_frequency(&mut self, from: f64, to: f64) {
        if from > 0.0 {
            let key = self.key_of(from);
            if let Some(words) = self.frequencies.get_mut(&key) {
                *words -= 1;
                if *words == 0 {
                    self.frequencies.remove(&key);
                }
            }
        }
        if to > 0.0 {
            *self.frequencies.entry(self.scaled(to)).or_insert(0) += 1;
        }
    }

    /// The key of a document frequency. A frequency that fell to the floor keeps a key below it.
    fn key_of(&self, count: f64) -> Scaled {
        let key = self.scaled(count);
        if self.divisions == 0 || self.frequencies.contains_key(&key) {
            return key;
        }
        self.frequencies.keys().next().copied().filter(|&lowest| lowest < key).unwrap_or(key)
    }

    /// Divides all counts by 2^256, `times` times.
    pub fn divide(&mut self, times: u32) {
        self.documents = left_of(self.documents, times);
        self.tokens = left_of(self.tokens, times);
        self.most_documents = left_of(self.most_documents, times);
        self.divisions = self.divisions.saturating_add(times);
    }

    fn offset(&self) -> Scaled {
        (Scaled::from(self.divisions) * Scaled::from(DIVISOR)) << FRACTION
    }

    fn scaled(&self, count: f64) -> Scaled {
        Scaled::from(count.to_bits()) + self.offset()
    }

    /// Pairs (document frequency, number of words) in ascending order.
    pub fn frequencies(&self) -> impl Iterator<Item = (f64, f64)> {
        // All frequencies at the floor are equal.
        let least = if self.divisions == 0 { 0 } else { self.scaled(FLOOR) };
        let fallen: u32 = self.frequencies.range(..=least).map(|(_, words)| words).sum();
        let fallen = (fallen > 0).then_some((FLOOR, f64::from(fallen)));
        let (above, offset) = ((Bound::Excluded(least), Bound::Unbounded), self.offset());
        let others = self
            .frequencies
            .range(above)
            .map(move |(&key, &words)| (f64::from_bits((key - offset) as u64), f64::from(words)));
        fallen.into_iter().chain(others)
    }

    pub fn size(&self) -> usize {
        self.frequencies.len() * (size_of::<Scaled>() + size_of::<u32>()) * 3 / 2
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
