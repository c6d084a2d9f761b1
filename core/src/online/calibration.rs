//! Probabilities from scores, learned from each score and the label that arrives afterwards.
//!
//!   P(y = 1 | s) = σ(a + k s)
//!
//! by Platt scaling. Each message updates a and k by a Newton step with slow decay f, where
//! v = max(P (1 − P), 10⁻⁴) of the score before the step:
//!
//!   H ← f H + (1 − f) H₀ + v (1, s)(1, s)ᵀ,   (a, k) ← (a, k) + H⁻¹ (1, s)(y − P)
//!
//! If some labels are wrong, y − P and v are the gradient and the information of the label's
//! probability instead ([`FlipRates`]).
//!
//! With a half-life, H also decays to H₀ with the counts.
//!
//! A message of weight w has w v for v, and w (y − P) for y − P.
//!
//! A label with P(y | s) < e⁻⁸ has the weight (e⁸ P(y | s))^0.2: one wrong click on a message that is
//! certain must not change the probabilities of all others.
//!
//! The start is (a, k) = (0, 1) and H = H₀ = 10 I, so that the first messages have little effect. k is
//! at least 0.05, so that probabilities rise with scores.
//!
//! Platt 1999: Probabilistic outputs for support vector machines.

use crate::counts::codec::{Reader, corrupt, put_float};
use crate::error::Result;
use crate::online::noise::{FlipRates, sigmoid};

/// The minimum of v, which limits the length of a step.
const LEAST_CURVATURE: f64 = 1e-4;
/// The diagonal of H₀.
const BEGINNING: f64 = 10.0;
const LEAST_SLOPE: f64 = 0.05;
/// Labels with log odds below −CERTAIN have less weight, by this power.
const CERTAIN: f64 = 8.0;
const CERTAIN_POWER: f64 = 0.2;
/// Larger scores are clamped, so that their squares are finite.
const MOST_SCORE: f64 = 1e6;
/// Steps are multiples of 1/STEPS, so that a step that is taken back leaves nothing.
const STEPS: f64 = 1_099_511_627_776.0;

/// A linear map from scores to log odds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Calibration {
    a: f64,
    k: f64,
    /// The entries of H: (1, 1), (1, s), (s, s).
    h: [f64; 3],
}

impl Default for Calibration {
    fn default() -> Self {
        Calibration { a: 0.0, k: 1.0, h: [BEGINNING, 0.0, BEGINNING] }
    }
}

impl Calibration {
    /// a + k s: the log odds of a score.
    pub fn log_odds(&self, score: f64) -> f64 {
        self.a + self.k * score
    }

    /// Learn the outcome of a score with this weight; `f` is the decay of the memory. Return the
    /// steps of a and k.
    pub fn learn(
        &mut self,
        score: f64,
        outcome: bool,
        weight: f64,
        f: f64,
        flips: FlipRates,
    ) -> (f64, f64) {
        if score.is_nan() {
            return (0.0, 0.0);
        }
        let s = score.clamp(-MOST_SCORE, MOST_SCORE);
        let u = self.log_odds(s);
        let of_label = if outcome { u } else { -u };
        let weight = weight * (CERTAIN_POWER * (of_label + CERTAIN).min(0.0)).exp();
        let (rise, fall) = (sigmoid(-u) * flips.trust(u, true), sigmoid(u) * flips.trust(u, false));
        let g = weight * if outcome { rise } else { -fall };
        let v = weight * (fall * rise).max(LEAST_CURVATURE);
        let [h00, h01, h11] = self.h;
        let h00 = f * h00 + (1.0 - f) * BEGINNING + v;
        let h01 = f * h01 + v * s;
        let h11 = f * h11 + (1.0 - f) * BEGINNING + v * s * s;
        // H ≥ H₀, so its determinant is positive.
        let determinant = h00 * h11 - h01 * h01;
        let exact = |step: f64| (step * STEPS).round_ties_even() / STEPS;
        let (a, k) = (self.a, self.k);
        self.a += exact((h11 - h01 * s) * g / determinant);
        self.k = (self.k + exact((h00 * s - h01) * g / determinant)).max(LEAST_SLOPE);
        self.h = [h00, h01, h11];
        (self.a - a, self.k - k)
    }

    /// Decay the memory: H ← left H + (1 − left) H₀, without rounding before the first step.
    pub fn decay(&mut self, left: f64) {
        if *self != Self::default() {
            let [h00, h01, h11] = self.h;
            let beginning = (1.0 - left) * BEGINNING;
            self.h = [left * h00 + beginning, left * h01, left * h11 + beginning];
        }
    }

    /// Take a step back. H keeps the message, which only shortens the next steps a little.
    pub fn take(&mut self, (a, k): (f64, f64)) {
        self.a -= a;
        self.k = (self.k - k).max(LEAST_SLOPE);
    }

    /// The calibration for negated scores and the opposite outcome.
    pub fn mirrored(&self) -> Self {
        let [h00, h01, h11] = self.h;
        Calibration { a: -self.a, k: self.k, h: [h00, -h01, h11] }
    }

    /// Merge another calibration: (a, k) is the mean of both, weighted by H without the second H₀.
    pub fn merge(&mut self, other: &Self) {
        let nothing = Self::default();
        if *other == nothing {
            return;
        }
        if *self == nothing {
            *self = *other;
            return;
        }
        let by_h = |c: &Self| {
            let [h00, h01, h11] = c.h;
            (h00 * c.a + h01 * c.k, h01 * c.a + h11 * c.k)
        };
        let (ours, theirs) = (by_h(self), by_h(other));
        let began = by_h(&nothing);
        let (y0, y1) = (ours.0 + theirs.0 - began.0, ours.1 + theirs.1 - began.1);
        let [h00, h01, h11]: [f64; 3] =
            std::array::from_fn(|i| self.h[i] + other.h[i] - nothing.h[i]);
        let determinant = h00 * h11 - h01 * h01;
        self.a = (h11 * y0 - h01 * y1) / determinant;
        self.k = ((h00 * y1 - h01 * y0) / determinant).max(LEAST_SLOPE);
        self.h = [h00, h01, h11];
    }

    pub fn put(&self, bytes: &mut Vec<u8>) {
        let [h00, h01, h11] = self.h;
        [self.a, self.k, h00, h01, h11].into_iter().for_each(|value| put_float(bytes, value));
    }

    pub fn restore(reader: &mut Reader<'_>) -> Result<Self> {
        let (a, k) = (reader.float()?, reader.float()?);
        let h = [reader.float()?, reader.float()?, reader.float()?];
        let determinant = h[0] * h[2] - h[1] * h[1];
        let sound = k >= LEAST_SLOPE && h[0] > 0.0 && h[2] > 0.0 && determinant > 0.0;
        if sound { Ok(Calibration { a, k, h }) } else { Err(corrupt("invalid calibration")) }
    }
}
