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

use crate::text::unicode::FoldTable;

pub use fields::LONGEST_NAME;
pub use options::{Boundaries, MAX_NGRAM, OptionsError, Sizes, TokenizerOptions};
pub use scratch::Scratch;

/// Cuts messages into tokens. Cheap to clone and shared freely between threads.
#[derive(Clone, Debug)]
pub struct Tokenizer {
    options: TokenizerOptions,
    table: &'static FoldTable,
}

impl Tokenizer {
    /// A tokenizer with these options.
    ///
    /// # Errors
    ///
    /// An [`OptionsError`] if the options are invalid.
    pub fn new(options: TokenizerOptions) -> Result<Self, OptionsError> {
        options.validate()?;
        Ok(Self { options, table: FoldTable::of(options.folding()) })
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
