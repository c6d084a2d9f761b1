//! Effective counts, which an estimate computes and scores read instead of the counts.
//!
//! The caller computes them on a copy of the indexed documents and swaps them in. Newer words and
//! classes have none: they are estimated from the smoothing alone until the next refresh.

use crate::counts::export::row_bounds;
use crate::counts::{ClassId, Exported, SavedOrder, Statistic, Store, WordId};
use crate::error::{Error, Result};

/// The effective count of one word in one class.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EffectiveCell {
    pub class: ClassId,
    pub count: f64,
}

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
    /// The range of the cells of each word.
    rows: Vec<(usize, usize)>,
    cells: Vec<EffectiveCell>,
}

/// The table as arrays: totals by class; compressed rows by word.
#[derive(Default)]
pub struct EffectiveArrays {
    pub totals: Vec<f64>,
    pub indptr: Vec<i64>,
    pub classes: Vec<i64>,
    pub counts: Vec<f64>,
}

impl Effective {
    /// Check the arrays: each count is from 0 to the total of its class.
    pub fn new(arrays: &EffectiveArrays, alpha: f64) -> Result<Self> {
        let invalid = |what: &str| Err(Error::Invalid(format!("effective counts: {what}")));
        if arrays.classes.len() != arrays.counts.len() {
            return invalid("there must be one class for each count");
        }
        if !arrays.totals.iter().all(|total| (0.0..f64::INFINITY).contains(total)) {
            return invalid("totals must be finite and not negative");
        }
        let of_total = |&total: &f64| EffectiveClass { total, ..EffectiveClass::default() };
        let mut table = Effective {
            alpha,
            classes: arrays.totals.iter().map(of_total).collect(),
            ..Effective::default()
        };
        let Some(rows) = row_bounds(&arrays.indptr, arrays.counts.len()) else {
            return invalid("row bounds must ascend, within the counts");
        };
        let mut absent = vec![Vec::new(); arrays.totals.len()];
        for (first, end) in rows {
            let start = table.cells.len();
            for (&class, &count) in arrays.classes[first..end].iter().zip(&arrays.counts[first..]) {
                let class = ClassId::try_from(class).unwrap_or(ClassId::MAX);
                let Some(totals) = table.classes.get_mut(class as usize) else {
                    return invalid("a class has no total");
                };
                if !(0.0..=totals.total).contains(&count) {
                    return invalid("counts must be from 0 to the total of their class");
                }
                totals.words += 1.0;
                absent[class as usize].push(totals.total - count);
                table.cells.push(EffectiveCell { class, count });
            }
            table.rows.push((start, table.cells.len()));
        }
        for (totals, mut counts) in table.classes.iter_mut().zip(absent) {
            // Sorted, so that the sum does not depend on the ids of words.
            counts.sort_unstable_by(f64::total_cmp);
            totals.absences = counts.iter().map(|count| (count + alpha).ln()).sum();
        }
        Ok(table)
    }

    #[inline]
    pub fn cells(&self, word: WordId) -> &[EffectiveCell] {
        self.rows.get(word as usize).map_or(&[], |&(start, end)| &self.cells[start..end])
    }

    /// The totals of a class; zeros for a class that is newer than the table.
    pub fn class(&self, class: ClassId) -> EffectiveClass {
        self.classes.get(class as usize).copied().unwrap_or_default()
    }
}

static NONE: Effective =
    Effective { alpha: 0.0, classes: Vec::new(), rows: Vec::new(), cells: Vec::new() };

impl Store {
    /// The effective counts in use.
    #[inline]
    pub fn effective(&self) -> &Effective {
        self.statistic().unwrap_or(&NONE)
    }
}

impl Statistic for Effective {
    fn forget_word(&mut self, word: WordId) {
        let Some(row) = self.rows.get_mut(word as usize) else { return };
        let (start, end) = std::mem::take(row);
        for cell in &self.cells[start..end] {
            let totals = &mut self.classes[cell.class as usize];
            totals.words -= 1.0;
            totals.absences -= (totals.total - cell.count + self.alpha).ln();
        }
    }

    fn forget_class(&mut self, class: ClassId) {
        let Some(totals) = self.classes.get_mut(class as usize) else { return };
        *totals = EffectiveClass::default();
        // Move the remaining cells up, row by row.
        let mut kept = 0;
        for row in &mut self.rows {
            let start = kept;
            for place in row.0..row.1 {
                if self.cells[place].class != class {
                    self.cells[kept] = self.cells[place];
                    kept += 1;
                }
            }
            *row = (start, kept);
        }
        self.cells.truncate(kept);
    }

    fn size(&self) -> usize {
        self.classes.capacity() * size_of::<EffectiveClass>()
            + self.rows.capacity() * size_of::<(usize, usize)>()
            + self.cells.capacity() * size_of::<EffectiveCell>()
    }
}

impl Exported for Effective {
    type Arrays = EffectiveArrays;

    fn export(&self, order: &SavedOrder) -> EffectiveArrays {
        let mut arrays = EffectiveArrays {
            totals: order.classes.iter().map(|&class| self.class(class).total).collect(),
            indptr: vec![0],
            ..EffectiveArrays::default()
        };
        for &word in &order.words {
            for cell in self.cells(word) {
                if let Some(rank) = order.classes.iter().position(|&class| class == cell.class) {
                    arrays.classes.push(rank as i64);
                    arrays.counts.push(cell.count);
                }
            }
            arrays.indptr.push(arrays.counts.len() as i64);
        }
        arrays
    }
}
