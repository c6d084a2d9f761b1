//! From messages to scores: one, or a batch.

use crate::counts::batch::{AsMessage, Messages};
use crate::counts::message::Message;
use crate::counts::rows::ClassId;
use crate::counts::store::Store;
use crate::scoring::decision;
use crate::scoring::scorer::Scoring;
use crate::scoring::scratch::Scratch;
use crate::text::tokenizer::{NotReady, Tokenizer};

impl Scoring {
    /// Scores a message, into the scores of the scratch.
    #[inline]
    pub fn score_message(
        &self,
        store: &Store,
        tokenizer: &Tokenizer,
        message: &Message<'_>,
        scratch: &mut Scratch,
    ) -> Result<(), NotReady> {
        self.look_up(store, tokenizer, message, scratch)?;
        self.score(store, scratch);
        Ok(())
    }

    /// Looks a message up and prepares the terms.
    #[inline]
    pub fn look_up(
        &self,
        store: &Store,
        tokenizer: &Tokenizer,
        message: &Message<'_>,
        scratch: &mut Scratch,
    ) -> Result<(), NotReady> {
        let Scratch { tokens, bag, terms, .. } = scratch;
        message.look_up(store, tokenizer, tokens, bag, self.needs_distinct())?;
        self.prepare(store, terms);
        Ok(())
    }

    /// Scores each message of a batch, and gives its scores to `finish`.
    pub fn score_each<T: AsMessage>(
        &self,
        store: &Store,
        tokenizer: &Tokenizer,
        messages: &Messages<T>,
        scratch: &mut Scratch,
        mut finish: impl FnMut(&mut [f64]),
    ) -> Result<(), NotReady> {
        self.prepare(store, &mut scratch.terms);
        let mut reader = messages.reader();
        for place in 0..messages.len() {
            let Scratch { tokens, bag, .. } = &mut *scratch;
            reader.look_up(place, store, tokenizer, tokens, bag, self.needs_distinct())?;
            self.score(store, scratch);
            finish(&mut scratch.scores);
        }
        Ok(())
    }
}

/// The class with the highest score in each of several ways to score one message.
pub fn decisions<'a>(
    scorings: impl Iterator<Item = &'a Scoring>,
    store: &Store,
    tokenizer: &Tokenizer,
    message: &Message<'_>,
    scratch: &mut Scratch,
) -> Result<Vec<Option<ClassId>>, NotReady> {
    let Scratch { tokens, bag, .. } = &mut *scratch;
    message.look_up(store, tokenizer, tokens, bag, true)?;
    let decide = |scoring: &Scoring| {
        scoring.prepare(store, &mut scratch.terms);
        scoring.score(store, scratch);
        decision::best(store, &scratch.scores)
    };
    Ok(scorings.map(decide).collect())
}
