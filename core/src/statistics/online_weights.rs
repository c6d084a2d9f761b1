//! Online weights: corrections of the log odds of words, learned by one step a message.
//!
//! Each word has a correction w for each class that took a step on it, and each class a bias b. A step
//! follows the gradient g of the loss. Each number has its own rate, which shrinks with the sum G of
//! its squared gradients: AdaGrad.
//!
//!   G += g²,   w += r g / √(1 + q G)
//!
//! Corrections depend on the order of the stream, so they are saved with the counts.
//!
//! Duchi, Hazan, Singer 2011: Adaptive subgradient methods for online learning.

use crate::counts::alloc::element;
use crate::counts::codec::{Reader, corrupt, put};
use crate::counts::statistic::Statistics;
use crate::counts::{ClassId, SavedOrder, Statistic, Store, WordId};
use crate::error::Result;
use crate::statistics::calibration::Calibration;
use crate::statistics::class_exposure::ClassExposure;
use crate::statistics::corrections::{Correction, Corrections, Rates};
use crate::statistics::damping::Damping;
use crate::statistics::label_noise::{FlipRates, LabelNoise};

/// The corrections in use, and the calibrations of the corrected scores.
#[derive(Clone, Default)]
pub struct OnlineWeights {
    pub(crate) words: Corrections,
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
}

impl OnlineWeights {
    /// b of a class.
    #[inline]
    pub fn of_class(&self, class: ClassId) -> f64 {
        self.classes.get(class as usize).map_or(0.0, |correction| correction.weight)
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
        self.words.cells(word).map(|(class, correction)| (class, correction.weight))
    }

    /// Take a step for each of these classes: b by the gradient, and w of each word by the gradient
    /// times `share` of the place of the word and of the class. Corrections are at least `least`, and
    /// words with share 0 take no step.
    pub fn step(
        &mut self,
        gradients: &[(ClassId, f64)],
        (bias, word): (Rates, Rates),
        words: &[(WordId, f64)],
        least: f64,
        share: impl Fn(usize, usize) -> f64,
    ) {
        if bias.rate > 0.0 {
            for &(class, gradient) in gradients {
                element(&mut self.classes, class as usize).step(gradient, bias);
            }
        }
        if word.rate == 0.0 || gradients.is_empty() {
            return;
        }
        for (place, &(id, _)) in words.iter().enumerate() {
            self.words.step(id, gradients, word, least, |step| share(place, step));
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
    pub fn learn_two(&mut self, one: ClassId, score: f64, outcome: bool, f: f64, flips: FlipRates) {
        let mut calibration = self.two(one);
        calibration.learn(score, outcome, f, flips);
        self.two = Some((one, calibration));
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
        // The calibrations belonged to scores against that class.
        (self.two, self.top) = (None, Calibration::default());
    }

    fn merge(&mut self, others: &Statistics, word_of: &[WordId], class_of: &[ClassId]) {
        let Some(other) = others.get::<OnlineWeights>() else { return };
        for (theirs, correction) in other.classes.iter().enumerate() {
            let class = class_of.get(theirs).map_or(0, |&class| class as usize);
            if correction.squares > 0.0 {
                element(&mut self.classes, class).merge(correction);
            }
        }
        self.exposure.merge(&other.exposure, class_of);
        self.noise.merge(&other.noise, word_of, class_of);
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

    fn size(&self) -> usize {
        self.words.size() + self.noise.size()
    }
}
