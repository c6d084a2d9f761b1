//! The pair table: how often two words stand in the same indexed document, class by class.
//!
//! It holds nothing that the document index does not: it trades memory for a prediction whose
//! cost does not grow with the stream. Once it would need more cells than allowed it is dropped
//! for good, and predictions walk the postings instead, with the same result.

use crate::counts::ClassId;
use crate::vocabulary::WordId;
use hashbrown::HashTable;

const NONE: u32 = u32::MAX;

/// Both directions of one unordered pair in one class.
#[derive(Clone, Copy)]
struct PairCell {
    low: WordId,
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
    table: HashTable<PairCell>,
    more: Vec<PairCell>,
    free: Vec<u32>,
    limit: usize,
    dropped: bool,
}

impl PairTable {
    /// A table of at most `limit` (pair, class) cells; with 0 it is never used.
    pub fn new(limit: usize) -> Self {
        PairTable {
            table: HashTable::new(),
            more: Vec::new(),
            free: Vec::new(),
            limit,
            dropped: limit == 0,
        }
    }

    /// Whether the table covers the index, so that it can be asked.
    pub fn is_complete(&self) -> bool {
        !self.dropped
    }

    /// How many (pair, class) cells are held.
    pub fn len(&self) -> usize {
        self.table.len() + self.more.len() - self.free.len()
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
            for &(b, count_b) in &words[position + 1..] {
                self.add(a, b, class, weight * count_a, weight * count_b);
            }
            if self.len() > self.limit {
                *self = PairTable::new(0);
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
            for &(b, count_b) in &words[position + 1..] {
                self.subtract(a, b, class, weight * count_a, weight * count_b);
            }
        }
    }

    /// The classes in which `a` and `b` meet.
    #[inline]
    pub fn pairs(&self, a: WordId, b: WordId) -> impl Iterator<Item = Pair> {
        let (low, high) = if a < b { (a, b) } else { (b, a) };
        let mut cell =
            self.table.find(hash(low, high), |cell| cell.low == low && cell.high == high);
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
    fn add(&mut self, a: WordId, b: WordId, class: ClassId, count_a: f64, count_b: f64) {
        let (low, high, low_count, high_count) =
            if a < b { (a, b, count_a, count_b) } else { (b, a, count_b, count_a) };
        let key = hash(low, high);
        let Some(head) = self.table.find_mut(key, |cell| cell.low == low && cell.high == high)
        else {
            let cell = PairCell { low, high, class, next: NONE, low_count, high_count };
            self.table.insert_unique(key, cell, |cell| hash(cell.low, cell.high));
            return;
        };
        let free = self.free.last().copied().unwrap_or(self.more.len() as u32);
        // The last cell of the chain is linked to where a new one will lie.
        let mut next = if head.class == class {
            head.low_count += low_count;
            head.high_count += high_count;
            return;
        } else if head.next == NONE {
            head.next = free;
            NONE
        } else {
            head.next
        };
        while next != NONE {
            let cell = &mut self.more[next as usize];
            if cell.class == class {
                cell.low_count += low_count;
                cell.high_count += high_count;
                return;
            }
            next = cell.next;
            if next == NONE {
                cell.next = free;
            }
        }
        let added = PairCell { low, high, class, next: NONE, low_count, high_count };
        match self.free.pop() {
            Some(position) => self.more[position as usize] = added,
            None => self.more.push(added),
        }
    }

    fn subtract(&mut self, a: WordId, b: WordId, class: ClassId, count_a: f64, count_b: f64) {
        let (low, high, low_count, high_count) =
            if a < b { (a, b, count_a, count_b) } else { (b, a, count_b, count_a) };
        let key = hash(low, high);
        let Ok(mut entry) = self.table.find_entry(key, |cell| cell.low == low && cell.high == high)
        else {
            return;
        };
        let head = entry.get_mut();
        if head.class == class {
            if !head.reduce(low_count, high_count) {
                return;
            }
            match self.more.get(head.next as usize).copied() {
                Some(successor) => {
                    self.free.push(head.next);
                    *head = successor;
                }
                None => {
                    entry.remove();
                }
            }
            return;
        }
        let mut previous = NONE;
        let mut position = head.next;
        while let Some(cell) = self.more.get_mut(position as usize) {
            let next = cell.next;
            if cell.class == class {
                if cell.reduce(low_count, high_count) {
                    self.free.push(position);
                    match self.more.get_mut(previous as usize) {
                        Some(cell) => cell.next = next,
                        None => entry.get_mut().next = next,
                    }
                }
                return;
            }
            previous = position;
            position = next;
        }
    }

    pub fn size(&self) -> usize {
        self.table.allocation_size()
            + self.more.capacity() * size_of::<PairCell>()
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
    /// Takes counts away; true when nothing is left.
    fn reduce(&mut self, low_count: f64, high_count: f64) -> bool {
        self.low_count = crate::counts::take(self.low_count, low_count).unwrap_or(0.0);
        self.high_count = crate::counts::take(self.high_count, high_count).unwrap_or(0.0);
        self.low_count == 0.0 || self.high_count == 0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(table: &PairTable, a: WordId, b: WordId) -> Vec<(ClassId, f64, f64)> {
        let mut found: Vec<_> =
            table.pairs(a, b).map(|pair| (pair.class, pair.first, pair.second)).collect();
        found.sort_by_key(|&(class, _, _)| class);
        found
    }

    #[test]
    fn learns_and_unlearns_both_directions() {
        let mut table = PairTable::new(1000);
        table.learn(0, &[(1, 2.0), (4, 1.0), (9, 3.0)], 1.0);
        table.learn(1, &[(4, 1.0), (9, 1.0)], 2.0);
        table.learn(2, &[(4, 5.0), (9, 1.0)], 1.0);
        assert_eq!(found(&table, 4, 9), [(0, 1.0, 3.0), (1, 2.0, 2.0), (2, 5.0, 1.0)]);
        assert_eq!(found(&table, 9, 4), [(0, 3.0, 1.0), (1, 2.0, 2.0), (2, 1.0, 5.0)]);
        assert_eq!(found(&table, 1, 2), []);
        assert_eq!(table.len(), 5);
        table.unlearn(1, &[(4, 1.0), (9, 1.0)], 2.0);
        assert_eq!(found(&table, 4, 9), [(0, 1.0, 3.0), (2, 5.0, 1.0)]);
        table.unlearn(0, &[(1, 2.0), (4, 1.0), (9, 3.0)], 1.0);
        assert_eq!(found(&table, 4, 9), [(2, 5.0, 1.0)]);
        table.unlearn(2, &[(4, 5.0), (9, 1.0)], 1.0);
        assert!(table.is_empty());
    }

    #[test]
    fn is_dropped_at_its_limit() {
        let mut table = PairTable::new(3);
        table.learn(0, &[(1, 1.0), (2, 1.0), (3, 1.0)], 1.0);
        assert!(table.is_complete());
        table.learn(0, &[(1, 1.0), (4, 1.0)], 1.0);
        assert!(!table.is_complete());
        assert!(table.is_empty());
    }
}
