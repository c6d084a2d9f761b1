//! Small integer counts, which are nearly all counts, in cells of eight bytes.
//!
//! A cell has 22 bits for the class and 20 bits each for tokens and documents of the word. A word
//! of one class has its cell in an array indexed by word. For a word of several classes the array
//! names the block of its cells, ordered by class; for a word with a count that does not fit, it
//! names its wide row.

use super::blocks::{BlockRows, Entry, Name, range, size, start};
use super::{Cell, ClassId};
use crate::counts::WordId;
use std::hint::select_unpredictable;

/// A cell, or a reference to the cells of a word; 0 is empty.
type Slot = u64;

/// The two highest bits of a slot give its kind.
const KIND: u32 = 62;
const CELL: u64 = 1;
const BLOCK: u64 = 2;
const WIDE: u64 = 3;

const COUNT_BITS: u32 = 20;
const COUNT_MASK: u64 = (1 << COUNT_BITS) - 1;
const CLASS_AT: u32 = 2 * COUNT_BITS;

/// The bits above the counts.
const CARRIED: Slot = 1 << COUNT_BITS | 1 << CLASS_AT;

/// Where the cells of a word are.
pub enum Place<'a> {
    /// In these slots, up to the first empty one.
    Here(&'a [Slot]),
    /// In this wide row.
    Wide(WordId),
}

pub type PackedRows = BlockRows<Slot>;

impl Entry for Slot {
    fn empty() -> Self {
        0
    }

    fn is_cell(&self) -> bool {
        kind(*self) == CELL
    }

    #[inline]
    fn block(&self) -> Option<Name> {
        (kind(*self) == BLOCK).then_some(*self as Name)
    }
}

#[inline]
fn kind(slot: Slot) -> u64 {
    slot >> KIND
}

#[inline]
fn class_of(slot: Slot) -> ClassId {
    (slot >> CLASS_AT) as ClassId & ((1 << (KIND - CLASS_AT)) - 1)
}

/// A count, if it fits.
#[inline(always)]
fn whole(count: f64) -> Option<Slot> {
    let (number, is_whole) = small_whole(count);
    (is_whole && number <= COUNT_MASK).then_some(number)
}

/// A cell, if all of it fits.
#[inline]
fn pack(class: ClassId, tokens: f64, documents: f64) -> Option<Slot> {
    let class = u64::from(class);
    let fits = class < 1 << (KIND - CLASS_AT);
    fits.then_some(
        CELL << KIND | class << CLASS_AT | whole(tokens)? << COUNT_BITS | whole(documents)?,
    )
}

#[inline(always)]
pub fn unpack(slot: Slot) -> Cell {
    Cell {
        class: class_of(slot),
        tokens: f64::from(tokens_of(slot)),
        documents: f64::from(documents_of(slot)),
        length: 0.0,
    }
}

/// The tokens of a cell.
#[inline(always)]
pub fn tokens_of(slot: Slot) -> u32 {
    (slot >> COUNT_BITS & COUNT_MASK) as u32
}

/// The documents of a cell; 0 without a cell.
#[inline(always)]
pub fn documents_of(slot: Slot) -> u32 {
    (slot & COUNT_MASK) as u32
}

/// The summand for cells of one class.
#[derive(Clone, Copy)]
pub struct Added {
    /// The kind and class bits.
    key: u64,
    documents: Slot,
}

impl Added {
    /// A number of documents of a class, if it fits.
    #[inline]
    pub fn new(class: ClassId, documents: f64) -> Option<Self> {
        let class = u64::from(class);
        let key = CELL << (KIND - CLASS_AT) | class;
        let documents = whole(documents)?;
        (class < 1 << (KIND - CLASS_AT)).then_some(Added { key, documents })
    }
}

/// The position of a class in a block, or its insertion point.
#[inline]
fn place_of(cells: &[Slot], class: ClassId) -> usize {
    // Cells are ordered as numbers, and the subtraction turns 0 (empty) into the largest.
    let least = (CELL << KIND | u64::from(class) << CLASS_AT) - 1;
    let below = |cell: Slot| cell.wrapping_sub(1) < least;
    match cells {
        [only] => usize::from(below(*only)),
        [one, other] => usize::from(below(*one)) + usize::from(below(*other)),
        _ => cells.partition_point(|&cell| below(cell)),
    }
}

/// The position of the cell of a class in a block.
#[inline]
fn position(cells: &[Slot], class: ClassId) -> Option<usize> {
    let place = place_of(cells, class);
    cells.get(place).is_some_and(|&cell| cell != 0 && class_of(cell) == class).then_some(place)
}

impl PackedRows {
    pub fn is_empty(&self, word: WordId) -> bool {
        self.entries[word as usize] == 0
    }

    #[inline(always)]
    pub fn place(&self, word: WordId) -> Place<'_> {
        let slot = &self.entries[word as usize];
        match kind(*slot) {
            BLOCK => Place::Here(self.get(*slot as Name)),
            WIDE => Place::Wide(*slot as WordId),
            _ => Place::Here(std::slice::from_ref(slot)),
        }
    }

    /// The slots of classes 0 and 1, which are all that exist; 0 is a missing cell. None if the row
    /// is wide. The number of cells is unpredictable, so it must not be a branch.
    #[inline(always)]
    pub fn two(&self, word: WordId) -> Option<[Slot; 2]> {
        let slot = self.entries[word as usize];
        let is_block = kind(slot) == BLOCK;
        let place = select_unpredictable(is_block, start(slot as Name), 0);
        let block = self.cells.get(place..place + 2).unwrap_or(&[0; 2]);
        let first = select_unpredictable(is_block, block[0], slot);
        let second = select_unpredictable(is_block, block[1], 0);
        let is_only = class_of(first) == 1;
        let of_first = select_unpredictable(is_only, 0, first);
        let of_second = select_unpredictable(is_only, first, second);
        (kind(slot) != WIDE).then_some([of_first, of_second])
    }

    /// The cell of a word and class among some of [`Place::Here`].
    #[inline]
    pub fn find(cells: &[Slot], class: ClassId) -> Option<Cell> {
        position(cells, class).map(|place| unpack(cells[place]))
    }

    /// The cells of a word to change, unless its row is wide.
    #[inline]
    fn cells_mut(&mut self, word: WordId) -> Option<&mut [Slot]> {
        let slot = &mut self.entries[word as usize];
        match kind(*slot) {
            BLOCK => Some(&mut self.cells[range(*slot as Name)]),
            WIDE => None,
            _ => Some(std::slice::from_mut(slot)),
        }
    }

    /// Adds tokens and documents to the cell of a word if they fit, and if the cell exists or the
    /// word has none; returns its documents after and before.
    #[inline(always)]
    pub fn add(&mut self, word: WordId, added: Added, tokens: f64) -> Option<(u32, u32)> {
        let Added { key, documents } = added;
        let tokens = whole(tokens)?;
        let slot = self.entries[word as usize];
        if slot == 0 {
            self.entries[word as usize] = key << CLASS_AT | tokens << COUNT_BITS | documents;
            return Some((documents as u32, 0));
        }
        // Select the cell of a word of two classes without a branch, which would be mispredicted.
        let (blocks, is_block) = (self.cells.as_mut_slice(), kind(slot) == BLOCK);
        let first = select_unpredictable(is_block, start(slot as Name), 0);
        let other = blocks.get(first).is_some_and(|one| one >> CLASS_AT != key);
        let mut place = first + usize::from(other);
        if is_block & (size(slot as Name) > 2) {
            let cells = &blocks[range(slot as Name)];
            // Cells are ordered as numbers, and 0 becomes the largest.
            let below = cells.partition_point(|&cell| (cell >> CLASS_AT).wrapping_sub(1) < key - 1);
            if below == cells.len() {
                return None; // what lies behind a full block is another word's
            }
            place = first + below;
        }
        let cells = select_unpredictable(is_block, blocks, self.entries.as_mut_slice());
        let cell = cells.get_mut(select_unpredictable(is_block, place, word as usize))?;
        if *cell >> CLASS_AT != key {
            return None;
        }
        let before = *cell;
        let after = before + (tokens << COUNT_BITS | documents);
        // A carry from documents to tokens, or from tokens to the class, means that the sum does
        // not fit.
        if (before ^ after ^ (tokens << COUNT_BITS | documents)) & CARRIED != 0 {
            return None;
        }
        *cell = after;
        Some((documents_of(after), documents_of(before)))
    }

    /// Sets the cell of a word and class to the tokens and documents that `change` returns; returns
    /// false if they do not fit or the row is wide.
    #[inline]
    pub fn change(
        &mut self,
        word: WordId,
        class: ClassId,
        change: impl FnOnce(f64, f64) -> (f64, f64),
    ) -> bool {
        let slot = self.entries[word as usize];
        let Some(cells) = self.cells_mut(word) else { return false };
        let place = place_of(cells, class);
        let known = position(cells, class).map(|place| cells[place]);
        let Cell { tokens, documents, .. } = unpack(known.unwrap_or(0));
        let (tokens, documents) = change(tokens, documents);
        let Some(cell) = pack(class, tokens, documents) else { return false };
        if known.is_some() || slot == 0 {
            cells[place] = cell;
        } else {
            self.add_cell(word, cell);
        }
        true
    }

    /// Adds a cell to a word that has others.
    #[cold]
    fn add_cell(&mut self, word: WordId, cell: Slot) {
        let slot = self.entries[word as usize];
        let mut name = slot as Name;
        if kind(slot) == CELL {
            name = self.allocate(1);
            self.get_mut(name)[0] = slot;
        } else if self.get(name).last() != Some(&0) {
            name = self.grow(name);
        }
        self.entries[word as usize] = BLOCK << KIND | Slot::from(name);
        let place = place_of(self.get(name), class_of(cell));
        self.insert(name, place, cell);
    }

    /// Removes a cell, if it exists. The row must be packed.
    pub fn remove(&mut self, word: WordId, class: ClassId) {
        let Some(cells) = self.cells_mut(word) else { return };
        let Some(place) = position(cells, class) else { return };
        let Some(block) = self.entries[word as usize].block() else {
            self.entries[word as usize] = 0;
            return;
        };
        self.take(block, place);
        if let [only, 0, ..] = *self.get(block) {
            self.entries[word as usize] = only;
            self.release(block);
        }
    }

    /// Takes the cells of a row that becomes the wide row of this name.
    pub fn widen(&mut self, word: WordId, row: WordId) -> Vec<Cell> {
        let slot = self.entries[word as usize];
        let cells = match self.place(word) {
            Place::Here(cells) => cells.iter().take_while(|&&cell| cell != 0).map(|&c| unpack(c)),
            Place::Wide(_) => return Vec::new(),
        };
        let cells = cells.collect();
        if let Some(block) = slot.block() {
            self.release(block);
        }
        self.entries[word as usize] = WIDE << KIND | Slot::from(row);
        cells
    }

    /// Forgets that the row of a word is wide: it becomes empty.
    pub fn clear(&mut self, word: WordId) {
        self.entries[word as usize] = 0;
    }
}

/// 2^52: larger numbers are integers, and their lowest bits are the distance.
const WHOLE: f64 = 4_503_599_627_370_496.0;

/// The nearest integer, and whether the value is equal to it. Negative values, values far above
/// 2^52, NaN and infinity give a very large integer.
///
/// A conversion to an integer would check its range, which takes longer.
#[inline(always)]
pub fn small_whole(number: f64) -> (u64, bool) {
    let above = number + WHOLE;
    (above.to_bits().wrapping_sub(WHOLE.to_bits()), above - WHOLE == number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_class_behind_those_of_a_full_block_is_no_other_words() {
        // For any number of cells, the following block begins with the class that is added.
        for classes in 1..40 {
            let mut rows = PackedRows::default();
            rows.reach(1);
            for class in 0..classes {
                assert!(rows.change(0, class, |_, _| (1.0, 1.0)));
            }
            for class in classes..2 * classes {
                assert!(rows.change(1, class, |_, _| (1.0, 1.0)));
            }
            let added = Added::new(classes, 1.0).expect("it fits");
            assert_eq!(rows.add(0, added, 1.0), None);
            let Place::Here(cells) = rows.place(1) else { panic!("small counts are here") };
            assert!(cells.iter().all(|&cell| unpack(cell).documents <= 1.0));
        }
    }
}
