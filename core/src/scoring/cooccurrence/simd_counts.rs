//! n_itc of a message's words beside many parents at once.
//!
//! Each document that contains some of 32 parents has a lane for each: all ones where it contains
//! that parent, else zeros. So a walk along the postings of a word adds its count to 32 sums at
//! each step, which the compiler does with a few instructions. A walk costs the word's document
//! frequency, whatever it has in common with the parents.

use crate::counts::bag::Bag;
use crate::counts::index::Slot;
use crate::counts::rows::ClassId;
use crate::counts::store::Store;
use crate::counts::vocabulary::WordId;
use crate::watch::Watch;

/// Parents at once: a document's lanes are one line of a cache.
pub(crate) const LANES: usize = 32;

/// 2^52, from which on numbers have no fraction.
const INTEGER: f64 = (1_u64 << 52) as f64;

/// A number for each lane: one line of a cache.
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
pub struct SimdCounts {
    /// By slot one more than the place of the document's holder, 0 without; all 0 between calls.
    places: Vec<u32>,
    holders: Vec<Holder>,
    /// Of each holder, all ones where the parent is in it.
    masks: Vec<Line>,
    /// Places of holders that have a word, and its counts.
    chosen: Vec<(u32, f64)>,
    /// Σ f_ji by class, as long as these are small integers.
    narrow: Vec<Line>,
    sums: Vec<[f64; LANES]>,
    cells: Vec<(ClassId, f64)>,
}

impl SimdCounts {
    /// Calls `visit(t, i, counts)` with the positions of a parent t and a word i that it stands
    /// together with, t itself included, and n_itc for the classes in which it does.
    pub fn visit(
        &mut self,
        store: &Store,
        bag: &Bag,
        parents: &[usize],
        watch: &Watch,
        mut visit: impl FnMut(usize, usize, &[(ClassId, f64)]),
    ) {
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

    /// Finds the documents that contain some of the parents.
    fn hold(&mut self, store: &Store, bag: &Bag, parents: &[usize]) {
        if self.places.len() < store.index.slots() {
            self.places.resize(store.index.slots(), 0);
        }
        let (classes, weights) = (store.index.classes(), store.index.weights());
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

    /// Adds up the counts of a word, all lanes at once; false where they are no small integers, and
    /// then the sums are as before.
    fn add_small(&mut self, store: &Store, word: WordId) -> bool {
        let classes = self.sums.len();
        // Two sums for each class, in turn: one need not wait for the other.
        self.narrow.clear();
        self.narrow.resize(2 * classes, Line([0; LANES]));
        let (mut total, mut changed, mut turn) = (0.0, 0, 0);
        let number = self.choose(store, word);
        for &(place, count) in &self.chosen[..number] {
            let Holder { class, weight, .. } = self.holders[place as usize - 1];
            let Line(mask) = self.masks[place as usize - 1];
            let count = weight * count;
            // In a sum with 2^52 the last bits are the integer, and a fraction is rounded off.
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
        // No lane has more than all documents together.
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

    /// The holders among the documents that contain a word, with their counts; returns how many they
    /// are. No branch depends on which they are: many would be guessed wrong.
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

    /// The same of any counts, parent by parent.
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

    /// Whether nothing is left of the last message.
    #[cfg(test)]
    pub fn is_empty(&self) -> bool {
        self.places.iter().all(|&place| place == 0) && self.holders.is_empty()
    }
}
