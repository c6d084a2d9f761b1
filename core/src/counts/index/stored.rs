//! The index as a part of the store: what follows from the documents comes and goes with them.

use crate::counts::index::Document;
use crate::counts::rows::take;
use crate::counts::store::Store;
use crate::counts::vocabulary::WordId;

impl Store {
    pub(crate) fn index_document(&mut self, document: Document) {
        self.count_indexed(&document);
        self.index.push(document);
        while self.index.len() > self.settings.max_documents {
            if let Some(oldest) = self.index.pop_oldest() {
                self.drop_from_index(&oldest, oldest.weight);
                if self.settings.windowed {
                    self.leave_window(&oldest);
                }
            }
        }
        let (statistics, counted) = self.parts();
        statistics.iter_mut().for_each(|statistic| statistic.indexed(&counted));
    }

    /// Adds what an indexed document gives to lengths, pairs and statistics.
    pub(crate) fn count_indexed(&mut self, document: &Document) {
        self.add_lengths(document, document.weight);
        self.pairs.learn(document.class, &document.words, document.weight);
        for statistic in self.statistics.iter_mut() {
            statistic.enter(document, document.weight);
        }
    }

    /// Takes back what an indexed document gave to them.
    pub(crate) fn drop_from_index(&mut self, document: &Document, weight: f64) {
        self.add_lengths(document, -weight);
        self.pairs.unlearn(document.class, &document.words, weight);
        for statistic in self.statistics.iter_mut() {
            statistic.leave(document, weight);
        }
    }

    fn add_lengths(&mut self, document: &Document, weight: f64) {
        let length = if self.settings.columns { 1.0 } else { document.length() };
        for &(word, _) in &document.words {
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

    /// Drops words from the indexed documents, which keep their place, and from what follows from
    /// these.
    pub(crate) fn drop_words_from_index(&mut self, words: &[WordId]) {
        let mut gone_words = words.to_vec();
        gone_words.sort_unstable();
        for slot in self.index.with_any(words) {
            let Some(document) = self.index.document(slot) else { continue };
            let mut document = document.clone();
            let (gone, kept): (Vec<_>, Vec<_>) =
                document.words.iter().partition(|(word, _)| gone_words.binary_search(word).is_ok());
            for statistic in self.statistics.iter_mut() {
                statistic.leave(&document, document.weight);
            }
            self.add_lengths(&document, -document.weight);
            self.pairs.unlearn_some(document.class, &gone, &kept, document.weight);
            document.words = kept.into_boxed_slice();
            self.index.set_words(slot, document.words.clone());
            self.add_lengths(&document, document.weight);
            for statistic in self.statistics.iter_mut() {
                statistic.enter(&document, document.weight);
            }
        }
        words.iter().for_each(|&word| self.index.forget_word(word));
    }
}
