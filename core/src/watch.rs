//! Count the steps of long work, so that the caller can stop it.

use std::cell::Cell;
use std::time::{Duration, Instant};

/// Number of steps between two checks of the clock, about a millisecond.
const STEPS: u64 = 1 << 18;

/// Time between two checks of whether to stop: short for a user who presses a key, and long compared
/// with the cost of a check.
const PATIENCE: Duration = Duration::from_millis(50);

/// Counts the steps of long work and periodically checks whether to stop.
///
/// Stopped work ends soon, with invalid results. It stays stopped.
#[derive(Default)]
pub struct Watch<'a> {
    goes_on: Option<&'a dyn Fn() -> bool>,
    steps: Cell<u64>,
    next: Cell<u64>,
    asked: Cell<Option<Instant>>,
    stopped: Cell<bool>,
}

impl<'a> Watch<'a> {
    /// A watch that stops the work when `goes_on` returns false.
    pub fn asking(goes_on: &'a dyn Fn() -> bool) -> Self {
        Watch { goes_on: Some(goes_on), asked: Cell::new(Some(Instant::now())), ..Self::default() }
    }

    /// Count steps; return whether the work must stop.
    #[inline]
    pub fn stops(&self, steps: usize) -> bool {
        let done = self.steps.get() + steps as u64;
        self.steps.set(done);
        if done >= self.next.get() {
            self.look();
        }
        self.stopped.get()
    }

    /// Check if enough time has passed since the last check; return whether the work must stop.
    pub fn asks(&self) -> bool {
        self.look();
        self.stopped.get()
    }

    /// Whether the work was stopped, so that its results are invalid.
    pub fn is_stopped(&self) -> bool {
        self.stopped.get()
    }

    /// The number of steps so far.
    pub fn steps(&self) -> u64 {
        self.steps.get()
    }

    #[cold]
    fn look(&self) {
        self.next.set(self.steps.get() + STEPS);
        let (Some(goes_on), Some(asked)) = (self.goes_on, self.asked.get()) else { return };
        if !self.stopped.get() && asked.elapsed() >= PATIENCE {
            self.stopped.set(!goes_on());
            self.asked.set(Some(Instant::now()));
        }
    }
}
