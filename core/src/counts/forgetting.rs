//! Forgetting: the weight of messages decays with every later message, or they leave a window.
//!
//! After message t, a message of weight w that was learned at s counts w 2^(−(t − s)/h), where h is
//! the half-life. Shrinking all counts with each message would be too slow. Instead the old counts
//! stay, and a new message is learned with a larger weight: the *unit* 2^(t/h), the current count
//! of a message of weight 1. Exports divide by the unit. Scoring multiplies the smoothing by it,
//! because estimates are ratios of counts.
//!
//! The age t − s is measured in messages, or in seconds between the times of the messages.
//!
//! Before the unit overflows, all counts are divided by a power of two, which is exact: the counts
//! of classes immediately, the counts of a word when it is next touched. Until then readers scale
//! them (`crate::counts::rows`).

use crate::counts::rows::{DIVISOR, take};
use crate::counts::statistic::Passed;
use crate::counts::{ClassId, Document, Settings, Store, WordId};
use crate::error::{Error, Result};
use crate::text::siphash::siphash;

/// Relative size below which a remaining count is treated as zero: after n half-lives a count is
/// known to about n units in the last place.
const RESIDUE: f64 = 1e-12;

/// Weight below which a word leaves a model with a half-life, next to a message of weight 1. Without
/// new messages a word reaches it after 64 half-lives. No score can change by as much as a rounding.
const GONE: f64 = 1.0 / (1_u128 << 64) as f64;

/// Weights in a window are multiples of 1 / STEPS, so evictions leave no rounding error.
const STEPS: f64 = 1_048_576.0;

/// Next to such a weight, other weights in the window (multiples of 2^-20) may be lost in rounding.
const HEAVY: f64 = (1_u64 << 29) as f64;

impl Settings {
    /// Rejects invalid half-lives and invalid combinations of settings.
    pub fn check_forgetting(&self) -> Result<()> {
        let texts_alone = self.index_size == 0 && !self.columns;
        let valid = match self.half_life {
            None => !self.timed,
            Some(h) => h > 0.0 && h.is_finite() && (h >= 1.0 || !self.timed) && texts_alone,
        };
        if valid && !(self.windowed && self.index_size == 0) {
            return Ok(());
        }
        Err(Error::Invalid(format!(
            "a window must hold 1 message or more; half_life must be above 0 messages or at least 1 \
             second, for texts without an index of messages: {self:?}"
        )))
    }

    /// Rejects a weight that a window could not take back exactly.
    pub fn check_in_window(&self, weight: f64) -> Result<()> {
        if !self.windowed || (weight * STEPS).fract() == 0.0 {
            return Ok(());
        }
        Err(Error::Invalid(format!(
            "in a window the weight of a message must be a multiple of 2**-20, so that it can leave \
             without a trace, not {weight}: round it, or forget by half_life instead"
        )))
    }
}

impl Store {
    /// The current count of a message of weight 1.
    pub fn unit(&self) -> f64 {
        self.clock.unit
    }

    /// Advances the clock by one message.
    pub(crate) fn tick(&mut self) {
        if let Some(half_life) = self.settings.half_life {
            self.tick_by(half_life);
        }
    }

    #[cold]
    fn tick_by(&mut self, half_life: f64) {
        let before = self.clock.unit;
        let times = if self.settings.timed {
            let time = self.times.pop_front().unwrap_or(f64::NAN);
            self.clock.reach(time, half_life)
        } else {
            self.clock.tick(half_life)
        };
        self.divide(before, times);
    }

    /// Sets the times of the messages that are learned next: seconds, NaN where unknown.
    pub fn expect_times(&mut self, times: Vec<f64>) {
        self.times = times.into();
    }

    /// Divides all counts after a movement of the clock, and notifies the statistics.
    fn divide(&mut self, unit_before: f64, times: u32) {
        if times > 0 {
            self.rows.divide(times);
            self.classes.iter_mut().for_each(|class| class.divide(times));
            self.version += 1;
        }
        let divided = (-f64::from(DIVISOR) * f64::from(times)).exp2();
        let unit = self.clock.unit;
        let passed = Passed { unit, left: unit_before / unit * divided, divided };
        self.statistics.iter_mut().for_each(|statistic| statistic.decay(passed));
    }

    /// Forgets the words of one group whose weight has decayed to nothing. The clock chooses the
    /// group, so copies and restored stores forget the same words, and no message waits for more than
    /// one group. A half-life of `max_features` / 16,384 messages or more reaches every group.
    pub(crate) fn forget_faded(&mut self) {
        if self.settings.half_life.is_none() {
            return;
        }
        let place = match self.settings.timed {
            true => siphash([0, 0], &self.clock.now.to_bits().to_le_bytes()),
            false => self.clock.now as u64,
        };
        let groups = self.vocabulary.groups() as u64;
        let mut words = self.vocabulary.group((place % groups) as usize);
        let least = GONE * self.unit();
        words.retain(|&word| self.rows.cells(word).all(|cell| cell.documents < least));
        if !words.is_empty() {
            self.forget_words(&words);
            self.pruned = true;
            self.version += 1;
        }
    }

    /// The factor that converts another store's counts to the unit of this store. The last messages
    /// of both are assumed to be simultaneous; with a half-life in time each has its own time.
    pub(crate) fn units_of(&mut self, other: &Store) -> f64 {
        if self.classes.iter().all(|class| !class.exists()) {
            self.clock = other.clock;
            self.divide(self.clock.unit, 0);
        }
        let mut left = 1.0;
        if let Some(half_life) = self.settings.half_life.filter(|_| self.settings.timed) {
            let before = self.clock.unit;
            let (times, of_other) = self.clock.join(&other.clock, half_life);
            self.divide(before, times);
            left = of_other;
        }
        left * (self.clock.unit / other.clock.unit)
    }

    /// `count - amount`, or `None` if `count` is smaller. With a half-life both are rounded.
    pub(crate) fn less(&self, count: f64, amount: f64) -> Option<f64> {
        if self.settings.half_life.is_some() && (count - amount).abs() <= RESIDUE * count {
            return Some(0.0);
        }
        take(count, amount)
    }

    /// Subtracts the counts of a document that has left the window. Next to a heavy document, the
    /// counts of the others were rounded: they are counted again.
    pub(crate) fn leave_window(&mut self, document: &Document) {
        let Document { class, weight, words, .. } = document;
        let heavy = *weight >= HEAVY;
        let less = |count: f64, amount: f64| take(count, amount).unwrap_or(0.0);
        let left = |&(word, count): &(WordId, f64)| match self.rows.cell(word, *class) {
            _ if heavy => self.indexed(*class, word),
            Some(cell) => (less(cell.tokens, weight * count), less(cell.documents, *weight)),
            None => (0.0, 0.0),
        };
        let amounts: Vec<(f64, f64)> = words.iter().map(left).collect();
        if heavy {
            let of_class = self.index.documents().filter(|document| document.class == *class);
            let (documents, tokens) = of_class.fold((0.0, 0.0), |(documents, tokens), document| {
                (documents + document.weight, tokens + document.weight * document.length())
            });
            self.take_out(*class, words, &amounts, documents);
            self.classes[*class as usize].tokens = tokens;
        } else {
            let documents = less(self.classes[*class as usize].documents, *weight);
            self.take_out(*class, words, &amounts, documents);
        }
        if !self.classes[*class as usize].exists() {
            self.emptied.push(*class);
        }
    }

    /// Classes whose last document has left the window since the last call, and that are still
    /// empty.
    pub fn take_emptied(&mut self) -> Vec<ClassId> {
        let mut emptied = std::mem::take(&mut self.emptied);
        emptied.sort_unstable();
        emptied.dedup();
        emptied.retain(|&class| !self.classes[class as usize].exists());
        emptied
    }
}
