//! Naive Bayes corrected online: log odds of words, with what a step a message has added to them.
//!
//! With x_i the value of word i in a message (1 where presence is counted), x_0 = Σ x_i, unknown
//! words included, and ‖x‖ its Euclidean length,
//!
//!   s_k = b_k + c Σ_i x_i l_ik / x_0 + Σ_i w_ik x_i / ‖x‖
//!   l_ik = ln P(w_i|k) / P(w_i|k̄)

use crate::counts::bag::Bag;
use crate::counts::rows::ClassId;
use crate::counts::store::Store;
use crate::counts::vocabulary::WordId;
use crate::error::{Error, Result};
use crate::scoring::decision;
use crate::scoring::terms::ClassTerms;
use crate::statistics::online_weights::OnlineWeights;

/// How scores are corrected.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OnlineScores {
    /// c: what the mean log odds of the words are multiplied by.
    pub nb_scale: f64,
    /// r of words, and of classes.
    pub learning_rate: f64,
    pub bias_rate: f64,
    /// q of both.
    pub rate_decay: f64,
    /// ε: no step is taken from a smaller error.
    pub margin: f64,
    /// Whether probabilities are calibrated, and f: what that remembers from message to message.
    pub calibrated: bool,
    pub forgetting_factor: f64,
}

impl Default for OnlineScores {
    fn default() -> Self {
        OnlineScores {
            nb_scale: 5.0,
            learning_rate: 4.0,
            bias_rate: 1.0,
            rate_decay: 16.0,
            margin: 0.05,
            calibrated: true,
            forgetting_factor: 0.999,
        }
    }
}

/// Σ x_i and Σ x_i² of a message, each of its words standing there once.
pub(super) fn sums(bag: &Bag) -> (f64, f64) {
    let values = bag.words.iter().map(|&(_, value)| value);
    let values = values.chain(bag.unseen.iter().map(|unseen| unseen.count));
    values.fold((0.0, 0.0), |(sum, squares), x| (sum + x, squares + x * x))
}

/// 1 / ‖x‖; 0 of an empty message, or of values whose squares are no numbers.
pub(super) fn share_of(squares: f64) -> f64 {
    let share = 1.0 / squares.sqrt();
    if share.is_finite() { share } else { 0.0 }
}

impl OnlineScores {
    /// Refuses numbers out of range.
    pub fn checked(self) -> Result<Self> {
        let from_zero = [
            ("nb_scale", self.nb_scale),
            ("learning_rate", self.learning_rate),
            ("bias_rate", self.bias_rate),
            ("rate_decay", self.rate_decay),
        ];
        for (name, value) in from_zero {
            if !(0.0..=1e6).contains(&value) {
                let message = format!("{name} must be a number from 0 on, to 1e6, not {value}");
                return Err(Error::Invalid(message));
            }
        }
        if !(0.0..=1.0).contains(&self.margin) {
            let message = format!("margin must be a number from 0 to 1, not {}", self.margin);
            return Err(Error::Invalid(message));
        }
        if !(self.forgetting_factor > 0.0 && self.forgetting_factor <= 1.0) {
            return Err(Error::Invalid(format!(
                "forgetting_factor must be a number above 0, to 1, not {}",
                self.forgetting_factor
            )));
        }
        Ok(self)
    }

    /// Makes scores of the naive Bayes sums of a message, which `scores` holds.
    pub fn correct(
        &self,
        store: &Store,
        terms: &[ClassTerms],
        bag: &mut Bag,
        corrections: &mut Vec<f64>,
        scores: &mut [f64],
    ) {
        if store.existing_classes() < 2 {
            return scores.fill(0.0);
        }
        if store.settings().form.is_counts() {
            bag.sum_up_unseen();
        }
        let (sum, squares) = sums(bag);
        let share = share_of(squares);
        let weights = store.statistic::<OnlineWeights>();
        corrections.clear();
        corrections.resize(scores.len(), 0.0);
        if let Some(weights) = weights {
            for &(word, value) in &bag.words {
                for (class, weight) in weights.of_word(word) {
                    corrections[class as usize] += weight * value;
                }
            }
        }
        for (class, ((score, terms), correction)) in
            scores.iter_mut().zip(terms).zip(corrections).enumerate()
        {
            let prior = terms.prior - terms.prior_complement;
            let bias = weights.map_or(0.0, |weights| weights.of_class(class as ClassId));
            let odds = if sum > 0.0 { self.nb_scale * ((*score - prior) / sum) } else { 0.0 };
            *score = odds + (bias + prior) + *correction * share;
        }
    }

    /// Makes of the naive Bayes sums of a message, taken apart, its scores taken apart; returns what
    /// corrects them for each known word, by class.
    pub fn explain(
        &self,
        store: &Store,
        terms: &[ClassTerms],
        bag: &mut Bag,
        baseline: &mut Vec<f64>,
        words: &mut [(WordId, Vec<f64>)],
        unseen: &mut [Vec<f64>],
    ) -> Vec<(WordId, Vec<f64>)> {
        let parts = words.iter_mut().map(|(_, parts)| parts).chain(unseen);
        if store.existing_classes() < 2 {
            parts.chain([baseline]).for_each(|parts| parts.fill(0.0));
            return Vec::new();
        }
        if store.settings().form.is_counts() {
            bag.sum_up_unseen();
        }
        let sum = sums(bag).0;
        for part in parts.flatten() {
            *part = self.nb_scale * (*part / sum);
        }
        let weights = store.statistic::<OnlineWeights>();
        for (class, (base, terms)) in baseline.iter_mut().zip(terms).enumerate() {
            let bias = weights.map_or(0.0, |weights| weights.of_class(class as ClassId));
            *base = bias + (terms.prior - terms.prior_complement);
        }
        let corrections = corrections(store, bag, terms.len());
        for ((_, parts), (_, corrections)) in words.iter_mut().zip(&corrections) {
            parts.iter_mut().zip(corrections).for_each(|(part, correction)| *part += correction);
        }
        corrections
    }

    /// Makes of scores those whose soft maximum is the probability of each class.
    ///
    /// Of two classes they are half the log odds σ⁻¹(P), calibrated, for the one and against the
    /// other. Of more, the soft maximum of the scores, whose highest is calibrated: the others keep
    /// their shares of the rest, and none becomes higher.
    pub fn probable(&self, store: &Store, scores: &mut [f64]) {
        let weights = store.statistic::<OnlineWeights>().filter(|_| self.calibrated);
        let order = store.class_order();
        match order[..] {
            [] | [_] => {}
            [other, one] => {
                let score = (scores[one as usize] - scores[other as usize]) / 2.0;
                let odds = weights.map_or(score, |weights| weights.two(one).log_odds(score));
                scores[one as usize] = odds / 2.0;
                scores[other as usize] = -odds / 2.0;
            }
            _ => {
                let Some(weights) = weights else { return };
                let Some((top, odds)) = top(store, scores) else { return };
                let score = scores[top as usize];
                // ln P/(1 − P) from what it is without calibration to what it is with it.
                let raised = score + weights.top.log_odds(odds) - odds;
                let others = order.iter().filter(|&&class| class != top);
                let second = others.map(|&class| scores[class as usize]);
                let second = second.fold(f64::NEG_INFINITY, f64::max);
                scores[top as usize] =
                    if score > second { raised.max(second.next_up()) } else { raised.max(second) };
            }
        }
    }
}

/// What corrects the score for each known word of a message, by class.
fn corrections(store: &Store, bag: &Bag, classes: usize) -> Vec<(WordId, Vec<f64>)> {
    let share = share_of(sums(bag).1);
    let weights = store.statistic::<OnlineWeights>();
    let of_word = |&(word, value): &(WordId, f64)| {
        let mut parts = vec![0.0; classes];
        for (class, weight) in weights.into_iter().flat_map(|weights| weights.of_word(word)) {
            parts[class as usize] = weight * value * share;
        }
        (word, parts)
    };
    bag.words.iter().map(of_word).collect()
}

/// The class with the highest score, and the log odds of its share of the soft maximum.
pub(super) fn top(store: &Store, scores: &[f64]) -> Option<(ClassId, f64)> {
    let top = decision::best(store, scores)?;
    let others = || {
        let classes = scores.iter().zip(store.classes()).enumerate();
        classes.filter(|&(id, (_, class))| class.exists() && id != top as usize)
    };
    let second = others().map(|(_, (&score, _))| score).fold(f64::NEG_INFINITY, f64::max);
    let rest: f64 = others().map(|(_, (&score, _))| (score - second).exp()).sum();
    Some((top, scores[top as usize] - second - rest.ln()))
}
