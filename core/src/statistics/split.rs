//! The best split of documents: by the word with the highest information gain for the class.

use crate::counts::{Slice, WordId};

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
fn weigh(x: f64) -> f64 {
    if x > 0.0 { x * x.ln() } else { 0.0 }
}

impl Slice {
    /// Return the word whose presence has the highest information gain for the class. Ties go to the
    /// first word by its place. None if all documents have one class, or no word has a gain.
    pub fn best_split(&self, places: &[u32]) -> Option<Split> {
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
        let gains: Vec<Split> = gains.collect();
        let highest = gains.iter().map(|split| split.gain).fold(0.0, f64::max);
        if highest <= TIE {
            return None;
        }
        let ties = gains.iter().filter(|split| split.gain >= highest - TIE);
        ties.min_by_key(|split| places[split.word as usize]).copied()
    }
}
