//! A slice of the counts: the counts of some indexed documents, updated document by document.
//!
//! Event models read the cells of words and the totals of classes, of the whole stream or of a
//! slice, without a difference.

use crate::counts::alloc::{element, heap_size};
use crate::counts::rows::take;
use crate::counts::{Cell, Cells, Class, ClassId, Rows, WordId};
use foldhash::fast::FixedState;
use std::collections::HashMap;

/// The counts of some documents.
#[derive(Clone, Default)]
pub struct Slice {
    /// The row of each word in the documents.
    row_of: HashMap<WordId, WordId, FixedState>,
    rows: Rows,
    /// Free rows.
    free: Vec<WordId>,
    /// The totals of the classes, by id.
    pub classes: Vec<Class>,
    /// Whether classes keep document frequencies, for the Bernoulli model.
    frequencies: bool,
}

impl Cells for Slice {
    fn cells(&self, word: WordId) -> impl Iterator<Item = Cell> + Clone {
        self.row_of.get(&word).into_iter().flat_map(|&row| self.rows.cells(row))
    }
}

impl Slice {
    pub fn new(frequencies: bool) -> Self {
        Slice { frequencies, ..Slice::default() }
    }

    /// The totals of a class, if it ever had a document in the slice.
    pub fn class(&self, class: ClassId) -> Option<&Class> {
        self.classes.get(class as usize)
    }

    /// The words with cells, in no particular order.
    pub fn words(&self) -> impl Iterator<Item = (WordId, impl Iterator<Item = Cell>)> {
        self.row_of.iter().map(|(&word, &row)| (word, self.rows.cells(row)))
    }

    /// Weight of all documents.
    pub fn documents(&self) -> f64 {
        self.classes.iter().map(|class| class.documents).sum()
    }

    /// Adds a document.
    pub fn add(&mut self, class: ClassId, words: &[(WordId, f64)], weight: f64) {
        let totals = self.totals(class);
        totals.documents += weight;
        totals.tokens += weight * words.iter().map(|&(_, count)| count).sum::<f64>();
        for &(word, count) in words {
            self.add_word(class, word, weight * count, weight);
        }
    }

    /// The totals of a class, to be changed.
    pub fn totals(&mut self, class: ClassId) -> &mut Class {
        element(&mut self.classes, class as usize)
    }

    /// Adds one word of a document, or of a part of it; the class must have totals.
    pub fn add_word(&mut self, class: ClassId, word: WordId, tokens: f64, documents: f64) {
        let next = self.free.last().copied().unwrap_or(self.rows.slots() as WordId);
        let row = *self.row_of.entry(word).or_insert_with(|| {
            self.free.pop();
            next
        });
        self.rows.reach(row);
        let (documents, before) = self.rows.add(row, class, tokens, documents);
        if self.frequencies {
            self.classes[class as usize].move_frequency(before, documents);
        }
    }

    /// Removes a document that was added.
    pub fn remove(&mut self, class: ClassId, words: &[(WordId, f64)], weight: f64) {
        let Some(totals) = self.classes.get_mut(class as usize) else { return };
        let length: f64 = words.iter().map(|&(_, count)| count).sum();
        totals.documents = take(totals.documents, weight).unwrap_or(0.0);
        let tokens = take(totals.tokens, weight * length).unwrap_or(0.0);
        totals.tokens = if totals.exists() { tokens } else { 0.0 };
        for &(word, count) in words {
            let Some(&row) = self.row_of.get(&word) else { continue };
            let Some(cell) = self.rows.cell(row, class) else { continue };
            let tokens = take(cell.tokens, weight * count).unwrap_or(0.0);
            let left = take(cell.documents, weight).unwrap_or(0.0);
            self.rows.set(row, class, tokens, left);
            if self.frequencies {
                self.classes[class as usize].move_frequency(cell.documents, left);
            }
            if left == 0.0 {
                self.forget_if_empty(word, row);
            }
        }
    }

    /// Forgets a class: its id may belong to another class later.
    pub fn forget_class(&mut self, class: ClassId) {
        let Some(totals) = self.classes.get_mut(class as usize) else { return };
        *totals = Class::default();
        let rows: Vec<_> = self.row_of.iter().map(|(&word, &row)| (word, row)).collect();
        for (word, row) in rows {
            if self.rows.cell(row, class).is_some() {
                self.rows.set(row, class, 0.0, 0.0);
                self.forget_if_empty(word, row);
            }
        }
    }

    fn forget_if_empty(&mut self, word: WordId, row: WordId) {
        if self.rows.is_empty(row) {
            self.row_of.remove(&word);
            self.free.push(row);
        }
    }

    /// Heap bytes held.
    pub fn size(&self) -> usize {
        self.row_of.capacity() * (size_of::<(WordId, WordId)>() + 1)
            + self.rows.size()
            + heap_size(&self.free)
            + heap_size(&self.classes)
            + self.classes.iter().map(Class::size).sum::<usize>()
    }
}
