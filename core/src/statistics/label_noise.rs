//! The shares of wrong labels, estimated along the stream from the labels of confident scores.
//!
//! A message is confident if the margin of its highest score is at least the mean margin of recent
//! messages with the same best class j. With n_j confident messages, o_j of them labelled otherwise,
//! i_k confident messages of other classes labelled k, and S = 20, the estimates are
//!
//!   g = Σ o / (Σ n + S),   out_k = (o_k + S g) / (n_k + S),
//!   in_k = (i_k + S g / (K − 1)) / (Σ n − n_k + S)
//!
//! out_k = P(label ≠ k | true class k) and in_k = P(label k | true class ≠ k) are at most 0.4. They
//! are 0 while the mean of out_k is at most c = 0.02 + 8 (K − 2) / N after N messages, and reach the
//! estimates at c + 0.02, so that ambiguous messages of a stream with correct labels change nothing.
//! The term of N is for many classes, whose first scores are often wrong and confident.
//!
//! Natarajan, Dhillon, Ravikumar, Tewari 2013: Learning with noisy labels.

use crate::counts::codec::{Reader, corrupt, put_float};
use crate::counts::rows::ClassId;
use crate::error::Result;

/// Decay of the counts with each message: about the last 500 messages count. A slower decay would
/// take long to notice an hour of random labels.
const DECAY: f64 = 0.998;
/// Decay of the mean margin of a class with each of its messages.
const MARGIN_DECAY: f64 = 0.99;
/// Decay of the log loss with each message.
const LOSS_DECAY: f64 = 0.995;
/// The limit of the log loss of one message.
const MOST_LOSS: f64 = 14.0;
/// S: the number of messages that the prior counts for.
const PRIOR: f64 = 20.0;
/// The mean share of wrong labels that is ignored, and the width of the transition.
const IGNORED: f64 = 0.02;
const TRANSITION: f64 = 0.02;
/// The factor of (K − 2) / N. With 20 or 77 classes, the estimate fell below this line in all clean streams.
const START: f64 = 8.0;
const HIGHEST: f64 = 0.4;
/// Larger margins are clamped, so that their sum is finite.
const MOST_MARGIN: f64 = 1e6;

/// σ(x) = 1 / (1 + exp −x), without overflow and symmetric in x.
pub fn sigmoid(x: f64) -> f64 {
    let e = (-x.abs()).exp();
    if x >= 0.0 { 1.0 / (1.0 + e) } else { e / (1.0 + e) }
}

/// The probabilities of wrong labels for one class against all others.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FlipRates {
    /// P(another label | the class).
    pub out: f64,
    /// P(label of the class | another class).
    pub into: f64,
}

impl FlipRates {
    fn informative(self) -> f64 {
        1.0 - self.out - self.into
    }

    /// P(label of the class), from P(class) = σ(`score`).
    pub fn labelled(self, score: f64) -> f64 {
        self.into + self.informative() * sigmoid(score)
    }

    /// The factor of the logistic gradient that makes it the gradient of ln P(label):
    /// m σ(s) / (in + m σ(s)), m = 1 − in − out. Labels that contradict a confident score have a
    /// low factor.
    pub fn trust(self, score: f64, outcome: bool) -> f64 {
        let (margin, flips) = if outcome { (score, self.into) } else { (-score, self.out) };
        let right = self.informative() * sigmoid(margin);
        if flips == 0.0 { 1.0 } else { right / (flips + right) }
    }

    /// The expected count of the class, from the count labelled as the class, and of all classes.
    #[inline]
    pub fn true_count(self, own: f64, total: f64) -> f64 {
        ((own - self.into * total) / self.informative()).max(0.0).min(total)
    }
}

/// The decayed counts of a class.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Flips {
    /// n: confident messages.
    confident: f64,
    /// o: those with another label.
    out: f64,
    /// i: confident messages of other classes with this label.
    into: f64,
    /// The sum of the margins of messages with this best class, and their number.
    margins: f64,
    messages: f64,
}

impl Flips {
    fn exist(&self) -> bool {
        self.messages > 0.0 || self.into > 0.0
    }

    fn values(&mut self) -> [&mut f64; 5] {
        [&mut self.confident, &mut self.out, &mut self.into, &mut self.margins, &mut self.messages]
    }
}

/// The estimates, and whether scores predict labels better than the shares of the classes.
#[derive(Clone, Default)]
pub struct LabelNoise {
    flips: Vec<Flips>,
    /// The decayed log loss of the calibrated scores, less the log loss of the shares of classes.
    excess_loss: f64,
    /// N: the number of learned messages.
    messages: f64,
    /// By class; empty if labels are not corrected.
    rates: Vec<FlipRates>,
}

impl LabelNoise {
    /// The rates by class; empty if none are corrected.
    #[inline]
    pub fn rates(&self) -> &[FlipRates] {
        &self.rates
    }

    #[inline]
    pub fn of(&self, class: ClassId) -> FlipRates {
        self.rates.get(class as usize).copied().unwrap_or_default()
    }

    /// Whether scores predict labels worse than the shares of the classes do.
    pub fn is_worse_than_shares(&self) -> bool {
        self.excess_loss > 0.0
    }

    /// Learn the log loss of a label by the scores, and by the shares of the classes.
    pub fn learn_loss(&mut self, by_scores: f64, by_shares: f64) {
        let excess = (by_scores - by_shares).clamp(-MOST_LOSS, MOST_LOSS);
        self.excess_loss = self.excess_loss * LOSS_DECAY + excess;
    }

    /// Learn the label of a message with this best class and margin.
    pub fn learn(&mut self, best: ClassId, margin: f64, label: ClassId) {
        if !margin.is_finite() {
            return;
        }
        let margin = margin.clamp(-MOST_MARGIN, MOST_MARGIN);
        self.messages += 1.0;
        let slots = best.max(label) as usize + 1;
        if self.flips.len() < slots {
            self.flips.resize(slots, Flips::default());
        }
        for flips in &mut self.flips {
            for value in [&mut flips.confident, &mut flips.out, &mut flips.into] {
                *value *= DECAY;
            }
        }
        let of_best = &mut self.flips[best as usize];
        let is_confident = margin * of_best.messages >= of_best.margins;
        of_best.margins = of_best.margins * MARGIN_DECAY + margin;
        of_best.messages = of_best.messages * MARGIN_DECAY + 1.0;
        if is_confident {
            of_best.confident += 1.0;
            if label != best {
                of_best.out += 1.0;
                self.flips[label as usize].into += 1.0;
            }
        }
        self.estimate();
    }

    fn estimate(&mut self) {
        self.rates.clear();
        let existing = || self.flips.iter().filter(|flips| flips.exist());
        let classes = existing().count() as f64;
        if classes < 2.0 {
            return;
        }
        let confident: f64 = existing().map(|flips| flips.confident).sum();
        let prior = PRIOR * existing().map(|flips| flips.out).sum::<f64>() / (confident + PRIOR);
        let out = |flips: &Flips| (flips.out + prior) / (flips.confident + PRIOR);
        let mean = existing().map(out).sum::<f64>() / classes;
        let ignored = IGNORED + START * (classes - 2.0) / self.messages;
        let share = ((mean - ignored) / TRANSITION).min(1.0);
        if share <= 0.0 {
            return;
        }
        let rates = self.flips.iter().map(|flips| {
            if !flips.exist() {
                return FlipRates::default();
            }
            let others = confident - flips.confident + PRIOR;
            let into = (flips.into + prior / (classes - 1.0)) / others;
            FlipRates { out: (share * out(flips)).min(HIGHEST), into: (share * into).min(HIGHEST) }
        });
        self.rates.extend(rates);
    }

    pub fn forget_class(&mut self, class: ClassId) {
        if let Some(flips) = self.flips.get_mut(class as usize) {
            *flips = Flips::default();
        }
        self.excess_loss = 0.0;
        if !self.flips.iter().any(Flips::exist) {
            self.messages = 0.0;
        }
        self.estimate();
    }

    /// Add the counts of another model, whose class ids are mapped by `class_of`.
    pub fn merge(&mut self, other: &Self, class_of: &[ClassId]) {
        for (&theirs, &class) in other.flips.iter().zip(class_of) {
            let (mut theirs, class) = (theirs, class as usize);
            if self.flips.len() <= class {
                self.flips.resize(class + 1, Flips::default());
            }
            let ours = self.flips[class].values();
            ours.into_iter().zip(theirs.values()).for_each(|(ours, theirs)| *ours += *theirs);
        }
        self.excess_loss += other.excess_loss;
        self.messages += other.messages;
        self.estimate();
    }

    pub fn put(&self, classes: &[ClassId], bytes: &mut Vec<u8>) {
        for &class in classes {
            let mut flips = self.flips.get(class as usize).copied().unwrap_or_default();
            flips.values().into_iter().for_each(|value| put_float(bytes, *value));
        }
        put_float(bytes, self.excess_loss);
        put_float(bytes, self.messages);
    }

    pub fn restore(reader: &mut Reader<'_>, classes: usize) -> Result<Self> {
        let mut restored = LabelNoise::default();
        for _ in 0..classes {
            let mut flips = Flips::default();
            for value in flips.values() {
                *value = reader.float()?;
            }
            // Only margins may be negative.
            if [flips.out, flips.into, flips.messages, flips.confident - flips.out]
                .iter()
                .any(|&value| value < 0.0)
            {
                return Err(corrupt("invalid counts of wrong labels"));
            }
            restored.flips.push(flips);
        }
        restored.excess_loss = reader.float()?;
        restored.messages = reader.float()?;
        if restored.messages < 0.0 {
            return Err(corrupt("invalid number of messages"));
        }
        restored.estimate();
        Ok(restored)
    }

    pub fn size(&self) -> usize {
        self.flips.capacity() * size_of::<Flips>() + self.rates.capacity() * size_of::<FlipRates>()
    }
}
