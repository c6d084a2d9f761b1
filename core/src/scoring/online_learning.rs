//! The learning of online weights: one step a message against the error of its score.
//!
//! When the label y of a message arrives, each class k with |g_k| > ε takes a step:
//!
//!   g_k = [k = y] − σ(s_k),   b_k += AdaGrad(g_k),   r_ik += AdaGrad(g_k x_i / ‖x‖)
//!
//! with the scores s_k of [`Scorer::online_scores`] and the steps of [`OnlineWeights`]. This is the
//! logistic loss of Kim and Lee (LNB, Equation 14), or another [`Loss`](crate::scoring::online_weights::Loss), one class
//! against all others. A class takes steps if it was known before, and after `warm_up` messages
//! both of the class and of others. g is rounded to multiples of 2^-20.

use crate::counts::bag::Bag;
use crate::counts::rows::ClassId;
use crate::counts::store::{LearningRule, Store};
use crate::counts::vocabulary::WordId;
use crate::error::{Error, Result};
use crate::scoring::event_model::{ClassTerms, Query};
use crate::scoring::online_weights::{
    Effect, OnlineConfig, OnlineScratch, Prefetch, inverse_norm, put_values, sums, top,
};
use crate::scoring::scorer::Scorer;
use crate::statistics::damping::Damping;
use crate::statistics::online_weights::{OnlineWeights, Rates};
use crate::threads::lock;
use crate::watch::Watch;
use std::any::Any;
use std::sync::{Arc, Mutex};

/// Gradients and scores are rounded to multiples of 1/STEPS before anything is learned from them,
/// because sums over words in another order differ in their last bits.
const STEPS: f64 = 1_048_576.0;

fn rounded(value: f64) -> f64 {
    (value * STEPS).round_ties_even() / STEPS
}

/// Reused buffers.
#[derive(Default)]
struct Buffers {
    words: Vec<(WordId, f64)>,
    terms: Vec<ClassTerms>,
    scratch: OnlineScratch,
    scores: Vec<f64>,
    gradients: Vec<(ClassId, f64)>,
    /// z_ik of the words and of these classes, for the multiplicative effect.
    evidence: Vec<f64>,
}

/// The rule that scores each message before it is counted, and corrects its score.
struct OnlineCorrection {
    scorer: Arc<Scorer>,
    buffers: Mutex<Buffers>,
}

impl OnlineCorrection {
    /// Score a message whose words are interned but not counted, as if its new words were unknown.
    fn score(&self, store: &Store, bag: &mut Bag, buffers: &mut Buffers) {
        let Buffers { words, terms, scratch, scores, .. } = buffers;
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
        let scorer = self.scorer.for_counts(store);
        scorer.model.prepare_known(store, known, terms);
        scorer.online_scores(store, terms, bag, scratch, scores);
        bag.unseen.clear();
        std::mem::swap(&mut bag.words, words);
    }

    /// Replace the evidence by z_ik of each word for each class that takes a step, as it was when
    /// the message was scored.
    fn put_evidence(&self, store: &Store, bag: &Bag, sum: f64, buffers: &mut Buffers) {
        let Buffers { terms, gradients, evidence, .. } = buffers;
        let new = bag.words.iter().filter(|&&(word, _)| store.rows().is_empty(word)).count();
        let scorer = self.scorer.for_counts(store);
        scorer.model.prepare_known(store, store.vocabulary().len() - new, terms);
        evidence.clear();
        for &(word, value) in &bag.words {
            let odds = scorer.model.log_odds(store, terms, word);
            let scale = scorer.config.online.nb_weight * value / sum;
            evidence.extend(gradients.iter().map(|&(class, _)| scale * odds(class)));
        }
    }

    /// Learn the calibration from a score and the class of its message.
    fn calibrate(&self, store: &mut Store, scores: &[f64], class: ClassId) {
        let f = self.scorer.config.online.forgetting_factor;
        if store.existing_classes() == 2 {
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
        let OnlineConfig { warm_up, loss, margin, effect, rate_decay: decay, .. } =
            self.scorer.config.online;
        let known = store.classes.get(class as usize).is_some_and(|class| class.exists());
        let Some(weights) = store.statistic::<OnlineWeights>() else { return };
        gradients.clear();
        for (id, &score) in (0..).zip(&*scores) {
            if store.classes[id as usize].exists() && weights.exposure.is_warm(id, warm_up) {
                let g = rounded(loss.gradient(score, id == class));
                if g.abs() > margin {
                    gradients.push((id, g * weight));
                }
            }
        }
        if known {
            if self.scorer.config.online.calibrated && weights.exposure.any_is_warm(warm_up) {
                self.calibrate(store, scores, class);
            }
            if let Some(weights) = store.statistics.get_mut::<OnlineWeights>() {
                weights.exposure.add(class, 1);
            }
        }
        if gradients.is_empty() {
            return;
        }
        // No message has the new words yet, so their values are still those of unknown words.
        let (sum, share) = put_values(store, store.statistic(), bag, words);
        if effect == Effect::Multiplicative {
            self.put_evidence(store, bag, sum, &mut buffers);
        }
        let Buffers { words, gradients, evidence, .. } = &*buffers;
        let OnlineConfig { bias_rate, learning_rate, .. } = self.scorer.config.online;
        let rates = (Rates { rate: bias_rate, decay }, Rates { rate: learning_rate, decay });
        if let Some(weights) = store.statistics.get_mut::<OnlineWeights>() {
            weights.step(gradients, rates, words, effect.least(), |word, step| match effect {
                Effect::Additive => words[word].1 * share,
                Effect::Multiplicative => evidence[word * gradients.len() + step],
            });
        }
    }
}

impl Scorer {
    /// Whether the store learns from the errors of these scores.
    pub(crate) fn is_learned_from(&self, store: &Store) -> bool {
        let rule = store.rule.as_deref().and_then(|rule| (rule as &dyn Any).downcast_ref());
        let of_rule =
            |rule: &OnlineCorrection| self.is_online() && self.config == rule.scorer.config;
        !store.settings.columns && rule.is_some_and(of_rule)
    }
}

impl Store {
    /// Correct the scores of this scorer by each message that is learned from now on.
    pub fn correct_online(&mut self, scorer: Arc<Scorer>) -> Result<()> {
        if !scorer.is_online() {
            return Err(Error::Invalid(
                "the scorer has no online weights: make it with weights 'online'".into(),
            ));
        }
        if !self.settings.online_weights {
            return Err(Error::Invalid(
                "the store has no online weights: make it with online_weights=True".into(),
            ));
        }
        let damping = Damping::new(scorer.config.online.damping);
        self.rule = Some(Arc::new(OnlineCorrection { scorer, buffers: Mutex::default() }));
        if self.statistic::<OnlineWeights>().is_none() {
            self.statistics.put(OnlineWeights::default());
        }
        if let Some(weights) = self.statistics.get_mut::<OnlineWeights>() {
            weights.damping = damping;
        }
        Ok(())
    }
}

impl Scorer {
    /// Compute the corrected scores of a message.
    pub fn online_scores(
        &self,
        store: &Store,
        terms: &[ClassTerms],
        bag: &mut Bag,
        scratch: &mut OnlineScratch,
        out: &mut Vec<f64>,
    ) {
        out.clear();
        out.resize(terms.len(), 0.0);
        let OnlineScratch { values, corrections } = scratch;
        values.clear();
        if store.existing_classes() < 2 {
            return;
        }
        let OnlineConfig { effect, nb_weight, .. } = self.config.online;
        corrections.clear();
        corrections.resize(out.len(), 0.0);
        let weights = store.statistic::<OnlineWeights>();
        let unit = store.unit();
        let prefetch = Prefetch { rows: store.rows(), weights, words: &bag.words };
        prefetch.begin();
        let visit = |word, value, documents: f64| {
            prefetch.advance(values.len());
            let Some(weights) = weights else { return values.push(value) };
            let damped = weights.damping.damped(value, documents / unit);
            values.push(damped);
            match effect {
                Effect::Additive => weights.add_to(corrections, word, damped),
                Effect::Multiplicative => {
                    let odds = self.model.log_odds(store, terms, word);
                    for (class, weight) in weights.of_word(word) {
                        corrections[class as usize] += weight * value * odds(class);
                    }
                }
            }
        };
        let query = Query { store, terms, bag, watch: &Watch::default() };
        self.model.add_both(query, store.rows(), out, visit);
        if store.settings().term_weighting.is_counts() {
            bag.sum_up_unseen();
        }
        let unseen = bag.unseen.iter().map(|unseen| unseen.count);
        let (sum, squares) = sums(values.iter().copied().chain(unseen));
        let scale = match effect {
            Effect::Additive => inverse_norm(squares),
            Effect::Multiplicative if sum > 0.0 => nb_weight / sum,
            Effect::Multiplicative => 0.0,
        };
        for (class, ((score, terms), correction)) in
            out.iter_mut().zip(terms).zip(corrections).enumerate()
        {
            let prior = terms.prior - terms.prior_complement;
            let bias = weights.map_or(0.0, |weights| weights.of_class(class as ClassId));
            let odds = if sum > 0.0 { nb_weight * ((*score - prior) / sum) } else { 0.0 };
            *score = odds + (bias + prior) + *correction * scale;
        }
    }
}
