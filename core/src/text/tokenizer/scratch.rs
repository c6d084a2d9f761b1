//! The buffers of a tokenizer at work.

use crate::text::token::BLOCK;

/// Room that the buffer keeps behind the text, for whole blocks to be read and written.
pub(super) const SLACK: usize = 2 * BLOCK;
/// A buffer that grew beyond this, in bytes, is given back after the message.
const KEPT_BYTES: usize = 1 << 20;

/// A word in the folded text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    pub(super) start: usize,
    pub(super) end: usize,
    /// Whether it follows the word before it without a space, in a script that has none.
    pub(super) tight: bool,
}

/// Buffers that are used again from message to message. One for each thread.
#[derive(Debug, Default)]
pub struct Scratch {
    /// The folded text, and behind it at least `SLACK` bytes of no meaning.
    pub(super) folded: Vec<u8>,
    /// One bit for each byte of the folded text, and behind them zeros up to the end of a word
    /// that follows the last.
    pub(super) bits: Vec<u64>,
    /// Whether the folded text is of nothing but ASCII without hyphens.
    pub(super) plain: bool,
    /// The words of the folded text, where they are needed more than once.
    pub(super) spans: Vec<Span>,
    /// Words or characters put side by side with a space between them, for n-grams.
    pub(super) joined: Vec<u8>,
    /// Where the words lie in `joined`.
    pub(super) places: Vec<(usize, usize)>,
    /// What stands before each token.
    pub(super) lead: Vec<u8>,
    /// A token behind its lead.
    pub(super) led: Vec<u8>,
}

impl Scratch {
    /// Empty buffers.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Gives back memory that one huge message took, lest it be held for ever.
    pub(super) fn shrink(&mut self) {
        let spans = self.spans.capacity() * size_of::<Span>();
        let places = self.places.capacity() * size_of::<(usize, usize)>();
        // The bits take an eighth of what the text takes.
        let texts = [&self.folded, &self.joined, &self.led].map(Vec::capacity);
        if texts.into_iter().fold(spans.max(places), usize::max) > KEPT_BYTES {
            *self = Self::default();
        }
    }
}
