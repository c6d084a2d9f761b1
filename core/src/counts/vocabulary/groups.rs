//! Groups of words by a keyed hash of their bytes: pruning examines one group at a time.
//!
//! A group follows from the words, the bound and the key alone, independent of ids and history, so a
//! restored store prunes the same words as the saved one. A sender who does not have the key cannot
//! choose words of one group. Groups are chains through arrays indexed by id. They are linked, a
//! few words per arrival, while the vocabulary grows from half its bound to the bound, and take no
//! memory before. Words that decay are linked from the first message on, until half of the bound by
//! the public key: nobody gains by the order in which words without weight leave.

use super::WordId;
use crate::counts::array::{Array, Piecewise};
use crate::text::siphash::{Key, siphash};

/// Words per group, on average.
pub const GROUP: usize = 64;

/// Larger groups can only be constructed by somebody who has the key; they are examined in parts, so
/// their pruning depends on the order of arrival.
const MOST: usize = 16 * GROUP;

/// A store without a bound has this many groups, for words that decay.
const MOST_GROUPS: usize = 1 << 20;

/// Ids linked with each new word.
const LINKED_AT_ONCE: usize = 4;

const END: WordId = WordId::MAX;

#[derive(Clone, Default)]
pub struct Groups {
    max_features: usize,
    key: Key,
    /// The key from half of the bound on, if there is no other by then.
    later_key: Key,
    /// The first word of each group; empty until half of the bound is reached.
    first: Array<WordId>,
    /// The next word of its group, for the ids linked so far.
    next: Array<WordId>,
    /// The previous word of its group.
    before: Array<WordId>,
}

impl Groups {
    pub fn new(max_features: usize, key: Key) -> Self {
        Groups { max_features, key, ..Groups::default() }
    }

    pub fn key(&self) -> Key {
        self.key
    }

    /// Uses a key from half of the bound on, unless there is another key.
    pub fn offer_key(&mut self, key: Key, words: usize) {
        self.later_key = key;
        self.choose_key(words);
    }

    /// The groups of another key, without words so far.
    pub fn with_key(&self, key: Key) -> Self {
        Groups::new(self.max_features, key)
    }

    /// Whether so many words are near the bound, so that the groups matter to senders.
    fn is_near(&self, words: usize) -> bool {
        words > self.max_features / 2
    }

    /// Takes the offered key near the bound; words that are linked by the public key are linked again.
    fn choose_key(&mut self, words: usize) {
        if self.is_near(words) && self.key == Key::default() && self.later_key != self.key {
            *self = self.with_key(self.later_key);
        }
    }

    /// Begins to link words.
    fn begin(&mut self) {
        if self.first.is_empty() {
            self.first = vec![END; self.count()].into();
        }
    }

    /// The hash that assigns a word to its group, and breaks ties within the group.
    pub fn hash(&self, word: &[u8]) -> u64 {
        siphash(self.key, word)
    }

    /// Number of groups.
    pub fn count(&self) -> usize {
        (self.max_features / GROUP).clamp(1, MOST_GROUPS)
    }

    fn group_of(&self, word: &[u8]) -> usize {
        (self.hash(word) % self.count() as u64) as usize
    }

    /// Registers a new word; `word_of` returns the bytes of ids in use.
    pub fn add<'a>(
        &mut self,
        id: WordId,
        words: usize,
        slots: usize,
        word_of: impl Fn(WordId) -> Option<&'a [u8]>,
    ) {
        self.choose_key(words);
        if self.first.is_empty() && !self.is_near(words) {
            return;
        }
        self.begin();
        if (id as usize) < self.next.len() {
            self.link(id, &word_of);
        }
        for _ in 0..LINKED_AT_ONCE {
            self.reach_one(slots, &word_of);
        }
    }

    /// Links all words; does nothing if arrivals have linked them.
    pub fn complete<'a>(
        &mut self,
        words: usize,
        slots: usize,
        word_of: impl Fn(WordId) -> Option<&'a [u8]>,
    ) {
        self.choose_key(words);
        self.begin();
        while self.next.len() < slots {
            self.reach_one(slots, &word_of);
        }
    }

    fn reach_one<'a>(&mut self, slots: usize, word_of: impl Fn(WordId) -> Option<&'a [u8]>) {
        if self.next.len() < slots {
            let id = self.next.len();
            for links in [&mut self.next, &mut self.before] {
                links.push(END);
            }
            self.link(id as WordId, word_of);
        }
    }

    fn link<'a>(&mut self, id: WordId, word_of: impl Fn(WordId) -> Option<&'a [u8]>) {
        if let Some(word) = word_of(id) {
            let group = self.group_of(word);
            let after = std::mem::replace(&mut self.first[group], id);
            (self.before[id as usize], self.next[id as usize]) = (END, after);
            if after != END {
                self.before[after as usize] = id;
            }
        }
    }

    /// Removes a word that is about to be forgotten, in constant time.
    pub fn remove(&mut self, id: WordId, word: &[u8]) {
        if id as usize >= self.next.len() {
            return;
        }
        let [before, after] = [self.before[id as usize], self.next[id as usize]];
        if before != END {
            self.next[before as usize] = after;
        } else {
            let group = self.group_of(word);
            if self.first[group] != id {
                return;
            }
            self.first[group] = after;
        }
        if after != END {
            self.before[after as usize] = before;
        }
        (self.before[id as usize], self.next[id as usize]) = (END, END);
    }

    /// The words of a group, given the number of all words.
    pub fn words(&self, group: usize, all: usize) -> impl Iterator<Item = WordId> {
        // If one message brought more words than all others together, all groups are large.
        let most = if all / 2 > self.max_features { usize::MAX } else { MOST };
        let next = |&id: &WordId| Some(self.next[id as usize]).filter(|&id| id != END);
        let first = self.first.get(group).copied().filter(|&id| id != END);
        std::iter::successors(first, next).take(most)
    }

    /// The arrays that grow with the words.
    pub fn arrays(&mut self) -> [&mut dyn Piecewise; 3] {
        [&mut self.first, &mut self.next, &mut self.before]
    }

    /// Heap size in bytes.
    pub fn size(&self) -> usize {
        (self.first.len() + self.next.len() + self.before.len()) * size_of::<WordId>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_is_in_one_group_however_words_came_and_went() {
        let names: Vec<String> = (0..400).map(|id| format!("w{id}")).collect();
        let mut used = vec![false; 400];
        let mut groups = Groups::new(300, [3, 5]);
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
        groups.complete(300, 300, word_of);
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
