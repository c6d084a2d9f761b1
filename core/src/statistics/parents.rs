//! Which words are parents of others, and with what weight.

use crate::counts::statistic::Statistic;
use crate::counts::store::Store;
use crate::counts::vocabulary::WordId;
use crate::statistics::frequent::FrequentWords;

/// W_t by word id, 0 for words that are no parents.
#[derive(Clone, Default)]
pub struct Parents(Vec<f64>);

static NONE: Parents = Parents(Vec::new());

impl Parents {
    pub fn new(weights: Vec<f64>) -> Self {
        Parents(weights)
    }

    /// The weight of a word as a parent.
    #[inline]
    pub fn weight(&self, word: WordId) -> f64 {
        self.0.get(word as usize).copied().unwrap_or(0.0)
    }
}

impl Statistic for Parents {
    fn forget_word(&mut self, word: WordId) {
        if let Some(weight) = self.0.get_mut(word as usize) {
            *weight = 0.0;
        }
    }

    fn size(&self) -> usize {
        self.0.capacity() * size_of::<f64>()
    }

    fn boxed_clone(&self) -> Box<dyn Statistic> {
        Box::new(self.clone())
    }
}

impl Store {
    /// The parents in use; none where nothing was computed.
    #[inline]
    pub fn parents(&self) -> &Parents {
        self.statistic().unwrap_or(&NONE)
    }

    /// The weight of each word as a parent now: none of a word that too few messages have left.
    #[inline]
    pub fn parent_weights(&self) -> impl Fn(WordId) -> f64 {
        let (parents, frequent) = (self.parents(), self.statistic::<FrequentWords>());
        move |word| match parents.weight(word) {
            weight if weight > 0.0 && frequent.is_some_and(|f| !f.has(&self.rows, word)) => 0.0,
            weight => weight,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_that_is_gone_is_no_parent() {
        let mut parents = Parents::new(vec![0.5, 0.25]);
        parents.forget_word(0);
        parents.forget_word(9);
        assert_eq!([0, 1, 9].map(|word| parents.weight(word)), [0.0, 0.25, 0.0]);
    }
}
