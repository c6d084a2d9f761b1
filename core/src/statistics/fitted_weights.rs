//! Weights of words as exponents of a score alone: statistics in use.
//!
//! A word of weight v counts v f_i times in the score of a message, while every estimate stays as
//! it is: P(w_i|c)^(v f_i). All exponents, and the prior, may share a scale besides. They are
//! computed outside, aside, on a copy of the counts, and swapped in whole.

use crate::counts::bag::Bag;
use crate::counts::store::{MAX_COUNT, Store};
use crate::counts::vocabulary::WordId;
use crate::error::{Error, Result};
use crate::scoring::scorer::Scoring;

/// The weight of a word that is newer than the weights, or that no class has seen.
const NEW_WORD: f64 = 1.0;

/// Exponents in use.
#[derive(Clone, Debug, PartialEq)]
pub struct Exponents {
    words: Vec<f64>,
    /// What the exponents of all words and that of the prior are multiplied by.
    scale: f64,
}

impl Exponents {
    pub fn new(words: Vec<f64>, scale: f64) -> Result<Self> {
        if !words.iter().chain([&scale]).all(|value| (0.0..=MAX_COUNT).contains(value)) {
            return Err(Error::Invalid("exponents: each is a number from 0 to 2**53".into()));
        }
        Ok(Exponents { words, scale })
    }

    #[inline]
    fn of_word(&self, word: WordId) -> f64 {
        self.words.get(word as usize).copied().unwrap_or(NEW_WORD)
    }

    /// A word that is no more: its id may come to mean another one.
    pub(crate) fn forget_word(&mut self, word: WordId) {
        if let Some(weight) = self.words.get_mut(word as usize) {
            *weight = NEW_WORD;
        }
    }

    pub fn size(&self) -> usize {
        self.words.capacity() * size_of::<f64>()
    }
}

impl Store {
    /// Takes exponents; false, with nothing changed, if ids have changed their meaning since
    /// `layout`.
    pub fn set_exponents(&mut self, exponents: Exponents, layout: u64) -> bool {
        if layout != self.layout {
            return false;
        }
        self.exponents = Some(Box::new(exponents));
        true
    }

    /// The exponents in use, words numbered as in a store restored from a snapshot, and the scale.
    pub fn export_exponents(&self) -> Option<(Vec<f64>, f64)> {
        let exponents = self.exponents.as_deref()?;
        let words = self.vocabulary.sorted_ids();
        Some((words.iter().map(|&word| exponents.of_word(word)).collect(), exponents.scale))
    }
}

impl Scoring {
    /// The exponents of a store, where this scoring has any.
    fn exponents_of<'a>(&self, store: &'a Store) -> Option<&'a Exponents> {
        store.exponents.as_deref().filter(|_| self.minimised)
    }

    /// Weighs the tokens of a message, known and unknown.
    pub(crate) fn raise_bag(&self, store: &Store, bag: &mut Bag) {
        if let Some(exponents) = self.exponents_of(store) {
            bag.weigh(|word| exponents.scale * exponents.of_word(word));
            bag.unseen.iter_mut().for_each(|word| word.count *= exponents.scale * NEW_WORD);
        }
    }

    /// The exponent of the prior.
    pub(crate) fn prior_exponent(&self, store: &Store) -> f64 {
        self.exponents_of(store).map_or(1.0, |exponents| exponents.scale)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::counts::form::Form;
    use crate::counts::store::Settings;
    use crate::scoring::scorer::{Event, Prior, Unseen};

    /// Two classes: a b, and b b c.
    fn store() -> Store {
        let mut store = Store::new(Settings {
            max_words: 100,
            max_documents: 10,
            max_pairs: 0,
            frequencies: false,
            columns: false,
            own_pairs: false,
            form: Form::COUNTS,
            weighed: false,
        });
        let mut bag = Bag::default();
        for (class, words) in [(0, &[b"a", b"b"][..]), (1, &[b"b", b"b", b"c"][..])] {
            bag.clear(store.vocabulary().slots());
            for name in words {
                let token = store.vocabulary().token(*name);
                bag.add(store.intern(&token), 1.0);
            }
            assert!(store.learn(&mut bag, class, 1.0).is_ok());
        }
        store
    }

    fn scores(store: &Store, minimised: bool) -> Vec<f64> {
        let scoring = Scoring::new(Event::Multinomial, 1.0, Prior::Laplace, Unseen::Smooth, None)
            .and_then(|scoring| if minimised { scoring.with_minimised() } else { Ok(scoring) })
            .expect("a scoring");
        let (mut terms, mut scores, mut bag) = (Vec::new(), Vec::new(), Bag::default());
        bag.clear(store.vocabulary().slots());
        bag.add(0, 2.0);
        bag.add(1, 1.0);
        bag.add_unseen(99, 1.0);
        scoring.prepare(store, &mut terms);
        scoring.weigh_bag(store, &mut bag);
        scoring.scores(store, &terms, &bag, &mut scores);
        scores
    }

    #[test]
    fn exponents_weigh_the_score_and_not_the_estimate() {
        let mut store = store();
        let plain = scores(&store, false);
        let layout = store.layout();
        let exponents = Exponents::new(vec![0.25, 3.0], 0.5).expect("exponents");
        assert!(!store.set_exponents(exponents.clone(), layout + 1));
        assert!(store.set_exponents(exponents, layout));
        assert_eq!(scores(&store, false), plain);
        // ln P(c), and the words a, b and a new one in totals of 2 + 3 and 3 + 3.
        let expected = |prior: f64, a: f64, b: f64, new: f64| {
            0.5 * (prior.ln() + 0.25 * 2.0 * a.ln() + 3.0 * b.ln() + new.ln())
        };
        let expected = [
            expected(0.5, 2.0 / 5.0, 2.0 / 5.0, 1.0 / 5.0),
            expected(0.5, 1.0 / 6.0, 3.0 / 6.0, 1.0 / 6.0),
        ];
        for (score, expected) in scores(&store, true).iter().zip(expected) {
            assert!((score - expected).abs() < 1e-12);
        }
        assert_eq!(store.export_exponents(), Some((vec![0.25, 3.0, 1.0], 0.5)));
        store.forget_word(1);
        assert_eq!(store.exponents.as_ref().map(|all| all.of_word(1)), Some(NEW_WORD));
    }

    #[test]
    fn exponents_out_of_range_are_refused() {
        assert!(Exponents::new(vec![0.0, 1.0], 1.0).is_ok());
        for (word, scale) in [(-1.0, 1.0), (f64::NAN, 1.0), (1.0, f64::INFINITY), (1.0, -1.0)] {
            assert!(Exponents::new(vec![word], scale).is_err());
        }
    }
}
