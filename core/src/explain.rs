//! The contribution of each word of a message to the score of each class.

use crate::counts::bag::Unseen;
use crate::counts::{Bag, Message, MessageScratch, Slice, Store, WordCounts, WordId};
use crate::scoring::composition::{Dependence, Neighbourhood, Sum};
use crate::scoring::{EventModel, Output, Query, Scorer, Scratch};
use crate::watch::Watch;
use std::f64::consts::SQRT_2;

/// The contributions to a joint log-likelihood, which is `baseline` plus the sum of all others.
pub struct Explanation {
    /// The score of an empty message, by class.
    pub baseline: Vec<f64>,
    /// Each known word's contribution, by class.
    pub words: Vec<(WordId, Vec<f64>)>,
    /// Each unseen word's contribution, in the order of `bag.unseen`, by class.
    pub unseen: Vec<Vec<f64>>,
    /// The part of `words` that comes from online weights; empty for other models.
    pub corrections: Vec<(WordId, Vec<f64>)>,
}

/// The evidence in a message for the class with the highest score.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Evidence {
    /// Number of distinct words.
    pub words: usize,
    /// Number of distinct words that were learned.
    pub known: usize,
    /// How clearly the words agree on this class against the next one; 0 without a second class.
    pub strength: f64,
}

/// f: contributions of less than this have no strength, even if all of them agree.
const FLOOR: f64 = 0.2;

/// Σ c / √(f² + Σ c²), at least 0.
fn consensus(contributions: impl Iterator<Item = f64>) -> f64 {
    let add = |(sum, squares), c: f64| (sum + c, squares + c * c);
    let (sum, squares) = contributions.fold((0.0, FLOOR * FLOOR), add);
    let found: f64 = sum / f64::sqrt(squares);
    if found.is_finite() { found.max(0.0) } else { 0.0 }
}

impl Explanation {
    /// How clearly the words agree on the class with the highest score against the next one: Σ c_i /
    /// √(f² + Σ c_i²), with c_i for the contribution of word i to the lead of the class.
    ///
    /// Corrections of words that occur together were learned together. Their contributions are thus
    /// not independent, and count with twice the variance, unless the counts alone are clearer.
    fn strength(&self, store: &Store) -> f64 {
        let parts = || self.words.iter().map(|(_, parts)| parts).chain(&self.unseen);
        let score =
            |class: usize| self.baseline[class] + parts().map(|parts| parts[class]).sum::<f64>();
        let existing = store.classes.iter().enumerate().filter(|(_, class)| class.exists());
        let mut scores: Vec<(usize, f64)> = existing.map(|(id, _)| (id, score(id))).collect();
        scores.sort_by(|(_, one), (_, other)| other.total_cmp(one));
        let [(first, _), (second, _), ..] = scores[..] else { return 0.0 };
        let lead = |parts: &Vec<f64>| parts[first] - parts[second];
        let corrected = consensus(parts().map(lead));
        if self.corrections.is_empty() {
            return corrected;
        }
        let corrections = self.corrections.iter().map(|(_, parts)| lead(parts));
        let corrections = corrections.chain(std::iter::repeat(0.0));
        let counts = parts().zip(corrections).map(|(parts, correction)| lead(parts) - correction);
        consensus(counts).max(corrected / SQRT_2)
    }

    /// Return the words of the message, known ones first, with their contributions by class.
    pub fn named<'a>(
        self,
        store: &'a Store,
        message: &'a WordCounts,
    ) -> impl Iterator<Item = (&'a [u8], Vec<f64>)> {
        let vocabulary = &store.vocabulary;
        let known = self.words.into_iter().map(|(id, parts)| (vocabulary.word(id), parts));
        let is_unknown = |word: &&[u8]| vocabulary.find(&vocabulary.token(word)).is_none();
        let unknown = message.iter().map(|(word, _)| word).filter(is_unknown);
        known.chain(unknown.zip(self.unseen))
    }
}

impl Scorer {
    /// Explain the score of the bag of the scratch. The bag contains each word once, and the terms
    /// are prepared by this scorer.
    pub fn explain(&self, store: &Store, scratch: &mut Scratch) -> Explanation {
        let Scratch { message: MessageScratch { bag, .. }, terms, families, .. } = scratch;
        if store.settings.label_sets {
            let (baseline, words, corrections) = self.explain_labels(store, terms, bag);
            let unseen = vec![vec![0.0; baseline.len()]; bag.unseen.len()];
            return Explanation { baseline, words, unseen, corrections };
        }
        self.weigh_bag(store, bag);
        let watch = &Watch::default();
        if self.config.parts.neighbourhood != Neighbourhood::Stream {
            let nothing = Slice::default();
            let slice = self.slice(store, bag, &mut families.nearest).unwrap_or(&nothing);
            self.model.prepare_slice(store, slice, terms);
            let query = Query { store, terms, bag, watch };
            return self
                .explain_sum(query, |query, scores| self.slice_scores(query, slice, scores));
        }
        let query = Query { store, terms, bag, watch };
        if self.config.parts.dependence == Dependence::Independent {
            let mut explanation =
                self.explain_sum(query, |query, scores| self.scores(query, scores));
            if self.is_online() {
                let Explanation { baseline, words, unseen, .. } = &mut explanation;
                explanation.corrections =
                    self.config.online.explain(store, terms, bag, baseline, words, unseen);
            }
            return explanation;
        }
        // Without estimators the words are independent.
        let is_sum = self.config.parts.dependence == Dependence::OneDependence
            && !EventModel::has_estimators(store, bag);
        let mut explanation = if is_sum {
            self.explain_sum(query, |query, scores| {
                self.dependent_scores(query, families, &mut Output { scores, parts: None });
            })
        } else {
            explain_parts(query, |query, out| self.dependent_scores(query, families, out))
        };
        let mut single = Bag::default();
        for (&(word, count), (_, parts)) in bag.words.iter().zip(&mut explanation.words) {
            single.clear(store.vocabulary.slots());
            single.add(word, count);
            self.multiply_ratios(Query { bag: &single, ..query }, parts);
        }
        explanation
    }

    /// Explain the score of a message.
    pub fn explain_message(
        &self,
        store: &Store,
        message: &Message<'_>,
        scratch: &mut Scratch,
    ) -> Explanation {
        message.look_up(store, &mut scratch.message, true);
        let scorer = self.for_counts(store);
        scorer.prepare(store, &mut scratch.terms);
        scorer.explain(store, scratch)
    }

    /// Return the evidence in a message.
    pub fn evidence(
        &self,
        store: &Store,
        message: &Message<'_>,
        scratch: &mut Scratch,
    ) -> Evidence {
        let explanation = self.explain_message(store, message, scratch);
        let known = explanation.words.len();
        let words = known + scratch.message.bag.unseen_counts().len();
        Evidence { words, known, strength: explanation.strength(store) }
    }

    /// Explain a score that is a sum over words, by scoring each word alone.
    fn explain_sum(
        &self,
        query: Query<'_>,
        mut score: impl FnMut(Query<'_>, &mut Vec<f64>),
    ) -> Explanation {
        let Query { store, bag, .. } = query;
        let mut single = Bag::default();
        let mut scores = Vec::new();
        single.clear(store.vocabulary.slots());
        score(Query { bag: &single, ..query }, &mut scores);
        let baseline = scores.clone();
        let mut less_baseline = |single: &Bag| -> Vec<f64> {
            score(Query { bag: single, ..query }, &mut scores);
            scores.iter().zip(&baseline).map(|(score, base)| score - base).collect()
        };
        let words = bag.words.iter().map(|&(word, count)| {
            single.clear(store.vocabulary.slots());
            single.add(word, count);
            (word, less_baseline(&single))
        });
        let words = words.collect();
        let unseen = if self.model.traits.sum == Sum::Vocabulary {
            // Unseen words replace absent words of the vocabulary as long as there are any, so only
            // their joint contribution is defined. Share it equally.
            single.clear(store.vocabulary.slots());
            bag.unseen
                .iter()
                .for_each(|unseen| single.add_unseen(unseen.hash, unseen.count, unseen.is_word));
            let number = bag.unseen.len() as f64;
            let share: Vec<f64> =
                less_baseline(&single).into_iter().map(|part| part / number).collect();
            vec![share; bag.unseen.len()]
        } else {
            let unseen = bag.unseen.iter().map(|&Unseen { hash, count, is_word }| {
                single.clear(store.vocabulary.slots());
                single.add_unseen(hash, count, is_word);
                less_baseline(&single)
            });
            unseen.collect()
        };
        Explanation { words, unseen, baseline: baseline.clone(), corrections: Vec::new() }
    }
}

/// Explain scores that come with the contributions of each word, `words × classes`, and of all
/// tokens of unseen words.
fn explain_parts(
    query: Query<'_>,
    mut score: impl FnMut(Query<'_>, &mut Output<'_>),
) -> Explanation {
    let bag = query.bag;
    let (mut baseline, mut scores, mut parts) = (Vec::new(), Vec::new(), Vec::new());
    let mut empty = Bag::default();
    empty.clear(query.store.vocabulary.slots());
    let empty = Query { bag: &empty, ..query };
    score(empty, &mut Output { scores: &mut baseline, parts: None });
    score(query, &mut Output { scores: &mut scores, parts: Some(&mut parts) });
    let classes = baseline.len();
    let row = |position: usize| &parts[position * classes..(position + 1) * classes];
    let words = bag.words.iter().enumerate();
    let words = words.map(|(position, &(word, _))| (word, row(position).to_vec())).collect();
    let all_unseen = bag.unseen_tokens();
    let unseen = bag.unseen.iter().map(|unseen| {
        let share = if all_unseen > 0.0 { unseen.count / all_unseen } else { 0.0 };
        row(bag.words.len()).iter().map(|part| part * share).collect()
    });
    Explanation { words, unseen: unseen.collect(), baseline, corrections: Vec::new() }
}
