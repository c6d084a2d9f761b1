//! What each word of a message contributes to each class.

use crate::bag::{Bag, Unseen};
use crate::hidden::HiddenScratch;
use crate::packaged::PackagedScratch;
use crate::scoring::{ClassTerms, Scoring};
use crate::store::Store;
use crate::vocabulary::WordId;

/// The joint log-likelihoods taken apart: they are `baseline` plus the sum of all contributions.
pub struct Explanation {
    /// The score of an empty message, by class.
    pub baseline: Vec<f64>,
    /// Each known word's contribution, by class.
    pub words: Vec<(WordId, Vec<f64>)>,
    /// Each unseen word's contribution, in the order of `bag.unseen`, by class.
    pub unseen: Vec<Vec<f64>>,
}

impl Scoring {
    /// Explains the independent score: words add up, so each is scored alone.
    pub fn explain(&self, store: &Store, terms: &[ClassTerms], bag: &Bag) -> Explanation {
        let mut single = Bag::default();
        let mut scores = Vec::new();
        single.clear(store.vocabulary.slots());
        self.scores(store, terms, &single, &mut scores);
        let baseline = scores.clone();
        let mut less_baseline = |single: &Bag| -> Vec<f64> {
            self.scores(store, terms, single, &mut scores);
            scores.iter().zip(&baseline).map(|(score, base)| score - base).collect()
        };
        let words = bag.words.iter().map(|&(word, count)| {
            single.clear(store.vocabulary.slots());
            single.add(word, count);
            (word, less_baseline(&single))
        });
        let words = words.collect();
        let unseen = bag.unseen.iter().map(|&Unseen { hash, count }| {
            single.clear(store.vocabulary.slots());
            single.add_unseen(hash, count);
            less_baseline(&single)
        });
        Explanation { words, unseen: unseen.collect(), baseline: baseline.clone() }
    }

    /// Explains the score with hidden parents: f_i ln P(w_i | hp_i, c) for each word.
    pub fn explain_hidden(
        &self,
        store: &Store,
        terms: &[ClassTerms],
        bag: &Bag,
        scratch: &mut HiddenScratch,
    ) -> Explanation {
        explain_parts(store, bag, |bag, scores, parts| {
            self.hidden_scores(store, terms, bag, scratch, scores, Some(parts));
        })
    }

    /// Explains the score with hidden parents of ratios.
    pub fn explain_ratios(
        &self,
        store: &Store,
        terms: &[ClassTerms],
        bag: &Bag,
        scratch: &mut HiddenScratch,
    ) -> Explanation {
        explain_parts(store, bag, |bag, scores, parts| {
            self.ratio_scores(store, terms, bag, scratch, scores, Some(parts));
        })
    }
}

impl Scoring {
    /// Explains the score with packaged hidden parents.
    pub fn explain_packaged(
        &self,
        store: &Store,
        terms: &[ClassTerms],
        bag: &Bag,
        scratch: &mut PackagedScratch,
    ) -> Explanation {
        let threshold = [store.bags.threshold];
        explain_parts(store, bag, |bag, scores, parts| {
            self.packaged_scores(store, terms, bag, scratch, &threshold, scores, Some(parts));
        })
    }
}

/// Explains scores that come with the part of each word, `words × classes`, and of all tokens of
/// unseen words.
fn explain_parts(
    store: &Store,
    bag: &Bag,
    mut score: impl FnMut(&Bag, &mut Vec<f64>, &mut Vec<f64>),
) -> Explanation {
    let (mut baseline, mut scores, mut parts) = (Vec::new(), Vec::new(), Vec::new());
    let mut empty = Bag::default();
    empty.clear(store.vocabulary.slots());
    score(&empty, &mut baseline, &mut parts);
    score(bag, &mut scores, &mut parts);
    let classes = baseline.len();
    let row = |position: usize| &parts[position * classes..(position + 1) * classes];
    let words = bag.words.iter().enumerate();
    let words = words.map(|(position, &(word, _))| (word, row(position).to_vec())).collect();
    let all_unseen = bag.unseen_tokens();
    let unseen = bag.unseen.iter().map(|unseen| {
        row(bag.words.len()).iter().map(|part| part * unseen.count / all_unseen).collect()
    });
    Explanation { words, unseen: unseen.collect(), baseline }
}
