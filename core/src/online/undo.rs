//! The last steps, so that unlearning takes them back.
//!
//! A correction depends on sums of gradients only, so a step is taken back by subtracting its gradients
//! again, in any order and after any other message. The log needs no words: the message that is
//! unlearned contains them. It stores only messages that took a step, which are few in an easy stream.

use crate::counts::codec::{Reader, corrupt, put, put_float};
use crate::counts::{Bag, ClassId, Vocabulary};
use crate::error::Result;
use std::collections::VecDeque;

/// A step of the calibration: of the scores of one of two classes, or of the highest score.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Calibrated {
    pub class: Option<ClassId>,
    pub step: (f64, f64),
}

/// A confident score that the label contradicted: its best class, and the number of messages that the
/// estimate of wrong labels had learned.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contradiction {
    pub best: ClassId,
    pub at: f64,
}

/// The step of one message.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// The fingerprint of the words and their values.
    pub message: u64,
    pub class: ClassId,
    pub weight: f64,
    pub gradients: Vec<(ClassId, f64)>,
    pub calibrated: Option<Calibrated>,
    pub contradiction: Option<Contradiction>,
}

/// The last steps, from the oldest to the newest.
#[derive(Clone, Default)]
pub struct StepLog {
    /// Maximum number of steps.
    pub size: usize,
    steps: VecDeque<Step>,
}

/// The fingerprint of a message with known words: the same in each order of its words.
pub fn fingerprint(vocabulary: &Vocabulary, bag: &Bag) -> u64 {
    let words = bag.words.iter().map(|&(word, value)| {
        let bytes = vocabulary.word(word).iter().copied().chain(value.to_le_bytes());
        let hash = bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
        });
        // The finaliser of MurmurHash3: sums of plain FNV hashes collide for similar words.
        let hash = (hash ^ (hash >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
        let hash = (hash ^ (hash >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
        hash ^ (hash >> 33)
    });
    words.fold(0, u64::wrapping_add)
}

impl StepLog {
    pub fn push(&mut self, step: Step) {
        if self.size == 0 {
            return;
        }
        while self.steps.len() >= self.size {
            self.steps.pop_front();
        }
        self.steps.push_back(step);
    }

    /// Remove and return the last step of a message with this label and weight.
    pub fn take(&mut self, message: u64, class: ClassId, weight: f64) -> Option<Step> {
        let is =
            |step: &Step| step.message == message && step.class == class && step.weight == weight;
        let place = self.steps.iter().rposition(is)?;
        self.steps.remove(place)
    }

    /// Forget the steps of a class, whose id may be reused.
    pub fn forget_class(&mut self, class: ClassId) {
        let has = |step: &Step| {
            let of_calibration = step.calibrated.and_then(|calibrated| calibrated.class);
            let best = step.contradiction.map(|contradiction| contradiction.best);
            step.class == class
                || of_calibration == Some(class)
                || best == Some(class)
                || step.gradients.iter().any(|&(id, _)| id == class)
        };
        self.steps.retain(|step| !has(step));
    }

    /// Forget all steps.
    pub fn clear(&mut self) {
        self.steps.clear();
    }

    /// Write the steps, with classes replaced by their ranks.
    pub fn put(&self, rank: &[u64], bytes: &mut Vec<u8>) {
        let rank = |class: ClassId| rank[class as usize];
        put(bytes, self.steps.len() as u64);
        for step in &self.steps {
            put(bytes, step.message);
            put(bytes, rank(step.class));
            put_float(bytes, step.weight);
            // The order of ids is another one after a restore.
            let mut gradients: Vec<_> =
                step.gradients.iter().map(|&(class, gradient)| (rank(class), gradient)).collect();
            gradients.sort_unstable_by_key(|&(class, _)| class);
            put(bytes, gradients.len() as u64);
            for (class, gradient) in gradients {
                put(bytes, class);
                put_float(bytes, gradient);
            }
            put(bytes, u64::from(step.calibrated.is_some()));
            if let Some(Calibrated { class, step: (a, k) }) = step.calibrated {
                put(bytes, class.map_or(0, |class| rank(class) + 1));
                put_float(bytes, a);
                put_float(bytes, k);
            }
            put(bytes, u64::from(step.contradiction.is_some()));
            if let Some(Contradiction { best, at }) = step.contradiction {
                put(bytes, rank(best));
                put_float(bytes, at);
            }
        }
    }

    pub fn restore(reader: &mut Reader<'_>, classes: usize) -> Result<Self> {
        let mut restored = StepLog::default();
        for _ in 0..reader.number()? {
            let (message, class) = (reader.number()?, reader.class(classes)?);
            let weight = reader.float()?;
            let gradients = (0..reader.number()?)
                .map(|_| Ok((reader.class(classes)?, reader.float()?)))
                .collect::<Result<_>>()?;
            let mut calibrated = None;
            if reader.flag()? {
                let class = reader.id(classes + 1, "unknown class")?.checked_sub(1);
                calibrated = Some(Calibrated { class, step: (reader.float()?, reader.float()?) });
            }
            let mut contradiction = None;
            if reader.flag()? {
                let best = reader.class(classes)?;
                contradiction = Some(Contradiction { best, at: reader.float()? });
            }
            let step = Step { message, class, weight, gradients, calibrated, contradiction };
            if step.weight <= 0.0 {
                return Err(corrupt("a step has no weight"));
            }
            restored.steps.push_back(step);
        }
        restored.size = restored.steps.len();
        Ok(restored)
    }

    /// Heap bytes.
    pub fn size(&self) -> usize {
        let gradients = |step: &Step| size_of_val(step.gradients.as_slice());
        self.steps.capacity() * size_of::<Step>() + self.steps.iter().map(gradients).sum::<usize>()
    }
}
