//! The first sweep: folds a message and tells, bit by bit, where its runs go on.

use super::blocks::{Block, block_at, classify};
use super::scratch::SLACK;
use super::{NotReady, Scratch, Tokenizer};
use crate::text::token::BLOCK;
use crate::text::unicode::PAGE_SIZE;

impl Tokenizer {
    /// Writes the folded text and its bits to the scratch; gives the folded text's length.
    ///
    /// The bits tell `[\w-]`, or white space if `SPACES`.
    pub(super) fn fold<const FOLDED: bool, const SPACES: bool>(
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
