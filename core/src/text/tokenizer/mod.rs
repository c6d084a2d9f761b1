//! Cuts a message into tokens and hashes them, as fast as the text can be read.
//!
//! By default the tokens are those of river's `BagOfWords`: accents stripped, case lowered, then
//! every match of `\b\w[\w\-]+\b`. That pattern needs no engine. A match starts and ends with a
//! word character and holds nothing but word characters and hyphens, and because the pattern is
//! greedy and can give back only trailing hyphens, a match is a *maximal* run of `[\w-]` with the
//! hyphens at both its ends trimmed, of at least two characters.
//!
//! The work is done in two sweeps. The first writes the folded text to a buffer together with one
//! bit a byte (does a run go on here?), sixteen ASCII bytes at a time; other characters are looked
//! up in a [`FoldTable`]. The second walks from one change of those bits to the next. Tokens lie
//! in the buffer, which is padded, so that a token of up to fifteen bytes is hashed as two whole
//! words without a branch on its length.

mod blocks;
mod boundaries;
mod characters;
mod cut;
mod disguise;
mod fields;
mod fold;
mod giving;
mod length;
mod ngrams;
mod options;
mod runs;
mod scratch;
mod subject;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::error::Error;
use std::fmt;
use std::hash::BuildHasher;
use std::sync::Arc;

use crate::text::token::Token;
use crate::text::unicode::{FoldTable, Folding, PAGE_SIZE, PageSet};

pub use fields::LONGEST_NAME;
pub use options::{Boundaries, MAX_NGRAM, OptionsError, Sizes, TokenizerOptions};
pub use scratch::Scratch;

/// Why a message could not be cut yet. Nothing of it was given out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotReady {
    /// This page of the fold table must be filled first.
    MissingPage(usize),
    /// The message has a capital sigma, so only the host can lower it: fold it there and pass it
    /// to [`Tokenizer::tokenize_folded`].
    NeedsHostFold,
}

impl fmt::Display for NotReady {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::MissingPage(page) => write!(f, "no facts yet for the characters of page {page}"),
            Self::NeedsHostFold => f.write_str("a capital sigma must be lowered by the host"),
        }
    }
}

impl Error for NotReady {}

/// Cuts messages into tokens. Cheap to clone and shared freely between threads.
#[derive(Clone, Debug)]
pub struct Tokenizer {
    options: TokenizerOptions,
    table: Arc<FoldTable>,
}

impl Tokenizer {
    /// A tokenizer with its own, empty fold table.
    ///
    /// # Errors
    ///
    /// An [`OptionsError`] when the options make no sense.
    pub fn new(options: TokenizerOptions) -> Result<Self, OptionsError> {
        Self::with_tables(options, |folding| Arc::new(FoldTable::new(folding)))
    }

    /// A tokenizer that uses the table that `tables` keeps for its folding.
    ///
    /// # Errors
    ///
    /// An [`OptionsError`] when the options make no sense.
    pub fn with_tables(
        options: TokenizerOptions,
        tables: impl FnOnce(Folding) -> Arc<FoldTable>,
    ) -> Result<Self, OptionsError> {
        options.validate()?;
        Ok(Self { options, table: tables(options.folding()) })
    }

    /// The options given.
    #[must_use]
    pub fn options(&self) -> &TokenizerOptions {
        &self.options
    }

    /// The table of character facts.
    #[must_use]
    pub fn table(&self) -> &FoldTable {
        &self.table
    }

    /// Adds to `missing` the pages that must be filled before `text` can be cut; it is what
    /// [`Tokenizer::ready`] gave, or folded already.
    pub fn missing_pages(&self, text: &str, missing: &mut PageSet) {
        self.table.missing_pages(text, missing);
    }

    /// Whether only the host can fold the text, which [`Tokenizer::ready`] gave, once its pages are
    /// filled.
    #[must_use]
    pub fn needs_host_fold(&self, text: &str) -> bool {
        self.options.lowercase
            && !text.is_ascii()
            // Most characters of most texts are ASCII, and need not be looked up.
            && text.chars().filter(|character| !character.is_ascii()).any(|character| {
                let code = u32::from(character) as usize;
                let page = self.table.page(code / PAGE_SIZE);
                page.is_some_and(|page| page.entry(code as u8).is_sigma())
            })
    }

    /// Folds and cuts a message, and gives each [`Token`] to `emit`.
    ///
    /// # Errors
    ///
    /// [`NotReady`] when the fold table lacks a page or the host must fold the text; nothing has
    /// been given to `emit` then.
    #[inline]
    pub fn tokenize<S: BuildHasher>(
        &self,
        text: &str,
        scratch: &mut Scratch,
        hasher: &S,
        emit: impl FnMut(Token<'_>),
    ) -> Result<(), NotReady> {
        self.run::<S, false>(text, scratch, hasher, emit)
    }

    /// Cuts a message that the host has folded already.
    ///
    /// # Errors
    ///
    /// [`NotReady::MissingPage`] when the fold table lacks a page; nothing has been given to
    /// `emit` then.
    pub fn tokenize_folded<S: BuildHasher>(
        &self,
        text: &str,
        scratch: &mut Scratch,
        hasher: &S,
        emit: impl FnMut(Token<'_>),
    ) -> Result<(), NotReady> {
        self.run::<S, true>(text, scratch, hasher, emit)
    }

    /// The part of a text that is read, without disguises if those are to be undone: what must be
    /// loaded or folded by the host.
    #[must_use]
    pub fn ready<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let text = self.clip(text);
        if self.options.deobfuscate { disguise::undisguise(text) } else { Cow::Borrowed(text) }
    }

    /// The first bytes of a text, up to the limit and not beyond the last whole character.
    fn clip<'a>(&self, text: &'a str) -> &'a str {
        match self.options.max_bytes {
            Some(max) if text.len() > max as usize => {
                let end = (0..=max as usize).rev().find(|&end| text.is_char_boundary(end));
                &text[..end.unwrap_or(0)]
            }
            _ => text,
        }
    }
}
