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

    pub fn len(&self) -> usize {
        self.tokens.len()
    }

    pub fn is_empty(&self) -> bool {
        self.tokens.is_empty()
    }

    /// The token at a place.
    pub fn token(&self, place: usize) -> Token<'_> {
        self.tokens[place].token(&self.bytes)
    }

    /// The tokens with their counts.
    pub fn iter(&self) -> impl Iterator<Item = (Token<'_>, f64)> + Clone {
        self.tokens.iter().map(|distinct| (distinct.token(&self.bytes), distinct.count))
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
    /// Remove all texts; free large buffers.
    pub fn clear(&mut self) {
        if self.tokens.capacity() > 4 * KEPT || self.bytes.capacity() > 4 * BLOCK * KEPT {
            *self = Self::default();
        }
        self.tokens.clear();
        self.bytes.clear();
        self.ends.clear();
    }

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

    /// The tokens of a text with their counts.
    pub fn text(&self, place: usize) -> impl Iterator<Item = (Token<'_>, f64)> + Clone {
        let start = if place == 0 { 0 } else { self.ends[place - 1] };
        let tokens = self.tokens[start..self.ends[place]].iter();
        tokens.map(|distinct| (distinct.token(&self.bytes), distinct.count))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use foldhash::fast::FixedState;

    fn counts(tokens: &DistinctTokens) -> Vec<(&[u8], f64)> {
        let of_token = |place| (tokens.token(place).bytes, tokens.iter().nth(place).unwrap().1);
        (0..tokens.len()).map(of_token).collect()
    }

    #[test]
    fn tokens_are_counted_in_order_of_first_appearance() {
        let hasher = FixedState::default();
        let mut tokens = DistinctTokens::default();
        for words in [&["to", "a-word-of-16-byte", "", "to"][..], &["you", "to", "you", "you"]] {
            tokens.clear();
            words.iter().for_each(|word| tokens.add(&Token::new(&hasher, word.as_bytes())));
            let mut expected: Vec<(&[u8], f64)> = Vec::new();
            for word in words {
                match expected.iter_mut().find(|(known, _)| *known == word.as_bytes()) {
                    Some((_, count)) => *count += 1.0,
                    None => expected.push((word.as_bytes(), 1.0)),
                }
            }
            assert_eq!(counts(&tokens), expected);
        }
        let token = Token::new(&hasher, b"you");
        let found = tokens.token(0);
        assert_eq!((found.key, found.hash, found.is_short()), (token.key, token.hash, true));
    }

    #[test]
    fn tokenized_texts_keep_their_tokens() {
        let hasher = FixedState::default();
        let (mut tokens, mut texts) = (DistinctTokens::default(), TokenizedTexts::default());
        let cut: [&[&str]; 4] =
            [&["to", "a-word-of-16-byte", "to"], &[], &["b-word-of-16-byte", "you"], &["to"]];
        for round in 0..2 {
            texts.clear();
            for words in cut.iter().skip(round) {
                tokens.clear();
                words.iter().for_each(|word| tokens.add(&Token::new(&hasher, word.as_bytes())));
                texts.push(&tokens);
            }
            let text = |place| texts.text(place).map(|(token, count)| (token.bytes, count));
            assert_eq!(
                text(2 - round).collect::<Vec<_>>(),
                [(&b"b-word-of-16-byte"[..], 1.0), (b"you", 1.0)]
            );
            assert_eq!(text(1 - round).count(), 0);
            assert!(text(3 - round).eq([(&b"to"[..], 1.0)]));
        }
        tokens.clear();
        texts.clear();
        texts.push(&tokens);
        assert_eq!(texts.text(0).count(), 0);
    }

    #[test]
    fn tokens_with_equal_hashes_are_distinct_and_memory_is_freed() {
        let mut tokens = DistinctTokens::default();
        let words: Vec<String> =
            (0..40_000).map(|i| format!("{i}{}", "-".repeat(i % 20))).collect();
        tokens.clear();
        for round in 1..=2 {
            for (i, word) in words.iter().enumerate() {
                let token = Token::new(&FixedState::default(), word.as_bytes());
                tokens.add(&Token { hash: i as u64 / 8, ..token });
            }
            assert!(tokens.iter().all(|(_, count)| count == f64::from(round)));
        }
        assert!(tokens.iter().map(|(token, _)| token.bytes).eq(words.iter().map(String::as_bytes)));
        assert!(tokens.size() > 1 << 20);
        tokens.clear();
        assert_eq!((tokens.size(), tokens.is_empty()), (0, true));
    }
}
