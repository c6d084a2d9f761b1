//! What each word of a message contributes to each class.

use crate::counts::bag::{Bag, Unseen};
use crate::counts::message::{Message, WordCounts};
use crate::counts::slice::Slice;
use crate::counts::store::Store;
use crate::counts::vocabulary::WordId;
use crate::scoring::parameters::{Event, Parameters};
use crate::scoring::scorer::{Family, ScoreWeights, Scoring};
use crate::scoring::scratch::Scratch;
use crate::scoring::terms::ClassTerms;
use crate::text::tokenizer::Tokenizer;
use crate::watch::Watch;

/// The joint log-likelihoods taken apart: they are `baseline` plus the sum of all contributions.
pub struct Explanation {
    /// The score of an empty message, by class.
    pub baseline: Vec<f64>,
    /// Each known word's contribution, by class.
    pub words: Vec<(WordId, Vec<f64>)>,
    /// Each unseen word's contribution, in the order of `bag.unseen`, by class.
    pub unseen: Vec<Vec<f64>>,
    /// Of that, what was learned besides the counts: empty for most models.
    pub corrections: Vec<(WordId, Vec<f64>)>,
}

impl Explanation {
    /// The words of the message by name, known ones first, each with its contributions by class.
    pub fn named<'a>(
        self,
        store: &'a Store,
        message: &'a WordCounts,
    ) -> impl Iterator<Item = (&'a [u8], Vec<f64>)> {
        let vocabulary = store.vocabulary();
        let known = self.words.into_iter().map(|(id, parts)| (vocabulary.word(id), parts));
        let is_unknown = |word: &&[u8]| vocabulary.find(&vocabulary.token(word)).is_none();
        let unknown = message.iter().map(|(word, _)| word).filter(is_unknown);
        known.chain(unknown.zip(self.unseen))
    }
}

impl Scoring {
    /// Explains the score of the bag of the scratch, its words each there once, whose terms are
    /// prepared by this scoring.
    pub fn explain(&self, store: &Store, scratch: &mut Scratch) -> Explanation {
        let Scratch { bag, terms, families, .. } = scratch;
        self.weigh_bag(store, bag);
        let (parameters, watch) = (&self.parameters, Watch::default());
        let mut explanation = match self.family {
            Family::Independent => {
                let mut explanation = self.explain_independent(store, terms, bag);
                if let ScoreWeights::Online(online) = self.weights {
                    let Explanation { baseline, words, unseen, .. } = &mut explanation;
                    let corrections = online.explain(store, terms, bag, baseline, words, unseen);
                    explanation.corrections = corrections;
                }
                return explanation;
            }
            Family::Near(neighbourhood) => {
                let nothing = Slice::default();
                let near = neighbourhood.slice(parameters, store, bag, &mut families.nearest);
                let slice = near.unwrap_or(&nothing);
                parameters.prepare_slice(store, slice, terms);
                parameters.explain_sum(store, bag, |single, scores| {
                    parameters.slice_scores(store, slice, terms, single, scores);
                })
            }
            Family::Hidden => {
                let hidden = &mut families.hidden;
                explain_parts(store, bag, |bag, scores, parts| {
                    let parts = Some(parts);
                    parameters.hidden_scores(store, terms, bag, hidden, &watch, scores, parts);
                })
            }
            Family::Ratios => {
                let hidden = &mut families.hidden;
                explain_parts(store, bag, |bag, scores, parts| {
                    let parts = Some(parts);
                    parameters.ratio_scores(store, terms, bag, hidden, &watch, scores, parts);
                })
            }
            Family::Packaged => {
                let (packaged, threshold) = (&mut families.packaged, [store.packages().threshold]);
                explain_parts(store, bag, |bag, scores, parts| {
                    let parts = Some(parts);
                    parameters.packaged_scores(
                        store, terms, bag, packaged, &watch, &threshold, scores, parts,
                    );
                })
            }
            Family::OneDependence if Parameters::has_estimators(store, bag) => {
                let estimators = &mut families.one_dependence;
                explain_parts(store, bag, |bag, scores, parts| {
                    parameters.one_dependence_parts(store, terms, bag, estimators, scores, parts);
                })
            }
            Family::OneDependence => {
                let estimators = &mut families.one_dependence;
                parameters.explain_sum(store, bag, |single, scores| {
                    parameters
                        .one_dependence_scores(store, terms, single, estimators, &watch, scores);
                })
            }
        };
        let mut single = Bag::default();
        for (&(word, count), (_, parts)) in bag.words.iter().zip(&mut explanation.words) {
            single.clear(store.vocabulary.slots());
            single.add(word, count);
            self.multiply_ratios(store, terms, &single, parts);
        }
        explanation
    }

    /// Explains the score of a message.
    pub fn explain_message(
        &self,
        store: &Store,
        tokenizer: &Tokenizer,
        message: &Message<'_>,
        scratch: &mut Scratch,
    ) -> Explanation {
        let Scratch { tokens, bag, terms, .. } = scratch;
        message.look_up(store, tokenizer, tokens, bag, true);
        let scoring = self.for_counts(store);
        scoring.prepare(store, terms);
        scoring.explain(store, scratch)
    }

    /// Explains the independent score: words add up, so each is scored alone.
    fn explain_independent(&self, store: &Store, terms: &[ClassTerms], bag: &Bag) -> Explanation {
        self.parameters.explain_sum(store, bag, |single, scores| {
            self.scores(store, terms, single, scores);
        })
    }
}

impl Parameters {
    /// Explains any score that is a sum over words.
    fn explain_sum(
        &self,
        store: &Store,
        bag: &Bag,
        mut score: impl FnMut(&Bag, &mut Vec<f64>),
    ) -> Explanation {
        let mut single = Bag::default();
        let mut scores = Vec::new();
        single.clear(store.vocabulary.slots());
        score(&single, &mut scores);
        let baseline = scores.clone();
        let mut less_baseline = |single: &Bag| -> Vec<f64> {
            score(single, &mut scores);
            scores.iter().zip(&baseline).map(|(score, base)| score - base).collect()
        };
        let words = bag.words.iter().map(|&(word, count)| {
            single.clear(store.vocabulary.slots());
            single.add(word, count);
            (word, less_baseline(&single))
        });
        let words = words.collect();
        let unseen = if self.event == Event::Bernoulli {
            // They take the places of absent words together, as long as there are any: each has an
            // equal share of that.
            single.clear(store.vocabulary.slots());
            bag.unseen.iter().for_each(|unseen| single.add_unseen(unseen.hash, unseen.count));
            let number = bag.unseen.len() as f64;
            let share: Vec<f64> =
                less_baseline(&single).into_iter().map(|part| part / number).collect();
            vec![share; bag.unseen.len()]
        } else {
            let unseen = bag.unseen.iter().map(|&Unseen { hash, count }| {
                single.clear(store.vocabulary.slots());
                single.add_unseen(hash, count);
                less_baseline(&single)
            });
            unseen.collect()
        };
        Explanation { words, unseen, baseline: baseline.clone(), corrections: Vec::new() }
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
        let share = if all_unseen > 0.0 { unseen.count / all_unseen } else { 0.0 };
        row(bag.words.len()).iter().map(|part| part * share).collect()
    });
    Explanation { words, unseen: unseen.collect(), baseline, corrections: Vec::new() }
}
