//! The state of online weights next to the counts.
//!
//! Each word has a correction w for each class that took a step on it, and each class a bias b. Both
//! are functions of the sum Z of their gradients g and the sum G of the squares:
//!
//!   Z += g,   G += g²,   w = r Z / √(1 + q G)
//!
//! This is AdaGrad in its form of dual averaging. A step is taken back by subtracting its gradients.
//! Gradients depend on the order of the stream, so the sums are saved with the counts.
//!
//! Duchi, Hazan, Singer 2011: Adaptive subgradient methods for online learning, Section 1.1.

use crate::counts::alloc::element;
use crate::counts::array::Piecewise;
use crate::counts::codec::{Reader, corrupt, put};
use crate::counts::statistic::Statistics;
use crate::counts::{ClassId, SavedOrder, Statistic, Store, WordId};
use crate::error::Result;
use crate::online::balance::Balance;
use crate::online::calibration::Calibration;
use crate::online::corrections::{Correction, Corrections, Rates};
use crate::online::damping::Damping;
use crate::online::exposure::ClassExposure;
use crate::online::noise::{FlipRates, LabelNoise};
use crate::online::undo::{Calibrated, Step, StepLog};

/// The corrections in use, and the calibrations of the corrected scores.
#[derive(Clone, Default)]
pub struct OnlineWeights {
    pub words: Corrections,
    /// b and B, by class.
    classes: Vec<Correction>,
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
    /// The rates of biases.
    pub bias_rates: Rates,
    /// The recent labels.
    pub balance: Balance,
    /// The last steps.
    pub log: StepLog,
}

impl OnlineWeights {
    /// b of a class.
    #[inline]
    pub fn of_class(&self, class: ClassId) -> f64 {
        self.classes.get(class as usize).map_or(0.0, |bias| bias.weight(self.bias_rates))
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

    /// w of a word, by class.
    #[inline]
    pub fn of_word(&self, word: WordId) -> impl Iterator<Item = (ClassId, f64)> {
        self.words.weights(word)
    }

    /// Take a step for each of these classes: b by the gradient, and w of each word by the gradient
    /// times `share` of the place of the word and of the class. Words with share 0 take no step.
    pub fn step(
        &mut self,
        gradients: &[(ClassId, f64)],
        words: &[(WordId, f64)],
        share: impl Fn(usize, usize) -> f64,
    ) {
        if self.bias_rates.rate > 0.0 {
            for &(class, gradient) in gradients {
                element(&mut self.classes, class as usize).add(gradient);
            }
        }
        if self.words.rates.rate == 0.0 || gradients.is_empty() {
            return;
        }
        for (place, &(id, _)) in words.iter().enumerate() {
            self.words.step(id, gradients, |step| share(place, step));
        }
    }

    /// Take the step of a message back. `share` is the factor of the values of its words.
    pub fn take(&mut self, step: &Step, words: &[(WordId, f64)], share: f64) {
        for &(class, gradient) in &step.gradients {
            if let Some(bias) = self.classes.get_mut(class as usize) {
                bias.take(gradient);
            }
        }
        for &(word, value) in words {
            self.words.take(word, &step.gradients, value * share);
        }
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
            self.noise.take(contradiction, step.class);
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

    /// Write the bytes, with words and classes in this order.
    pub fn put(&self, order: &SavedOrder, bytes: &mut Vec<u8>) {
        let mut rank = vec![0_u64; order.classes.iter().max().map_or(0, |&id| id as usize + 1)];
        for (place, &class) in order.classes.iter().enumerate() {
            rank[class as usize] = place as u64;
            self.classes.get(class as usize).copied().unwrap_or_default().put(bytes);
        }
        for &word in &order.words {
            let of_word = self.words.cells(word);
            let mut cells: Vec<_> = of_word.map(|(id, c)| (rank[id as usize], c)).collect();
            cells.sort_unstable_by_key(|&(class, _)| class);
            put(bytes, cells.len() as u64);
            for (class, correction) in cells {
                put(bytes, class);
                correction.put(bytes);
            }
        }
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
        self.log.put(&rank, bytes);
    }

    /// Read the bytes of [`put`](Self::put), for words and classes that are numbered in that order.
    pub fn restore(reader: &mut Reader<'_>, words: usize, classes: usize) -> Result<Self> {
        let mut restored = OnlineWeights::default();
        for _ in 0..classes {
            restored.classes.push(Correction::restore(reader)?);
        }
        for word in 0..words as WordId {
            let (mut next_class, mut cells) = (0, Vec::new());
            for _ in 0..reader.number()? {
                let class = reader.class(classes)?;
                if class < next_class {
                    return Err(corrupt("the corrections of a word are out of order"));
                }
                next_class = class + 1;
                cells.push((class, Correction::restore(reader)?));
            }
            restored.words.put(word, &cells);
        }
        match (reader.number()?, classes) {
            (0, _) => {}
            (1, 2) => restored.two = Some((1, Calibration::restore(reader)?)),
            _ => return Err(corrupt("invalid number of calibrations")),
        }
        restored.top = Calibration::restore(reader)?;
        restored.exposure = ClassExposure::restore(reader, classes)?;
        restored.noise = LabelNoise::restore(reader, words, classes)?;
        restored.balance = Balance::restore(reader, classes)?;
        restored.log = StepLog::restore(reader, classes)?;
        Ok(restored)
    }
}

impl Statistic for OnlineWeights {
    fn forget_word(&mut self, word: WordId) {
        self.words.clear(word);
        self.noise.forget_word(word);
    }

    fn forget_class(&mut self, class: ClassId) {
        self.words.forget_class(class);
        if let Some(bias) = self.classes.get_mut(class as usize) {
            *bias = Correction::default();
        }
        self.exposure.forget(class);
        self.noise.forget_class(class);
        self.balance.forget_class(class);
        self.log.forget_class(class);
        // The calibrations belonged to scores against that class.
        (self.two, self.top) = (None, Calibration::default());
    }

    fn merge(&mut self, others: &Statistics, word_of: &[WordId], class_of: &[ClassId]) {
        let Some(other) = others.get::<OnlineWeights>() else { return };
        for (theirs, correction) in other.classes.iter().enumerate() {
            let class = class_of.get(theirs).map_or(0, |&class| class as usize);
            if correction.squares > 0.0 {
                element(&mut self.classes, class).merge(correction, self.bias_rates);
            }
        }
        self.exposure.merge(&other.exposure, class_of);
        self.noise.merge(&other.noise, word_of, class_of);
        self.balance.merge(&other.balance, class_of);
        // A mean of corrections contains only a part of each step.
        if other.classes.iter().any(|bias| bias.squares > 0.0) {
            self.log.clear();
        }
        // The last page may have room for more words than the vocabulary.
        for (theirs, &word) in (0..).zip(word_of).take(other.words.slots()) {
            let cells = other.words.cells(theirs).map(|(id, c)| (class_of[id as usize], c));
            self.words.merge(word, cells);
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
        self.words.arrays().chain([self.noise.array()]).collect()
    }

    fn size(&self) -> usize {
        self.words.size() + self.noise.size() + self.log.size()
    }
}
