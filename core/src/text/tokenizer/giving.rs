//! Tokens on their way out: counted, and marked where kinds of tokens come together.

use std::hash::BuildHasher;
use std::ops::ControlFlow;

use crate::text::token::{BLOCK, Token};

/// Stands before n-grams of characters where there are other kinds of tokens. No word holds white
/// space, and none begins with it, so that an n-gram is never taken for a word of the same letters.
pub(super) const CHARACTERS_MARK: u8 = b'\t';
/// Stands before n-grams of the characters within words where there are other kinds of tokens.
pub(super) const WITHIN_WORDS_MARK: u8 = 0x0b;

/// Stands before the length of the message.
pub(super) const LENGTH_MARK: u8 = 0x0c;

/// Takes tokens until there are enough of them.
pub(super) trait Give {
    /// Gives the bytes from `start` to `end` of a buffer with room for a block behind their start.
    fn give(&mut self, buffer: &[u8], start: usize, end: usize) -> ControlFlow<()>;

    /// Puts a mark before the tokens that follow, if kinds are marked; none is of no kind.
    fn mark(&mut self, mark: Option<u8>);
}

/// Gives tokens as they are.
pub(super) struct Plain<'a, S, E> {
    pub(super) hasher: &'a S,
    pub(super) emit: E,
    /// Tokens that may still be given, 1 or more.
    pub(super) left: usize,
}

impl<S: BuildHasher, E: FnMut(Token<'_>)> Give for Plain<'_, S, E> {
    #[inline(always)]
    fn give(&mut self, buffer: &[u8], start: usize, end: usize) -> ControlFlow<()> {
        (self.emit)(Token::within(self.hasher, buffer, start, end));
        count_down(&mut self.left)
    }

    fn mark(&mut self, _: Option<u8>) {}
}

/// Gives tokens with the name of their field and the mark of their kind before them.
pub(super) struct Led<'a, S, E> {
    pub(super) plain: Plain<'a, S, E>,
    /// Whether kinds are marked.
    pub(super) marked: bool,
    /// What stands before each token; of this, so many bytes name the field.
    pub(super) lead: Vec<u8>,
    pub(super) field: usize,
    /// A token behind its lead.
    pub(super) led: Vec<u8>,
}

impl<S: BuildHasher, E: FnMut(Token<'_>)> Give for Led<'_, S, E> {
    #[inline(always)]
    fn give(&mut self, buffer: &[u8], start: usize, end: usize) -> ControlFlow<()> {
        let Plain { hasher, emit, left } = &mut self.plain;
        let block = &mut [0; BLOCK];
        let token = match *self.lead.as_slice() {
            [] => Some(Token::within(*hasher, buffer, start, end)),
            [mark] => Token::behind(*hasher, mark, buffer, start, end, block),
            _ => None,
        };
        match token {
            Some(token) => emit(token),
            None => emit(lead_on(*hasher, &self.lead, &buffer[start..end], &mut self.led)),
        }
        count_down(left)
    }

    fn mark(&mut self, mark: Option<u8>) {
        if self.marked {
            self.lead.truncate(self.field);
            self.lead.extend(mark);
        }
    }
}

impl<S, E> Led<'_, S, E> {
    /// Puts the name of a field before the tokens that follow.
    pub(super) fn enter(&mut self, field: &str) {
        self.lead.clear();
        if !field.is_empty() {
            self.lead.extend_from_slice(field.as_bytes());
            self.lead.extend_from_slice(b": ");
        }
        self.field = self.lead.len();
    }
}

#[inline(always)]
fn count_down(left: &mut usize) -> ControlFlow<()> {
    *left -= 1;
    if *left == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
}

#[inline(never)]
fn lead_on<'a, S: BuildHasher>(
    hasher: &S,
    lead: &[u8],
    bytes: &[u8],
    led: &'a mut Vec<u8>,
) -> Token<'a> {
    led.clear();
    led.extend_from_slice(lead);
    led.extend_from_slice(bytes);
    Token::new(hasher, led)
}
