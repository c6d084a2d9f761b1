//! Groups of words by a fixed hash of their bytes: pruning examines one group at a time.
//!
//! A group follows from the words and the bound alone, independent of ids and history, so a
//! restored store prunes the same words as the saved one. Groups are chains through an array
//! indexed by id. They are linked, a few words per arrival, while the vocabulary grows from half
//! its bound to the bound, and take no memory before.

use super::WordId;
use crate::counts::alloc::make_room;

/// Words per group, on average.
pub const GROUP: usize = 64;

/// Larger groups can only be constructed deliberately; they are examined in parts, so their pruning
/// depends on the order of arrival.
const MOST: usize = 16 * GROUP;

/// Ids linked with each new word.
const LINKED_AT_ONCE: usize = 4;

const END: WordId = WordId::MAX;

#[derive(Clone, Default)]
pub struct Groups {
    max_features: usize,
    /// The first word of each group; empty until half of the bound is reached.
    first: Vec<WordId>,
    /// The next word of its group, for the ids linked so far.
    next: Vec<WordId>,
}

impl Groups {
    pub fn new(max_features: usize) -> Self {
        Groups { max_features, ..Groups::default() }
    }

    /// Number of groups.
    pub fn count(&self) -> usize {
        (self.max_features / GROUP).clamp(1, WordId::MAX as usize)
    }

    fn group_of(&self, word: &[u8]) -> usize {
        (hash(word) % self.count() as u64) as usize
    }

    /// Registers a new word; `word_of` returns the bytes of ids in use.
    pub fn add<'a>(
        &mut self,
        id: WordId,
        words: usize,
        slots: usize,
        word_of: impl Fn(WordId) -> Option<&'a [u8]>,
    ) {
        if self.first.is_empty() {
            if words <= self.max_features / 2 {
                return;
            }
            self.first = vec![END; self.count()];
        }
        if (id as usize) < self.next.len() {
            self.link(id, &word_of);
        }
        for _ in 0..LINKED_AT_ONCE {
            self.reach_one(slots, &word_of);
        }
    }

    /// Links all words; does nothing if arrivals have linked them.
    pub fn complete<'a>(&mut self, slots: usize, word_of: impl Fn(WordId) -> Option<&'a [u8]>) {
        if self.first.is_empty() {
            self.first = vec![END; self.count()];
        }
        while self.next.len() < slots {
            self.reach_one(slots, &word_of);
        }
    }

    fn reach_one<'a>(&mut self, slots: usize, word_of: impl Fn(WordId) -> Option<&'a [u8]>) {
        if self.next.len() < slots {
            let id = self.next.len();
            make_room(&mut self.next, id + 1);
            self.next.push(END);
            self.link(id as WordId, word_of);
        }
    }

    fn link<'a>(&mut self, id: WordId, word_of: impl Fn(WordId) -> Option<&'a [u8]>) {
        if let Some(word) = word_of(id) {
            let group = self.group_of(word);
            self.next[id as usize] = std::mem::replace(&mut self.first[group], id);
        }
    }

    /// Removes a word that is about to be forgotten.
    pub fn remove(&mut self, id: WordId, word: &[u8]) {
        if id as usize >= self.next.len() {
            return;
        }
        let (group, after) = (self.group_of(word), self.next[id as usize]);
        let mut link = &mut self.first[group];
        while *link != id && *link != END {
            let other = *link as usize;
            link = &mut self.next[other];
        }
        if *link == id {
            *link = after;
        }
    }

    /// The words of a group, given the number of all words.
    pub fn words(&self, group: usize, all: usize) -> impl Iterator<Item = WordId> {
        // If one message brought more words than all others together, all groups are large.
        let most = if all / 2 > self.max_features { usize::MAX } else { MOST };
        let next = |&id: &WordId| Some(self.next[id as usize]).filter(|&id| id != END);
        let first = self.first.get(group).copied().filter(|&id| id != END);
        std::iter::successors(first, next).take(most)
    }

    /// Heap size in bytes.
    pub fn size(&self) -> usize {
        (self.first.len() + self.next.len()) * size_of::<WordId>()
    }
}

/// FNV-1a in 64 bits (Fowler, Noll and Vo): the same on every machine, as snapshots depend on it.
fn hash(word: &[u8]) -> u64 {
    word.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_fnv() {
        assert_eq!(hash(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(hash(b"a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(hash(b"foobar"), 0x8594_4171_f739_67e8);
    }

    #[test]
    fn every_word_is_in_one_group_however_words_came_and_went() {
        let names: Vec<String> = (0..400).map(|id| format!("w{id}")).collect();
        let mut used = vec![false; 400];
        let mut groups = Groups::new(300);
        for id in 0..300 {
            used[id] = true;
            let words = used.iter().filter(|&&used| used).count();
            let word_of = |id: WordId| used[id as usize].then(|| names[id as usize].as_bytes());
            groups.add(id as WordId, words, id + 1, word_of);
            if id % 7 == 3 {
                groups.remove(id as WordId, names[id].as_bytes());
                used[id] = false;
            }
        }
        let word_of = |id: WordId| used[id as usize].then(|| names[id as usize].as_bytes());
        groups.complete(300, word_of);
        assert_eq!(groups.count(), 4);
        let mut all = Vec::new();
        for group in 0..groups.count() {
            let words: Vec<WordId> = groups.words(group, 300).collect();
            assert!(
                words.iter().all(|&id| groups.group_of(names[id as usize].as_bytes()) == group)
            );
            all.extend(words);
        }
        all.sort_unstable();
        assert!(all.into_iter().eq((0..300).filter(|&id| used[id as usize])));
    }
}
