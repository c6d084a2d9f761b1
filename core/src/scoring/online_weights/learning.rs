//! A step a message against the error of its score.
//!
//! Once the label y of a message is known, for each class k of which |g_k| > ε,
//!
//!   g_k = [k = y] − σ(s_k),   b_k += AdaGrad(g_k),   w_ik += AdaGrad(g_k x_i / ‖x‖)
//!
//! with the scores s_k of [`OnlineScores`] and the steps of [`OnlineWeights`]: the logistic loss of
//! Kim and Lee (LNB, Equation 14), or another [`Loss`](super::loss::Loss) of theirs, one class
//! against all others, with weights added to the log odds instead of multiplied. A step is taken by a
//! class that was known before, once two were, and once `warm_up` messages of it and as many of
//! others came: what comes all of one class tells nothing from nothing. Two
//! classes mirror each other. g is rounded to multiples of 2^-20.

use crate::counts::bag::Bag;
use crate::counts::rows::ClassId;
use crate::counts::store::{LearningRule, Store};
use crate::counts::vocabulary::WordId;
use crate::error::{Error, Result};
use crate::scoring::online_weights::{Corrected, Effect, OnlineScores, put_values, top};
use crate::scoring::scorer::{ScoreWeights, Scoring};
use crate::scoring::terms::ClassTerms;
use crate::statistics::correction::Rates;
use crate::statistics::damping::Damping;
use crate::statistics::online_weights::OnlineWeights;
use crate::threads::lock;
use std::sync::{Arc, Mutex};

/// What is learned from is told apart this finely: 2^20 to one. Sums over words have another last bit
/// in another order; so no trace of it is left in what is learned.
const STEPS: f64 = 1_048_576.0;

fn rounded(value: f64) -> f64 {
    (value * STEPS).round_ties_even() / STEPS
}

/// Buffers used again from message to message.
#[derive(Default)]
struct Buffers {
    words: Vec<(WordId, f64)>,
    terms: Vec<ClassTerms>,
    corrected: Corrected,
    scores: Vec<f64>,
    gradients: Vec<(ClassId, f64)>,
    /// z_ik of the words and these classes, where they are what is weighed.
    evidence: Vec<f64>,
}

/// Each message is scored before it is counted, and corrects its own score.
pub(super) struct OnlineCorrection {
    pub(super) scoring: Arc<Scoring>,
    online: OnlineScores,
    buffers: Mutex<Buffers>,
}

impl OnlineCorrection {
    /// Scores a message whose words were interned, but not counted: as if those that no message had
    /// before were not known.
    fn score(&self, store: &Store, bag: &mut Bag, buffers: &mut Buffers) {
        let Buffers { words, terms, corrected, scores, .. } = buffers;
        if !bag.scores.is_empty() {
            return std::mem::swap(scores, &mut bag.scores);
        }
        words.clear();
        words.append(&mut bag.words);
        for &(word, value) in &*words {
            if store.rows().is_empty(word) {
                bag.add_unseen(u64::from(word), value);
            } else {
                bag.words.push((word, value));
            }
        }
        let known = store.vocabulary().len() - bag.unseen.len();
        let scoring = self.scoring.for_counts(store);
        scoring.parameters.prepare_known(store, known, terms);
        self.online.scores(&*scoring, store, terms, bag, corrected, scores);
        bag.unseen.clear();
        std::mem::swap(&mut bag.words, words);
    }

    /// Puts what each word of a message adds by naive Bayes, for each class that takes a step, in
    /// the place of what is there: as it was when the message was scored.
    fn put_evidence(&self, store: &Store, bag: &Bag, sum: f64, buffers: &mut Buffers) {
        let Buffers { terms, gradients, evidence, .. } = buffers;
        let new = bag.words.iter().filter(|&&(word, _)| store.rows().is_empty(word)).count();
        let scoring = self.scoring.for_counts(store);
        scoring.parameters.prepare_known(store, store.vocabulary().len() - new, terms);
        evidence.clear();
        for &(word, value) in &bag.words {
            let odds = scoring.parameters.log_odds(store, terms, word);
            let scale = self.online.nb_weight * value / sum;
            evidence.extend(gradients.iter().map(|&(class, _)| scale * odds(class)));
        }
    }

    /// Learns how probable a class is by its score.
    fn calibrate(&self, store: &mut Store, scores: &[f64], class: ClassId) {
        let f = self.online.forgetting_factor;
        if store.existing_classes() == 2 {
            // The class that is not this one: there are two.
            let ids = 0..store.classes.len() as ClassId;
            let mut others = ids.filter(|&id| id != class && store.classes[id as usize].exists());
            let Some(other) = others.next() else { return };
            let score = (scores[class as usize] - scores[other as usize]) / 2.0;
            if let Some(weights) = store.statistics.get_mut::<OnlineWeights>() {
                weights.learn_two(class, rounded(score), true, f);
            }
        } else if let Some((top, odds)) = top(store, scores)
            && let Some(weights) = store.statistics.get_mut::<OnlineWeights>()
        {
            weights.top.learn(rounded(odds), top == class, f);
        }
    }
}

impl LearningRule for OnlineCorrection {
    fn correct(&self, store: &mut Store, bag: &mut Bag, class: ClassId, weight: f64) {
        if store.existing_classes() < 2 {
            return;
        }
        let mut buffers = lock(&self.buffers);
        self.score(store, bag, &mut buffers);
        let Buffers { words, scores, gradients, .. } = &mut *buffers;
        let known = store.classes.get(class as usize).is_some_and(|class| class.exists());
        let least = self.online.warm_up;
        let weights = store.statistic::<OnlineWeights>();
        let any = weights.is_some_and(|weights| weights.met.any_told_apart(least));
        if known && any && self.online.calibrated {
            self.calibrate(store, scores, class);
        }
        let OnlineScores { learning_rate, bias_rate, rate_decay: decay, margin, .. } = self.online;
        let rates = (Rates { rate: bias_rate, decay }, Rates { rate: learning_rate, decay });
        gradients.clear();
        let weights = store.statistic::<OnlineWeights>();
        for (id, &score) in scores.iter().enumerate() {
            if !store.classes[id].exists() {
                continue;
            }
            let id = id as ClassId;
            if !weights.is_some_and(|weights| weights.met.told_apart(id, least)) {
                continue;
            }
            let g = rounded(self.online.loss.gradient(score, id == class));
            if g.abs() > margin {
                gradients.push((id, g * weight));
            }
        }
        if known && let Some(weights) = store.statistics.get_mut::<OnlineWeights>() {
            weights.met.add(class, 1);
        }
        if gradients.is_empty() {
            return;
        }
        // Words that are new stand in no message yet: their value is what it was when they were
        // unknown.
        let (sum, share) = put_values(store, store.statistic(), bag, words);
        let effect = self.online.effect;
        if effect == Effect::Multiplicative {
            self.put_evidence(store, bag, sum, &mut buffers);
        }
        let Buffers { words, gradients, evidence, .. } = &*buffers;
        if let Some(weights) = store.statistics.get_mut::<OnlineWeights>() {
            match effect {
                Effect::Additive => weights.step(gradients, rates, words, share),
                Effect::Multiplicative => {
                    weights.step_by(gradients, rates, words, evidence, effect.least());
                }
            }
        }
    }
}

impl Store {
    /// Corrects the scores of this scoring by each message that is learned from now on.
    pub fn correct_online(&mut self, scoring: Arc<Scoring>) -> Result<()> {
        let ScoreWeights::Online(online) = scoring.weights else {
            return Err(Error::Invalid("these scores have no corrections".into()));
        };
        if !self.settings.online_weights {
            return Err(Error::Invalid("these counts have no corrections of words".into()));
        }
        self.rule = Some(Arc::new(OnlineCorrection { scoring, online, buffers: Mutex::default() }));
        if self.statistic::<OnlineWeights>().is_none() {
            self.statistics.put(OnlineWeights::default());
        }
        if let Some(weights) = self.statistics.get_mut::<OnlineWeights>() {
            weights.damping = Damping::new(online.damping);
        }
        Ok(())
    }
}
