//! The first pass: fold a message and mark the bytes of its runs, one bit for each byte.

use super::blocks::{Block, block_at, classify};
use crate::text::token::BLOCK;
use crate::text::unicode::{FoldTable, Folding};

/// Bytes that the buffer has after the text, so that whole blocks can be read and written.
pub(super) const SLACK: usize = 2 * BLOCK;
/// Buffers that grew beyond this number of bytes are freed after the message.
const KEPT_BYTES: usize = 1 << 20;

/// A word in the folded text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    pub(super) start: usize,
    pub(super) end: usize,
    /// Whether it follows the word before it without a space, in a script without spaces.
    pub(super) tight: bool,
}

/// Buffers that are reused from message to message; one for each thread.
#[derive(Debug, Default)]
pub struct Scratch {
    /// The folded text, followed by at least `SLACK` undefined bytes.
    pub(super) folded: Vec<u8>,
    /// One bit for each byte of the folded text, then zeros up to the end of the word after the
    /// last.
    pub(super) bits: Vec<u64>,
    /// Whether the folded text is ASCII without hyphens.
    pub(super) plain: bool,
    /// The words of the folded text, if they are needed more than once.
    pub(super) spans: Vec<Span>,
    /// Words or characters joined by spaces, for n-grams.
    pub(super) joined: Vec<u8>,
    /// The positions of the words in `joined`.
    pub(super) places: Vec<(usize, usize)>,
    /// The prefix of each token.
    pub(super) prefix: Vec<u8>,
    /// A token after its prefix.
    pub(super) prefixed: Vec<u8>,
}

impl Scratch {
    /// Free the memory of a huge message.
    pub(super) fn shrink(&mut self) {
        let spans = self.spans.capacity() * size_of::<Span>();
        let places = self.places.capacity() * size_of::<(usize, usize)>();
        // The bits need an eighth of the text's bytes.
        let texts = [&self.folded, &self.joined, &self.prefixed].map(Vec::capacity);
        if texts.into_iter().fold(spans.max(places), usize::max) > KEPT_BYTES {
            *self = Self::default();
        }
    }
}

/// Write the folded text and its bits to the scratch; return the folded text's length.
///
/// The bits mark `[\w-]`, or white space if `SPACES`.
pub(super) fn fold<const SPACES: bool>(
    table: &FoldTable,
    text: &str,
    scratch: &mut Scratch,
) -> usize {
    match fold_characters::<SPACES>(table, text, scratch) {
        Some(len) => len,
        None => fold_whole::<SPACES>(table, text, scratch),
    }
}

/// Fold a text whose lowering depends on more than single characters.
#[cold]
fn fold_whole<const SPACES: bool>(table: &FoldTable, text: &str, scratch: &mut Scratch) -> usize {
    let folded = table.folding().fold(text);
    // A table that does not lower needs no context.
    let kept = FoldTable::of(Folding::default());
    fold_characters::<SPACES>(kept, &folded, scratch).unwrap_or_default()
}

/// Fold each character by itself; None if one of them depends on its context.
fn fold_characters<const SPACES: bool>(
    table: &FoldTable,
    text: &str,
    scratch: &mut Scratch,
) -> Option<usize> {
    let case_bit = if table.folding().lowercase { 0x20 } else { 0 };
    scratch.plain = false;
    let bytes = text.as_bytes();
    let mut out = Output::new(scratch, bytes.len());
    let mut at = out.push_plain::<SPACES>(bytes, case_bit);
    if at == bytes.len() {
        return Some(out.finish(true));
    }
    while at < bytes.len() {
        let (block, count) = block_at(bytes, at);
        let classified = classify::<SPACES>(block, case_bit);
        // The padding of a last block is ASCII, so there is no need to mask it here.
        let ascii = (classified.other.trailing_zeros() as usize).min(count);
        out.push_ascii(&classified, ascii);
        at += ascii;
        if classified.other != 0 {
            at += fold_others::<SPACES>(table, &text[at..], &mut out)?;
        }
    }
    Some(out.finish(false))
}

/// Fold the characters before the next ASCII character; return the number of bytes read.
fn fold_others<const SPACES: bool>(
    table: &FoldTable,
    text: &str,
    out: &mut Output<'_>,
) -> Option<usize> {
    for (at, character) in text.char_indices() {
        if character.is_ascii() {
            return Some(at);
        }
        let code = u32::from(character);
        let page = table.page(code);
        let entry = page.entry(code as u8);
        if entry.is_sigma() {
            return None;
        }
        let pieces = page.folded(&entry);
        out.reserve(text.len() - at + 4 * pieces.len());
        for piece in pieces {
            let bit = if SPACES { piece.is_space() } else { piece.is_run() };
            out.push(piece.bytes, usize::from(piece.len), bit);
        }
    }
    Some(text.len())
}

/// Writes the folded text and its bits.
struct Output<'a> {
    text: &'a mut Vec<u8>,
    bits: &'a mut Vec<u64>,
    plain: &'a mut bool,
    len: usize,
    /// The last, incomplete word of bits.
    word: u64,
    /// Whether an ASCII text has hyphens.
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

    /// Make room for `more` bytes of text.
    #[inline]
    fn reserve(&mut self, more: usize) {
        let needed = self.len + more + SLACK;
        if self.text.len() < needed {
            self.grow(needed);
        }
    }

    #[cold]
    fn grow(&mut self, needed: usize) {
        // Twice the size, so that a text that grows while it is folded rarely gets here.
        self.text.resize(2 * needed, 0);
        self.bits.resize(2 * needed / 64 + 3, 0);
    }

    /// Append text up to about the first non-ASCII byte; return the length of that part.
    ///
    /// This is the hot path. Every word of bits consists of four blocks at fixed positions, so all
    /// shifts are constant.
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

    /// Append up to 16 bits.
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

    /// Append the first `count` bytes of the block.
    #[inline(always)]
    fn push_ascii(&mut self, block: &Block, count: usize) {
        self.text[self.len..self.len + BLOCK].copy_from_slice(&block.folded.to_le_bytes());
        self.push_bits(u64::from(block.bits) & ((1 << count) - 1), count);
    }

    /// Append a character of `len` bytes.
    #[inline(always)]
    fn push(&mut self, bytes: [u8; 4], len: usize, bit: bool) {
        self.text[self.len..self.len + 4].copy_from_slice(&bytes);
        self.push_bits(if bit { (1 << len) - 1 } else { 0 }, len);
    }

    /// End the bits with zeros; return the text's length.
    fn finish(self, ascii: bool) -> usize {
        *self.plain = ascii && !self.hyphens;
        self.bits[self.len / 64] = self.word;
        self.bits[self.len / 64 + 1] = 0;
        self.len
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_huge_message_leaves_no_huge_buffers() {
        let mut scratch = Scratch::default();
        let table = FoldTable::of(Folding::default());
        fold::<false>(table, &"word ".repeat(1 << 18), &mut scratch);
        scratch.shrink();
        assert_eq!(scratch.folded.capacity(), 0);
        fold::<false>(table, "two words", &mut scratch);
        scratch.shrink();
        assert!(scratch.folded.capacity() > 0);
    }
}
