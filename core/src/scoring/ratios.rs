//! Hidden parents of ratios, which reproduce the published figures of HOVA.
//!
//! Equation 16 of the HMNB paper divides the hidden mean of class c by the hidden mean of its
//! complement for each word i; [`crate::scoring::hidden`] computes this as a difference of logarithms.
//! But another formula reproduces the figures in the paper to the last digit. There, one hidden parent
//! mixes the ratios of the two sides,
//! −Σ_i f_i ln(Σ_t W_t P(w_i|w_t,c̄)/P(w_i|w_t,c) / Σ_t W_t), t ≠ i,
//! and a word without a qualified parent in the message contributes −f_i ln P(w_i|c̄), not a ratio.
//!
//! A ratio does not split into factors of t and of i, so n_itc is needed for every parent and word. It
//! comes from the documents that contain the parent.

use crate::counts::{Bag, Store, WordId};
use crate::scoring::hidden::{HiddenScratch, Side};
use crate::scoring::top_k::sums_of_others;
use crate::scoring::{EventModel, Output, Query};

impl EventModel {
    /// Compute the score of the bag for each class: the priors of Equation 16, and the ratios above
    /// instead of its two products.
    pub(crate) fn ratio_scores(
        &self,
        query: Query<'_>,
        scratch: &mut HiddenScratch,
        out: &mut Output<'_>,
    ) {
        out.clear(query);
        for (score, class) in out.scores.iter_mut().zip(query.terms) {
            *score = class.prior - class.prior_complement;
        }
        let parents = self.collect_parents(query, scratch, Side::Complement);
        self.sum_ratios(query, &parents, scratch);
        self.add_logs(query, scratch, Side::Complement, out, |sum, rate, weight| {
            // Finite even if a tiny α makes a ratio overflow.
            (sum.unwrap_or(rate) / weight).clamp(f64::MIN_POSITIVE, f64::MAX).ln()
        });
    }

    /// Compute Σ_t W_t P(w_i|w_t,c̄)/P(w_i|w_t,c), t ≠ i, in `sums`. The rates are
    /// W_t/(L_tc̄ + α m) before, and W_t (L_tc + α m)/(L_tc̄ + α m) afterwards.
    fn sum_ratios(&self, query: Query<'_>, parents: &[usize], scratch: &mut HiddenScratch) {
        let Query { store, bag, terms, watch } = query;
        let HiddenScratch { rates, sums, together, other_rates, .. } = scratch;
        let classes = terms.len();
        sums.clear();
        sums.resize(bag.words.len() * classes, 0.0);
        if classes == 0 {
            return;
        }
        let smoothing = self.smoothing_by_parents(store);
        let mut smoothed = vec![smoothing; classes];
        for (rates, &position) in rates.chunks_exact_mut(classes).zip(parents) {
            smoothed.fill(smoothing);
            for cell in store.rows.cells(bag.words[position].0) {
                smoothed[cell.class as usize] += cell.length;
            }
            for (rate, smoothed) in rates.iter_mut().zip(&smoothed) {
                *rate *= smoothed;
            }
        }
        sums_of_others(rates, classes, other_rates);
        for (rates, &position) in rates.chunks_exact(classes).zip(parents) {
            if watch.stops(bag.words.len() + store.index.frequency(bag.words[position].0)) {
                return;
            }
            together.clear();
            together.resize(bag.words.len() * classes, 0.0);
            count_postings(store, bag, bag.words[position].0, together, classes);
            let rows = sums.chunks_exact_mut(classes).zip(together.chunks_exact(classes));
            for (child, (sums, together)) in rows.enumerate() {
                if child != position {
                    self.add_ratios(rates, together, sums);
                }
            }
        }
    }

    /// Add the ratios of one parent and one word, from n_itc by class.
    fn add_ratios(&self, rates: &[f64], together: &[f64], sums: &mut [f64]) {
        let total: f64 = together.iter().sum();
        for ((sum, rate), own) in sums.iter_mut().zip(rates).zip(together) {
            // Most words and parents never occur together; then both sides have only α.
            let ratio =
                if total == 0.0 { 1.0 } else { (total - own + self.alpha) / (own + self.alpha) };
            *sum += rate * ratio;
        }
    }
}

/// Add n_itc of the words i and one parent t to zeros, from the documents that contain t.
fn count_postings(store: &Store, bag: &Bag, parent: WordId, together: &mut [f64], classes: usize) {
    for posting in store.index.postings(parent) {
        let Some(document) = store.index.document(posting.slot) else { continue };
        for &(word, count) in &*document.words {
            if word != parent
                && let Some(position) = bag.position(word)
            {
                together[position * classes + document.class as usize] += document.weight * count;
            }
        }
    }
}
