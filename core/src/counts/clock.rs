//! The clock of decaying counts: the weight of a message that is learned now.

use crate::counts::rows::DIVISOR;

/// Half-lives after which the unit is scaled down.
const RANGE: f64 = DIVISOR as f64;

/// The weight of a message of weight 1. A clock counts messages, or follows their times in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Clock {
    /// Messages so far, or the latest time; [`Clock::NEVER`] before the first time.
    pub now: f64,
    /// Clock position at the last division of all counts, or at the start.
    pub begun: f64,
    /// Base-2 logarithm of the unit after that division.
    pub start: f64,
    pub unit: f64,
}

impl Clock {
    /// The time before any message.
    pub const NEVER: f64 = f64::NEG_INFINITY;

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

    /// Messages or seconds since the last division of all counts.
    pub fn elapsed(&self) -> f64 {
        if self.now == self.begun { 0.0 } else { self.now - self.begun }
    }

    /// Base-2 logarithm of the unit.
    fn power(&self, half_life: f64) -> f64 {
        // With shorter half-lives nothing would be left in any case.
        self.start + self.elapsed() / half_life.max(1.0 / (4.0 * RANGE))
    }

    /// Advances by one message; returns the number of divisions that the counts need.
    pub fn tick(&mut self, half_life: f64) -> u32 {
        self.advance(self.now + 1.0, half_life)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_unit_doubles_in_a_half_life_and_stays_in_range() {
        let mut clock = Clock::new(false);
        for _ in 0..20 {
            assert_eq!(clock.tick(10.0), 0);
        }
        assert_eq!(clock.unit, 4.0);
        let mut divided = 0;
        for _ in 20..1_000_000 {
            divided += clock.tick(10.0);
            assert!((1.0..RANGE.exp2()).contains(&clock.unit));
        }
        assert!((clock.unit.log2() + RANGE * f64::from(divided) - 100_000.0).abs() < 1e-6);
        let Clock { begun, now, start, .. } = clock;
        assert_eq!(Clock::restored(10.0, begun, now, start), Some(clock));
        for (messages, start) in [(1.0, 256.0), (1.0, -1.0), (1.0, f64::NAN), (2560.0, 0.0)] {
            assert_eq!(Clock::restored(10.0, 0.0, messages, start), None);
        }
        assert_eq!(Clock::restored(10.0, 1.0, 0.0, 0.0), None);
    }

    #[test]
    fn however_short_a_half_life_is_the_unit_is_a_number() {
        for half_life in [f64::MIN_POSITIVE, 1e-9, 0.5] {
            let mut clock = Clock::new(false);
            for _ in 0..5000 {
                clock.tick(half_life);
                assert!((1.0..RANGE.exp2()).contains(&clock.unit), "{half_life}");
            }
        }
    }

    #[test]
    fn times_go_on_by_a_half_life_at_most_and_never_back() {
        let mut clock = Clock::new(true);
        let mut reached = |time: f64| {
            assert_eq!(clock.reach(time, 10.0), 0);
            (clock.now, clock.unit)
        };
        assert_eq!(reached(f64::NAN), (Clock::NEVER, 1.0));
        assert_eq!(reached(-5.0), (-5.0, 1.0));
        assert_eq!(reached(5.0), (5.0, 2.0));
        assert_eq!(reached(-100.0), (5.0, 2.0));
        assert_eq!(reached(f64::NAN), (5.0, 2.0));
        assert_eq!(reached(1e300), (15.0, 4.0));
        let (mut late, mut never) = (Clock::new(true), Clock::new(true));
        late.reach(10_015.0, 10.0);
        assert_eq!(late.join(&clock, 10.0), (0, (-1000f64).exp2()));
        assert_eq!(clock.join(&late, 10.0), (3, 1.0));
        assert_eq!((clock.now, clock.unit.log2()), (late.now, 1002.0 - 768.0));
        assert_eq!(clock.join(&never, 10.0), (0, 1.0));
        assert_eq!((never.join(&clock, 10.0), never.now), ((0, 1.0), clock.now));
    }
}
