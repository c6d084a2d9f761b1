//! Averaged one-dependence estimators: the structure-extended models of the HMNB paper, section 2.5.
//!
//! Every word t of the message, or each of the `max_parents` strongest, is in turn the parent of all
//! words, including itself. It has an estimator a_tc = ∏_i P(w_i | w_t, c)^f_i, with P(w_i | w_t, c) =
//! (n_itc + α)/(L_tc + α m) as in [`crate::scoring::hidden`]. The score mixes the estimators by the
//! gain ratios of the parents: ln P(c) + ln Σ_t W_t a_tc / Σ_t W_t. The complement has b_tc, with c̄
//! for c, and is subtracted. One-versus-all mixes the quotients a_tc/b_tc.
//!
//! The products underflow for a message of a hundred words, so means are computed from logarithms,
//! relative to the largest. ln a_tc starts from the smoothing, which is the same for every word. Only
//! words that occur together with t change it ([`crate::scoring::cooccurrence`]).
//!
//! A message without any parent is scored by the event model, with independent words.

use crate::counts::{Bag, ClassId, Store, WordId};
use crate::scoring::composition::Traits;
use crate::scoring::cooccurrence::Cooccurrence;
use crate::scoring::{EventModel, Output, Query};

/// Reused buffers.
#[derive(Default)]
pub struct OneDependenceScratch {
    pub(crate) together: Cooccurrence,
    /// The positions of the parents.
    pub(crate) parents: Vec<usize>,
    /// ln W_t; −∞ for a word that is not a parent.
    pub(crate) weights: Vec<f64>,
    /// The logarithm of each estimator, `words × classes`.
    pub(crate) logs: Vec<f64>,
    /// The summand that all classes of an estimator share, until it is added to `logs`.
    shared: Vec<f64>,
}

/// The coefficients of ln a_tc and ln b_tc in an estimator's logarithm, and the sign of the mean.
pub(crate) fn sides(traits: Traits) -> (f64, f64, f64) {
    match (traits.own, traits.complement) {
        (true, true) => (1.0, -1.0, 1.0),
        (true, false) => (1.0, 0.0, 1.0),
        (false, _) => (0.0, 1.0, -1.0),
    }
}

impl EventModel {
    /// Whether any word of the bag is a parent.
    pub fn has_estimators(store: &Store, bag: &Bag) -> bool {
        let weight = store.parent_weights();
        bag.words.iter().any(|&(word, _)| weight(word) > 0.0)
    }

    /// Compute the score of the bag for each class.
    pub(crate) fn one_dependence_scores(
        &self,
        query: Query<'_>,
        scratch: &mut OneDependenceScratch,
        out: &mut Output<'_>,
    ) {
        let Query { store, bag, terms, .. } = query;
        out.clear(query);
        if !Self::has_estimators(store, bag) {
            return self.add_words(query, &store.rows, out.scores);
        }
        self.estimate(query, scratch);
        let (inside, outside, sign) = sides(self.traits);
        let all = log_sum(scratch.weights.iter().copied());
        let column = |class| scratch.logs.iter().skip(class).step_by(terms.len()).copied();
        for (class, (score, terms)) in out.scores.iter_mut().zip(terms).enumerate() {
            let prior = inside * terms.prior + outside * terms.prior_complement;
            *score = sign * (prior + log_sum(column(class)) - all);
        }
        if let Some(parts) = &mut out.parts {
            self.add_estimator_parts(query, scratch, all, parts);
        }
    }

    /// Add the parts of the score: `words × classes`, and one row for all tokens of unseen words.
    ///
    /// With r_tc, the share of estimator t in the mean for class c, and v_t = W_t/Σ W,
    /// ln Σ_t v_t a_tc = Σ_t r_tc (ln a_tc + ln(v_t/r_tc)). So a word's part is the average of
    /// f_i ln P(w_i|w_t,c) by these shares, plus its part as a parent, r_ic ln(v_i/r_ic).
    fn add_estimator_parts(
        &self,
        query: Query<'_>,
        scratch: &mut OneDependenceScratch,
        all: f64,
        parts: &mut [f64],
    ) {
        let Query { store, bag, terms, .. } = query;
        let classes = terms.len();
        if classes == 0 {
            return;
        }
        let OneDependenceScratch { together, parents, weights, logs, .. } = scratch;
        let (_, _, sign) = sides(self.traits);
        for class in 0..classes {
            let column = logs.iter().skip(class).step_by(classes);
            let (highest, others) = log_sum_parts(column.copied());
            for (position, log) in logs.iter_mut().skip(class).step_by(classes).enumerate() {
                // Subtract twice: the sum of both would round the shares.
                let log_share = (*log - highest) - others;
                *log = log_share.exp();
                if *log > 0.0 {
                    let own = &mut parts[position * classes + class];
                    *own += sign * *log * (weights[position] - all - log_share);
                }
            }
        }
        let shares = logs;
        // Every token, as if no word occurred together with any parent.
        let mut row = vec![0.0; classes];
        let mut smoothed = vec![0.0; classes];
        for (&(word, _), shares) in bag.words.iter().zip(shares.chunks_exact(classes)) {
            self.start_estimator(store, word, 1.0, &mut row);
            for ((sum, log), share) in smoothed.iter_mut().zip(&row).zip(shares) {
                *sum += sign * share * log;
            }
        }
        let unseen = if self.is_smooth() { bag.unseen_tokens() } else { 0.0 };
        let counts = bag.words.iter().map(|&(_, count)| count).chain([unseen]);
        for (part, count) in parts.chunks_exact_mut(classes).zip(counts) {
            part.iter_mut().zip(&smoothed).for_each(|(part, log)| *part += count * log);
        }
        // The changes from words that occurred together.
        together.visit(query, parents, |parent, child, counts| {
            row.fill(0.0);
            let shared = self.add_together(counts, bag.words[child].1, &mut row);
            let shares = &shares[parent * classes..];
            let part = &mut parts[child * classes..(child + 1) * classes];
            for ((part, log), share) in part.iter_mut().zip(&row).zip(shares) {
                *part += sign * share * (log + shared);
            }
        });
    }

    /// Compute the weights of the parents and the logarithm of each W_t a_tc.
    fn estimate(&self, query: Query<'_>, scratch: &mut OneDependenceScratch) {
        let Query { store, bag, terms, .. } = query;
        let classes = terms.len();
        let OneDependenceScratch { together, parents, weights, logs, shared } = scratch;
        let unseen = if self.is_smooth() { bag.unseen_tokens() } else { 0.0 };
        let tokens = bag.tokens() + unseen;
        *parents = self.parents_of(store, bag);
        weights.clear();
        weights.resize(bag.words.len(), f64::NEG_INFINITY);
        for &parent in parents.iter() {
            weights[parent] = store.parents().weight(bag.words[parent].0).ln();
        }
        logs.clear();
        logs.resize(bag.words.len() * classes, f64::NEG_INFINITY);
        shared.clear();
        shared.extend_from_slice(weights);
        for &parent in parents.iter() {
            let row = &mut logs[parent * classes..(parent + 1) * classes];
            self.start_estimator(store, bag.words[parent].0, tokens, row);
        }
        together.visit(query, parents, |parent, child, counts| {
            let row = &mut logs[parent * classes..(parent + 1) * classes];
            shared[parent] += self.add_together(counts, bag.words[child].1, row);
        });
        for (row, shared) in logs.chunks_exact_mut(classes.max(1)).zip(shared) {
            row.iter_mut().for_each(|log| *log += *shared);
        }
    }

    /// Compute the logarithm of an estimator for a message of `tokens` tokens, as if none of its words
    /// occurred together with the parent.
    pub(crate) fn start_estimator(
        &self,
        store: &Store,
        parent: WordId,
        tokens: f64,
        row: &mut [f64],
    ) {
        let (inside, outside, _) = sides(self.traits);
        let smoothing = self.smoothing_by_parents(store);
        let total: f64 = store.rows.cells(parent).map(|cell| cell.length).sum();
        let log = |own: f64| {
            let mut log = (inside + outside) * self.log_alpha;
            if inside != 0.0 {
                log -= inside * (own + smoothing).ln();
            }
            if outside != 0.0 {
                // Rounding may make the difference negative.
                log -= outside * ((total - own).max(0.0) + smoothing).ln();
            }
            tokens * log
        };
        row.fill(log(0.0));
        for cell in store.rows.cells(parent) {
            row[cell.class as usize] = log(cell.length);
        }
    }

    /// Update the logarithm of an estimator for one word of `tokens` tokens that occurred together
    /// with the parent: add the changes of single classes to their row, and return the change that
    /// all classes share.
    pub(crate) fn add_together(
        &self,
        counts: &[(ClassId, f64)],
        tokens: f64,
        row: &mut [f64],
    ) -> f64 {
        let (inside, outside, _) = sides(self.traits);
        let mut shared = 0.0;
        if inside != 0.0 {
            for &(class, count) in counts {
                row[class as usize] += inside * tokens * (self.log_plus(count) - self.log_alpha);
            }
        }
        if outside != 0.0 {
            // A document of one class is in the complements of all others.
            let total: f64 = counts.iter().map(|&(_, count)| count).sum();
            let log_total = self.log_plus(total);
            shared = outside * tokens * (log_total - self.log_alpha);
            for &(class, count) in counts {
                let rest = self.log_plus((total - count).max(0.0));
                row[class as usize] += outside * tokens * (rest - log_total);
            }
        }
        shared
    }
}

/// ln Σ exp, as the largest logarithm and the rest; −∞ if empty.
pub(crate) fn log_sum_parts(logs: impl Iterator<Item = f64> + Clone) -> (f64, f64) {
    let highest = logs.clone().fold(f64::NEG_INFINITY, f64::max);
    if highest.is_infinite() {
        return (highest, 0.0);
    }
    (highest, logs.map(|log| (log - highest).exp()).sum::<f64>().ln())
}

pub(crate) fn log_sum(logs: impl Iterator<Item = f64> + Clone) -> f64 {
    let (highest, others) = log_sum_parts(logs);
    highest + others
}
