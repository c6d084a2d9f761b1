//! Where tokens go: counted, and prefixed if there are several kinds of tokens or fields.

use std::hash::BuildHasher;
use std::ops::ControlFlow;

use super::fold::Scratch;
use crate::text::token::{BLOCK, Token};

/// Prefix of n-grams of characters, if there are other kinds of tokens. No word begins with white
/// space, so an n-gram never equals a word of the same letters.
pub(super) const CHARACTERS_MARK: u8 = b'\t';
/// Prefix of n-grams of the characters within words, if there are other kinds of tokens.
pub(super) const WITHIN_WORDS_MARK: u8 = 0x0b;
/// Prefix of the length of the message.
pub(super) const LENGTH_MARK: u8 = 0x0c;

/// Whether a token is a word or a run of words: it has no mark, unless there is only one kind.
pub(crate) fn is_word(token: &[u8]) -> bool {
    !token.iter().any(|byte| matches!(*byte, CHARACTERS_MARK | WITHIN_WORDS_MARK | LENGTH_MARK))
}

/// Receives tokens and breaks at the maximum number of tokens.
pub(super) trait TokenSink {
    /// Receive the bytes from `start` to `end`; the buffer has room for a block after `start`.
    fn push(&mut self, buffer: &[u8], start: usize, end: usize) -> ControlFlow<()>;

    /// Set the prefix of the kind of the next tokens.
    fn set_mark(&mut self, mark: Option<u8>);
}

/// Emits tokens unchanged.
pub(super) struct PlainSink<'a, S, E> {
    pub(super) hasher: &'a S,
    pub(super) emit: E,
    /// Tokens that may still be emitted, 1 or more.
    pub(super) left: usize,
}

impl<S: BuildHasher, E: FnMut(Token<'_>)> TokenSink for PlainSink<'_, S, E> {
    #[inline(always)]
    fn push(&mut self, buffer: &[u8], start: usize, end: usize) -> ControlFlow<()> {
        (self.emit)(Token::within(self.hasher, buffer, start, end));
        count_down(&mut self.left)
    }

    fn set_mark(&mut self, _: Option<u8>) {}
}

/// Emits tokens after the name of their field and the mark of their kind.
pub(super) struct PrefixSink<'a, S, E> {
    plain: PlainSink<'a, S, E>,
    /// Whether kinds are marked.
    marked: bool,
    /// The prefix; its first `field` bytes name the field.
    prefix: Vec<u8>,
    field: usize,
    /// A token after its prefix.
    prefixed: Vec<u8>,
}

impl<'a, S, E> PrefixSink<'a, S, E> {
    /// A sink that borrows buffers of the scratch until it [gives them back](Self::give_back).
    pub(super) fn new(plain: PlainSink<'a, S, E>, marked: bool, scratch: &mut Scratch) -> Self {
        let mut prefix = std::mem::take(&mut scratch.prefix);
        prefix.clear();
        let prefixed = std::mem::take(&mut scratch.prefixed);
        Self { plain, marked, prefix, field: 0, prefixed }
    }

    pub(super) fn give_back(self, scratch: &mut Scratch) {
        (scratch.prefix, scratch.prefixed) = (self.prefix, self.prefixed);
    }

    /// Put the name of a field before the next tokens.
    pub(super) fn enter_field(&mut self, field: &str) {
        self.prefix.clear();
        if !field.is_empty() {
            self.prefix.extend_from_slice(field.as_bytes());
            self.prefix.extend_from_slice(b": ");
        }
        self.field = self.prefix.len();
    }
}

impl<S: BuildHasher, E: FnMut(Token<'_>)> TokenSink for PrefixSink<'_, S, E> {
    #[inline(always)]
    fn push(&mut self, buffer: &[u8], start: usize, end: usize) -> ControlFlow<()> {
        let PlainSink { hasher, emit, left } = &mut self.plain;
        let block = &mut [0; BLOCK];
        let marked = match *self.prefix.as_slice() {
            [mark] => Token::prefixed(*hasher, mark, buffer, start, end, block),
            _ => None,
        };
        // One call for each kind of token, so that the compiler knows short ones.
        if let Some(token) = marked {
            emit(token);
        } else if self.prefix.is_empty() {
            emit(Token::within(*hasher, buffer, start, end));
        } else {
            emit(join(*hasher, &self.prefix, &buffer[start..end], &mut self.prefixed));
        }
        count_down(left)
    }

    fn set_mark(&mut self, mark: Option<u8>) {
        if self.marked {
            self.prefix.truncate(self.field);
            self.prefix.extend(mark);
        }
    }
}

#[inline(always)]
fn count_down(left: &mut usize) -> ControlFlow<()> {
    *left -= 1;
    if *left == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
}

#[inline(never)]
fn join<'a, S: BuildHasher>(
    hasher: &S,
    prefix: &[u8],
    bytes: &[u8],
    prefixed: &'a mut Vec<u8>,
) -> Token<'a> {
    prefixed.clear();
    prefixed.extend_from_slice(prefix);
    prefixed.extend_from_slice(bytes);
    Token::new(hasher, prefixed)
}
