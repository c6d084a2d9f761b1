//! Term weighting: the transformation of word counts before they are learned or scored.
//!
//! Logarithms and shares are not integers, and sums of them would depend on the order of addition.
//! They are rounded to multiples of 2^-20, so sums are exact up to 2^33 (integers: up to 2^53), and
//! unlearning restores every bit.

use crate::counts::bag::Bag;

/// Resolution of values: 2^20 steps per unit.
const SCALE: f64 = 1_048_576.0;

/// Sums of squares of multiples of 2^-20 are exact up to this value, in any order.
const EXACT_SQUARES: f64 = 8192.0;

/// The transformation of a single count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Value {
    Count,
    /// 1.
    Presence,
    /// ln(1 + f).
    Log,
}

/// A term weighting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TermWeighting {
    value: Value,
    /// Whether the values of a message are divided by their Euclidean length.
    unit: bool,
}

/// All term weightings by name. Snapshots store the positions: append new ones at the end.
const NAMED: [(&str, TermWeighting); 6] = [
    ("counts", TermWeighting { value: Value::Count, unit: false }),
    ("presence", TermWeighting { value: Value::Presence, unit: false }),
    ("log", TermWeighting { value: Value::Log, unit: false }),
    ("unit", TermWeighting { value: Value::Count, unit: true }),
    ("presence-unit", TermWeighting { value: Value::Presence, unit: true }),
    ("log-unit", TermWeighting { value: Value::Log, unit: true }),
];

impl TermWeighting {
    pub const COUNTS: Self = NAMED[0].1;

    pub fn named(name: &str) -> Option<Self> {
        NAMED.iter().find(|(other, _)| *other == name).map(|&(_, weighting)| weighting)
    }

    pub fn name(self) -> &'static str {
        NAMED[self.number() as usize].0
    }

    /// The allowed names as an enumeration.
    pub fn names() -> String {
        let names: Vec<String> = NAMED.iter().map(|(name, _)| format!("'{name}'")).collect();
        let (last, others) = names.split_last().map_or(("", &[][..]), |(l, o)| (l.as_str(), o));
        format!("{} or {last}", others.join(", "))
    }

    /// The term weighting with this number in a snapshot.
    pub fn numbered(number: u64) -> Option<Self> {
        NAMED.get(usize::try_from(number).ok()?).map(|&(_, weighting)| weighting)
    }

    pub fn number(self) -> u64 {
        NAMED.iter().position(|&(_, weighting)| weighting == self).unwrap_or(0) as u64
    }

    /// Whether counts stay unchanged.
    pub fn is_counts(self) -> bool {
        self == Self::COUNTS
    }

    /// The factor that turns values into integers.
    pub fn scale(self) -> f64 {
        if self.unit || self.value == Value::Log { SCALE } else { 1.0 }
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
        match self.value {
            Value::Count => {}
            Value::Presence => bag.counts_mut().for_each(|count| *count = 1.0),
            Value::Log => bag.counts_mut().for_each(|count| *count = round(count.ln_1p())),
        }
        if self.unit {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn formed(name: &str, known: &[f64], unseen: &[(u64, f64)]) -> (Vec<f64>, Vec<f64>) {
        let mut bag = Bag::default();
        bag.clear(known.len());
        known.iter().enumerate().for_each(|(word, &count)| bag.add(word as u32, count));
        unseen.iter().for_each(|&(hash, count)| bag.add_unseen(hash, count));
        TermWeighting::named(name).expect("a name").apply(&mut bag);
        let known = bag.words.iter().map(|&(_, value)| value).collect();
        (known, bag.unseen.iter().map(|unseen| unseen.count).collect())
    }

    #[test]
    fn values_are_those_of_the_form() {
        let unseen = [(7, 1.0), (8, 1.0), (7, 1.0)];
        assert_eq!(formed("counts", &[3.0, 1.0], &unseen), (vec![3.0, 1.0], vec![1.0; 3]));
        // All tokens of an unknown word count as one word.
        assert_eq!(formed("presence", &[3.0, 1.0], &unseen), (vec![1.0; 2], vec![1.0, 1.0, 0.0]));
        let (log, unit) = (|count: f64| round(count.ln_1p()), |value| round(value / 15_f64.sqrt()));
        let expected = (vec![log(3.0), log(1.0)], vec![log(2.0), log(1.0), 0.0]);
        assert_eq!(formed("log", &[3.0, 1.0], &unseen), expected);
        let expected = (vec![unit(3.0), unit(1.0)], vec![unit(2.0), unit(1.0), 0.0]);
        assert_eq!(formed("unit", &[3.0, 1.0], &unseen), expected);
        assert_eq!(formed("presence-unit", &[9.0, 1.0, 5.0, 2.0], &[]).0, [0.5; 4]);
        assert_eq!(formed("log-unit", &[2.0; 4], &[]).0, [0.5; 4]);
        assert_eq!(formed("log-unit", &[], &[]), (vec![], vec![]));
    }

    #[test]
    fn values_are_multiples_that_are_never_zero() {
        let hostile = [5e-324, 1e-300, 1e-9, 0.1, 1.0, 3.0, 9_007_199_254_740_992.0];
        for (name, weighting) in NAMED {
            for counts in [&hostile[..], &hostile[..1], &hostile[..2], &hostile[6..]] {
                let values = formed(name, counts, &[]).0;
                let whole = |value: &f64| *value > 0.0 && (value * SCALE).fract() == 0.0;
                assert!(weighting.is_counts() || values.iter().all(whole), "{name} {values:?}");
            }
        }
    }

    #[test]
    fn values_do_not_depend_on_the_order_of_words() {
        let counts: Vec<f64> = (1..400).map(|i| f64::from(i * i % 37 + 1) / 10.0).collect();
        for (name, weighting) in NAMED {
            let forwards = formed(name, &counts, &[]).0;
            let reversed: Vec<f64> = counts.iter().rev().copied().collect();
            let mut backwards = formed(name, &reversed, &[]).0;
            backwards.reverse();
            assert_eq!(forwards, backwards, "{name}");
            assert_eq!(TermWeighting::numbered(weighting.number()), Some(weighting));
        }
        assert_eq!((TermWeighting::named("idf"), TermWeighting::numbered(6)), (None, None));
    }
}
