//! From messages to scores: one, or a batch.

use crate::counts::batch::{Batch, MESSAGE};
use crate::counts::message::{AsMessage, Message};
use crate::counts::rows::ClassId;
use crate::counts::store::Store;
use crate::error::Result;
use crate::scoring::decision;
use crate::scoring::scorer::{Family, ScoreWeights, Scoring};
use crate::scoring::scratch::Scratch;
use crate::text::tokenizer::Tokenizer;
use crate::watch::Watch;
use std::ops::Range;

impl Scoring {
    /// Scores a message, into the scores of the scratch.
    #[inline]
    pub fn score_message(
        &self,
        store: &Store,
        tokenizer: &Tokenizer,
        message: &Message<'_>,
        scratch: &mut Scratch,
        watch: &Watch,
    ) {
        if matches!(self.weights, ScoreWeights::Online(_))
            && let Some(recall) = self.recall(store, message)
        {
            return self.score_recalling(store, tokenizer, message, scratch, recall, watch);
        }
        let scoring = self.for_counts(store);
        scoring.look_up(store, tokenizer, message, scratch);
        scoring.score(store, scratch, watch);
    }

    /// Looks a message up and prepares the terms, by a scoring [for these counts](Self::for_counts).
    #[inline]
    pub fn look_up(
        &self,
        store: &Store,
        tokenizer: &Tokenizer,
        message: &Message<'_>,
        scratch: &mut Scratch,
    ) {
        let Scratch { tokens, bag, terms, .. } = scratch;
        message.look_up(store, tokenizer, tokens, bag, self.needs_distinct());
        self.prepare(store, terms);
    }

    /// Scores the messages of a batch at some places, and gives the scores of each to `finish`; none
    /// after the watch stopped it.
    pub fn score_each<T: AsMessage>(
        &self,
        store: &Store,
        batch: &Batch<'_, T>,
        places: Range<usize>,
        scratch: &mut Scratch,
        watch: &Watch,
        mut finish: impl FnMut(&mut [f64]),
    ) {
        let scoring = self.for_counts(store);
        scoring.prepare(store, &mut scratch.terms);
        let mut reader = batch.reader();
        for place in places {
            let Scratch { tokens, bag, .. } = &mut *scratch;
            reader.look_up(place, store, tokens, bag, self.needs_distinct());
            scoring.score(store, scratch, watch);
            if watch.stops(MESSAGE + scratch.bag.words.len()) {
                break;
            }
            finish(&mut scratch.scores);
        }
    }

    /// Whether it may take a millisecond to score a message of so many bytes. Where words are
    /// independent that is about what a message of 64 kB takes; where they are looked at two by two,
    /// the first kilobyte may be enough.
    pub fn may_take_long(&self, bytes: usize) -> bool {
        bytes >= if self.family == Family::Independent { 1 << 16 } else { 1 << 10 }
    }
}

/// Learns a message with its class; one that was scored last is not read again.
#[inline]
pub fn learn(
    store: &mut Store,
    tokenizer: &Tokenizer,
    message: &Message<'_>,
    scratch: &mut Scratch,
    class: ClassId,
    weight: f64,
) -> Result<()> {
    store.settings.check_in_window(weight)?;
    let Scratch { tokens, bag, .. } = scratch;
    match store.intern_recalled(message, bag, weight) {
        Some(interned) => interned.and_then(|()| store.learn(bag, class, weight)),
        None => message.learn(store, tokenizer, tokens, bag, class, weight),
    }
}

/// The class with the highest score in each of several ways to score one message.
pub fn decisions<'a>(
    scorings: impl Iterator<Item = &'a Scoring>,
    store: &Store,
    tokenizer: &Tokenizer,
    message: &Message<'_>,
    scratch: &mut Scratch,
    watch: &Watch,
) -> Vec<Option<ClassId>> {
    let Scratch { tokens, bag, .. } = &mut *scratch;
    message.look_up(store, tokenizer, tokens, bag, true);
    let decide = |scoring: &Scoring| {
        let scoring = scoring.for_counts(store);
        scoring.prepare(store, &mut scratch.terms);
        scoring.score(store, scratch, watch);
        decision::best(store, &scratch.scores)
    };
    scorings.map(decide).collect()
}
