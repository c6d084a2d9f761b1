//! The pair table: how often two words occur in the same indexed document, by class.
//!
//! Its content follows from the document index; it trades memory for predictions whose cost does
//! not grow with the stream. If it would need more cells than allowed, it is dropped permanently,
//! and predictions walk the postings instead, with the same result.
//!
//! The table is much larger than a cache, and nearly every look-up misses. It is probed linearly,
//! starting at half a cache line, and callers [`touch`](PairTable::touch) many pairs first so that
//! the misses overlap. This made learning and predicting about three times as fast on the SMS
//! collection as a general hash table.
//!
//! It grows by linear hashing: it consists of many small parts, one of which is split at a time. A
//! dropped table is freed part by part. So no message waits for the whole table.
//!
//! The hash assigns each pair to one of a few shards, and several threads can change different
//! shards together ([`follow`](PairTable::follow)).

mod follow;
mod part;
mod shard;

pub use follow::Change;
pub use shard::Pair;

use crate::counts::pairs::part::{PairCell, Part, hash};
use crate::counts::pairs::shard::Shard;
use crate::counts::rows::ClassId;
use crate::counts::vocabulary::WordId;

/// Number of shards, and the maximum number of threads that can change a table together.
const SHARDS: usize = 1 << SHARD_BITS;
const SHARD_BITS: u32 = 4;

#[derive(Clone)]
pub struct PairTable {
    /// Empty if the table is unused or was dropped.
    shards: Vec<Shard>,
    /// Parts of a dropped table that are not freed yet.
    left: Vec<Part>,
    cells: usize,
    limit: usize,
    /// Whether each word is also paired with itself.
    own: bool,
}

impl PairTable {
    /// A table of at most `limit` (pair, class) cells; 0 disables it. With `own` each word is also
    /// paired with itself, which holds its tokens in the indexed documents.
    pub fn new(limit: usize, own: bool) -> Self {
        let shards = if limit == 0 { 0 } else { SHARDS };
        let shards = (0..shards).map(|_| Shard::new()).collect();
        PairTable { shards, left: Vec::new(), cells: 0, limit, own }
    }

    /// Whether the table covers the index and can be read.
    pub fn is_complete(&self) -> bool {
        !self.shards.is_empty()
    }

    /// Number of (pair, class) cells.
    pub fn len(&self) -> usize {
        self.cells
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Adds the pairs of a document; drops the whole table if they do not fit.
    pub fn learn(&mut self, class: ClassId, words: &[(WordId, f64)], weight: f64) {
        if !self.is_complete() {
            // The rest is a few kilobytes.
            self.left.pop();
            return;
        }
        for row in rows(class, words, weight, self.own) {
            self.touch_all(&row);
            for (hash, cell) in row.cells() {
                self.cells += usize::from(self.shards[shard(hash)].add(hash, cell));
            }
            if self.cells > self.limit {
                self.drop_all();
                return;
            }
        }
    }

    /// Subtracts the pairs of a document. `words` are the words it was learned with.
    pub fn unlearn(&mut self, class: ClassId, words: &[(WordId, f64)], weight: f64) {
        if self.is_complete() {
            rows(class, words, weight, self.own).for_each(|row| self.subtract(&row));
        }
    }

    /// Subtracts the pairs of a document that contain at least one word of `gone`; `kept` are the
    /// other words.
    pub fn unlearn_some(
        &mut self,
        class: ClassId,
        gone: &[(WordId, f64)],
        kept: &[(WordId, f64)],
        weight: f64,
    ) {
        self.unlearn(class, gone, weight);
        if self.is_complete() {
            gone.iter().for_each(|&word| self.subtract(&Row { class, weight, word, others: kept }));
        }
    }

    fn subtract(&mut self, row: &Row<'_>) {
        self.touch_all(row);
        for (hash, cell) in row.cells() {
            self.cells -= usize::from(self.shards[shard(hash)].subtract(hash, cell));
        }
    }

    /// Drops the table: it is freed part by part, with each document that would have been learned.
    fn drop_all(&mut self) {
        self.left =
            std::mem::take(&mut self.shards).into_iter().flat_map(Shard::into_parts).collect();
        self.cells = 0;
    }

    fn touch_all(&self, row: &Row<'_>) {
        row.hashes().for_each(|hash| self.shards[shard(hash)].touch(hash));
    }

    /// Prefetches a pair before it is read; does not wait.
    #[inline]
    pub fn touch(&self, a: WordId, b: WordId) {
        let hash = hash(a.min(b), a.max(b));
        if let Some(shard) = self.shards.get(shard(hash)) {
            shard.touch(hash);
        }
    }

    /// The classes with documents that contain both `a` and `b`.
    #[inline]
    pub fn pairs(&self, a: WordId, b: WordId) -> impl Iterator<Item = Pair> {
        let hash = hash(a.min(b), a.max(b));
        let shard = self.shards.get(shard(hash));
        shard.map(|shard| shard.pairs(hash, a, b)).into_iter().flatten()
    }

    /// The table under new word ids; words may be joined if they never occur together.
    pub fn renamed(&self, word_of: &[WordId]) -> Self {
        let mut renamed = PairTable::new(self.limit, self.own);
        if !self.is_complete() {
            renamed.drop_all();
        }
        for &PairCell { low, high, class, low_count, high_count, .. } in
            self.shards.iter().flat_map(Shard::cells)
        {
            let (a, b) = (word_of[low as usize], word_of[high as usize]);
            let (hash, cell) =
                (hash(a.min(b), a.max(b)), PairCell::new(a, b, class, low_count, high_count));
            renamed.cells += usize::from(renamed.shards[shard(hash)].add(hash, cell));
        }
        renamed
    }

    pub fn size(&self) -> usize {
        let left = self.left.iter().map(|part| size_of::<Part>() + part.size()).sum::<usize>();
        self.shards.iter().map(Shard::size).sum::<usize>() + left
    }
}

/// The shard of a pair. It uses other bits of the hash than the part and the slot.
#[inline]
fn shard(hash: u64) -> usize {
    (hash >> (u64::BITS - SHARD_BITS)) as usize
}

/// A word of a document with the words that it is paired with.
struct Row<'a> {
    class: ClassId,
    weight: f64,
    word: (WordId, f64),
    others: &'a [(WordId, f64)],
}

/// All pairs of a document, row by row; with `own` each word is also paired with itself.
fn rows(
    class: ClassId,
    words: &[(WordId, f64)],
    weight: f64,
    own: bool,
) -> impl Iterator<Item = Row<'_>> {
    words.iter().enumerate().map(move |(position, &word)| {
        let others = &words[position + usize::from(!own)..];
        Row { class, weight, word, others }
    })
}

impl Row<'_> {
    fn hashes(&self) -> impl Iterator<Item = u64> {
        let a = self.word.0;
        self.others.iter().map(move |&(b, _)| hash(a.min(b), a.max(b)))
    }

    /// The change of the pair with another word.
    #[inline]
    fn cell(&self, (other, count): (WordId, f64)) -> PairCell {
        let (word, count_of_word) = self.word;
        PairCell::new(word, other, self.class, self.weight * count_of_word, self.weight * count)
    }

    /// The changes of all pairs, with their hashes.
    fn cells(&self) -> impl Iterator<Item = (u64, PairCell)> {
        self.hashes().zip(self.others.iter().map(|&other| self.cell(other)))
    }
}
