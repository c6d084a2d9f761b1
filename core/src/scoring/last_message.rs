//! The last-message cache: a message that is scored and then learned, or scored twice, is tokenised
//! and scored once.
//!
//! The caller owns one cache for each store. It holds one text, its tokens and its scores, and is
//! valid as long as the store does not change.

use crate::counts::alloc::heap_size;
use crate::counts::{Bag, Message, MessageScratch, Store, WordId};
use crate::scoring::{Scorer, Scratch};
use crate::text::distinct::DistinctTokens;
use crate::watch::Watch;

/// Longer texts are not cached.
const LONGEST: usize = 1 << 18;

/// One scored text.
#[derive(Default)]
pub struct LastMessage {
    /// The version and the layout of the store; None if the cache is empty.
    of: Option<(u64, u64)>,
    text: String,
    /// Known words and their values.
    words: Vec<(WordId, f64)>,
    /// The values of unknown words, in the order of `unknown`.
    unseen: Vec<f64>,
    tokens: DistinctTokens,
    /// The places of unknown words in `tokens`.
    unknown: Vec<u32>,
    scores: Vec<f64>,
    /// The scores of each head, if there are several.
    heads: Vec<f64>,
    /// x_i of known words.
    values: Vec<f64>,
}

impl LastMessage {
    /// Whether the cache can hold this message.
    pub fn takes(message: &Message<'_>) -> bool {
        message.text().is_some_and(|text| text.len() <= LONGEST)
    }

    /// Whether the cache holds this message, and the store has not changed since.
    pub fn is(&self, store: &Store, message: &Message<'_>) -> bool {
        self.of == Some((store.version, store.layout)) && message.text() == Some(&self.text)
    }

    /// Score a message by a scorer that the store learns from: from the cache if it holds the
    /// message; else put the message into the cache.
    pub(crate) fn score(
        &mut self,
        scorer: &Scorer,
        store: &Store,
        message: &Message<'_>,
        scratch: &mut Scratch,
        watch: &Watch,
    ) {
        if self.is(store, message) {
            scratch.scores.clone_from(&self.scores);
            return;
        }
        self.of = None;
        let scorer = scorer.for_counts(store);
        scorer.look_up(store, message, scratch);
        scorer.score(store, scratch, watch);
        let Some(text) = message.text() else { return };
        let Scratch { message: MessageScratch { bag, distinct, unknown, .. }, .. } = scratch;
        std::mem::swap(&mut self.tokens, distinct);
        std::mem::swap(&mut self.unknown, unknown);
        self.of = Some((store.version, store.layout));
        self.text.clear();
        self.text.push_str(text);
        self.words.clone_from(&bag.words);
        self.unseen.clear();
        self.unseen.extend(bag.unseen.iter().map(|unseen| unseen.count));
        self.scores.clone_from(&scratch.scores);
        self.heads.clone_from(&scratch.families.online.heads);
        self.values.clone_from(&scratch.families.online.values);
    }

    /// Put the cached message into a bag, with its words interned and its scores.
    pub(crate) fn intern(&mut self, store: &mut Store, bag: &mut Bag) {
        bag.clear(0);
        bag.words.extend_from_slice(&self.words);
        let room = store.room_for_new_words();
        for (&place, &value) in self.unknown.iter().zip(&self.unseen) {
            // The word is still unknown, since the store has not changed.
            let word = store.add_within(room, &self.tokens.all().token(place as usize));
            word.into_iter().for_each(|word| bag.push(word, value));
        }
        bag.scores.extend_from_slice(&self.scores);
        bag.heads.extend_from_slice(&self.heads);
        bag.values.extend_from_slice(&self.values);
        self.of = None;
    }

    /// Heap bytes held.
    pub fn size(&self) -> usize {
        self.text.capacity()
            + heap_size(&self.words)
            + [&self.unseen, &self.scores, &self.heads, &self.values]
                .map(heap_size)
                .iter()
                .sum::<usize>()
            + heap_size(&self.unknown)
            + self.tokens.size()
    }
}
