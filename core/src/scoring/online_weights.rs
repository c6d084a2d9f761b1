//! Naive Bayes corrected online: the log odds of words plus weights learned by one step a message.
//!
//! Let v_i be the value of word i in a message (1 if presence is counted), Σ v_i include unknown
//! words, f_i be the number of learned messages with the word, and ‖x‖ be the Euclidean norm:
//!
//!   s_k  = b_k + c Σ_i v_i l_ik / Σ_i x_i + correction_k
//!   l_ik = ln P(w_i|k) / P(w_i|k̄),   x_i = v_i (1 + f_i)^−d
//!
//! With corrections r_ik that start at 0, and z_ik = c v_i l_ik / Σ x_i, the correction is
//!
//!   additive         Σ_i r_ik x_i / ‖x‖
//!   multiplicative   Σ_i r_ik z_ik,   for weights w_ik = 1 + r_ik ≥ 0
//!
//! If labels are estimated to be wrong, l_ik uses the expected counts without wrong labels.
//!
//! The second is Equations 3, 8 and 21 of Kim and Lee, with a weight for each class. It does not
//! change words without log odds. Two classes mirror each other, so both have the same weights.

use crate::counts::{Bag, ClassId, Store, WordId};
use crate::scoring::event_model::{ClassTerms, best};
use crate::statistics::label_noise::sigmoid;
use crate::statistics::online_weights::OnlineWeights;

/// The exponential loss has no bound on its gradient; steps use at most this.
const STEEPEST: f64 = 1024.0;

named_enum! {
    /// The losses of Kim and Lee, one class against all others. The margin m is s_k for the class
    /// of a message and −s_k for each other class.
    "loss" Loss {
        /// ln(1 + exp −m): LNB, Equation 14.
        Logistic = "logistic",
        /// ln(1 + exp −2m): DNB, Equation 12.
        Deviance = "deviance",
        /// exp −m: ENB, Equations 9 to 11.
        Exponential = "exponential",
        /// (1 − σ(m))²: MSENB, Table 2.
        Squared = "squared",
    }
}

impl Loss {
    /// Minus the derivative of the loss by the score.
    pub fn gradient(self, score: f64, outcome: bool) -> f64 {
        let margin = if outcome { score } else { -score };
        let steepness = match self {
            Loss::Logistic => sigmoid(-margin),
            Loss::Deviance => 2.0 * sigmoid(-2.0 * margin),
            Loss::Exponential => (-margin).exp().min(STEEPEST),
            Loss::Squared => 2.0 * sigmoid(-margin).powi(2) * sigmoid(margin),
        };
        if outcome { steepness } else { -steepness }
    }
}

named_enum! {
    /// The effect of a correction on the log odds of a word.
    "correction" Effect {
        Additive = "additive",
        Multiplicative = "multiplicative",
    }
}

impl Effect {
    /// The lower bound of a correction.
    pub fn least(self) -> f64 {
        match self {
            Effect::Additive => f64::NEG_INFINITY,
            // The weight 1 + r is at least 0.
            Effect::Multiplicative => -1.0,
        }
    }
}

/// The parameters of online weights.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OnlineConfig {
    /// c: the factor of the mean log odds of the words.
    pub nb_weight: f64,
    /// r of words.
    pub learning_rate: f64,
    /// r of classes.
    pub bias_rate: f64,
    /// q of both.
    pub rate_decay: f64,
    pub loss: Loss,
    pub effect: Effect,
    /// d: how much less frequent words are corrected.
    pub damping: f64,
    /// ε: smaller errors cause no step.
    pub margin: f64,
    /// Minimum number of messages, both of a class and of others, before the class takes steps;
    /// counted from the second class on. Without it, a model that learns all ham and then all spam
    /// learns that every new message is spam: it called 360 of 527 mails spam, and 13 with it
    /// (SpamAssassin, 200 mails learned).
    pub warm_up: u64,
    /// Whether probabilities are calibrated.
    pub calibrated: bool,
    /// Whether the shares of wrong labels are estimated and corrected.
    pub estimate_noise: bool,
    /// f: the factor that the calibration's memory decays by with each message.
    pub forgetting_factor: f64,
}

/// Replace `values` by x_i of each known word; return Σ x_i and 1 / ‖x‖, unknown words included.
/// The bag contains each word once and may have the first x_i.
pub(crate) fn put_values(
    store: &Store,
    weights: Option<&OnlineWeights>,
    bag: &Bag,
    values: &mut Vec<(WordId, f64)>,
) -> (f64, f64) {
    values.clear();
    values.extend_from_slice(&bag.words);
    if let Some(weights) = weights {
        let first = bag.values.len().min(values.len());
        let (known, others) = values.split_at_mut(first);
        known.iter_mut().zip(&bag.values).for_each(|((_, value), &known)| *value = known);
        for (word, value) in others {
            *value = weights.value(store, *word, *value);
        }
    }
    let known = values.iter().map(|&(_, value)| value);
    let all = known.chain(bag.unseen.iter().map(|unseen| unseen.count));
    let (sum, squares) = all.fold((0.0, 0.0), |(sum, squares), x| (sum + x, squares + x * x));
    (sum, inverse_norm(squares))
}

/// 1 / ‖x‖; 0 if the message is empty or its squares underflow or overflow.
pub(crate) fn inverse_norm(squares: f64) -> f64 {
    let inverse = 1.0 / squares.sqrt();
    if inverse.is_finite() { inverse } else { 0.0 }
}

/// Reused buffers.
#[derive(Default)]
pub struct OnlineScratch {
    /// x_i of known words.
    pub values: Vec<f64>,
    /// Σ r_ik x_i, or Σ r_ik v_i l_ik, by class.
    pub(crate) corrections: Vec<f64>,
}

impl OnlineConfig {
    /// Convert the naive Bayes contributions of a message to those of its corrected scores. Return
    /// the corrections of each known word, by class.
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
        if store.settings.term_weighting.is_counts() {
            bag.sum_up_unseen();
        }
        let mut values = Vec::new();
        let weights = store.statistic::<OnlineWeights>();
        let (sum, share) = put_values(store, weights, bag, &mut values);
        for part in parts.flatten() {
            *part = self.nb_weight * (*part / sum);
        }
        for (class, (base, terms)) in baseline.iter_mut().zip(terms).enumerate() {
            let bias = weights.map_or(0.0, |weights| weights.of_class(class as ClassId));
            *base = bias + (terms.prior - terms.prior_complement);
        }
        let correct = |(&(word, value), (_, parts)): (&(WordId, f64), &mut (_, Vec<f64>))| {
            let mut corrections = vec![0.0; parts.len()];
            for (class, weight) in weights.into_iter().flat_map(|weights| weights.of_word(word)) {
                let class = class as usize;
                corrections[class] = match self.effect {
                    Effect::Additive => weight * value * share,
                    Effect::Multiplicative => weight * parts[class],
                };
            }
            parts.iter_mut().zip(&corrections).for_each(|(part, correction)| *part += correction);
            (word, corrections)
        };
        values.iter().zip(words).map(correct).collect()
    }

    /// Replace scores by those whose softmax is the probability of each class.
    ///
    /// If labels of two classes are corrected, and the scores predict them worse than the shares of
    /// the classes do, the probabilities are these shares.
    /// Two classes have ± half the calibrated log odds σ⁻¹(P). With more classes only the highest
    /// score is calibrated: the others keep their shares of the rest, and their order.
    pub fn probable(&self, store: &Store, scores: &mut [f64]) {
        let weights = store.statistic::<OnlineWeights>().filter(|_| self.calibrated);
        let order = store.class_order();
        match order[..] {
            [] | [_] => {}
            [_, _] if weights.is_some_and(|weights| weights.noise.is_worse_than_shares()) => {
                for class in order {
                    scores[class as usize] = store.classes[class as usize].documents.ln();
                }
            }
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
                // Change ln P/(1 − P) from the uncalibrated to the calibrated value.
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

/// The class with the highest score, and the log odds of its share of the softmax.
pub(crate) fn top(store: &Store, scores: &[f64]) -> Option<(ClassId, f64)> {
    let top = best(store, scores)?;
    let others = || {
        let classes = scores.iter().zip(&store.classes).enumerate();
        classes.filter(|&(id, (_, class))| class.exists() && id != top as usize)
    };
    let second = others().map(|(_, (&score, _))| score).fold(f64::NEG_INFINITY, f64::max);
    let rest: f64 = others().map(|(_, (&score, _))| (score - second).exp()).sum();
    Some((top, scores[top as usize] - second - rest.ln()))
}
