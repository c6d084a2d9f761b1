//! Term weighting: the transformation of word counts before they are learned or scored.
//!
//! Logarithms and shares are not integers, and sums of them would depend on the order of addition.
//! They are rounded to multiples of 2^-20, so sums are exact up to 2^33 (integers: up to 2^53), and
//! unlearning restores every bit.

use crate::counts::Bag;

/// Resolution of values: 2^20 steps per unit.
const SCALE: f64 = 1_048_576.0;

/// Sums of squares of multiples of 2^-20 are exact up to this value, in any order.
const EXACT_SQUARES: f64 = 8192.0;

named_enum! {
    /// The transformation of the counts of a message. With `Unit` the values are also divided by
    /// their Euclidean length. Snapshots store the positions: append new variants at the end.
    "term_weighting" TermWeighting {
        Counts = "counts",
        /// 1.
        Presence = "presence",
        /// ln(1 + f).
        Log = "log",
        Unit = "unit",
        PresenceUnit = "presence-unit",
        LogUnit = "log-unit",
    }
}

impl TermWeighting {
    /// Whether counts stay unchanged.
    pub fn is_counts(self) -> bool {
        self == Self::Counts
    }

    /// The factor that turns values into integers.
    pub fn scale(self) -> f64 {
        if matches!(self, Self::Counts | Self::Presence) { 1.0 } else { SCALE }
    }

    /// Applies the term weighting to a bag whose words are distinct.
    #[inline]
    pub fn apply(self, bag: &mut Bag) {
        if !self.is_counts() {
            self.change(bag);
        }
    }

    fn change(self, bag: &mut Bag) {
        bag.sum_up_unseen();
        match self {
            Self::Counts | Self::Unit => {}
            Self::Presence | Self::PresenceUnit => bag.counts_mut().for_each(|count| *count = 1.0),
            Self::Log | Self::LogUnit => {
                bag.counts_mut().for_each(|count| *count = round(count.ln_1p()));
            }
        }
        if matches!(self, Self::Unit | Self::PresenceUnit | Self::LogUnit) {
            let length = length(bag);
            bag.counts_mut().for_each(|count| *count = round(*count / length));
        }
    }
}

/// The nearest multiple of 2^-20, but at least one step: a word that is present must not become
/// absent.
fn round(value: f64) -> f64 {
    (value * SCALE).round_ties_even().max(1.0) / SCALE
}

/// The Euclidean length of a message, independent of the order of its words.
fn length(bag: &mut Bag) -> f64 {
    let (mut squares, mut exact) = (0.0, true);
    for &mut count in bag.counts_mut() {
        squares += count * count;
        exact &= (count * SCALE).fract() == 0.0;
    }
    if exact && squares <= EXACT_SQUARES {
        return squares.sqrt();
    }
    let mut counts: Vec<f64> = bag.counts_mut().map(|count| *count).collect();
    counts.sort_unstable_by(f64::total_cmp);
    // Squares of the smallest numbers would underflow.
    let largest = counts.last().copied().unwrap_or(1.0);
    let squares: f64 = counts.iter().map(|count| (count / largest) * (count / largest)).sum();
    largest * squares.sqrt()
}
