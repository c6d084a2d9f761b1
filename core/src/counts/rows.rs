//! The counts: for each class its documents and tokens, for each word one sparse row of cells.
//!
//! Counts are `f64` and exact for integer weights up to 2^53, so that learning and unlearning, or
//! merging in any order, end in the same bits.

use crate::counts::vocabulary::WordId;
use std::collections::BTreeMap;
use std::ops::{Deref, DerefMut};

/// The id of a class. The model maps labels to ids; snapshots order classes by label.
pub type ClassId = u32;

const NO_CLASS: ClassId = ClassId::MAX;

/// What the store counts for one word in one class.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Counts {
    /// Occurrences of the word: Σ f_ji over documents j of the class.
    pub tokens: f64,
    /// Documents of the class that contain the word.
    pub documents: f64,
    /// Length of the *indexed* documents of the class that contain the word: the denominator of
    /// P(w_i | w_t, c). It covers the document index only, as the numerator does.
    pub length: f64,
}

/// What is kept for one word in one class.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SparseCell<V> {
    value: V,
    pub class: ClassId,
    /// For a word's first cell: the block of its other cells, or `NONE`.
    more: u32,
}

const NONE: u32 = u32::MAX;

/// A block is named by where it starts (27 bits) and the logarithm of its size (5 bits).
const START_BITS: u32 = 27;

/// The most cells beside the first ones: 4 GiB of them.
const MAX_MORE: usize = 1 << START_BITS;

impl<V: Default> SparseCell<V> {
    fn new(class: ClassId) -> Self {
        SparseCell { value: V::default(), class, more: NONE }
    }
}

impl<V> Deref for SparseCell<V> {
    type Target = V;

    #[inline]
    fn deref(&self) -> &V {
        &self.value
    }
}

impl<V> DerefMut for SparseCell<V> {
    #[inline]
    fn deref_mut(&mut self) -> &mut V {
        &mut self.value
    }
}

impl<V> SparseCell<V> {
    fn is_used(&self) -> bool {
        self.class != NO_CLASS
    }
}

/// The cells of all words, by word. Most words belong to one class, so the first cell of each
/// lies in one array, half a cache line apart; the others lie side by side in a block of another.
#[derive(Clone, Default)]
pub struct SparseRows<V> {
    first: Vec<SparseCell<V>>,
    more: Vec<SparseCell<V>>,
    /// Blocks that are free, by the logarithm of their size.
    free: Vec<Vec<u32>>,
}

/// The counts of all words.
pub type Rows = SparseRows<Counts>;
pub type Cell = SparseCell<Counts>;

impl<V: Copy + Default> SparseRows<V> {
    /// One more than the largest word that has a row.
    pub fn slots(&self) -> usize {
        self.first.len()
    }

    pub fn is_empty(&self, word: WordId) -> bool {
        !self.first[word as usize].is_used()
    }

    /// Makes room for a word.
    #[inline]
    pub fn reach(&mut self, word: WordId) {
        if word as usize >= self.first.len() {
            self.first.resize(word as usize + 1, SparseCell::new(NO_CLASS));
        }
    }

    /// Whether so many cells can be added.
    pub fn has_room_for(&self, cells: usize) -> bool {
        // A growing block is copied: at worst half of the array is free blocks.
        self.more.len().saturating_add(cells * 2) < MAX_MORE
    }

    pub fn n_cells(&self) -> usize {
        self.first.iter().chain(&self.more).filter(|cell| cell.is_used()).count()
    }

    /// The cells of a word, in no particular order.
    #[inline]
    pub fn cells(&self, word: WordId) -> impl Iterator<Item = &SparseCell<V>> {
        let first = &self.first[word as usize];
        let rest = if first.more == NONE { &[][..] } else { &self.more[block(first.more)] };
        std::iter::once(first).chain(rest).take_while(|cell| cell.is_used())
    }

    #[inline]
    pub fn cell(&self, word: WordId, class: ClassId) -> Option<&SparseCell<V>> {
        self.cells(word).find(|cell| cell.class == class)
    }

    #[inline]
    pub fn cell_mut(&mut self, word: WordId, class: ClassId) -> Option<&mut SparseCell<V>> {
        let first = &mut self.first[word as usize];
        if first.class == class {
            return Some(first);
        }
        if first.more == NONE {
            return None;
        }
        self.more[block(first.more)].iter_mut().find(|cell| cell.class == class)
    }

    /// The cell of a word and class, made if it is missing.
    #[inline]
    pub fn entry(&mut self, word: WordId, class: ClassId) -> &mut SparseCell<V> {
        let index = word as usize;
        let SparseCell { class: first, more, .. } = self.first[index];
        if first == class || first == NO_CLASS {
            self.first[index].class = class;
            return &mut self.first[index];
        }
        if more != NONE {
            let range = block(more);
            let mut cells = self.more[range.clone()].iter();
            if let Some(place) = cells.position(|cell| cell.class == class || !cell.is_used()) {
                let cell = &mut self.more[range.start + place];
                cell.class = class;
                return cell;
            }
        }
        self.grow(word, class)
    }

    /// Adds a cell to a word whose block is full.
    #[cold]
    fn grow(&mut self, word: WordId, class: ClassId) -> &mut SparseCell<V> {
        let old = self.first[word as usize].more;
        let (kept, power) = if old == NONE {
            (Vec::new(), 0)
        } else {
            (self.more[block(old)].to_vec(), (old >> START_BITS) + 1)
        };
        self.release(old);
        let new = self.allocate(power);
        self.first[word as usize].more = new;
        let range = block(new);
        self.more[range.start..range.start + kept.len()].copy_from_slice(&kept);
        let cell = &mut self.more[range.start + kept.len()];
        cell.class = class;
        cell
    }

    fn allocate(&mut self, power: u32) -> u32 {
        if let Some(start) = self.free.get_mut(power as usize).and_then(Vec::pop) {
            return power << START_BITS | start;
        }
        let start = self.more.len() as u32;
        self.more.resize(self.more.len() + (1 << power), SparseCell::new(NO_CLASS));
        power << START_BITS | start
    }

    fn release(&mut self, name: u32) {
        if name == NONE {
            return;
        }
        let range = block(name);
        let power = (name >> START_BITS) as usize;
        if self.free.len() <= power {
            self.free.resize_with(power + 1, Vec::new);
        }
        self.free[power].push(range.start as u32);
        self.more[range].fill(SparseCell::new(NO_CLASS));
    }

    pub fn remove(&mut self, word: WordId, class: ClassId) {
        let more = self.first[word as usize].more;
        if more == NONE {
            if self.first[word as usize].class == class {
                self.first[word as usize] = SparseCell::new(NO_CLASS);
            }
            return;
        }
        let rest = &mut self.more[block(more)];
        let used = rest.iter().take_while(|cell| cell.is_used()).count();
        // The last cell takes the place of the one removed, so that no gap is left.
        let last = std::mem::replace(&mut rest[used - 1], SparseCell::new(NO_CLASS));
        let first = &mut self.first[word as usize];
        if first.class == class {
            *first = SparseCell { more, ..last };
        } else if last.class != class {
            match rest.iter_mut().find(|cell| cell.class == class) {
                Some(cell) => *cell = last,
                None => rest[used - 1] = last,
            }
        }
        if used == 1 && !self.more[block(more)][0].is_used() {
            self.release(more);
            self.first[word as usize].more = NONE;
        }
    }

    /// Takes all cells of a word away.
    pub fn clear(&mut self, word: WordId) {
        if let Some(first) = self.first.get_mut(word as usize) {
            let more = std::mem::replace(first, SparseCell::new(NO_CLASS)).more;
            self.release(more);
        }
    }

    pub fn size(&self) -> usize {
        (self.first.capacity() + self.more.capacity()) * size_of::<SparseCell<V>>()
            + self.free.iter().map(Vec::capacity).sum::<usize>() * size_of::<u32>()
    }
}

/// The cells that a block's name stands for.
#[inline]
fn block(name: u32) -> std::ops::Range<usize> {
    let start = (name & (MAX_MORE as u32 - 1)) as usize;
    start..start + (1 << (name >> START_BITS))
}

/// What the store counts for one class.
#[derive(Clone, Default)]
pub struct Class {
    /// Weight of the documents learned; a class without documents does not exist.
    pub documents: f64,
    /// Tokens of those documents.
    pub tokens: f64,
    /// No word of the class is in more documents than this: a bound that learning raises and
    /// unlearning lowers now and then.
    pub most_documents: f64,
    /// Document frequency → how many words of the class have it. It makes the Bernoulli model's
    /// Σ_w log(1 − p_wc) cost the number of distinct frequencies instead of the vocabulary.
    frequencies: BTreeMap<u64, u32>,
}

impl Class {
    pub fn new(documents: f64, tokens: f64) -> Self {
        Class { documents, tokens, ..Class::default() }
    }

    pub fn exists(&self) -> bool {
        self.documents > 0.0
    }

    /// Moves one word of the class from one document frequency to another (0 is not kept).
    pub fn move_frequency(&mut self, from: f64, to: f64) {
        if from > 0.0
            && let Some(words) = self.frequencies.get_mut(&from.to_bits())
        {
            *words -= 1;
            if *words == 0 {
                self.frequencies.remove(&from.to_bits());
            }
        }
        if to > 0.0 {
            *self.frequencies.entry(to.to_bits()).or_insert(0) += 1;
        }
    }

    /// Pairs (document frequency, number of words), frequencies ascending.
    pub fn frequencies(&self) -> impl Iterator<Item = (f64, f64)> {
        self.frequencies.iter().map(|(&bits, &words)| (f64::from_bits(bits), f64::from(words)))
    }

    pub fn size(&self) -> usize {
        self.frequencies.len() * (size_of::<u64>() + size_of::<u32>()) * 3 / 2
    }
}

/// `value - amount`, or `None` when that much is not there.
///
/// Weights that are no integers leave rounding residue: what is within a few units in the last
/// place of nothing is nothing. Exact counts below 2^49 are never affected.
pub fn take(value: f64, amount: f64) -> Option<f64> {
    let left = value - amount;
    if left.abs() <= 1e-15 * value {
        Some(0.0)
    } else if left > 0.0 {
        Some(left)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_hold_one_cell_a_class() {
        let mut rows = Rows::default();
        rows.reach(1);
        assert_eq!((rows.slots(), rows.n_cells(), rows.is_empty(1)), (2, 0, true));
        for class in [3, 1, 3, 0, 1, 3] {
            rows.entry(1, class).tokens += 1.0;
        }
        assert_eq!(rows.n_cells(), 3);
        assert_eq!(rows.cell(1, 3).map(|cell| cell.tokens), Some(3.0));
        assert_eq!((rows.cell(1, 2), rows.cell(0, 3)), (None, None));
        rows.remove(1, 3);
        let mut classes: Vec<ClassId> = rows.cells(1).map(|cell| cell.class).collect();
        classes.sort_unstable();
        assert_eq!(classes, [0, 1]);
        rows.remove(1, 0);
        rows.remove(1, 1);
        assert!(rows.is_empty(1));
        // The room of the other cells is used again.
        let size = rows.more.len();
        rows.entry(0, 5);
        rows.entry(0, 6);
        rows.entry(0, 7);
        assert_eq!((rows.n_cells(), rows.more.len()), (3, size));
    }

    #[test]
    fn rows_agree_with_a_map() {
        // A fixed sequence of additions and removals, against the obvious structure.
        let mut rows = Rows::default();
        rows.reach(7);
        let mut map = std::collections::BTreeMap::new();
        let mut state = 1u64;
        for _ in 0..20_000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let (word, class) = ((state >> 33) as u32 % 8, (state >> 40) as u32 % 21);
            if (state >> 50).is_multiple_of(3) {
                rows.remove(word, class);
                map.remove(&(word, class));
            } else {
                rows.entry(word, class).tokens += 1.0;
                *map.entry((word, class)).or_insert(0.0) += 1.0;
            }
        }
        assert_eq!(rows.n_cells(), map.len());
        for (&(word, class), &tokens) in &map {
            assert_eq!(rows.cell(word, class).map(|cell| cell.tokens), Some(tokens));
        }
        for word in 0..8 {
            let cells = map.range((word, 0)..(word, 99)).count();
            assert_eq!(rows.cells(word).count(), cells);
        }
    }

    #[test]
    fn frequencies_count_words() {
        let mut class = Class::default();
        class.move_frequency(0.0, 1.0);
        class.move_frequency(0.0, 1.0);
        class.move_frequency(1.0, 2.5);
        assert_eq!(class.frequencies().collect::<Vec<_>>(), [(1.0, 1.0), (2.5, 1.0)]);
        class.move_frequency(2.5, 0.0);
        class.move_frequency(1.0, 0.0);
        assert_eq!(class.frequencies().count(), 0);
    }

    #[test]
    fn taking_is_exact_and_never_negative() {
        assert_eq!(take(3.0, 3.0), Some(0.0));
        assert_eq!(take(3.0, 1.0), Some(2.0));
        assert_eq!(take(1.0, 3.0), None);
        assert_eq!(take(0.1 + 0.2, 0.3), Some(0.0));
        assert_eq!(take(2f64.powi(49), 2f64.powi(49) - 1.0), Some(1.0));
    }
}
