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

use std::error::Error;
use std::fmt;
use std::hash::BuildHasher;
use std::ops::ControlFlow;
use std::sync::Arc;

use crate::token::{BLOCK, Token};
use crate::unicode::{FoldTable, Folding, PAGE_SIZE, PageSet};

/// The longest n-gram on offer, in words or characters.
pub const MAX_NGRAM: u32 = 255;

/// Room that the buffer keeps behind the text, for whole blocks to be read and written.
const SLACK: usize = 2 * BLOCK;
/// A buffer that grew beyond this, in bytes, is given back after the message.
const KEPT_BYTES: usize = 1 << 20;

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
        if min == 0 {
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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OptionsError {
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

/// Buffers that are used again from message to message. One for each thread.
#[derive(Debug, Default)]
pub struct Scratch {
    /// The folded text, and behind it at least `SLACK` bytes of no meaning.
    folded: Vec<u8>,
    /// One bit for each byte of the folded text, and behind them zeros up to the end of a word
    /// that follows the last.
    bits: Vec<u64>,
    /// Whether the folded text is of nothing but ASCII without hyphens.
    plain: bool,
    /// Words put side by side with a space between them, for n-grams.
    joined: Vec<u8>,
    /// Where those words lie in `joined`.
    spans: Vec<(usize, usize)>,
}

impl Scratch {
    /// Empty buffers.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Gives back memory that one huge message took, lest it be held for ever.
    fn shrink(&mut self) {
        let spans = self.spans.capacity() * size_of::<(usize, usize)>();
        // The bits take an eighth of what the text takes.
        if self.folded.capacity().max(self.joined.capacity()).max(spans) > KEPT_BYTES {
            *self = Self::default();
        }
    }
}

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

    /// Adds to `missing` the pages that must be filled before `text` can be cut, whether it is
    /// folded already or not.
    pub fn missing_pages(&self, text: &str, missing: &mut PageSet) {
        self.table.missing_pages(text, missing);
    }

    /// Whether only the host can fold the text, once its pages are filled.
    #[must_use]
    pub fn needs_host_fold(&self, text: &str) -> bool {
        self.options.lowercase
            && !text.is_ascii()
            && text.chars().any(|character| {
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

    #[inline]
    fn run<S: BuildHasher, const FOLDED: bool>(
        &self,
        text: &str,
        scratch: &mut Scratch,
        hasher: &S,
        mut emit: impl FnMut(Token<'_>),
    ) -> Result<(), NotReady> {
        let mut left = self.options.max_tokens.map_or(usize::MAX, |max| max as usize);
        let mut give = |buffer: &[u8], start: usize, end: usize| {
            emit(Token::within(hasher, buffer, start, end));
            left -= 1;
            if left == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let _ = match self.options.analyzer {
            Analyzer::Word => {
                let len = self.fold::<FOLDED, false>(text, scratch)?;
                if self.options.ngram_range == (1, 1) {
                    self.words(scratch, len, |start, end| give(&scratch.folded, start, end))
                } else {
                    self.word_ngrams(scratch, len, give)
                }
            }
            Analyzer::Char => {
                let len = self.fold::<FOLDED, true>(text, scratch)?;
                self.char_ngrams(scratch, len, give)
            }
            Analyzer::CharWithinWords => {
                let len = self.fold::<FOLDED, true>(text, scratch)?;
                self.char_ngrams_within_words(scratch, len, give)
            }
        };
        scratch.shrink();
        Ok(())
    }

    /// Writes the folded text and its bits to the scratch; gives the folded text's length.
    ///
    /// The bits tell `[\w-]`, or white space if `SPACES`.
    fn fold<const FOLDED: bool, const SPACES: bool>(
        &self,
        text: &str,
        scratch: &mut Scratch,
    ) -> Result<usize, NotReady> {
        let case_bit = if self.options.lowercase && !FOLDED { 0x20 } else { 0 };
        scratch.plain = false;
        let bytes = text.as_bytes();
        let mut out = Output::new(scratch, bytes.len());
        let mut at = out.push_plain::<SPACES>(bytes, case_bit);
        if at == bytes.len() {
            return Ok(out.finish(true));
        }
        while at < bytes.len() {
            let (block, count) = block_at(bytes, at);
            let classified = classify::<SPACES>(block, case_bit);
            // The padding of a last block is ASCII, so there is no need to mask it here.
            let ascii = (classified.other.trailing_zeros() as usize).min(count);
            out.push_ascii(&classified, ascii);
            at += ascii;
            if classified.other != 0 {
                at += self.fold_others::<FOLDED, SPACES>(&text[at..], &mut out)?;
            }
        }
        Ok(out.finish(false))
    }

    /// Folds the characters up to the next ASCII one; gives the number of bytes read.
    fn fold_others<const FOLDED: bool, const SPACES: bool>(
        &self,
        text: &str,
        out: &mut Output<'_>,
    ) -> Result<usize, NotReady> {
        let mut buffer = [0; 4];
        for (at, character) in text.char_indices() {
            if character.is_ascii() {
                return Ok(at);
            }
            let code = u32::from(character) as usize;
            let page = code / PAGE_SIZE;
            let page = self.table.page(page).ok_or(NotReady::MissingPage(page))?;
            let entry = page.entry(code as u8);
            let rest = text.len() - at;
            if FOLDED {
                let len = character.encode_utf8(&mut buffer).len();
                let bit = if SPACES { entry.own_is_space() } else { entry.own_is_run() };
                out.reserve(rest);
                out.push(buffer, len, bit);
                buffer = [0; 4];
            } else {
                if entry.is_sigma() {
                    return Err(NotReady::NeedsHostFold);
                }
                let pieces = page.folded(&entry);
                out.reserve(rest + 4 * pieces.len());
                for piece in pieces {
                    let bit = if SPACES { piece.is_space() } else { piece.is_run() };
                    out.push(piece.bytes(), piece.len(), bit);
                }
            }
        }
        Ok(text.len())
    }

    /// Calls `found` with the start and end of each word in the folded text.
    #[inline(always)]
    fn words(
        &self,
        scratch: &Scratch,
        len: usize,
        mut found: impl FnMut(usize, usize) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let text = &scratch.folded[..len];
        let longest = self.options.max_token_length.map_or(usize::MAX, |max| max as usize);
        runs::<true>(&scratch.bits, len, |start, end| {
            let (mut start, mut end) = (start, end);
            if scratch.plain {
                // Such a run is a word as it is.
                if end - start > longest {
                    return ControlFlow::Continue(());
                }
                return found(start, end);
            }
            if text[start] == b'-' || text[end - 1] == b'-' {
                while start < end && text[start] == b'-' {
                    start += 1;
                }
                while start < end && text[end - 1] == b'-' {
                    end -= 1;
                }
                if end - start < 2 {
                    return ControlFlow::Continue(());
                }
            }
            // Only one character in several bytes is left to be found too short.
            if text[start] >= 0xc0 && end - start <= 4 && characters(&text[start..end]) < 2 {
                return ControlFlow::Continue(());
            }
            if end - start > longest && characters(&text[start..end]) > longest {
                return ControlFlow::Continue(());
            }
            found(start, end)
        })
    }

    fn word_ngrams(
        &self,
        scratch: &mut Scratch,
        len: usize,
        mut give: impl FnMut(&[u8], usize, usize) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let mut joined = std::mem::take(&mut scratch.joined);
        let mut spans = std::mem::take(&mut scratch.spans);
        joined.clear();
        spans.clear();
        let _ = self.words(scratch, len, |start, end| {
            let to = joined.len();
            joined.extend_from_slice(&scratch.folded[start..end]);
            spans.push((to, joined.len()));
            joined.push(b' ');
            ControlFlow::Continue(())
        });
        joined.resize(joined.len() + SLACK, 0);
        let (min, max) = self.options.ngram_range;
        let flow = (min as usize..=max as usize).try_for_each(|n| {
            spans.windows(n).try_for_each(|words| match words {
                [only] => give(&joined, only.0, only.1),
                [first, .., last] => give(&joined, first.0, last.1),
                [] => ControlFlow::Break(()),
            })
        });
        scratch.joined = joined;
        scratch.spans = spans;
        flow
    }

    fn char_ngrams(
        &self,
        scratch: &mut Scratch,
        len: usize,
        mut give: impl FnMut(&[u8], usize, usize) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let Scratch { folded, bits, joined, .. } = scratch;
        joined.clear();
        let mut copied = 0;
        let _ = runs::<false>(bits, len, |start, end| {
            // A lone white-space character stays what it is: scikit-learn replaces `\s\s+`.
            if characters(&folded[start..end]) > 1 {
                joined.extend_from_slice(&folded[copied..start]);
                joined.push(b' ');
                copied = end;
            }
            ControlFlow::Continue(())
        });
        joined.extend_from_slice(&folded[copied..len]);
        let len = joined.len();
        joined.resize(len + SLACK, 0);
        let (min, max) = self.options.ngram_range;
        (min as usize..=max as usize)
            .try_for_each(|n| each_ngram(&joined[..len], n, |start, end| give(joined, start, end)))
    }

    fn char_ngrams_within_words(
        &self,
        scratch: &mut Scratch,
        len: usize,
        mut give: impl FnMut(&[u8], usize, usize) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let Scratch { folded, bits, joined, .. } = scratch;
        let (min, max) = self.options.ngram_range;
        let longest = self.options.max_token_length.map_or(usize::MAX, |max| max as usize);
        let mut word = |start: usize, end: usize| {
            let count = characters(&folded[start..end]);
            if count == 0 || count > longest {
                return ControlFlow::Continue(());
            }
            joined.clear();
            joined.push(b' ');
            joined.extend_from_slice(&folded[start..end]);
            joined.push(b' ');
            let (len, count) = (joined.len(), count + 2);
            joined.resize(len + SLACK, 0);
            for n in min as usize..=max as usize {
                if n >= count {
                    // The whole word, only once however long n-grams may become.
                    return give(joined, 0, len);
                }
                each_ngram(&joined[..len], n, |start, end| give(joined, start, end))?;
            }
            ControlFlow::Continue(())
        };
        let mut from = 0;
        runs::<false>(bits, len, |start, end| {
            let flow = word(from, start);
            from = end;
            flow
        })?;
        word(from, len)
    }
}

/// The number of characters of UTF-8 text.
fn characters(text: &[u8]) -> usize {
    text.iter().filter(|&&byte| byte & 0xc0 != 0x80).count()
}

/// Calls `found` for each of the text's n-grams of characters.
fn each_ngram(
    text: &[u8],
    n: usize,
    mut found: impl FnMut(usize, usize) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let next = |at: usize| {
        at + match text.get(at) {
            None | Some(0..0xc0) => 1,
            Some(0xc0..0xe0) => 2,
            Some(0xe0..0xf0) => 3,
            Some(0xf0..) => 4,
        }
    };
    let (mut start, mut end) = (0, 0);
    for _ in 0..n {
        end = next(end);
    }
    while end <= text.len() {
        found(start, end)?;
        start = next(start);
        end = next(end);
    }
    ControlFlow::Continue(())
}

/// Calls `found` with the start and end of each maximal run of set bits; if `SKIP_SINGLE`, not of
/// those of one bit.
#[inline(always)]
fn runs<const SKIP_SINGLE: bool>(
    bits: &[u64],
    len: usize,
    mut found: impl FnMut(usize, usize) -> ControlFlow<()>,
) -> ControlFlow<()> {
    // A zero bit ends the last run, so one word more than the text may need is looked at.
    let words = &bits[..len / 64 + 2];
    let (mut before, mut kept_before) = (0, 0);
    let (mut open, mut start) = (false, 0);
    let mut base = 0;
    for pair in words.windows(2) {
        let (word, after) = (pair[0], pair[1]);
        let kept = if SKIP_SINGLE {
            word & ((word << 1 | before >> 63) | (word >> 1 | after << 63))
        } else {
            word
        };
        let shifted = kept << 1 | kept_before >> 63;
        let (mut starts, mut ends) = (kept & !shifted, shifted & !kept);
        (before, kept_before) = (word, kept);
        while ends != 0 {
            if !open {
                start = base + starts.trailing_zeros() as usize;
                starts &= starts.wrapping_sub(1);
            }
            open = false;
            let end = base + ends.trailing_zeros() as usize;
            ends &= ends - 1;
            found(start, end)?;
        }
        if starts != 0 {
            open = true;
            start = base + starts.trailing_zeros() as usize;
        }
        base += 64;
    }
    ControlFlow::Continue(())
}

/// The folded text while it is written.
struct Output<'a> {
    text: &'a mut Vec<u8>,
    bits: &'a mut Vec<u64>,
    plain: &'a mut bool,
    len: usize,
    /// The bits of the last, unfinished word.
    word: u64,
    /// Whether text that is all ASCII has hyphens.
    hyphens: bool,
}

impl<'a> Output<'a> {
    #[inline]
    fn new(scratch: &'a mut Scratch, expected: usize) -> Self {
        let mut out = Self {
            text: &mut scratch.folded,
            bits: &mut scratch.bits,
            plain: &mut scratch.plain,
            len: 0,
            word: 0,
            hyphens: false,
        };
        out.reserve(expected);
        out
    }

    /// Makes room for `more` bytes of text.
    #[inline]
    fn reserve(&mut self, more: usize) {
        let needed = self.len + more + SLACK;
        if self.text.len() < needed {
            self.grow(needed);
        }
    }

    #[cold]
    fn grow(&mut self, needed: usize) {
        // Twice what is needed, so that text that grows as it is folded does not get here with
        // every character.
        self.text.resize(2 * needed, 0);
        self.bits.resize(2 * needed / 64 + 3, 0);
    }

    /// Appends text up to about the first byte that is not ASCII; gives the length of that part.
    ///
    /// This is the path that nearly all text takes. Here every word of bits is made of four
    /// blocks at fixed places, so nothing need be shifted by a varying distance.
    #[inline(always)]
    fn push_plain<const SPACES: bool>(&mut self, text: &[u8], case_bit: u8) -> usize {
        let chunks = text.as_chunks::<64>().0;
        let outs = self.text.as_chunks_mut::<64>().0;
        let mut hyphens = 0;
        for ((chunk, out), bits) in chunks.iter().zip(outs).zip(self.bits.iter_mut()) {
            let (mut word, mut other) = (0, 0);
            let blocks = chunk.as_chunks::<BLOCK>().0.iter();
            for ((block, out), shift) in
                blocks.zip(out.as_chunks_mut::<BLOCK>().0).zip([0, 16, 32, 48])
            {
                let classified = classify::<SPACES>(u128::from_le_bytes(*block), case_bit);
                *out = classified.folded.to_le_bytes();
                word |= u64::from(classified.bits) << shift;
                other |= classified.other;
                hyphens |= classified.hyphens;
            }
            if other != 0 {
                return self.len;
            }
            *bits = word;
            self.len += 64;
        }
        while self.len < text.len() {
            let (block, count) = block_at(text, self.len);
            let classified = classify::<SPACES>(block, case_bit);
            if classified.other != 0 {
                return self.len;
            }
            hyphens |= classified.hyphens;
            self.push_ascii(&classified, count);
        }
        self.hyphens = hyphens != 0;
        self.len
    }

    /// Appends up to 16 bits.
    #[inline(always)]
    fn push_bits(&mut self, bits: u64, count: usize) {
        let filled = self.len % 64;
        self.word |= bits << filled;
        if filled + count >= 64 {
            self.bits[self.len / 64] = self.word;
            self.word = if filled == 0 { 0 } else { bits >> (64 - filled) };
        }
        self.len += count;
    }

    /// Appends the first `count` bytes of the block.
    #[inline(always)]
    fn push_ascii(&mut self, block: &Block, count: usize) {
        self.text[self.len..self.len + BLOCK].copy_from_slice(&block.folded.to_le_bytes());
        self.push_bits(u64::from(block.bits) & ((1 << count) - 1), count);
    }

    /// Appends a character of `len` bytes.
    #[inline(always)]
    fn push(&mut self, bytes: [u8; 4], len: usize, bit: bool) {
        self.text[self.len..self.len + 4].copy_from_slice(&bytes);
        self.push_bits(if bit { (1 << len) - 1 } else { 0 }, len);
    }

    /// Ends the bits with zeros; gives the text's length. Is the text all `ascii`?
    fn finish(self, ascii: bool) -> usize {
        *self.plain = ascii && !self.hyphens;
        self.bits[self.len / 64] = self.word;
        self.bits[self.len / 64 + 1] = 0;
        self.len
    }
}

/// Sixteen bytes, folded and classified as ASCII.
struct Block {
    folded: u128,
    /// One bit a byte: `[\w-]`, or white space.
    bits: u16,
    /// One bit a byte: not ASCII.
    other: u16,
    /// One bit a byte: a hyphen.
    hyphens: u16,
}

/// The 16 bytes from `at` on, or as many as there are, padded with zeros; and their number.
#[inline(always)]
fn block_at(text: &[u8], at: usize) -> (u128, usize) {
    let rest = &text[at..];
    if let Some(block) = rest.first_chunk::<BLOCK>() {
        (u128::from_le_bytes(*block), BLOCK)
    } else if let Some(block) = text.last_chunk::<BLOCK>() {
        // Cheaper than to copy a varying number of bytes.
        (u128::from_le_bytes(*block).unbounded_shr(8 * (BLOCK - rest.len()) as u32), rest.len())
    } else {
        let mut block = [0; BLOCK];
        block[..rest.len()].copy_from_slice(rest);
        (u128::from_le_bytes(block), rest.len())
    }
}

#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn classify<const SPACES: bool>(block: u128, case_bit: u8) -> Block {
    #[allow(unsafe_code)]
    // SAFETY: SSE2 is part of every x86-64 processor.
    unsafe {
        classify_sse2::<SPACES>(block, case_bit)
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "sse2")]
#[inline]
fn classify_sse2<const SPACES: bool>(block: u128, case_bit: u8) -> Block {
    use std::arch::x86_64::{
        __m128i, _mm_and_si128, _mm_cmpeq_epi8, _mm_cmpgt_epi8, _mm_cmplt_epi8, _mm_cvtsi128_si64,
        _mm_movemask_epi8, _mm_or_si128, _mm_set_epi64x, _mm_set1_epi8, _mm_unpackhi_epi64,
    };
    // SSE2 is part of every x86-64. Bytes are compared as signed, so those that are not ASCII are
    // below all others.
    let all = |byte: u8| _mm_set1_epi8(byte as i8);
    let between = |bytes: __m128i, first: u8, last: u8| {
        let above = _mm_cmpgt_epi8(bytes, all(first - 1));
        _mm_and_si128(above, _mm_cmplt_epi8(bytes, all(last + 1)))
    };
    let bytes = _mm_set_epi64x((block >> 64) as i64, block as i64);
    let letter = between(_mm_or_si128(bytes, all(0x20)), b'a', b'z');
    let folded = _mm_or_si128(bytes, _mm_and_si128(letter, all(case_bit)));
    let hyphen = _mm_cmpeq_epi8(bytes, all(b'-'));
    let class = if SPACES {
        let control = _mm_or_si128(between(bytes, 0x09, 0x0d), between(bytes, 0x1c, 0x1f));
        _mm_or_si128(control, _mm_cmpeq_epi8(bytes, all(b' ')))
    } else {
        let digit = between(bytes, b'0', b'9');
        let mark = _mm_or_si128(_mm_cmpeq_epi8(bytes, all(b'_')), hyphen);
        _mm_or_si128(_mm_or_si128(letter, digit), mark)
    };
    let low = _mm_cvtsi128_si64(folded) as u64;
    let high = _mm_cvtsi128_si64(_mm_unpackhi_epi64(folded, folded)) as u64;
    Block {
        folded: u128::from(high) << 64 | u128::from(low),
        bits: _mm_movemask_epi8(class) as u16,
        other: _mm_movemask_epi8(bytes) as u16,
        hyphens: _mm_movemask_epi8(hyphen) as u16,
    }
}

#[cfg(not(target_arch = "x86_64"))]
use classify_portably as classify;

/// The same for any machine; compilers make vector code of the loop.
#[cfg(any(test, not(target_arch = "x86_64")))]
#[inline(always)]
fn classify_portably<const SPACES: bool>(block: u128, case_bit: u8) -> Block {
    let bytes = block.to_le_bytes();
    let letter = |byte: u8| (byte | 0x20).wrapping_sub(b'a') < 26;
    let folded = bytes.map(|byte| byte | if letter(byte) { case_bit } else { 0 });
    let class = bytes.map(|byte| {
        u8::from(if SPACES {
            byte == b' ' || byte.wrapping_sub(0x09) < 5 || byte.wrapping_sub(0x1c) < 4
        } else {
            letter(byte) | (byte.wrapping_sub(b'0') < 10) | (byte == b'_') | (byte == b'-')
        })
    });
    Block {
        folded: u128::from_le_bytes(folded),
        bits: gather(class),
        other: gather(bytes.map(|byte| byte >> 7)),
        hyphens: gather(bytes.map(|byte| u8::from(byte == b'-'))),
    }
}

/// Gathers the lowest bits of sixteen bytes, each 0 or 1.
#[cfg(any(test, not(target_arch = "x86_64")))]
#[inline(always)]
fn gather(bytes: [u8; BLOCK]) -> u16 {
    let bytes = u128::from_le_bytes(bytes);
    let half = |bytes: u64| bytes.wrapping_mul(0x0102_0408_1020_4080) >> 56;
    (half(bytes as u64) | half((bytes >> 64) as u64) << 8) as u16
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::token::{BLOCK, Token};
    use crate::unicode::StandardFacts;
    use std::hash::RandomState;
    use std::sync::OnceLock;

    fn options(analyzer: Analyzer, ngram_range: (u32, u32)) -> TokenizerOptions {
        TokenizerOptions { analyzer, ngram_range, ..TokenizerOptions::default() }
    }

    /// The tokens, folded by the host where needed; every hash is checked.
    fn tokens_of(options: TokenizerOptions, text: &str) -> Vec<String> {
        static TABLES: [OnceLock<Arc<FoldTable>>; 4] = [const { OnceLock::new() }; 4];
        let table = |folding: Folding| {
            TABLES[folding.index()].get_or_init(|| Arc::new(FoldTable::new(folding))).clone()
        };
        let tokenizer = Tokenizer::with_tables(options, table).expect("valid options");
        let hasher = RandomState::new();
        let mut scratch = Scratch::new();
        let mut tokens = Vec::new();
        let mut emit = |token: Token<'_>| {
            let same = Token::new(&hasher, token.bytes);
            assert_eq!((token.key, token.hash), (same.key, same.hash));
            tokens.push(String::from_utf8(token.bytes.to_vec()).expect("UTF-8"));
        };
        let load = |text: &str| {
            let mut missing = PageSet::default();
            tokenizer.missing_pages(text, &mut missing);
            assert_eq!(tokenizer.table().load(&missing, &StandardFacts), Ok(()));
        };
        load(text);
        let done = tokenizer.tokenize(text, &mut scratch, &hasher, &mut emit);
        assert_eq!(done.is_err(), tokenizer.needs_host_fold(text));
        if done == Err(NotReady::NeedsHostFold) {
            let folded = StandardFacts::folded(options.folding(), text);
            load(&folded);
            let done = tokenizer.tokenize_folded(&folded, &mut scratch, &hasher, &mut emit);
            assert_eq!(done, Ok(()));
        } else {
            assert_eq!(done, Ok(()));
        }
        tokens
    }

    fn words_of(text: &str) -> Vec<String> {
        tokens_of(TokenizerOptions::default(), text)
    }

    /// `\b\w[\w\-]+\b` as a backtracking engine takes it.
    fn matches(text: &str) -> Vec<String> {
        let characters: Vec<char> = text.chars().collect();
        let is_word =
            |at: usize| characters.get(at).is_some_and(|c| c.is_alphanumeric() || *c == '_');
        let goes_on = |at: usize| is_word(at) || characters.get(at) == Some(&'-');
        let boundary = |at: usize| (at > 0 && is_word(at - 1)) != is_word(at);
        let (mut found, mut at) = (Vec::new(), 0);
        while at < characters.len() {
            let mut end = at + 1;
            while goes_on(end) {
                end += 1;
            }
            while end > at + 1 && !boundary(end) {
                end -= 1;
            }
            if boundary(at) && is_word(at) && end > at + 1 {
                found.push(characters[at..end].iter().collect());
                at = end;
            } else {
                at += 1;
            }
        }
        found
    }

    /// Numbers that look random (Steele and others' SplitMix64).
    fn random(state: &mut u64) -> usize {
        *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = *state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z >> 33) as usize
    }

    #[test]
    fn words_are_folded_and_trimmed() {
        assert_eq!(words_of("Hello WORLD"), ["hello", "world"]);
        assert_eq!(words_of(""), [""; 0]);
        assert_eq!(words_of("a i - -- x- -y _ 1"), [""; 0]);
        assert_eq!(
            words_of("--well-known-- __ a-b 4-ever-"),
            ["well-known", "__", "a-b", "4-ever"]
        );
        assert_eq!(words_of("@[`{/:az AZ 09^~"), ["az", "az", "09"]);
        assert_eq!(words_of("nul\0led \x7f"), ["nul", "led"]);
        assert_eq!(
            words_of("Café É é\u{301}é wa\u{300}s…not ½x"),
            ["cafe", "ee", "was", "not", "2x"]
        );
        assert_eq!(words_of("日 日本 日- 日-日 é-"), ["日本", "日-日"]);
        assert_eq!(words_of("x\u{fdfa}"), ["xصلى", "الله", "عليه", "وسلم"]);
    }

    #[test]
    fn folding_is_optional() {
        let keep =
            TokenizerOptions { lowercase: false, strip_accents: false, ..Default::default() };
        assert_eq!(tokens_of(keep, "Café DE-Flore é Σ ΣΣ"), ["Café", "DE-Flore", "ΣΣ"]);
        let lower = TokenizerOptions { strip_accents: false, ..Default::default() };
        assert_eq!(tokens_of(lower, "Café ÉTÉ a\u{300}b"), ["café", "été"]);
        assert_eq!(tokens_of(lower, "ΟΔΟΣ İx"), ["οδος"]);
        let strip = TokenizerOptions { lowercase: false, ..Default::default() };
        assert_eq!(tokens_of(strip, "Café ÉTÉΣ"), ["Cafe", "ETEΣ"]);
    }

    #[test]
    fn capital_sigma_is_left_to_the_host() {
        assert_eq!(words_of("ΟΔΟΣ ΣΑΣ"), ["οδος", "σας"]);
        // The capital lunate sigma decomposes to a capital sigma.
        assert_eq!(words_of("ΟΔΟϹ"), ["οδος"]);
    }

    #[test]
    fn nothing_is_given_before_all_is_ready() {
        let tokenizer = Tokenizer::new(TokenizerOptions::default()).expect("valid options");
        let (mut scratch, hasher) = (Scratch::new(), RandomState::new());
        let mut never = |_: Token<'_>| panic!("a token");
        let done = tokenizer.tokenize("plain words é", &mut scratch, &hasher, &mut never);
        assert_eq!(done, Err(NotReady::MissingPage(0)));
        let done = tokenizer.tokenize_folded("plain words é", &mut scratch, &hasher, &mut never);
        assert_eq!(done, Err(NotReady::MissingPage(0)));
        assert!(!tokenizer.needs_host_fold("plain Σ"));
        assert_eq!(
            NotReady::MissingPage(3).to_string(),
            "no facts yet for the characters of page 3"
        );
    }

    #[test]
    fn random_texts_give_what_the_pattern_matches() {
        let plain: Vec<char> = "aZ09_-- .,\n@[`{\0/:".chars().collect();
        let mixed: Vec<char> = "aZ0_-- .é日…½😀\u{301}\u{fdfa}Σ\u{a0}".chars().collect();
        let keep =
            TokenizerOptions { lowercase: false, strip_accents: false, ..Default::default() };
        let mut state = 3;
        for round in 0..1000 {
            let alphabet = if round % 2 == 0 { &plain } else { &mixed };
            let len = random(&mut state) % 200;
            // Long runs of one kind now and then, over the edges of blocks and words of bits.
            let mut text = String::new();
            while text.chars().count() < len {
                let character = alphabet[random(&mut state) % alphabet.len()];
                let times = 1 + random(&mut state) % 70
                    * usize::from(random(&mut state).is_multiple_of(16));
                text.extend(std::iter::repeat_n(character, times));
            }
            assert_eq!(tokens_of(keep, &text), matches(&text), "{text:?}");
            let folded = StandardFacts::folded(TokenizerOptions::default().folding(), &text);
            assert_eq!(words_of(&text), matches(&folded), "{text:?}");
        }
    }

    #[test]
    fn both_ways_to_classify_agree() {
        for byte in 0..=255 {
            for case_bit in [0, 0x20] {
                let block = u128::from_le_bytes([byte; BLOCK]) >> 8;
                let check = |block: Block| (block.folded, block.bits, block.other, block.hyphens);
                let folded = |spaces: bool| {
                    let (a, b) = if spaces {
                        (
                            classify::<true>(block, case_bit),
                            classify_portably::<true>(block, case_bit),
                        )
                    } else {
                        (
                            classify::<false>(block, case_bit),
                            classify_portably::<false>(block, case_bit),
                        )
                    };
                    let (a, b) = (check(a), check(b));
                    // What a non-ASCII byte folds to or is, is never used.
                    if byte < 0x80 {
                        assert_eq!(a, b, "{byte:#x}");
                    }
                    assert_eq!(a.2, b.2, "{byte:#x}");
                    a
                };
                let (words, spaces) = (folded(false), folded(true));
                if byte < 0x80 {
                    let character = char::from(byte);
                    let class = StandardFacts::class(character);
                    let run = class == crate::unicode::CharacterClass::Word || byte == b'-';
                    let space = class == crate::unicode::CharacterClass::Space;
                    assert_eq!(
                        (words.1 & 1, spaces.1 & 1),
                        (run.into(), space.into()),
                        "{byte:#x}"
                    );
                    let lower = if case_bit == 0 { byte } else { byte.to_ascii_lowercase() };
                    assert_eq!(words.0 as u8, lower);
                }
            }
        }
    }

    #[test]
    fn word_ngrams_come_shortest_first() {
        let of = |range| tokens_of(options(Analyzer::Word, range), "One two, a three!");
        assert_eq!(of((1, 2)), ["one", "two", "three", "one two", "two three"]);
        assert_eq!(of((2, 3)), ["one two", "two three", "one two three"]);
        assert_eq!(of((4, 5)), [""; 0]);
    }

    #[test]
    fn char_ngrams_reduce_white_space() {
        let of = |range, text: &str| tokens_of(options(Analyzer::Char, range), text);
        assert_eq!(of((1, 2), "Ab\n c"), ["a", "b", " ", "c", "ab", "b ", " c"]);
        assert_eq!(of((1, 1), "a\nb\u{3000}\u{3000}é"), ["a", "\n", "b", " ", "e"]);
        assert_eq!(of((3, 3), "日本"), [""; 0]);
        assert_eq!(of((2, 2), "日本語"), ["日本", "本語"]);
        let nul = of((1, 2), "\0");
        assert_eq!(nul, ["\0"]);
    }

    #[test]
    fn char_ngrams_within_words_are_padded() {
        let of = |range, text: &str| tokens_of(options(Analyzer::CharWithinWords, range), text);
        assert_eq!(of((2, 3), "ab  c"), [" a", "ab", "b ", " ab", "ab ", " c", "c ", " c "]);
        assert_eq!(of((4, 6), "a 日é\u{301}"), [" a ", " 日e "]);
        assert_eq!(of((2, 2), " \n\t "), [""; 0]);
    }

    #[test]
    fn limits_hold() {
        let base = TokenizerOptions::default();
        let short = TokenizerOptions { max_token_length: Some(3), ..base };
        assert_eq!(tokens_of(short, "one three two a-b- long-er"), ["one", "two", "a-b"]);
        assert_eq!(tokens_of(short, "one three two"), ["one", "two"]);
        assert_eq!(tokens_of(short, "日本語 日本語語 éèé"), ["日本語", "eee"]);
        let pairs = TokenizerOptions { ngram_range: (2, 2), ..short };
        assert_eq!(tokens_of(pairs, "one three two"), ["one two"]);
        let within = TokenizerOptions { analyzer: Analyzer::CharWithinWords, ..pairs };
        assert_eq!(tokens_of(within, "ab long"), [" a", "ab", "b "]);
        for (analyzer, tokens) in [
            (Analyzer::Word, ["aa", "bb"]),
            (Analyzer::Char, ["a", "a"]),
            (Analyzer::CharWithinWords, [" ", "a"]),
        ] {
            for ngram_range in [(1, 1), (1, 3)] {
                let few = TokenizerOptions { analyzer, ngram_range, max_tokens: Some(2), ..base };
                assert_eq!(tokens_of(few, "aa bb cc dd"), tokens);
            }
        }
    }

    #[test]
    fn bad_options_are_refused() {
        let base = TokenizerOptions::default();
        let check = |options: TokenizerOptions| options.validate();
        assert_eq!(check(base), Ok(()));
        for (ngram_range, error) in [
            ((0, 1), OptionsError::ZeroNgram),
            ((2, 1), OptionsError::ReversedNgramRange { min: 2, max: 1 }),
            ((1, 256), OptionsError::LongNgram { max: 256 }),
        ] {
            assert_eq!(check(TokenizerOptions { ngram_range, ..base }), Err(error));
        }
        let none = TokenizerOptions { max_token_length: Some(0), ..base };
        assert_eq!(check(none), Err(OptionsError::ZeroTokenLength));
        let none = TokenizerOptions { max_tokens: Some(0), ..base };
        assert_eq!(Tokenizer::new(none).err(), Some(OptionsError::ZeroTokens));
        assert_eq!(
            OptionsError::ReversedNgramRange { min: 2, max: 1 }.to_string(),
            "the n-gram range ends at 1, before its start at 2"
        );
    }

    #[test]
    fn a_huge_message_leaves_no_huge_buffers() {
        let tokenizer = Tokenizer::new(TokenizerOptions::default()).expect("valid options");
        let (mut scratch, hasher) = (Scratch::new(), RandomState::new());
        let mut count = 0;
        let text = "word ".repeat(1 << 18);
        let done = tokenizer.tokenize(&text, &mut scratch, &hasher, |_| count += 1);
        assert_eq!((done, count), (Ok(()), 1 << 18));
        assert_eq!(scratch.folded.capacity(), 0);
        let done = tokenizer.tokenize("two words", &mut scratch, &hasher, |_| count += 1);
        assert_eq!((done, count), (Ok(()), (1 << 18) + 2));
    }
}
