//! Rows of cells in two arrays: one entry for each row, and blocks for rows with several cells. The
//! size of a block is a power of two; free blocks are reused.

use crate::counts::WordId;
use crate::counts::alloc::{element, fetch};
use crate::counts::array::{Array, Piecewise};
use std::hint::select_unpredictable;
use std::ops::Range;

/// Name of a block: its start (27 bits) and the logarithm of its size (5 bits).
pub type Name = u32;

const START_BITS: u32 = 27;

/// Size of a cache line in bytes.
const LINE: usize = 64;

/// Lines prefetched explicitly; the hardware prefetches the following ones.
const LINES: usize = 8;

/// Maximum number of cells in all blocks.
const MAX_CELLS: usize = 1 << START_BITS;

/// The entry of a row, or a cell of a block. The cells of a block come first, in order.
pub trait Entry: Copy {
    fn empty() -> Self;

    /// Number of cells that it contains.
    fn cells(&self) -> usize;

    /// The block of the row, if it has one.
    fn block(&self) -> Option<Name>;
}

#[derive(Clone)]
pub struct BlockRows<T> {
    /// The entries of the rows.
    pub entries: Array<T>,
    /// The cells of all blocks, including free ones.
    pub cells: Array<T>,
    /// Free blocks, by the logarithm of their size.
    free: Vec<Vec<u32>>,
}

impl<T> Default for BlockRows<T> {
    fn default() -> Self {
        BlockRows { entries: Array::default(), cells: Array::default(), free: Vec::new() }
    }
}

impl<T: Entry> BlockRows<T> {
    /// Number of row slots: one more than the largest word with a row.
    pub fn slots(&self) -> usize {
        self.entries.len()
    }

    /// Makes room for a word.
    pub fn reach(&mut self, word: WordId) {
        if word as usize >= self.entries.len() {
            self.entries.extend_to(word as usize + 1, T::empty());
        }
    }

    /// Whether this many cells can be added.
    pub fn has_room_for(&self, cells: usize) -> bool {
        // A growing block is copied: at worst half of the array consists of free blocks.
        self.cells.len().saturating_add(cells * 2) < MAX_CELLS
    }

    pub fn n_cells(&self) -> usize {
        self.entries.iter().chain(&*self.cells).map(Entry::cells).sum()
    }

    /// Prefetches the entry of a word.
    pub fn fetch(&self, word: WordId) {
        if let Some(entry) = self.entries.get(word as usize) {
            fetch(entry);
        }
    }

    /// Prefetches the block of a word, once the entry is cached.
    #[inline]
    pub fn fetch_more(&self, word: WordId) {
        let block = self.entries.get(word as usize).and_then(Entry::block);
        // Whether there is a block is unpredictable; large ones are rare.
        let name = select_unpredictable(block.is_some(), block.unwrap_or(0), 0);
        self.cells.get(start(name)).into_iter().for_each(fetch);
        let in_line = (LINE / size_of::<T>()).max(1);
        if size(name) > in_line {
            self.get(name).iter().step_by(in_line).take(LINES).skip(1).for_each(fetch);
        }
    }

    /// The cells of a block.
    pub fn get(&self, name: Name) -> &[T] {
        &self.cells[range(name)]
    }

    pub fn get_mut(&mut self, name: Name) -> &mut [T] {
        &mut self.cells[range(name)]
    }

    /// Allocates an empty block of 2^power cells.
    pub fn allocate(&mut self, power: u32) -> Name {
        if let Some(start) = self.free.get_mut(power as usize).and_then(Vec::pop) {
            return power << START_BITS | start;
        }
        let start = self.cells.len();
        self.cells.extend_to(start + (1 << power), T::empty());
        power << START_BITS | start as u32
    }

    /// Empties and frees a block.
    pub fn release(&mut self, name: Name) {
        let (range, power) = (range(name), (name >> START_BITS) as usize);
        element(&mut self.free, power).push(range.start as u32);
        self.cells[range].fill(T::empty());
    }

    /// Replaces a block by one of twice the size.
    pub fn grow(&mut self, name: Name) -> Name {
        let kept = self.get(name).to_vec();
        self.release(name);
        let grown = self.allocate((name >> START_BITS) + 1);
        self.get_mut(grown)[..kept.len()].copy_from_slice(&kept);
        grown
    }

    /// Inserts a cell into a block with room.
    pub fn insert(&mut self, name: Name, place: usize, cell: T) -> &mut T {
        let cells = self.get_mut(name);
        cells.copy_within(place..cells.len() - 1, place + 1);
        cells[place] = cell;
        &mut cells[place]
    }

    /// Removes and returns a cell of a block.
    pub fn take(&mut self, name: Name, place: usize) -> T {
        let cells = self.get_mut(name);
        let taken = cells[place];
        cells.copy_within(place + 1.., place);
        cells[cells.len() - 1] = T::empty();
        taken
    }

    /// The arrays that grow with the words.
    pub fn arrays(&mut self) -> [&mut dyn Piecewise; 2]
    where
        T: Send + Sync + 'static,
    {
        [&mut self.entries, &mut self.cells]
    }

    /// Heap size in bytes.
    pub fn size(&self) -> usize {
        size_of_val(&*self.entries)
            + size_of_val(&*self.cells)
            + self.free.iter().map(Vec::capacity).sum::<usize>() * size_of::<u32>()
    }
}

/// Start of a block.
pub fn start(name: Name) -> usize {
    (name & (MAX_CELLS as u32 - 1)) as usize
}

/// Number of cells of a block.
pub fn size(name: Name) -> usize {
    1 << (name >> START_BITS)
}

/// The cells of a block.
pub fn range(name: Name) -> Range<usize> {
    start(name)..start(name) + size(name)
}
