//! Effective counts, which an estimate computes and scores read instead of the counts.
//!
//! The caller computes them on a copy of the indexed documents and swaps them in. Newer words and
//! classes have none: they are estimated from the smoothing alone until the next refresh.

use crate::counts::export::ClassRows;
use crate::counts::rows::SparseRows;
use crate::counts::{ClassId, SavedOrder, Statistic, Store, WordId};
use crate::error::{Error, Result};
use std::sync::LazyLock;

/// The totals of one class.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct EffectiveClass {
    /// h_c, the denominator for counts of words, as n_c for documents.
    pub total: f64,
    /// Words with a cell.
    pub words: f64,
    /// Σ ln(total − count + α) over them.
    pub absences: f64,
}

/// A sparse table of effective counts, with its sums for the smoothing `alpha`.
#[derive(Clone, Default)]
pub struct Effective {
    alpha: f64,
    classes: Vec<EffectiveClass>,
    cells: SparseRows<f64>,
}

/// The table as arrays: totals by class, and counts.
#[derive(Default)]
pub struct EffectiveArrays {
    pub totals: Vec<f64>,
    pub counts: ClassRows,
}

impl Effective {
    /// Check the arrays: each count is from 0 to the total of its class.
    pub fn new(arrays: &EffectiveArrays, alpha: f64) -> Result<Self> {
        let EffectiveArrays { totals, counts } = arrays;
        let mut valid = totals.iter().all(|total| (0.0..f64::INFINITY).contains(total));
        let cells = counts.read("effective counts", totals.len())?;
        let mut absent = vec![Vec::new(); totals.len()];
        for (class, count) in (0..cells.slots() as WordId).flat_map(|word| cells.cells(word)) {
            let total = totals[class as usize];
            valid &= (0.0..=total).contains(count);
            absent[class as usize].push(total - count);
        }
        if !valid {
            let message = "effective counts must be from 0 to the finite total of their class";
            return Err(Error::Invalid(message.into()));
        }
        let of_class = |(&total, mut counts): (&f64, Vec<f64>)| {
            // Sorted, so that the sum does not depend on the ids of words.
            counts.sort_unstable_by(f64::total_cmp);
            let absences = counts.iter().map(|count| (count + alpha).ln()).sum();
            EffectiveClass { total, words: counts.len() as f64, absences }
        };
        let classes = totals.iter().zip(absent).map(of_class).collect();
        Ok(Effective { alpha, classes, cells })
    }

    /// The classes of a word, and its counts in them.
    pub fn cells(&self, word: WordId) -> impl Iterator<Item = (ClassId, f64)> {
        self.cells.cells(word).map(|(class, &count)| (class, count))
    }

    /// The totals of a class; zeros for a class that is newer than the table.
    pub fn class(&self, class: ClassId) -> EffectiveClass {
        self.classes.get(class as usize).copied().unwrap_or_default()
    }

    /// The arrays as a restored store would number them.
    pub fn export(&self, order: &SavedOrder) -> EffectiveArrays {
        let totals = order.classes.iter().map(|&class| self.class(class).total).collect();
        EffectiveArrays { totals, counts: ClassRows::of(&self.cells, order) }
    }
}

static NONE: LazyLock<Effective> = LazyLock::new(Effective::default);

impl Store {
    /// The effective counts in use.
    pub fn effective(&self) -> &Effective {
        self.statistic().unwrap_or(&NONE)
    }
}

impl Statistic for Effective {
    fn forget_word(&mut self, word: WordId) {
        for (class, count) in self.cells.cells(word) {
            let totals = &mut self.classes[class as usize];
            totals.words -= 1.0;
            totals.absences -= (totals.total - count + self.alpha).ln();
        }
        self.cells.clear(word);
    }

    fn forget_class(&mut self, class: ClassId) {
        if let Some(totals) = self.classes.get_mut(class as usize) {
            *totals = EffectiveClass::default();
            (0..self.cells.slots() as WordId).for_each(|word| self.cells.remove(word, class));
        }
    }

    fn size(&self) -> usize {
        self.cells.size()
    }
}
