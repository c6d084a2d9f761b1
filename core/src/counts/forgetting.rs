//! Forgetting: messages count for less with every message after them, or leave a window.
//!
//! After message t, a message of weight w that was learned at s counts for w 2^(−(t − s)/h), h the
//! half-life. To shrink all counts with each message would cost all of them. So the counts keep, and
//! a message is learned with as much more weight as those before it are to lose: the *unit*
//! 2^(t/h), what a message of weight 1 counts for now. Who reads counts reads them in units; who
//! scores has the smoothing in units, as all else in an estimate is a ratio of counts.
//!
//! The age t − s is in messages, or in seconds of the times that come with the messages.
//!
//! Before the unit leaves the range of numbers all counts are divided by a power of two, which is
//! exact: those of classes at once, those of words when they are next touched, and until then as
//! they are read (`crate::counts::rows`).

use crate::counts::index::Document;
use crate::counts::rows::{Class, ClassId, take};
use crate::counts::store::{Settings, Store};
use crate::counts::vocabulary::WordId;
use crate::error::{Error, Result};

/// The share of a count within which nothing is left of it: what was learned n half-lives ago is
/// known to about n units in the last place.
const RESIDUE: f64 = 1e-12;

/// Weights in a window are multiples of 1 / STEPS: so what leaves it leaves no rounding.
const STEPS: f64 = 1_048_576.0;

/// Beside such a weight others in the window, multiples of 2^-20, may be lost in rounding.
const HEAVY: f64 = (1_u64 << 29) as f64;

impl Settings {
    /// Whether messages count for less in time, or for nothing.
    pub fn forgets(&self) -> bool {
        self.half_life.is_some() || self.windowed
    }

    /// Refuses a half-life that is none, and what does not go together.
    pub fn check_forgetting(&self) -> Result<()> {
        if self.windowed && self.index_size == 0 {
            return Err(Error::Invalid("a window is of one message at least".into()));
        }
        let Some(half_life) = self.half_life else {
            return match self.timed {
                true => Err(Error::Invalid("times are of counts with a half-life".into())),
                false => Ok(()),
            };
        };
        if !(half_life > 0.0 && half_life.is_finite()) {
            return Err(Error::Invalid(format!(
                "half_life must be a number of messages above 0, not {half_life}"
            )));
        }
        if self.timed && half_life < 1.0 {
            return Err(Error::Invalid(format!(
                "half_life must be a second at least, not {half_life}"
            )));
        }
        if self.index_size > 0 || self.instance_weights || self.columns {
            return Err(Error::Invalid(
                "counts with a half-life are of texts, without an index of messages".into(),
            ));
        }
        Ok(())
    }

    /// Refuses a weight that a window could not take back exactly.
    #[inline]
    pub fn check_in_window(&self, weight: f64) -> Result<()> {
        if self.windowed { check_multiple(weight) } else { Ok(()) }
    }
}

#[cold]
fn check_multiple(weight: f64) -> Result<()> {
    if (weight * STEPS).fract() == 0.0 {
        return Ok(());
    }
    Err(Error::Invalid(format!(
        "in a window the weight of a message must be a multiple of 2**-20, so that it can leave \
         without a trace, not {weight}: round it, or forget by half_life instead"
    )))
}

impl Store {
    /// What a message of weight 1 that was learned last counts for in the counts.
    #[inline]
    pub fn unit(&self) -> f64 {
        self.clock.unit
    }

    /// Goes on by a message; returns what it counts for beside its weight.
    #[inline]
    pub(crate) fn tick(&mut self) -> f64 {
        if let Some(half_life) = self.settings.half_life {
            self.tick_by(half_life);
        }
        self.clock.unit
    }

    #[cold]
    fn tick_by(&mut self, half_life: f64) {
        let times = if self.settings.timed {
            let time = self.times.pop_front().unwrap_or(f64::NAN);
            self.clock.reach(time, half_life)
        } else {
            self.clock.tick(half_life)
        };
        self.divide(times);
    }

    /// Says when the messages came that are learned next: seconds, NaN where that is not known.
    pub fn expect_times(&mut self, times: Vec<f64>) {
        self.times = times.into();
    }

    /// Lets what was learned so far count for 2^−half_lives of it, as if these had passed. The store
    /// is one with a half-life.
    pub fn fade(&mut self, half_lives: f64) -> Result<()> {
        let Some(half_life) = self.settings.half_life else {
            return Err(Error::Invalid("only counts with a half-life fade".into()));
        };
        if !(half_lives >= 0.0 && half_lives.is_finite()) {
            return Err(Error::Invalid(format!(
                "half_lives must be a number from 0 on, not {half_lives}"
            )));
        }
        if self.classes.iter().any(Class::exists) {
            let times = self.clock.skip(half_lives, half_life);
            self.divide(times);
            self.version += 1;
        }
        Ok(())
    }

    fn divide(&mut self, times: u32) {
        if times > 0 {
            // Statistics of stores with a half-life hold no counts.
            self.rows.divide(times);
            self.classes.iter_mut().for_each(|class| class.divide(times));
            self.version += 1;
        }
    }

    /// What another store's counts are multiplied by to be of this one's unit. The last messages of
    /// both are of the same moment; with a half-life in time each is of its own.
    pub(crate) fn units_of(&mut self, other: &Store) -> f64 {
        if self.classes.iter().all(|class| !class.exists()) {
            self.clock = other.clock;
        }
        let mut left = 1.0;
        if let Some(half_life) = self.settings.half_life.filter(|_| self.settings.timed) {
            let (times, of_other) = self.clock.join(&other.clock, half_life);
            self.divide(times);
            left = of_other;
        }
        left * (self.clock.unit / other.clock.unit)
    }

    /// `count - amount`, or `None` when that much is not there. With a half-life both are rounded.
    pub(crate) fn less(&self, count: f64, amount: f64) -> Option<f64> {
        if self.settings.half_life.is_some() && (count - amount).abs() <= RESIDUE * count {
            return Some(0.0);
        }
        take(count, amount)
    }

    /// Takes the counts of a document back that has left the window.
    pub(crate) fn leave_window(&mut self, document: &Document) {
        let Document { class, weight, words, .. } = document;
        let left = |&(word, count): &(WordId, f64)| {
            let cell = self.rows.cell(word, *class);
            let (tokens, documents) = cell.map_or((0.0, 0.0), |c| (c.tokens, c.documents));
            let less = |count: f64, amount: f64| take(count, amount).unwrap_or(0.0);
            (less(tokens, weight * count), less(documents, *weight))
        };
        if *weight >= HEAVY {
            return self.recount(*class, words);
        }
        let amounts: Vec<(f64, f64)> = words.iter().map(left).collect();
        let documents = take(self.classes[*class as usize].documents, *weight).unwrap_or(0.0);
        self.leave(*class, words, &amounts, documents);
    }

    /// Counts a class, and these words in it, anew by the documents in the window.
    #[cold]
    fn recount(&mut self, class: ClassId, words: &[(WordId, f64)]) {
        let amounts: Vec<_> = words.iter().map(|&(word, _)| self.indexed(class, word)).collect();
        let (mut documents, mut tokens) = (0.0, 0.0);
        for document in self.index.documents().filter(|document| document.class == class) {
            documents += document.weight;
            tokens += document.weight * document.length();
        }
        self.leave(class, words, &amounts, documents);
        self.classes[class as usize].tokens = tokens;
    }

    /// Leaves a class what is left of it in the window.
    fn leave(
        &mut self,
        class: ClassId,
        words: &[(WordId, f64)],
        left: &[(f64, f64)],
        documents: f64,
    ) {
        self.take_out(class, words, left, documents);
        if documents == 0.0 {
            self.emptied.push(class);
        }
    }

    /// The classes whose last document has left the window since this was called, and which have
    /// none.
    pub fn take_emptied(&mut self) -> Vec<ClassId> {
        let mut emptied = std::mem::take(&mut self.emptied);
        emptied.sort_unstable();
        emptied.dedup();
        emptied.retain(|&class| !self.classes[class as usize].exists());
        emptied
    }
}
