//! Counts as arrays, for the periodic computations in numpy and scipy.

use crate::counts::attributes::NONE;
use crate::counts::rows::SparseRows;
use crate::counts::{Cell, ClassId, Document, SavedOrder, Store, WordId};
use crate::error::{Error, Result};

/// Totals by class id, and the sparse words × classes matrix in compressed rows by word id.
#[derive(Default)]
pub struct Counts {
    pub class_documents: Vec<f64>,
    pub class_tokens: Vec<f64>,
    pub indptr: Vec<i64>,
    pub classes: Vec<i64>,
    pub tokens: Vec<f64>,
    pub documents: Vec<f64>,
    pub lengths: Vec<f64>,
}

/// The indexed documents, oldest first, as a sparse documents × words matrix of counts.
#[derive(Default)]
pub struct Documents {
    pub classes: Vec<i64>,
    pub weights: Vec<f64>,
    pub indptr: Vec<i64>,
    pub words: Vec<i64>,
    pub counts: Vec<f64>,
    /// The attribute id of each word, -1 for unused ids.
    pub attributes: Vec<i64>,
}

impl Store {
    /// A copy of the indexed documents.
    pub fn export_documents(&self) -> Documents {
        let attribute = |word| match self.attribute_of(word) {
            NONE => -1,
            _ if self.rows.is_empty(word) => -1,
            attribute => i64::from(attribute),
        };
        let attributes = (0..self.rows.slots() as WordId).map(attribute).collect();
        let mut exported = Documents { attributes, ..Documents::default() };
        exported.indptr.push(0);
        for Document { class, weight, words, .. } in self.index.documents() {
            exported.classes.push(i64::from(*class));
            exported.weights.push(*weight / self.unit());
            exported.words.extend(words.iter().map(|&(word, _)| i64::from(word)));
            exported.counts.extend(words.iter().map(|&(_, count)| count));
            exported.indptr.push(exported.words.len() as i64);
        }
        exported
    }

    /// A copy of all counts in units of the current clock.
    pub fn export(&self) -> Counts {
        let unit = self.unit();
        let mut counts = Counts {
            class_documents: self.classes.iter().map(|class| class.documents / unit).collect(),
            class_tokens: self.classes.iter().map(|class| class.tokens / unit).collect(),
            ..Counts::default()
        };
        counts.indptr.push(0);
        let mut row: Vec<Cell> = Vec::new();
        for word in 0..self.rows.slots() as WordId {
            row.clear();
            row.extend(self.rows.cells(word));
            row.sort_unstable_by_key(|cell| cell.class);
            for cell in &row {
                counts.classes.push(i64::from(cell.class));
                counts.tokens.push(cell.tokens / unit);
                counts.documents.push(cell.documents / unit);
                counts.lengths.push(cell.length / unit);
            }
            counts.indptr.push(counts.classes.len() as i64);
        }
        counts
    }
}

/// A sparse words × classes matrix in compressed rows by word.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ClassRows {
    pub indptr: Vec<i64>,
    pub classes: Vec<i64>,
    pub values: Vec<f64>,
}

impl ClassRows {
    /// The cells. An error begins with `what` unless the arrays are valid and the classes below `n_classes`.
    pub fn read(&self, what: &str, n_classes: usize) -> Result<SparseRows<f64>> {
        let ClassRows { indptr, classes, values } = self;
        let in_range = |&class: &i64| usize::try_from(class).is_ok_and(|id| id < n_classes);
        let valid = classes.len() == values.len() && classes.iter().all(in_range);
        let Some(bounds) = row_bounds(indptr, values.len()).filter(|_| valid) else {
            return Err(Error::Invalid(format!("{what}: invalid rows of classes")));
        };
        let mut rows = SparseRows::default();
        for (word, (start, end)) in (0..).zip(bounds) {
            rows.reach(word);
            for (&class, &value) in classes[start..end].iter().zip(&values[start..]) {
                *rows.entry(word, class as ClassId) = value;
            }
        }
        Ok(rows)
    }

    /// The arrays of some cells, as a restored store would number them.
    pub fn of(rows: &SparseRows<f64>, order: &SavedOrder) -> Self {
        let mut arrays = ClassRows { indptr: vec![0], ..ClassRows::default() };
        for &word in &order.words {
            for (rank, &class) in (0..).zip(&order.classes) {
                if let Some(&value) = rows.cell(word, class) {
                    arrays.classes.push(rank);
                    arrays.values.push(value);
                }
            }
            arrays.indptr.push(arrays.values.len() as i64);
        }
        arrays
    }
}

/// The bounds of each row of a sparse matrix with so many cells; None unless they ascend within the
/// cells.
pub fn row_bounds(indptr: &[i64], cells: usize) -> Option<Vec<(usize, usize)>> {
    let bounds = indptr.windows(2).map(|bounds| {
        let (start, end) = (usize::try_from(bounds[0]).ok()?, usize::try_from(bounds[1]).ok()?);
        (start <= end && end <= cells).then_some((start, end))
    });
    bounds.collect()
}
