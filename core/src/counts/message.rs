//! From a message in any form to a bag of word ids.

use crate::counts::{Bag, ClassId, MAX_COUNT, Store, Vocabulary, WordId};
use crate::error::{Error, Result};
use crate::text::distinct::{DistinctTokens, Tokens};
use crate::text::tokenizer::Scratch;
use crate::text::tokenizer::is_word;
use crate::text::{Token, Tokenizer};
use foldhash::fast::RandomState;
use std::sync::atomic::{AtomicU32, Ordering};

/// A message before its words are looked up.
pub enum Message<'a> {
    /// Text, and the tokenizer that splits it.
    Text(&'a str, &'a Tokenizer),
    /// Words with their counts.
    Counts(&'a WordCounts),
    /// Columns of a matrix with their counts.
    Row(&'a [(u32, f64)], &'a Columns),
}

/// A source of one message; several threads may read it.
pub trait AsMessage: Send + Sync {
    fn as_message<'a>(&'a self, tokenizer: &'a Tokenizer) -> Message<'a>;
}

/// Reused buffers for the words of a message.
#[derive(Default)]
pub struct MessageScratch {
    pub tokens: Scratch,
    pub bag: Bag,
    /// The tokens of a text that are looked up together, and the places of the unknown ones, in the
    /// order of the bag.
    pub(crate) distinct: DistinctTokens,
    pub(crate) unknown: Vec<u32>,
}

/// Words (as bytes) with their counts, in one buffer.
#[derive(Default)]
pub struct WordCounts {
    bytes: Vec<u8>,
    entries: Vec<(usize, f64)>,
}

impl WordCounts {
    pub fn push(&mut self, word: &[u8], count: f64) {
        self.bytes.extend_from_slice(word);
        self.entries.push((self.bytes.len(), count));
    }

    pub fn size(&self) -> usize {
        self.bytes.capacity() + self.entries.capacity() * size_of::<(usize, f64)>()
    }

    pub fn iter(&self) -> impl Iterator<Item = (&[u8], f64)> {
        let mut start = 0;
        self.entries.iter().map(move |&(end, count)| {
            let word = &self.bytes[start..end];
            start = end;
            (word, count)
        })
    }
}

/// The words of columns, with their ids in the vocabulary that was used last.
pub struct Columns {
    words: Vec<Box<[u8]>>,
    ids: Vec<AtomicU32>,
}

impl Columns {
    pub fn new(words: &[&str]) -> Self {
        Columns {
            words: words.iter().map(|word| word.as_bytes().into()).collect(),
            ids: words.iter().map(|_| AtomicU32::default()).collect(),
        }
    }

    fn token(&self, vocabulary: &Vocabulary, column: u32) -> Token<'_> {
        vocabulary.token(&self.words[column as usize])
    }

    /// The id of a column's word.
    #[inline]
    fn find(&self, vocabulary: &Vocabulary, column: u32) -> Option<WordId> {
        let last = &self.ids[column as usize];
        let id = last.load(Ordering::Relaxed);
        // The id may belong to another word.
        if vocabulary.is(id, &self.words[column as usize]) {
            return Some(id);
        }
        let id = vocabulary.find(&self.token(vocabulary, column))?;
        last.store(id, Ordering::Relaxed);
        Some(id)
    }
}

impl Message<'_> {
    /// Size in bytes.
    pub fn size(&self) -> usize {
        match self {
            Message::Text(text, _) => text.len(),
            Message::Counts(counts) => counts.size(),
            Message::Row(cells, _) => size_of_val(*cells),
        }
    }

    /// The text; None for word counts.
    pub fn text(&self) -> Option<&str> {
        match self {
            Message::Text(text, _) => Some(text),
            Message::Counts(_) | Message::Row(..) => None,
        }
    }

    /// Looks up the words for scoring; unknown words stay unknown. Counts get the store's term
    /// weighting.
    ///
    /// With `distinct`, each word occurs once in the bag, with its count. Without it, each token
    /// occurs once, which is faster and gives the same sums.
    #[inline]
    pub fn look_up(&self, store: &Store, scratch: &mut MessageScratch, distinct: bool) {
        let weighting = store.settings.term_weighting;
        if store.settings.online_weights && self.text().is_some() {
            self.look_up_together(store, scratch);
        } else if distinct || !weighting.is_counts() {
            self.look_up_into(store, scratch, Bag::add);
        } else {
            self.look_up_into(store, scratch, Bag::push);
        }
        weighting.apply(&mut scratch.bag);
    }

    /// Looks up the distinct words of a text; keeps its tokens.
    fn look_up_together(&self, store: &Store, scratch: &mut MessageScratch) {
        let MessageScratch { tokens, bag, distinct, unknown } = scratch;
        bag.clear(0);
        unknown.clear();
        self.cut(&store.vocabulary.hasher, tokens, distinct);
        let tokens = distinct.all();
        store.find_many(tokens, |place, word| match word {
            Some(word) => bag.push(word, tokens.count(place)),
            None => {
                let token = tokens.token(place);
                bag.add_unseen(token.hash, tokens.count(place), is_word(token.bytes));
                unknown.push(place as u32);
            }
        });
        bag.distinct = true;
    }

    /// Splits a text into distinct tokens.
    pub fn cut(&self, hasher: &RandomState, scratch: &mut Scratch, tokens: &mut DistinctTokens) {
        tokens.clear();
        self.tokenize(hasher, scratch, |token| tokens.add(&token));
        tokens.count();
    }

    /// Passes the tokens of a text to `emit`; other messages have none.
    pub fn tokenize(
        &self,
        hasher: &RandomState,
        scratch: &mut Scratch,
        emit: impl FnMut(Token<'_>),
    ) {
        if let Message::Text(text, tokenizer) = self {
            tokenizer.tokenize(text, scratch, hasher, emit);
        }
    }

    #[inline]
    fn look_up_into(
        &self,
        store: &Store,
        MessageScratch { tokens, bag, .. }: &mut MessageScratch,
        put: impl Fn(&mut Bag, WordId, f64),
    ) {
        let vocabulary = &store.vocabulary;
        bag.clear(vocabulary.slots());
        // By reference: a copy would be read in larger pieces than it was written, and stall on
        // them.
        let mut add = |token: &Token<'_>, count: f64| match vocabulary.find(token) {
            Some(id) => put(bag, id, count),
            // For an unknown value only its attribute counts.
            None if store.settings.columns => {
                bag.add_unseen(u64::from(store.attributes.find(token.bytes)), count, true);
            }
            None => bag.add_unseen(token.hash, count, is_word(token.bytes)),
        };
        let hasher = &vocabulary.hasher;
        match self {
            Message::Text(text, tokenizer) => {
                tokenizer.tokenize(text, tokens, hasher, |t| add(&t, 1.0));
            }
            Message::Counts(counts) => {
                counts.iter().for_each(|(word, count)| add(&vocabulary.token(word), count));
            }
            Message::Row(cells, columns) => {
                for &(column, count) in *cells {
                    match columns.find(vocabulary, column) {
                        Some(id) => put(bag, id, count),
                        None => {
                            let token = columns.token(vocabulary, column);
                            bag.add_unseen(token.hash, count, is_word(token.bytes));
                        }
                    }
                }
            }
        }
    }

    /// Adds the words to the vocabulary, for learning. New words beyond
    /// [`most_new_words`](crate::counts::Settings::most_new_words) are left out of the bag.
    #[inline]
    pub fn intern(&self, store: &mut Store, scratch: &mut MessageScratch) {
        let MessageScratch { tokens, bag, distinct, .. } = scratch;
        let hasher = store.vocabulary.hasher.clone();
        if store.settings.online_weights && self.text().is_some() {
            self.cut(&hasher, tokens, distinct);
            return store.intern_distinct(distinct.all(), bag);
        }
        bag.clear(store.vocabulary.slots());
        let room = store.room_for_new_words();
        let mut add = |token: &Token<'_>, count: f64| {
            if let Some(id) = store.intern_within(room, token) {
                bag.add(id, count);
            }
        };
        match self {
            Message::Text(text, tokenizer) => {
                tokenizer.tokenize(text, tokens, &hasher, |t| add(&t, 1.0));
            }
            Message::Counts(counts) => {
                counts.iter().for_each(|(word, count)| add(&Token::new(&hasher, word), count));
            }
            Message::Row(cells, columns) => {
                for &(column, count) in *cells {
                    let id = match columns.find(&store.vocabulary, column) {
                        Some(id) => Some(id),
                        None => store.add_within(room, &columns.token(&store.vocabulary, column)),
                    };
                    id.into_iter().for_each(|id| bag.add(id, count));
                }
            }
        }
        store.settings.term_weighting.apply(bag);
    }
}

impl Store {
    /// The id of a word that is about to be learned.
    #[inline(always)]
    pub fn intern(&mut self, token: &Token<'_>) -> WordId {
        self.find_to_learn(token).unwrap_or_else(|| self.add_word(token))
    }

    /// The id of a known word. Its counts change once all words of the message are known.
    #[inline(always)]
    fn find_to_learn(&self, token: &Token<'_>) -> Option<WordId> {
        let id = self.vocabulary.find(token)?;
        self.rows.fetch(id);
        Some(id)
    }

    /// The number of words up to which the next message may fill the vocabulary.
    pub(crate) fn room_for_new_words(&self) -> usize {
        self.vocabulary.len().saturating_add(self.settings.most_new_words())
    }

    /// The id of a word that is about to be learned; None for a new word without room.
    #[inline(always)]
    fn intern_within(&mut self, room: usize, token: &Token<'_>) -> Option<WordId> {
        self.find_to_learn(token).or_else(|| self.add_within(room, token))
    }

    /// The id of a new word; None without room.
    #[inline]
    pub(crate) fn add_within(&mut self, room: usize, token: &Token<'_>) -> Option<WordId> {
        if self.vocabulary.len() < room {
            return Some(self.add_word(token));
        }
        self.refused += 1;
        // Unlearning tolerates missing words.
        self.pruned = true;
        None
    }

    /// Finds the words of the tokens of a text.
    fn find_many(&self, tokens: Tokens<'_>, found: impl FnMut(usize, Option<WordId>)) {
        let (key, token) = (|place| tokens.key(place), |place| tokens.token(place));
        self.vocabulary.find_many(tokens.number(), key, token, found);
    }

    /// Puts the distinct tokens of a text that is about to be learned into the bag.
    pub fn intern_distinct(&mut self, tokens: Tokens<'_>, bag: &mut Bag) {
        /// Placeholder for a new word.
        const NEW: WordId = WordId::MAX;
        bag.clear(0);
        self.find_many(tokens, |place, word| {
            word.into_iter().for_each(|word| self.rows.fetch(word));
            bag.push(word.unwrap_or(NEW), tokens.count(place));
        });
        let room = self.room_for_new_words();
        for (place, (word, _)) in bag.words.iter_mut().enumerate() {
            if *word == NEW {
                *word = self.add_within(room, &tokens.token(place)).unwrap_or(NEW);
            }
        }
        if self.vocabulary.len() == room {
            bag.words.retain(|&(word, _)| word != NEW);
        }
        self.settings.term_weighting.apply(bag);
    }

    /// The id of a new word that is about to be learned.
    #[cold]
    pub(crate) fn add_word(&mut self, token: &Token<'_>) -> WordId {
        let id = self.vocabulary.add(token);
        self.rows.reach(id);
        if self.settings.columns {
            self.attributes.add(id, token.bytes);
        }
        id
    }
}

impl Message<'_> {
    /// Learns the message with its class.
    #[inline]
    pub fn learn(
        &self,
        store: &mut Store,
        scratch: &mut MessageScratch,
        class: ClassId,
        weight: f64,
    ) -> Result<()> {
        if weight == 0.0 {
            return Ok(());
        }
        store.check_room()?;
        self.intern(store, scratch);
        store.learn(&mut scratch.bag, class, weight)
    }
}

/// Checks a count: `Some` if positive, `None` if zero.
pub fn check_count(count: f64, word: &str) -> Result<Option<f64>> {
    if (0.0..=MAX_COUNT).contains(&count) {
        Ok((count > 0.0).then_some(count))
    } else {
        Err(Error::Invalid(format!(
            "the count of {word:?} must be a number from 0 to 2**53, not {count}"
        )))
    }
}
