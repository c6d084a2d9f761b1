//! The distinct tokens of a text: each is looked up once, and all are looked up together.

use crate::text::token::{BLOCK, LONG, Token};
use std::hint::select_unpredictable;

/// Buffers for more tokens than this are freed before the next text.
const KEPT: usize = 1 << 14;

/// Number of slots for each token of a text.
const SPREAD: usize = 2;

/// Bits of a long token's key that are 0.
const UNUSED: u32 = 56;

/// A token that occurs `count` times in the text.
#[derive(Clone, Copy, Debug, Default)]
struct Distinct {
    /// The token's key. A short token's key contains its bytes; the lowest bits of a long token's key
    /// are replaced by the position of its length and its bytes.
    key: [u8; BLOCK],
    hash: u64,
    count: f64,
}

impl Distinct {
    fn token<'a>(&'a self, bytes: &'a [u8]) -> Token<'a> {
        let (key, hash) = (u128::from_le_bytes(self.key), self.hash);
        match usize::from(self.key[BLOCK - 1]) {
            length @ 0..BLOCK => Token { bytes: &self.key[..length], key, hash },
            _ => Token { bytes: long_bytes(key, bytes), key: key >> UNUSED << UNUSED, hash },
        }
    }
}

/// The bytes of a long token.
fn long_bytes(key: u128, bytes: &[u8]) -> &[u8] {
    let start = (key & ((1 << UNUSED) - 1)) as usize;
    match bytes[start..].split_first_chunk() {
        Some((&length, rest)) => &rest[..usize::from_le_bytes(length)],
        None => &[],
    }
}

/// Whether two keys belong to equal long tokens. Not inlined, so that short tokens are merged in
/// registers.
#[inline(never)]
fn is_same_long(one: u128, other: u128, bytes: &[u8]) -> bool {
    let same_hash = one >> UNUSED == other >> UNUSED;
    same_hash && long_bytes(one, bytes) == long_bytes(other, bytes)
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

/// The tokens of a text; reused from text to text.
#[derive(Debug, Default)]
pub struct DistinctTokens {
    tokens: Vec<Distinct>,
    /// The lengths and the bytes of long tokens.
    bytes: Vec<u8>,
    /// An open hash table: the number of its use in the upper half, the place in `tokens` in the
    /// lower half. Slots of other uses are free.
    slots: Vec<u64>,
    uses: u32,
}

impl DistinctTokens {
    /// Begin another text.
    pub fn clear(&mut self) {
        if self.tokens.capacity() > KEPT || self.bytes.capacity() > BLOCK * KEPT {
            *self = Self::default();
        }
        self.tokens.clear();
        self.bytes.clear();
    }

    /// Add a token of the text that [`clear`](Self::clear) began.
    #[inline(always)]
    pub fn add(&mut self, token: &Token<'_>) {
        if self.tokens.len() == self.tokens.capacity() {
            self.make_room();
        }
        let key = if token.is_short() { token.key } else { self.put_long(token.key, token.bytes) };
        self.tokens.push(Distinct { key: key.to_le_bytes(), hash: token.hash, count: 1.0 });
    }

    /// Put the bytes of a long token; return its key with their position.
    #[inline(never)]
    fn put_long(&mut self, key: u128, bytes: &[u8]) -> u128 {
        let start = self.bytes.len() as u128;
        self.bytes.extend_from_slice(&bytes.len().to_le_bytes());
        self.bytes.extend_from_slice(bytes);
        key >> UNUSED << UNUSED | start
    }

    /// Merge equal tokens, and double the memory if most are different.
    ///
    /// This copies the bytes of long tokens. The room is proportional to them, so a giant token that
    /// many short ones follow is not copied for each few of these.
    #[cold]
    fn make_room(&mut self) {
        self.count();
        let bytes = std::mem::take(&mut self.bytes);
        for place in 0..self.tokens.len() {
            let key = u128::from_le_bytes(self.tokens[place].key);
            if key >= LONG {
                self.tokens[place].key = self.put_long(key, long_bytes(key, &bytes)).to_le_bytes();
            }
        }
        let room = (self.bytes.len() / size_of::<Distinct>()).max(256);
        self.tokens.reserve(self.tokens.len().max(room));
    }

    /// Merge equal tokens once all are added; they are in order of first appearance.
    pub fn count(&mut self) {
        let Self { tokens, bytes, slots, uses } = self;
        let size = (SPREAD * tokens.len()).next_power_of_two();
        if slots.len() < size || *uses == u32::MAX {
            (*slots, *uses) = (vec![0; size.max(1024)], 0);
        }
        *uses += 1;
        let (mask, mut number) = (slots.len() - 1, 0);
        for place in 0..tokens.len() {
            let Distinct { key, hash, count } = tokens[place];
            let key = u128::from_le_bytes(key);
            // No branch depends on whether the token is new, which is unpredictable.
            tokens[number] = Distinct { count: 0.0, ..tokens[place] };
            let mut slot = hash as usize & mask;
            loop {
                let is_free = (slots[slot] >> 32) as u32 != *uses;
                let first = select_unpredictable(is_free, number, slots[slot] as u32 as usize);
                let known = &mut tokens[first];
                let known_key = u128::from_le_bytes(known.key);
                if known_key == key || (key >= LONG && is_same_long(known_key, key, bytes)) {
                    known.count += count;
                    slots[slot] = u64::from(*uses) << 32 | first as u64;
                    number += usize::from(is_free);
                    break;
                }
                slot = (slot + 1) & mask;
            }
        }
        tokens.truncate(number);
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
        let base = self.bytes.len() as u128;
        let moved = |token: &Distinct| {
            let key = u128::from_le_bytes(token.key);
            let key = if key < LONG { key } else { key + base };
            Distinct { key: key.to_le_bytes(), ..*token }
        };
        self.tokens.extend(text.all().tokens.iter().map(moved));
        self.bytes.extend_from_slice(&text.bytes);
        self.ends.push(self.tokens.len());
    }

    /// The tokens of a text.
    pub fn text(&self, place: usize) -> Tokens<'_> {
        let start = if place == 0 { 0 } else { self.ends[place - 1] };
        Tokens { tokens: &self.tokens[start..self.ends[place]], bytes: &self.bytes }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use foldhash::fast::RandomState;

    #[test]
    fn a_giant_token_is_copied_rarely() {
        let (hasher, giant) = (RandomState::default(), vec![b'x'; 1 << 20]);
        let mut tokens = DistinctTokens::default();
        tokens.add(&Token::new(&hasher, &giant));
        let mut copies = 0;
        for _ in 0..100_000 {
            copies += usize::from(tokens.tokens.len() == tokens.tokens.capacity());
            tokens.add(&Token::new(&hasher, b"x"));
        }
        tokens.count();
        let all = tokens.all();
        assert_eq!((all.number(), all.count(0), all.count(1)), (2, 1.0, 100_000.0));
        assert_eq!(all.token(0).bytes, giant);
        assert!(copies < 10, "{copies}");
    }
}
