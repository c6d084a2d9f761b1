//! Numbers as bytes. Integers are LEB128; an integer count is stored doubled, any other count as 1
//! and its eight bytes.

use crate::counts::{ClassId, MAX_COUNT};
use crate::error::{Error, Result};

/// 2^510: the largest number of a state, except times. Decaying counts are at most 2^500.
const LARGEST: f64 = f64::from_bits((1_023 + 510) << 52);

pub fn corrupt(reason: &str) -> Error {
    Error::Corrupt(format!("corrupt counts: {reason}"))
}

pub fn put(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

pub fn put_count(bytes: &mut Vec<u8>, count: f64) {
    if (0.0..=MAX_COUNT).contains(&count) && count.fract() == 0.0 {
        put(bytes, (count as u64) << 1);
    } else {
        put(bytes, 1);
        bytes.extend_from_slice(&count.to_le_bytes());
    }
}

/// The position of each of `slots` ids in an order; 0 for other ids.
pub fn ranks(order: &[u32], slots: usize) -> Vec<u32> {
    let mut ranks = vec![0; slots];
    for (rank, &id) in order.iter().enumerate() {
        ranks[id as usize] = rank as u32;
    }
    ranks
}

/// A finite number of any sign.
pub fn put_float(bytes: &mut Vec<u8>, value: f64) {
    bytes.extend_from_slice(&value.to_le_bytes());
}

pub struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Reader { rest: bytes }
    }

    pub fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    pub fn take(&mut self, length: usize) -> Result<&'a [u8]> {
        let split = self.rest.split_at_checked(length);
        let (taken, rest) = split.ok_or_else(|| corrupt("unexpected end of the data"))?;
        self.rest = rest;
        Ok(taken)
    }

    pub fn number(&mut self) -> Result<u64> {
        let mut number: u64 = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.take(1)?[0];
            let part = u64::from(byte & 0x7f);
            if part << shift >> shift != part {
                break;
            }
            number |= part << shift;
            if byte & 0x80 == 0 {
                // The encoding is canonical without a trailing zero byte.
                let canonical = byte > 0 || shift == 0;
                return canonical.then_some(number).ok_or_else(|| corrupt("invalid number"));
            }
        }
        Err(corrupt("a number is too large"))
    }

    pub fn size(&mut self) -> Result<usize> {
        usize::try_from(self.number()?).map_err(|_| corrupt("a number is too large"))
    }

    pub fn flag(&mut self) -> Result<bool> {
        match self.number()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(corrupt("invalid flag")),
        }
    }

    /// An id below `limit`; the error describes any other number.
    pub fn id(&mut self, limit: usize, error: &str) -> Result<u32> {
        let number = self.number()?;
        if number < limit as u64 { Ok(number as u32) } else { Err(corrupt(error)) }
    }

    pub fn class(&mut self, classes: usize) -> Result<ClassId> {
        self.id(classes, "unknown class")
    }

    /// A number from 0 to [`LARGEST`].
    pub fn count(&mut self) -> Result<f64> {
        let number = self.number()?;
        if number & 1 == 0 {
            return Ok((number >> 1) as f64);
        }
        match self.float()? {
            count if number == 1 && count > 0.0 => Ok(count),
            _ => Err(corrupt("a count is out of range")),
        }
    }

    /// A number of any sign, of at most [`LARGEST`], so that sums and products stay finite.
    pub fn float(&mut self) -> Result<f64> {
        match self.finite()? {
            value if value.abs() <= LARGEST => Ok(value),
            _ => Err(corrupt("a number is too large")),
        }
    }

    /// A number of eight bytes.
    pub fn eight_bytes(&mut self) -> Result<u64> {
        let mut eight = [0; 8];
        eight.copy_from_slice(self.take(8)?);
        Ok(u64::from_le_bytes(eight))
    }

    /// A finite number of any sign.
    pub fn finite(&mut self) -> Result<f64> {
        let value = f64::from_bits(self.eight_bytes()?);
        if value.is_finite() { Ok(value) } else { Err(corrupt("a number is not finite")) }
    }

    pub fn positive(&mut self) -> Result<f64> {
        match self.count()? {
            0.0 => Err(corrupt("a count is zero")),
            count => Ok(count),
        }
    }
}
