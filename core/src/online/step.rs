//! One step for each message against the error of its score.
//!
//! When the label y of a message arrives, each class k with |g_k| > ε takes a step, for the values v_i
//! of the words:
//!
//!   g_k = [k = y] − σ(s_k),   b_k takes g_k,   r_ik takes g_k v_i / ‖v‖
//!
//! with the scores s_k of [`Scorer::online_scores`] and the sums of [`OnlineWeights`]. This is the
//! logistic loss of Kim and Lee (LNB, Equation 14), or another [`Loss`](crate::online::config::Loss), one class
//! against all others. A class takes steps if it was known before, and after `warm_up` messages
//! both of the class and of others. g is rounded to multiples of 2^-20. [`Balance`] shortens steps.
//!
//! Labels may be wrong. The scores of a message first update [`LabelNoise`](crate::online::noise::LabelNoise). If it estimates wrong
//! labels, the gradient is the gradient of ln P(label), which is nearly 0 for labels that contradict
//! confident scores; calibrations and the counts of words in scores are corrected as well. The more
//! labels are wrong, the less P(label) of the gradient uses additive corrections, which follow single
//! wrong labels.
//!
//! [`Balance`]: crate::online::balance::Balance

use crate::counts::bag::Bag;
use crate::counts::rows::ClassId;
use crate::counts::store::{LearningRule, Store};
use crate::counts::vocabulary::WordId;
use crate::error::{Error, Result};
use crate::online::balance::Trust;
use crate::online::config::{Effect, OnlineConfig, OnlineScratch};
use crate::online::corrections::Rates;
use crate::online::damping::Damping;
use crate::online::heads::{Head, OrderedWords, OtherHead, exact_slope, slope};
use crate::online::noise::{rounded, sigmoid};
use crate::online::score::{inverse_norm, put_values, top};
use crate::online::state::OnlineWeights;
use crate::online::undo::{Calibrated, Contradiction, HeadStep, Slopes, Step};
use crate::online::undo::{fingerprint, with_gradients};
use crate::scoring::event_model::ClassTerms;
use crate::scoring::scorer::Scorer;
use crate::threads::lock;
use std::any::Any;
use std::sync::{Arc, Mutex};

/// Reused buffers.
#[derive(Default)]
struct Buffers {
    words: Vec<(WordId, f64)>,
    terms: Vec<ClassTerms>,
    scratch: OnlineScratch,
    scores: Vec<f64>,
    /// The scores that labels are compared with, by class.
    trusted: Vec<f64>,
    /// P of each class, for the steps of shares.
    probabilities: Vec<f64>,
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
            std::mem::swap(&mut scratch.heads, &mut bag.heads);
            return std::mem::swap(scores, &mut bag.scores);
        }
        words.clear();
        words.append(&mut bag.words);
        for &(word, value) in &*words {
            if store.rows.is_empty(word) {
                bag.add_unseen(u64::from(word), value, store.vocabulary.is_word(word));
            } else {
                bag.words.push((word, value));
            }
        }
        let known = store.vocabulary.len() - bag.unseen.len();
        let scorer = self.scorer.for_counts(store);
        scorer.model.prepare_known(store, known, terms);
        scorer.prepare_online(store, known, terms);
        scorer.online_scores(store, terms, bag, scratch, scores);
        bag.unseen.clear();
        std::mem::swap(&mut bag.words, words);
    }

    /// Replace `trusted` by the scores that labels are compared with: without wrong labels, the
    /// scores of a head. Multiplicative corrections are not separated from the evidence.
    fn put_trusted(
        &self,
        store: &Store,
        bag: &Bag,
        effect: Effect,
        scores: &[f64],
        all: &mut Buffers,
    ) {
        let Buffers { words, trusted, scratch, .. } = all;
        trusted.clear();
        trusted.extend_from_slice(scores);
        let Some(weights) = store.statistic::<OnlineWeights>() else { return };
        if weights.noise.rates.is_empty() || effect != Effect::Additive {
            return;
        }
        let (_, share) = put_values(store, Some(weights), bag, words);
        let OnlineScratch { values, corrections: sums, .. } = scratch;
        values.clear();
        values.extend(words.iter().map(|&(_, value)| value));
        sums.clear();
        sums.resize(scores.len(), 0.0);
        weights.first.words.add_to(sums, words, values);
        for (id, (score, sum)) in (0..).zip(trusted.iter_mut().zip(sums)) {
            let uncorrected = *score - weights.first.of_class(id) - *sum * share;
            *score = weights.noise.of(id).trusted(*score, uncorrected);
        }
    }

    /// Learn the calibration from a score and the label of its message.
    fn calibrate(
        &self,
        store: &mut Store,
        scores: &[f64],
        class: ClassId,
        trust: Trust,
    ) -> Option<Calibrated> {
        let OnlineConfig { forgetting_factor: f, estimate_noise, .. } = self.scorer.config.online;
        let shares = store.classes.iter().map(|class| class.documents);
        let share = store.classes[class as usize].documents / shares.sum::<f64>();
        let is_binary = store.existing_classes() == 2;
        let (top, margin) = margin(store, scores)?;
        let weights = store.statistics.get_mut::<OnlineWeights>()?;
        let margin = rounded(margin);
        if !is_binary {
            let noise = weights.noise.of(top);
            let step = weights.top.learn(margin, top == class, trust.factor, f, noise);
            return Some(Calibrated { class: None, step });
        }
        let score = if top == class { margin } else { -margin };
        let flips = weights.noise.of(class);
        let odds = weights.two(class).log_odds(score);
        if estimate_noise {
            weights.noise.learn_loss(-flips.labelled(odds).ln(), -share.ln(), trust.factor);
        }
        Some(weights.learn_two(class, score, trust.of(sigmoid(odds)), f, flips))
    }

    /// The gradients of the classes that take a step against the errors of a head.
    fn gradients(
        &self,
        store: &Store,
        class: ClassId,
        trust: Trust,
        scores: &[f64],
        trusted: &[f64],
    ) -> Vec<(ClassId, f64)> {
        let OnlineConfig { warm_up, loss, margin, .. } = self.scorer.config.online;
        let mut gradients = Vec::new();
        let Some(weights) = store.statistic::<OnlineWeights>() else { return gradients };
        for (id, (&score, &trusted)) in (0..).zip(scores.iter().zip(trusted)) {
            if store.classes[id as usize].exists() && weights.exposure.is_warm(id, warm_up) {
                let of_noise = weights.noise.of(id).trust(trusted, id == class);
                let g = rounded(loss.gradient(score, id == class) * of_noise);
                if g.abs() > margin {
                    let label = sigmoid(if id == class { score } else { -score });
                    gradients.push((id, rounded(g * trust.of(label))));
                }
            }
        }
        gradients
    }

    /// The effects of all heads, and the settings of those besides the first.
    fn heads(&self) -> impl Iterator<Item = (Effect, Option<OtherHead>)> {
        let OnlineConfig { effect, heads, .. } = self.scorer.config.online;
        let others = heads.others().iter().map(|&head| (Effect::Multiplicative, Some(head)));
        std::iter::once((effect, None)).chain(others)
    }

    /// The step of each head without its evidence, and of its share if `slopes`.
    fn steps(
        &self,
        store: &Store,
        bag: &Bag,
        (class, weight): (ClassId, f64),
        trust: Trust,
        slopes: bool,
        buffers: &mut Buffers,
    ) -> (Vec<HeadStep>, Slopes) {
        let several = !self.scorer.config.online.heads.others().is_empty();
        let by_head = std::mem::take(&mut buffers.scratch.heads);
        let scores = std::mem::take(&mut buffers.scores);
        let share_trust = if several && slopes {
            share_trust(store, class, trust, &scores, &mut buffers.probabilities)
        } else {
            0.0
        };
        let mut found = Vec::with_capacity(self.heads().count());
        let mut found_slopes = Slopes::default();
        for ((place, (effect, _)), of_share) in self.heads().enumerate().zip(&mut found_slopes) {
            let of_head = if several { &by_head[place * scores.len()..] } else { &*scores };
            let of_head = &of_head[..scores.len()];
            self.put_trusted(store, bag, effect, of_head, buffers);
            let mut gradients = self.gradients(store, class, trust, of_head, &buffers.trusted);
            gradients.iter_mut().for_each(|(_, gradient)| *gradient *= weight);
            if share_trust > 0.0 {
                let slope = slope(of_head, class, &buffers.probabilities);
                *of_share = exact_slope(weight * share_trust * slope);
            }
            found.push(HeadStep::new(gradients));
        }
        (buffers.scores, buffers.scratch.heads) = (scores, by_head);
        (found, found_slopes)
    }

    /// Whether a step needs the evidence of words.
    fn needs_evidence((effect, _): (Effect, Option<OtherHead>), step: &HeadStep) -> bool {
        effect == Effect::Multiplicative && !step.gradients.is_empty()
    }

    /// The words of a message in the order of the evidence of these steps; empty if no step needs it.
    fn ordered(&self, store: &Store, bag: &Bag, steps: &[HeadStep]) -> OrderedWords {
        let needed = self.heads().zip(steps).any(|(head, step)| Self::needs_evidence(head, step));
        match needed {
            true => OrderedWords::new(&store.vocabulary, &bag.words),
            false => OrderedWords::default(),
        }
    }

    /// Add z_ik of words for each class that takes a step to the steps of heads with multiplicative
    /// corrections, as it was when the message was scored. No message has the new words of the bag yet.
    fn put_evidence(
        &self,
        store: &Store,
        bag: &Bag,
        words: &OrderedWords,
        steps: &mut [HeadStep],
        terms: &mut Vec<ClassTerms>,
    ) {
        let all = words.of(None);
        if all.is_empty() {
            return;
        }
        let new = bag.words.iter().filter(|&&(word, _)| store.rows.is_empty(word)).count();
        let (scorer, known) = (self.scorer.for_counts(store), store.vocabulary.len() - new);
        scorer.model.prepare_known(store, known, terms);
        scorer.prepare_online(store, known, terms);
        let weights = store.statistic::<OnlineWeights>();
        let value = |&(word, value): &_| weights.map_or(value, |w| w.value(store, word, value));
        let heads =
            self.heads().zip(steps).filter(|(head, step)| Self::needs_evidence(*head, step));
        let mut heads: Vec<_> = heads
            .map(|((_, other), step)| {
                let words = words.of(other);
                let evidence = Vec::with_capacity(words.len() * step.gradients.len());
                (other, step, words.iter().map(value).sum::<f64>(), evidence)
            })
            .collect();
        for &(word, value) in all {
            let odds = scorer.log_odds(store, terms, word);
            let is_word = store.vocabulary.is_word(word);
            for (other, step, sum, evidence) in &mut heads {
                if is_word || other.is_none_or(|other| !other.only_words) {
                    let scale = scorer.config.online.nb_weight * value / *sum;
                    let classes = step.gradients.iter().map(|&(class, _)| class);
                    evidence.extend(classes.map(|class| (scale * odds(class)) as f32));
                }
            }
        }
        heads.into_iter().for_each(|(_, step, _, evidence)| step.set_evidence(evidence));
    }

    /// Learn from the score and the label all but the corrections. Return the step of the corrections
    /// without its unit, and the words of its evidence.
    fn step(
        &self,
        store: &mut Store,
        bag: &mut Bag,
        class: ClassId,
        weight: f64,
    ) -> Option<(Step, OrderedWords)> {
        if store.existing_classes() < 2 {
            return None;
        }
        let mut buffers = lock(&self.buffers);
        self.score(store, bag, &mut buffers);
        let OnlineConfig { warm_up, estimate_noise, calibrated, .. } = self.scorer.config.online;
        let known = store.classes.get(class as usize).is_some_and(|class| class.exists());
        let weights = store.statistics.get_mut::<OnlineWeights>()?;
        let mut balance = std::mem::take(&mut weights.balance);
        let trust = balance.learn(store, class);
        let weights = store.statistics.get_mut::<OnlineWeights>()?;
        weights.balance = balance;
        let is_warm = weights.exposure.any_is_warm(warm_up);
        let slopes = known && is_warm;
        let label = (class, weight);
        let (mut steps, slopes) = self.steps(store, bag, label, trust, slopes, &mut buffers);
        let mut calibrates = None;
        if known {
            if calibrated && is_warm {
                calibrates = self.calibrate(store, &buffers.scores, class, trust);
            }
            if let Some(weights) = store.statistics.get_mut::<OnlineWeights>() {
                weights.exposure.add(class, 1);
            }
        }
        // A stream sorted by class looks like wrong labels.
        let learns_noise = known && is_warm && estimate_noise;
        let best = margin(store, &buffers.scores).filter(|_| learns_noise);
        let words = self.ordered(store, bag, &steps);
        self.put_evidence(store, bag, &words, &mut steps, &mut buffers.terms);
        let contradiction =
            best.and_then(|best| learn_noise(store, bag, class, best, &mut buffers));
        let (heads, unit, calibrated) = (with_gradients(steps), 1.0, calibrates);
        if heads.is_empty() && slopes == Slopes::default() && contradiction.is_none() {
            return None;
        }
        let message = fingerprint(&store.vocabulary, bag);
        let step = Step { unit, message, class, weight, heads, slopes, calibrated, contradiction };
        Some((step, words))
    }

    /// Take the step of each head, with the words of its evidence.
    fn take_steps(&self, store: &mut Store, bag: &Bag, step: &Step, words: &OrderedWords) {
        let Some(weights) = store.statistics.get_mut::<OnlineWeights>() else { return };
        for (head, &slope) in weights.heads_mut().zip(&step.slopes) {
            head.step_share(step.unit, slope);
        }
        let (unit, share) = (step.unit, norm_share(bag));
        for ((settings, step), head) in self.heads().zip(&step.heads).zip(weights.heads_mut()) {
            if Self::needs_evidence(settings, step) {
                head.step(step, unit, words.of(settings.1), |word, at| step.share(word, at));
            } else {
                head.step(step, unit, &bag.words, |word, _| bag.words[word].1 * share);
            }
        }
    }
}

/// Put the probabilities of the mixed scores, and return the factor of the steps of shares.
fn share_trust(
    store: &Store,
    class: ClassId,
    trust: Trust,
    scores: &[f64],
    probabilities: &mut Vec<f64>,
) -> f64 {
    // The scores of two classes are the log odds of both.
    let scale = if store.existing_classes() == 2 { 0.5 } else { 1.0 };
    let exists = |id: usize| store.classes[id].exists();
    let known = scores.iter().enumerate().filter(|&(id, _)| exists(id));
    let most = known.map(|(_, &score)| scale * score).fold(f64::NEG_INFINITY, f64::max);
    probabilities.clear();
    probabilities.extend(
        scores.iter().enumerate().map(
            |(id, &score)| {
                if exists(id) { (scale * score - most).exp() } else { 0.0 }
            },
        ),
    );
    let all: f64 = probabilities.iter().sum();
    probabilities.iter_mut().for_each(|p| *p /= all);
    let label = probabilities[class as usize];
    let Some(weights) = store.statistic::<OnlineWeights>() else { return 0.0 };
    let of_noise = weights.noise.of(class).trust(scores[class as usize], true);
    scale * trust.of(label) * of_noise
}

/// 1 / ‖v‖ of the values of all words of a message.
pub(crate) fn norm_share(bag: &Bag) -> f64 {
    inverse_norm(bag.words.iter().map(|&(_, value)| value * value).sum())
}

impl LearningRule for OnlineCorrection {
    fn correct(&self, store: &mut Store, bag: &mut Bag, class: ClassId, weight: f64) {
        let found = self.step(store, bag, class, weight);
        store.tick();
        let Some((mut step, words)) = found else { return };
        step.unit = store.unit();
        self.take_steps(store, bag, &step, &words);
        if let Some(weights) = store.statistics.get_mut::<OnlineWeights>() {
            weights.log.push(step);
        }
    }

    fn undo(&self, store: &mut Store, bag: &Bag, class: ClassId, weight: f64) {
        let message = fingerprint(&store.vocabulary, bag);
        let Some(weights) = store.statistics.get_mut::<OnlineWeights>() else { return };
        let unit = store.clock.unit;
        let Some(step) = weights.log.take(message, class, weight, unit) else { return };
        weights.take(&step);
        let words = self.ordered(store, bag, &step.heads);
        let (unit, is_rounded) = (step.unit, store.settings.half_life.is_some());
        let Some(weights) = store.statistics.get_mut::<OnlineWeights>() else { return };
        for (head, &slope) in weights.heads_mut().zip(&step.slopes) {
            head.take_share(unit, slope, is_rounded);
        }
        let share = norm_share(bag);
        for ((settings, taken), head) in self.heads().zip(&step.heads).zip(weights.heads_mut()) {
            if Self::needs_evidence(settings, taken) {
                let share = |word, class| taken.share(word, class);
                head.take(taken, unit, is_rounded, words.of(settings.1), share);
            } else {
                let words = &bag.words;
                head.take(taken, unit, is_rounded, words, |word, _| words[word].1 * share);
            }
        }
    }
}

/// Learn whether the label contradicts the best class and its margin.
fn learn_noise(
    store: &mut Store,
    bag: &Bag,
    class: ClassId,
    (best, margin): (ClassId, f64),
    buffers: &mut Buffers,
) -> Option<Contradiction> {
    let words = &mut buffers.words;
    let weights = store.statistic::<OnlineWeights>()?;
    let needs_words = weights.noise.needs_words();
    let share = if needs_words { put_values(store, Some(weights), bag, words).1 } else { 0.0 };
    let weights = store.statistics.get_mut::<OnlineWeights>()?;
    weights.noise.learn((best, rounded(margin)), class, words, share)
}

/// The class with the highest score, and its margin: half the difference of two scores, or the log
/// odds of its share of the softmax.
fn margin(store: &Store, scores: &[f64]) -> Option<(ClassId, f64)> {
    let (class, odds) = top(store, scores)?;
    Some((class, if store.existing_classes() == 2 { odds / 2.0 } else { odds }))
}

impl Scorer {
    /// Whether the store learns from the errors of these scores.
    pub(crate) fn is_learned_from(&self, store: &Store) -> bool {
        let of_rule = |scorer: &Scorer| self.is_online() && self.config == scorer.config;
        store.settings.label_sets
            || !store.settings.columns && store.online_scorer().is_some_and(of_rule)
    }
}

impl Store {
    /// The scorer whose errors correct this store; None for a store of plain counts.
    pub(crate) fn online_scorer(&self) -> Option<&Scorer> {
        let rule = self.rule.as_deref().map(|rule| rule as &dyn Any)?;
        rule.downcast_ref().map(|rule: &OnlineCorrection| &*rule.scorer)
    }

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
        let (online, unit) = (scorer.config.online, self.unit());
        let OnlineConfig { rate_decay: decay, effect, undo_size, bias_rate, heads, .. } = online;
        self.rule = Some(Arc::new(OnlineCorrection { scorer, buffers: Mutex::default() }));
        if self.statistic::<OnlineWeights>().is_none() {
            self.statistics.put(OnlineWeights::default());
        }
        if let Some(weights) = self.statistics.get_mut::<OnlineWeights>() {
            weights.damping = Damping::new(online.damping);
            let rates = |rate, effect: Effect| Rates { rate, decay, least: effect.least() };
            let first = rates(online.learning_rate, effect);
            weights.first.set_rates(first, bias_rate, heads.start(), unit);
            weights.others.resize_with(heads.others().len(), Head::default);
            for (head, other) in weights.others.iter_mut().zip(heads.others()) {
                let rates = rates(other.learning_rate, Effect::Multiplicative);
                head.set_rates(rates, bias_rate, other.start, unit);
            }
            weights.noise.unit = unit;
            weights.log.size = undo_size;
        }
        Ok(())
    }
}
