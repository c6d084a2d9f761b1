//! Σ_t r_tc n_itc along the postings of a message's words: Σ_j w_j f_ji Σ_{t in j} r_tc, with w_j what
//! a past document j counts for.
//!
//! A walk along the parents' postings adds up the inner sum of each document, a second along those
//! of all words the outer ones. Nearly all of the time of a long message goes into the second, so
//! what it reads of a document is a number or two, and lies beside that of others.

use crate::counts::bag::Bag;
use crate::counts::index::Posting;
use crate::counts::store::Store;
use crate::scoring::hidden::side::{NO_PARENT, Side};
use crate::watch::Watch;

/// Sums that postings are added to in turn.
const TURNS: usize = 4;

/// A message with its parents.
pub struct Walk<'a> {
    pub store: &'a Store,
    pub bag: &'a Bag,
    /// Their positions in it.
    pub parents: &'a [usize],
    /// r_tc, `parents × classes`.
    pub rates: &'a [f64],
    /// Position of each word's row in `rates`, or `NO_PARENT`.
    pub parent_of: &'a [u32],
}

impl<'a> Walk<'a> {
    /// Adds to `sums`, `words × classes`, over the documents on a side of each class. `documents` is 0,
    /// and is so again afterwards.
    pub fn add_sums(&self, side: Side, documents: &mut Vec<f64>, sums: &mut [f64], watch: &Watch) {
        match (self.store.classes.len(), side) {
            (2, _) => self.add_rows::<2>(side, documents, sums, watch),
            (3, _) => self.add_rows::<3>(side, documents, sums, watch),
            (4, _) => self.add_rows::<4>(side, documents, sums, watch),
            (_, Side::Class) => self.add_classes(documents, sums, watch),
            (_, Side::Complement) => self.add_complements(documents, sums, watch),
        }
    }

    /// Of few classes each document has a row of sums, 0 for classes on whose side it is not: these are
    /// read and added all at once.
    fn add_rows<const CLASSES: usize>(
        &self,
        side: Side,
        documents: &mut Vec<f64>,
        sums: &mut [f64],
        watch: &Watch,
    ) {
        let index = &self.store.index;
        let (classes, weights) = (index.classes(), index.weights());
        let add = |sum: &mut f64, slot: usize, rate: f64| *sum += weights[slot] * rate;
        match side {
            Side::Class => self.fill(documents, CLASSES, |documents, slot, rates| {
                let class = classes[slot] as usize;
                add(&mut documents[slot * CLASSES + class], slot, rates[class]);
            }),
            Side::Complement => self.fill(documents, CLASSES, |documents, slot, rates| {
                let row = &mut documents[slot * CLASSES..][..CLASSES];
                for other in (0..CLASSES).filter(|&other| other != classes[slot] as usize) {
                    add(&mut row[other], slot, rates[other]);
                }
            }),
        }
        let (rows, _) = documents.as_chunks::<CLASSES>();
        self.for_each_child(watch, sums, |runs, own, sums| {
            let mut turns = [[0.0; CLASSES]; TURNS];
            for run in runs {
                match own {
                    None => in_turn(run, &mut turns, |sums, slot, count| {
                        let row = rows[slot];
                        (0..CLASSES).for_each(|class| sums[class] += count * row[class]);
                    }),
                    // The parents of a word are others. A document has a rate of this one, so it is
                    // on the side of the classes where its row is not 0.
                    Some(own) => in_turn(run, &mut turns, |sums, slot, count| {
                        let (row, weight) = (rows[slot], weights[slot]);
                        for class in 0..CLASSES {
                            let less = masked(weight * own[class], row[class] != 0.0);
                            sums[class] += count * (row[class] - less);
                        }
                    }),
                }
            }
            for turn in turns {
                sums.iter_mut().zip(turn).for_each(|(sum, more)| *sum += more);
            }
        });
        self.clear(documents, CLASSES);
    }

    /// Of many classes each document has the sum of its own.
    fn add_classes(&self, documents: &mut Vec<f64>, sums: &mut [f64], watch: &Watch) {
        let index = &self.store.index;
        let (classes, weights) = (index.classes(), index.weights());
        self.fill(documents, 1, |documents, slot, rates| {
            documents[slot] += weights[slot] * rates[classes[slot] as usize];
        });
        self.for_each_child(watch, sums, |runs, own, sums| {
            for posting in runs.into_iter().flatten() {
                let slot = posting.slot as usize;
                let class = classes[slot] as usize;
                let less = own.map_or(0.0, |own| weights[slot] * own[class]);
                sums[class] += posting.count * (documents[slot] - less);
            }
        });
        self.clear(documents, 1);
    }

    /// Or the sums of all others.
    fn add_complements(&self, documents: &mut Vec<f64>, sums: &mut [f64], watch: &Watch) {
        let (index, width) = (&self.store.index, self.store.classes.len());
        let (classes, weights) = (index.classes(), index.weights());
        self.fill(documents, width, |documents, slot, rates| {
            let sums = &mut documents[slot * width..(slot + 1) * width];
            sums.iter_mut().zip(rates).for_each(|(sum, rate)| *sum += weights[slot] * rate);
        });
        let none = vec![0.0; width];
        self.for_each_child(watch, sums, |runs, own, sums| {
            let own = own.unwrap_or(&none);
            for posting in runs.into_iter().flatten() {
                let slot = posting.slot as usize;
                let (class, weight) = (classes[slot] as usize, weights[slot]);
                let rates = &documents[slot * width..(slot + 1) * width];
                let before = sums[class];
                for other in 0..width {
                    sums[other] += posting.count * (rates[other] - weight * own[other]);
                }
                sums[class] = before;
            }
        });
        self.clear(documents, width);
    }

    /// The parents' rates and postings.
    fn parents(&self) -> impl Iterator<Item = (&'a [f64], &'a [Posting])> {
        let Walk { store, bag, parents, rates, .. } = *self;
        let rates = rates.chunks_exact(store.classes.len().max(1));
        rates.zip(parents).flat_map(move |(rates, &position)| {
            store.index.posting_runs(bag.words[position].0).map(|run| (rates, run))
        })
    }

    /// Adds the rates of each parent to the documents that contain it, of so many numbers each.
    fn fill(
        &self,
        documents: &mut Vec<f64>,
        width: usize,
        add: impl Fn(&mut [f64], usize, &[f64]),
    ) {
        let length = self.store.index.slots() * width;
        if documents.len() < length {
            documents.resize(length, 0.0);
        }
        for (rates, run) in self.parents() {
            run.iter().for_each(|posting| add(documents, posting.slot as usize, rates));
        }
    }

    /// Sets all that was filled to 0.
    fn clear(&self, documents: &mut [f64], width: usize) {
        let (all, some) = (self.store.index.slots(), self.parents().map(|(_, run)| run.len()));
        if all <= some.sum() {
            return documents[..all * width].fill(0.0);
        }
        for posting in self.parents().flat_map(|(_, run)| run) {
            documents[posting.slot as usize * width..][..width].fill(0.0);
        }
    }

    /// Lets `add` add the postings of each word, as two runs, to its sums by class; with the rates of
    /// the word where it is a parent.
    fn for_each_child(
        &self,
        watch: &Watch,
        sums: &mut [f64],
        mut add: impl FnMut([&[Posting]; 2], Option<&[f64]>, &mut [f64]),
    ) {
        let Walk { store, bag, rates, parent_of, .. } = *self;
        let classes = store.classes.len();
        let children = bag.words.iter().zip(parent_of).zip(sums.chunks_exact_mut(classes.max(1)));
        for ((&(word, _), &parent), sums) in children {
            if watch.stops(1 + store.index.frequency(word)) {
                break;
            }
            let own = (parent != NO_PARENT).then(|| &rates[parent as usize * classes..][..classes]);
            add(store.index.posting_runs(word), own, sums);
        }
    }
}

/// The number where `keep`, else 0; without a branch, which would be guessed wrong.
#[inline]
fn masked(number: f64, keep: bool) -> f64 {
    f64::from_bits(number.to_bits() & u64::from(keep).wrapping_neg())
}

/// Lets `add` add each posting, its slot and its count, to one of the sums in turn: an addition need
/// not wait for the one before.
#[inline]
fn in_turn<const CLASSES: usize>(
    run: &[Posting],
    turns: &mut [[f64; CLASSES]; TURNS],
    add: impl Fn(&mut [f64; CLASSES], usize, f64),
) {
    let (all, left) = run.as_chunks::<TURNS>();
    for postings in all {
        for (sums, posting) in turns.iter_mut().zip(postings) {
            add(sums, posting.slot as usize, posting.count);
        }
    }
    left.iter().for_each(|posting| add(&mut turns[0], posting.slot as usize, posting.count));
}
