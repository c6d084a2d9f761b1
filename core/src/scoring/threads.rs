//! A batch scored on several threads: each takes the next few messages that nobody has taken.

use crate::counts::batch::Batch;
use crate::counts::message::AsMessage;
use crate::counts::store::Store;
use crate::scoring::scorer::Scoring;
use crate::scoring::scratch::Scratch;
use crate::threads::shared;
use crate::watch::Watch;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Messages that a thread takes at once, at most: some tenths of a millisecond of short ones.
const TAKEN: usize = 256;

/// The least share of a batch for each thread: for fewer a thread is not worth its start.
const WORTH: usize = 32;

impl Scoring {
    /// Scores a batch on up to so many threads, of which the caller's is one. `finish` makes
    /// something of each message's scores, which stands in the result in the order of the batch,
    /// whatever thread scored it.
    pub fn score_many<T: AsMessage, R: Send>(
        &self,
        store: &Store,
        batch: &Batch<'_, T>,
        threads: usize,
        scratch: &mut Scratch,
        watch: &Watch,
        finish: impl Fn(&mut [f64], &mut Vec<R>) + Sync,
    ) -> Vec<R> {
        let all = batch.messages.len();
        let threads = threads.min(all / WORTH).max(1);
        let taken = if threads == 1 { all } else { TAKEN.min(all.div_ceil(threads * 4)) };
        let next = AtomicUsize::new(0);
        let score = |scratch: &mut Scratch, watch: &Watch| {
            let mut parts = Vec::new();
            while !watch.is_stopped() {
                let start = next.fetch_add(taken.max(1), Ordering::Relaxed);
                if start >= all {
                    break;
                }
                let (places, mut part) = (start..all.min(start + taken), Vec::new());
                let finish = |scores: &mut [f64]| finish(scores, &mut part);
                self.score_each(store, batch, places, scratch, watch, finish);
                parts.push((start, part));
            }
            parts
        };
        let others = |watch: &Watch| score(&mut Scratch::default(), watch);
        let own = |watch: &Watch| {
            batch.messages.read(watch);
            score(scratch, watch)
        };
        let found = shared(threads, watch, own, others);
        let mut parts: Vec<_> = found.into_iter().flatten().collect();
        parts.sort_unstable_by_key(|&(start, _)| start);
        parts.into_iter().flat_map(|(_, part)| part).collect()
    }
}
