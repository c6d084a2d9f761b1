//! Hidden parents: Equations 10–18 of the HMNB paper.
//!
//! Each word i of a message has one hidden parent that mixes the qualified words t of the message, or
//! the `max_parents` strongest of them:
//! P(w_i | hp_i, c) = Σ_t W_t (n_itc + α)/(L_tc + α m) / Σ_t W_t, t ≠ i, where n_itc = Σ f_ji over
//! documents j of class c that contain t, and L_tc is the length of those documents. A word without a
//! qualified parent in the message has P(w_i | c).
//!
//! With r_tc = W_t/(L_tc + α m) the numerator is α Σ_t r_tc + Σ_t r_tc n_itc. The second sum comes
//! from the postings of the words, which cost their document frequencies. With w_j the weight of a
//! past document, Σ_t r_tc n_itc = Σ_j w_j f_ji Σ_{t in j} r_tc. A first walk along the postings of
//! the parents computes the inner sum of each document, a second one along those of all words the
//! outer sums. The second walk dominates the time, so it reads one or two adjacent numbers for each
//! document.

use crate::counts::WordId;
use crate::counts::index::Posting;
use crate::scoring::composition::Traits;
use crate::scoring::top_k::sums_of_others;
use crate::scoring::{EventModel, Output, Query};

/// The parent row of a word that is not a parent.
pub(crate) const NO_PARENT: u32 = u32::MAX;

/// Number of sums that postings are added to in turn.
const TURNS: usize = 4;

/// The documents that a hidden parent is estimated from.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Side {
    Class,
    Complement,
}

/// Reused buffers.
#[derive(Default)]
pub struct HiddenScratch {
    /// r_tc of the parents, `parents × classes`.
    pub(crate) rates: Vec<f64>,
    /// Position of each word's row in `rates`, or `NO_PARENT`.
    pub(crate) parent_of: Vec<u32>,
    /// Σ_t r_tc n_itc, `words × classes`.
    pub(crate) sums: Vec<f64>,
    /// n_itc of one parent t, `words × classes`.
    pub(crate) together: Vec<f64>,
    /// Sums of r_tc over all parents except one, `parents × classes`, followed by the sum over all.
    pub(crate) other_rates: Vec<f64>,
    /// The same sums of W_t.
    pub(crate) other_weights: Vec<f64>,
    /// Sums of past documents, by slot; zero between calls.
    documents: Vec<f64>,
}

impl Side {
    /// The sign of its logarithms in a score.
    pub(crate) fn sign(self) -> f64 {
        if self == Side::Class { 1.0 } else { -1.0 }
    }

    /// Add the logarithms of the priors of this side.
    pub(crate) fn add_priors(self, query: Query<'_>, out: &mut Output<'_>) {
        for (score, class) in out.scores.iter_mut().zip(query.terms) {
            *score += match self {
                Side::Class => class.prior,
                Side::Complement => -class.prior_complement,
            };
        }
    }
}

/// Append W_t / (L_tc + `smoothing`) of a word t for each class.
pub(crate) fn push_rates(
    query: Query<'_>,
    word: WordId,
    side: Side,
    (weight, smoothing): (f64, f64),
    rates: &mut Vec<f64>,
) {
    let cells = query.store.rows.cells(word);
    let total: f64 = match side {
        Side::Class => 0.0,
        Side::Complement => cells.clone().map(|cell| cell.length).sum(),
    };
    let start = rates.len();
    rates.resize(start + query.terms.len(), weight / (total + smoothing));
    for cell in cells {
        let length = if side == Side::Class { cell.length } else { total - cell.length };
        rates[start + cell.class as usize] = weight / (length + smoothing);
    }
}

impl EventModel {
    /// Compute the joint log-likelihood of the bag with hidden parents for each class.
    pub(crate) fn hidden_scores(
        &self,
        query: Query<'_>,
        scratch: &mut HiddenScratch,
        out: &mut Output<'_>,
    ) {
        out.clear(query);
        for side in self.sides() {
            side.add_priors(query, out);
            let parents = self.collect_parents(query, scratch, side);
            scratch.sums.clear();
            scratch.sums.resize(query.bag.words.len() * query.terms.len(), 0.0);
            if !parents.is_empty() {
                let HiddenScratch { rates, parent_of, sums, documents, .. } = scratch;
                let walk = Walk { query, parents: &parents, rates, parent_of };
                walk.add_sums(side, documents, sums);
            }
            self.add_logs(query, scratch, side, out, |sum, rate, weight| {
                ((self.alpha * rate + sum.unwrap_or(0.0)) / weight).ln()
            });
        }
    }

    /// The sides whose terms the score has.
    pub(crate) fn sides(&self) -> impl Iterator<Item = Side> {
        let Traits { own, complement, .. } = self.traits;
        [(Side::Class, own), (Side::Complement, complement)]
            .into_iter()
            .filter_map(|(side, has)| has.then_some(side))
    }

    /// Add the logarithms of all words, and of the unseen ones. `log` computes them from the sum of a
    /// known word, Σ r_tc and Σ W_t of its parents; a word without parents has P(w_i | c).
    pub(crate) fn add_logs(
        &self,
        query: Query<'_>,
        scratch: &HiddenScratch,
        side: Side,
        out: &mut Output<'_>,
        log: impl Fn(Option<f64>, f64, f64) -> f64,
    ) {
        let (words, classes) = (&query.bag.words, query.terms.len());
        let unseen = if self.is_smooth() { query.bag.unseen_tokens() } else { 0.0 };
        for position in 0..=words.len() {
            let (word, count) = match words.get(position) {
                Some(&(word, count)) => (Some(word), count),
                None if unseen > 0.0 => (None, unseen),
                None => break,
            };
            let count = side.sign() * count;
            let row = position * classes;
            let parent = scratch.parent_of.get(position).copied().unwrap_or(NO_PARENT);
            if let Some((weight, rates)) = scratch.others(parent, classes) {
                for (class, &rate) in rates.iter().enumerate() {
                    let sum = scratch.sums.get(row + class).copied();
                    out.add(class, row + class, count * log(sum, rate, weight));
                }
            } else {
                let logs = self.log_word(query, word, side == Side::Complement);
                for (class, log) in logs.into_iter().enumerate() {
                    out.add(class, row + class, count * log);
                }
            }
        }
    }

    /// Return the positions of the qualified parents in the bag, and compute their rates.
    pub(crate) fn collect_parents(
        &self,
        query: Query<'_>,
        scratch: &mut HiddenScratch,
        side: Side,
    ) -> Vec<usize> {
        let Query { store, bag, terms, .. } = query;
        let smoothing = self.smoothing_by_parents(store);
        let parents = self.parents_of(store, bag);
        let mut weights = Vec::with_capacity(parents.len());
        scratch.rates.clear();
        scratch.parent_of.clear();
        scratch.parent_of.resize(bag.words.len(), NO_PARENT);
        for (parent, &position) in parents.iter().enumerate() {
            let word = bag.words[position].0;
            let weight = store.parents().weight(word);
            scratch.parent_of[position] = parent as u32;
            weights.push(weight);
            push_rates(query, word, side, (weight, smoothing), &mut scratch.rates);
        }
        sums_of_others(&weights, 1, &mut scratch.other_weights);
        if !terms.is_empty() {
            sums_of_others(&scratch.rates, terms.len(), &mut scratch.other_rates);
        }
        parents
    }
}

impl HiddenScratch {
    /// Σ W_t and, by class, Σ r_tc over the parents other than `own`; None without other parents.
    pub(crate) fn others(&self, own: u32, classes: usize) -> Option<(f64, &[f64])> {
        let parents = self.other_weights.len() - 1;
        let (row, others) =
            if own == NO_PARENT { (parents, parents) } else { (own as usize, parents - 1) };
        let rates = self.other_rates.get(row * classes..(row + 1) * classes)?;
        (others > 0).then(|| (self.other_weights[row], rates))
    }
}

/// The two walks along the postings of a message's words.
struct Walk<'a> {
    query: Query<'a>,
    /// The positions of the parents in the bag.
    parents: &'a [usize],
    /// r_tc, `parents × classes`.
    rates: &'a [f64],
    /// Position of each word's row in `rates`, or `NO_PARENT`.
    parent_of: &'a [u32],
}

impl<'a> Walk<'a> {
    /// Add the sums over the documents on a side of each class to `sums`, `words × classes`.
    /// `documents` is zero before and afterwards.
    fn add_sums(&self, side: Side, documents: &mut Vec<f64>, sums: &mut [f64]) {
        match (self.query.terms.len(), side) {
            (2, _) => self.add_rows::<2>(side, documents, sums),
            (3, _) => self.add_rows::<3>(side, documents, sums),
            (4, _) => self.add_rows::<4>(side, documents, sums),
            (_, Side::Class) => self.add_classes(documents, sums),
            (_, Side::Complement) => self.add_complements(documents, sums),
        }
    }

    /// With few classes, each document has a row of sums, 0 for classes on whose side it is not. A row
    /// is read and added at a time.
    fn add_rows<const CLASSES: usize>(
        &self,
        side: Side,
        documents: &mut Vec<f64>,
        sums: &mut [f64],
    ) {
        let index = &self.query.store.index;
        let (classes, weights) = (&index.classes[..], &index.weights[..]);
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
        self.for_each_child(sums, |runs, own, sums| {
            let mut turns = [[0.0; CLASSES]; TURNS];
            for run in runs {
                match own {
                    None => in_turn(run, &mut turns, |sums, slot, count| {
                        let row = rows[slot];
                        (0..CLASSES).for_each(|class| sums[class] += count * row[class]);
                    }),
                    // A word is not its own parent, so its rate is subtracted. A document is on the
                    // side of the classes for which its row is not 0.
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

    /// With many classes, each document has one sum, for its class.
    fn add_classes(&self, documents: &mut Vec<f64>, sums: &mut [f64]) {
        let index = &self.query.store.index;
        let (classes, weights) = (&index.classes[..], &index.weights[..]);
        self.fill(documents, 1, |documents, slot, rates| {
            documents[slot] += weights[slot] * rates[classes[slot] as usize];
        });
        self.for_each_child(sums, |runs, own, sums| {
            for posting in runs.into_iter().flatten() {
                let slot = posting.slot as usize;
                let class = classes[slot] as usize;
                let less = own.map_or(0.0, |own| weights[slot] * own[class]);
                sums[class] += posting.count * (documents[slot] - less);
            }
        });
        self.clear(documents, 1);
    }

    /// With many classes, each document has the sums of all other classes.
    fn add_complements(&self, documents: &mut Vec<f64>, sums: &mut [f64]) {
        let (index, width) = (&self.query.store.index, self.query.terms.len());
        let (classes, weights) = (&index.classes[..], &index.weights[..]);
        self.fill(documents, width, |documents, slot, rates| {
            let sums = &mut documents[slot * width..(slot + 1) * width];
            sums.iter_mut().zip(rates).for_each(|(sum, rate)| *sum += weights[slot] * rate);
        });
        let none = vec![0.0; width];
        self.for_each_child(sums, |runs, own, sums| {
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

    /// The rates and postings of the parents.
    fn parents(&self) -> impl Iterator<Item = (&'a [f64], &'a [Posting])> {
        let Walk { query: Query { store, bag, terms, .. }, parents, rates, .. } = *self;
        rates.chunks_exact(terms.len().max(1)).zip(parents).flat_map(move |(rates, &position)| {
            store.index.posting_runs(bag.words[position].0).map(|run| (rates, run))
        })
    }

    /// Add the rates of each parent to the documents that contain it, `width` numbers each.
    fn fill(
        &self,
        documents: &mut Vec<f64>,
        width: usize,
        add: impl Fn(&mut [f64], usize, &[f64]),
    ) {
        let length = self.query.store.index.slots() * width;
        if documents.len() < length {
            documents.resize(length, 0.0);
        }
        for (rates, run) in self.parents() {
            run.iter().for_each(|posting| add(documents, posting.slot as usize, rates));
        }
    }

    /// Reset the filled numbers to 0.
    fn clear(&self, documents: &mut [f64], width: usize) {
        let (all, some) =
            (self.query.store.index.slots(), self.parents().map(|(_, run)| run.len()));
        if all <= some.sum() {
            return documents[..all * width].fill(0.0);
        }
        for posting in self.parents().flat_map(|(_, run)| run) {
            documents[posting.slot as usize * width..][..width].fill(0.0);
        }
    }

    /// Call `add` with the postings of each word as two runs, the rates of the word if it is a parent,
    /// and its sums by class.
    fn for_each_child(
        &self,
        sums: &mut [f64],
        mut add: impl FnMut([&[Posting]; 2], Option<&[f64]>, &mut [f64]),
    ) {
        let Walk { query: Query { store, bag, terms, watch }, rates, parent_of, .. } = *self;
        let classes = terms.len();
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

/// The number if `keep`, else 0. A branch would often be mispredicted.
fn masked(number: f64, keep: bool) -> f64 {
    f64::from_bits(number.to_bits() & u64::from(keep).wrapping_neg())
}

/// Call `add` with each posting and one of the sums in turn, so that consecutive additions are
/// independent.
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
