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
//! comes from the pair table, or from the documents that contain the parent.

use crate::counts::bag::Bag;
use crate::counts::store::Store;
use crate::counts::vocabulary::WordId;
use crate::scoring::event_model::ClassTerms;
use crate::scoring::event_model::EventModel;
use crate::scoring::hidden::{HiddenScratch, NO_PARENT, PAIR_COST, Side};
use crate::scoring::top_k::sums_of_others;
use crate::watch::Watch;

impl EventModel {
    /// Compute the score of the bag for each class in `out`: the priors of Equation 16, and the ratios
    /// above instead of its two products.
    ///
    /// `parts` receives the part of each word, `words × classes`, and then one row for all tokens of
    /// unseen words.
    #[expect(clippy::too_many_arguments, reason = "the signature of all families")]
    pub fn ratio_scores(
        &self,
        store: &Store,
        terms: &[ClassTerms],
        bag: &Bag,
        scratch: &mut HiddenScratch,
        watch: &Watch,
        out: &mut Vec<f64>,
        mut parts: Option<&mut Vec<f64>>,
    ) {
        let classes = terms.len();
        out.clear();
        out.extend(terms.iter().map(|class| class.prior - class.prior_complement));
        if let Some(parts) = parts.as_deref_mut() {
            parts.clear();
            parts.resize((bag.words.len() + 1) * classes, 0.0);
        }
        let parents = self.collect_parents(store, bag, scratch, Side::Complement);
        self.sum_ratios(store, bag, &parents, scratch, watch, classes);
        let mut subtract = |position: usize, count: f64, class: usize, log: f64| {
            out[class] -= count * log;
            if let Some(parts) = parts.as_deref_mut() {
                parts[position * classes + class] -= count * log;
            }
        };
        for (position, &(word, count)) in bag.words.iter().enumerate() {
            let Some((weight, _)) = scratch.others(scratch.parent_of[position], classes) else {
                let logs = self.log_word(store, terms, Some(word), true);
                for (class, log) in logs.into_iter().enumerate() {
                    subtract(position, count, class, log);
                }
                continue;
            };
            for class in 0..classes {
                let sum = scratch.sums[position * classes + class];
                subtract(position, count, class, log_mean(sum, weight));
            }
        }
        let unseen = bag.unseen_tokens();
        if self.is_smooth() && unseen > 0.0 {
            let logs = match scratch.others(NO_PARENT, classes) {
                Some((weight, rates)) => rates.iter().map(|&rate| log_mean(rate, weight)).collect(),
                None => self.log_word(store, terms, None, true),
            };
            for (class, log) in logs.into_iter().enumerate() {
                subtract(bag.words.len(), unseen, class, log);
            }
        }
    }

    /// Compute Σ_t W_t P(w_i|w_t,c̄)/P(w_i|w_t,c), t ≠ i, in `sums`. The rates are
    /// W_t/(L_tc̄ + α m) before, and W_t (L_tc + α m)/(L_tc̄ + α m) afterwards.
    fn sum_ratios(
        &self,
        store: &Store,
        bag: &Bag,
        parents: &[usize],
        scratch: &mut HiddenScratch,
        watch: &Watch,
        classes: usize,
    ) {
        let HiddenScratch { rates, sums, together, other_rates, .. } = scratch;
        sums.clear();
        sums.resize(bag.words.len() * classes, 0.0);
        if classes == 0 {
            return;
        }
        let smoothing = self.smoothing_by_parents(store);
        let mut smoothed = vec![smoothing; classes];
        let mut tokens = 0.0;
        for (rates, &position) in rates.chunks_exact_mut(classes).zip(parents) {
            smoothed.fill(smoothing);
            for cell in store.rows.cells(bag.words[position].0) {
                smoothed[cell.class as usize] += cell.length;
                tokens += cell.length;
            }
            for (rate, smoothed) in rates.iter_mut().zip(&smoothed) {
                *rate *= smoothed;
            }
        }
        sums_of_others(rates, classes, other_rates);
        let by_pairs = is_cheaper_by_pairs(store, bag, parents.len(), tokens);
        for (rates, &position) in rates.chunks_exact(classes).zip(parents) {
            if watch.stops(bag.words.len() + store.index.frequency(bag.words[position].0)) {
                return;
            }
            together.clear();
            together.resize(bag.words.len() * classes, 0.0);
            let parent = bag.words[position].0;
            if by_pairs {
                count_pairs(store, bag, parent, together, classes);
            } else {
                count_postings(store, bag, parent, together, classes);
            }
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

/// The logarithm of a mean of ratios; finite even if a tiny α makes a ratio overflow.
fn log_mean(sum: f64, weight: f64) -> f64 {
    (sum / weight).clamp(f64::MIN_POSITIVE, f64::MAX).ln()
}

/// `tokens` is the length of the documents that contain the parents, about the words to visit.
fn is_cheaper_by_pairs(store: &Store, bag: &Bag, parents: usize, tokens: f64) -> bool {
    let lookups = parents * bag.words.len() * PAIR_COST;
    store.pairs.is_complete() && (lookups as f64) < tokens
}

/// Add n_itc of the words i and one parent t to zeros, from the pair table.
fn count_pairs(store: &Store, bag: &Bag, parent: WordId, together: &mut [f64], classes: usize) {
    for (together, &(word, _)) in together.chunks_exact_mut(classes).zip(&bag.words) {
        if word != parent {
            for pair in store.pairs.pairs(word, parent) {
                together[pair.class as usize] += pair.first;
            }
        }
    }
}

/// Add n_itc of the words i and one parent t to zeros, from the documents that contain t.
fn count_postings(store: &Store, bag: &Bag, parent: WordId, together: &mut [f64], classes: usize) {
    for posting in store.index.postings(parent) {
        let Some(document) = store.index.document(posting.slot) else { continue };
        for &(word, count) in &document.words {
            if word != parent
                && let Some(position) = bag.position(word)
            {
                together[position * classes + document.class as usize] += document.weight * count;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::counts::store::Settings;
    use crate::scoring::composition::Event;
    use crate::scoring::cooccurrence::tests::{made_up_message, store_of};
    use crate::scoring::event_model::{Oov, Prior};

    /// A store of generated documents of three classes; every other word is a parent.
    fn store(max_pairs: usize) -> Store {
        let settings =
            Settings { max_features: 1000, index_size: 500, max_pairs, ..Settings::COUNTS };
        store_of(settings, 300, 0.5, |word| (word % 2) as f64 * 0.25)
    }

    fn scores(store: &Store, bag: &Bag, parts: Option<&mut Vec<f64>>) -> Vec<f64> {
        let scoring =
            EventModel::new(Event::OneVersusAll, 0.5, Prior::Laplace, Oov::Smooth, None).unwrap();
        let (mut terms, mut out) = (Vec::new(), Vec::new());
        scoring.prepare(store, &mut terms);
        let mut scratch = HiddenScratch::default();
        let watch = Watch::default();
        scoring.ratio_scores(store, &terms, bag, &mut scratch, &watch, &mut out, parts);
        out
    }

    #[test]
    fn pair_table_and_postings_count_alike() {
        let store = store(10_000);
        let bag = made_up_message(&store);
        let classes = store.classes().len();
        for &(parent, _) in &bag.words {
            let (mut pairs, mut postings) = (vec![0.0; 5 * classes], vec![0.0; 5 * classes]);
            count_pairs(&store, &bag, parent, &mut pairs, classes);
            count_postings(&store, &bag, parent, &mut postings, classes);
            assert_eq!(pairs, postings);
            assert!(pairs.iter().filter(|&&count| count > 0.0).count() > 2 * classes);
        }
    }

    #[test]
    fn scores_are_the_same_from_either() {
        let (with, without) = (store(10_000), store(0));
        let bag = made_up_message(&with);
        assert!(is_cheaper_by_pairs(&with, &bag, 3, 1000.0));
        assert!(!is_cheaper_by_pairs(&with, &bag, 3, 100.0));
        assert!(!is_cheaper_by_pairs(&without, &bag, 3, 1000.0));
        let by_pairs = scores(&with, &bag, None);
        assert_eq!(by_pairs, scores(&without, &bag, None));
        assert!(by_pairs.iter().all(|score| score.is_finite()));
    }

    #[test]
    fn parts_and_priors_add_up_to_the_scores() {
        let store = store(10_000);
        let mut empty = Bag::default();
        empty.clear(store.vocabulary().slots());
        let bag = made_up_message(&store);
        let mut parts = Vec::new();
        let with_parts = scores(&store, &bag, Some(&mut parts));
        let baseline = scores(&store, &empty, None);
        let classes = baseline.len();
        assert_eq!(parts.len(), 6 * classes);
        for (class, score) in with_parts.iter().enumerate() {
            let words: f64 = parts.iter().skip(class).step_by(classes).sum();
            assert!((baseline[class] + words - score).abs() < 1e-9);
        }
    }

    #[test]
    fn an_empty_store_has_no_scores() {
        let store = Store::new(store(0).settings());
        let mut bag = Bag::default();
        bag.clear(0);
        bag.add_unseen(1, 1.0);
        assert_eq!(scores(&store, &bag, Some(&mut Vec::new())), [0.0; 0]);
    }
}
