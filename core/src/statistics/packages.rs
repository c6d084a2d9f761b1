//! Attribute packages: pairs of dependent attributes with their conditional mutual information.
//!
//! The caller computes the packages periodically on a copy of the counts and swaps them in. In texts
//! each word is an attribute with its own id. Scores look up every pair of words of a message, so the
//! pairs are in a table with linear probing, where most look-ups have one cache miss.

use crate::counts::alloc::{element, fetch, heap_size};
use crate::counts::{AttributeId, Statistic, Store};
use crate::error::{Error, Result};

/// Two attributes that are in each other's package.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Member {
    pub low: AttributeId,
    /// Above `low`; in a free slot both are 0.
    pub high: AttributeId,
    /// Their conditional mutual information, in bits.
    pub information: f64,
}

const FREE: Member = Member { low: 0, high: 0, information: 0.0 };

/// The slots of pairs are fetched this many pairs ahead.
const AHEAD: usize = 16;

#[derive(Clone, Default)]
pub struct Packages {
    /// A power of two, at least twice the number of pairs.
    slots: Vec<Member>,
    /// The total information of each attribute with its package.
    strengths: Vec<f64>,
    /// Ids that were forgotten since.
    forgotten: Vec<bool>,
}

impl Packages {
    /// Make the packages of these distinct pairs.
    pub fn new(members: &[Member]) -> Result<Self> {
        let size = (members.len() * 2).next_power_of_two();
        let mut packages = Packages { slots: vec![FREE; size], ..Packages::default() };
        for (place, &member) in members.iter().enumerate() {
            if let Some(ahead) = members.get(place + AHEAD) {
                packages.touch(ahead.low, ahead.high);
            }
            let Member { low, high, information } = member;
            if low >= high || !(information > 0.0 && information.is_finite()) {
                return Err(Error::Invalid(
                    "packages: a pair must have ascending ids and positive finite information"
                        .into(),
                ));
            }
            if let Err(slot) = packages.find(low, high) {
                packages.slots[slot] = member;
                *element(&mut packages.strengths, high as usize) += information;
                packages.strengths[low as usize] += information;
            }
        }
        Ok(packages)
    }

    pub fn is_empty(&self) -> bool {
        self.strengths.is_empty()
    }

    /// Replace the total information of an attribute: it follows no forgetting.
    pub fn set_strength(&mut self, id: AttributeId, strength: f64) {
        *element(&mut self.strengths, id as usize) = strength;
    }

    /// Prefetch a pair.
    pub fn touch(&self, a: AttributeId, b: AttributeId) {
        let slot = hash(a.min(b), a.max(b)) as usize & self.slots.len().wrapping_sub(1);
        self.slots.get(slot).into_iter().for_each(fetch);
    }

    /// The information of two attributes; 0 if they are not in each other's package.
    pub fn information(&self, a: AttributeId, b: AttributeId) -> f64 {
        match self.find(a.min(b), a.max(b)) {
            Ok(slot) if self.is_known(a) && self.is_known(b) => self.slots[slot].information,
            _ => 0.0,
        }
    }

    /// The total information of an attribute with its package.
    pub fn strength(&self, id: AttributeId) -> f64 {
        let strength = self.strengths.get(id as usize).filter(|_| self.is_known(id));
        strength.copied().unwrap_or(0.0)
    }

    fn is_known(&self, id: AttributeId) -> bool {
        self.forgotten.get(id as usize) != Some(&true)
    }

    #[inline]
    fn find(&self, low: AttributeId, high: AttributeId) -> std::result::Result<usize, usize> {
        let mask = self.slots.len().wrapping_sub(1);
        let mut slot = hash(low, high) as usize & mask;
        while let Some(member) = self.slots.get(slot) {
            if member.low == low && member.high == high {
                return Ok(slot);
            }
            if member.low == member.high {
                break;
            }
            slot = (slot + 1) & mask;
        }
        Err(slot)
    }

    /// The pairs with the ids that `place` returns, sorted by these.
    pub fn members(&self, place: impl Fn(AttributeId) -> AttributeId) -> Vec<Member> {
        let known = |member: &&Member| {
            member.low != member.high && self.is_known(member.low) && self.is_known(member.high)
        };
        let translate = |&Member { low, high, information }: &Member| {
            let (a, b) = (place(low), place(high));
            Member { low: a.min(b), high: a.max(b), information }
        };
        let mut members: Vec<Member> = self.slots.iter().filter(known).map(translate).collect();
        members.sort_unstable_by_key(|member| (member.low, member.high));
        members
    }
}

impl Statistic for Packages {
    fn forget_attribute(&mut self, attribute: AttributeId) {
        if !self.is_empty() {
            *element(&mut self.forgotten, attribute as usize) = true;
        }
    }

    fn outlives_word_ids(&self) -> bool {
        true
    }

    fn size(&self) -> usize {
        heap_size(&self.slots) + heap_size(&self.strengths) + heap_size(&self.forgotten)
    }
}

static NONE: Packages =
    Packages { slots: Vec::new(), strengths: Vec::new(), forgotten: Vec::new() };

impl Store {
    /// The packages in use.
    pub fn packages(&self) -> &Packages {
        self.statistic().unwrap_or(&NONE)
    }
}

fn hash(low: AttributeId, high: AttributeId) -> u64 {
    let key = (u64::from(low) << 32) | u64::from(high);
    let product = u128::from(key ^ 0x9e37_79b9_7f4a_7c15) * 0xa076_1d64_78bd_642f_u128;
    (product as u64) ^ ((product >> 64) as u64)
}
