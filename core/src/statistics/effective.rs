//! Effective counts, which an estimate computes and scores read instead of the counts.
//!
//! The caller computes them on a copy of the indexed documents and swaps them in. Newer words and
//! classes have none: they are estimated from the smoothing alone until the next refresh.

use crate::counts::alloc::element;
use crate::counts::codec::{Reader, put_count, put_float};
use crate::counts::export::ClassRows;
use crate::counts::rows::SparseRows;
use crate::counts::{ClassId, SavedOrder, Statistic, Store, WordId};
use crate::error::{Error, Result};
use crate::statistics::exact::ExactSum;
use std::sync::LazyLock;

/// The totals of one class.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct EffectiveClass {
    /// h_c, the denominator for counts of words, as n_c for documents.
    pub total: f64,
    /// Words with a cell.
    pub words: f64,
    /// Σ ln(total − count + α) over them.
    pub absences: ExactSum,
}

/// A sparse table of effective counts, with its sums for the smoothing `alpha`.
#[derive(Clone, Default)]
pub struct Effective {
    alpha: f64,
    classes: Vec<EffectiveClass>,
    cells: SparseRows<f64>,
}

/// The table as arrays of words and classes in some order: totals by class, and counts.
#[derive(Default)]
pub struct EffectiveArrays {
    pub totals: Vec<f64>,
    pub counts: ClassRows,
}

impl Effective {
    /// Check the arrays: each count is from 0 to the total of its class.
    pub fn new(arrays: &EffectiveArrays, alpha: f64, order: &SavedOrder) -> Result<Self> {
        let EffectiveArrays { totals, counts } = arrays;
        let mut valid = totals.iter().all(|total| (0.0..f64::INFINITY).contains(total));
        valid &= totals.len() <= order.classes.len();
        let cells = counts.read("effective counts", order)?;
        let mut classes = Vec::new();
        for (&class, &total) in order.classes.iter().zip(totals) {
            element::<EffectiveClass>(&mut classes, class as usize).total = total;
        }
        for (class, &count) in (0..cells.slots() as WordId).flat_map(|word| cells.cells(word)) {
            let of_class = element::<EffectiveClass>(&mut classes, class as usize);
            valid &= (0.0..=of_class.total).contains(&count);
            of_class.words += 1.0;
            of_class.absences.add((of_class.total - count + alpha).ln());
        }
        if !valid {
            let message = "effective counts must be from 0 to the finite total of their class";
            return Err(Error::Invalid(message.into()));
        }
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

    pub fn put(&self, order: &SavedOrder, bytes: &mut Vec<u8>) {
        let EffectiveArrays { totals, counts } = self.export(order);
        put_float(bytes, self.alpha);
        totals.into_iter().for_each(|total| put_count(bytes, total));
        counts.put(bytes);
    }

    pub fn restore(reader: &mut Reader<'_>, order: &SavedOrder) -> Result<Self> {
        let alpha = reader.float()?;
        let totals = order.classes.iter().map(|_| reader.count()).collect::<Result<_>>()?;
        let counts = ClassRows::restore(reader, order)?;
        Effective::new(&EffectiveArrays { totals, counts }, alpha, order)
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
            totals.absences.take((totals.total - count + self.alpha).ln());
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
