//! The counts as arrays, for everything periodic that numpy and scipy compute.

use crate::counts::Cell;
use crate::store::Store;
use crate::vocabulary::WordId;

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

impl Store {
    /// A copy of all counts.
    pub fn export(&self) -> Counts {
        let cells = self.cells();
        let mut counts = Counts {
            class_documents: self.classes.iter().map(|class| class.documents).collect(),
            class_tokens: self.classes.iter().map(|class| class.tokens).collect(),
            indptr: Vec::with_capacity(self.rows.slots() + 1),
            classes: Vec::with_capacity(cells),
            tokens: Vec::with_capacity(cells),
            documents: Vec::with_capacity(cells),
            lengths: Vec::with_capacity(cells),
        };
        counts.indptr.push(0);
        let mut row: Vec<&Cell> = Vec::new();
        for word in 0..self.rows.slots() as WordId {
            row.clear();
            row.extend(self.rows.cells(word));
            row.sort_unstable_by_key(|cell| cell.class);
            for cell in &row {
                counts.classes.push(i64::from(cell.class));
                counts.tokens.push(cell.tokens);
                counts.documents.push(cell.documents);
                counts.lengths.push(cell.length);
            }
            counts.indptr.push(counts.classes.len() as i64);
        }
        counts
    }
}
