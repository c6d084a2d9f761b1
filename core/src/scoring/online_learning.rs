//! A step a message against the error of its score.
//!
//! Once the label y of a message is known, for each class k of which |g_k| > ε,
//!
//!   g_k = [k = y] − σ(s_k),   b_k += AdaGrad(g_k),   w_ik += AdaGrad(g_k x_i / ‖x‖)
//!
//! with the scores s_k of [`OnlineScores`] and the steps of [`OnlineWeights`]: the logistic loss of
//! Kim and Lee (LNB, Equation 14), one class against all others, its weights added to the log odds
//! instead of multiplied. A step is taken by a class that was known before, once two were. Two
//! classes mirror each other. g is rounded to multiples of 2^-20.

use crate::counts::bag::Bag;
use crate::counts::rows::ClassId;
use crate::counts::store::{LearningRule, Store};
use crate::counts::vocabulary::WordId;
use crate::error::{Error, Result};
use crate::scoring::online_weights::{OnlineScores, share_of, sums, top};
use crate::scoring::scorer::{ScoreWeights, Scoring};
use crate::scoring::terms::ClassTerms;
use crate::statistics::calibration::sigmoid;
use crate::statistics::online_weights::{OnlineWeights, Rates};
use std::sync::{Arc, Mutex, PoisonError};

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
    corrections: Vec<f64>,
    scores: Vec<f64>,
}

/// Each message is scored before it is counted, and corrects its own score.
struct OnlineCorrection {
    scoring: Arc<Scoring>,
    online: OnlineScores,
    buffers: Mutex<Buffers>,
}

impl OnlineCorrection {
    /// Scores a message whose words were interned, but not counted: as if those that no message had
    /// before were not known.
    fn score(&self, store: &Store, bag: &mut Bag, buffers: &mut Buffers) {
        let Buffers { words, terms, corrections, scores } = buffers;
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
        self.scoring.parameters.prepare_known(store, known, terms);
        self.scoring.scores(store, terms, bag, scores);
        self.online.correct(store, terms, bag, corrections, scores);
        bag.unseen.clear();
        std::mem::swap(&mut bag.words, words);
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
        let mut buffers = self.buffers.lock().unwrap_or_else(PoisonError::into_inner);
        self.score(store, bag, &mut buffers);
        let scores = &buffers.scores;
        let known = store.classes.get(class as usize).is_some_and(|class| class.exists());
        if known && self.online.calibrated {
            self.calibrate(store, scores, class);
        }
        let OnlineScores { learning_rate, bias_rate, rate_decay: decay, margin, .. } = self.online;
        let rates = (Rates { rate: bias_rate, decay }, Rates { rate: learning_rate, decay });
        let share = share_of(sums(bag).1);
        let Store { statistics, classes, .. } = store;
        let Some(weights) = statistics.get_mut::<OnlineWeights>() else { return };
        for (id, &score) in scores.iter().enumerate() {
            if !classes[id].exists() {
                continue;
            }
            let id = id as ClassId;
            let g = rounded(if id == class { sigmoid(-score) } else { -sigmoid(score) });
            if g.abs() > margin {
                weights.step(id, g * weight, rates, &bag.words, share);
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
        Ok(())
    }
}
