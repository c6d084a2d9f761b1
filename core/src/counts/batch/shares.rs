//! A batch learned by several threads: each counts its share in a separate store.
//!
//! Counts add up. With integer counts, the sum of the threads' counts equals the counts of a single
//! thread in every bit.

use crate::counts::alloc::element;
use crate::counts::batch::Labelled;
use crate::counts::{AsMessage, MAX_COUNT, MessageScratch, Settings, Store, WordId};
use crate::error::Result;
use crate::threads::shared;
use crate::watch::Watch;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Distance in words of the prefetch while counts are added.
const AHEAD: usize = 16;

/// Sums below this leave room for a batch.
const MUCH: f64 = MAX_COUNT / 2.0;

impl<T: AsMessage> Labelled<'_, T> {
    /// Like [`learn`](Self::learn), with one thread per share. The calling thread learns the first
    /// share; the others are counted separately and finally added. If stopped, a prefix of the
    /// messages is learned.
    pub(super) fn learn_shares(
        &self,
        threads: usize,
        store: &mut Store,
        scratch: &mut MessageScratch,
        watch: &Watch,
    ) -> Result<()> {
        let start = |share: usize| self.range.start + self.range.len() * share / threads;
        let (empty, next) = (store.emptied(), AtomicUsize::new(threads));
        let own =
            |watch: &Watch| self.learn(store, scratch, start(0)..start(1), watch).map(|()| None);
        let other = |watch: &Watch| {
            let scratch = &mut MessageScratch::default();
            let (share, mut store) = (next.fetch_sub(1, Ordering::Relaxed) - 1, empty.clone());
            self.learn(&mut store, scratch, start(share)..start(share + 1), watch)
                .map(|()| Some((share, store)))
        };
        let mut parts = Vec::new();
        for found in shared(threads, watch, own, other) {
            parts.extend(found?);
        }
        if watch.is_stopped() {
            return Ok(());
        }
        parts.sort_unstable_by_key(|&(share, _)| share);
        let words: usize = parts.iter().map(|(_, part)| part.vocabulary.len()).sum();
        let room = store.settings.max_features.saturating_sub(store.vocabulary.len());
        if words <= room && !parts.iter().any(|(_, part)| part.pruned) {
            parts.iter().for_each(|(_, part)| store.add_counts(part));
            return Ok(());
        }
        // Pruning depends on the order of arrival.
        self.learn(store, scratch, start(1)..self.range.end, watch)
    }
}

impl Store {
    /// Whether counting texts of this weight separately and adding the counts gives the same bits:
    /// all counts are sums of integers.
    pub(super) fn adds_up(&self, weight: f64) -> bool {
        let Settings { max_features, frequencies, term_weighting, .. } = self.settings;
        let counts_alone =
            Settings { max_features, frequencies, term_weighting, ..Settings::COUNTS };
        let whole = |sum: f64| sum.fract() == 0.0 && sum < MUCH;
        self.settings == counts_alone
            && term_weighting.scale() == 1.0
            && self.rule.is_none()
            && self.statistics.is_empty()
            && weight.fract() == 0.0
            && weight <= f64::from(u32::MAX)
            && self.classes.iter().all(|class| whole(class.documents) && whole(class.tokens))
            && self.rows.is_whole()
    }

    /// An empty store of the same settings whose words this store finds without reading them.
    fn emptied(&self) -> Store {
        let mut store = Store::new(self.settings);
        store.vocabulary = self.vocabulary.emptied(self.settings.max_features);
        store
    }

    /// Adds the counts of such a store, which has the same classes and has forgotten nothing.
    fn add_counts(&mut self, other: &Store) {
        for (class, theirs) in other.classes.iter().enumerate() {
            let ours = element(&mut self.classes, class);
            ours.documents += theirs.documents;
            ours.tokens += theirs.tokens;
        }
        let theirs = 0..other.vocabulary.slots() as WordId;
        let mut known = Vec::with_capacity(theirs.len());
        let token = |id| other.vocabulary.known_token(id as WordId);
        let key = |id| (token(id).key, token(id).hash);
        self.vocabulary.find_many(theirs.len(), key, token, |_, word| known.push(word));
        for id in theirs {
            if let Some(&Some(ahead)) = known.get(id as usize + AHEAD) {
                self.rows.fetch(ahead);
            }
            // Words are distinct: an unknown word is new.
            let token = || other.vocabulary.known_token(id);
            let ours = known[id as usize].unwrap_or_else(|| self.add_word(&token()));
            let cells = other.rows.cells(id);
            self.add_cells(ours, cells.map(|cell| (cell.class, cell.tokens, cell.documents)));
        }
        self.version += 1;
    }
}
