//! Split a message into tokens and hash them, about as fast as the text can be read.
//!
//! By default the tokens are those of river's `BagOfWords`: accents stripped, case lowered, then
//! every match of `\b\w[\w\-]+\b`. That pattern needs no regular expression engine. A match starts
//! and ends with a word character and contains only word characters and hyphens. The pattern is
//! greedy and gives back only trailing hyphens, so a match is a *maximal* run of `[\w-]` with the
//! hyphens at both ends trimmed, of at least two characters.
//!
//! The work has two passes. The first writes the folded text to a buffer, with one bit per byte
//! that marks the runs: sixteen ASCII bytes at a time, other characters through a [`FoldTable`].
//! The second finds the changes of those bits. The buffer is padded, so a token of up to fifteen
//! bytes is hashed as two words without a branch on its length.

mod blocks;
mod boundaries;
mod deobfuscate;
mod fields;
mod fold;
mod ngrams;
mod runs;
mod token_sink;

use std::hash::BuildHasher;
use std::io::Write;
use std::ops::ControlFlow;

use crate::error::{Error, Result};
use crate::text::Token;
use crate::text::siphash::{Key, siphash};
use crate::text::unicode::{FoldTable, Folding};
pub use fold::Scratch;
use fold::{SLACK, fold};
use runs::characters;
pub(crate) use token_sink::is_word;
use token_sink::{
    CHARACTERS_MARK, LENGTH_MARK, PlainSink, PrefixSink, TokenSink, WITHIN_WORDS_MARK,
};

/// The longest n-gram, in words or characters.
pub const MAX_NGRAM: u32 = 255;

/// Shortest and longest n-gram.
pub type Sizes = (u32, u32);

named_enum! {
    /// Where words begin and end.
    "boundaries" Boundaries {
        /// Words are the matches of `\b\w[\w\-]+\b`.
        Python = "python",
        /// Words are those of Unicode Standard Annex 29; symbols are words, too.
        Unicode = "unicode",
    }
}

/// How messages become tokens.
#[derive(Clone, Copy, Debug)]
pub struct TokenizerOptions {
    /// Lower the case (after the accents, if those are stripped).
    pub lowercase: bool,
    /// Decompose (NFKD) and drop the combining characters.
    pub strip_accents: bool,
    /// Replace look-alikes of Latin letters first.
    pub deobfuscate: bool,
    /// Where words begin and end.
    pub boundaries: Boundaries,
    /// N-grams of words, joined by a space.
    pub words: Option<Sizes>,
    /// N-grams of characters; runs of white space are first reduced to one space.
    pub characters: Option<Sizes>,
    /// N-grams of the characters of each white-space separated word, padded with a space at both
    /// ends; a padded word shorter than n is one token.
    pub characters_within_words: Option<Sizes>,
    /// The message's length, as three tokens of coarse and fine steps.
    pub length: bool,
    /// Read fields: put the name of a text before its tokens, and add values (see [`fields`]).
    pub fields: bool,
    /// Add the tokens of the header `Subject` before all others, with its name before them.
    pub subject: bool,
    /// Words of more characters are dropped before n-grams are made. N-grams of characters across
    /// words ignore it.
    pub max_token_length: Option<u32>,
    /// Maximum number of tokens of a message; the rest of the message is ignored.
    pub max_tokens: Option<u32>,
    /// Maximum number of bytes read of a message, as UTF-8; the rest is ignored.
    pub max_bytes: Option<u32>,
    /// Emit keyed hashes of the tokens instead of the tokens.
    pub hash_key: Option<Key>,
}

impl TokenizerOptions {
    /// Check that the options are valid together.
    fn check(&self) -> Result<()> {
        let sizes = [
            ("words", self.words),
            ("characters", self.characters),
            ("characters_within_words", self.characters_within_words),
        ];
        for (name, (min, max)) in sizes.iter().filter_map(|&(name, sizes)| Some((name, sizes?))) {
            if min == 0 || min > max || max > MAX_NGRAM {
                return Err(Error::Invalid(format!(
                    "{name} must be the shortest and the longest n-gram, 1 ≤ shortest ≤ longest ≤ \
                     {MAX_NGRAM}, not ({min}, {max})"
                )));
            }
        }
        if self.kinds() == usize::from(self.fields) {
            return Err(Error::Invalid("the tokenizer has no kind of token".into()));
        }
        if [self.max_token_length, self.max_tokens, self.max_bytes].contains(&Some(0)) {
            return Err(Error::Invalid("a limit must be None or 1 or more, not 0".into()));
        }
        Ok(())
    }

    /// Number of kinds of tokens; values are one kind.
    fn kinds(&self) -> usize {
        let sizes = [self.words, self.characters, self.characters_within_words];
        sizes.iter().flatten().count() + usize::from(self.length) + usize::from(self.fields)
    }

    fn has_characters(&self) -> bool {
        self.characters.is_some() || self.characters_within_words.is_some()
    }
}

/// Splits messages into tokens. Cheap to clone and shared between threads.
#[derive(Clone, Debug)]
pub struct Tokenizer {
    options: TokenizerOptions,
    table: &'static FoldTable,
}

impl Tokenizer {
    /// A tokenizer with these options, which must be valid.
    pub fn new(options: TokenizerOptions) -> Result<Self> {
        options.check()?;
        let TokenizerOptions { lowercase, strip_accents, .. } = options;
        Ok(Self { options, table: FoldTable::of(Folding { lowercase, strip_accents }) })
    }

    /// Fold and split a message, and pass each [`Token`] to `emit`.
    #[inline]
    pub fn tokenize<S: BuildHasher>(
        &self,
        text: &str,
        scratch: &mut Scratch,
        hasher: &S,
        mut emit: impl FnMut(Token<'_>),
    ) {
        let Some(key) = self.options.hash_key else {
            return self.tokenize_plain(text, scratch, hasher, emit);
        };
        let emit: &mut dyn FnMut(Token<'_>) =
            &mut |token| emit(Token::new(hasher, &hashed(key, token.bytes)));
        self.tokenize_plain(text, scratch, hasher, emit);
    }

    /// The name of a token in models: its hash, or the token itself.
    pub fn name_of(&self, token: &str) -> String {
        match self.options.hash_key {
            Some(key) => String::from_utf8_lossy(&hashed(key, token.as_bytes())).into_owned(),
            None => token.to_owned(),
        }
    }

    /// The same tokenizer without hashes.
    pub fn plain(&self) -> Self {
        Self { options: TokenizerOptions { hash_key: None, ..self.options }, ..*self }
    }

    /// Fold and split a message, and pass each token before it is hashed.
    #[inline]
    fn tokenize_plain<S: BuildHasher>(
        &self,
        text: &str,
        scratch: &mut Scratch,
        hasher: &S,
        emit: impl FnMut(Token<'_>),
    ) {
        let options = &self.options;
        let left = options.max_tokens.map_or(usize::MAX, |max| max as usize);
        let text = clip(text, options.max_bytes);
        // Only the first text may have headers.
        let first = || self.fields(text).find(|(name, text)| name.is_empty() && !text.is_empty());
        let subject = options.subject.then(|| fields::subject(first()?.1)).flatten();
        let marked = options.kinds() > 1 || options.length;
        let mut plain = PlainSink { hasher, emit, left };
        if !marked && !options.fields && subject.is_none() {
            let _ = self.split(text, scratch, &mut plain);
        } else {
            let mut sink = PrefixSink::new(plain, marked, scratch);
            let _ = self.split_fields(subject, text, scratch, &mut sink);
            sink.give_back(scratch);
        }
        scratch.shrink();
    }

    /// Push the values, split the subject and the texts, then the words again for values with copies.
    fn split_fields<S: BuildHasher, E: FnMut(Token<'_>)>(
        &self,
        subject: Option<&str>,
        text: &str,
        scratch: &mut Scratch,
        sink: &mut PrefixSink<'_, S, E>,
    ) -> ControlFlow<()> {
        let named = |(name, text)| Some((fields::value(name)?, text));
        let values = || self.fields(text).filter_map(named);
        for ((name, _), value) in values() {
            self.push_value(name, value, scratch, sink)?;
        }
        let texts = self.fields(text).filter(|(name, _)| fields::value(name).is_none());
        for (name, text) in subject.map(|text| (fields::SUBJECT, text)).into_iter().chain(texts) {
            sink.enter_field(name);
            self.split(text, scratch, sink)?;
        }
        for ((name, _), value) in values().filter(|((_, copied), _)| *copied) {
            sink.enter_field(&format!("{name}={value}"));
            for (_, text) in self.fields(text).filter(|(name, _)| name.is_empty()) {
                self.only_words().split(text, scratch, sink)?;
            }
        }
        ControlFlow::Continue(())
    }

    /// Push a value as one token.
    fn push_value(
        &self,
        name: &str,
        value: &str,
        scratch: &mut Scratch,
        sink: &mut impl TokenSink,
    ) -> ControlFlow<()> {
        let token = &mut scratch.joined;
        token.clear();
        token.extend_from_slice(name.as_bytes());
        token.push(b'=');
        token.extend_from_slice(value.as_bytes());
        push_all(token, sink)
    }

    /// A tokenizer without the length, and without n-grams of characters if there are words.
    fn only_words(&self) -> Self {
        let mut options = TokenizerOptions { length: false, ..self.options };
        if options.words.is_some() {
            (options.characters, options.characters_within_words) = (None, None);
        }
        Self { options, ..*self }
    }

    /// The fields of a text with their names; without the option, the whole text.
    fn fields<'a>(&self, text: &'a str) -> impl Iterator<Item = (&'a str, &'a str)> {
        let whole = (!self.options.fields).then_some(("", text));
        let fields = self.options.fields.then(|| fields::fields(text));
        whole.into_iter().chain(fields.into_iter().flatten())
    }

    /// Split a text into all kinds of tokens, the words first.
    #[inline]
    fn split(
        &self,
        text: &str,
        scratch: &mut Scratch,
        sink: &mut impl TokenSink,
    ) -> ControlFlow<()> {
        let (options, table) = (&self.options, self.table);
        let deobfuscated;
        let text = if options.deobfuscate {
            deobfuscated = deobfuscate::deobfuscate(text);
            &*deobfuscated
        } else {
            text
        };
        let longest = options.max_token_length.map_or(usize::MAX, |max| max as usize);
        let python_words = options.words.filter(|_| options.boundaries == Boundaries::Python);
        if let Some(sizes) = python_words {
            let len = fold::<false>(table, text, scratch);
            self.push_length(scratch, len, sink)?;
            if sizes == (1, 1) {
                // The hot path.
                let push = |start, end| sink.push(&scratch.folded, start, end);
                runs::words(scratch, len, longest, push)?;
            } else {
                runs::find_words(scratch, len, longest);
                ngrams::of_words(scratch, sizes, sink)?;
            }
            if !options.has_characters() {
                return ControlFlow::Continue(());
            }
        }
        // From here on the scratch's bits mark the white space.
        let len = fold::<true>(table, text, scratch);
        if python_words.is_none() {
            self.push_length(scratch, len, sink)?;
            if let Some(sizes) = options.words {
                boundaries::find_words(scratch, len, longest);
                ngrams::of_words(scratch, sizes, sink)?;
            }
        }
        if let Some(sizes) = options.characters {
            sink.set_mark(Some(CHARACTERS_MARK));
            ngrams::across_words(scratch, len, sizes, sink)?;
        }
        if let Some(sizes) = options.characters_within_words {
            sink.set_mark(Some(WITHIN_WORDS_MARK));
            ngrams::within_words(scratch, len, sizes, longest, sink)?;
        }
        ControlFlow::Continue(())
    }

    /// Push the length of the folded text, if the option is set and the text is not empty.
    ///
    /// The token `k:b` means that b = ⌊k · log₂(characters + 1)⌋. Coarse steps are learned from
    /// few messages, fine steps are more precise.
    #[inline]
    fn push_length(
        &self,
        scratch: &mut Scratch,
        len: usize,
        sink: &mut impl TokenSink,
    ) -> ControlFlow<()> {
        if !self.options.length || len == 0 {
            return ControlFlow::Continue(());
        }
        sink.set_mark(Some(LENGTH_MARK));
        let doublings = ((characters(&scratch.folded[..len]) + 1) as f64).log2();
        let token = &mut scratch.joined;
        for steps in [1, 2, 4] {
            let reached = (f64::from(steps) * doublings) as u32;
            token.clear();
            // Writing to a buffer in memory does not fail.
            let _ = write!(token, "{steps}:{reached}");
            push_all(token, sink)?;
        }
        sink.set_mark(None);
        ControlFlow::Continue(())
    }
}

/// The keyed hash of a token as 13 digits of base 32; the mark of the token's kind stays.
fn hashed(key: Key, token: &[u8]) -> Vec<u8> {
    const DIGITS: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";
    let hash = siphash(key, token);
    let mark = token.iter().copied().find(|&byte| !is_word(&[byte]));
    let digits = (0..13).map(|place| DIGITS[(hash >> (5 * place)) as usize & 31]);
    mark.into_iter().chain(digits).collect()
}

/// Push a whole buffer as one token.
fn push_all(token: &mut Vec<u8>, sink: &mut impl TokenSink) -> ControlFlow<()> {
    let len = token.len();
    token.resize(len + SLACK, 0);
    sink.push(token, 0, len)
}

/// The first bytes of a text, up to the limit and the last whole character.
fn clip(text: &str, max_bytes: Option<u32>) -> &str {
    let Some(max) = max_bytes.map(|max| max as usize).filter(|&max| text.len() > max) else {
        return text;
    };
    let end = (0..=max).rev().find(|&end| text.is_char_boundary(end));
    &text[..end.unwrap_or(0)]
}
