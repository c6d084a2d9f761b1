//! Averaged one-dependence estimators, taken apart word by word.

use crate::counts::bag::Bag;
use crate::counts::store::Store;
use crate::scoring::one_dependence::{OneDependenceScratch, log_sum, log_sum_parts, sides};
use crate::scoring::parameters::Parameters;
use crate::scoring::terms::ClassTerms;
use crate::watch::Watch;

impl Parameters {
    /// The score, and its parts: `words × classes`, and one row for all tokens of unseen words.
    ///
    /// With r_tc, the share of estimator t in the mean for class c, and v_t = W_t/Σ W,
    /// ln Σ_t v_t a_tc = Σ_t r_tc (ln a_tc + ln(v_t/r_tc)). So a word's part is f_i ln P(w_i|w_t,c)
    /// averaged by these shares, and what it counts for as a parent: r_ic ln(v_i/r_ic).
    pub fn one_dependence_parts(
        &self,
        store: &Store,
        terms: &[ClassTerms],
        bag: &Bag,
        scratch: &mut OneDependenceScratch,
        out: &mut Vec<f64>,
        parts: &mut Vec<f64>,
    ) {
        let watch = Watch::default();
        self.one_dependence_scores(store, terms, bag, scratch, &watch, out);
        let classes = terms.len();
        parts.clear();
        parts.resize((bag.words.len() + 1) * classes, 0.0);
        if !Self::has_estimators(store, bag) || classes == 0 {
            return;
        }
        let OneDependenceScratch { together, parents, weights, logs, .. } = scratch;
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
        together.visit(store, bag, parents, &watch, |parent, child, counts| {
            row.fill(0.0);
            let shared = self.add_together(counts, bag.words[child].1, &mut row);
            let shares = &shares[parent * classes..];
            let part = &mut parts[child * classes..(child + 1) * classes];
            for ((part, log), share) in part.iter_mut().zip(&row).zip(shares) {
                *part += sign * share * (log + shared);
            }
        });
    }
}
