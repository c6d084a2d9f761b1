//! The index as a part of the store: lengths, pairs and statistics follow its documents.

use crate::counts::index::Document;
use crate::counts::pairs::Change;
use crate::counts::rows::take;
use crate::counts::store::Store;
use crate::counts::vocabulary::WordId;

/// Pairs that several threads count together: milliseconds of work, which outweighs starting a
/// thread.
const TOGETHER: usize = 1 << 18;

/// Fewer pairs are counted by one thread.
const WORTH: usize = 1 << 14;

/// Documents that the pair table must still process while a batch is learned.
#[derive(Clone)]
pub(crate) struct Behind {
    threads: usize,
    /// Number of documents that entered the index: the newest ones.
    entered: usize,
    /// Documents that left the index, each with the number of earlier entries.
    left: Vec<(usize, Document)>,
    /// Number of pairs of all of them, plus one per document.
    pairs: usize,
}

impl Behind {
    fn new(threads: usize) -> Self {
        Behind { threads, entered: 0, left: Vec::new(), pairs: 0 }
    }

    fn enter(&mut self, document: &Document) {
        self.count(document);
        self.entered += 1;
    }

    fn leave(&mut self, document: Document) {
        self.count(&document);
        self.left.push((self.entered, document));
    }

    fn count(&mut self, document: &Document) {
        self.pairs += 1 + document.words.len().pow(2) / 2;
    }
}

impl Store {
    /// From now on the pair table follows the index with a delay, on `threads` threads; with one
    /// thread it follows each document. Nothing may read it before the next call.
    pub(crate) fn follow_by(&mut self, threads: usize) {
        self.catch_up();
        // A learning rule may read the pairs of all earlier messages.
        let may = threads > 1 && self.pairs.is_complete() && self.rule.is_none();
        self.behind = may.then(|| Behind::new(threads));
    }

    /// Updates the pair table with all documents it has not processed.
    fn catch_up(&mut self) {
        let Some(behind) = &mut self.behind else { return };
        let Behind { threads, entered, left, pairs } =
            std::mem::replace(behind, Behind::new(behind.threads));
        let (mut left, mut changes) = (left.iter().peekable(), Vec::new());
        let mut newest = self.index.newest(entered);
        for before in 0..=entered {
            while let Some((_, document)) = left.next_if(|leaves| leaves.0 == before) {
                changes.push(Change { document, enters: false });
            }
            changes.extend(newest.next().map(|document| Change { document, enters: true }));
        }
        self.pairs.follow(&changes, if pairs < WORTH { 1 } else { threads });
        if !self.pairs.is_complete() {
            self.behind = None;
        }
    }

    pub(crate) fn index_document(&mut self, document: Document) {
        match &mut self.behind {
            Some(behind) => behind.enter(&document),
            None => self.pairs.learn(document.class, &document.words, document.weight),
        }
        self.enter_index(&document);
        self.index.push(document);
        while self.index.len() > self.settings.index_size {
            self.evict();
        }
        if self.behind.as_ref().is_some_and(|behind| behind.pairs >= TOGETHER) {
            self.catch_up();
        }
    }

    /// Removes the oldest document from the index.
    fn evict(&mut self) {
        if self.behind.as_ref().is_some_and(|behind| behind.entered == self.index.len()) {
            self.catch_up();
        }
        let Some(oldest) = self.index.pop_oldest() else { return };
        self.leave_index(&oldest, oldest.weight);
        if self.settings.windowed {
            self.leave_window(&oldest);
        }
        match &mut self.behind {
            Some(behind) => behind.leave(oldest),
            None => self.pairs.unlearn(oldest.class, &oldest.words, oldest.weight),
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

    /// Removes words from the indexed documents, which keep their place, and from everything
    /// derived from them.
    pub(crate) fn drop_words_from_index(&mut self, words: &[WordId]) {
        // Their pairs count in the decision whether all pairs fit.
        self.catch_up();
        let mut gone_words = words.to_vec();
        gone_words.sort_unstable();
        for slot in self.index.with_any(words) {
            let Some(document) = self.index.document(slot) else { continue };
            let mut document = document.clone();
            let (gone, kept): (Vec<_>, Vec<_>) =
                document.words.iter().partition(|(word, _)| gone_words.binary_search(word).is_ok());
            self.leave_index(&document, document.weight);
            self.pairs.unlearn_some(document.class, &gone, &kept, document.weight);
            document.words = kept.into_boxed_slice();
            self.index.set_words(slot, document.words.clone());
            self.enter_index(&document);
        }
        words.iter().for_each(|&word| self.index.forget_word(word));
    }
}
