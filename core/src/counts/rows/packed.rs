//! Small integer counts, which are nearly all counts, in slots of eight bytes.
//!
//! An array indexed by word has one slot for each word. A *pair* contains the counts of classes 0 and
//! 1: 16 bits each for tokens, 15 each for documents; without cells it is 0. A *cell* contains the
//! counts of any class: 22 bits for the class and 20 bits each for tokens and documents. The slot of
//! a word with other classes, or with larger counts, contains its cell or names the block of its
//! cells, ordered by class. For a word with a count that does not fit, it names its wide row.

use super::blocks::{BlockRows, Entry, Name, range, size, start};
use super::{Cell, ClassId, Small};
use crate::counts::WordId;
use std::hint::select_unpredictable;

/// A pair, a cell, or a reference to the cells of a word; 0 is empty.
type Slot = u64;

/// The two highest bits of a slot give its kind.
const KIND: u32 = 62;
const PAIR: u64 = 0;
const CELL: u64 = 1;
const BLOCK: u64 = 2;
const WIDE: u64 = 3;

const COUNT_BITS: u32 = 20;
const COUNT_MASK: u64 = (1 << COUNT_BITS) - 1;
const CLASS_AT: u32 = 2 * COUNT_BITS;

/// The bits above the counts.
const CARRIED: Slot = 1 << COUNT_BITS | 1 << CLASS_AT;

/// Bits of each class of a pair, and its documents among them.
const HALF: u32 = KIND / 2;
const HALF_MASK: Slot = (1 << HALF) - 1;
const PAIR_DOCUMENTS: u32 = 15;

/// The bits above the counts of a pair.
const PAIR_CARRIED: Slot =
    1 << PAIR_DOCUMENTS | 1 << HALF | 1 << (HALF + PAIR_DOCUMENTS) | 1 << KIND;

/// Where the cells of a word are.
pub enum Place<'a> {
    /// The cells of classes 0 and 1; 0 without a cell.
    Two([Slot; 2]),
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

    fn cells(&self) -> usize {
        match kind(*self) {
            PAIR => two_small(*self).iter().filter(|cell| cell.documents > 0).count(),
            kind => usize::from(kind == CELL),
        }
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

/// The counts of classes 0 and 1 in a pair.
#[inline(always)]
fn two_small(pair: Slot) -> [Small; 2] {
    [pair, pair >> HALF].map(|half| Small {
        tokens: (half & HALF_MASK) as u32 >> PAIR_DOCUMENTS,
        documents: half as u32 & ((1 << PAIR_DOCUMENTS) - 1),
    })
}

/// The cells of classes 0 and 1 in a pair; 0 without a cell.
#[inline(always)]
fn two_cells(pair: Slot) -> [Slot; 2] {
    let mut class = 0;
    two_small(pair).map(|Small { tokens, documents }| {
        let key = CELL << KIND | std::mem::replace(&mut class, 1) << CLASS_AT;
        let cell = key | Slot::from(tokens) << COUNT_BITS | Slot::from(documents);
        select_unpredictable(documents > 0, cell, 0)
    })
}

/// A pair with other counts of a class, if they fit.
fn with(pair: Slot, class: ClassId, tokens: f64, documents: f64) -> Option<Slot> {
    let (tokens, documents) = (whole(tokens)?, whole(documents)?);
    let fits =
        class < 2 && tokens >> (HALF - PAIR_DOCUMENTS) == 0 && documents >> PAIR_DOCUMENTS == 0;
    fits.then(|| without(pair, class) | (tokens << PAIR_DOCUMENTS | documents) << (class * HALF))
}

/// A pair without the counts of a class.
fn without(pair: Slot, class: ClassId) -> Slot {
    if class < 2 { pair & !(HALF_MASK << (class * HALF)) } else { pair }
}

/// The summand for the counts of one class.
#[derive(Clone, Copy)]
pub struct Added {
    /// The kind and class bits of a cell.
    key: u64,
    documents: Slot,
    /// The position of the class in a pair, if its documents fit there.
    half: Option<u32>,
}

impl Added {
    /// A number of documents of a class, if it fits.
    #[inline]
    pub fn new(class: ClassId, documents: f64) -> Option<Self> {
        let documents = whole(documents)?;
        let half = (class < 2 && documents >> PAIR_DOCUMENTS == 0).then_some(class * HALF);
        let class = u64::from(class);
        let key = CELL << (KIND - CLASS_AT) | class;
        (class < 1 << (KIND - CLASS_AT)).then_some(Added { key, documents, half })
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
            PAIR => Place::Two(two_cells(*slot)),
            BLOCK => Place::Here(self.get(*slot as Name)),
            WIDE => Place::Wide(*slot as WordId),
            _ => Place::Here(std::slice::from_ref(slot)),
        }
    }

    /// Reads the counts of classes 0 and 1, which are all that exist; false if the row is wide.
    #[inline(always)]
    pub fn read_two(&self, word: WordId, counts: &mut [Small; 2]) -> bool {
        let slot = self.entries[word as usize];
        if kind(slot) != PAIR {
            return self.read_cells(word, counts);
        }
        *counts = two_small(slot);
        true
    }

    #[cold]
    fn read_cells(&self, word: WordId, counts: &mut [Small; 2]) -> bool {
        let Place::Here(cells) = self.place(word) else { return false };
        *counts = Default::default();
        for &cell in cells.iter().filter(|&&cell| cell != 0) {
            let small = Small { tokens: tokens_of(cell), documents: documents_of(cell) };
            counts[class_of(cell) as usize] = small;
        }
        true
    }

    /// The cell of a word and class, unless the row is wide; 0 without a cell.
    #[inline]
    pub fn slot(&self, word: WordId, class: ClassId) -> Option<Slot> {
        match self.place(word) {
            Place::Two(two) => Some(two.get(class as usize).copied().unwrap_or(0)),
            Place::Here(cells) => Some(position(cells, class).map_or(0, |place| cells[place])),
            Place::Wide(_) => None,
        }
    }

    /// Adds tokens and documents to the cell of a word if they fit, and if the cell exists or the
    /// word has none; returns its documents after and before.
    #[inline(always)]
    pub fn add(&mut self, word: WordId, added: Added, tokens: f64) -> Option<(u32, u32)> {
        let Added { key, documents, half } = added;
        let tokens = whole(tokens)?;
        let slot = self.entries[word as usize];
        if let Some(half) = half
            && kind(slot) == PAIR
        {
            let added = tokens << PAIR_DOCUMENTS | documents;
            let after = slot + (added << half);
            // A carry to a higher count means that the sum does not fit.
            if added > HALF_MASK || (slot ^ after ^ added << half) & PAIR_CARRIED != 0 {
                return None;
            }
            self.entries[word as usize] = after;
            let documents = |pair| (pair >> half) as u32 & ((1 << PAIR_DOCUMENTS) - 1);
            return Some((documents(after), documents(slot)));
        }
        if slot == 0 {
            self.entries[word as usize] = key << CLASS_AT | tokens << COUNT_BITS | documents;
            return Some((documents as u32, 0));
        }
        // Select the first or second cell without a branch, which would be mispredicted.
        let (blocks, is_block) = (&*self.cells, kind(slot) == BLOCK);
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
        let blocks = self.cells.changing(place..place + 1);
        let entries = self.entries.changing(word as usize..word as usize + 1);
        let cells = select_unpredictable(is_block, blocks, entries);
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
        let Some(known) = self.slot(word, class) else { return false };
        let Cell { tokens, documents, .. } = unpack(known);
        let (tokens, documents) = change(tokens, documents);
        let slot = &mut self.entries[word as usize];
        if kind(*slot) == PAIR
            && let Some(pair) = with(*slot, class, tokens, documents)
        {
            *slot = pair;
            return true;
        }
        let Some(cell) = pack(class, tokens, documents) else { return false };
        if kind(*slot) == PAIR {
            *slot = without(*slot, class);
        }
        match kind(*slot) {
            _ if *slot == 0 => *slot = cell,
            CELL if known != 0 => *slot = cell,
            BLOCK if known != 0 => {
                let cells = &mut self.cells[range(*slot as Name)];
                cells[place_of(cells, class)] = cell;
            }
            _ => self.add_cell(word, cell),
        }
        true
    }

    /// Adds a cell to a word that has others.
    #[cold]
    fn add_cell(&mut self, word: WordId, cell: Slot) {
        let slot = self.entries[word as usize];
        let mut name = slot.block().unwrap_or_else(|| self.allocate(1));
        if slot.block().is_none() {
            let others = if kind(slot) == PAIR { two_cells(slot) } else { [slot, 0] };
            let others = others.into_iter().filter(|&other| other != 0);
            self.get_mut(name).iter_mut().zip(others).for_each(|(place, other)| *place = other);
        }
        if self.get(name).last() != Some(&0) {
            name = self.grow(name);
        }
        self.entries[word as usize] = BLOCK << KIND | Slot::from(name);
        let place = place_of(self.get(name), class_of(cell));
        self.insert(name, place, cell);
    }

    /// Removes a cell, if it exists. The row must be packed.
    pub fn remove(&mut self, word: WordId, class: ClassId) {
        let slot = &mut self.entries[word as usize];
        match slot.block() {
            None if kind(*slot) == PAIR => *slot = without(*slot, class),
            None if class_of(*slot) == class => *slot = 0,
            None => {}
            Some(block) => {
                let Some(place) = position(self.get(block), class) else { return };
                self.take(block, place);
                if let [only, 0, ..] = *self.get(block) {
                    self.entries[word as usize] = only;
                    self.release(block);
                }
            }
        }
    }

    /// Takes the cells of a row that becomes the wide row of this name.
    pub fn widen(&mut self, word: WordId, row: WordId) -> Vec<Cell> {
        let cells = match self.place(word) {
            Place::Two(two) => two.to_vec(),
            Place::Here(cells) => cells.to_vec(),
            Place::Wide(_) => return Vec::new(),
        };
        let slot =
            std::mem::replace(&mut self.entries[word as usize], WIDE << KIND | Slot::from(row));
        if let Some(block) = slot.block() {
            self.release(block);
        }
        cells.into_iter().filter(|&cell| cell != 0).map(unpack).collect()
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
        for classes in 2..40 {
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
            for class in 0..2 * classes {
                let slot = rows.slot(1, class).expect("the row is not wide");
                assert_eq!(documents_of(slot), u32::from(class >= classes));
            }
        }
    }
}
