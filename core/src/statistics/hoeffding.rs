//! Trees that grow online: a leaf is split once it is nearly sure which word splits it best.
//!
//! After each `grace_period` of documents, a leaf compares the information gains of its two best
//! words. By Hoeffding's bound the better one is the best with probability 1 − δ where it leads by
//! more than √(R² ln(1/δ) / 2n), R the range of the gain and n the documents of the leaf. Where that
//! bound is below τ the two are as good as one another, and the better one is taken.

use crate::counts::slice::Slice;
use crate::counts::vocabulary::WordId;
use crate::statistics::split::{Limits, Split, TIE};
use std::cmp::Ordering;

/// When leaves are split.
#[derive(Clone, Copy, Debug)]
pub struct Hoeffding {
    pub limits: Limits,
    /// The probability of choosing wrong.
    pub delta: f64,
    /// In nats.
    pub tau: f64,
    /// Weight of documents between two looks at a leaf.
    pub grace_period: f64,
}

impl Hoeffding {
    /// The split of a leaf's documents, if it is sure enough. `order` breaks ties of words.
    pub fn decide(
        &self,
        slice: &Slice,
        depth: usize,
        order: impl Fn(WordId, WordId) -> Ordering,
    ) -> Option<Split> {
        if depth >= self.limits.max_depth {
            return None;
        }
        let (best, second) = slice.best_splits(order)?;
        let classes = slice.classes().iter().filter(|class| class.exists()).count() as f64;
        let n = slice.documents();
        let bound = classes.ln() * ((1.0 / self.delta).ln() / (2.0 * n)).sqrt();
        let sure = best.gain - second > bound + TIE || bound < self.tau;
        (sure && self.limits.allow(&best, n)).then_some(best)
    }
}
