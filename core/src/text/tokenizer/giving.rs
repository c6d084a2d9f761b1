//! Tokens on their way out: counted, and marked where kinds of tokens come together.

use std::hash::BuildHasher;
use std::ops::ControlFlow;

use crate::text::token::{BLOCK, Token};

/// Stands before n-grams of characters where there are other kinds of tokens. No word holds white
/// space, and none begins with it, so that an n-gram is never taken for a word of the same letters.
pub(super) const CHARACTERS_MARK: u8 = b'\t';
/// Stands before n-grams of the characters within words where there are other kinds of tokens.
pub(super) const WITHIN_WORDS_MARK: u8 = 0x0b;

/// Gives tokens to `emit` until there are enough of them.
pub(super) struct Giver<'a, S, E> {
    pub(super) hasher: &'a S,
    pub(super) emit: E,
    /// Tokens that may still be given, 1 or more.
    pub(super) left: usize,
    /// What stands before each token.
    pub(super) lead: &'a mut Vec<u8>,
    /// A token behind its lead.
    pub(super) led: &'a mut Vec<u8>,
}

impl<S: BuildHasher, E: FnMut(Token<'_>)> Giver<'_, S, E> {
    /// Gives the bytes from `start` to `end` of a buffer with room for a block behind their start.
    #[inline(always)]
    pub(super) fn give(&mut self, buffer: &[u8], start: usize, end: usize) -> ControlFlow<()> {
        match *self.lead.as_slice() {
            [] => (self.emit)(Token::within(self.hasher, buffer, start, end)),
            [mark] => {
                let block = &mut [0; BLOCK];
                match Token::behind(self.hasher, mark, buffer, start, end, block) {
                    Some(token) => (self.emit)(token),
                    None => self.give_led(&buffer[start..end]),
                }
            }
            _ => self.give_led(&buffer[start..end]),
        }
        self.left -= 1;
        if self.left == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    /// Does the work with a mark behind what stands before each token, if that is wanted.
    #[inline]
    pub(super) fn mark<R>(
        &mut self,
        marked: bool,
        mark: u8,
        work: impl FnOnce(&mut Self) -> R,
    ) -> R {
        let length = self.lead.len();
        if marked {
            self.lead.push(mark);
        }
        let done = work(self);
        self.lead.truncate(length);
        done
    }

    fn give_led(&mut self, bytes: &[u8]) {
        self.led.clear();
        self.led.extend_from_slice(self.lead);
        self.led.extend_from_slice(bytes);
        (self.emit)(Token::new(self.hasher, self.led));
    }
}
