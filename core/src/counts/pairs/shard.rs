//! A shard of the pair table: the pairs of some hashes and all state that changes with them, so
//! that threads can change different shards at the same time.

use crate::counts::alloc::make_room;
use crate::counts::pairs::part::{NONE, PairCell, Part, hash};
use crate::counts::rows::ClassId;
use crate::counts::vocabulary::WordId;
use std::hint::black_box;

/// Used slots per part, on average: a split moves about this many.
const SPREAD: usize = 200;

/// Position of the hash bits that choose the part; other bits choose the slot and the shard.
const CHOICE: u32 = 32;

/// Counts of a pair (a, b) in one class, in the caller's order of the words.
#[derive(Clone, Copy)]
pub struct Pair {
    pub class: ClassId,
    /// Σ f_a over documents of the class that contain b.
    pub first: f64,
    /// Σ f_b over documents of the class that contain a.
    pub second: f64,
}

#[derive(Clone)]
pub struct Shard {
    parts: Vec<Part>,
    /// One less than the power of two at or above the number of parts.
    mask: usize,
    used: usize,
    more: Vec<PairCell>,
    free: Vec<u32>,
}

impl Shard {
    pub fn new() -> Self {
        let parts = vec![Part::default()];
        Shard { parts, mask: 0, used: 0, more: Vec::new(), free: Vec::new() }
    }

    /// Number of (pair, class) cells.
    pub fn len(&self) -> usize {
        self.used + self.more.len() - self.free.len()
    }

    /// The parts of a dropped shard.
    pub fn into_parts(self) -> Vec<Part> {
        self.parts
    }

    /// Prefetches a pair before it is read; does not wait.
    #[inline]
    pub fn touch(&self, hash: u64) {
        let part = &self.parts[self.place(hash)];
        black_box(part.slots.get(part.home(hash)).map(|cell| cell.low));
    }

    /// The classes with documents that contain both `a` and `b`.
    #[inline]
    pub fn pairs(&self, hash: u64, a: WordId, b: WordId) -> impl Iterator<Item = Pair> {
        let part = &self.parts[self.place(hash)];
        let mut cell = part.find(hash, a.min(b), a.max(b)).ok().map(|slot| &part.slots[slot]);
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

    /// All cells.
    pub fn cells(&self) -> impl Iterator<Item = &PairCell> {
        let heads = self.parts.iter().flat_map(|part| &part.slots).filter(|cell| !cell.is_free());
        heads.flat_map(|head| {
            std::iter::successors(Some(head), |cell| self.more.get(cell.next as usize))
        })
    }

    #[inline]
    fn place(&self, hash: u64) -> usize {
        let place = (hash >> CHOICE) as usize & self.mask;
        if place < self.parts.len() { place } else { place & (self.mask >> 1) }
    }

    /// Splits the oldest part that has not been split since the last doubling.
    #[cold]
    fn split(&mut self) {
        let added = self.parts.len();
        self.mask = (added + 1).next_power_of_two() - 1;
        let split = added & (self.mask >> 1);
        let half = Part::with_room(self.parts[split].used / 2);
        self.parts.push(half.clone());
        for cell in std::mem::replace(&mut self.parts[split], half).slots {
            if !cell.is_free() {
                let hash = hash(cell.low, cell.high);
                let place = self.place(hash);
                self.parts[place].insert(hash, cell);
            }
        }
    }

    /// Adds to the counts of a pair in a class; returns whether the cell is new.
    #[inline]
    pub fn add(&mut self, hash: u64, added: PairCell) -> bool {
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
                return true;
            }
        };
        if head.class == added.class {
            head.increase(&added);
            return false;
        }
        // Link the last cell of the chain to the position of the new one.
        let free = self.free.last().copied().unwrap_or(self.more.len() as u32);
        let mut next = head.next;
        if next == NONE {
            head.next = free;
        }
        while next != NONE {
            let cell = &mut self.more[next as usize];
            if cell.class == added.class {
                cell.increase(&added);
                return false;
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
        true
    }

    /// Subtracts from the counts of a pair in a class; returns whether nothing is left.
    #[inline]
    pub fn subtract(&mut self, hash: u64, taken: PairCell) -> bool {
        let place = self.place(hash);
        let part = &mut self.parts[place];
        let Ok(slot) = part.find(hash, taken.low, taken.high) else { return false };
        let head = &mut part.slots[slot];
        if head.class == taken.class {
            if !head.reduce(&taken) {
                return false;
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
            return true;
        }
        let mut previous = NONE;
        let mut position = head.next;
        while let Some(cell) = self.more.get_mut(position as usize) {
            let next = cell.next;
            if cell.class == taken.class {
                let gone = cell.reduce(&taken);
                if gone {
                    self.free.push(position);
                    match self.more.get_mut(previous as usize) {
                        Some(cell) => cell.next = next,
                        None => part.slots[slot].next = next,
                    }
                }
                return gone;
            }
            previous = position;
            position = next;
        }
        false
    }

    pub fn size(&self) -> usize {
        self.parts.iter().map(|part| size_of::<Part>() + part.size()).sum::<usize>()
            + self.more.len() * size_of::<PairCell>()
            + self.free.capacity() * size_of::<u32>()
    }
}
