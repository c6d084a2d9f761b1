//! Heads: several scores of one message, and their shares in its score.
//!
//! All heads read the same counts. A head has its own corrections and biases, takes its own steps, and
//! sees all tokens or only words and runs of words. With scores s_vk of the heads, the score is
//!
//!   s_k = Σ_v a_v s_vk
//!
//! so probabilities are proportional to Π_v p_v(k)^a_v. The shares follow the log loss of the labels,
//! by AdaGrad as for corrections:
//!
//!   d_v = ln p_v(y) − Σ_k p(k) ln p_v(k),   Z_v += d_v,   G_v += d_v²
//!   a_v = max(start_v + 0.05 Z_v / √(1 + G_v), 0)
//!
//! where p(k) are the probabilities of s_k before calibration. d_v is at most 4, is multiplied by the
//! trust of the label like other steps, and is a multiple of 2^-10, so that sums are exact.

use crate::counts::alloc::element;
use crate::counts::codec::{Reader, corrupt, put};
use crate::counts::statistic::Passed;
use crate::counts::{ClassId, SavedOrder, Vocabulary, WordId};
use crate::error::Result;
use crate::online::corrections::{Correction, Corrections, Rates};
use crate::online::undo::{HeadStep, word_hash};

/// The rates of the shares.
const SHARE_RATE: f64 = 0.05;
const SHARE_DECAY: f64 = 1.0;
/// Steps of shares are at most this, and multiples of 1/STEPS.
const MOST: f64 = 4.0;
const STEPS: f64 = 1024.0;

named_enum! {
    /// The heads of a model.
    "heads" Heads {
        One = "one",
        Two = "two",
        Three = "three",
    }
}

/// A head besides the first. Its corrections are multiplicative.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OtherHead {
    /// Whether it sees only words and runs of words, but no n-grams of characters and no length.
    pub only_words: bool,
    /// r of words.
    pub learning_rate: f64,
    /// The share before any label.
    pub start: f64,
}

const WORDS: OtherHead = OtherHead { only_words: true, learning_rate: 32.0, start: 0.25 };
const ALL: OtherHead = OtherHead { only_words: false, ..WORDS };

impl Heads {
    /// The heads besides the first.
    pub fn others(self) -> &'static [OtherHead] {
        match self {
            Heads::One => &[],
            Heads::Two => &[WORDS],
            Heads::Three => &[WORDS, ALL],
        }
    }

    /// The share of the first head before any label.
    pub fn start(self) -> f64 {
        1.0 - self.others().iter().map(|head| head.start).sum::<f64>()
    }
}

/// The words of a message, in an order that does not depend on ids.
#[derive(Default)]
pub struct OrderedWords {
    all: Vec<(WordId, f64)>,
    /// Those that heads with `only_words` see.
    words: Vec<(WordId, f64)>,
}

impl OrderedWords {
    pub fn new(vocabulary: &Vocabulary, words: &[(WordId, f64)]) -> Self {
        let hash = |&(word, value): &(WordId, f64)| word_hash(vocabulary, word, value);
        let mut places: Vec<_> = words.iter().map(hash).zip(0..words.len()).collect();
        places.sort_unstable();
        let all: Vec<_> = places.iter().map(|&(_, place)| words[place]).collect();
        let is_word = |&&(word, _): &&(WordId, f64)| vocabulary.is_word(word);
        let words = all.iter().filter(is_word).copied().collect();
        OrderedWords { all, words }
    }

    /// The words that a head sees.
    pub fn of(&self, head: Option<OtherHead>) -> &[(WordId, f64)] {
        if head.is_some_and(|head| head.only_words) { &self.words } else { &self.all }
    }
}

/// d of a head with these scores, for the probabilities of all existing classes.
pub fn slope(scores: &[f64], class: ClassId, probabilities: &[f64]) -> f64 {
    let shared = scores.iter().zip(probabilities).filter(|&(_, &p)| p > 0.0);
    let mean: f64 = shared.map(|(score, p)| score * p).sum();
    scores[class as usize] - mean
}

/// A step of a share, as it is summed.
pub fn exact_slope(slope: f64) -> f32 {
    ((slope.clamp(-MOST, MOST) * STEPS).round_ties_even() / STEPS) as f32
}

/// The corrections and the biases of a head, and its share.
#[derive(Clone, Default)]
pub struct Head {
    pub words: Corrections,
    /// b and B, by class.
    biases: Vec<Correction>,
    /// The rates of words, biases and the share, in the unit of the counts and in unit 1.
    bias_rates: Rates,
    share_rates: Rates,
    of_unit_one: [Rates; 3],
    /// Z and G of the share.
    share: Correction,
    start: f64,
}

impl Head {
    pub fn set_rates(&mut self, words: Rates, bias_rate: f64, start: f64, unit: f64) {
        let biases = Rates { rate: bias_rate, least: f64::NEG_INFINITY, ..words };
        let share = Rates { rate: SHARE_RATE, decay: SHARE_DECAY, least: -start };
        self.of_unit_one = [words, biases, share];
        self.start = start;
        self.set_unit(unit);
    }

    fn set_unit(&mut self, unit: f64) {
        let rates = self.of_unit_one.map(|rates| rates.of_unit(unit));
        [self.words.rates, self.bias_rates, self.share_rates] = rates;
    }

    /// Follow the clock: gradients decay.
    pub fn decay(&mut self, passed: Passed) {
        self.set_unit(passed.unit);
        if passed.divided < 1.0 {
            self.words.divide(passed.divided);
            let biases = self.biases.iter_mut().chain([&mut self.share]);
            biases.for_each(|bias| *bias = bias.scaled(passed.divided));
        }
    }

    /// a.
    pub fn share(&self) -> f64 {
        self.start + self.share.weight(self.share_rates)
    }

    /// b of a class.
    #[inline]
    pub fn of_class(&self, class: ClassId) -> f64 {
        self.biases.get(class as usize).map_or(0.0, |bias| bias.weight(self.bias_rates))
    }

    /// w of a word, by class.
    #[inline]
    pub fn of_word(&self, word: WordId) -> impl Iterator<Item = (ClassId, f64)> {
        self.words.weights(word)
    }

    /// Whether the head has taken a step.
    pub fn has_steps(&self) -> bool {
        self.biases.iter().any(|bias| bias.squares > 0.0)
    }

    /// Take a step of the share.
    pub fn step_share(&mut self, unit: f64, slope: f32) {
        if slope != 0.0 {
            self.share.add(unit * f64::from(slope));
        }
    }

    /// Take a step of the share back.
    pub fn take_share(&mut self, unit: f64, slope: f32, is_rounded: bool) {
        self.share.take(unit * f64::from(slope), is_rounded);
    }

    /// Take a step for each of its classes: b by the gradient, and w of each word by the gradient
    /// times `share` of the place of the word and of the class. Words with share 0 take no step. All
    /// gradients are multiplied by the unit.
    pub fn step(
        &mut self,
        step: &HeadStep,
        unit: f64,
        words: &[(WordId, f64)],
        share: impl Fn(usize, usize) -> f64,
    ) {
        let gradients = &step.gradients;
        if self.bias_rates.rate > 0.0 {
            for &(class, gradient) in gradients {
                element(&mut self.biases, class as usize).add(unit * gradient);
            }
        }
        if self.words.rates.rate == 0.0 || gradients.is_empty() {
            return;
        }
        for (place, &(id, _)) in words.iter().enumerate() {
            self.words.step(id, gradients, |step| unit * share(place, step));
        }
    }

    /// Take a step of this unit back; `is_rounded` is whether sums decay, and so are rounded.
    pub fn take(
        &mut self,
        step: &HeadStep,
        unit: f64,
        is_rounded: bool,
        words: &[(WordId, f64)],
        share: impl Fn(usize, usize) -> f64,
    ) {
        for &(class, gradient) in &step.gradients {
            if let Some(bias) = self.biases.get_mut(class as usize) {
                bias.take(unit * gradient, is_rounded);
            }
        }
        for (place, &(word, _)) in words.iter().enumerate() {
            self.words.take(word, &step.gradients, is_rounded, |step| unit * share(place, step));
        }
    }

    /// Write the bytes; `rank` is the place of each class.
    pub fn put(&self, order: &SavedOrder, rank: &[u64], bytes: &mut Vec<u8>) {
        for &class in &order.classes {
            self.biases.get(class as usize).copied().unwrap_or_default().put(bytes);
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
    }

    /// Write Z and G of the share.
    pub fn put_share(&self, bytes: &mut Vec<u8>) {
        self.share.put(bytes);
    }

    pub fn restore_share(&mut self, reader: &mut Reader<'_>) -> Result<()> {
        self.share = Correction::restore(reader)?;
        Ok(())
    }

    pub fn restore(reader: &mut Reader<'_>, words: usize, classes: usize) -> Result<Self> {
        let mut restored = Head::default();
        for _ in 0..classes {
            restored.biases.push(Correction::restore(reader)?);
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
        Ok(restored)
    }

    pub fn forget_class(&mut self, class: ClassId) {
        self.words.forget_class(class);
        if let Some(bias) = self.biases.get_mut(class as usize) {
            *bias = Correction::default();
        }
    }

    /// Merge another head, whose gradients times `units` have the unit of this one.
    pub fn merge(&mut self, other: &Self, word_of: &[WordId], class_of: &[ClassId], units: f64) {
        for (theirs, correction) in other.biases.iter().enumerate() {
            let class = class_of.get(theirs).map_or(0, |&class| class as usize);
            if correction.squares > 0.0 {
                element(&mut self.biases, class).merge(&correction.scaled(units), self.bias_rates);
            }
        }
        // The last page may have room for more words than the vocabulary.
        for (theirs, &word) in (0..).zip(word_of).take(other.words.slots()) {
            let cells = other.words.cells(theirs);
            let cells = cells.map(|(id, c)| (class_of[id as usize], c.scaled(units)));
            self.words.merge(word, cells);
        }
        if other.share.squares > 0.0 {
            self.share.merge(&other.share.scaled(units), self.share_rates);
        }
    }
}
