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
    /// thread it follows each document. Nothing may read it meanwhile.
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
        self.add_lengths(&document, document.weight);
        match &mut self.behind {
            Some(behind) => behind.enter(&document),
            None => self.pairs.learn(document.class, &document.words, document.weight),
        }
        for statistic in self.statistics.iter_mut() {
            statistic.enter(&document, document.weight);
        }
        self.index.push(document);
        while self.index.len() > self.settings.index_size {
            self.evict();
        }
        if self.behind.as_ref().is_some_and(|behind| behind.pairs >= TOGETHER) {
            self.catch_up();
        }
        let (statistics, counted) = self.parts();
        statistics.iter_mut().for_each(|statistic| statistic.indexed(&counted));
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

    /// Subtracts the contribution of an indexed document from lengths, pairs and statistics.
    pub(crate) fn drop_from_index(&mut self, document: &Document, weight: f64) {
        self.leave_index(document, weight);
        self.pairs.unlearn(document.class, &document.words, weight);
    }

    fn leave_index(&mut self, document: &Document, weight: f64) {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::counts::bag::Bag;
    use crate::counts::rows::ClassId;
    use crate::counts::store::Settings;

    /// A store that learned messages of about sixty words, with delayed pairs on `threads` threads.
    fn learned(settings: Settings, threads: usize) -> Store {
        let (mut store, mut bag, mut state) = (Store::new(settings), Bag::default(), 1u64);
        let mut draw = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) % below
        };
        store.follow_by(threads);
        for _ in 0..400 {
            bag.clear(0);
            for _ in 0..60 {
                let below = 1 + draw(400);
                let word = format!("w{}", draw(below));
                let token = store.vocabulary.token(word.as_bytes());
                bag.add(store.intern(&token), 1.0);
            }
            store.learn(&mut bag, draw(3) as ClassId, 1.0).expect("room");
        }
        store.follow_by(1);
        store
    }

    fn pairs(store: &Store) -> Vec<(ClassId, f64, f64)> {
        let slots = store.vocabulary.slots() as WordId;
        let words = (0..slots).flat_map(|a| (0..=a).map(move |b| (a, b)));
        words
            .flat_map(|(a, b)| {
                let mut found: Vec<_> =
                    store.pairs.pairs(a, b).map(|p| (p.class, p.first, p.second)).collect();
                found.sort_by_key(|&(class, _, _)| class);
                found
            })
            .collect()
    }

    #[test]
    fn words_count_in_the_table_until_they_are_pruned() {
        for (max_pairs, fits) in [(3_000, false), (4_000, true)] {
            let settings =
                Settings { max_features: 60, index_size: 9, max_pairs, ..Settings::COUNTS };
            for threads in [1, 2] {
                let (mut store, mut bag) = (Store::new(settings), Bag::default());
                store.follow_by(threads);
                for message in ["a", "b"] {
                    bag.clear(0);
                    for number in 0..60 {
                        let word = format!("{message}{number}");
                        let token = store.vocabulary.token(word.as_bytes());
                        bag.add(store.intern(&token), 1.0);
                    }
                    store.learn(&mut bag, 0, 1.0).expect("room");
                }
                store.follow_by(1);
                assert_eq!(store.pairs.is_complete(), fits);
            }
        }
    }

    #[test]
    fn a_table_that_follows_behind_holds_what_one_that_follows_at_once_does() {
        let all = Settings { index_size: 9_999, max_pairs: 900_000, ..Settings::COUNTS };
        for settings in [
            all,
            Settings { own_pairs: true, ..all },
            // Documents leave that the table has processed, and others that it has not.
            Settings { index_size: 170, ..all },
            Settings { index_size: 20, ..all },
            Settings { index_size: 170, windowed: true, ..all },
            // Words leave all documents.
            Settings { max_features: 150, ..all },
            // The table is dropped.
            Settings { max_pairs: 30_000, ..all },
        ] {
            let one = learned(settings, 1);
            let expected = pairs(&one);
            assert_eq!(expected.is_empty(), settings.max_pairs == 30_000);
            for threads in [2, 3] {
                let many = learned(settings, threads);
                assert!(pairs(&many) == expected);
                assert_eq!(many.pairs.len(), one.pairs.len());
                assert!(many.index.documents().eq(one.index.documents()));
            }
        }
    }
}
