//! What each word of a message contributes to each class.

use crate::counts::bag::{Bag, Unseen};
use crate::counts::store::Store;
use crate::counts::vocabulary::WordId;
use crate::scoring::hidden::HiddenScratch;
use crate::scoring::one_dependence::{OneDependenceScratch, log_sum, log_sum_parts, sides};
use crate::scoring::packaged::PackagedScratch;
use crate::scoring::scorer::{ClassTerms, Scoring};

/// The joint log-likelihoods taken apart: they are `baseline` plus the sum of all contributions.
pub struct Explanation {
    /// The score of an empty message, by class.
    pub baseline: Vec<f64>,
    /// Each known word's contribution, by class.
    pub words: Vec<(WordId, Vec<f64>)>,
    /// Each unseen word's contribution, in the order of `bag.unseen`, by class.
    pub unseen: Vec<Vec<f64>>,
}

impl Scoring {
    /// Explains the independent score: words add up, so each is scored alone.
    pub fn explain(&self, store: &Store, terms: &[ClassTerms], bag: &Bag) -> Explanation {
        self.explain_sum(store, bag, |single, scores| self.scores(store, terms, single, scores))
    }

    /// Explains any score that is a sum over words.
    pub fn explain_sum(
        &self,
        store: &Store,
        bag: &Bag,
        score: impl Fn(&Bag, &mut Vec<f64>),
    ) -> Explanation {
        let mut single = Bag::default();
        let mut scores = Vec::new();
        single.clear(store.vocabulary.slots());
        score(&single, &mut scores);
        let baseline = scores.clone();
        let mut less_baseline = |single: &Bag| -> Vec<f64> {
            score(single, &mut scores);
            scores.iter().zip(&baseline).map(|(score, base)| score - base).collect()
        };
        let words = bag.words.iter().map(|&(word, count)| {
            single.clear(store.vocabulary.slots());
            single.add(word, count);
            (word, less_baseline(&single))
        });
        let words = words.collect();
        let unseen = if self.needs_distinct() {
            // They take the places of absent words together, as long as there are any: each has an
            // equal share of that.
            single.clear(store.vocabulary.slots());
            bag.unseen.iter().for_each(|unseen| single.add_unseen(unseen.hash, unseen.count));
            let number = bag.unseen.len() as f64;
            let share: Vec<f64> =
                less_baseline(&single).into_iter().map(|part| part / number).collect();
            vec![share; bag.unseen.len()]
        } else {
            let unseen = bag.unseen.iter().map(|&Unseen { hash, count }| {
                single.clear(store.vocabulary.slots());
                single.add_unseen(hash, count);
                less_baseline(&single)
            });
            unseen.collect()
        };
        Explanation { words, unseen, baseline: baseline.clone() }
    }

    /// Explains the score with hidden parents: f_i ln P(w_i | hp_i, c) for each word.
    pub fn explain_hidden(
        &self,
        store: &Store,
        terms: &[ClassTerms],
        bag: &Bag,
        scratch: &mut HiddenScratch,
    ) -> Explanation {
        explain_parts(store, bag, |bag, scores, parts| {
            self.hidden_scores(store, terms, bag, scratch, scores, Some(parts));
        })
    }

    /// Explains the score with hidden parents of ratios.
    pub fn explain_ratios(
        &self,
        store: &Store,
        terms: &[ClassTerms],
        bag: &Bag,
        scratch: &mut HiddenScratch,
    ) -> Explanation {
        explain_parts(store, bag, |bag, scores, parts| {
            self.ratio_scores(store, terms, bag, scratch, scores, Some(parts));
        })
    }

    /// Explains averaged one-dependence estimators.
    pub fn explain_one_dependence(
        &self,
        store: &Store,
        terms: &[ClassTerms],
        bag: &Bag,
        scratch: &mut OneDependenceScratch,
    ) -> Explanation {
        if !Self::has_estimators(store, bag) {
            return self.explain(store, terms, bag);
        }
        explain_parts(store, bag, |bag, scores, parts| {
            self.one_dependence_parts(store, terms, bag, scratch, scores, parts);
        })
    }

    /// The score, and its parts: `words × classes`, and one row for all tokens of unseen words.
    ///
    /// With r_tc, the share of estimator t in the mean for class c, and v_t = W_t/Σ W,
    /// ln Σ_t v_t a_tc = Σ_t r_tc (ln a_tc + ln(v_t/r_tc)). So a word's part is f_i ln P(w_i|w_t,c)
    /// averaged by these shares, and what it counts for as a parent: r_ic ln(v_i/r_ic).
    pub(crate) fn one_dependence_parts(
        &self,
        store: &Store,
        terms: &[ClassTerms],
        bag: &Bag,
        scratch: &mut OneDependenceScratch,
        out: &mut Vec<f64>,
        parts: &mut Vec<f64>,
    ) {
        self.one_dependence_scores(store, terms, bag, scratch, out);
        let classes = terms.len();
        parts.clear();
        parts.resize((bag.words.len() + 1) * classes, 0.0);
        if !Self::has_estimators(store, bag) || classes == 0 {
            return;
        }
        let OneDependenceScratch { together, weights, logs, .. } = scratch;
        let (_, _, sign) = sides(self.event);
        let all = log_sum(weights.iter().copied());
        for class in 0..classes {
            let column = logs.iter().skip(class).step_by(classes);
            let (highest, others) = log_sum_parts(column.copied());
            for (position, log) in logs.iter_mut().skip(class).step_by(classes).enumerate() {
                // Not less their sum: a large one would round the shares.
                let log_share = (*log - highest) - others;
                *log = log_share.exp();
                if *log > 0.0 {
                    let own = &mut parts[position * classes + class];
                    *own += sign * *log * (weights[position] - all - log_share);
                }
            }
        }
        let shares = logs;
        // Every token, as if no word stood together with any …
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
        // … and what changes where they did.
        together.visit(
            store,
            bag,
            |position| weights[position].is_finite(),
            |parent, child, counts| {
                row.fill(0.0);
                let shared = self.add_together(counts, bag.words[child].1, &mut row);
                let shares = &shares[parent * classes..];
                let part = &mut parts[child * classes..(child + 1) * classes];
                for ((part, log), share) in part.iter_mut().zip(&row).zip(shares) {
                    *part += sign * share * (log + shared);
                }
            },
        );
    }
}

impl Scoring {
    /// Adds what the ratios R_wc of the words contribute.
    pub fn explain_chi_square(
        &self,
        store: &Store,
        terms: &[ClassTerms],
        bag: &Bag,
        explanation: &mut Explanation,
    ) {
        let mut single = Bag::default();
        for (&(word, count), (_, parts)) in bag.words.iter().zip(&mut explanation.words) {
            single.clear(store.vocabulary.slots());
            single.add(word, count);
            self.add_chi_square(store, terms, &single, parts);
        }
    }

    /// Explains the score with packaged hidden parents.
    pub fn explain_packaged(
        &self,
        store: &Store,
        terms: &[ClassTerms],
        bag: &Bag,
        scratch: &mut PackagedScratch,
    ) -> Explanation {
        let threshold = [store.bags.threshold];
        explain_parts(store, bag, |bag, scores, parts| {
            self.packaged_scores(store, terms, bag, scratch, &threshold, scores, Some(parts));
        })
    }
}

/// Explains scores that come with the part of each word, `words × classes`, and of all tokens of
/// unseen words.
fn explain_parts(
    store: &Store,
    bag: &Bag,
    mut score: impl FnMut(&Bag, &mut Vec<f64>, &mut Vec<f64>),
) -> Explanation {
    let (mut baseline, mut scores, mut parts) = (Vec::new(), Vec::new(), Vec::new());
    let mut empty = Bag::default();
    empty.clear(store.vocabulary.slots());
    score(&empty, &mut baseline, &mut parts);
    score(bag, &mut scores, &mut parts);
    let classes = baseline.len();
    let row = |position: usize| &parts[position * classes..(position + 1) * classes];
    let words = bag.words.iter().enumerate();
    let words = words.map(|(position, &(word, _))| (word, row(position).to_vec())).collect();
    let all_unseen = bag.unseen_tokens();
    let unseen = bag.unseen.iter().map(|unseen| {
        let share = if all_unseen > 0.0 { unseen.count / all_unseen } else { 0.0 };
        row(bag.words.len()).iter().map(|part| part * share).collect()
    });
    Explanation { words, unseen: unseen.collect(), baseline }
}
