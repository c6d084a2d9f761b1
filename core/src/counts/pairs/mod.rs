//! The pair table: how often two words stand in the same indexed document, class by class.
//!
//! It holds nothing that the document index does not: it trades memory for a prediction whose
//! cost does not grow with the stream. Once it would need more cells than allowed it is dropped
//! for good, and predictions walk the postings instead, with the same result.
//!
//! The table is far larger than a cache, and nearly every look-up misses it. So it is probed
//! linearly, from half a cache line on, and whoever wants many pairs [`touch`](PairTable::touch)es
//! them all first: the misses then overlap. That made learning and predicting about three times
//! as fast on the SMS collection as a general hash table.

use crate::counts::rows::{ClassId, take};
use crate::counts::vocabulary::WordId;
use std::hint::black_box;

const NONE: u32 = u32::MAX;

/// Slots for each slot in use, at least.
const SLOTS_PER_CELL: f64 = 1.6;

/// Both directions of one unordered pair in one class.
#[derive(Clone, Copy)]
struct PairCell {
    low: WordId,
    /// Above `low`, or `low` itself where the table holds words with themselves; `NONE` in a free
    /// slot.
    high: WordId,
    class: ClassId,
    /// The pair's cell of another class in `more`, or `NONE`.
    next: u32,
    /// Σ f_low over documents of the class that contain `high`.
    low_count: f64,
    /// Σ f_high over documents of the class that contain `low`.
    high_count: f64,
}

/// What one class knows of a pair (a, b), seen from the caller's order of the two words.
#[derive(Clone, Copy)]
pub struct Pair {
    pub class: ClassId,
    /// Σ f_a over documents of the class that contain b.
    pub first: f64,
    /// Σ f_b over documents of the class that contain a.
    pub second: f64,
}

#[derive(Clone)]
pub struct PairTable {
    /// A power of two of slots.
    slots: Vec<PairCell>,
    used: usize,
    more: Vec<PairCell>,
    free: Vec<u32>,
    limit: usize,
    /// Whether each word is also paired with itself.
    own: bool,
    dropped: bool,
}

impl PairTable {
    /// A table of at most `limit` (pair, class) cells; with 0 it is never used. With `own` each
    /// word is also paired with itself, which holds its tokens in the indexed documents.
    pub fn new(limit: usize, own: bool) -> Self {
        PairTable {
            slots: Vec::new(),
            used: 0,
            more: Vec::new(),
            free: Vec::new(),
            limit,
            own,
            dropped: limit == 0,
        }
    }

    /// Whether the table covers the index, so that it can be asked.
    pub fn is_complete(&self) -> bool {
        !self.dropped
    }

    /// How many (pair, class) cells are held.
    pub fn len(&self) -> usize {
        self.used + self.more.len() - self.free.len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Adds a document's pairs; drops the whole table if they don't fit.
    pub fn learn(&mut self, class: ClassId, words: &[(WordId, f64)], weight: f64) {
        if self.dropped {
            return;
        }
        for (position, &(a, count_a)) in words.iter().enumerate() {
            let others = &words[position + usize::from(!self.own)..];
            self.reserve(others.len());
            self.touch_all(a, others);
            for &(b, count_b) in others {
                self.add(PairCell::new(a, b, class, weight * count_a, weight * count_b));
            }
            if self.len() > self.limit {
                *self = PairTable::new(0, self.own);
                return;
            }
        }
    }

    /// Takes a document's pairs back. `words` are the words it was learned with.
    pub fn unlearn(&mut self, class: ClassId, words: &[(WordId, f64)], weight: f64) {
        if self.dropped {
            return;
        }
        for (position, &(a, count_a)) in words.iter().enumerate() {
            let others = &words[position + usize::from(!self.own)..];
            self.touch_all(a, others);
            for &(b, count_b) in others {
                self.subtract(PairCell::new(a, b, class, weight * count_a, weight * count_b));
            }
        }
    }

    fn touch_all(&self, a: WordId, others: &[(WordId, f64)]) {
        others.iter().for_each(|&(b, _)| self.touch(a, b));
    }

    /// Brings a pair closer before it is asked for; no answer is waited for.
    #[inline]
    pub fn touch(&self, a: WordId, b: WordId) {
        let slot = hash(a.min(b), a.max(b)) as usize & self.slots.len().wrapping_sub(1);
        black_box(self.slots.get(slot).map(|cell| cell.low));
    }

    /// The classes in which `a` and `b` meet.
    #[inline]
    pub fn pairs(&self, a: WordId, b: WordId) -> impl Iterator<Item = Pair> {
        let slot = self.find(a.min(b), a.max(b)).ok();
        let mut cell = slot.map(|slot| &self.slots[slot]);
        std::iter::from_fn(move || {
            let current = cell?;
            cell = self.more.get(current.next as usize);
            let (first, second) = if a < b {
                (current.low_count, current.high_count)
            } else {
                (current.high_count, current.low_count)
            };
            Some(Pair { class: current.class, first, second })
        })
    }

    /// The slot that holds a pair, or the free one where it belongs.
    #[inline]
    fn find(&self, low: WordId, high: WordId) -> Result<usize, usize> {
        let mask = self.slots.len().wrapping_sub(1);
        let mut slot = hash(low, high) as usize & mask;
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

    /// Makes room for `added` pairs, so that a free slot always remains.
    fn reserve(&mut self, added: usize) {
        let needed = ((self.used + added + 1) as f64 * SLOTS_PER_CELL) as usize;
        if needed <= self.slots.len() {
            return;
        }
        let slots = vec![PairCell::FREE; needed.next_power_of_two()];
        for cell in std::mem::replace(&mut self.slots, slots) {
            if !cell.is_free()
                && let Err(slot) = self.find(cell.low, cell.high)
            {
                self.slots[slot] = cell;
            }
        }
    }

    #[inline]
    fn add(&mut self, added: PairCell) {
        let head = match self.find(added.low, added.high) {
            Ok(slot) => &mut self.slots[slot],
            Err(slot) => {
                self.slots[slot] = added;
                self.used += 1;
                return;
            }
        };
        if head.class == added.class {
            head.increase(&added);
            return;
        }
        // The last cell of the chain is linked to where a new one will lie.
        let free = self.free.last().copied().unwrap_or(self.more.len() as u32);
        let mut next = head.next;
        if next == NONE {
            head.next = free;
        }
        while next != NONE {
            let cell = &mut self.more[next as usize];
            if cell.class == added.class {
                cell.increase(&added);
                return;
            }
            next = cell.next;
            if next == NONE {
                cell.next = free;
            }
        }
        match self.free.pop() {
            Some(position) => self.more[position as usize] = added,
            None => self.more.push(added),
        }
    }

    fn subtract(&mut self, taken: PairCell) {
        let Ok(slot) = self.find(taken.low, taken.high) else { return };
        let head = &mut self.slots[slot];
        if head.class == taken.class {
            if !head.reduce(&taken) {
                return;
            }
            match self.more.get(head.next as usize).copied() {
                Some(successor) => {
                    self.free.push(head.next);
                    *head = successor;
                }
                None => self.vacate(slot),
            }
            return;
        }
        let mut previous = NONE;
        let mut position = head.next;
        while let Some(cell) = self.more.get_mut(position as usize) {
            let next = cell.next;
            if cell.class == taken.class {
                if cell.reduce(&taken) {
                    self.free.push(position);
                    match self.more.get_mut(previous as usize) {
                        Some(cell) => cell.next = next,
                        None => self.slots[slot].next = next,
                    }
                }
                return;
            }
            previous = position;
            position = next;
        }
    }

    /// Frees a slot and moves up those behind it that would not be found any more.
    fn vacate(&mut self, mut hole: usize) {
        let mask = self.slots.len() - 1;
        let mut slot = hole;
        loop {
            slot = (slot + 1) & mask;
            let cell = self.slots[slot];
            if cell.is_free() {
                break;
            }
            let home = hash(cell.low, cell.high) as usize & mask;
            // Distances from the cell's home, around the end of the table.
            if slot.wrapping_sub(home) & mask >= slot.wrapping_sub(hole) & mask {
                self.slots[hole] = cell;
                hole = slot;
            }
        }
        self.slots[hole] = PairCell::FREE;
        self.used -= 1;
    }

    /// The table where each word has another id; words may become one that never met.
    pub fn renamed(&self, word_of: &[WordId]) -> Self {
        let mut renamed =
            PairTable { dropped: self.dropped, ..PairTable::new(self.limit, self.own) };
        for slot in self.slots.iter().filter(|cell| !cell.is_free()) {
            let mut cell = Some(slot);
            while let Some(&PairCell { low, high, class, next, low_count, high_count }) = cell {
                let (a, b) = (word_of[low as usize], word_of[high as usize]);
                renamed.reserve(1);
                renamed.add(PairCell::new(a, b, class, low_count, high_count));
                cell = self.more.get(next as usize);
            }
        }
        renamed
    }

    pub fn size(&self) -> usize {
        (self.slots.capacity() + self.more.capacity()) * size_of::<PairCell>()
            + self.free.capacity() * size_of::<u32>()
    }
}

/// Ids are dense and not chosen by whoever writes the messages: one folded multiplication will do.
#[inline]
fn hash(low: WordId, high: WordId) -> u64 {
    let key = (u64::from(low) << 32) | u64::from(high);
    let product = u128::from(key ^ 0x9e37_79b9_7f4a_7c15) * 0xa076_1d64_78bd_642f_u128;
    (product as u64) ^ ((product >> 64) as u64)
}

impl PairCell {
    const FREE: PairCell =
        PairCell { low: NONE, high: NONE, class: 0, next: NONE, low_count: 0.0, high_count: 0.0 };

    fn new(a: WordId, b: WordId, class: ClassId, count_a: f64, count_b: f64) -> Self {
        let (low, high, low_count, high_count) =
            if a < b { (a, b, count_a, count_b) } else { (b, a, count_b, count_a) };
        PairCell { low, high, class, next: NONE, low_count, high_count }
    }

    #[inline]
    fn is_free(&self) -> bool {
        self.high == NONE
    }

    #[inline]
    fn increase(&mut self, by: &PairCell) {
        self.low_count += by.low_count;
        self.high_count += by.high_count;
    }

    /// Takes counts away; true when nothing is left.
    fn reduce(&mut self, by: &PairCell) -> bool {
        self.low_count = take(self.low_count, by.low_count).unwrap_or(0.0);
        self.high_count = take(self.high_count, by.high_count).unwrap_or(0.0);
        self.low_count == 0.0 || self.high_count == 0.0
    }
}

#[cfg(test)]
mod tests;
