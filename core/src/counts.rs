//! The counts: for each class its documents and tokens, for each word one sparse row of cells.
//!
//! Counts are `f64` and exact for integer weights up to 2^53, so that learning and unlearning, or
//! merging in any order, end in the same bits.

use std::collections::BTreeMap;

/// The id of a class. The model maps labels to ids; snapshots order classes by label.
pub type ClassId = u32;

const NO_CLASS: ClassId = ClassId::MAX;

/// What the store counts for one word in one class.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cell {
    pub class: ClassId,
    /// Occurrences of the word: Σ f_ji over documents j of the class.
    pub tokens: f64,
    /// Documents of the class that contain the word.
    pub documents: f64,
    /// Length of the *indexed* documents of the class that contain the word: the denominator of
    /// P(w_i | w_t, c). It covers the document index only, as the numerator does.
    pub length: f64,
}

impl Cell {
    const EMPTY: Cell = Cell { class: NO_CLASS, tokens: 0.0, documents: 0.0, length: 0.0 };

    fn new(class: ClassId) -> Self {
        Cell { class, ..Cell::EMPTY }
    }
}

/// The cells of one word. Most words belong to one class, so the first cell needs no allocation.
#[derive(Clone)]
pub struct Row {
    first: Cell,
    rest: Vec<Cell>,
}

impl Row {
    pub const fn new() -> Self {
        Row { first: Cell::EMPTY, rest: Vec::new() }
    }

    pub fn is_empty(&self) -> bool {
        self.first.class == NO_CLASS
    }

    pub fn len(&self) -> usize {
        if self.is_empty() { 0 } else { 1 + self.rest.len() }
    }

    #[inline]
    pub fn cells(&self) -> impl Iterator<Item = &Cell> {
        let first = if self.is_empty() { None } else { Some(&self.first) };
        first.into_iter().chain(self.rest.iter())
    }

    #[inline]
    pub fn cell(&self, class: ClassId) -> Option<&Cell> {
        if self.first.class == class {
            return Some(&self.first);
        }
        self.rest.iter().find(|cell| cell.class == class)
    }

    #[inline]
    pub fn cell_mut(&mut self, class: ClassId) -> Option<&mut Cell> {
        if self.first.class == class {
            return Some(&mut self.first);
        }
        self.rest.iter_mut().find(|cell| cell.class == class)
    }

    /// The cell of a class, made if it is missing.
    #[inline]
    pub fn entry(&mut self, class: ClassId) -> &mut Cell {
        if self.first.class == class {
            return &mut self.first;
        }
        if self.is_empty() {
            self.first.class = class;
            return &mut self.first;
        }
        match self.rest.iter().position(|cell| cell.class == class) {
            Some(position) => &mut self.rest[position],
            None => self.push(class),
        }
    }

    #[cold]
    fn push(&mut self, class: ClassId) -> &mut Cell {
        // Grow by what is needed while rows are short: two classes are the common case.
        if self.rest.len() < 4 {
            self.rest.reserve_exact(1);
        }
        self.rest.push(Cell::new(class));
        let last = self.rest.len() - 1;
        &mut self.rest[last]
    }

    pub fn remove(&mut self, class: ClassId) {
        if self.first.class == class {
            self.first = self.rest.pop().unwrap_or(Cell::EMPTY);
        } else {
            self.rest.retain(|cell| cell.class != class);
        }
    }

    pub fn size(&self) -> usize {
        self.rest.capacity() * size_of::<Cell>()
    }
}

impl Default for Row {
    fn default() -> Self {
        Row::new()
    }
}

/// What the store counts for one class.
#[derive(Clone, Default)]
pub struct Class {
    /// Weight of the documents learned; a class without documents does not exist.
    pub documents: f64,
    /// Tokens of those documents.
    pub tokens: f64,
    /// Document frequency → how many words of the class have it. It makes the Bernoulli model's
    /// Σ_w log(1 − p_wc) cost the number of distinct frequencies instead of the vocabulary.
    frequencies: BTreeMap<u64, u32>,
}

impl Class {
    pub fn new(documents: f64, tokens: f64) -> Self {
        Class { documents, tokens, frequencies: BTreeMap::new() }
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
        let mut row = Row::new();
        assert_eq!((row.len(), row.cells().count()), (0, 0));
        for class in [3, 1, 3, 0, 1, 3] {
            row.entry(class).tokens += 1.0;
        }
        assert_eq!(row.len(), 3);
        assert_eq!(row.cell(3).map(|cell| cell.tokens), Some(3.0));
        assert_eq!(row.cell(2), None);
        row.remove(3);
        let mut classes: Vec<ClassId> = row.cells().map(|cell| cell.class).collect();
        classes.sort_unstable();
        assert_eq!(classes, [0, 1]);
        row.remove(0);
        row.remove(1);
        assert!(row.is_empty());
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
