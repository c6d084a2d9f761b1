//! The clock of decaying counts: the weight of a message that is learned now.

use crate::counts::rows::DIVISOR;

/// Half-lives after which the unit is scaled down.
const RANGE: f64 = DIVISOR as f64;

/// The weight of a message of weight 1. A clock counts messages, or follows their times in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Clock {
    /// Messages since the last division of all counts, or the latest time; [`Clock::NEVER`] before
    /// the first time.
    pub now: f64,
    /// The time of the last division, or the first time; 0 if messages are counted.
    pub begun: f64,
    /// Base-2 logarithm of the unit after that division.
    pub start: f64,
    pub unit: f64,
}

impl Clock {
    /// The time before any message.
    pub const NEVER: f64 = f64::MIN;

    /// A new clock, at message 0 or before any time.
    pub fn new(timed: bool) -> Self {
        let now = if timed { Self::NEVER } else { 0.0 };
        Clock { now, begun: now, start: 0.0, unit: 1.0 }
    }

    /// A clock with this state; None if no clock can reach the state.
    pub fn restored(half_life: f64, begun: f64, now: f64, start: f64) -> Option<Self> {
        let mut clock = Clock { now, begun, start, unit: 1.0 };
        let power = clock.power(half_life);
        clock.unit = power.exp2();
        ((0.0..RANGE).contains(&start) && begun <= now && power < RANGE).then_some(clock)
    }

    /// Base-2 logarithm of the unit.
    fn power(&self, half_life: f64) -> f64 {
        // With shorter half-lives nothing would be left in any case.
        self.start + (self.now - self.begun) / half_life.max(1.0 / (4.0 * RANGE))
    }

    /// Advances by one message; returns the number of divisions that the counts need.
    pub fn tick(&mut self, half_life: f64) -> u32 {
        let times = self.advance(self.now + 1.0, half_life);
        if times > 0 {
            (self.now, self.begun) = (0.0, 0.0);
        }
        times
    }

    /// Advances to the time of a message, by at most one half-life; returns the number of divisions
    /// that the counts need. An older message, or one without a time (NaN), counts as current.
    pub fn reach(&mut self, time: f64, half_life: f64) -> u32 {
        if self.now == Self::NEVER && !time.is_nan() {
            (self.now, self.begun) = (time, time);
        }
        if time > self.now { self.advance(time.min(self.now + half_life), half_life) } else { 0 }
    }

    /// Advances to the position of another time clock if that is later; returns the number of
    /// divisions that the counts need, and the factor by which the other clock's counts have
    /// decayed since.
    pub fn join(&mut self, other: &Clock, half_life: f64) -> (u32, f64) {
        if other.now == Self::NEVER {
            return (0, 1.0);
        }
        if self.now == Self::NEVER {
            (self.now, self.begun) = (other.now, other.now);
        }
        if other.now > self.now {
            return (self.advance(other.now, half_life), 1.0);
        }
        (0, (-(self.now - other.now) / half_life).exp2())
    }

    fn advance(&mut self, now: f64, half_life: f64) -> u32 {
        self.now = now;
        let power = self.power(half_life);
        if power < RANGE {
            self.unit = power.exp2();
            return 0;
        }
        let times = (power / RANGE).floor();
        let start = power - times * RANGE;
        *self = Clock { now, begun: now, start, unit: start.exp2() };
        times as u32
    }
}
