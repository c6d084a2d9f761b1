//! Naive Bayes corrected online: log odds of words, with what a step a message has added to them.
//!
//! With v_i the value of word i in a message (1 where presence is counted), Σ v_i of unknown words
//! too, f_i messages learned that have it, and ‖x‖ the Euclidean length of x,
//!
//!   s_k  = b_k + c Σ_i v_i l_ik / Σ_i x_i + Σ_i w_ik x_i / ‖x‖
//!   l_ik = ln P(w_i|k) / P(w_i|k̄),   x_i = v_i (1 + f_i)^−d

mod effect;
mod learning;
mod loss;
mod recall;

use crate::counts::bag::Bag;
use crate::counts::rows::{ClassId, Rows};
use crate::counts::store::Store;
use crate::counts::vocabulary::WordId;
use crate::error::{Error, Result};
use crate::scoring::decision;
use crate::scoring::parameters::Parameters;
use crate::scoring::terms::ClassTerms;
use crate::statistics::online_weights::OnlineWeights;

pub use effect::Effect;
pub use loss::Loss;

/// Words ahead of the one that is scored whose cells are fetched; first ones, twice as many.
const AHEAD: usize = 16;

/// How scores are corrected.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OnlineScores {
    /// c: what the mean log odds of the words are multiplied by.
    pub nb_weight: f64,
    /// r of words, and of classes.
    pub learning_rate: f64,
    pub bias_rate: f64,
    /// q of both.
    pub rate_decay: f64,
    /// What steps make smaller.
    pub loss: Loss,
    /// Whether something is added to log odds of words, or they are multiplied.
    pub effect: Effect,
    /// d: how much less frequent words are corrected.
    pub damping: f64,
    /// ε: no step is taken from a smaller error.
    pub margin: f64,
    /// Messages of a class, and of others, that came when both were known before it takes steps.
    /// Who learns all ham and then all spam would teach it else that whatever comes is spam: of 527
    /// mails it then called 360 spam, and 13 with this (SpamAssassin, 200 mails learned).
    pub warm_up: u64,
    /// Whether probabilities are calibrated, and f: what that remembers from message to message.
    pub calibrated: bool,
    pub forgetting_factor: f64,
}

impl Default for OnlineScores {
    fn default() -> Self {
        OnlineScores {
            nb_weight: 5.0,
            learning_rate: 8.0,
            bias_rate: 1.0,
            rate_decay: 64.0,
            loss: Loss::Logistic,
            effect: Effect::Additive,
            damping: 0.1,
            margin: 0.05,
            warm_up: 5,
            calibrated: true,
            forgetting_factor: 0.999,
        }
    }
}

/// Puts x_i of each known word of a message in the place of what is there; returns Σ x_i and 1 / ‖x‖,
/// unknown words included. Each word stands in the bag once, which may know the first x_i.
fn put_values(
    store: &Store,
    weights: Option<&OnlineWeights>,
    bag: &Bag,
    values: &mut Vec<(WordId, f64)>,
) -> (f64, f64) {
    values.clear();
    values.extend_from_slice(&bag.words);
    if let Some(weights) = weights {
        let first = bag.values.len().min(values.len());
        let (known, others) = values.split_at_mut(first);
        known.iter_mut().zip(&bag.values).for_each(|((_, value), &known)| *value = known);
        for (word, value) in others {
            *value = weights.value(store, *word, *value);
        }
    }
    let known = values.iter().map(|&(_, value)| value);
    let (sum, squares) = add_up(known.chain(bag.unseen.iter().map(|unseen| unseen.count)));
    (sum, share_of(squares))
}

/// Σ x_i and Σ x_i².
fn add_up(values: impl Iterator<Item = f64>) -> (f64, f64) {
    values.fold((0.0, 0.0), |(sum, squares), x| (sum + x, squares + x * x))
}

/// 1 / ‖x‖; 0 of an empty message, or of values whose squares are no numbers.
fn share_of(squares: f64) -> f64 {
    let share = 1.0 / squares.sqrt();
    if share.is_finite() { share } else { 0.0 }
}

/// The naive Bayes sums of messages.
pub trait Sums {
    /// What they are estimated by.
    fn parameters(&self) -> &Parameters;

    /// Adds those of a message, by class, to zeros; tells `visit` each word in its order, what it
    /// counts for, and its documents.
    fn add(
        &self,
        store: &Store,
        terms: &[ClassTerms],
        bag: &Bag,
        out: &mut Vec<f64>,
        visit: impl FnMut(WordId, f64, f64),
    );
}

/// Buffers of one message.
#[derive(Default)]
pub struct Corrected {
    /// x_i of known words.
    pub values: Vec<f64>,
    /// Σ w_ik x_i, by class.
    corrections: Vec<f64>,
}

/// Fetches the words of a message into the cache before their turn comes.
///
/// How many cells a word has is not foreseen, so that who visits words one after another waits for
/// the memory at each of them.
struct Ahead<'a> {
    rows: &'a Rows,
    weights: Option<&'a OnlineWeights>,
    words: &'a [(WordId, f64)],
}

impl Ahead<'_> {
    /// Fetches the first words.
    fn begin(&self) {
        self.words.iter().take(2 * AHEAD).for_each(|&(word, _)| self.fetch_first(word));
        self.words.iter().take(AHEAD).for_each(|&(word, _)| self.fetch_more(word));
    }

    /// Fetches those that come some words after this one.
    #[inline]
    fn fetch(&self, place: usize) {
        if let Some(&(word, _)) = self.words.get(place + 2 * AHEAD) {
            self.fetch_first(word);
        }
        if let Some(&(word, _)) = self.words.get(place + AHEAD) {
            self.fetch_more(word);
        }
    }

    #[inline]
    fn fetch_first(&self, word: WordId) {
        self.rows.fetch(word);
        self.weights.into_iter().for_each(|weights| weights.fetch(word));
    }

    #[inline]
    fn fetch_more(&self, word: WordId) {
        self.rows.fetch_more(word);
        self.weights.into_iter().for_each(|weights| weights.fetch_more(word));
    }
}

impl OnlineScores {
    /// Refuses numbers out of range.
    pub fn checked(self) -> Result<Self> {
        let from_zero = [
            ("nb_weight", self.nb_weight),
            ("learning_rate", self.learning_rate),
            ("bias_rate", self.bias_rate),
            ("rate_decay", self.rate_decay),
        ];
        for (name, value) in from_zero {
            if !(0.0..=1e6).contains(&value) {
                let message = format!("{name} must be a number from 0 on, to 1e6, not {value}");
                return Err(Error::Invalid(message));
            }
        }
        for (name, value) in [("margin", self.margin), ("damping", self.damping)] {
            if !(0.0..=1.0).contains(&value) {
                let message = format!("{name} must be a number from 0 to 1, not {value}");
                return Err(Error::Invalid(message));
            }
        }
        if !(self.forgetting_factor > 0.0 && self.forgetting_factor <= 1.0) {
            return Err(Error::Invalid(format!(
                "forgetting_factor must be a number above 0, to 1, not {}",
                self.forgetting_factor
            )));
        }
        Ok(self)
    }

    /// The scores of a message: its naive Bayes sums, corrected.
    pub fn scores(
        &self,
        sums: &impl Sums,
        store: &Store,
        terms: &[ClassTerms],
        bag: &mut Bag,
        buffers: &mut Corrected,
        out: &mut Vec<f64>,
    ) {
        out.clear();
        out.resize(terms.len(), 0.0);
        let Corrected { values, corrections } = buffers;
        values.clear();
        if store.existing_classes() < 2 {
            return;
        }
        corrections.clear();
        corrections.resize(out.len(), 0.0);
        let weights = store.statistic::<OnlineWeights>();
        let unit = store.unit();
        let ahead = Ahead { rows: store.rows(), weights, words: &bag.words };
        ahead.begin();
        let visit = |word, value, documents: f64| {
            ahead.fetch(values.len());
            let Some(weights) = weights else { return values.push(value) };
            let damped = weights.damping.damped(value, documents / unit);
            values.push(damped);
            match self.effect {
                Effect::Additive => weights.add_to(corrections, word, damped),
                Effect::Multiplicative => {
                    let odds = sums.parameters().log_odds(store, terms, word);
                    for (class, weight) in weights.of_word(word) {
                        corrections[class as usize] += weight * value * odds(class);
                    }
                }
            }
        };
        sums.add(store, terms, bag, out, visit);
        if store.settings().term_weighting.is_counts() {
            bag.sum_up_unseen();
        }
        let unseen = bag.unseen.iter().map(|unseen| unseen.count);
        let (sum, squares) = add_up(values.iter().copied().chain(unseen));
        let scale = match self.effect {
            Effect::Additive => share_of(squares),
            Effect::Multiplicative if sum > 0.0 => self.nb_weight / sum,
            Effect::Multiplicative => 0.0,
        };
        for (class, ((score, terms), correction)) in
            out.iter_mut().zip(terms).zip(corrections).enumerate()
        {
            let prior = terms.prior - terms.prior_complement;
            let bias = weights.map_or(0.0, |weights| weights.of_class(class as ClassId));
            let odds = if sum > 0.0 { self.nb_weight * ((*score - prior) / sum) } else { 0.0 };
            *score = odds + (bias + prior) + *correction * scale;
        }
    }

    /// Makes of the naive Bayes sums of a message, taken apart, its scores taken apart; returns what
    /// corrects them for each known word, by class.
    pub fn explain(
        &self,
        store: &Store,
        terms: &[ClassTerms],
        bag: &mut Bag,
        baseline: &mut Vec<f64>,
        words: &mut [(WordId, Vec<f64>)],
        unseen: &mut [Vec<f64>],
    ) -> Vec<(WordId, Vec<f64>)> {
        let parts = words.iter_mut().map(|(_, parts)| parts).chain(unseen);
        if store.existing_classes() < 2 {
            parts.chain([baseline]).for_each(|parts| parts.fill(0.0));
            return Vec::new();
        }
        if store.settings().term_weighting.is_counts() {
            bag.sum_up_unseen();
        }
        let mut values = Vec::new();
        let weights = store.statistic::<OnlineWeights>();
        let (sum, share) = put_values(store, weights, bag, &mut values);
        for part in parts.flatten() {
            *part = self.nb_weight * (*part / sum);
        }
        for (class, (base, terms)) in baseline.iter_mut().zip(terms).enumerate() {
            let bias = weights.map_or(0.0, |weights| weights.of_class(class as ClassId));
            *base = bias + (terms.prior - terms.prior_complement);
        }
        let corrections = match self.effect {
            Effect::Additive => corrections(weights, &values, share, terms.len()),
            Effect::Multiplicative => multiplied(weights, words),
        };
        for ((_, parts), (_, corrections)) in words.iter_mut().zip(&corrections) {
            parts.iter_mut().zip(corrections).for_each(|(part, correction)| *part += correction);
        }
        corrections
    }

    /// Makes of scores those whose soft maximum is the probability of each class.
    ///
    /// Of two classes they are half the log odds σ⁻¹(P), calibrated, for the one and against the
    /// other. Of more, the soft maximum of the scores, whose highest is calibrated: the others keep
    /// their shares of the rest, and none becomes higher.
    pub fn probable(&self, store: &Store, scores: &mut [f64]) {
        let weights = store.statistic::<OnlineWeights>().filter(|_| self.calibrated);
        let order = store.class_order();
        match order[..] {
            [] | [_] => {}
            [other, one] => {
                let score = (scores[one as usize] - scores[other as usize]) / 2.0;
                let odds = weights.map_or(score, |weights| weights.two(one).log_odds(score));
                scores[one as usize] = odds / 2.0;
                scores[other as usize] = -odds / 2.0;
            }
            _ => {
                let Some(weights) = weights else { return };
                let Some((top, odds)) = top(store, scores) else { return };
                let score = scores[top as usize];
                // ln P/(1 − P) from what it is without calibration to what it is with it.
                let raised = score + weights.top.log_odds(odds) - odds;
                let others = order.iter().filter(|&&class| class != top);
                let second = others.map(|&class| scores[class as usize]);
                let second = second.fold(f64::NEG_INFINITY, f64::max);
                scores[top as usize] =
                    if score > second { raised.max(second.next_up()) } else { raised.max(second) };
            }
        }
    }
}

/// What corrects the score for each known word of a message, by class.
fn corrections(
    weights: Option<&OnlineWeights>,
    values: &[(WordId, f64)],
    share: f64,
    classes: usize,
) -> Vec<(WordId, Vec<f64>)> {
    let of_word = |&(word, value): &(WordId, f64)| {
        let mut parts = vec![0.0; classes];
        for (class, weight) in weights.into_iter().flat_map(|weights| weights.of_word(word)) {
            parts[class as usize] = weight * value * share;
        }
        (word, parts)
    };
    values.iter().map(of_word).collect()
}

/// The same, of what naive Bayes says of each word.
fn multiplied(
    weights: Option<&OnlineWeights>,
    words: &[(WordId, Vec<f64>)],
) -> Vec<(WordId, Vec<f64>)> {
    let of_word = |(word, said): &(WordId, Vec<f64>)| {
        let mut parts = vec![0.0; said.len()];
        for (class, weight) in weights.into_iter().flat_map(|weights| weights.of_word(*word)) {
            parts[class as usize] = weight * said[class as usize];
        }
        (*word, parts)
    };
    words.iter().map(of_word).collect()
}

/// The class with the highest score, and the log odds of its share of the soft maximum.
pub(super) fn top(store: &Store, scores: &[f64]) -> Option<(ClassId, f64)> {
    let top = decision::best(store, scores)?;
    let others = || {
        let classes = scores.iter().zip(store.classes()).enumerate();
        classes.filter(|&(id, (_, class))| class.exists() && id != top as usize)
    };
    let second = others().map(|(_, (&score, _))| score).fold(f64::NEG_INFINITY, f64::max);
    let rest: f64 = others().map(|(_, (&score, _))| (score - second).exp()).sum();
    Some((top, scores[top as usize] - second - rest.ln()))
}
