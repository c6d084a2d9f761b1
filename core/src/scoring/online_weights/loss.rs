//! What a step of the corrections makes smaller: the losses of Kim and Lee, one class against all
//! others, of the margin m = s_k of the class of a message and m = −s_k of each other.
//!
//!   logistic     ln(1 + exp −m)      LNB, Equation 14
//!   deviance     ln(1 + exp −2m)     DNB, Equation 12
//!   exponential  exp −m              ENB, Equations 9 to 11
//!   squared      (1 − σ(m))²         MSENB, Table 2

use crate::error::{Error, Result};
use crate::statistics::calibration::sigmoid;

/// No step follows a steeper gradient: of the exponential loss it has no bound.
const STEEPEST: f64 = 1024.0;

const LOSSES: [(&str, Loss); 4] = [
    ("logistic", Loss::Logistic),
    ("deviance", Loss::Deviance),
    ("exponential", Loss::Exponential),
    ("squared", Loss::Squared),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loss {
    Logistic,
    Deviance,
    Exponential,
    Squared,
}

impl Loss {
    pub fn named(name: &str) -> Result<Self> {
        let found = LOSSES.iter().find(|(other, _)| *other == name);
        found.map(|&(_, loss)| loss).ok_or_else(|| {
            let allowed = "'logistic', 'deviance', 'exponential' or 'squared'";
            Error::Invalid(format!("loss must be {allowed}, not {name:?}"))
        })
    }

    /// What a score should be changed by: minus the derivative of the loss.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gradients_are_those_of_the_losses() {
        let value = |loss, m: f64| match loss {
            Loss::Logistic => (-m).exp().ln_1p(),
            Loss::Deviance => (-2.0 * m).exp().ln_1p(),
            Loss::Exponential => (-m).exp(),
            Loss::Squared => (1.0 - 1.0 / (1.0 + (-m).exp())).powi(2),
        };
        let step = 1e-6;
        for (name, loss) in LOSSES {
            assert_eq!(Loss::named(name).ok(), Some(loss));
            for score in [-3.0, -0.5, 0.0, 0.7, 4.0] {
                let slope = (value(loss, score - step) - value(loss, score + step)) / (2.0 * step);
                assert!((loss.gradient(score, true) - slope).abs() < 1e-6, "{name} {score}");
                assert_eq!(loss.gradient(-score, false), -loss.gradient(score, true));
            }
            for score in [1e9, -1e9, f64::INFINITY, f64::NEG_INFINITY] {
                assert!(loss.gradient(score, true).abs() <= STEEPEST, "{name} {score}");
            }
        }
        assert!(Loss::named("hinge").is_err());
    }
}
