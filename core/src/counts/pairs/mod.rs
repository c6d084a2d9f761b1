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
//!
//! It grows by linear hashing: it lies in many small parts, of which one is split in two at a time,
//! and a table that is dropped goes part by part. So no message waits for all of it.

mod part;

use crate::counts::pairs::part::{NONE, PairCell, Part, hash};
use crate::counts::room::make_room;
use crate::counts::rows::ClassId;
use crate::counts::vocabulary::WordId;
use std::hint::black_box;

/// Slots in use in a part, on average: a split moves about so many.
const SPREAD: usize = 200;

/// Which bits of a hash choose the part: not those that choose a slot in it.
const CHOICE: u32 = 32;

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
    parts: Vec<Part>,
    /// One less than the power of two at or above the number of parts.
    mask: usize,
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
            parts: vec![Part::default()],
            mask: 0,
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
            // What is left of it: a few kilobytes.
            self.parts.pop();
            return;
        }
        for (position, &(a, count_a)) in words.iter().enumerate() {
            let others = &words[position + usize::from(!self.own)..];
            self.touch_all(a, others);
            for &(b, count_b) in others {
                self.add(PairCell::new(a, b, class, weight * count_a, weight * count_b));
            }
            if self.len() > self.limit {
                let parts = std::mem::take(&mut self.parts);
                *self = PairTable { parts, ..PairTable::new(0, self.own) };
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

    /// Takes back a document's pairs of which one word at least is in `gone`; `kept` are the others.
    pub fn unlearn_some(
        &mut self,
        class: ClassId,
        gone: &[(WordId, f64)],
        kept: &[(WordId, f64)],
        weight: f64,
    ) {
        self.unlearn(class, gone, weight);
        if self.dropped {
            return;
        }
        for &(a, count_a) in gone {
            self.touch_all(a, kept);
            for &(b, count_b) in kept {
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
        let hash = hash(a.min(b), a.max(b));
        if let Some(part) = self.parts.get(self.place(hash)) {
            black_box(part.slots.get(part.home(hash)).map(|cell| cell.low));
        }
    }

    /// The classes in which `a` and `b` meet.
    #[inline]
    pub fn pairs(&self, a: WordId, b: WordId) -> impl Iterator<Item = Pair> {
        let (low, high) = (a.min(b), a.max(b));
        let hash = hash(low, high);
        let part = self.parts.get(self.place(hash)).filter(|_| !self.dropped);
        let mut cell = part.and_then(|part| Some(&part.slots[part.find(hash, low, high).ok()?]));
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

    #[inline]
    fn place(&self, hash: u64) -> usize {
        let place = (hash >> CHOICE) as usize & self.mask;
        if place < self.parts.len() { place } else { place & (self.mask >> 1) }
    }

    /// Splits the oldest part that was not split since the parts were half as many.
    #[cold]
    fn split(&mut self) {
        let added = self.parts.len();
        self.mask = (added + 1).next_power_of_two() - 1;
        self.parts.push(Part::default());
        let split = added & (self.mask >> 1);
        for cell in std::mem::take(&mut self.parts[split]).slots {
            if !cell.is_free() {
                let hash = hash(cell.low, cell.high);
                let place = self.place(hash);
                self.parts[place].insert(hash, cell);
            }
        }
    }

    #[inline]
    fn add(&mut self, added: PairCell) {
        let hash = hash(added.low, added.high);
        let place = self.place(hash);
        let part = &mut self.parts[place];
        let head = match part.find(hash, added.low, added.high) {
            Ok(slot) => &mut part.slots[slot],
            Err(_) => {
                part.insert(hash, added);
                self.used += 1;
                if self.used > self.parts.len() * SPREAD {
                    self.split();
                }
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
            None => {
                make_room(&mut self.more, free as usize + 1);
                self.more.push(added);
            }
        }
    }

    fn subtract(&mut self, taken: PairCell) {
        let hash = hash(taken.low, taken.high);
        let place = self.place(hash);
        let part = &mut self.parts[place];
        let Ok(slot) = part.find(hash, taken.low, taken.high) else { return };
        let head = &mut part.slots[slot];
        if head.class == taken.class {
            if !head.reduce(&taken) {
                return;
            }
            match self.more.get(head.next as usize).copied() {
                Some(successor) => {
                    self.free.push(head.next);
                    *head = successor;
                }
                None => {
                    part.vacate(slot);
                    self.used -= 1;
                }
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
                        None => part.slots[slot].next = next,
                    }
                }
                return;
            }
            previous = position;
            position = next;
        }
    }

    /// The table where each word has another id; words may become one that never met.
    pub fn renamed(&self, word_of: &[WordId]) -> Self {
        let mut renamed =
            PairTable { dropped: self.dropped, ..PairTable::new(self.limit, self.own) };
        let parts = self.parts.iter().filter(|_| !self.dropped);
        for slot in parts.flat_map(|part| &part.slots).filter(|cell| !cell.is_free()) {
            let mut cell = Some(slot);
            while let Some(&PairCell { low, high, class, next, low_count, high_count }) = cell {
                let (a, b) = (word_of[low as usize], word_of[high as usize]);
                renamed.add(PairCell::new(a, b, class, low_count, high_count));
                cell = self.more.get(next as usize);
            }
        }
        renamed
    }

    pub fn size(&self) -> usize {
        let slots: usize = self.parts.iter().map(|part| part.slots.len()).sum();
        (slots + self.more.len()) * size_of::<PairCell>()
            + self.parts.len() * size_of::<Part>()
            + self.free.capacity() * size_of::<u32>()
    }
}

#[cfg(test)]
mod tests;
