//! Fitted weights of words, which change the score but not the estimates.
//!
//! A word of weight v counts v f_i times in the score of a message: P(w_i|c)^(v f_i). All weights and
//! the prior are also multiplied by a common scale. The caller fits the weights on a copy of the
//! counts and swaps them in.

use crate::counts::statistic::{Exported, SavedOrder, Statistic};
use crate::counts::store::MAX_COUNT;
use crate::counts::vocabulary::WordId;
use crate::error::{Error, Result};

/// The weight of a word that is unseen, or newer than the weights.
pub const NEW_WORD: f64 = 1.0;

/// Fitted weights in use.
#[derive(Clone, Debug, PartialEq)]
pub struct FittedWeights {
    words: Vec<f64>,
    /// The factor of the weights of all words and of the prior.
    pub scale: f64,
}

impl FittedWeights {
    pub fn new(words: Vec<f64>, scale: f64) -> Result<Self> {
        if !words.iter().chain([&scale]).all(|value| (0.0..=MAX_COUNT).contains(value)) {
            let message = "fitted weights must be numbers from 0 to 2**53";
            return Err(Error::Invalid(message.into()));
        }
        Ok(FittedWeights { words, scale })
    }

    #[inline]
    pub fn of_word(&self, word: WordId) -> f64 {
        self.words.get(word as usize).copied().unwrap_or(NEW_WORD)
    }
}

impl Statistic for FittedWeights {
    fn forget_word(&mut self, word: WordId) {
        if let Some(weight) = self.words.get_mut(word as usize) {
            *weight = NEW_WORD;
        }
    }

    fn size(&self) -> usize {
        self.words.capacity() * size_of::<f64>()
    }
}

impl Exported for FittedWeights {
    /// The weights of words, and the scale.
    type Arrays = (Vec<f64>, f64);

    fn export(&self, order: &SavedOrder) -> (Vec<f64>, f64) {
        (order.words.iter().map(|&word| self.of_word(word)).collect(), self.scale)
    }
}
