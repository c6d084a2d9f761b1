//! The state of a model of several labels next to the counts: corrections, biases and a calibration for
//! each label, and the last steps. See [`labels`](crate::online::labels).

use crate::counts::alloc::element;
use crate::counts::array::Piecewise;
use crate::counts::codec::{Reader, corrupt, put, put_float};
use crate::counts::statistic::{Passed, Statistics};
use crate::counts::{ClassId, SavedOrder, Statistic, Store, WordId};
use crate::error::Result;
use crate::online::calibration::Calibration;
use crate::online::damping::Damping;
use crate::online::heads::Head;
use crate::online::noise::FlipRates;
use crate::online::undo::{HeadStep, is_left};
use std::collections::VecDeque;

/// The class that has every message once. The labels have the classes above.
pub const EVERY: ClassId = 0;

/// The step of one message.
#[derive(Clone, Debug, PartialEq)]
pub struct LabelStep {
    /// The unit of the message's counts and gradients; 1 without a half-life.
    pub unit: f64,
    /// The fingerprint of the words and their values.
    pub message: u64,
    /// Its labels, in ascending order.
    pub labels: Vec<ClassId>,
    pub weight: f64,
    pub step: HeadStep,
}

/// The corrections in use, and the calibrations of the corrected scores.
#[derive(Clone, Default)]
pub struct LabelWeights {
    pub head: Head,
    pub damping: Damping,
    /// The calibration of the scores of each class.
    calibrations: Vec<Calibration>,
    /// The last steps, from the oldest to the newest, and their maximum number.
    log: VecDeque<LabelStep>,
    pub log_size: usize,
}

impl LabelWeights {
    /// The calibrated log odds of the score of a label.
    pub fn log_odds(&self, label: ClassId, score: f64) -> f64 {
        self.calibrations.get(label as usize).map_or(score, |c| c.log_odds(score))
    }

    /// Learn whether a message with this score has the label.
    pub fn calibrate(&mut self, label: ClassId, score: f64, outcome: bool, weight: f64, f: f64) {
        let calibration = element(&mut self.calibrations, label as usize);
        calibration.learn(score, outcome, weight, f, FlipRates::default());
    }

    pub fn push(&mut self, step: LabelStep) {
        if self.log_size == 0 {
            return;
        }
        while self.log.len() >= self.log_size {
            self.log.pop_front();
        }
        self.log.push_back(step);
    }

    /// Remove and return the last step of a message with these labels, of which `weight` is left at
    /// this unit.
    pub fn take(
        &mut self,
        message: u64,
        labels: &[ClassId],
        weight: f64,
        unit: f64,
    ) -> Option<LabelStep> {
        let is = |step: &LabelStep| {
            step.message == message
                && step.labels == labels
                && is_left(step.weight, step.unit, weight, unit)
        };
        let place = self.log.iter().rposition(is)?;
        self.log.remove(place)
    }

    /// Write the bytes, with words and classes in this order. `decays` is whether there is a half-life.
    pub fn put(&self, order: &SavedOrder, decays: bool, bytes: &mut Vec<u8>) {
        let mut ranks = vec![0_u64; order.classes.iter().max().map_or(0, |&id| id as usize + 1)];
        for (place, &class) in order.classes.iter().enumerate() {
            ranks[class as usize] = place as u64;
        }
        self.head.put(order, &ranks, bytes);
        for &class in &order.classes {
            self.calibrations.get(class as usize).copied().unwrap_or_default().put(bytes);
        }
        let rank = |class: ClassId| ranks[class as usize];
        put(bytes, self.log.len() as u64);
        for LabelStep { unit, message, labels, weight, step } in &self.log {
            put(bytes, *message);
            let mut labels: Vec<_> = labels.iter().map(|&label| rank(label)).collect();
            labels.sort_unstable();
            put(bytes, labels.len() as u64);
            labels.into_iter().for_each(|label| put(bytes, label));
            put_float(bytes, *weight);
            if decays {
                put_float(bytes, *unit);
            }
            step.put_gradients(&rank, bytes);
        }
    }

    /// Read the bytes of [`put`](Self::put), for the words and classes of a restored store.
    pub fn restore(reader: &mut Reader<'_>, store: &Store) -> Result<Self> {
        let (words, classes) = (store.vocabulary.len(), store.classes.len());
        check_every(store)?;
        let head = Head::restore(reader, words, classes)?;
        let mut restored = LabelWeights { head, ..LabelWeights::default() };
        for _ in 0..classes {
            restored.calibrations.push(Calibration::restore(reader)?);
        }
        for _ in 0..reader.number()? {
            let message = reader.number()?;
            let labels =
                (0..reader.number()?).map(|_| reader.class(classes)).collect::<Result<Vec<_>>>()?;
            let weight = reader.float()?;
            let decays = store.settings.half_life.is_some();
            let unit = if decays { reader.float()? } else { 1.0 };
            let step = HeadStep::restore_gradients(reader, classes)?;
            if weight <= 0.0 || unit < 0.0 || !labels.is_sorted_by(|one, other| one < other) {
                return Err(corrupt("invalid step of a message"));
            }
            restored.log.push_back(LabelStep { unit, message, labels, weight, step });
        }
        restored.log_size = restored.log.len();
        Ok(restored)
    }
}

/// Fail unless the first class has the messages of each other class.
fn check_every(store: &Store) -> Result<()> {
    let covers = |all: f64, part: f64| part <= all * (1.0 + 1e-9);
    let Some(every) = store.classes.first() else { return Ok(()) };
    let mut fits = store.classes.iter().all(|class| covers(every.documents, class.documents));
    for word in 0..store.rows.slots() as WordId {
        let all = store.rows.cell(word, EVERY).map_or(0.0, |cell| cell.documents);
        fits &= store.rows.cells(word).all(|cell| covers(all, cell.documents));
    }
    if fits { Ok(()) } else { Err(corrupt("a label has more messages than there are")) }
}

impl Statistic for LabelWeights {
    fn forget_word(&mut self, word: WordId) {
        self.head.words.clear(word);
    }

    fn forget_class(&mut self, class: ClassId) {
        self.head.forget_class(class);
        if let Some(calibration) = self.calibrations.get_mut(class as usize) {
            *calibration = Calibration::default();
        }
        self.log.retain(|step| !step.labels.contains(&class));
        for LabelStep { step, .. } in &mut self.log {
            step.gradients.retain(|&(label, _)| label != class);
        }
        self.log.retain(|step| !step.step.gradients.is_empty());
    }

    fn decay(&mut self, passed: Passed) {
        self.head.decay(passed);
        self.calibrations.iter_mut().for_each(|calibration| calibration.decay(passed.left));
        if passed.divided < 1.0 {
            self.log.iter_mut().for_each(|step| step.unit *= passed.divided);
        }
    }

    fn merge(&mut self, others: &Statistics, word_of: &[WordId], class_of: &[ClassId], units: f64) {
        let Some(other) = others.get::<LabelWeights>() else { return };
        // A mean of corrections contains only a part of each step.
        if other.head.has_steps() {
            self.log.clear();
        }
        self.head.merge(&other.head, word_of, class_of, units);
        for (theirs, &class) in other.calibrations.iter().zip(class_of) {
            element(&mut self.calibrations, class as usize).merge(theirs);
        }
    }

    fn arrays(&mut self) -> Vec<&mut dyn Piecewise> {
        self.head.words.arrays().collect()
    }

    fn size(&self) -> usize {
        let of_step = |step: &LabelStep| size_of_val(&*step.labels) + step.step.size();
        self.head.words.size()
            + size_of_val(&*self.calibrations)
            + self.log.capacity() * size_of::<LabelStep>()
            + self.log.iter().map(of_step).sum::<usize>()
    }
}
