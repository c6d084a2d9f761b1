//! What a user may ask of a tokenizer, and what makes no sense.

use std::error::Error;
use std::fmt;

use crate::text::unicode::Folding;

/// The longest n-gram and the widest window on offer, in words or characters.
pub const MAX_NGRAM: u32 = 255;

/// Shortest and longest n-gram.
pub type Sizes = (u32, u32);

/// Where words begin and end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Boundaries {
    /// Words are what `\b\w[\w\-]+\b` matches in the eyes of the host.
    #[default]
    Python,
    /// Words are those of Unicode's Standard Annex 29, symbols are words, too.
    Unicode,
}

impl Boundaries {
    /// The boundaries of this name.
    ///
    /// # Errors
    ///
    /// [`OptionsError::UnknownBoundaries`] when there are none.
    pub fn named(name: &str) -> Result<Self, OptionsError> {
        match name {
            "python" => Ok(Self::Python),
            "unicode" => Ok(Self::Unicode),
            other => Err(OptionsError::UnknownBoundaries(other.into())),
        }
    }
}

/// How messages become tokens. Each kind of token is asked for by its sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TokenizerOptions {
    /// Lower the case (after the accents, if those are stripped).
    pub lowercase: bool,
    /// Decompose (NFKD) and drop the combining characters.
    pub strip_accents: bool,
    /// Undo disguises of letters before all else.
    pub deobfuscate: bool,
    /// Where words begin and end.
    pub boundaries: Boundaries,
    /// N-grams of words, joined by a space.
    pub words: Option<Sizes>,
    /// Orthogonal sparse bigrams: each word with each that follows it in a window of this many
    /// words, joined by as many spaces as the second stands words behind the first.
    pub sparse_bigrams: Option<u32>,
    /// N-grams of characters, runs of white space first reduced to one space.
    pub characters: Option<Sizes>,
    /// N-grams of the characters of each white-space separated word, padded with a space at both
    /// ends; a padded word shorter than n is taken once, as it is.
    pub characters_within_words: Option<Sizes>,
    /// The message's length, as three tokens of coarse and fine steps.
    pub length: bool,
    /// Read fields and put each one's name before its tokens.
    pub fields: bool,
    /// Give the tokens of the header `Subject` before all others, with its name before them.
    pub subject: bool,
    /// Words longer than this many characters are dropped, before n-grams are made: such a word
    /// is a filler or a blob, and cutting it would give a word that nobody wrote. It has no effect
    /// on n-grams of characters across words.
    pub max_token_length: Option<u32>,
    /// At most so many tokens of a message are given; the rest of the message is ignored.
    pub max_tokens: Option<u32>,
    /// At most so many bytes of a message, as UTF-8, are read; the rest is ignored.
    pub max_bytes: Option<u32>,
}

impl Default for TokenizerOptions {
    fn default() -> Self {
        Self {
            words: Some((1, 1)),
            lowercase: true,
            strip_accents: true,
            deobfuscate: false,
            boundaries: Boundaries::Python,
            sparse_bigrams: None,
            characters: None,
            characters_within_words: None,
            length: false,
            fields: false,
            subject: false,
            max_token_length: None,
            max_tokens: None,
            max_bytes: None,
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
        let sizes = [
            ("words", self.words),
            ("characters", self.characters),
            ("characters_within_words", self.characters_within_words),
        ];
        for (name, (min, max)) in sizes.iter().filter_map(|&(name, sizes)| Some((name, sizes?))) {
            if min == 0 || min > max || max > MAX_NGRAM {
                return Err(OptionsError::Sizes { name, min, max });
            }
        }
        if self.kinds() == 0 {
            return Err(OptionsError::NoKind);
        }
        if let Some(window) = self.sparse_bigrams
            && !(2..=MAX_NGRAM).contains(&window)
        {
            return Err(OptionsError::Window(window));
        }
        let limits = [
            ("max_token_length", self.max_token_length),
            ("max_tokens", self.max_tokens),
            ("max_bytes", self.max_bytes),
        ];
        match limits.iter().find(|(_, limit)| *limit == Some(0)) {
            Some(&(name, _)) => Err(OptionsError::Zero(name)),
            None => Ok(()),
        }
    }

    /// The folding that these options ask for.
    #[must_use]
    pub fn folding(&self) -> Folding {
        Folding { lowercase: self.lowercase, strip_accents: self.strip_accents }
    }

    /// How many kinds of tokens are asked for; n-grams and sparse bigrams of words are one.
    #[must_use]
    pub fn kinds(&self) -> usize {
        usize::from(self.has_words())
            + usize::from(self.characters.is_some())
            + usize::from(self.characters_within_words.is_some())
            + usize::from(self.length)
    }

    /// Whether n-grams of characters are asked for.
    #[must_use]
    pub fn has_characters(&self) -> bool {
        self.characters.is_some() || self.characters_within_words.is_some()
    }

    /// Whether words are asked for, alone or together.
    #[must_use]
    pub fn has_words(&self) -> bool {
        self.words.is_some() || self.sparse_bigrams.is_some()
    }
}

/// Why options were refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OptionsError {
    /// No boundaries have this name.
    UnknownBoundaries(String),
    /// The sizes of n-grams are no range from 1 to [`MAX_NGRAM`].
    Sizes {
        /// The option.
        name: &'static str,
        /// The lower end given.
        min: u32,
        /// The upper end given.
        max: u32,
    },
    /// A window of fewer than two words has no pair, one of more than [`MAX_NGRAM`] too many.
    Window(u32),
    /// A limit of nothing leaves no token.
    Zero(&'static str),
    /// No kind of token is asked for.
    NoKind,
}

impl fmt::Display for OptionsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownBoundaries(name) => {
                write!(f, "boundaries must be 'python' or 'unicode', not {name:?}")
            }
            Self::Sizes { name, min, max } => write!(
                f,
                "{name} must be the shortest and the longest n-gram, 1 ≤ shortest ≤ longest ≤ \
                 {MAX_NGRAM}, not ({min}, {max})"
            ),
            Self::Window(window) => {
                write!(f, "sparse_bigrams must be a window of 2 to {MAX_NGRAM} words, not {window}")
            }
            Self::Zero(name) => write!(f, "{name} must be None or 1 or more, not 0"),
            Self::NoKind => f.write_str(
                "no token is asked for: give words, sparse_bigrams, characters, \
                 characters_within_words or length",
            ),
        }
    }
}

impl Error for OptionsError {}
