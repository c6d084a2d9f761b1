//! What a user may ask of a tokenizer, and what makes no sense.

use std::error::Error;
use std::fmt;

use crate::text::unicode::Folding;

/// The longest n-gram on offer, in words or characters.
pub const MAX_NGRAM: u32 = 255;

/// Words that a window of sparse bigrams spans (Siefkes et al. 2004).
pub const SPARSE_WINDOW: usize = 5;

/// What a token is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Analyzer {
    /// Words, or n-grams of words joined by a space.
    #[default]
    Word,
    /// N-grams of characters, runs of white space first reduced to one space.
    Char,
    /// N-grams of the characters of each white-space separated word, padded with a space at both
    /// ends; a padded word shorter than n is taken once, as it is.
    CharWithinWords,
    /// Orthogonal sparse bigrams: each word with each of the next four words, joined by as many
    /// spaces as the second stands words behind the first.
    SparseBigrams,
}

impl Analyzer {
    /// The analyzers with the names that users give them.
    pub const NAMES: [(&'static str, Self); 4] = [
        ("word", Self::Word),
        ("char", Self::Char),
        ("char_wb", Self::CharWithinWords),
        ("osb", Self::SparseBigrams),
    ];

    /// The analyzer of this name.
    ///
    /// # Errors
    ///
    /// [`OptionsError::UnknownAnalyzer`] when there is none.
    pub fn named(name: &str) -> Result<Self, OptionsError> {
        let found = Self::NAMES.iter().find(|(known, _)| *known == name);
        found
            .map(|&(_, analyzer)| analyzer)
            .ok_or_else(|| OptionsError::UnknownAnalyzer(name.into()))
    }
}

/// How messages become tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TokenizerOptions {
    /// Lower the case (after the accents, if those are stripped).
    pub lowercase: bool,
    /// Decompose (NFKD) and drop the combining characters.
    pub strip_accents: bool,
    /// What a token is.
    pub analyzer: Analyzer,
    /// Shortest and longest n-gram, in words or characters.
    pub ngram_range: (u32, u32),
    /// Words longer than this many characters are dropped, before n-grams are made: such a word
    /// is a filler or a blob, and cutting it would give a word that nobody wrote. With
    /// [`Analyzer::Char`], which has no words, it has no effect.
    pub max_token_length: Option<u32>,
    /// At most so many tokens of a message are given; the rest of the message is ignored.
    pub max_tokens: Option<u32>,
}

impl Default for TokenizerOptions {
    fn default() -> Self {
        Self {
            lowercase: true,
            strip_accents: true,
            analyzer: Analyzer::Word,
            ngram_range: (1, 1),
            max_token_length: None,
            max_tokens: None,
        }
    }
}

impl TokenizerOptions {
    /// Checks that the options make sense together.
    ///
    /// # Errors
    ///
    /// The first [`OptionsError`] found.
    pub fn validate(&self) -> Result<(), OptionsError> {
        let (min, max) = self.ngram_range;
        if self.analyzer == Analyzer::SparseBigrams && self.ngram_range != (1, 1) {
            Err(OptionsError::NgramsOfPairs)
        } else if min == 0 {
            Err(OptionsError::ZeroNgram)
        } else if min > max {
            Err(OptionsError::ReversedNgramRange { min, max })
        } else if max > MAX_NGRAM {
            Err(OptionsError::LongNgram { max })
        } else if self.max_token_length == Some(0) {
            Err(OptionsError::ZeroTokenLength)
        } else if self.max_tokens == Some(0) {
            Err(OptionsError::ZeroTokens)
        } else {
            Ok(())
        }
    }

    /// The folding that these options ask for.
    #[must_use]
    pub fn folding(&self) -> Folding {
        Folding { lowercase: self.lowercase, strip_accents: self.strip_accents }
    }
}

/// Why options were refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OptionsError {
    /// No analyzer has this name.
    UnknownAnalyzer(String),
    /// Sparse bigrams are pairs of words, whatever the n-gram range.
    NgramsOfPairs,
    /// An n-gram needs at least one word or character.
    ZeroNgram,
    /// The n-gram range is empty.
    ReversedNgramRange {
        /// The lower end given.
        min: u32,
        /// The upper end given.
        max: u32,
    },
    /// The n-gram range reaches beyond [`MAX_NGRAM`].
    LongNgram {
        /// The upper end given.
        max: u32,
    },
    /// No token could be short enough.
    ZeroTokenLength,
    /// No token could be given.
    ZeroTokens,
}

impl fmt::Display for OptionsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownAnalyzer(name) => {
                f.write_str("analyzer must be ")?;
                for (at, (known, _)) in Analyzer::NAMES.iter().enumerate() {
                    let between = match at {
                        0 => "",
                        _ if at + 1 < Analyzer::NAMES.len() => ", ",
                        _ => " or ",
                    };
                    write!(f, "{between}'{known}'")?;
                }
                write!(f, ", not {name:?}")
            }
            Self::NgramsOfPairs => f.write_str(
                "analyzer 'osb' gives pairs of words within five words: leave ngram_range at (1, 1)",
            ),
            Self::ZeroNgram => f.write_str("the n-gram range must start at 1 or more"),
            Self::ReversedNgramRange { min, max } => {
                write!(f, "the n-gram range ends at {max}, before its start at {min}")
            }
            Self::LongNgram { max } => {
                write!(f, "the n-gram range ends at {max}, above the limit of {MAX_NGRAM}")
            }
            Self::ZeroTokenLength => {
                f.write_str("the longest token must be of 1 character or more")
            }
            Self::ZeroTokens => f.write_str("the number of tokens of a message must be 1 or more"),
        }
    }
}

impl Error for OptionsError {}
