//! A part of the pairs by their hashes, with all that changes as these do: so that a thread can change it
//! while others change the rest.

use crate::counts::pairs::part::{NONE, PairCell, Part, hash};
use crate::counts::room::make_room;
use crate::counts::rows::ClassId;
use crate::counts::vocabulary::WordId;
use std::hint::black_box;

/// Slots in use in a part, on average: a split moves about so many.
const SPREAD: usize = 200;

/// Which bits of a hash choose the part: not those that choose a slot in it, nor the shard.
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

    /// How many (pair, class) cells are held.
    pub fn len(&self) -> usize {
        self.used + self.more.len() - self.free.len()
    }

    /// Its parts, of which nothing is asked any more.
    pub fn into_parts(self) -> Vec<Part> {
        self.parts
    }

    /// Brings a pair closer before it is asked for; no answer is waited for.
    #[inline]
    pub fn touch(&self, hash: u64) {
        let part = &self.parts[self.place(hash)];
        black_box(part.slots.get(part.home(hash)).map(|cell| cell.low));
    }

    /// The classes in which `a` and `b` meet.
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

    /// Splits the oldest part that was not split since the parts were half as many.
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

    /// Adds to a pair's counts in a class; returns whether it had none.
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

    /// Takes from a pair's counts in a class; returns whether nothing is left of them.
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
