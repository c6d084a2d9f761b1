//! The correlation factor: the documents of all classes count t times in each class.
//!
//! Naive Bayes with correlation factor (NBCF paper), Equation 4.5, for documents of any length:
//! θ_cj = (N_cj + t N_·j) / (N_c· + t N_··), with N_cj the tokens of word j in class c. The
//! complement of a class is treated as a class: N_c̄j = N_·j − N_cj.
//!
//! At t = 0 a word that a class never had has an infinite logarithm. The score is then the limit for
//! t → 0, so that two infinite terms do not give NaN.

use crate::counts::bag::Bag;
use crate::counts::store::{MAX_COUNT, Store};
use crate::error::{Error, Result};
use crate::scoring::composition::Traits;
use crate::scoring::event_model::{ClassTerms, Factors};

/// The correlation factors in use.
#[derive(Clone)]
pub struct Correlation {
    /// The factors of classes that are not in `by_class`.
    others: Factors,
    by_class: Vec<Factors>,
}

impl Correlation {
    /// Check that all factors are from 0 to 2^53.
    pub fn new(factor: f64, by_class: Vec<Factors>) -> Result<Self> {
        let others = Factors { own: factor, complement: factor };
        for factors in by_class.iter().chain([&others]) {
            for factor in [factors.own, factors.complement] {
                if !(0.0..=MAX_COUNT).contains(&factor) {
                    return Err(Error::Invalid(format!(
                        "factor must be a number from 0 to 2**53, \"auto\" or \"optimal\", not {factor}"
                    )));
                }
            }
        }
        Ok(Correlation { others, by_class })
    }
}

/// The logarithm, or 0 if no word is known and the value is 0.
fn log(value: f64) -> f64 {
    if value > 0.0 { value.ln() } else { 0.0 }
}

impl Correlation {
    /// Compute the terms of the classes that depend on the factors.
    pub fn prepare(&self, store: &Store, terms: &mut [ClassTerms]) {
        let all: f64 = store.classes().iter().map(|class| class.tokens).sum();
        for (place, (terms, class)) in terms.iter_mut().zip(store.classes()).enumerate() {
            let mut factors = self.by_class.get(place).copied().unwrap_or(self.others);
            let rest = (all - class.tokens).max(0.0);
            // A side without tokens has the shares of all classes, for any factor. This avoids 0 / 0.
            if class.tokens == 0.0 {
                factors.own = 1.0;
            }
            if rest == 0.0 {
                factors.complement = 1.0;
            }
            terms.factors = factors;
            let Factors { own, complement } = factors;
            terms.log_factors = Factors { own: own.ln(), complement: complement.ln_1p() };
            terms.tokens = log(class.tokens + factors.own * all);
            terms.tokens_complement = log(rest + factors.complement * all);
        }
    }

    /// Add ln P(c) + Σ_i f_i ln θ_ci and −ln P(c̄) − Σ_i f_i ln θ_c̄i, if the event has these sides.
    pub fn add(
        &self,
        traits: Traits,
        store: &Store,
        terms: &[ClassTerms],
        bag: &Bag,
        out: &mut [f64],
    ) {
        let Traits { own, complement, .. } = traits;
        let impossible = |terms: &ClassTerms| {
            (own && terms.factors.own == 0.0) || (complement && terms.factors.complement == 0.0)
        };
        if terms.iter().any(impossible) {
            return add_limits(store, terms, bag, out, own, complement);
        }
        let (mut tokens, mut shared) = (0.0, 0.0);
        for &(word, count) in &bag.words {
            let total: f64 = store.rows().cells(word).map(|cell| cell.tokens).sum();
            if total == 0.0 {
                continue;
            }
            let log_total = total.ln();
            tokens += count;
            shared += count * log_total;
            // The change for classes that have the word; all others are added below.
            for cell in store.rows().cells(word) {
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
fn add_limits(
    store: &Store,
    terms: &[ClassTerms],
    bag: &Bag,
    out: &mut [f64],
    own: bool,
    complement: bool,
) {
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
            let cells = || store.rows().cells(word);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::counts::store::Settings;
    use crate::scoring::composition::Event;
    use crate::scoring::decision;
    use crate::scoring::event_model::{EventModel, Oov, Prior};

    fn store(documents: &[(&str, u32)]) -> Store {
        let mut store = Store::new(Settings { max_features: 100, ..Settings::COUNTS });
        let mut bag = Bag::default();
        for (text, class) in documents {
            bag.clear(store.vocabulary().slots());
            for name in text.split_whitespace() {
                let token = store.vocabulary().token(name.as_bytes());
                bag.add(store.intern(&token), 1.0);
            }
            assert!(store.learn(&mut bag, *class, 1.0).is_ok());
        }
        store.ranks = (0..store.classes().len() as i64).collect();
        store
    }

    fn scores(store: &Store, event: Event, factor: f64, text: &str) -> Vec<f64> {
        let scoring = EventModel::new(event, 1.0, Prior::Uniform, Oov::Skip, None).unwrap();
        let correlation = Correlation::new(factor, Vec::new()).unwrap();
        let (mut bag, mut terms, mut out) = (Bag::default(), Vec::new(), Vec::new());
        bag.clear(store.vocabulary().slots());
        for name in text.split_whitespace() {
            if let Some(word) = store.vocabulary().find(&store.vocabulary().token(name.as_bytes()))
            {
                bag.add(word, 1.0);
            }
        }
        scoring.prepare(store, &mut terms);
        correlation.prepare(store, &mut terms);
        out.resize(terms.len(), 0.0);
        correlation.add(event.traits(), store, &terms, &bag, &mut out);
        out
    }

    fn assert_close(scores: &[f64], expected: &[f64]) {
        assert_eq!(scores.len(), expected.len());
        for (score, expected) in scores.iter().zip(expected) {
            assert!((score - expected.ln()).abs() < 1e-12, "{scores:?}");
        }
    }

    #[test]
    fn the_estimate_by_hand() {
        // Tokens: a in class 0, a a b in class 1; a has 3 of all 4.
        let store = store(&[("a", 0), ("a a b", 1)]);
        let theta = |own: f64, all: f64, tokens: f64| (own + 0.5 * all) / (tokens + 0.5 * 4.0);
        let (in_0, in_1) = (theta(0.0, 1.0, 1.0), theta(1.0, 1.0, 3.0));
        assert_close(&scores(&store, Event::Multinomial, 0.5, "b"), &[in_0, in_1]);
        assert_close(&scores(&store, Event::Complement, 0.5, "b"), &[1.0 / in_1, 1.0 / in_0]);
        let ratios = [in_0 / in_1, in_1 / in_0];
        assert_close(&scores(&store, Event::OneVersusAll, 0.5, "b"), &ratios);
        // Unknown words have no effect.
        assert_close(&scores(&store, Event::Multinomial, 0.5, "b new"), &[in_0, in_1]);
    }

    #[test]
    fn the_limit_equals_small_factors() {
        let store = store(&[("a c", 0), ("a a b c", 1), ("", 2)]);
        for event in [Event::Multinomial, Event::Complement, Event::OneVersusAll] {
            for text in ["", "a", "b", "a b", "c c", "a b b c", "new"] {
                let limits = scores(&store, event, 0.0, text);
                let near = scores(&store, event, 1e-200, text);
                for (limit, near) in limits.iter().zip(near) {
                    if limit.is_finite() {
                        assert!((limit - near).abs() < 1e-9, "{text}: {limit} {near}");
                    } else {
                        assert!(limit.signum() * near > 400.0, "{text}: {limit} {near}");
                    }
                }
                let shares = decision::probabilities(&store, &limits);
                assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-12, "{shares:?}");
            }
        }
    }

    #[test]
    fn empty_documents_have_equal_scores() {
        let store = store(&[("", 0), ("", 1)]);
        for event in [Event::Multinomial, Event::Complement, Event::OneVersusAll] {
            for factor in [0.0, 0.1] {
                assert_eq!(scores(&store, event, factor, "a"), [0.0, 0.0]);
            }
        }
    }

    #[test]
    fn factors_out_of_range_are_refused() {
        for factor in [-0.1, f64::NAN, f64::INFINITY] {
            assert!(Correlation::new(factor, Vec::new()).is_err());
        }
    }
}
