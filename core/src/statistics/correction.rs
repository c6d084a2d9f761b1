//! One number that is learned by steps, each shorter the more its gradients added up to: AdaGrad.

use crate::counts::codec::{Reader, corrupt, put_float};
use crate::error::Result;

/// How long steps are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rates {
    /// r.
    pub rate: f64,
    /// q.
    pub decay: f64,
}

/// A number that is learned by steps: w and G, or b and B.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Correction {
    pub weight: f64,
    pub squares: f64,
}

impl Correction {
    #[inline]
    pub fn step(&mut self, gradient: f64, rates: Rates) {
        self.squares += gradient * gradient;
        self.weight += rates.rate * gradient / (1.0 + rates.decay * self.squares).sqrt();
    }

    /// The mean of both by their evidence, which adds up.
    pub fn merge(&mut self, other: &Self) {
        if self.squares == 0.0 {
            *self = *other;
        } else if other.squares > 0.0 {
            let squares = self.squares + other.squares;
            let sum = self.weight * self.squares + other.weight * other.squares;
            *self = Correction { weight: sum / squares, squares };
        }
    }

    pub fn put(&self, bytes: &mut Vec<u8>) {
        put_float(bytes, self.weight);
        put_float(bytes, self.squares);
    }

    pub fn restore(reader: &mut Reader<'_>) -> Result<Self> {
        let (weight, squares) = (reader.float()?, reader.float()?);
        if squares < 0.0 {
            return Err(corrupt("a correction has no evidence"));
        }
        Ok(Correction { weight, squares })
    }
}
