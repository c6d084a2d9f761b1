//! Fitted weights of words: they count in the score alone.
//!
//! A word of weight v counts v f_i times in the score of a message, while every estimate stays as
//! it is: P(w_i|c)^(v f_i). All weights, and the prior, may share a scale besides. They are
//! fitted outside, aside, on a copy of the counts, and swapped in whole.

use crate::counts::statistic::{Exported, SavedOrder, Statistic};
use crate::counts::store::MAX_COUNT;
use crate::counts::vocabulary::WordId;
use crate::error::{Error, Result};

/// The weight of a word that is newer than the weights, or that no class has seen.
pub const NEW_WORD: f64 = 1.0;

/// Fitted weights in use.
#[derive(Clone, Debug, PartialEq)]
pub struct FittedWeights {
    words: Vec<f64>,
    /// What the weights of all words and that of the prior are multiplied by.
    pub scale: f64,
}

impl FittedWeights {
    pub fn new(words: Vec<f64>, scale: f64) -> Result<Self> {
        if !words.iter().chain([&scale]).all(|value| (0.0..=MAX_COUNT).contains(value)) {
            let message = "fitted weights: each is a number from 0 to 2**53";
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

    fn boxed_clone(&self) -> Box<dyn Statistic> {
        Box::new(self.clone())
    }
}

impl Exported for FittedWeights {
    /// The weights of words, and the scale.
    type Arrays = (Vec<f64>, f64);

    fn export(&self, order: &SavedOrder) -> (Vec<f64>, f64) {
        (order.words.iter().map(|&word| self.of_word(word)).collect(), self.scale)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_out_of_range_are_refused() {
        assert!(FittedWeights::new(vec![0.0, 1.0], 1.0).is_ok());
        for (word, scale) in [(-1.0, 1.0), (f64::NAN, 1.0), (1.0, f64::INFINITY), (1.0, -1.0)] {
            assert!(FittedWeights::new(vec![word], scale).is_err());
        }
    }

    #[test]
    fn a_word_that_is_gone_leaves_nothing_to_the_next() {
        let mut weights = FittedWeights::new(vec![0.25, 3.0], 0.5).expect("weights");
        weights.forget_word(1);
        let order = SavedOrder { words: vec![1, 0, 7], classes: Vec::new() };
        assert_eq!(weights.export(&order), (vec![NEW_WORD, 0.25, NEW_WORD], 0.5));
    }
}
