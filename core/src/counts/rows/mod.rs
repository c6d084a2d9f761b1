//! The counts: documents and tokens of each class, and one sparse row of cells for each word.
//!
//! Counts are `f64` and exact for integer weights up to 2^53, so learning and unlearning, or
//! merging in any order, give the same bits.

mod blocks;
mod classes;
mod counted;
mod packed;

pub use self::classes::{Class, take};
pub use self::counted::{Cell, Cells, DIVISOR, FLOOR, Rows, Small};
pub use self::packed::small_whole;

use self::blocks::{BlockRows, Entry, Name, range};
use crate::counts::WordId;

/// The id of a class. The model maps labels to ids; snapshots order classes by label.
pub type ClassId = u32;

const NO_CLASS: ClassId = ClassId::MAX;

/// The value of one word in one class.
#[derive(Clone, Copy)]
pub struct SparseCell<V> {
    value: V,
    class: ClassId,
    /// In a word's first cell: the block of its other cells.
    more: Name,
}

/// No block.
const NONE: Name = Name::MAX;

impl<V: Default> SparseCell<V> {
    fn new(class: ClassId) -> Self {
        SparseCell { value: V::default(), class, more: NONE }
    }
}

impl<V> SparseCell<V> {
    fn is_cell(&self) -> bool {
        self.class != NO_CLASS
    }
}

impl<V: Copy + Default> Entry for SparseCell<V> {
    fn empty() -> Self {
        SparseCell::new(NO_CLASS)
    }

    fn cells(&self) -> usize {
        usize::from(self.is_cell())
    }

    fn block(&self) -> Option<Name> {
        (self.more != NONE).then_some(self.more)
    }
}

/// The cells of all words. Most words belong to one class, so the first cell of each word is its
/// entry, half a cache line apart. The other cells are contiguous in a block, ordered by class, so
/// words of many classes are found as fast as others.
pub type SparseRows<V> = BlockRows<SparseCell<V>>;

impl<V: Copy + Default> SparseRows<V> {
    pub fn is_empty(&self, word: WordId) -> bool {
        self.entries.get(word as usize).is_none_or(|first| !first.is_cell())
    }

    /// The classes of a word with their values, in no particular order.
    pub fn cells(&self, word: WordId) -> impl Iterator<Item = (ClassId, &V)> + Clone {
        let first = self.entries.get(word as usize);
        let rest = first.and_then(Entry::block).map_or(&[][..], |block| self.get(block));
        let cells = first.into_iter().chain(rest).take_while(|cell| cell.is_cell());
        cells.map(|cell| (cell.class, &cell.value))
    }

    #[inline]
    pub fn cell(&self, word: WordId, class: ClassId) -> Option<&V> {
        let first = self.entries.get(word as usize)?;
        if first.class == class {
            return Some(&first.value);
        }
        let rest = self.get(first.block()?);
        let cell = rest.get(place_of(rest, class)).filter(|cell| cell.class == class);
        cell.map(|cell| &cell.value)
    }

    /// The value of a word and class; creates a missing cell.
    #[inline]
    pub fn entry(&mut self, word: WordId, class: ClassId) -> &mut V {
        let index = word as usize;
        let SparseCell { class: first, more, .. } = self.entries[index];
        if first == class || first == NO_CLASS {
            self.entries[index].class = class;
            return &mut self.entries[index].value;
        }
        if more != NONE {
            let rest = self.get(more);
            let place = place_of(rest, class);
            if rest.get(place).is_some_and(|cell| cell.class == class) {
                return &mut self.get_mut(more)[place].value;
            }
            if rest.last().is_some_and(|cell| !cell.is_cell()) {
                return &mut self.insert(more, place, SparseCell::new(class)).value;
            }
        }
        self.add_cell(word, class)
    }

    /// Adds a cell to a word whose block is full.
    #[cold]
    fn add_cell(&mut self, word: WordId, class: ClassId) -> &mut V {
        let more = match self.entries[word as usize].block() {
            Some(block) => self.grow(block),
            None => self.allocate(0),
        };
        self.entries[word as usize].more = more;
        let place = place_of(self.get(more), class);
        &mut self.insert(more, place, SparseCell::new(class)).value
    }

    pub fn remove(&mut self, word: WordId, class: ClassId) {
        let Some(&SparseCell { class: first, more, .. }) = self.entries.get(word as usize) else {
            return;
        };
        if first == class {
            // The next cell becomes the first.
            let next = if more == NONE { SparseCell::empty() } else { self.take(more, 0) };
            self.entries[word as usize] = SparseCell { more, ..next };
        } else if more != NONE {
            let place = place_of(self.get(more), class);
            if self.get(more).get(place).is_some_and(|cell| cell.class == class) {
                self.take(more, place);
            }
        }
        if more != NONE && !self.get(more)[0].is_cell() {
            self.release(more);
            self.entries[word as usize].more = NONE;
        }
    }

    /// Whether a condition holds for the value of every cell.
    pub fn all(&self, holds: impl Fn(&V) -> bool) -> bool {
        self.entries.iter().chain(&*self.cells).all(|cell| !cell.is_cell() || holds(&cell.value))
    }

    /// Changes the value of each cell of a word.
    pub fn change(&mut self, word: WordId, change: impl Fn(&mut V)) {
        let first = &mut self.entries[word as usize];
        let rest = first.block().map_or(&mut [][..], |block| &mut self.cells[range(block)]);
        let used = std::iter::once(first).chain(rest).filter(|cell| cell.is_cell());
        used.for_each(|cell| change(&mut cell.value));
    }

    /// Removes all cells of a word.
    pub fn clear(&mut self, word: WordId) {
        if let Some(first) = self.entries.get_mut(word as usize)
            && let Some(block) = std::mem::replace(first, SparseCell::empty()).block()
        {
            self.release(block);
        }
    }
}

/// The position of a class in a block, or its insertion point.
fn place_of<V>(block: &[SparseCell<V>], class: ClassId) -> usize {
    block.partition_point(|cell| cell.class < class)
}
