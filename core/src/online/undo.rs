//! The last steps, so that unlearning takes them back.
//!
//! A correction depends on sums of gradients only, so a step is taken back by subtracting its gradients
//! again, in any order and after any other message. The log needs no words: the message that is
//! unlearned contains them. Steps of multiplicative corrections contain the evidence at their time. The
//! log stores only messages that took a step, which are few in an easy stream.

use crate::counts::codec::{Reader, corrupt, put, put_float};
use crate::counts::{Bag, ClassId, Vocabulary, WordId};
use crate::error::Result;
use std::collections::VecDeque;

/// Relative error of the weight that is left of a message.
const ROUNDING: f64 = 1e-9;

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

/// z_ik of multiplicative corrections for each word and gradient, with the words in the order of their
/// hashes. The words are not stored; the evidence of later counts is different.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Evidence {
    /// `words × gradients`, or only those of the first gradient.
    values: Box<[f32]>,
    /// Whether the evidence of the second of two gradients is the opposite of the first.
    is_opposite: bool,
}

impl Evidence {
    /// From `words × gradients` values.
    fn new(values: Vec<f32>, gradients: usize) -> Self {
        let (pairs, _) = values.as_chunks();
        let is_opposite = gradients == 2 && pairs.iter().all(|&[one, other]| other == -one);
        let values = match is_opposite {
            true => pairs.iter().map(|&[one, _]| one).collect(),
            false => values.into(),
        };
        Evidence { values, is_opposite }
    }
}

/// The step of a head.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HeadStep {
    pub gradients: Vec<(ClassId, f64)>,
    /// Empty for additive corrections.
    evidence: Evidence,
}

impl HeadStep {
    pub fn new(gradients: Vec<(ClassId, f64)>) -> Self {
        HeadStep { gradients, evidence: Evidence::default() }
    }

    /// Set the evidence from `words × gradients` values.
    pub fn set_evidence(&mut self, values: Vec<f32>) {
        self.evidence = Evidence::new(values, self.gradients.len());
    }

    /// The evidence of a place of a word and of a class.
    #[inline]
    pub fn share(&self, word: usize, class: usize) -> f64 {
        let Evidence { values, is_opposite } = &self.evidence;
        if *is_opposite {
            let first = values.get(word).copied().map_or(0.0, f64::from);
            // Not −0.
            return if class == 0 { first } else { 0.0 - first };
        }
        values.get(word * self.gradients.len() + class).copied().map_or(0.0, f64::from)
    }

    /// The number of words with evidence.
    fn words(&self) -> usize {
        let Evidence { values, is_opposite } = &self.evidence;
        let each_word = if *is_opposite { 1 } else { self.gradients.len().max(1) };
        values.len() / each_word
    }

    /// The places of the gradients by the ranks of their classes: a restored store has other ids.
    fn places(&self, rank: &impl Fn(ClassId) -> u64) -> Vec<usize> {
        let mut places: Vec<_> = (0..self.gradients.len()).collect();
        places.sort_unstable_by_key(|&place| rank(self.gradients[place].0));
        places
    }

    pub(crate) fn put_gradients(&self, rank: &impl Fn(ClassId) -> u64, bytes: &mut Vec<u8>) {
        put(bytes, self.gradients.len() as u64);
        for place in self.places(rank) {
            let (class, gradient) = self.gradients[place];
            put(bytes, rank(class));
            put_float(bytes, gradient);
        }
    }

    fn put_evidence(&self, rank: &impl Fn(ClassId) -> u64, bytes: &mut Vec<u8>) {
        let (places, words) = (self.places(rank), self.words());
        put(bytes, (words * places.len()) as u64);
        for word in 0..words {
            places.iter().for_each(|&place| put_float(bytes, self.share(word, place)));
        }
    }

    pub(crate) fn restore_gradients(reader: &mut Reader<'_>, classes: usize) -> Result<Self> {
        let gradients = (0..reader.number()?)
            .map(|_| Ok((reader.class(classes)?, reader.float()?)))
            .collect::<Result<_>>()?;
        Ok(HeadStep::new(gradients))
    }

    fn restore_evidence(&mut self, reader: &mut Reader<'_>) -> Result<()> {
        let values = (0..reader.number()?)
            .map(|_| reader.float().map(|value| value as f32))
            .collect::<Result<Vec<_>>>()?;
        if values.iter().any(|value| !value.is_finite()) {
            return Err(corrupt("a step has too large evidence"));
        }
        if values.len().checked_rem(self.gradients.len()).unwrap_or(values.len()) != 0 {
            return Err(corrupt("a step has evidence of unknown words"));
        }
        self.set_evidence(values);
        Ok(())
    }

    pub(crate) fn size(&self) -> usize {
        size_of_val(self.gradients.as_slice()) + size_of_val(&*self.evidence.values)
    }
}

/// The step of one message.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// The unit of the message's counts and gradients; 1 without a half-life.
    pub unit: f64,
    /// The fingerprint of the words and their values.
    pub message: u64,
    pub class: ClassId,
    pub weight: f64,
    /// The step of each head; empty if all of them have no gradients.
    pub heads: Box<[HeadStep]>,
    /// The step of the share of each head, which `f32` stores exactly.
    pub slopes: Slopes,
    pub calibrated: Option<Calibrated>,
    pub contradiction: Option<Contradiction>,
}

/// Maximum number of heads besides the first.
pub const MOST_OTHERS: usize = 2;

/// A number for each head.
pub type Slopes = [f32; 1 + MOST_OTHERS];

/// The steps of heads, unless they have no gradients.
pub fn with_gradients(heads: Vec<HeadStep>) -> Box<[HeadStep]> {
    let is_empty = heads.iter().all(|head| head.gradients.is_empty());
    if is_empty { Box::default() } else { heads.into() }
}

/// Whether a message that was learned with this weight and unit has `left` at another unit.
pub fn is_left(weight: f64, unit: f64, left: f64, now: f64) -> bool {
    let (learned, left_now) = (weight * unit, left * now);
    if unit == now { weight == left } else { (learned - left_now).abs() <= ROUNDING * learned }
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
    let words = bag.words.iter().map(|&(word, value)| word_hash(vocabulary, word, value));
    words.fold(0, u64::wrapping_add)
}

const FNV: u64 = 0x0000_0100_0000_01b3;

/// The hash of a word and its value.
pub fn word_hash(vocabulary: &Vocabulary, word: WordId, value: f64) -> u64 {
    // FNV of the bytes of both.
    let add = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(FNV);
    let of_word = vocabulary.word(word).iter().copied().fold(0xcbf2_9ce4_8422_2325, add);
    let bytes = value.to_le_bytes();
    let hash = match bytes {
        // Most values are small whole numbers.
        [0, 0, 0, 0, 0, 0, low, high] => {
            add(add(of_word.wrapping_mul(const { FNV.wrapping_pow(6) }), low), high)
        }
        _ => bytes.into_iter().fold(of_word, add),
    };
    // The finaliser of MurmurHash3: sums of plain FNV hashes collide for similar words.
    let hash = (hash ^ (hash >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    let hash = (hash ^ (hash >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    hash ^ (hash >> 33)
}

impl StepLog {
    pub fn push(&mut self, step: Step) {
        if self.size == 0 {
            return;
        }
        while self.steps.len() >= self.size {
            self.steps.pop_front();
        }
        if self.steps.len() == self.steps.capacity() {
            // Doubling leaves up to half of the memory unused.
            self.steps.reserve_exact(self.steps.len() / 4 + 16);
        }
        self.steps.push_back(step);
    }

    /// Remove and return the last step of a message with this label, of which `weight` is left at
    /// this unit.
    pub fn take(&mut self, message: u64, class: ClassId, weight: f64, unit: f64) -> Option<Step> {
        let is = |step: &Step| {
            step.message == message
                && step.class == class
                && is_left(step.weight, step.unit, weight, unit)
        };
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
                || step.heads.iter().any(|head| head.gradients.iter().any(|&(id, _)| id == class))
        };
        self.steps.retain(|step| !has(step));
    }

    /// Divide the units of all steps.
    pub fn divide(&mut self, divided: f64) {
        self.steps.iter_mut().for_each(|step| step.unit *= divided);
    }

    /// Forget all steps.
    pub fn clear(&mut self) {
        self.steps.clear();
    }

    /// Write the steps, with classes replaced by their ranks, and their units if counts decay.
    pub fn put(&self, rank: &[u64], decays: bool, bytes: &mut Vec<u8>) {
        let (rank, nothing) = (|class: ClassId| rank[class as usize], HeadStep::default());
        put(bytes, self.steps.len() as u64);
        for step in &self.steps {
            put(bytes, step.message);
            put(bytes, rank(step.class));
            put_float(bytes, step.weight);
            if decays {
                put_float(bytes, step.unit);
            }
            step.heads.first().unwrap_or(&nothing).put_gradients(&rank, bytes);
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

    pub fn restore(reader: &mut Reader<'_>, classes: usize, decays: bool) -> Result<Self> {
        let mut restored = StepLog::default();
        for _ in 0..reader.number()? {
            let (message, class) = (reader.number()?, reader.class(classes)?);
            let weight = reader.float()?;
            let unit = if decays { reader.float()? } else { 1.0 };
            let first = HeadStep::restore_gradients(reader, classes)?;
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
            let step = Step {
                unit,
                message,
                class,
                weight,
                heads: with_gradients(vec![first]),
                slopes: Slopes::default(),
                calibrated,
                contradiction,
            };
            if step.weight <= 0.0 || step.unit < 0.0 {
                return Err(corrupt("a step has no weight"));
            }
            restored.steps.push_back(step);
        }
        restored.size = restored.steps.len();
        Ok(restored)
    }

    /// Whether any step has evidence of its words.
    pub fn has_evidence(&self) -> bool {
        let first = |step: &Step| step.heads.first().is_some_and(|head| head.words() > 0);
        self.steps.iter().any(first)
    }

    /// Write the parts of the steps that only several heads and multiplicative corrections have.
    pub fn put_heads(&self, rank: &[u64], others: usize, bytes: &mut Vec<u8>) {
        let (rank, nothing) = (|class: ClassId| rank[class as usize], HeadStep::default());
        for step in &self.steps {
            let head = |place: usize| step.heads.get(place).unwrap_or(&nothing);
            put(bytes, others as u64);
            (1..=others).for_each(|place| head(place).put_gradients(&rank, bytes));
            for (place, &slope) in step.slopes.iter().enumerate().take(1 + others) {
                head(place).put_evidence(&rank, bytes);
                put_float(bytes, f64::from(slope));
            }
        }
    }

    pub fn restore_heads(&mut self, reader: &mut Reader<'_>, classes: usize) -> Result<()> {
        for step in &mut self.steps {
            let others = reader.id(MOST_OTHERS + 1, "too many heads")?;
            let mut heads = std::mem::take(&mut step.heads).into_vec();
            heads.resize_with(1, HeadStep::default);
            for _ in 0..others {
                heads.push(HeadStep::restore_gradients(reader, classes)?);
            }
            for (head, slope) in heads.iter_mut().zip(&mut step.slopes) {
                head.restore_evidence(reader)?;
                *slope = reader.float()? as f32;
            }
            step.heads = with_gradients(heads);
        }
        Ok(())
    }

    /// Heap bytes.
    pub fn size(&self) -> usize {
        let heads = self.steps.iter().map(|step| {
            size_of_val(&*step.heads) + step.heads.iter().map(HeadStep::size).sum::<usize>()
        });
        self.steps.capacity() * size_of::<Step>() + heads.sum::<usize>()
    }
}
