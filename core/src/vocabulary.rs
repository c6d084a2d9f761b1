//! Words and their ids: bytes in one arena, found through a hash table, ids handed out in order
//! of arrival and handed out again after a word was forgotten.

use crate::tokenizer::hash_token;
use foldhash::fast::RandomState;
use hashbrown::HashTable;

/// The id of a word. Ids are internal: snapshots know words by their bytes only.
pub type WordId = u32;

#[derive(Clone, Copy)]
struct Span {
    start: u32,
    length: u32,
}

/// A two-way map between words (any bytes) and ids.
#[derive(Clone)]
pub struct Vocabulary {
    arena: Vec<u8>,
    spans: Vec<Span>,
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
            arena: Vec::new(),
            spans: Vec::new(),
            table: HashTable::new(),
            free: Vec::new(),
            garbage: 0,
            // Seeded anew in each process: whoever writes the messages can't aim at collisions.
            hasher: RandomState::default(),
        }
    }

    /// The hasher whose values [`find`](Self::find) and [`intern`](Self::intern) take.
    pub fn hasher(&self) -> &RandomState {
        &self.hasher
    }

    pub fn hash(&self, word: &[u8]) -> u64 {
        hash_token(&self.hasher, word)
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
        self.spans.len()
    }

    /// The bytes of a word; empty for an id that is not in use.
    #[inline]
    pub fn word(&self, id: WordId) -> &[u8] {
        slice(&self.arena, self.spans[id as usize])
    }

    #[inline]
    pub fn find(&self, word: &[u8], hash: u64) -> Option<WordId> {
        let (arena, spans) = (&self.arena, &self.spans);
        self.table.find(hash, |&id| slice(arena, spans[id as usize]) == word).copied()
    }

    /// The id of `word`, which is added if it is new.
    #[inline]
    pub fn intern(&mut self, word: &[u8], hash: u64) -> WordId {
        match self.find(word, hash) {
            Some(id) => id,
            None => self.add(word, hash),
        }
    }

    #[cold]
    fn add(&mut self, word: &[u8], hash: u64) -> WordId {
        let span = Span { start: self.arena.len() as u32, length: word.len() as u32 };
        self.arena.extend_from_slice(word);
        let id = match self.free.pop() {
            Some(id) => {
                self.spans[id as usize] = span;
                id
            }
            None => {
                self.spans.push(span);
                (self.spans.len() - 1) as WordId
            }
        };
        let (arena, spans, hasher) = (&self.arena, &self.spans, &self.hasher);
        self.table.insert_unique(hash, id, |&other| {
            hash_token(hasher, slice(arena, spans[other as usize]))
        });
        id
    }

    /// Forgets a word; its id may be given to another word later.
    pub fn remove(&mut self, id: WordId) {
        let span = self.spans[id as usize];
        let hash = self.hash(slice(&self.arena, span));
        if let Ok(entry) = self.table.find_entry(hash, |&other| other == id) {
            entry.remove();
            self.garbage += span.length as usize;
            self.spans[id as usize] = Span { start: 0, length: 0 };
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
        for span in &mut self.spans {
            let start = arena.len() as u32;
            arena.extend_from_slice(slice(&self.arena, *span));
            span.start = start;
        }
        self.arena = arena;
        self.garbage = 0;
    }

    /// Heap bytes held.
    pub fn size(&self) -> usize {
        self.arena.capacity()
            + self.spans.capacity() * size_of::<Span>()
            + self.table.allocation_size()
            + self.free.capacity() * size_of::<WordId>()
    }
}

#[inline]
fn slice(arena: &[u8], span: Span) -> &[u8] {
    &arena[span.start as usize..(span.start + span.length) as usize]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn intern(vocabulary: &mut Vocabulary, word: &str) -> WordId {
        let hash = vocabulary.hash(word.as_bytes());
        vocabulary.intern(word.as_bytes(), hash)
    }

    #[test]
    fn ids_follow_arrival_and_are_reused() {
        let mut vocabulary = Vocabulary::new();
        assert_eq!(intern(&mut vocabulary, "to"), 0);
        assert_eq!(intern(&mut vocabulary, "you"), 1);
        assert_eq!(intern(&mut vocabulary, "to"), 0);
        vocabulary.remove(0);
        assert_eq!(vocabulary.find(b"to", vocabulary.hash(b"to")), None);
        assert_eq!(intern(&mut vocabulary, "win"), 0);
        assert_eq!(vocabulary.word(0), b"win");
        assert_eq!(vocabulary.len(), 2);
        assert_eq!(vocabulary.slots(), 2);
    }

    #[test]
    fn the_arena_is_compacted() {
        let mut vocabulary = Vocabulary::new();
        for round in 0..50 {
            let ids: Vec<WordId> =
                (0..500).map(|i| intern(&mut vocabulary, &format!("word-{round}-{i}"))).collect();
            for id in ids.into_iter().skip(1) {
                vocabulary.remove(id);
            }
        }
        assert_eq!(vocabulary.len(), 50);
        assert!(vocabulary.arena.len() < 40_000, "{}", vocabulary.arena.len());
        for round in 0..50 {
            let word = format!("word-{round}-0");
            let id = vocabulary.find(word.as_bytes(), vocabulary.hash(word.as_bytes()));
            assert_eq!(vocabulary.word(id.unwrap()), word.as_bytes());
        }
    }

    #[test]
    fn sorted_ids_follow_the_bytes() {
        let mut vocabulary = Vocabulary::new();
        for word in ["b", "a", "ab", ""] {
            intern(&mut vocabulary, word);
        }
        let words: Vec<&[u8]> =
            vocabulary.sorted_ids().into_iter().map(|id| vocabulary.word(id)).collect();
        assert_eq!(words, [&b""[..], b"a", b"ab", b"b"]);
    }
}
