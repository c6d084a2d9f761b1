//! The correlation factor: the documents of all classes count t times in each class.
//!
//! Naive Bayes with correlation factor (NBCF paper), Equation 4.5, for documents of any length:
//! θ_cj = (N_cj + t N_·j) / (N_c· + t N_··), with N_cj the tokens of word j in class c. The
//! complement of a class is treated as a class: N_c̄j = N_·j − N_cj.
//!
//! At t = 0 a word that a class never had has an infinite logarithm. The score is then the limit for
//! t → 0, so that two infinite terms do not give NaN.

use crate::counts::Store;
use crate::scoring::composition::Traits;
use crate::scoring::event_model::Factors;
use crate::scoring::scorer::ScoringConfig;
use crate::scoring::{ClassTerms, EventModel, Query};

/// The logarithm, or 0 if no word is known and the value is 0.
fn log(value: f64) -> f64 {
    if value > 0.0 { value.ln() } else { 0.0 }
}

impl ScoringConfig {
    /// Compute the terms of the classes that depend on the factors.
    pub(crate) fn prepare_correlation(&self, store: &Store, terms: &mut [ClassTerms]) {
        let all: f64 = store.classes.iter().map(|class| class.tokens).sum();
        for (place, (terms, class)) in terms.iter_mut().zip(&store.classes).enumerate() {
            let (own, complement) =
                self.factors.get(place).copied().unwrap_or((self.factor, self.factor));
            let rest = (all - class.tokens).max(0.0);
            // A side without tokens has the shares of all classes, for any factor. This avoids 0 / 0.
            let own = if class.tokens == 0.0 { 1.0 } else { own };
            let complement = if rest == 0.0 { 1.0 } else { complement };
            terms.factors = Factors { own, complement };
            terms.log_factors = Factors { own: own.ln(), complement: complement.ln_1p() };
            terms.tokens = log(class.tokens + own * all);
            terms.tokens_complement = log(rest + complement * all);
        }
    }
}

impl EventModel {
    /// Add ln P(c) + Σ_i f_i ln θ_ci and −ln P(c̄) − Σ_i f_i ln θ_c̄i, if the event has these sides.
    pub(crate) fn add_correlation(&self, query: Query<'_>, out: &mut [f64]) {
        let Query { store, terms, bag, .. } = query;
        let Traits { own, complement, .. } = self.traits;
        let impossible = |terms: &ClassTerms| {
            (own && terms.factors.own == 0.0) || (complement && terms.factors.complement == 0.0)
        };
        if terms.iter().any(impossible) {
            return add_limits(query, out, own, complement);
        }
        let (mut tokens, mut shared) = (0.0, 0.0);
        for &(word, count) in &bag.words {
            let total: f64 = store.rows.cells(word).map(|cell| cell.tokens).sum();
            if total == 0.0 {
                continue;
            }
            let log_total = total.ln();
            tokens += count;
            shared += count * log_total;
            // The change for classes that have the word; all others are added below.
            for cell in store.rows.cells(word) {
                let ClassTerms { factors, log_factors, .. } = &terms[cell.class as usize];
                let mut change = 0.0;
                if own {
                    change += (cell.tokens / total + factors.own).ln() - log_factors.own;
                }
                if complement {
                    let rest = (total - cell.tokens).max(0.0);
                    change -= (rest / total + factors.complement).ln() - log_factors.complement;
                }
                out[cell.class as usize] += count * change;
            }
        }
        for (score, class) in out.iter_mut().zip(terms) {
            if own {
                let absent = class.log_factors.own;
                *score += class.prior + shared + tokens * (absent - class.tokens);
            }
            if complement {
                let absent = class.log_factors.complement;
                *score -=
                    class.prior_complement + shared + tokens * (absent - class.tokens_complement);
            }
        }
    }
}

/// Add the limit of the score for factors of 0: −∞ if more factors vanish in the numerator than in
/// the denominator, and +∞ if fewer do.
fn add_limits(query: Query<'_>, out: &mut [f64], own: bool, complement: bool) {
    let Query { store, terms, bag, .. } = query;
    for (class, (score, terms)) in out.iter_mut().zip(terms).enumerate() {
        let (mut zeros, mut tokens) = (0.0, 0.0);
        let mut add = |sign: f64, count: f64, tokens: f64, total: f64, t: f64| {
            if tokens + t * total > 0.0 {
                *score += sign * count * (tokens + t * total).ln();
            } else {
                // t N_·j, without its ln t.
                *score += sign * count * total.ln();
                zeros += sign * count;
            }
        };
        for &(word, count) in &bag.words {
            let cells = || store.rows.cells(word);
            let total: f64 = cells().map(|cell| cell.tokens).sum();
            if total == 0.0 {
                continue;
            }
            tokens += count;
            let cell = cells().find(|cell| cell.class as usize == class);
            let of_class = cell.map_or(0.0, |cell| cell.tokens);
            if own {
                add(1.0, count, of_class, total, terms.factors.own);
            }
            if complement {
                let rest = (total - of_class).max(0.0);
                add(-1.0, count, rest, total, terms.factors.complement);
            }
        }
        if own {
            *score += terms.prior - tokens * terms.tokens;
        }
        if complement {
            *score -= terms.prior_complement - tokens * terms.tokens_complement;
        }
        // Fractional counts cause rounding errors.
        if zeros > 1e-12 * tokens {
            *score = f64::NEG_INFINITY;
        } else if zeros < -1e-12 * tokens {
            *score = f64::INFINITY;
        }
    }
}
