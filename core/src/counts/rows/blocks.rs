//! Blocks of cells in one array: each has a power of two of them, and is used again once it is free.

use crate::counts::room::{fetch, make_room};
use std::ops::Range;

/// A block's name: where it starts (27 bits) and the logarithm of its size (5 bits).
pub type Name = u32;

/// No block's name.
pub const NONE: Name = u32::MAX;

const START_BITS: u32 = 27;

/// Bytes that come into a cache at once.
const LINE: usize = 64;

/// Lines that are asked for: the processor foresees what follows them.
const LINES: usize = 8;

/// The most cells of all blocks.
pub const MAX_CELLS: usize = 1 << START_BITS;

#[derive(Clone)]
pub struct Blocks<T> {
    cells: Vec<T>,
    /// Blocks that are free, by the logarithm of their size.
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

    /// Asks the memory for the cells of a block.
    #[inline]
    pub fn fetch(&self, name: Name) {
        let step = (LINE / size_of::<T>()).max(1);
        self.get(name).iter().step_by(step).take(LINES).for_each(fetch);
    }

    /// All cells, those of free blocks too.
    pub fn all(&self) -> &[T] {
        &self.cells
    }

    #[inline]
    pub fn all_mut(&mut self) -> &mut [T] {
        &mut self.cells
    }

    /// Makes a block of 2^power cells, all like this one.
    pub fn allocate(&mut self, power: u32, empty: T) -> Name {
        if let Some(start) = self.free.get_mut(power as usize).and_then(Vec::pop) {
            return power << START_BITS | start;
        }
        let start = self.cells.len() as u32;
        make_room(&mut self.cells, start as usize + (1 << power));
        self.cells.resize(start as usize + (1 << power), empty);
        power << START_BITS | start
    }

    /// Gives a block back, all of its cells like this one.
    pub fn release(&mut self, name: Name, empty: T) {
        let (range, power) = (range(name), (name >> START_BITS) as usize);
        if self.free.len() <= power {
            self.free.resize_with(power + 1, Vec::new);
        }
        self.free[power].push(range.start as u32);
        self.cells[range].fill(empty);
    }

    /// Makes a block twice as large of one that is full; of none, a block of one cell.
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

    /// Heap bytes held.
    pub fn size(&self) -> usize {
        size_of_val(self.cells.as_slice())
            + self.free.iter().map(Vec::capacity).sum::<usize>() * size_of::<u32>()
    }
}

/// Where a block starts.
#[inline]
pub fn start(name: Name) -> usize {
    (name & (MAX_CELLS as u32 - 1)) as usize
}

/// How many cells a block has.
#[inline]
pub fn size(name: Name) -> usize {
    1 << (name >> START_BITS)
}

/// The cells of a block.
#[inline]
pub fn range(name: Name) -> Range<usize> {
    start(name)..start(name) + size(name)
}
