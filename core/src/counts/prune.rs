//! Pruning: the vocabulary's bound.

use crate::counts::rows::take;
use crate::counts::store::Store;
use crate::counts::vocabulary::WordId;

/// The share of `max_words` kept when the bound is passed: pruning sorts the vocabulary, so it
/// should be rare, and a quarter of the bound pays for it with arrivals.
const KEPT_SHARE: f64 = 0.75;

impl Store {
    pub(crate) fn prune_to_bound(&mut self) {
        if self.vocabulary.len() > self.settings.max_words {
            self.prune((self.settings.max_words as f64 * KEPT_SHARE) as usize);
        }
    }

    /// Forgets all but the `keep` words with the highest document frequency, as if the others
    /// had never been learned. Ties are broken by the words' bytes.
    pub fn prune(&mut self, keep: usize) {
        if self.vocabulary.len() <= keep {
            return;
        }
        let mut ranked: Vec<(f64, WordId)> = self
            .vocabulary
            .sorted_ids()
            .into_iter()
            .map(|word| (self.rows.cells(word).map(|cell| cell.documents).sum(), word))
            .collect();
        // Stable: words of equal frequency stay in the order of their bytes.
        ranked.sort_by(|a, b| b.0.total_cmp(&a.0));
        let dropped: Vec<WordId> = ranked[keep..].iter().map(|&(_, word)| word).collect();
        self.forget_words(&dropped);
        self.pruned = true;
        self.version += 1;
    }

    fn forget_words(&mut self, words: &[WordId]) {
        let mut touched: Vec<u32> =
            words.iter().flat_map(|&word| self.index.postings(word)).map(|p| p.slot).collect();
        touched.sort_unstable();
        touched.dedup();
        for &slot in &touched {
            if let Some(document) = self.index.document(slot).cloned() {
                self.drop_from_index(&document, document.weight);
            }
        }
        self.index.forget_words(words);
        for &slot in &touched {
            if let Some(document) = self.index.document(slot).cloned() {
                self.count_indexed(&document);
            }
        }
        for &word in words {
            let cells: Vec<_> = self.rows.cells(word).copied().collect();
            for cell in cells {
                let tokens = self.set_cell(word, cell.class, 0.0, 0.0);
                let totals = &mut self.classes[cell.class as usize];
                totals.tokens = take(totals.tokens, tokens).unwrap_or(0.0);
            }
        }
    }
}
