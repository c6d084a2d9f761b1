//! The distinct tokens of a text: each is looked up once, and all are looked up together.

use crate::text::token::{BLOCK, Token};

/// Buffers for more tokens than this are freed before the next text.
const KEPT: usize = 1 << 14;

/// A token that occurs `count` times in the text.
#[derive(Clone, Copy, Debug)]
struct Distinct {
    /// The token's key; the key of a short token contains its bytes.
    key: [u8; BLOCK],
    hash: u64,
    count: f64,
    /// The position of the bytes of a long token.
    start: usize,
    end: usize,
}

impl Distinct {
    fn token<'a>(&'a self, bytes: &'a [u8]) -> Token<'a> {
        let bytes = match usize::from(self.key[BLOCK - 1]) {
            length @ 0..BLOCK => &self.key[..length],
            _ => &bytes[self.start..self.end],
        };
        Token { bytes, key: u128::from_le_bytes(self.key), hash: self.hash }
    }
}

/// The distinct tokens of one text.
#[derive(Clone, Copy)]
pub struct Tokens<'a> {
    tokens: &'a [Distinct],
    bytes: &'a [u8],
}

impl<'a> Tokens<'a> {
    /// Number of tokens.
    pub fn number(self) -> usize {
        self.tokens.len()
    }

    /// The token at a place.
    pub fn token(self, place: usize) -> Token<'a> {
        self.tokens[place].token(self.bytes)
    }

    /// The key and the hash of the token at a place.
    #[inline(always)]
    pub fn key(self, place: usize) -> (u128, u64) {
        let Distinct { key, hash, .. } = self.tokens[place];
        (u128::from_le_bytes(key), hash)
    }

    /// How often the token at a place occurs.
    #[inline(always)]
    pub fn count(self, place: usize) -> f64 {
        self.tokens[place].count
    }
}

/// Tokens with their counts, in order of first appearance; reused from text to text.
#[derive(Debug, Default)]
pub struct DistinctTokens {
    tokens: Vec<Distinct>,
    /// The bytes of long tokens.
    bytes: Vec<u8>,
    /// An open hash table: the number of the text in the upper half, the place in `tokens` in the
    /// lower half. Slots of other texts are free.
    slots: Vec<u64>,
    text: u32,
}

impl DistinctTokens {
    /// Begin another text.
    pub fn clear(&mut self) {
        if self.slots.len() > 2 * KEPT
            || self.bytes.capacity() > BLOCK * KEPT
            || self.text == u32::MAX
        {
            *self = Self::default();
        }
        self.tokens.clear();
        self.bytes.clear();
        self.text += 1;
    }

    /// Add a token of the text that [`clear`](Self::clear) began.
    #[inline]
    pub fn add(&mut self, token: &Token<'_>) {
        if 2 * self.tokens.len() >= self.slots.len() {
            self.grow();
        }
        let key = token.key.to_le_bytes();
        let mask = self.slots.len() - 1;
        let mut slot = token.hash as usize & mask;
        while (self.slots[slot] >> 32) as u32 == self.text {
            let known = &mut self.tokens[self.slots[slot] as u32 as usize];
            let same = known.key == key
                && (token.is_short() || &self.bytes[known.start..known.end] == token.bytes);
            if same {
                known.count += 1.0;
                return;
            }
            slot = (slot + 1) & mask;
        }
        self.slots[slot] = u64::from(self.text) << 32 | self.tokens.len() as u64;
        let start = self.bytes.len();
        if !token.is_short() {
            self.bytes.extend_from_slice(token.bytes);
        }
        let end = self.bytes.len();
        self.tokens.push(Distinct { key, hash: token.hash, count: 1.0, start, end });
    }

    /// Double the size of the table.
    #[cold]
    fn grow(&mut self) {
        let size = (2 * self.slots.len()).max(256);
        self.slots.clear();
        self.slots.resize(size, 0);
        for (place, token) in self.tokens.iter().enumerate() {
            let mut slot = token.hash as usize & (size - 1);
            while self.slots[slot] != 0 {
                slot = (slot + 1) & (size - 1);
            }
            self.slots[slot] = u64::from(self.text) << 32 | place as u64;
        }
    }

    /// All tokens.
    pub fn all(&self) -> Tokens<'_> {
        Tokens { tokens: &self.tokens, bytes: &self.bytes }
    }

    /// Heap size in bytes.
    pub fn size(&self) -> usize {
        self.tokens.capacity() * size_of::<Distinct>()
            + self.bytes.capacity()
            + self.slots.capacity() * size_of::<u64>()
    }
}

/// The distinct tokens of several texts, stored to be looked up later.
#[derive(Debug, Default)]
pub struct TokenizedTexts {
    tokens: Vec<Distinct>,
    bytes: Vec<u8>,
    /// The end of the tokens of each text.
    ends: Vec<usize>,
}

impl TokenizedTexts {
    /// Add another text.
    pub fn push(&mut self, text: &DistinctTokens) {
        let base = self.bytes.len();
        let moved = |token: &Distinct| {
            let (start, end) = (token.start + base, token.end + base);
            Distinct { start, end, ..*token }
        };
        self.tokens.extend(text.tokens.iter().map(moved));
        self.bytes.extend_from_slice(&text.bytes);
        self.ends.push(self.tokens.len());
    }

    /// The tokens of a text.
    pub fn text(&self, place: usize) -> Tokens<'_> {
        let start = if place == 0 { 0 } else { self.ends[place - 1] };
        Tokens { tokens: &self.tokens[start..self.ends[place]], bytes: &self.bytes }
    }
}
