//! Counts of the words of a message in past documents that contain a parent.
//!
//! n_itc = Σ f_ji over the indexed documents j of class c that contain t, for two words i and t of a
//! message, t a parent. n_ttc is the number of tokens of t.
//!
//! 32 parents are counted in parallel. Each document that contains some of them has a lane for each
//! parent: all ones if the document contains it, else zeros. So a walk along the postings of a word
//! adds its count to 32 sums at each step with a few SIMD instructions. A walk costs the document
//! frequency of the word.

use crate::counts::index::Slot;
use crate::counts::{Bag, ClassId, Store, WordId};
use crate::scoring::Query;

/// Number of parallel parents: the lanes of a document fill one cache line.
pub const LANES: usize = 32;

/// From 2^52 on, numbers have no fraction.
const INTEGER: f64 = (1_u64 << 52) as f64;

/// A number for each lane: one cache line.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Line([u16; LANES]);

/// A document that contains some of the parents.
#[derive(Clone, Copy)]
struct Holder {
    weight: f64,
    class: ClassId,
    slot: Slot,
}

/// Reused buffers.
#[derive(Default)]
pub struct Cooccurrence {
    /// By slot, one more than the place of the document's holder, or 0; all 0 between calls.
    places: Vec<u32>,
    holders: Vec<Holder>,
    /// The lanes of each holder.
    masks: Vec<Line>,
    /// The holders that contain a word, by place, and its counts.
    chosen: Vec<(u32, f64)>,
    /// Σ f_ji by class, if these are small integers.
    narrow: Vec<Line>,
    sums: Vec<[f64; LANES]>,
    cells: Vec<(ClassId, f64)>,
}

impl Cooccurrence {
    /// Call `visit(t, i, counts)` with the positions of each parent t and each word i that occurred
    /// together with it (i = t included), and n_itc of the classes in which it did. `parents` are
    /// ascending.
    pub fn visit(
        &mut self,
        query: Query<'_>,
        parents: &[usize],
        mut visit: impl FnMut(usize, usize, &[(ClassId, f64)]),
    ) {
        let Query { store, bag, watch, .. } = query;
        let classes = store.classes.len();
        for block in parents.chunks(LANES) {
            if watch.is_stopped() {
                break;
            }
            self.hold(store, bag, block);
            for (child, &(word, _)) in bag.words.iter().enumerate() {
                if watch.stops(1 + store.index.frequency(word)) {
                    break;
                }
                self.sums.clear();
                self.sums.resize(classes, [0.0; LANES]);
                if !self.add_small(store, word) {
                    self.add(store, word);
                }
                for (lane, &parent) in block.iter().enumerate() {
                    self.cells.clear();
                    for (class, sums) in self.sums.iter().enumerate() {
                        if sums[lane] > 0.0 {
                            self.cells.push((class as ClassId, sums[lane]));
                        }
                    }
                    if !self.cells.is_empty() {
                        visit(parent, child, &self.cells);
                    }
                }
            }
            self.masks.clear();
            self.holders.drain(..).for_each(|holder| self.places[holder.slot as usize] = 0);
        }
    }

    /// Find the documents that contain some of the parents.
    fn hold(&mut self, store: &Store, bag: &Bag, parents: &[usize]) {
        if self.places.len() < store.index.slots() {
            self.places.resize(store.index.slots(), 0);
        }
        let (classes, weights) = (&store.index.classes[..], &store.index.weights[..]);
        for (lane, &parent) in parents.iter().enumerate() {
            for posting in store.index.posting_runs(bag.words[parent].0).into_iter().flatten() {
                let (slot, place) = (posting.slot, &mut self.places[posting.slot as usize]);
                if *place == 0 {
                    let (class, weight) = (classes[slot as usize], weights[slot as usize]);
                    self.holders.push(Holder { weight, class, slot });
                    self.masks.push(Line([0; LANES]));
                    *place = self.holders.len() as u32;
                }
                self.masks[*place as usize - 1].0[lane] = u16::MAX;
            }
        }
    }

    /// Add up the counts of a word in all lanes in parallel. Return false, with the sums unchanged, unless
    /// the counts are small integers.
    fn add_small(&mut self, store: &Store, word: WordId) -> bool {
        let classes = self.sums.len();
        // Two sums for each class, used in turn, so that consecutive additions are independent.
        self.narrow.clear();
        self.narrow.resize(2 * classes, Line([0; LANES]));
        let (mut total, mut changed, mut turn) = (0.0, 0, 0);
        let number = self.choose(store, word);
        for &(place, count) in &self.chosen[..number] {
            let Holder { class, weight, .. } = self.holders[place as usize - 1];
            let Line(mask) = self.masks[place as usize - 1];
            let count = weight * count;
            // Adding 2^52 puts the integer into the last bits and rounds off a fraction.
            let integer = count + INTEGER;
            changed |= (integer - INTEGER).to_bits() ^ count.to_bits();
            total += count;
            let bits = integer.to_bits() as u16;
            let Line(sums) = &mut self.narrow[turn + class as usize];
            for (sum, mask) in sums.iter_mut().zip(mask) {
                *sum = sum.wrapping_add(mask & bits);
            }
            turn = classes - turn;
        }
        // No lane exceeds the total of all documents.
        if changed != 0 || total > f64::from(u16::MAX) {
            return false;
        }
        let (one, other) = self.narrow.split_at(classes);
        for ((sums, one), other) in self.sums.iter_mut().zip(one).zip(other) {
            for (sum, (one, other)) in sums.iter_mut().zip(one.0.iter().zip(other.0)) {
                *sum = f64::from(one + other);
            }
        }
        true
    }

    /// Find the holders among the documents that contain a word, and return their number. The loop has
    /// no branch on them, since many would be mispredicted.
    fn choose(&mut self, store: &Store, word: WordId) -> usize {
        let postings = store.index.frequency(word);
        if self.chosen.len() < postings {
            self.chosen.resize(postings, (0, 0.0));
        }
        let (places, chosen, mut number) = (&self.places[..], &mut self.chosen[..postings], 0);
        for run in store.index.posting_runs(word) {
            for posting in run {
                let place = places[posting.slot as usize];
                chosen[number] = (place, posting.count);
                number += usize::from(place != 0);
            }
        }
        number
    }

    /// Add up any counts of a word, parent by parent.
    fn add(&mut self, store: &Store, word: WordId) {
        for posting in store.index.postings(word) {
            let place = self.places[posting.slot as usize] as usize;
            if place == 0 {
                continue;
            }
            let (Holder { class, weight, .. }, Line(mask)) =
                (&self.holders[place - 1], &self.masks[place - 1]);
            let count = weight * posting.count;
            for (sum, &mask) in self.sums[*class as usize].iter_mut().zip(mask) {
                *sum += if mask == 0 { 0.0 } else { count };
            }
        }
    }
}
