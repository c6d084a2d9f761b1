//! From messages to scores: one message, or a batch on several threads.

use crate::counts::batch::{Batch, MESSAGE};
use crate::counts::{AsMessage, ClassId, Message, MessageScratch, Store};
use crate::error::Result;
use crate::scoring::composition::{Dependence, Neighbourhood};
use crate::scoring::event_model::best;
use crate::scoring::last_message::LastMessage;
use crate::scoring::{Scorer, Scratch};
use crate::threads::shared;
use crate::watch::Watch;
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Maximum number of messages that a thread takes at a time: some tenths of a millisecond of short
/// messages.
const CHUNK: usize = 256;

/// Minimum number of messages for each thread; fewer do not pay for its start.
const MIN_PER_THREAD: usize = 32;

impl Scorer {
    /// Score a message into the scores of the scratch. `last` is the store's last-message cache.
    #[inline]
    pub fn score_message(
        &self,
        store: &Store,
        message: &Message<'_>,
        scratch: &mut Scratch,
        watch: &Watch,
        last: &Mutex<LastMessage>,
    ) {
        if self.is_online()
            && LastMessage::takes(message)
            && self.is_learned_from(store)
            && let Ok(mut last) = last.try_lock()
        {
            return last.score(self, store, message, scratch, watch);
        }
        let scorer = self.for_counts(store);
        scorer.look_up(store, message, scratch);
        scorer.score(store, scratch, watch);
    }

    /// Look a message up and prepare the terms. The scorer is one
    /// [for these counts](Self::for_counts).
    pub fn look_up(&self, store: &Store, message: &Message<'_>, scratch: &mut Scratch) {
        message.look_up(store, &mut scratch.message, self.needs_distinct());
        self.prepare(store, &mut scratch.terms);
    }

    /// Score a batch on up to `threads` threads, including the caller's. `finish` converts the
    /// scores of each message; its results are in the order of the batch.
    pub fn score_many<T: AsMessage, R: Send>(
        &self,
        store: &Store,
        batch: &Batch<'_, T>,
        threads: usize,
        scratch: &mut Scratch,
        watch: &Watch,
        finish: impl Fn(&mut [f64], &mut Vec<R>) + Sync,
    ) -> Vec<R> {
        let all = batch.messages.number();
        let threads = threads.min(all / MIN_PER_THREAD).max(1);
        let chunk = if threads == 1 { all } else { CHUNK.min(all.div_ceil(threads * 4)) };
        let next = AtomicUsize::new(0);
        let score = |scratch: &mut Scratch, watch: &Watch| {
            let mut parts = Vec::new();
            while !watch.is_stopped() {
                let start = next.fetch_add(chunk.max(1), Ordering::Relaxed);
                if start >= all {
                    break;
                }
                let (places, mut part) = (start..all.min(start + chunk), Vec::new());
                let finish = |scores: &mut [f64]| finish(scores, &mut part);
                self.score_range(store, batch, places, scratch, watch, finish);
                parts.push((start, part));
            }
            parts
        };
        let others = |watch: &Watch| score(&mut Scratch::default(), watch);
        let found = shared(threads, watch, |watch| score(scratch, watch), others);
        let mut parts: Vec<_> = found.into_iter().flatten().collect();
        parts.sort_unstable_by_key(|&(start, _)| start);
        parts.into_iter().flat_map(|(_, part)| part).collect()
    }

    /// Score the messages at some places of a batch until the watch stops, and pass the scores of
    /// each to `finish`.
    fn score_range<T: AsMessage>(
        &self,
        store: &Store,
        batch: &Batch<'_, T>,
        places: Range<usize>,
        scratch: &mut Scratch,
        watch: &Watch,
        mut finish: impl FnMut(&mut [f64]),
    ) {
        let scorer = self.for_counts(store);
        scorer.prepare(store, &mut scratch.terms);
        for place in places {
            batch.get(place).look_up(store, &mut scratch.message, self.needs_distinct());
            scorer.score(store, scratch, watch);
            if watch.stops(MESSAGE + scratch.message.bag.words.len()) {
                break;
            }
            finish(&mut scratch.scores);
        }
    }

    /// Whether scoring a message of so many bytes may take a millisecond: 64 kB take about that if
    /// words are independent, and the first kilobyte may if words are compared in pairs.
    pub fn may_take_long(&self, bytes: usize) -> bool {
        let independent = self.config.parts.dependence == Dependence::Independent
            && self.config.parts.neighbourhood == Neighbourhood::Stream;
        bytes >= if independent { 1 << 16 } else { 1 << 10 }
    }
}

/// Read a message that is about to be learned, so that less is left to do while predictions wait: score
/// it into the store's last-message cache, if the store learns from its scores; else split its text.
/// Return whether the scratch has its tokens.
pub fn read_ahead(
    store: &Store,
    message: &Message<'_>,
    scratch: &mut Scratch,
    last: &Mutex<LastMessage>,
) -> bool {
    if let Some(scorer) = store.online_scorer().filter(|_| LastMessage::takes(message)) {
        scorer.score_message(store, message, scratch, &Watch::default(), last);
        return false;
    }
    let MessageScratch { tokens, distinct, .. } = &mut scratch.message;
    message.cut(&store.vocabulary.hasher, tokens, distinct);
    message.text().is_some()
}

/// Learn a message with its class. `last` is the store's last-message cache; `is_cut` is whether the
/// scratch has the tokens of the message.
#[inline]
pub fn learn(
    store: &mut Store,
    message: &Message<'_>,
    scratch: &mut MessageScratch,
    (class, weight): (ClassId, f64),
    last: &Mutex<LastMessage>,
    is_cut: bool,
) -> Result<()> {
    store.settings.check_in_window(weight)?;
    if weight == 0.0 {
        return Ok(());
    }
    store.check_room()?;
    match last.try_lock() {
        Ok(mut last) if store.rule.is_some() && last.is(store, message) => {
            last.intern(store, &mut scratch.bag);
        }
        _ if is_cut => store.intern_distinct(scratch.distinct.all(), &mut scratch.bag),
        _ => message.intern(store, scratch),
    }
    store.learn(&mut scratch.bag, class, weight)
}

/// Learn a message with its labels, which are in ascending order, by a scorer of labels. `last` is the
/// store's last-message cache.
pub fn learn_labels(
    store: &mut Store,
    scorer: &Scorer,
    message: &Message<'_>,
    scratch: &mut Scratch,
    (labels, weight): (&[ClassId], f64),
    last: &Mutex<LastMessage>,
) -> Result<()> {
    if weight == 0.0 {
        return Ok(());
    }
    store.check_room()?;
    match last.try_lock() {
        Ok(mut last) if last.is(store, message) => last.intern(store, &mut scratch.message.bag),
        _ => message.intern(store, &mut scratch.message),
    }
    store.learn_labels(scorer, scratch, labels, weight)
}

/// Return the class with the highest score by each of several scorers of one message.
pub fn decisions<'a>(
    scorers: impl Iterator<Item = &'a Scorer>,
    store: &Store,
    message: &Message<'_>,
    scratch: &mut Scratch,
    watch: &Watch,
) -> Vec<Option<ClassId>> {
    message.look_up(store, &mut scratch.message, true);
    let decide = |scorer: &Scorer| {
        let scorer = scorer.for_counts(store);
        scorer.prepare(store, &mut scratch.terms);
        scorer.score(store, scratch, watch);
        best(store, &scratch.scores)
    };
    scorers.map(decide).collect()
}
