//! The state of online weights next to the counts.
//!
//! Each word has a correction w for each class that took a step on it, and each class a bias b. Both
//! are functions of the sum Z of their gradients g and the sum G of the squares:
//!
//!   Z += g,   G += g²,   w = r Z / √(1 + q G)
//!
//! This is AdaGrad in its form of dual averaging. With a half-life, Z and G decay as counts do
//! ([`Correction`](crate::online::corrections::Correction)), and so do calibrations and the estimate of
//! wrong labels. A step is taken back by subtracting its gradients.
//! Gradients depend on the order of the stream, so the sums are saved with the counts.
//!
//! Duchi, Hazan, Singer 2011: Adaptive subgradient methods for online learning, Section 1.1.

use crate::counts::array::Piecewise;
use crate::counts::codec::{Reader, corrupt, put};
use crate::counts::statistic::{Passed, Statistics};
use crate::counts::{ClassId, SavedOrder, Statistic, Store, WordId};
use crate::error::Result;
use crate::online::balance::Balance;
use crate::online::calibration::Calibration;
use crate::online::damping::Damping;
use crate::online::exposure::ClassExposure;
use crate::online::heads::Head;
use crate::online::noise::{FlipRates, LabelNoise};
use crate::online::undo::{Calibrated, MOST_OTHERS, Step, StepLog};

/// The corrections in use, and the calibrations of the corrected scores.
#[derive(Clone, Default)]
pub struct OnlineWeights {
    pub first: Head,
    /// The heads besides the first.
    pub others: Vec<Head>,
    /// Messages of each class since a second class was known.
    pub exposure: ClassExposure,
    /// With two classes, the calibration of the scores of one of them.
    two: Option<(ClassId, Calibration)>,
    /// With more classes, the calibration of the class with the highest score.
    pub top: Calibration,
    /// The estimated shares of wrong labels.
    pub noise: LabelNoise,
    /// The damping of the values of frequent words.
    pub damping: Damping,
    /// The recent labels.
    pub balance: Balance,
    /// The last steps.
    pub log: StepLog,
}

impl OnlineWeights {
    /// All heads.
    pub fn heads(&self) -> impl Iterator<Item = &Head> {
        std::iter::once(&self.first).chain(&self.others)
    }

    pub(crate) fn heads_mut(&mut self) -> impl Iterator<Item = &mut Head> {
        std::iter::once(&mut self.first).chain(&mut self.others)
    }

    /// x_i of a word with this value.
    #[inline]
    pub fn value(&self, store: &Store, word: WordId, value: f64) -> f64 {
        if self.damping.is_none() {
            return value;
        }
        let documents: f64 = store.rows.cells(word).map(|cell| cell.documents).sum();
        self.damping.damped(value, documents / store.unit())
    }

    /// Take the step of a message back, except for corrections and biases.
    pub fn take(&mut self, step: &Step) {
        match step.calibrated {
            Some(Calibrated { class: Some(class), step }) if self.two.is_some() => {
                let mut calibration = self.two(class);
                calibration.take(step);
                self.two = Some((class, calibration));
            }
            Some(Calibrated { class: None, step }) => self.top.take(step),
            _ => {}
        }
        if let Some(contradiction) = step.contradiction {
            self.noise.take(contradiction, step.class, step.unit / self.noise.unit);
        }
    }

    /// The calibration of the scores of one of two classes.
    pub fn two(&self, one: ClassId) -> Calibration {
        match self.two {
            Some((named, calibration)) if named == one => calibration,
            Some((_, calibration)) => calibration.mirrored(),
            None => Calibration::default(),
        }
    }

    /// Learn the outcome of a score of one of two classes.
    pub fn learn_two(
        &mut self,
        one: ClassId,
        score: f64,
        weight: f64,
        f: f64,
        flips: FlipRates,
    ) -> Calibrated {
        let mut calibration = self.two(one);
        let step = calibration.learn(score, true, weight, f, flips);
        self.two = Some((one, calibration));
        Calibrated { class: Some(one), step }
    }

    /// Write the bytes, with words and classes in this order. `decays` is whether there is a half-life.
    pub fn put(&self, order: &SavedOrder, decays: bool, bytes: &mut Vec<u8>) {
        let mut rank = vec![0_u64; order.classes.iter().max().map_or(0, |&id| id as usize + 1)];
        for (place, &class) in order.classes.iter().enumerate() {
            rank[class as usize] = place as u64;
        }
        self.first.put(order, &rank, bytes);
        // Write the calibration of the last class, so that equal states have equal bytes. With more
        // than two classes, this calibration is never used again.
        match order.classes[..] {
            [_, last] if self.two.is_some() => {
                put(bytes, 1);
                self.two(last).put(bytes);
            }
            _ => put(bytes, 0),
        }
        self.top.put(bytes);
        self.exposure.put(&order.classes, bytes);
        self.noise.put(order, bytes);
        self.balance.put(&order.classes, bytes);
        self.log.put(&rank, decays, bytes);
        // Nothing is written for one head with additive corrections.
        if self.others.is_empty() && !self.log.has_evidence() {
            return;
        }
        put(bytes, self.others.len() as u64);
        self.others.iter().for_each(|head| head.put(order, &rank, bytes));
        self.heads().for_each(|head| head.put_share(bytes));
        self.log.put_heads(&rank, self.others.len(), bytes);
    }

    /// Read the bytes of [`put`](Self::put), for words and classes that are numbered in that order.
    pub fn restore(
        reader: &mut Reader<'_>,
        words: usize,
        classes: usize,
        decays: bool,
    ) -> Result<Self> {
        let first = Head::restore(reader, words, classes)?;
        let mut restored = OnlineWeights { first, ..OnlineWeights::default() };
        match (reader.number()?, classes) {
            (0, _) => {}
            (1, 2) => restored.two = Some((1, Calibration::restore(reader)?)),
            _ => return Err(corrupt("invalid number of calibrations")),
        }
        restored.top = Calibration::restore(reader)?;
        restored.exposure = ClassExposure::restore(reader, classes)?;
        restored.noise = LabelNoise::restore(reader, words, classes)?;
        restored.balance = Balance::restore(reader, classes)?;
        restored.log = StepLog::restore(reader, classes, decays)?;
        if !reader.is_empty() {
            for _ in 0..reader.id(MOST_OTHERS + 1, "too many heads")? {
                restored.others.push(Head::restore(reader, words, classes)?);
            }
            restored.heads_mut().try_for_each(|head| head.restore_share(reader))?;
            restored.log.restore_heads(reader, classes)?;
        }
        Ok(restored)
    }
}

impl Statistic for OnlineWeights {
    fn forget_word(&mut self, word: WordId) {
        self.heads_mut().for_each(|head| head.words.clear(word));
        self.noise.forget_word(word);
    }

    fn forget_class(&mut self, class: ClassId) {
        self.heads_mut().for_each(|head| head.forget_class(class));
        self.exposure.forget(class);
        self.noise.forget_class(class);
        self.balance.forget_class(class);
        self.log.forget_class(class);
        // The calibrations belonged to scores against that class.
        (self.two, self.top) = (None, Calibration::default());
    }

    fn decay(&mut self, passed: Passed) {
        self.heads_mut().for_each(|head| head.decay(passed));
        if let Some((_, calibration)) = &mut self.two {
            calibration.decay(passed.left);
        }
        self.top.decay(passed.left);
        self.noise.decay(passed);
        if passed.divided < 1.0 {
            self.log.divide(passed.divided);
        }
    }

    fn merge(&mut self, others: &Statistics, word_of: &[WordId], class_of: &[ClassId], units: f64) {
        let Some(other) = others.get::<OnlineWeights>() else { return };
        self.exposure.merge(&other.exposure, class_of);
        self.noise.merge(&other.noise, word_of, class_of, units);
        self.balance.merge(&other.balance, class_of);
        // A mean of corrections contains only a part of each step.
        if other.heads().any(Head::has_steps) {
            self.log.clear();
        }
        for (ours, theirs) in self.heads_mut().zip(other.heads()) {
            ours.merge(theirs, word_of, class_of, units);
        }
        if let Some((named, theirs)) = other.two {
            let named = class_of[named as usize];
            let mut calibration = self.two(named);
            calibration.merge(&theirs);
            self.two = Some((named, calibration));
        }
        self.top.merge(&other.top);
    }

    fn arrays(&mut self) -> Vec<&mut dyn Piecewise> {
        let heads = std::iter::once(&mut self.first).chain(&mut self.others);
        heads.flat_map(|head| head.words.arrays()).chain([self.noise.array()]).collect()
    }

    fn size(&self) -> usize {
        self.heads().map(|head| head.words.size()).sum::<usize>()
            + self.noise.size()
            + self.log.size()
    }
}
