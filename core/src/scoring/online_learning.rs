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
//!
//! Labels may be wrong. The scores of a message first update [`LabelNoise`]. If it estimates wrong
//! labels, the gradient is the gradient of ln P(label), which is nearly 0 for labels that contradict
//! confident scores; calibrations and the counts of words in scores are corrected as well. The more
//! labels are wrong, the less P(label) of the gradient uses additive corrections, which follow single
//! wrong labels.

use crate::counts::bag::Bag;
use crate::counts::rows::ClassId;
use crate::counts::store::{LearningRule, Store};
use crate::counts::vocabulary::WordId;
use crate::error::{Error, Result};
use crate::scoring::event_model::{ClassTerms, Query};
use crate::scoring::online_weights::{
    Effect, OnlineConfig, OnlineScratch, inverse_norm, put_values, top,
};
use crate::scoring::scorer::Scorer;
use crate::statistics::corrections::Rates;
use crate::statistics::damping::Damping;
use crate::statistics::label_noise::{LabelNoise, rounded};
use crate::statistics::online_weights::OnlineWeights;
use crate::threads::lock;
use crate::watch::Watch;
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
            if store.rows.is_empty(word) {
                bag.add_unseen(u64::from(word), value);
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

    /// Replace the evidence by z_ik of each word for each class that takes a step, as it was when
    /// the message was scored.
    fn put_evidence(&self, store: &Store, bag: &Bag, sum: f64, buffers: &mut Buffers) {
        let Buffers { terms, gradients, evidence, .. } = buffers;
        let new = bag.words.iter().filter(|&&(word, _)| store.rows.is_empty(word)).count();
        let (scorer, known) = (self.scorer.for_counts(store), store.vocabulary.len() - new);
        scorer.model.prepare_known(store, known, terms);
        scorer.prepare_online(store, known, terms);
        evidence.clear();
        for &(word, value) in &bag.words {
            let odds = scorer.log_odds(store, terms, word);
            let scale = scorer.config.online.nb_weight * value / sum;
            evidence.extend(gradients.iter().map(|&(class, _)| scale * odds(class)));
        }
    }

    /// Replace `trusted` by the scores that labels are compared with: without wrong labels, the
    /// scores. Multiplicative corrections are not separated from the evidence.
    fn put_trusted(&self, store: &Store, weights: &OnlineWeights, bag: &Bag, all: &mut Buffers) {
        let Buffers { words, scores, trusted, scratch, .. } = all;
        trusted.clone_from(scores);
        if weights.noise.rates.is_empty() || self.scorer.config.online.effect != Effect::Additive {
            return;
        }
        let (_, share) = put_values(store, Some(weights), bag, words);
        let OnlineScratch { values, corrections: sums } = scratch;
        values.clear();
        values.extend(words.iter().map(|&(_, value)| value));
        sums.clear();
        sums.resize(scores.len(), 0.0);
        weights.words.add_to(sums, words, values);
        for (id, (score, sum)) in (0..).zip(trusted.iter_mut().zip(sums)) {
            let uncorrected = *score - weights.of_class(id) - *sum * share;
            *score = weights.noise.of(id).trusted(*score, uncorrected);
        }
    }

    /// Learn the calibration from a score and the label of its message.
    fn calibrate(&self, store: &mut Store, scores: &[f64], class: ClassId) {
        let OnlineConfig { forgetting_factor: f, estimate_noise, .. } = self.scorer.config.online;
        let shares = store.classes.iter().map(|class| class.documents);
        let share = store.classes[class as usize].documents / shares.sum::<f64>();
        let is_binary = store.existing_classes() == 2;
        let Some((top, margin)) = margin(store, scores) else { return };
        let Some(weights) = store.statistics.get_mut::<OnlineWeights>() else { return };
        let margin = rounded(margin);
        if is_binary {
            let score = if top == class { margin } else { -margin };
            let flips = weights.noise.of(class);
            if estimate_noise {
                let odds = weights.two(class).log_odds(score);
                weights.noise.learn_loss(-flips.labelled(odds).ln(), -share.ln());
            }
            weights.learn_two(class, score, true, f, flips);
        } else {
            weights.top.learn(margin, top == class, f, weights.noise.of(top));
        }
    }

    /// Take a step for each class against the error of its score.
    fn step(&self, store: &mut Store, bag: &Bag, buffers: &mut Buffers) {
        if buffers.gradients.is_empty() {
            return;
        }
        let OnlineConfig { effect, rate_decay: decay, .. } = self.scorer.config.online;
        // No message has the new words yet, so their values are still those of unknown words.
        let (sum, share) = put_values(store, store.statistic(), bag, &mut buffers.words);
        if effect == Effect::Multiplicative {
            self.put_evidence(store, bag, sum, buffers);
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

impl LearningRule for OnlineCorrection {
    fn correct(&self, store: &mut Store, bag: &mut Bag, class: ClassId, weight: f64) {
        if store.existing_classes() < 2 {
            return;
        }
        let mut buffers = lock(&self.buffers);
        self.score(store, bag, &mut buffers);
        let OnlineConfig { warm_up, loss, margin, estimate_noise, .. } = self.scorer.config.online;
        let known = store.classes.get(class as usize).is_some_and(|class| class.exists());
        let Some(weights) = store.statistic::<OnlineWeights>() else { return };
        self.put_trusted(store, weights, bag, &mut buffers);
        let Buffers { scores, trusted, gradients, .. } = &mut *buffers;
        gradients.clear();
        for (id, (&score, &trusted)) in (0..).zip(scores.iter().zip(&*trusted)) {
            if store.classes[id as usize].exists() && weights.exposure.is_warm(id, warm_up) {
                let trust = weights.noise.of(id).trust(trusted, id == class);
                let g = rounded(loss.gradient(score, id == class) * trust);
                if g.abs() > margin {
                    gradients.push((id, g * weight));
                }
            }
        }
        let is_warm = weights.exposure.any_is_warm(warm_up);
        if known {
            if self.scorer.config.online.calibrated && is_warm {
                self.calibrate(store, scores, class);
            }
            if let Some(weights) = store.statistics.get_mut::<OnlineWeights>() {
                weights.exposure.add(class, 1);
            }
        }
        // A stream sorted by class looks like wrong labels.
        let learns_noise = known && is_warm && estimate_noise;
        let best = self::margin(store, scores).filter(|_| learns_noise);
        self.step(store, bag, &mut buffers);
        if let Some((best, margin)) = best {
            let weights = store.statistic::<OnlineWeights>();
            let words = &mut buffers.words;
            let needs_words = weights.is_some_and(|weights| weights.noise.needs_words());
            let share = if needs_words { put_values(store, weights, bag, words).1 } else { 0.0 };
            if let Some(weights) = store.statistics.get_mut::<OnlineWeights>() {
                weights.noise.learn((best, rounded(margin)), class, words, share);
            }
        }
    }
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
        let ahead = |words: &[(WordId, f64)]| {
            let rows = &store.rows;
            for &(word, _) in words {
                rows.fetch(word);
                weights.into_iter().for_each(|weights| weights.words.fetch(word));
            }
            // Two classes read all cells of these words next.
            if terms.len() > 2 {
                for &(word, _) in words {
                    rows.fetch_more(word);
                    weights.into_iter().for_each(|weights| weights.words.fetch_more(word));
                }
            }
        };
        let (mut sum, mut squares) = (0.0, 0.0);
        let visit = |words: &[(WordId, f64)], documents: &[f64]| {
            let start = values.len();
            values.extend(words.iter().zip(documents).map(|(&(_, value), documents)| {
                weights.map_or(value, |w| w.damping.damped(value, documents / unit))
            }));
            let values = &values[start..];
            (sum, squares) = values.iter().fold((sum, squares), |s, x| (s.0 + x, s.1 + x * x));
            let Some(weights) = weights else { return };
            match effect {
                Effect::Additive => weights.words.add_to(corrections, words, values),
                Effect::Multiplicative => words.iter().for_each(|&word| {
                    self.add_multiples(store, terms, weights, word, corrections);
                }),
            }
        };
        let query = Query { store, terms, bag, watch: &Watch::default() };
        self.add_odds(query, out, ahead, visit);
        if store.settings.term_weighting.is_counts() {
            bag.sum_up_unseen();
        }
        for unseen in &bag.unseen {
            sum += unseen.count;
            squares += unseen.count * unseen.count;
        }
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

impl Scorer {
    /// Add Σ r_ik v_i l_ik of a word, by class. Not inlined, so that additive corrections are.
    #[inline(never)]
    fn add_multiples(
        &self,
        store: &Store,
        terms: &[ClassTerms],
        weights: &OnlineWeights,
        (word, value): (WordId, f64),
        sums: &mut [f64],
    ) {
        let odds = self.log_odds(store, terms, word);
        for (class, weight) in weights.of_word(word) {
            sums[class as usize] += weight * value * odds(class);
        }
    }

    /// The estimated shares of wrong labels, if scores are corrected for them.
    fn noise<'a>(&self, store: &'a Store) -> Option<&'a LabelNoise> {
        let weights =
            store.statistic::<OnlineWeights>().filter(|_| self.config.online.estimate_noise)?;
        Some(&weights.noise).filter(|noise| !noise.rates.is_empty())
    }

    /// Correct the terms of the classes if `known` words were counted.
    pub(crate) fn prepare_online(&self, store: &Store, known: usize, terms: &mut [ClassTerms]) {
        if let Some(noise) = self.noise(store) {
            self.model.correct_terms(store, noise, known, terms);
        }
    }

    /// Add Σ v_i l_ik of a bag to `out`, as [`EventModel::add_both`].
    #[inline]
    pub(crate) fn add_odds(
        &self,
        query: Query<'_>,
        out: &mut [f64],
        ahead: impl Fn(&[(WordId, f64)]),
        visit: impl FnMut(&[(WordId, f64)], &[f64]),
    ) {
        self.model.add_both(query, &query.store.rows, out, self.noise(query.store), ahead, visit);
    }

    /// l_ik of a word, by class; 0 for an unseen word if those are skipped.
    pub(crate) fn log_odds<'a>(
        &'a self,
        store: &'a Store,
        terms: &'a [ClassTerms],
        word: WordId,
    ) -> impl Fn(ClassId) -> f64 + 'a {
        let total: f64 = store.rows.cells(word).map(|cell| cell.tokens).sum();
        let (model, noise) = (&self.model, self.noise(store));
        move |class| {
            if total == 0.0 && !model.is_smooth() {
                return 0.0;
            }
            let own = store.rows.cell(word, class).map_or(0.0, |cell| cell.tokens);
            let own = noise.map_or(own, |noise| noise.of(class).true_count(own, total));
            let terms = &terms[class as usize];
            (model.log_plus(own) - terms.tokens)
                - (model.log_plus(total - own) - terms.tokens_complement)
        }
    }
}
