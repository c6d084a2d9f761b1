//! Sums that do not depend on the order in which numbers are added.

use crate::counts::codec::Reader;
use crate::error::Result;

/// Numbers are rounded to multiples of 1/STEPS before they are added.
const STEPS: f64 = (1_u64 << 48) as f64;

/// A sum of numbers, each rounded to a multiple of 2^-48. Taking a number undoes adding it exactly, so
/// models that add the same numbers in another order have equal sums.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ExactSum(i128);

impl ExactSum {
    pub fn add(&mut self, number: f64) {
        self.0 = self.0.saturating_add((number * STEPS).round() as i128);
    }

    pub fn take(&mut self, number: f64) {
        self.0 = self.0.saturating_sub((number * STEPS).round() as i128);
    }

    pub fn value(self) -> f64 {
        self.0 as f64 / STEPS
    }

    pub fn put(self, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(&self.0.to_le_bytes());
    }

    pub fn restore(reader: &mut Reader<'_>) -> Result<Self> {
        let mut sixteen = [0; 16];
        sixteen.copy_from_slice(reader.take(16)?);
        Ok(ExactSum(i128::from_le_bytes(sixteen)))
    }
}

impl FromIterator<f64> for ExactSum {
    fn from_iter<I: IntoIterator<Item = f64>>(numbers: I) -> Self {
        let mut sum = ExactSum::default();
        numbers.into_iter().for_each(|number| sum.add(number));
        sum
    }
}
