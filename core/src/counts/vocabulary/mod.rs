//! Words and their ids, found through a hash table. Ids are assigned in order of arrival and reused
//! after a word is forgotten.
//!
//! A word of up to 15 bytes is its own key: finding it compares two machine words and follows no
//! pointer. Longer words are allocated separately. Nothing copies all words: the table grows part
//! by part, and arrays grow as described in `crate::counts::alloc`.

mod groups;
mod table;

use crate::counts::alloc::fetch;
use crate::counts::array::{Array, Piecewise};
use crate::counts::vocabulary::groups::Groups;
use crate::counts::vocabulary::table::Table;
pub use crate::text::siphash::Key;
use crate::text::token::{BLOCK, LONG, Token, hash_key};
use crate::text::tokenizer::is_word;
use foldhash::fast::RandomState;
use std::hash::BuildHasher;
use std::hint::select_unpredictable;

/// Tokens looked up together: their cache lines fit the first-level cache.
const TOGETHER: usize = 64;

/// Number of words that are assumed to be cached anyway.
const CACHED: usize = 1 << 15;

/// The id of a word. Ids are internal: snapshots identify words by their bytes.
pub type WordId = u32;

/// The highest byte of a long word's name, followed by 56 bits of its hash and the position of its
/// bytes among the long words.
const LONG_BYTE: u8 = (LONG >> 120) as u8;

/// The key of a short word, or the location of a long one: 16 bytes, little-endian.
type Name = [u8; BLOCK];

/// The name of an unused id: different from every word, and of no bytes.
const FREE: Name = 1_u128.to_le_bytes();

/// A two-way map between words (any bytes) and ids.
#[derive(Clone, Default)]
pub struct Vocabulary {
    names: Array<Name>,
    /// The bytes of long words.
    long: Array<Box<[u8]>>,
    free_long: Vec<u32>,
    long_bytes: usize,
    table: Table,
    free: Vec<WordId>,
    groups: Groups,
    /// The hasher of the tokens for [`find`](Self::find) and [`add`](Self::add). It is seeded
    /// randomly in each process, so that senders of messages cannot construct collisions.
    pub hasher: RandomState,
}

impl Vocabulary {
    /// An empty vocabulary with the same hasher.
    pub fn emptied(&self, max_features: usize) -> Self {
        Vocabulary { hasher: self.hasher.clone(), ..Self::bounded(max_features) }
    }

    /// A vocabulary that is pruned beyond `max_features` words.
    pub fn bounded(max_features: usize) -> Self {
        Vocabulary { groups: Groups::new(max_features, Key::default()), ..Self::default() }
    }

    /// The key of the groups for pruning.
    pub fn key(&self) -> Key {
        self.groups.key()
    }

    /// Divides the words into groups by another key.
    pub fn set_key(&mut self, key: Key) {
        self.groups = self.groups.with_key(key);
    }

    /// Uses a key from half of the bound on, unless there is another key.
    pub fn offer_key(&mut self, key: Key) {
        self.groups.offer_key(key, self.table.len());
    }

    /// The hash of a word by which groups are formed, and ties within a group are broken.
    pub fn group_hash(&self, id: WordId) -> u64 {
        self.groups.hash(self.word(id))
    }

    /// The token of a word given as bytes.
    pub fn token<'a>(&self, word: &'a [u8]) -> Token<'a> {
        Token::new(&self.hasher, word)
    }

    /// The token of a known word for a vocabulary with the same hasher; hash bits that no table
    /// reads may differ. Does not read the bytes of a long word.
    pub fn known_token(&self, id: WordId) -> Token<'_> {
        let name = &self.names[id as usize];
        let key = u128::from_le_bytes(*name);
        let key = if is_long(name) { key >> 64 << 64 } else { key };
        Token { bytes: word(name, &self.long), key, hash: hash_name(&self.hasher, name) }
    }

    /// Number of known words.
    pub fn len(&self) -> usize {
        self.table.len()
    }

    pub fn is_empty(&self) -> bool {
        self.table.len() == 0
    }

    /// Number of ids ever assigned: the length of arrays indexed by word.
    pub fn slots(&self) -> usize {
        self.names.len()
    }

    /// The bytes of a word; empty for unused ids.
    pub fn word(&self, id: WordId) -> &[u8] {
        word(&self.names[id as usize], &self.long)
    }

    /// Whether a token is a word or a run of words.
    #[inline]
    pub fn is_word(&self, id: WordId) -> bool {
        is_word(self.word(id))
    }

    #[inline(always)]
    pub fn find(&self, token: &Token<'_>) -> Option<WordId> {
        if !token.is_short() {
            return self.find_long(token);
        }
        let names = &self.names;
        self.table.find(token.hash, |&id| u128::from_le_bytes(names[id as usize]) == token.key)
    }

    /// Finds the words of `count` tokens in order, and passes the place of each. `key` returns the key
    /// and the hash of the token at a place.
    ///
    /// A sequential search waits for memory at each token, because the branch "is it known" is
    /// mispredicted. Here no step depends on an earlier read, so the processor overlaps the misses.
    #[inline]
    pub fn find_many<'a>(
        &self,
        count: usize,
        key: impl Fn(usize) -> (u128, u64),
        token: impl Fn(usize) -> Token<'a>,
        mut found: impl FnMut(usize, Option<WordId>),
    ) {
        let (mut keys, mut guesses) = ([(0, 0, 0); TOGETHER], [0; TOGETHER]);
        let is_large = self.names.len() >= CACHED;
        for start in (0..count).step_by(TOGETHER) {
            let places = start..count.min(start + TOGETHER);
            for (copy, place) in keys.iter_mut().zip(places.clone()) {
                let (key, hash) = key(place);
                *copy = (key, hash, self.table.bucket(hash));
                if is_large {
                    self.table.fetch(copy.2);
                }
            }
            let keys = &keys[..places.len()];
            for (guess, &(_, hash, bucket)) in guesses.iter_mut().zip(keys) {
                *guess = self.table.guess(bucket, hash);
                self.names.get(*guess as usize).into_iter().for_each(fetch);
            }
            if is_large {
                self.fetch_long(&guesses[..places.len()]);
            }
            for ((&guess, &(key, ..)), place) in guesses.iter().zip(keys).zip(places) {
                // The name of a long word has no hash in its lower half.
                let name = self.names.get(guess as usize);
                let is_guess = name.is_some_and(|name| u128::from_le_bytes(*name) == key);
                let found_id = (is_guess && key < LONG).then_some(guess);
                found(place, found_id.or_else(|| self.find(&token(place))));
            }
        }
    }

    /// Prefetches the bytes of the long ones of these words.
    fn fetch_long(&self, words: &[WordId]) {
        let names = words.iter().filter_map(|&word| self.names.get(word as usize));
        let long = names.filter(|name| is_long(name)).map(|name| &self.long[long_place(name)]);
        long.clone().for_each(fetch);
        long.filter_map(|word| word.first()).for_each(fetch);
    }

    #[inline(never)]
    fn find_long(&self, token: &Token<'_>) -> Option<WordId> {
        let same = |&id: &WordId| {
            let name = u128::from_le_bytes(self.names[id as usize]);
            name >> 64 == token.key >> 64 && self.word(id) == token.bytes
        };
        self.table.find(token.hash, same)
    }

    /// Whether an id stands for this word.
    #[inline]
    pub fn is(&self, id: WordId, bytes: &[u8]) -> bool {
        let name = self.names.get(id as usize);
        name.is_some_and(|name| *name != FREE && word(name, &self.long) == bytes)
    }

    /// The id of a new word.
    #[cold]
    pub fn add(&mut self, token: &Token<'_>) -> WordId {
        let name = if token.is_short() {
            token.key.to_le_bytes()
        } else {
            long_name(token.key, self.add_long(token.bytes))
        };
        let id = match self.free.pop() {
            Some(id) => {
                self.names[id as usize] = name;
                id
            }
            None => {
                let id = self.names.len();
                self.names.push(name);
                id as WordId
            }
        };
        let (names, long, hasher) = (&self.names, &self.long, &self.hasher);
        let hash_of = |other| hash_name(hasher, &names[other as usize]);
        self.table.insert(token.hash, id, hash_of, |other| fetch(&names[other as usize]));
        self.groups.add(id, self.table.len(), names.len(), |id| used(names, long, id));
        id
    }

    fn add_long(&mut self, bytes: &[u8]) -> u32 {
        self.long_bytes += bytes.len();
        if let Some(place) = self.free_long.pop() {
            self.long[place as usize] = bytes.into();
            return place;
        }
        let place = self.long.len();
        self.long.push(bytes.into());
        place as u32
    }

    /// Forgets a word; its id may be reused.
    pub fn remove(&mut self, id: WordId) {
        let name = self.names[id as usize];
        if !self.table.remove(hash_name(&self.hasher, &name), id) {
            return;
        }
        self.groups.remove(id, word(&name, &self.long));
        if is_long(&name) {
            let place = long_place(&name);
            self.long_bytes -= self.long[place].len();
            self.long[place] = Box::default();
            self.free_long.push(place as u32);
        }
        self.names[id as usize] = FREE;
        self.free.push(id);
    }

    /// Number of groups for pruning.
    pub fn groups(&self) -> usize {
        self.groups.count()
    }

    /// The words of a group.
    pub fn group(&mut self, group: usize) -> Vec<WordId> {
        let (names, long) = (&self.names, &self.long);
        self.groups.complete(self.table.len(), names.len(), |id| used(names, long, id));
        self.groups.words(group, self.table.len()).collect()
    }

    /// A copy of the words under their ids, which cannot be found by their bytes.
    pub fn words_alone(&self) -> Self {
        Vocabulary { names: self.names.clone(), long: self.long.clone(), ..Self::default() }
    }

    /// Ids in use, ordered by the bytes of their words.
    pub fn sorted_ids(&self) -> Vec<WordId> {
        let ids = 0..self.names.len() as WordId;
        let mut ids: Vec<WordId> = ids.filter(|&id| self.names[id as usize] != FREE).collect();
        ids.sort_unstable_by(|&a, &b| self.word(a).cmp(self.word(b)));
        ids
    }

    /// Whether `bytes` more bytes of long words are within the limit.
    pub fn has_room_for(&self, bytes: usize) -> bool {
        self.long_bytes.saturating_add(bytes) < u32::MAX as usize
    }

    /// The arrays that grow with the words.
    pub fn arrays(&mut self) -> impl Iterator<Item = &mut dyn Piecewise> {
        let words: [&mut dyn Piecewise; 2] = [&mut self.names, &mut self.long];
        words.into_iter().chain(self.table.arrays()).chain(self.groups.arrays())
    }

    /// The arrays of the words themselves.
    pub fn word_arrays(&mut self) -> [&mut dyn Piecewise; 2] {
        [&mut self.names, &mut self.long]
    }

    /// Heap size in bytes.
    pub fn size(&self) -> usize {
        self.names.len() * size_of::<Name>()
            + self.long_bytes
            + self.long.len() * size_of::<Box<[u8]>>()
            + self.table.size()
            + self.groups.size()
            + (self.free.len() + self.free_long.len()) * size_of::<WordId>()
    }
}

fn is_long(name: &Name) -> bool {
    name[BLOCK - 1] == LONG_BYTE
}

/// A long word's name, from the upper half of its key and the position of its bytes.
fn long_name(key: u128, place: u32) -> Name {
    (key >> 64 << 64 | u128::from(place)).to_le_bytes()
}

fn long_place(name: &Name) -> usize {
    u128::from_le_bytes(*name) as u32 as usize
}

fn word<'a>(name: &'a Name, long: &'a [Box<[u8]>]) -> &'a [u8] {
    if is_long(name) { &long[long_place(name)] } else { &name[..name[BLOCK - 1] as usize] }
}

/// The word of an id in use.
fn used<'a>(names: &'a [Name], long: &'a [Box<[u8]>], id: WordId) -> Option<&'a [u8]> {
    let name = &names[id as usize];
    (*name != FREE).then(|| word(name, long))
}

/// The hash of a name, except for the bits that the table ignores.
fn hash_name<S: BuildHasher>(hasher: &S, name: &Name) -> u64 {
    let bits = u128::from_le_bytes(*name);
    // A long word's name contains all hash bits that are read. A branch on the length would be
    // mispredicted and serialise the cache misses.
    select_unpredictable(is_long(name), (bits >> 56) as u64, hash_key(hasher, bits))
}
