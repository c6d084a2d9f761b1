//! The best split of documents: by the word with the highest information gain for the class.

use crate::counts::{Slice, WordId};
use std::cmp::Ordering;

/// Gains in nats that differ by less are equal up to rounding.
pub const TIE: f64 = 1e-12;

/// The limits of a tree.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Maximum number of splits between the root and a leaf.
    pub max_depth: usize,
    /// Minimum weight of documents on either side of a split.
    pub min_samples_leaf: f64,
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

/// x ln x; 0 for 0.
pub fn weigh(x: f64) -> f64 {
    if x > 0.0 { x * x.ln() } else { 0.0 }
}

impl Slice {
    /// Return the word whose presence has the highest information gain for the class, and the next
    /// highest gain. Ties go to the first word in `order`. None if all documents have one class, or
    /// no word has a gain.
    pub fn best_splits(&self, order: impl Fn(WordId, WordId) -> Ordering) -> Option<(Split, f64)> {
        let n = self.documents();
        if self.classes.iter().filter(|class| class.exists()).count() < 2 {
            return None;
        }
        // n · gain = L(n) − L(a) − L(b) + Σ_c [L(a_c) + L(n_c − a_c) − L(n_c)], where L(x) = x ln x,
        // a documents contain the word and b do not. A class without a document of a adds nothing.
        let of_classes: Vec<f64> =
            self.classes.iter().map(|class| weigh(class.documents)).collect();
        let mut terms = Vec::new();
        let gains = self.words().map(|(word, cells)| {
            let mut present = 0.0;
            terms.clear();
            for cell in cells {
                let class = cell.class as usize;
                present += cell.documents;
                terms.push(
                    weigh(cell.documents) - of_classes[class]
                        + weigh(self.classes[class].documents - cell.documents),
                );
            }
            // Sorted, so that the sum does not depend on the ids of classes.
            if terms.len() > 2 {
                terms.sort_unstable_by(f64::total_cmp);
            }
            let gain = weigh(n) + terms.iter().sum::<f64>() - (weigh(present) + weigh(n - present));
            Split { word, gain: gain / n, present }
        });
        best_of(&gains.collect::<Vec<_>>(), order)
    }
}

/// Return the split with the highest gain, and the next highest gain. Ties go to the first word in
/// `order`. None if no word has a gain.
pub fn best_of(
    gains: &[Split],
    order: impl Fn(WordId, WordId) -> Ordering,
) -> Option<(Split, f64)> {
    let highest = gains.iter().map(|split| split.gain).fold(0.0, f64::max);
    if highest <= TIE {
        return None;
    }
    let ties = gains.iter().filter(|split| split.gain >= highest - TIE);
    let best = *ties.min_by(|one, other| order(one.word, other.word))?;
    let others = gains.iter().filter(|split| split.word != best.word);
    Some((best, others.map(|split| split.gain).fold(0.0, f64::max)))
}

/// The growth of a tree online: a leaf is split once its best word is nearly certain.
///
/// After each `grace_period` of new documents, a leaf compares the information gains of its two best
/// words. By Hoeffding's bound the better word is the best one with
/// probability 1 − δ if it leads by more than √(R² ln(1/δ) / 2n), with R the range of the gain and n
/// the weight of the documents. If that bound is below τ, both words are considered equal, and the
/// better one is used.
#[derive(Clone, Copy, Debug)]
pub struct Hoeffding {
    pub limits: Limits,
    /// The probability of a wrong choice.
    pub delta: f64,
    /// In nats.
    pub tau: f64,
    /// Weight of documents between two checks of a leaf.
    pub grace_period: f64,
}

impl Hoeffding {
    /// Return the word that splits a leaf, if it is certain enough. `order` breaks ties of words.
    pub fn decide(
        &self,
        leaf: &Slice,
        depth: usize,
        order: impl Fn(WordId, WordId) -> Ordering,
    ) -> Option<WordId> {
        if depth >= self.limits.max_depth {
            return None;
        }
        let (best, second) = leaf.best_splits(order)?;
        let n = leaf.documents();
        let range = (leaf.classes.iter().filter(|class| class.exists()).count() as f64).ln();
        let bound = range * ((1.0 / self.delta).ln() / (2.0 * n)).sqrt();
        let certain = best.gain - second > bound + TIE || bound < self.tau;
        let enough = best.present.min(n - best.present) >= self.limits.min_samples_leaf;
        (certain && enough).then_some(best.word)
    }
}
