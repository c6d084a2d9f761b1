//! Blocks of cells in one array. The size of a block is a power of two; free blocks are reused.

use crate::counts::alloc::{fetch, make_room};
use std::ops::Range;

/// Name of a block: its start (27 bits) and the logarithm of its size (5 bits).
pub type Name = u32;

/// The name for "no block".
pub const NONE: Name = u32::MAX;

const START_BITS: u32 = 27;

/// Size of a cache line in bytes.
const LINE: usize = 64;

/// Lines prefetched explicitly; the hardware prefetches the following ones.
const LINES: usize = 8;

/// Maximum number of cells in all blocks.
pub const MAX_CELLS: usize = 1 << START_BITS;

#[derive(Clone)]
pub struct Blocks<T> {
    cells: Vec<T>,
    /// Free blocks, by the logarithm of their size.
    free: Vec<Vec<u32>>,
}

impl<T> Default for Blocks<T> {
    fn default() -> Self {
        Blocks { cells: Vec::new(), free: Vec::new() }
    }
}

impl<T: Copy> Blocks<T> {
    #[inline]
    pub fn get(&self, name: Name) -> &[T] {
        &self.cells[range(name)]
    }

    #[inline]
    pub fn get_mut(&mut self, name: Name) -> &mut [T] {
        &mut self.cells[range(name)]
    }

    /// Prefetches the cells of a block.
    #[inline]
    pub fn fetch(&self, name: Name) {
        let step = (LINE / size_of::<T>()).max(1);
        self.get(name).iter().step_by(step).take(LINES).for_each(fetch);
    }

    /// All cells, including those of free blocks.
    pub fn all(&self) -> &[T] {
        &self.cells
    }

    #[inline]
    pub fn all_mut(&mut self) -> &mut [T] {
        &mut self.cells
    }

    /// Allocates a block of 2^power cells filled with `empty`.
    pub fn allocate(&mut self, power: u32, empty: T) -> Name {
        if let Some(start) = self.free.get_mut(power as usize).and_then(Vec::pop) {
            return power << START_BITS | start;
        }
        let start = self.cells.len() as u32;
        make_room(&mut self.cells, start as usize + (1 << power));
        self.cells.resize(start as usize + (1 << power), empty);
        power << START_BITS | start
    }

    /// Frees a block and resets its cells to `empty`.
    pub fn release(&mut self, name: Name, empty: T) {
        let (range, power) = (range(name), (name >> START_BITS) as usize);
        if self.free.len() <= power {
            self.free.resize_with(power + 1, Vec::new);
        }
        self.free[power].push(range.start as u32);
        self.cells[range].fill(empty);
    }

    /// Replaces a full block by one of twice the size; `NONE` by a block of one cell.
    pub fn grow(&mut self, name: Name, empty: T) -> Name {
        if name == NONE {
            return self.allocate(0, empty);
        }
        let kept = self.get(name).to_vec();
        self.release(name, empty);
        let grown = self.allocate((name >> START_BITS) + 1, empty);
        self.get_mut(grown)[..kept.len()].copy_from_slice(&kept);
        grown
    }

    /// Heap size in bytes.
    pub fn size(&self) -> usize {
        size_of_val(self.cells.as_slice())
            + self.free.iter().map(Vec::capacity).sum::<usize>() * size_of::<u32>()
    }
}

/// Start of a block.
#[inline]
pub fn start(name: Name) -> usize {
    (name & (MAX_CELLS as u32 - 1)) as usize
}

/// Number of cells of a block.
#[inline]
pub fn size(name: Name) -> usize {
    1 << (name >> START_BITS)
}

/// The cells of a block.
#[inline]
pub fn range(name: Name) -> Range<usize> {
    start(name)..start(name) + size(name)
}
