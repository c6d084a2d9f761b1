//! What the correction of a word does to its log odds: something is added, or they are multiplied.
//!
//! With z_ik = c v_i l_ik / Σ x_i, what word i adds to the score of class k by naive Bayes, and the
//! corrections r_ik that start at 0, the score has besides
//!
//!   additive         Σ_i r_ik x_i / ‖x‖
//!   multiplicative   Σ_i r_ik z_ik,   of weights w_ik = 1 + r_ik ≥ 0
//!
//! The second is Equations 3, 8 and 21 of Kim and Lee, with a weight a class: a word of which naive
//! Bayes has nothing to say has nothing to be weighed. Of two classes, which mirror each other, both
//! have the same weight.

use crate::counts::rows::ClassId;
use crate::counts::store::Store;
use crate::counts::vocabulary::WordId;
use crate::error::{Error, Result};
use crate::scoring::parameters::Parameters;
use crate::scoring::terms::ClassTerms;

/// What r_ik does not fall below where it is part of a weight.
pub const NO_WEIGHT: f64 = -1.0;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    Additive,
    Multiplicative,
}

impl Effect {
    pub fn named(name: &str) -> Result<Self> {
        match name {
            "additive" => Ok(Effect::Additive),
            "multiplicative" => Ok(Effect::Multiplicative),
            _ => {
                let allowed = "'additive' or 'multiplicative'";
                Err(Error::Invalid(format!("correction must be {allowed}, not {name:?}")))
            }
        }
    }

    /// What no correction falls below.
    pub fn least(self) -> f64 {
        match self {
            Effect::Additive => f64::NEG_INFINITY,
            Effect::Multiplicative => NO_WEIGHT,
        }
    }
}

impl Parameters {
    /// l_ik of a word, by class; 0 of one that no message has, where these are skipped.
    pub(super) fn log_odds<'a>(
        &'a self,
        store: &'a Store,
        terms: &'a [ClassTerms],
        word: WordId,
    ) -> impl Fn(ClassId) -> f64 + 'a {
        let total: f64 = store.rows().cells(word).map(|cell| cell.tokens).sum();
        move |class| {
            if total == 0.0 && !self.is_smooth() {
                return 0.0;
            }
            let own = store.rows().cell(word, class).map_or(0.0, |cell| cell.tokens);
            let terms = &terms[class as usize];
            (self.log_plus(own) - terms.tokens)
                - (self.log_plus(total - own) - terms.tokens_complement)
        }
    }
}
