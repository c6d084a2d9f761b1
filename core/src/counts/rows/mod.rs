//! The counts: documents and tokens of each class, and one sparse row of cells for each word.
//!
//! Counts are `f64` and exact for integer weights up to 2^53, so learning and unlearning, or
//! merging in any order, give the same bits.

mod blocks;
mod classes;
mod counted;
mod packed;

pub use self::classes::{Class, take};
pub use self::counted::{Cell, DIVISOR, FLOOR, Rows};
pub use self::packed::small_whole;

use self::blocks::{Blocks, MAX_CELLS, NONE, Name};
use crate::counts::alloc::{fetch, make_room};
use crate::counts::vocabulary::WordId;
use std::ops::{Deref, DerefMut};

/// The id of a class. The model maps labels to ids; snapshots order classes by label.
pub type ClassId = u32;

const NO_CLASS: ClassId = ClassId::MAX;

/// The value of one word in one class.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SparseCell<V> {
    value: V,
    pub class: ClassId,
    /// In a word's first cell: the block of its other cells, or `NONE`.
    more: Name,
}

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

/// The cells of all words. Most words belong to one class, so the first cell of each word lies in
/// one array, half a cache line apart. The other cells are contiguous in a block of a second array,
/// ordered by class, so words of many classes are found as fast as others.
#[derive(Clone, Default)]
pub struct SparseRows<V> {
    first: Vec<SparseCell<V>>,
    more: Blocks<SparseCell<V>>,
}

impl<V: Copy + Default> SparseRows<V> {
    /// Number of row slots: one more than the largest word with a row.
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
            make_room(&mut self.first, word as usize + 1);
            self.first.resize(word as usize + 1, SparseCell::new(NO_CLASS));
        }
    }

    /// Whether so many cells can be added.
    pub fn has_room_for(&self, cells: usize) -> bool {
        // A growing block is copied: at worst half of the array consists of free blocks.
        self.more.all().len().saturating_add(cells * 2) < MAX_CELLS
    }

    pub fn n_cells(&self) -> usize {
        self.first.iter().chain(self.more.all()).filter(|cell| cell.is_used()).count()
    }

    /// The cells of a word, in no particular order.
    #[inline]
    pub fn cells(&self, word: WordId) -> impl Iterator<Item = &SparseCell<V>> + Clone {
        let first = &self.first[word as usize];
        let rest = if first.more == NONE { &[][..] } else { self.more.get(first.more) };
        std::iter::once(first).chain(rest).take_while(|cell| cell.is_used())
    }

    /// Prefetches the first cell of a word.
    #[inline]
    pub fn fetch(&self, word: WordId) {
        if let Some(first) = self.first.get(word as usize) {
            fetch(first);
        }
    }

    /// Prefetches its other cells, once the first is cached.
    #[inline]
    pub fn fetch_more(&self, word: WordId) {
        let more = self.first.get(word as usize).map_or(NONE, |first| first.more);
        if more != NONE {
            self.more.fetch(more);
        }
    }

    #[inline]
    pub fn cell(&self, word: WordId, class: ClassId) -> Option<&SparseCell<V>> {
        let first = &self.first[word as usize];
        if first.class == class {
            return Some(first);
        }
        if first.more == NONE {
            return None;
        }
        let rest = self.more.get(first.more);
        rest.get(place_of(rest, class)).filter(|cell| cell.class == class)
    }

    /// The cell of a word and class; creates a missing cell.
    #[inline]
    pub fn entry(&mut self, word: WordId, class: ClassId) -> &mut SparseCell<V> {
        let index = word as usize;
        let SparseCell { class: first, more, .. } = self.first[index];
        if first == class || first == NO_CLASS {
            self.first[index].class = class;
            return &mut self.first[index];
        }
        if more != NONE {
            let rest = self.more.get(more);
            let place = place_of(rest, class);
            if rest.get(place).is_some_and(|cell| cell.class == class) {
                return &mut self.more.get_mut(more)[place];
            }
            if rest.last().is_some_and(|cell| !cell.is_used()) {
                return self.insert(more, class);
            }
        }
        self.grow(word, class)
    }

    /// Inserts a cell into a block with room.
    fn insert(&mut self, more: Name, class: ClassId) -> &mut SparseCell<V> {
        let rest = self.more.get_mut(more);
        let (place, used) = (place_of(rest, class), place_of(rest, NO_CLASS));
        rest.copy_within(place..used, place + 1);
        rest[place] = SparseCell::new(class);
        &mut rest[place]
    }

    /// Adds a cell to a word whose block is full.
    #[cold]
    fn grow(&mut self, word: WordId, class: ClassId) -> &mut SparseCell<V> {
        let more = self.more.grow(self.first[word as usize].more, SparseCell::new(NO_CLASS));
        self.first[word as usize].more = more;
        self.insert(more, class)
    }

    pub fn remove(&mut self, word: WordId, class: ClassId) {
        let more = self.first[word as usize].more;
        if more == NONE {
            if self.first[word as usize].class == class {
                self.first[word as usize] = SparseCell::new(NO_CLASS);
            }
            return;
        }
        let rest = self.more.get_mut(more);
        let used = place_of(rest, NO_CLASS);
        let first = &mut self.first[word as usize];
        let place = if first.class == class {
            *first = SparseCell { more, ..rest[0] };
            Some(0)
        } else {
            let place = place_of(rest, class);
            rest.get(place).is_some_and(|cell| cell.class == class).then_some(place)
        };
        if let Some(place) = place {
            // Close the gap.
            rest.copy_within(place + 1..used, place);
            rest[used - 1] = SparseCell::new(NO_CLASS);
        }
        if used == 1 && !self.more.get(more)[0].is_used() {
            self.more.release(more, SparseCell::new(NO_CLASS));
            self.first[word as usize].more = NONE;
        }
    }

    /// Whether a condition holds for the value of every cell.
    pub fn all(&self, holds: impl Fn(&V) -> bool) -> bool {
        let cells = self.first.iter().chain(self.more.all()).filter(|cell| cell.is_used());
        cells.map(|cell| &cell.value).all(holds)
    }

    /// Changes the value of each cell of a word.
    pub fn change(&mut self, word: WordId, change: impl Fn(&mut V)) {
        let first = &mut self.first[word as usize];
        let rest = if first.more == NONE { &mut [][..] } else { self.more.get_mut(first.more) };
        let used = std::iter::once(first).chain(rest).filter(|cell| cell.is_used());
        used.for_each(|cell| change(&mut cell.value));
    }

    /// Removes all cells of a word.
    pub fn clear(&mut self, word: WordId) {
        if let Some(first) = self.first.get_mut(word as usize) {
            let more = std::mem::replace(first, SparseCell::new(NO_CLASS)).more;
            if more != NONE {
                self.more.release(more, SparseCell::new(NO_CLASS));
            }
        }
    }

    pub fn size(&self) -> usize {
        size_of_val(self.first.as_slice()) + self.more.size()
    }
}

/// The position of a class in a block, or its insertion point; with `NO_CLASS` the number of cells.
#[inline]
fn place_of<V>(block: &[SparseCell<V>], class: ClassId) -> usize {
    block.partition_point(|cell| cell.class < class)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_hold_one_cell_a_class() {
        let mut rows = SparseRows::<f64>::default();
        rows.reach(1);
        assert_eq!((rows.slots(), rows.n_cells(), rows.is_empty(1)), (2, 0, true));
        for class in [3, 1, 3, 0, 1, 3] {
            **rows.entry(1, class) += 1.0;
        }
        assert_eq!(rows.n_cells(), 3);
        assert_eq!(rows.cell(1, 3).map(|cell| **cell), Some(3.0));
        assert_eq!((rows.cell(1, 2), rows.cell(0, 3)), (None, None));
        rows.remove(1, 3);
        let mut classes: Vec<ClassId> = rows.cells(1).map(|cell| cell.class).collect();
        classes.sort_unstable();
        assert_eq!(classes, [0, 1]);
        rows.remove(1, 0);
        rows.remove(1, 1);
        assert!(rows.is_empty(1));
        // The block of the other cells is reused.
        let size = rows.more.all().len();
        rows.entry(0, 5);
        rows.entry(0, 6);
        rows.entry(0, 7);
        assert_eq!((rows.n_cells(), rows.more.all().len()), (3, size));
    }

    #[test]
    fn rows_agree_with_a_map() {
        // A fixed sequence of additions and removals, compared with a simple map.
        let mut rows = SparseRows::<f64>::default();
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
                **rows.entry(word, class) += 1.0;
                *map.entry((word, class)).or_insert(0.0) += 1.0;
            }
        }
        assert_eq!(rows.n_cells(), map.len());
        for (&(word, class), &tokens) in &map {
            assert_eq!(rows.cell(word, class).map(|cell| **cell), Some(tokens));
        }
        for word in 0..8 {
            let cells = map.range((word, 0)..(word, 99)).count();
            assert_eq!(rows.cells(word).count(), cells);
        }
    }
}
