//! The damping of corrections of frequent words.

use crate::counts::rows::small_whole;
use std::sync::Arc;

/// Factors are rounded to multiples of 1/STEPS, so that sums of their squares are exact in any order.
const STEPS: f64 = 4096.0;

/// Number of tabulated factors.
const TABLE: usize = 4096;

/// Values are rounded to multiples of 1/VALUES: sums of their squares are exact up to 2^13.
const VALUES: f64 = 1_048_576.0;

/// (1 + f)^−d for a word in f documents.
#[derive(Clone, Default)]
pub struct Damping {
    d: f64,
    table: Arc<[f64]>,
}

impl Damping {
    pub fn new(d: f64) -> Self {
        let documents = if d > 0.0 { 0..TABLE } else { 0..0 };
        Damping { d, table: documents.map(|f| factor(f as f64, d)).collect() }
    }

    /// Whether all factors are 1.
    pub fn is_none(&self) -> bool {
        self.d == 0.0
    }

    /// The damped value of a word in `documents` documents.
    #[inline]
    pub fn damped(&self, value: f64, documents: f64) -> f64 {
        if self.is_none() {
            return value;
        }
        let (index, is_whole) = small_whole(documents);
        let factor = match self.table.get(index as usize) {
            Some(&factor) if is_whole => factor,
            _ => factor(documents, self.d),
        };
        // For presence the factor is already rounded.
        if value == 1.0 { factor } else { (value * factor * VALUES).round_ties_even() / VALUES }
    }
}

#[inline(never)]
fn factor(documents: f64, d: f64) -> f64 {
    ((1.0 + documents).powf(-d) * STEPS).round_ties_even().max(1.0) / STEPS
}
