//! The contribution of each word of a message to the score of each class.

use crate::counts::bag::{Bag, Unseen};
use crate::counts::message::{Message, WordCounts};
use crate::counts::slice::Slice;
use crate::counts::store::Store;
use crate::counts::vocabulary::WordId;
use crate::scoring::composition::{Dependence, Neighbourhood, Sum};
use crate::scoring::event_model::EventModel;
use crate::scoring::scorer::Scorer;
use crate::scoring::scorer::Scratch;
use crate::text::tokenizer::Tokenizer;
use crate::watch::Watch;

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

impl Explanation {
    /// Return the words of the message, known ones first, with their contributions by class.
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

impl Scorer {
    /// Explain the score of the bag of the scratch. The bag contains each word once, and the terms
    /// are prepared by this scorer.
    pub fn explain(&self, store: &Store, scratch: &mut Scratch) -> Explanation {
        let Scratch { bag, terms, families, .. } = scratch;
        self.weigh_bag(store, bag);
        let (model, watch) = (&self.model, Watch::default());
        let mut explanation = match self.parts().dependence {
            Dependence::Independent => match self.parts().neighbourhood {
                Neighbourhood::Stream if self.is_online() => {
                    let mut explanation = model.explain_sum(store, bag, |single, scores| {
                        self.scores(store, terms, single, scores);
                    });
                    let Explanation { baseline, words, unseen, .. } = &mut explanation;
                    explanation.corrections =
                        self.online.explain(store, terms, bag, baseline, words, unseen);
                    return explanation;
                }
                Neighbourhood::Stream => {
                    return model.explain_sum(store, bag, |single, scores| {
                        self.scores(store, terms, single, scores);
                    });
                }
                Neighbourhood::Tree | Neighbourhood::Nearest => {
                    let nothing = Slice::default();
                    let slice = self.slice(store, bag, &mut families.nearest).unwrap_or(&nothing);
                    model.prepare_slice(store, slice, terms);
                    return model.explain_sum(store, bag, |single, scores| {
                        model.slice_scores(store, slice, terms, single, scores);
                    });
                }
            },
            Dependence::Hidden => {
                let hidden = &mut families.hidden;
                explain_parts(store, bag, |bag, scores, parts| {
                    model.hidden_scores(store, terms, bag, hidden, &watch, scores, Some(parts));
                })
            }
            Dependence::HiddenRatios => {
                let hidden = &mut families.hidden;
                explain_parts(store, bag, |bag, scores, parts| {
                    model.ratio_scores(store, terms, bag, hidden, &watch, scores, Some(parts));
                })
            }
            Dependence::Packaged => {
                let (packaged, threshold) = (&mut families.packaged, [store.packages().threshold]);
                explain_parts(store, bag, |bag, scores, parts| {
                    let parts = Some(parts);
                    model.packaged_scores(
                        store, terms, bag, packaged, &watch, &threshold, scores, parts,
                    );
                })
            }
            Dependence::OneDependence if EventModel::has_estimators(store, bag) => {
                let estimators = &mut families.one_dependence;
                explain_parts(store, bag, |bag, scores, parts| {
                    model.one_dependence_parts(store, terms, bag, estimators, scores, parts);
                })
            }
            Dependence::OneDependence => {
                let estimators = &mut families.one_dependence;
                model.explain_sum(store, bag, |single, scores| {
                    model.one_dependence_scores(store, terms, single, estimators, &watch, scores);
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

    /// Explain the score of a message.
    pub fn explain_message(
        &self,
        store: &Store,
        tokenizer: &Tokenizer,
        message: &Message<'_>,
        scratch: &mut Scratch,
    ) -> Explanation {
        let Scratch { tokens, bag, terms, .. } = scratch;
        message.look_up(store, tokenizer, tokens, bag, true);
        let scorer = self.for_counts(store);
        scorer.prepare(store, terms);
        scorer.explain(store, scratch)
    }
}

impl EventModel {
    /// Explain a score that is a sum over words, by scoring each word alone.
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
        let unseen = if self.traits.sum == Sum::Vocabulary {
            // Unseen words replace absent words of the vocabulary as long as there are any, so only
            // their joint contribution is defined. Share it equally.
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

/// Explain scores that come with the contributions of each word, `words × classes`, and of all
/// tokens of unseen words.
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
