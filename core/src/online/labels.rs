//! Several labels for each message, one against all: `MultiLabelNB`.
//!
//! A class for each label has the messages with the label, and one class, [`EVERY`], has every message
//! once. So the complement of a label k is the difference of both, whatever other labels its messages
//! have, and a label that comes late counts all earlier messages as negative. With the counts n_ik and
//! n_i of messages with word i, N = Σ n_i over words, n messages, and x_i, ‖x‖ and the correction of
//! [`score`](crate::online::score):
//!
//!   s_k  = b_k + ln (n_k + 1) / (n − n_k + 1) + c Σ_i l_ik / Σ_i x_i + Σ_i w_ik x_i / ‖x‖
//!   l_ik = ln (n_ik + α) / (N_k + α m) − ln (n_i − n_ik + α) / (N − N_k + α m)
//!
//! The sums leave out words in more than a share `max_df` of the messages: they say little, and have
//! cells of all labels.
//!
//! Then each label takes the step of [`step`](crate::online::step) against its own error, and learns its
//! own calibration. Labels do not compete, so there is no softmax, and a label that is not given is
//! taken for negative.

use crate::counts::store::check_weight;
use crate::counts::{Bag, ClassId, Store, WordId};
use crate::error::{Error, Result};
use crate::online::config::{OnlineConfig, OnlineScratch};
use crate::online::corrections::Rates;
use crate::online::damping::Damping;
use crate::online::label_state::{EVERY, LabelStep, LabelWeights};
use crate::online::noise::rounded;
use crate::online::score::inverse_norm;
use crate::online::step::norm_share;
use crate::online::undo::{HeadStep, fingerprint};
use crate::scoring::event_model::ClassTerms;
use crate::scoring::scorer::{Scorer, Scratch};

/// Words with a number for each class.
type Parts = Vec<(WordId, Vec<f64>)>;

/// A word in at most this many messages has a part in scores, whatever its share.
const ALWAYS: f64 = 20.0;

/// Words whose cells are read together.
const TOGETHER: usize = 32;

impl Scorer {
    /// Compute the terms of each label if `known` words were counted.
    pub(crate) fn prepare_labels(&self, store: &Store, known: usize, terms: &mut Vec<ClassTerms>) {
        let model = &self.model;
        let smoothing = model.alpha * model.words_of(known);
        let (all, tokens) = store.classes.first().map_or((0.0, 0.0), |c| (c.documents, c.tokens));
        terms.clear();
        terms.extend(store.classes.iter().map(|class| ClassTerms {
            prior: (class.documents + model.unit).ln(),
            prior_complement: ((all - class.documents).max(0.0) + model.unit).ln(),
            tokens: (class.tokens + smoothing).ln(),
            tokens_complement: ((tokens - class.tokens).max(0.0) + smoothing).ln(),
            ..ClassTerms::default()
        }));
    }

    /// Compute the score of each label; the score of [`EVERY`] is 0.
    pub(crate) fn label_scores(
        &self,
        store: &Store,
        terms: &[ClassTerms],
        bag: &Bag,
        scratch: &mut OnlineScratch,
        out: &mut Vec<f64>,
    ) {
        let OnlineScratch { values, corrections, bag: seen, .. } = scratch;
        values.clear();
        seen.clear(0);
        out.clear();
        out.resize(terms.len(), 0.0);
        corrections.clear();
        corrections.resize(terms.len(), 0.0);
        if terms.is_empty() {
            return;
        }
        let weights = store.statistic::<LabelWeights>();
        let (model, unit) = (&self.model, store.unit());
        let (mut known, mut shared, mut sum, mut squares) = (0.0, 0.0, 0.0, 0.0);
        let most = self.most_documents(store);
        for words in bag.words.chunks(TOGETHER) {
            for &(word, _) in words {
                store.rows.fetch(word);
                weights.into_iter().for_each(|weights| weights.head.words.fetch(word));
            }
            for &(word, _) in words {
                store.rows.fetch_more(word);
                weights.into_iter().for_each(|weights| weights.head.words.fetch_more(word));
            }
            for &(word, value) in words {
                let of_every = store.rows.cell(word, EVERY);
                let (total, documents) = of_every.map_or((0.0, 0.0), |c| (c.tokens, c.documents));
                if documents > most {
                    continue;
                }
                seen.words.push((word, value));
                let x = weights.map_or(value, |w| w.damping.damped(value, documents / unit));
                (sum, squares) = (sum + x, squares + x * x);
                values.push(x);
                known += value;
                let log_total = model.log_plus(total);
                shared += value * log_total;
                for cell in store.rows.cells(word) {
                    out[cell.class as usize] += value * self.odds_of_cell(cell.tokens, total);
                }
            }
        }
        if let Some(weights) = weights {
            weights.head.words.add_to(corrections, &seen.words, values);
        }
        for unseen in &bag.unseen {
            (sum, squares) = (sum + unseen.count, squares + unseen.count * unseen.count);
        }
        let shared = known * model.log_alpha - shared;
        let scale = if sum > 0.0 { self.config.online.nb_weight / sum } else { 0.0 };
        let share = inverse_norm(squares);
        for (class, (score, terms)) in out.iter_mut().zip(terms).enumerate() {
            let odds = *score + known * (terms.tokens_complement - terms.tokens) + shared;
            *score =
                self.label_start(weights, class, terms) + scale * odds + share * corrections[class];
        }
        if let Some(of_every) = out.first_mut() {
            *of_every = 0.0;
        }
    }

    /// The maximum number of messages, in the unit of the counts, that have a word of a score.
    fn most_documents(&self, store: &Store) -> f64 {
        let all = store.classes.first().map_or(0.0, |every| every.documents);
        (self.config.online.max_df * all).max(ALWAYS * store.unit())
    }

    /// The log odds of a word, compared with a label without the word.
    fn odds_of_cell(&self, own: f64, total: f64) -> f64 {
        let model = &self.model;
        // Rounded counts of a label may exceed the total slightly.
        model.log_plus(own) - model.log_plus((total - own).max(0.0))
            + (model.log_plus(total) - model.log_alpha)
    }

    /// The score of a message without words.
    fn label_start(&self, weights: Option<&LabelWeights>, class: usize, terms: &ClassTerms) -> f64 {
        let bias = weights.map_or(0.0, |weights| weights.head.of_class(class as ClassId));
        bias + (terms.prior - terms.prior_complement)
    }

    /// Replace the scores of labels by calibrated log odds.
    pub(crate) fn probable_labels(&self, store: &Store, scores: &mut [f64]) {
        if !self.config.online.calibrated {
            return;
        }
        if let Some(weights) = store.statistic::<LabelWeights>() {
            for (label, score) in (0..).zip(scores.iter_mut()).skip(1) {
                *score = weights.log_odds(label, *score);
            }
        }
    }

    /// Return the start of the score of each label, the part of each word of the bag, and the corrections
    /// in these parts.
    pub(crate) fn explain_labels(
        &self,
        store: &Store,
        terms: &[ClassTerms],
        bag: &Bag,
    ) -> (Vec<f64>, Parts, Parts) {
        let classes = terms.len();
        let weights = store.statistic::<LabelWeights>();
        let (model, unit) = (&self.model, store.unit());
        let total_of =
            |word| store.rows.cell(word, EVERY).map_or((0.0, 0.0), |c| (c.tokens, c.documents));
        let most = self.most_documents(store);
        let value = |&(word, value): &(WordId, f64)| match total_of(word).1 {
            documents if documents > most => 0.0,
            documents => weights.map_or(value, |w| w.damping.damped(value, documents / unit)),
        };
        let values: Vec<f64> = bag.words.iter().map(value).collect();
        let all = || values.iter().copied().chain(bag.unseen.iter().map(|unseen| unseen.count));
        let (sum, squares) = (all().sum::<f64>(), all().map(|x| x * x).sum());
        let scale = if sum > 0.0 { self.config.online.nb_weight / sum } else { 0.0 };
        let share = inverse_norm(squares);
        let (mut words, mut corrections) = (Vec::new(), Vec::new());
        for (&(word, value), &x) in bag.words.iter().zip(&values) {
            // A frequent word has no part.
            let value = if x == 0.0 { 0.0 } else { value };
            let total = total_of(word).0;
            let absent = model.log_alpha - model.log_plus(total);
            let mut parts: Vec<f64> = terms
                .iter()
                .map(|terms| value * (terms.tokens_complement - terms.tokens + absent))
                .collect();
            for cell in store.rows.cells(word) {
                parts[cell.class as usize] += value * self.odds_of_cell(cell.tokens, total);
            }
            parts.iter_mut().for_each(|part| *part *= scale);
            let mut learned = vec![0.0; classes];
            for (class, weight) in weights.into_iter().flat_map(|w| w.head.of_word(word)) {
                learned[class as usize] = share * weight * x;
            }
            parts.iter_mut().zip(&learned).for_each(|(part, learned)| *part += learned);
            words.push((word, parts));
            corrections.push((word, learned));
        }
        let start = terms.iter().enumerate();
        let start = start.map(|(class, terms)| self.label_start(weights, class, terms));
        (start.collect(), words, corrections)
    }
}

impl Store {
    /// Correct the scores of the labels by each message that is learned from now on.
    pub fn correct_labels(&mut self, online: &OnlineConfig) -> Result<()> {
        if !self.settings.label_sets {
            return Err(Error::Invalid(
                "the store has no sets of labels: make it with label_sets=True".into(),
            ));
        }
        let unit = self.unit();
        if self.statistic::<LabelWeights>().is_none() {
            self.statistics.put(LabelWeights::default());
        }
        if let Some(weights) = self.statistics.get_mut::<LabelWeights>() {
            let words = Rates {
                rate: online.learning_rate,
                decay: online.rate_decay,
                least: f64::NEG_INFINITY,
            };
            weights.head.set_rates(words, online.bias_rate, 1.0, unit);
            weights.damping = Damping::new(online.damping);
            weights.log_size = online.undo_size;
        }
        Ok(())
    }

    /// Learn the interned message of the scratch with its labels, which are in ascending order: correct
    /// the scores, then count it.
    pub fn learn_labels(
        &mut self,
        scorer: &Scorer,
        scratch: &mut Scratch,
        labels: &[ClassId],
        weight: f64,
    ) -> Result<()> {
        check_weight(weight)?;
        let step = self.label_step(scorer, scratch, labels, weight);
        self.tick();
        let unit = self.unit();
        if let Some(mut step) = step
            && let Some(weights) = self.statistics.get_mut::<LabelWeights>()
        {
            step.unit = unit;
            let (bag, share) = (&scratch.message.bag, norm_share(&scratch.message.bag));
            weights.head.step(&step.step, unit, &bag.words, |word, _| bag.words[word].1 * share);
            weights.push(step);
        }
        for &class in [EVERY].iter().chain(labels) {
            self.count(&scratch.message.bag, class, weight * unit);
        }
        self.version += 1;
        self.forget_faded();
        self.prune_to_bound();
        Ok(())
    }

    /// Learn the calibrations of a message, and return the step of the corrections without its unit.
    fn label_step(
        &mut self,
        scorer: &Scorer,
        scratch: &mut Scratch,
        labels: &[ClassId],
        weight: f64,
    ) -> Option<LabelStep> {
        let scores = self.score_interned(scorer, scratch);
        let OnlineConfig { warm_up, loss, margin, calibrated, forgetting_factor, .. } =
            scorer.config.online;
        let bag = &scratch.message.bag;
        let (unit, warm_up) = (self.unit(), warm_up as f64);
        let every = self.classes.first()?.documents;
        let weights = self.statistics.get_mut::<LabelWeights>()?;
        let mut gradients = Vec::new();
        for (label, (class, &score)) in (0..).zip(self.classes.iter().zip(&scores)).skip(1) {
            if !class.exists() {
                continue;
            }
            let outcome = labels.binary_search(&label).is_ok();
            let score = rounded(score);
            if calibrated {
                weights.calibrate(label, score, outcome, weight, forgetting_factor);
            }
            let least = class.documents.min(every - class.documents);
            let gradient = rounded(loss.gradient(score, outcome));
            if gradient.abs() > margin && least / unit >= warm_up {
                gradients.push((label, gradient * weight));
            }
        }
        if gradients.is_empty() {
            return None;
        }
        let message = fingerprint(&self.vocabulary, bag);
        let step = HeadStep::new(gradients);
        Some(LabelStep { unit: 1.0, message, labels: labels.to_vec(), weight, step })
    }

    /// The scores of the interned message of the scratch, as if its new words were unknown.
    fn score_interned(&self, scorer: &Scorer, scratch: &mut Scratch) -> Vec<f64> {
        let Scratch { message, terms, scores, families } = scratch;
        let bag = &mut message.bag;
        if !bag.scores.is_empty() {
            return std::mem::take(&mut bag.scores);
        }
        let words = std::mem::take(&mut bag.words);
        for &(word, value) in &words {
            if self.rows.is_empty(word) {
                bag.add_unseen(u64::from(word), value, false);
            } else {
                bag.words.push((word, value));
            }
        }
        let scorer = scorer.for_counts(self);
        scorer.prepare_labels(self, self.vocabulary.len() - bag.unseen.len(), terms);
        scorer.label_scores(self, terms, bag, &mut families.online, scores);
        bag.unseen.clear();
        bag.words = words;
        std::mem::take(scores)
    }

    /// Unlearn the message of a bag with its labels, which are in ascending order: the inverse of
    /// [`learn_labels`](Self::learn_labels), except for the calibrations. An error changes nothing.
    pub fn unlearn_labels(&mut self, bag: &mut Bag, labels: &[ClassId], weight: f64) -> Result<()> {
        check_weight(weight)?;
        if weight == 0.0 {
            return Ok(());
        }
        let classes: Vec<_> = labels.iter().copied().chain([EVERY]).collect();
        let left = self.left_of_classes(bag, &classes, weight * self.unit())?;
        let message = fingerprint(&self.vocabulary, bag);
        let (unit, is_rounded) = (self.unit(), self.settings.half_life.is_some());
        if let Some(weights) = self.statistics.get_mut::<LabelWeights>()
            && let Some(taken) = weights.take(message, labels, weight, unit)
        {
            let (words, norm) = (&bag.words, norm_share(bag));
            let share = |word: usize, _| words[word].1 * norm;
            weights.head.take(&taken.step, taken.unit, is_rounded, words, share);
        }
        for (&class, (amounts, documents)) in classes.iter().zip(&left) {
            self.take_out(class, &bag.words, amounts, *documents);
        }
        Ok(())
    }
}
