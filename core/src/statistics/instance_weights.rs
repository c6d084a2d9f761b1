//! Instance weights: the extra weight of tokens by the documents that contain them.
//!
//! They are computed for all documents at once, or for each message when it is learned. In the second
//! case the extra weight is stored with the message in the index, so that it leaves the counts
//! together with the message: unlearned, evicted or subtracted.

use crate::counts::export::row_bounds;
use crate::counts::{ClassId, WordId};
use crate::error::{Error, Result};

/// The extra weight of tokens, by word: (class, tokens).
#[derive(Clone, Default)]
pub struct InstanceTokens {
    rows: Vec<Box<[(ClassId, f64)]>>,
    /// Whether messages get their weights when they are learned.
    online: bool,
}

impl InstanceTokens {
    /// An empty table for messages that get their weights when they are learned.
    pub fn online() -> Self {
        InstanceTokens { online: true, ..InstanceTokens::default() }
    }

    /// Check and store a sparse words × classes matrix in compressed rows.
    pub fn new(indptr: &[i64], classes: &[i64], tokens: &[f64], n_classes: usize) -> Result<Self> {
        let invalid = |what: &str| Err(Error::Invalid(format!("weights: {what}")));
        if classes.len() != tokens.len() {
            return invalid("there must be one class for each count");
        }
        let Some(bounds) = row_bounds(indptr, tokens.len()) else {
            return invalid("row bounds must ascend, within the counts");
        };
        if !classes.iter().all(|&class| usize::try_from(class).is_ok_and(|id| id < n_classes)) {
            return invalid("a class is unknown");
        }
        let cells = |(start, end): (usize, usize)| {
            let cells = classes[start..end].iter().zip(&tokens[start..end]);
            cells.map(|(&class, &tokens)| (class as ClassId, tokens)).collect()
        };
        let rows = bounds.into_iter().map(cells).collect();
        Ok(InstanceTokens { rows, online: false })
    }

    pub fn is_online(&self) -> bool {
        self.online
    }

    #[inline]
    pub fn tokens(&self, word: WordId, class: ClassId) -> f64 {
        let cells = self.rows.get(word as usize).map_or(&[][..], |cells| cells);
        cells.iter().find(|cell| cell.0 == class).map_or(0.0, |cell| cell.1)
    }

    fn cell_mut(&mut self, word: WordId, class: ClassId) -> Option<&mut f64> {
        let cells = self.rows.get_mut(word as usize)?;
        cells.iter_mut().find(|cell| cell.0 == class).map(|cell| &mut cell.1)
    }

    pub fn add(&mut self, word: WordId, class: ClassId, tokens: f64) {
        if let Some(cell) = self.cell_mut(word, class) {
            *cell += tokens;
            return;
        }
        if self.rows.len() <= word as usize {
            self.rows.resize_with(word as usize + 1, Default::default);
        }
        let cells = &mut self.rows[word as usize];
        *cells = std::mem::take(cells).into_iter().chain([(class, tokens)]).collect();
    }

    /// Remove up to `tokens` tokens; return the number removed.
    pub fn take(&mut self, word: WordId, class: ClassId, tokens: f64) -> f64 {
        let Some(cell) = self.cell_mut(word, class) else { return 0.0 };
        let taken = cell.min(tokens);
        *cell -= taken;
        if *cell == 0.0 {
            let cells = &mut self.rows[word as usize];
            *cells = cells.iter().copied().filter(|cell| cell.1 > 0.0).collect();
        }
        taken
    }

    /// Remove all tokens of a word and a class; return their number.
    pub fn drop_cell(&mut self, word: WordId, class: ClassId) -> f64 {
        self.cell_mut(word, class).map_or(0.0, std::mem::take)
    }

    pub fn forget_word(&mut self, word: WordId) {
        if let Some(cells) = self.rows.get_mut(word as usize) {
            *cells = Box::default();
        }
    }

    pub fn size(&self) -> usize {
        let cells: usize = self.rows.iter().map(|cells| size_of_val(&**cells)).sum();
        cells + self.rows.capacity() * size_of::<Box<[(ClassId, f64)]>>()
    }
}
