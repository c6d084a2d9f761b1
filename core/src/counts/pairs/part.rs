//! A small part of the pair table: slots with linear probing.

use crate::counts::rows::{ClassId, take};
use crate::counts::vocabulary::WordId;

pub const NONE: u32 = u32::MAX;

/// Minimum number of slots for each used slot.
const SLOTS_PER_CELL: f64 = 1.6;

/// Both directions of one unordered pair in one class.
#[derive(Clone, Copy)]
pub struct PairCell {
    pub low: WordId,
    /// Greater than `low`, or equal to it if the table pairs words with themselves; `NONE` in a
    /// free slot.
    pub high: WordId,
    pub class: ClassId,
    /// The pair's cell of the next class in `more`, or `NONE`.
    pub next: u32,
    /// Σ f_low over documents of the class that contain `high`.
    pub low_count: f64,
    /// Σ f_high over documents of the class that contain `low`.
    pub high_count: f64,
}

/// The slots of a part: a power of two, or none.
#[derive(Clone, Default)]
pub struct Part {
    pub slots: Vec<PairCell>,
    pub used: usize,
}

impl Part {
    /// The first slot for a pair of this hash.
    #[inline]
    pub fn home(&self, hash: u64) -> usize {
        hash as usize & self.slots.len().wrapping_sub(1)
    }

    /// The slot that holds a pair, or the free slot where it belongs.
    #[inline]
    pub fn find(&self, hash: u64, low: WordId, high: WordId) -> Result<usize, usize> {
        let mask = self.slots.len().wrapping_sub(1);
        let mut slot = self.home(hash);
        while let Some(cell) = self.slots.get(slot) {
            if cell.low == low && cell.high == high {
                return Ok(slot);
            }
            if cell.is_free() {
                break;
            }
            slot = (slot + 1) & mask;
        }
        Err(slot)
    }

    /// Inserts a new pair.
    #[inline]
    pub fn insert(&mut self, hash: u64, cell: PairCell) {
        let needed = slots(self.used + 1);
        if needed > self.slots.len() {
            self.enlarge(needed);
        }
        if let Err(slot) = self.find(hash, cell.low, cell.high) {
            self.slots[slot] = cell;
            self.used += 1;
        }
    }

    /// A part with room for `used` pairs.
    pub fn with_room(used: usize) -> Self {
        let slots = vec![PairCell::FREE; slots(used).next_power_of_two()];
        Part { slots, used: 0 }
    }

    pub fn size(&self) -> usize {
        self.slots.len() * size_of::<PairCell>()
    }

    #[cold]
    fn enlarge(&mut self, needed: usize) {
        let slots = vec![PairCell::FREE; needed.next_power_of_two()];
        for cell in std::mem::replace(&mut self.slots, slots) {
            if !cell.is_free()
                && let Err(slot) = self.find(hash(cell.low, cell.high), cell.low, cell.high)
            {
                self.slots[slot] = cell;
            }
        }
    }

    /// Frees a slot and moves up later pairs that would otherwise become unreachable.
    pub fn vacate(&mut self, mut hole: usize) {
        let mask = self.slots.len() - 1;
        let mut slot = hole;
        loop {
            slot = (slot + 1) & mask;
            let cell = self.slots[slot];
            if cell.is_free() {
                break;
            }
            let home = hash(cell.low, cell.high) as usize & mask;
            // Distances from the cell's home slot, modulo the size of the table.
            if slot.wrapping_sub(home) & mask >= slot.wrapping_sub(hole) & mask {
                self.slots[hole] = cell;
                hole = slot;
            }
        }
        self.slots[hole] = PairCell::FREE;
        self.used -= 1;
    }
}

/// Number of slots for `used` pairs: one always stays free.
fn slots(used: usize) -> usize {
    ((used + 1) as f64 * SLOTS_PER_CELL) as usize
}

/// Ids are dense, and senders of messages cannot choose them: one folded multiplication suffices.
#[inline]
pub fn hash(low: WordId, high: WordId) -> u64 {
    let key = (u64::from(low) << 32) | u64::from(high);
    let product = u128::from(key ^ 0x9e37_79b9_7f4a_7c15) * 0xa076_1d64_78bd_642f_u128;
    (product as u64) ^ ((product >> 64) as u64)
}

impl PairCell {
    pub const FREE: PairCell =
        PairCell { low: NONE, high: NONE, class: 0, next: NONE, low_count: 0.0, high_count: 0.0 };

    pub fn new(a: WordId, b: WordId, class: ClassId, count_a: f64, count_b: f64) -> Self {
        let (low, high, low_count, high_count) =
            if a < b { (a, b, count_a, count_b) } else { (b, a, count_b, count_a) };
        PairCell { low, high, class, next: NONE, low_count, high_count }
    }

    #[inline]
    pub fn is_free(&self) -> bool {
        self.high == NONE
    }

    #[inline]
    pub fn increase(&mut self, by: &PairCell) {
        self.low_count += by.low_count;
        self.high_count += by.high_count;
    }

    /// Subtracts counts; true if nothing is left.
    pub fn reduce(&mut self, by: &PairCell) -> bool {
        self.low_count = take(self.low_count, by.low_count).unwrap_or(0.0);
        self.high_count = take(self.high_count, by.high_count).unwrap_or(0.0);
        self.low_count == 0.0 || self.high_count == 0.0
    }
}
