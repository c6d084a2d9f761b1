//! From a message, in any of its forms, to a bag of word ids.

use crate::bag::Bag;
use crate::error::{Error, Result};
use crate::store::{MAX_COUNT, Store};
use crate::tokenizer::{self, NotReady, Tokenizer};
use crate::vocabulary::WordId;

/// A message before its words are looked up.
pub enum Message<'a> {
    /// Text to be tokenised.
    Text(&'a str),
    /// Text that the host has folded already.
    Folded(&'a str),
    /// Words with their counts.
    Counts(&'a WordCounts),
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

    pub fn iter(&self) -> impl Iterator<Item = (&[u8], f64)> {
        let mut start = 0;
        self.entries.iter().map(move |&(end, count)| {
            let word = &self.bytes[start..end];
            start = end;
            (word, count)
        })
    }
}

impl Message<'_> {
    /// Looks the words up, for scoring: unknown words stay unknown.
    #[inline]
    pub fn look_up(
        &self,
        store: &Store,
        tokenizer: &Tokenizer,
        scratch: &mut tokenizer::Scratch,
        bag: &mut Bag,
    ) -> std::result::Result<(), NotReady> {
        let vocabulary = &store.vocabulary;
        bag.clear(vocabulary.slots());
        let find = |word: &[u8], hash: u64| match vocabulary.find(word, hash) {
            Some(id) => bag.add(id, 1.0),
            None => bag.add_unseen(hash, 1.0),
        };
        match self {
            Message::Text(text) => tokenizer.tokenize(text, scratch, vocabulary.hasher(), find),
            Message::Folded(text) => {
                tokenizer.tokenize_folded(text, scratch, vocabulary.hasher(), find)
            }
            Message::Counts(counts) => {
                for (word, count) in counts.iter() {
                    let hash = vocabulary.hash(word);
                    match vocabulary.find(word, hash) {
                        Some(id) => bag.add(id, count),
                        None => bag.add_unseen(hash, count),
                    }
                }
                Ok(())
            }
        }
    }

    /// Adds the words to the vocabulary, for learning.
    #[inline]
    pub fn intern(
        &self,
        store: &mut Store,
        tokenizer: &Tokenizer,
        scratch: &mut tokenizer::Scratch,
        bag: &mut Bag,
    ) -> std::result::Result<(), NotReady> {
        bag.clear(store.vocabulary.slots());
        let hasher = store.vocabulary.hasher().clone();
        let add = |word: &[u8], hash: u64| bag.add(store.intern(word, hash), 1.0);
        match self {
            Message::Text(text) => tokenizer.tokenize(text, scratch, &hasher, add),
            Message::Folded(text) => tokenizer.tokenize_folded(text, scratch, &hasher, add),
            Message::Counts(counts) => {
                for (word, count) in counts.iter() {
                    let hash = store.vocabulary.hash(word);
                    bag.add(store.intern(word, hash), count);
                }
                Ok(())
            }
        }
    }
}

/// Documents as rows of counts over columns, where each column is a word.
pub struct Columns<'a> {
    pub words: &'a [Box<[u8]>],
    /// The word's id where it has one; kept from row to row.
    ids: Vec<Option<WordId>>,
    layout: u64,
}

impl<'a> Columns<'a> {
    pub fn new(words: &'a [Box<[u8]>]) -> Self {
        Columns { words, ids: vec![None; words.len()], layout: u64::MAX }
    }

    fn id(&mut self, store: &Store, column: usize, hash: u64) -> Option<WordId> {
        if self.layout != store.layout() {
            self.ids.fill(None);
            self.layout = store.layout();
        }
        if self.ids[column].is_none() {
            self.ids[column] = store.vocabulary.find(&self.words[column], hash);
        }
        self.ids[column]
    }

    /// Looks one row up, for scoring. Columns must be in range.
    pub fn look_up(&mut self, store: &Store, row: &[(u32, f64)], bag: &mut Bag) {
        bag.clear(store.vocabulary.slots());
        for &(column, count) in row {
            let hash = store.vocabulary.hash(&self.words[column as usize]);
            match self.id(store, column as usize, hash) {
                Some(id) => bag.add(id, count),
                None => bag.add_unseen(hash, count),
            }
        }
    }

    /// Adds one row's words to the vocabulary, for learning. Columns must be in range.
    pub fn intern(&mut self, store: &mut Store, row: &[(u32, f64)], bag: &mut Bag) {
        bag.clear(store.vocabulary.slots());
        for &(column, count) in row {
            let hash = store.vocabulary.hash(&self.words[column as usize]);
            let id = match self.id(store, column as usize, hash) {
                Some(id) => id,
                None => store.intern(&self.words[column as usize], hash),
            };
            bag.add(id, count);
        }
    }
}

/// A count that can be learned: `Some` if positive, `None` if zero, which says nothing.
pub fn check_count(count: f64, word: &str) -> Result<Option<f64>> {
    if (0.0..=MAX_COUNT).contains(&count) {
        Ok((count > 0.0).then_some(count))
    } else {
        Err(Error::Invalid(format!(
            "the count of {word:?} must be a number from 0 to 2**53, not {count}"
        )))
    }
}
