//! The best split of documents: on the word that says most about the class.

use crate::counts::slice::Slice;
use crate::counts::vocabulary::WordId;
use std::cmp::Ordering;

/// Gains that are nearer than this, in nats, are the same but for rounding.
pub const TIE: f64 = 1e-12;

/// How far a tree grows.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Splits between the root and a leaf.
    pub max_depth: usize,
    /// The least weight of documents on either side of a split.
    pub min_samples_leaf: f64,
}

impl Limits {
    /// Whether a split of documents of weight `n` leaves enough on either side.
    pub fn allow(&self, split: &Split, n: f64) -> bool {
        split.present.min(n - split.present) >= self.min_samples_leaf
    }
}

/// The place of a word in the order of bytes.
pub fn place(places: &[u32], word: WordId) -> u32 {
    places.get(word as usize).copied().unwrap_or(u32::MAX)
}

/// A split of the documents of a slice.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Split {
    pub word: WordId,
    /// Information gain, in nats.
    pub gain: f64,
    /// Weight of the documents that contain the word.
    pub present: f64,
}

/// x ln x, and 0 of 0.
fn weigh(x: f64) -> f64 {
    if x > 0.0 { x * x.ln() } else { 0.0 }
}

impl Slice {
    /// The word whose presence has the highest information gain for the class, and the next highest
    /// gain. Of words that tie it is the first in `order`. None where all documents are of one
    /// class, or nothing gains.
    pub fn best_splits(&self, order: impl Fn(WordId, WordId) -> Ordering) -> Option<(Split, f64)> {
        let n = self.documents();
        if self.classes().iter().filter(|class| class.exists()).count() < 2 {
            return None;
        }
        // n · gain = L(n) − L(a) − L(b) + Σ_c [L(a_c) + L(n_c − a_c) − L(n_c)], where L(x) = x ln x,
        // a documents contain the word and b do not. A class that has none of a adds nothing.
        let of_classes: Vec<f64> =
            self.classes().iter().map(|class| weigh(class.documents)).collect();
        let gains: Vec<Split> = self
            .words()
            .map(|(word, cells)| {
                let (mut present, mut gain) = (0.0, weigh(n));
                for cell in cells {
                    let class = cell.class as usize;
                    present += cell.documents;
                    gain += weigh(cell.documents) - of_classes[class]
                        + weigh(self.classes()[class].documents - cell.documents);
                }
                gain -= weigh(present) + weigh(n - present);
                Split { word, gain: gain / n, present }
            })
            .collect();
        let highest = gains.iter().map(|split| split.gain).fold(0.0, f64::max);
        if highest <= TIE {
            return None;
        }
        let ties = gains.iter().filter(|split| split.gain >= highest - TIE);
        let best = *ties.min_by(|one, other| order(one.word, other.word))?;
        let others = gains.iter().filter(|split| split.word != best.word);
        Some((best, others.map(|split| split.gain).fold(0.0, f64::max)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_word_that_gains_most() {
        let mut slice = Slice::new(false);
        let documents: [(_, &[WordId]); 4] = [(0, &[0, 1]), (0, &[0]), (1, &[1, 2]), (1, &[2, 3])];
        for (class, words) in documents {
            let words: Vec<_> = words.iter().map(|&word| (word, 1.0)).collect();
            slice.add(class, &words, 1.0);
        }
        // 0 and 2 tell the classes apart; 2 is the first of them.
        let by_place = |one, other| place(&[3, 2, 1, 0], one).cmp(&place(&[3, 2, 1, 0], other));
        let (best, second) = slice.best_splits(by_place).unwrap();
        assert_eq!((best.word, best.present), (2, 2.0));
        assert!((best.gain - 2f64.ln()).abs() < 1e-15);
        assert!((second - 2f64.ln()).abs() < 1e-15);
    }
}
