//! Words and their ids, found through a hash table. Ids are handed out in order of arrival, and
//! handed out again after a word was forgotten.
//!
//! A word of up to 15 bytes is its key: finding it compares two machine words and follows no
//! pointer. The bytes of longer words lie in one arena.

use crate::text::token::{BLOCK, LONG, Token, hash_key};
use foldhash::fast::RandomState;
use hashbrown::HashTable;
use std::hash::{BuildHasher, Hasher};

/// The id of a word. Ids are internal: snapshots know words by their bytes only.
pub type WordId = u32;

/// The highest byte of a long word's name; it is followed by 56 bits of the word's hash, then by
/// the start and the length of its bytes in the arena, 32 bits each.
const LONG_BYTE: u8 = (LONG >> 120) as u8;

/// A short word's key, or where a long one lies: 16 bytes, little-endian.
type Name = [u8; BLOCK];

/// A two-way map between words (any bytes) and ids.
#[derive(Clone)]
pub struct Vocabulary {
    names: Vec<Name>,
    arena: Vec<u8>,
    table: HashTable<WordId>,
    free: Vec<WordId>,
    garbage: usize,
    hasher: RandomState,
}

impl Default for Vocabulary {
    fn default() -> Self {
        Self::new()
    }
}

impl Vocabulary {
    pub fn new() -> Self {
        Vocabulary {
            names: Vec::new(),
            arena: Vec::new(),
            table: HashTable::new(),
            free: Vec::new(),
            garbage: 0,
            // Seeded anew in each process: whoever writes the messages can't aim at collisions.
            hasher: RandomState::default(),
        }
    }

    /// The hasher of the tokens that [`find`](Self::find) and [`intern`](Self::intern) take.
    pub fn hasher(&self) -> &RandomState {
        &self.hasher
    }

    /// The token of a word given as bytes.
    pub fn token<'a>(&self, word: &'a [u8]) -> Token<'a> {
        Token::new(&self.hasher, word)
    }

    /// How many words are known.
    pub fn len(&self) -> usize {
        self.table.len()
    }

    pub fn is_empty(&self) -> bool {
        self.table.is_empty()
    }

    /// One more than the largest id ever given out: the length of arrays indexed by word.
    pub fn slots(&self) -> usize {
        self.names.len()
    }

    /// The bytes of a word; empty for an id that is not in use.
    pub fn word(&self, id: WordId) -> &[u8] {
        word(&self.names[id as usize], &self.arena)
    }

    #[inline]
    pub fn find(&self, token: &Token<'_>) -> Option<WordId> {
        if !token.is_short() {
            return self.find_long(token);
        }
        let names = &self.names;
        self.table
            .find(token.hash, |&id| u128::from_le_bytes(names[id as usize]) == token.key)
            .copied()
    }

    #[inline(never)]
    fn find_long(&self, token: &Token<'_>) -> Option<WordId> {
        let same = |&id: &WordId| {
            let name = u128::from_le_bytes(self.names[id as usize]);
            name >> 64 == token.key >> 64 && self.word(id) == token.bytes
        };
        self.table.find(token.hash, same).copied()
    }

    /// The id of a token's word, which is added if it is new.
    #[inline]
    pub fn intern(&mut self, token: &Token<'_>) -> WordId {
        match self.find(token) {
            Some(id) => id,
            None => self.add(token),
        }
    }

    #[cold]
    fn add(&mut self, token: &Token<'_>) -> WordId {
        let name = if token.is_short() {
            token.key.to_le_bytes()
        } else {
            let start = self.arena.len() as u32;
            self.arena.extend_from_slice(token.bytes);
            long_name(token.key, start, token.bytes.len() as u32)
        };
        let id = match self.free.pop() {
            Some(id) => {
                self.names[id as usize] = name;
                id
            }
            None => {
                self.names.push(name);
                (self.names.len() - 1) as WordId
            }
        };
        let (names, arena, hasher) = (&self.names, &self.arena, &self.hasher);
        self.table.insert_unique(token.hash, id, |&other| {
            hash_name(hasher, &names[other as usize], arena)
        });
        id
    }

    /// Forgets a word; its id may be given to another word later.
    pub fn remove(&mut self, id: WordId) {
        let name = self.names[id as usize];
        let hash = hash_name(&self.hasher, &name, &self.arena);
        if let Ok(entry) = self.table.find_entry(hash, |&other| other == id) {
            entry.remove();
            if is_long(&name) {
                self.garbage += self.word(id).len();
            }
            self.names[id as usize] = [0; BLOCK];
            self.free.push(id);
            if self.garbage > 4096 && self.garbage > self.arena.len() / 2 {
                self.compact();
            }
        }
    }

    /// Ids in use, ordered by the bytes of their words.
    pub fn sorted_ids(&self) -> Vec<WordId> {
        let mut ids: Vec<WordId> = self.table.iter().copied().collect();
        ids.sort_unstable_by(|&a, &b| self.word(a).cmp(self.word(b)));
        ids
    }

    /// Room left before the arena's 32-bit offsets run out.
    pub fn has_room_for(&self, bytes: usize) -> bool {
        self.arena.len().saturating_add(bytes) < u32::MAX as usize
    }

    fn compact(&mut self) {
        let mut arena = Vec::with_capacity(self.arena.len() - self.garbage);
        for name in self.names.iter_mut().filter(|name| is_long(name)) {
            let bytes = word(name, &self.arena);
            let (start, length) = (arena.len() as u32, bytes.len() as u32);
            arena.extend_from_slice(bytes);
            *name = long_name(u128::from_le_bytes(*name), start, length);
        }
        self.arena = arena;
        self.garbage = 0;
    }

    /// Heap bytes held.
    pub fn size(&self) -> usize {
        self.arena.capacity()
            + self.names.capacity() * size_of::<Name>()
            + self.table.allocation_size()
            + self.free.capacity() * size_of::<WordId>()
    }
}

fn is_long(name: &Name) -> bool {
    name[BLOCK - 1] == LONG_BYTE
}

/// A long word's name, from the upper half of its key and where its bytes lie.
fn long_name(key: u128, start: u32, length: u32) -> Name {
    (key >> 64 << 64 | u128::from(start) << 32 | u128::from(length)).to_le_bytes()
}

fn word<'a>(name: &'a Name, arena: &'a [u8]) -> &'a [u8] {
    if is_long(name) {
        let name = u128::from_le_bytes(*name);
        let (start, length) = ((name >> 32) as u32 as usize, name as u32 as usize);
        &arena[start..start + length]
    } else {
        &name[..name[BLOCK - 1] as usize]
    }
}

fn hash_name<S: BuildHasher>(hasher: &S, name: &Name, arena: &[u8]) -> u64 {
    if is_long(name) {
        let mut state = hasher.build_hasher();
        state.write(word(name, arena));
        state.finish()
    } else {
        hash_key(hasher, u128::from_le_bytes(*name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn intern(vocabulary: &mut Vocabulary, word: &str) -> WordId {
        vocabulary.intern(&Token::new(&vocabulary.hasher.clone(), word.as_bytes()))
    }

    #[test]
    fn ids_follow_arrival_and_are_reused() {
        let mut vocabulary = Vocabulary::new();
        assert_eq!(intern(&mut vocabulary, "to"), 0);
        assert_eq!(intern(&mut vocabulary, "you"), 1);
        assert_eq!(intern(&mut vocabulary, "to"), 0);
        vocabulary.remove(0);
        assert_eq!(vocabulary.find(&vocabulary.token(b"to")), None);
        assert_eq!(intern(&mut vocabulary, "win"), 0);
        assert_eq!(vocabulary.word(0), b"win");
        assert_eq!(vocabulary.len(), 2);
        assert_eq!(vocabulary.slots(), 2);
    }

    #[test]
    fn the_arena_is_compacted() {
        let mut vocabulary = Vocabulary::new();
        for round in 0..50 {
            let ids: Vec<WordId> = (0..500)
                .map(|i| intern(&mut vocabulary, &format!("a-long-enough-word-{round}-{i}")))
                .collect();
            for id in ids.into_iter().skip(1) {
                vocabulary.remove(id);
            }
        }
        assert_eq!(vocabulary.len(), 50);
        assert!(vocabulary.arena.len() < 60_000, "{}", vocabulary.arena.len());
        for round in 0..50 {
            let word = format!("a-long-enough-word-{round}-0");
            let id = vocabulary.find(&vocabulary.token(word.as_bytes()));
            assert_eq!(vocabulary.word(id.unwrap()), word.as_bytes());
        }
    }

    #[test]
    fn sorted_ids_follow_the_bytes() {
        let mut vocabulary = Vocabulary::new();
        for word in ["b", "a", "ab", "", "a-word-of-16-byte", "a-word-of-15-by"] {
            intern(&mut vocabulary, word);
        }
        let words: Vec<&[u8]> =
            vocabulary.sorted_ids().into_iter().map(|id| vocabulary.word(id)).collect();
        assert_eq!(words, [&b""[..], b"a", b"a-word-of-15-by", b"a-word-of-16-byte", b"ab", b"b"]);
    }
}
