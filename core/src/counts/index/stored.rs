//! The index as a part of the store: lengths and statistics follow its documents.

use crate::counts::rows::take;
use crate::counts::{Document, Store, WordId};

impl Store {
    pub(crate) fn index_document(&mut self, document: Document) {
        self.enter_index(&document);
        self.index.push(document);
        while self.index.len() > self.settings.index_size {
            self.evict();
        }
        let Store { statistics, index, vocabulary, .. } = self;
        let order = |one, other| vocabulary.word(one).cmp(vocabulary.word(other));
        statistics.iter_mut().for_each(|statistic| statistic.indexed(index, &order));
    }

    /// Removes the oldest document from the index.
    fn evict(&mut self) {
        let Some(oldest) = self.index.pop_oldest() else { return };
        self.leave_index(&oldest, oldest.weight);
        if self.settings.windowed {
            self.leave_window(&oldest);
        }
    }

    /// Adds an indexed document to lengths and statistics.
    fn enter_index(&mut self, document: &Document) {
        self.add_lengths(document, document.weight);
        for statistic in self.statistics.iter_mut() {
            statistic.enter(document, document.weight);
        }
    }

    /// Subtracts a weight of an indexed document from lengths and statistics.
    pub(crate) fn leave_index(&mut self, document: &Document, weight: f64) {
        self.add_lengths(document, -weight);
        for statistic in self.statistics.iter_mut() {
            statistic.leave(document, weight);
        }
    }

    fn add_lengths(&mut self, document: &Document, weight: f64) {
        let length = if self.settings.columns { 1.0 } else { document.length() };
        for &(word, _) in &*document.words {
            if let Some(cell) = self.rows.cell(word, document.class) {
                let length = if weight < 0.0 {
                    take(cell.length, -weight * length).unwrap_or(0.0)
                } else {
                    cell.length + weight * length
                };
                self.rows.set_length(word, document.class, length);
            }
        }
    }

    /// Removes words from the indexed documents, which keep their place, and from everything
    /// derived from them.
    pub(crate) fn drop_words_from_index(&mut self, words: &[WordId]) {
        let mut gone_words = words.to_vec();
        gone_words.sort_unstable();
        for slot in self.index.with_any(words) {
            let Some(document) = self.index.document(slot) else { continue };
            let mut document = document.clone();
            self.leave_index(&document, document.weight);
            let is_kept = |(word, _): &&(WordId, f64)| gone_words.binary_search(word).is_err();
            document.words = document.words.iter().filter(is_kept).copied().collect();
            self.index.set_words(slot, document.words.clone());
            self.enter_index(&document);
        }
        words.iter().for_each(|&word| self.index.forget_word(word));
    }
}
