//! Counts as arrays, for the periodic computations in numpy and scipy.

use crate::counts::codec::{Reader, put, put_count, ranks};
use crate::counts::rows::SparseRows;
use crate::counts::{Cell, Class, ClassId, Rows, SavedOrder, Store, WordId};
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
    /// The attribute of each word.
    pub attributes: Vec<i64>,
}

impl Store {
    /// A copy of all counts in units of the current clock, by word id and class id.
    pub fn export(&self) -> Counts {
        let (words, classes) = (0..self.rows.slots() as WordId, 0..self.classes.len() as ClassId);
        export(&self.rows, &self.classes, self.unit(), words, &classes.collect::<Vec<_>>())
    }
}

/// The counts of these words in these classes, divided by `unit`.
pub fn export(
    rows: &Rows,
    totals: &[Class],
    unit: f64,
    words: impl Iterator<Item = WordId>,
    classes: &[ClassId],
) -> Counts {
    let each = |of: fn(&Class) -> f64| classes.iter().map(move |&id| of(&totals[id as usize]));
    let mut counts = Counts {
        class_documents: each(|class| class.documents).map(|n| n / unit).collect(),
        class_tokens: each(|class| class.tokens).map(|n| n / unit).collect(),
        ..Counts::default()
    };
    counts.indptr.push(0);
    let places = ranks(classes, totals.len());
    let mut row: Vec<(u32, Cell)> = Vec::new();
    for word in words {
        row.clear();
        row.extend(rows.cells(word).map(|cell| (places[cell.class as usize], cell)));
        row.sort_unstable_by_key(|&(place, _)| place);
        for &(place, cell) in &row {
            counts.classes.push(i64::from(place));
            counts.tokens.push(cell.tokens / unit);
            counts.documents.push(cell.documents / unit);
            counts.lengths.push(cell.length / unit);
        }
        counts.indptr.push(counts.classes.len() as i64);
    }
    counts
}

/// A sparse words × classes matrix in compressed rows by word.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ClassRows {
    pub indptr: Vec<i64>,
    pub classes: Vec<i64>,
    pub values: Vec<f64>,
}

impl ClassRows {
    /// The cells of words and classes in this order. An error begins with `what` unless the arrays are
    /// valid.
    pub fn read(&self, what: &str, order: &SavedOrder) -> Result<SparseRows<f64>> {
        let ClassRows { indptr, classes, values } = self;
        let known = order.classes.len();
        let in_range = |&class: &i64| usize::try_from(class).is_ok_and(|place| place < known);
        let valid = classes.len() == values.len()
            && classes.iter().all(in_range)
            && indptr.len() <= order.words.len() + 1;
        let Some(bounds) = row_bounds(indptr, values.len()).filter(|_| valid) else {
            return Err(Error::Invalid(format!("{what}: invalid rows of classes")));
        };
        let mut rows = SparseRows::default();
        for (&word, (start, end)) in order.words.iter().zip(bounds) {
            rows.reach(word);
            for (&class, &value) in classes[start..end].iter().zip(&values[start..]) {
                *rows.entry(word, order.classes[class as usize]) = value;
            }
        }
        Ok(rows)
    }

    pub fn put(&self, bytes: &mut Vec<u8>) {
        for bounds in self.indptr.windows(2) {
            let row = bounds[0] as usize..bounds[1] as usize;
            put(bytes, row.len() as u64);
            for (&class, &value) in self.classes[row.clone()].iter().zip(&self.values[row]) {
                put(bytes, class as u64);
                put_count(bytes, value);
            }
        }
    }

    /// The arrays of all words of a restored store.
    pub fn restore(reader: &mut Reader<'_>, order: &SavedOrder) -> Result<Self> {
        let mut rows = ClassRows { indptr: vec![0], ..ClassRows::default() };
        for _ in &order.words {
            for _ in 0..reader.number()? {
                rows.classes.push(i64::from(reader.class(order.classes.len())?));
                rows.values.push(reader.count()?);
            }
            rows.indptr.push(rows.values.len() as i64);
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
