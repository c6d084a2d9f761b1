//! The parameters of OnlineNB, and its losses.

use crate::counts::Bag;
use crate::online::heads::Heads;
use crate::online::noise::sigmoid;

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
    /// The number of steps that unlearning can take back.
    pub undo_size: usize,
    pub heads: Heads,
    /// Words in a larger share of the messages have no part in the scores of labels.
    pub max_df: f64,
}

/// Reused buffers.
#[derive(Default)]
pub struct OnlineScratch {
    /// x_i of known words.
    pub values: Vec<f64>,
    /// Σ r_ik x_i, or Σ r_ik v_i l_ik, by class.
    pub(crate) corrections: Vec<f64>,
    /// The scores of each head, `heads × classes`; empty for one head.
    pub heads: Vec<f64>,
    /// The words that a head sees, and its x_i.
    pub(crate) bag: Bag,
    pub(crate) head_values: Vec<f64>,
    /// Σ v_i l_ik, by class.
    pub(crate) odds: Vec<f64>,
}
