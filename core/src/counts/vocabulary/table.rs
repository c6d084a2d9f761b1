//! A hash table of word ids without pauses: when it becomes too full, one bucket is split (linear
//! hashing, Litwin 1980), so no insertion waits for a rehash.
//!
//! A bucket is one cache line whose position follows from the hash alone, so the buckets of many
//! words can be fetched at the same time.

use super::WordId;
use crate::counts::alloc::fetch;
use crate::counts::array::{Array, Piecewise};
use wide::bytemuck::cast;
use wide::u8x16;

/// Ids per bucket; the overflow goes to a chain of linked buckets.
const PLACES: usize = 12;

/// Words per bucket, on average. With 6 a word took 1.6 bytes more; with 8 twice as many words were
/// in linked buckets.
const SPREAD: usize = 7;

/// Number of lowest hash bits that are ignored: the names of long words omit them.
pub const IGNORED: u32 = 8;

/// Position of the hash bits that distinguish the words of a bucket; lower bits choose the bucket.
const TAG: u32 = 56;

/// The number of the next bucket is stored above the bytes of the places.
const NEXT: u32 = 8 * PLACES as u32;

/// A cache line.
#[derive(Clone, Copy, Default)]
#[repr(align(64))]
struct Bucket {
    /// One byte per place from the hash of its word, 0 if free; above them the number of the next
    /// bucket, or 0.
    tags: u128,
    ids: [WordId; PLACES],
}

impl Bucket {
    /// The places that hold a word of this tag.
    #[inline(always)]
    fn places(&self, tag: u8) -> Places {
        let tags: u8x16 = cast(self.tags.to_le_bytes());
        let equal = tags.simd_eq(u8x16::splat(tag));
        Places(equal.to_bitmask() & ((1 << PLACES) - 1))
    }

    /// The id with this tag for which `same` holds.
    #[inline(always)]
    fn find(&self, tag: u8, mut same: impl FnMut(&WordId) -> bool) -> Option<WordId> {
        self.places(tag).map(|place| self.ids[place]).find(|id| same(id))
    }

    fn next(&self) -> usize {
        (self.tags >> NEXT) as usize
    }

    fn set_next(&mut self, next: usize) {
        self.tags = self.tags & ((1 << NEXT) - 1) | (next as u128) << NEXT;
    }

    fn tag(&self, place: usize) -> u8 {
        (self.tags >> (8 * place)) as u8
    }

    fn set(&mut self, place: usize, tag: u8, id: WordId) {
        let shift = 8 * place as u32;
        self.tags = self.tags & !(0xff << shift) | u128::from(tag) << shift;
        self.ids[place] = id;
    }

    fn ids(&self) -> impl Iterator<Item = WordId> {
        self.ids.iter().enumerate().filter(|&(place, _)| self.tag(place) != 0).map(|(_, &id)| id)
    }
}

/// Places in ascending order, one bit for each.
struct Places(u32);

impl Iterator for Places {
    type Item = usize;

    #[inline(always)]
    fn next(&mut self) -> Option<usize> {
        let place = (self.0 != 0).then(|| self.0.trailing_zeros() as usize);
        self.0 &= self.0.wrapping_sub(1);
        place
    }
}

/// Ids indexed by the hashes of their words.
#[derive(Clone)]
pub struct Table {
    buckets: Array<Bucket>,
    /// Linked buckets by number; number 0 is unused.
    linked: Array<Bucket>,
    free: Vec<u32>,
    /// One less than the power of two at or above the number of buckets.
    mask: usize,
    len: usize,
}

impl Default for Table {
    fn default() -> Self {
        let (buckets, linked) = (vec![Bucket::default()].into(), Array::default());
        Table { buckets, linked, free: Vec::new(), mask: 0, len: 0 }
    }
}

#[inline]
fn tag(hash: u64) -> u8 {
    ((hash >> TAG) as u8).max(1)
}

impl Table {
    pub fn len(&self) -> usize {
        self.len
    }

    /// The place of the bucket of a hash.
    #[inline]
    pub fn bucket(&self, hash: u64) -> usize {
        let bucket = (hash >> IGNORED) as usize & self.mask;
        if bucket < self.buckets.len() { bucket } else { bucket & (self.mask >> 1) }
    }

    /// Prefetches a bucket.
    #[inline]
    pub fn fetch(&self, bucket: usize) {
        fetch(&self.buckets[bucket]);
    }

    /// A candidate id for a hash and its bucket: the right one in most cases, otherwise any id, or 0.
    #[inline]
    pub fn guess(&self, bucket: usize, hash: u64) -> WordId {
        let bucket = &self.buckets[bucket];
        let places = bucket.places(tag(hash)).0 | 1 << (PLACES - 1);
        bucket.ids[places.trailing_zeros() as usize]
    }

    #[inline(always)]
    pub fn find(&self, hash: u64, mut same: impl FnMut(&WordId) -> bool) -> Option<WordId> {
        let bucket = &self.buckets[self.bucket(hash)];
        match (bucket.find(tag(hash), &mut same), bucket.next()) {
            (None, next) if next > 0 => self.find_linked(next, tag(hash), same),
            (found, _) => found,
        }
    }

    /// An id of a linked bucket or its successors.
    #[inline(never)]
    fn find_linked(
        &self,
        mut next: usize,
        tag: u8,
        mut same: impl FnMut(&WordId) -> bool,
    ) -> Option<WordId> {
        while next > 0 {
            let bucket = &self.linked[next - 1];
            if let Some(id) = bucket.find(tag, &mut same) {
                return Some(id);
            }
            next = bucket.next();
        }
        None
    }

    /// Inserts a new id. `hash_of` returns the hashes of other ids; `announce` receives these ids
    /// some words earlier.
    pub fn insert(
        &mut self,
        hash: u64,
        id: WordId,
        hash_of: impl Fn(WordId) -> u64,
        announce: impl Fn(WordId),
    ) {
        self.put(self.bucket(hash), hash, id);
        self.len += 1;
        if self.len > self.buckets.len() * SPREAD {
            self.split(hash_of);
            // The buckets that are split next.
            let next = self.buckets.len() & (self.mask >> 1);
            fetch(&self.buckets[(next + 1) & (self.mask >> 1)]);
            self.buckets[next].ids.iter().for_each(|&id| announce(id));
        }
    }

    fn put(&mut self, bucket: usize, hash: u64, id: WordId) {
        let Table { buckets, linked, free, .. } = self;
        let (mut at, mut is_linked) = (bucket, false);
        loop {
            let new = linked.len() + 1;
            let bucket = if is_linked { &mut linked[at] } else { &mut buckets[at] };
            if let Some(place) = bucket.places(0).next() {
                return bucket.set(place, tag(hash), id);
            }
            if bucket.next() == 0 {
                let next = free.pop().map_or(new, |next| next as usize);
                bucket.set_next(next);
                if next == new {
                    linked.push(Bucket::default());
                }
                at = next - 1;
            } else {
                at = bucket.next() - 1;
            }
            is_linked = true;
        }
    }

    /// Removes an id; returns whether it was present.
    pub fn remove(&mut self, hash: u64, id: WordId) -> bool {
        let mut bucket = self.bucket(hash);
        let mut buckets = &mut self.buckets;
        loop {
            let found = buckets[bucket].places(tag(hash)).find(|&p| buckets[bucket].ids[p] == id);
            if let Some(place) = found {
                buckets[bucket].set(place, 0, 0);
                self.len -= 1;
                return true;
            }
            match buckets[bucket].next() {
                0 => return false,
                next => (buckets, bucket) = (&mut self.linked, next - 1),
            }
        }
    }

    /// All ids, in no particular order.
    #[cfg(test)]
    fn iter(&self) -> impl Iterator<Item = WordId> {
        self.buckets.iter().chain(&*self.linked).flat_map(Bucket::ids)
    }

    /// Splits the oldest bucket that has not been split since the last doubling.
    fn split(&mut self, hash_of: impl Fn(WordId) -> u64) {
        let added = self.buckets.len();
        self.mask = (added + 1).next_power_of_two() - 1;
        self.buckets.push(Bucket::default());
        let split = added & (self.mask >> 1);
        let mut old = std::mem::take(&mut self.buckets[split]);
        loop {
            for id in old.ids() {
                let hash = hash_of(id);
                self.put(self.bucket(hash), hash, id);
            }
            let next = old.next();
            if next == 0 {
                return;
            }
            old = std::mem::take(&mut self.linked[next - 1]);
            self.free.push(next as u32);
        }
    }

    /// The arrays that grow with the words.
    pub fn arrays(&mut self) -> [&mut dyn Piecewise; 2] {
        [&mut self.buckets, &mut self.linked]
    }

    /// Heap size in bytes.
    pub fn size(&self) -> usize {
        (self.buckets.len() + self.linked.len()) * size_of::<Bucket>()
            + self.free.len() * size_of::<u32>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hash(id: WordId) -> u64 {
        u64::from(id).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }

    #[test]
    fn places_are_those_of_the_byte() {
        // Numbers with few distinct values, so that many are equal and neighbours differ by one.
        let numbers =
            |seed: u64| (0..PLACES as u64).map(move |i| (hash((seed + i) as u32) >> 61) as u8);
        for seed in 0..500 {
            let mut bucket = Bucket::default();
            bucket.set_next(seed as usize);
            numbers(seed).enumerate().for_each(|(place, tag)| bucket.set(place, tag, 0));
            for tag in 0..9 {
                let expected: Vec<usize> = numbers(seed)
                    .enumerate()
                    .filter(|&(_, of)| of == tag)
                    .map(|(p, _)| p)
                    .collect();
                assert_eq!(bucket.places(tag).collect::<Vec<_>>(), expected);
            }
        }
    }

    #[test]
    fn ids_are_found_while_buckets_are_split() {
        let mut table = Table::default();
        for id in 0..3_000 {
            table.insert(hash(id), id, hash, |_| {});
            for before in [id / 2, id / 3, id] {
                assert_eq!(table.find(hash(before), |&other| other == before), Some(before));
            }
            assert_eq!(table.find(hash(id + 1), |&other| other == id + 1), None);
        }
        assert_eq!((table.len(), table.buckets.len()), (3_000, 3_000 / SPREAD + 1));
        assert_eq!((table.iter().count(), size_of::<Bucket>()), (3_000, 64));
        for id in (0..3_000).step_by(3) {
            assert!(table.remove(hash(id), id));
            assert!(!table.remove(hash(id), id));
        }
        let mut left: Vec<WordId> = table.iter().collect();
        left.sort_unstable();
        assert!(left.into_iter().eq((0..3_000).filter(|id| id % 3 > 0)));
    }

    #[test]
    fn equal_hashes_are_linked_and_told_apart() {
        for same in [0, 1 << TAG, u64::MAX] {
            let mut table = Table::default();
            for id in 0..100 {
                table.insert(same, id, |_| same, |_| {});
                assert_eq!(table.find(same, |&other| other == id / 3), Some(id / 3));
            }
            assert!((0..100).step_by(2).all(|id| table.remove(same, id)));
            let size = table.size();
            (0..50).for_each(|id| table.insert(same, 2 * id, |_| same, |_| {}));
            assert_eq!((table.size(), table.len()), (size, 100));
            let mut all: Vec<WordId> = table.iter().collect();
            all.sort_unstable();
            assert!(all.into_iter().eq(0..100));
        }
    }
}
