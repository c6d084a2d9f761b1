//! Hidden parents: Equations 10–18 of the HMNB paper.
//!
//! Each word i of a message has one hidden parent that mixes the qualified words t of the message, or
//! the `max_parents` strongest of them:
//! P(w_i | hp_i, c) = Σ_t W_t (n_itc + α)/(L_tc + α m) / Σ_t W_t, t ≠ i, where n_itc = Σ f_ji over
//! documents j of class c that contain t, and L_tc is the length of those documents. A word without a
//! qualified parent in the message has P(w_i | c).
//!
//! With r_tc = W_t/(L_tc + α m) the numerator is α Σ_t r_tc + Σ_t r_tc n_itc. The second sum comes
//! from the cheaper of two sources:
//!
//! - the pair table costs |d| times the number of parents;
//! - the postings of the words cost their document frequencies. With w_j the weight of a past
//!   document, Σ_t r_tc n_itc = Σ_j w_j f_ji Σ_{t in j} r_tc. A first walk along the postings of the
//!   parents computes the inner sum of each document, a second one along those of all words the
//!   outer sums. The second walk dominates the time, so it reads one or two adjacent numbers for
//!   each document.

use crate::counts::bag::Bag;
use crate::counts::index::Posting;
use crate::counts::store::Store;
use crate::scoring::event_model::ClassTerms;
use crate::scoring::event_model::EventModel;
use crate::scoring::top_k::sums_of_others;
use crate::watch::Watch;

/// Cost of a look-up in the pair table, in steps along postings. On 5,206 SMS a look-up took about
/// 50 ns and a step 2.7 ns; among 1, 5, 10, 20 and 40, 20 gave the fastest predictions.
pub(crate) const PAIR_COST: usize = 20;

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

impl EventModel {
    /// Compute the joint log-likelihood of the bag with hidden parents for each class in `out`.
    ///
    /// `parts` receives the part of each word, f_i ln P(w_i | hp_i, c), `words × classes`, and then
    /// one row for all tokens of unseen words.
    #[expect(clippy::too_many_arguments, reason = "the signature of all families")]
    pub fn hidden_scores(
        &self,
        store: &Store,
        terms: &[ClassTerms],
        bag: &Bag,
        scratch: &mut HiddenScratch,
        watch: &Watch,
        out: &mut Vec<f64>,
        mut parts: Option<&mut Vec<f64>>,
    ) {
        out.clear();
        out.resize(terms.len(), 0.0);
        if let Some(parts) = parts.as_deref_mut() {
            parts.clear();
            parts.resize((bag.words.len() + 1) * terms.len(), 0.0);
        }
        if self.traits.own {
            for (score, class) in out.iter_mut().zip(terms) {
                *score += class.prior;
            }
            let side = Side::Class;
            self.add_side(store, terms, bag, scratch, watch, side, out, parts.as_deref_mut());
        }
        if self.traits.complement {
            for (score, class) in out.iter_mut().zip(terms) {
                *score -= class.prior_complement;
            }
            self.add_side(store, terms, bag, scratch, watch, Side::Complement, out, parts);
        }
    }

    #[expect(clippy::too_many_arguments, reason = "what the two sides share")]
    fn add_side(
        &self,
        store: &Store,
        terms: &[ClassTerms],
        bag: &Bag,
        scratch: &mut HiddenScratch,
        watch: &Watch,
        side: Side,
        out: &mut [f64],
        mut parts: Option<&mut Vec<f64>>,
    ) {
        let classes = out.len();
        let parents = self.collect_parents(store, bag, scratch, side);
        scratch.sums.clear();
        scratch.sums.resize(bag.words.len() * classes, 0.0);
        if !parents.is_empty() {
            if is_cheaper_by_pairs(store, bag, parents.len()) {
                sum_pairs(store, bag, &parents, scratch, watch, side, classes);
            } else {
                let HiddenScratch { rates, parent_of, sums, documents, .. } = scratch;
                let walk = Walk { store, bag, parents: &parents, rates, parent_of };
                walk.add_sums(side, documents, sums, watch);
            }
        }
        let sign = if side == Side::Class { 1.0 } else { -1.0 };
        let mut add = |position: usize, count: f64, class: usize, log: f64| {
            out[class] += sign * count * log;
            if let Some(parts) = parts.as_deref_mut() {
                parts[position * classes + class] += sign * count * log;
            }
        };
        for (position, &(word, count)) in bag.words.iter().enumerate() {
            let own = scratch.parent_of[position];
            let Some((weight, rates)) = scratch.others(own, classes) else {
                let logs = self.log_word(store, terms, Some(word), side == Side::Complement);
                for (class, log) in logs.into_iter().enumerate() {
                    add(position, count, class, log);
                }
                continue;
            };
            for (class, rate) in rates.iter().enumerate() {
                let sum = self.alpha * rate + scratch.sums[position * classes + class];
                add(position, count, class, (sum / weight).ln());
            }
        }
        let unseen = bag.unseen_tokens();
        if self.is_smooth() && unseen > 0.0 {
            let logs = match scratch.others(NO_PARENT, classes) {
                Some((weight, rates)) => {
                    rates.iter().map(|rate| (self.alpha * rate / weight).ln()).collect()
                }
                None => self.log_word(store, terms, None, side == Side::Complement),
            };
            for (class, log) in logs.into_iter().enumerate() {
                add(bag.words.len(), unseen, class, log);
            }
        }
    }

    /// Return the positions of the qualified parents in the bag, and compute their rates.
    pub(crate) fn collect_parents(
        &self,
        store: &Store,
        bag: &Bag,
        scratch: &mut HiddenScratch,
        side: Side,
    ) -> Vec<usize> {
        let (classes, known) = (store.classes.len(), store.parents());
        let smoothing = self.smoothing_by_parents(store);
        let parents = self.parents_of(store, bag);
        let mut weights = Vec::with_capacity(parents.len());
        scratch.rates.clear();
        scratch.parent_of.clear();
        scratch.parent_of.resize(bag.words.len(), NO_PARENT);
        for (parent, &position) in parents.iter().enumerate() {
            let word = bag.words[position].0;
            let weight = known.weight(word);
            scratch.parent_of[position] = parent as u32;
            weights.push(weight);
            let start = scratch.rates.len();
            let total: f64 = match side {
                Side::Class => 0.0,
                Side::Complement => store.rows.cells(word).map(|cell| cell.length).sum(),
            };
            scratch.rates.resize(start + classes, weight / (total + smoothing));
            for cell in store.rows.cells(word) {
                let length = match side {
                    Side::Class => cell.length,
                    Side::Complement => total - cell.length,
                };
                scratch.rates[start + cell.class as usize] = weight / (length + smoothing);
            }
        }
        sums_of_others(&weights, 1, &mut scratch.other_weights);
        if classes > 0 {
            sums_of_others(&scratch.rates, classes, &mut scratch.other_rates);
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

fn is_cheaper_by_pairs(store: &Store, bag: &Bag, parents: usize) -> bool {
    if !store.pairs.is_complete() {
        return false;
    }
    let lookups = parents * bag.words.len();
    let steps: usize = bag.words.iter().map(|&(word, _)| store.index.frequency(word)).sum();
    lookups * PAIR_COST < steps
}

fn sum_pairs(
    store: &Store,
    bag: &Bag,
    parents: &[usize],
    scratch: &mut HiddenScratch,
    watch: &Watch,
    side: Side,
    classes: usize,
) {
    let HiddenScratch { rates, parent_of, sums, .. } = scratch;
    let mut add = |child: usize, parent: usize, class: usize, count: f64| {
        let rates = &rates[parent * classes..(parent + 1) * classes];
        let sums = &mut sums[child * classes..(child + 1) * classes];
        match side {
            Side::Class => sums[class] += rates[class] * count,
            // A document of one class is in the complements of all others.
            Side::Complement => {
                for other in (0..classes).filter(|&other| other != class) {
                    sums[other] += rates[other] * count;
                }
            }
        }
    };
    for (parent, &position) in parents.iter().enumerate() {
        if watch.stops(bag.words.len()) {
            return;
        }
        let parent_word = bag.words[position].0;
        for (child, &(child_word, _)) in bag.words.iter().enumerate() {
            let mutual = parent_of[child] != NO_PARENT;
            if child == position || (mutual && child < position) {
                continue;
            }
            for pair in store.pairs.pairs(child_word, parent_word) {
                add(child, parent, pair.class as usize, pair.first);
                if mutual {
                    add(position, parent_of[child] as usize, pair.class as usize, pair.second);
                }
            }
        }
    }
}

/// The two walks along the postings of a message's words.
struct Walk<'a> {
    pub store: &'a Store,
    pub bag: &'a Bag,
    /// The positions of the parents in the bag.
    pub parents: &'a [usize],
    /// r_tc, `parents × classes`.
    pub rates: &'a [f64],
    /// Position of each word's row in `rates`, or `NO_PARENT`.
    pub parent_of: &'a [u32],
}

impl<'a> Walk<'a> {
    /// Add the sums over the documents on a side of each class to `sums`, `words × classes`.
    /// `documents` is zero before and afterwards.
    fn add_sums(&self, side: Side, documents: &mut Vec<f64>, sums: &mut [f64], watch: &Watch) {
        match (self.store.classes.len(), side) {
            (2, _) => self.add_rows::<2>(side, documents, sums, watch),
            (3, _) => self.add_rows::<3>(side, documents, sums, watch),
            (4, _) => self.add_rows::<4>(side, documents, sums, watch),
            (_, Side::Class) => self.add_classes(documents, sums, watch),
            (_, Side::Complement) => self.add_complements(documents, sums, watch),
        }
    }

    /// With few classes, each document has a row of sums, 0 for classes on whose side it is not. A row
    /// is read and added at a time.
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

    /// With many classes, each document has one sum, that of its class.
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

    /// With many classes, each document has the sums of all other classes.
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

    /// The rates and postings of the parents.
    fn parents(&self) -> impl Iterator<Item = (&'a [f64], &'a [Posting])> {
        let Walk { store, bag, parents, rates, .. } = *self;
        let rates = rates.chunks_exact(store.classes.len().max(1));
        rates.zip(parents).flat_map(move |(rates, &position)| {
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
        let length = self.store.index.slots() * width;
        if documents.len() < length {
            documents.resize(length, 0.0);
        }
        for (rates, run) in self.parents() {
            run.iter().for_each(|posting| add(documents, posting.slot as usize, rates));
        }
    }

    /// Reset the filled numbers to 0.
    fn clear(&self, documents: &mut [f64], width: usize) {
        let (all, some) = (self.store.index.slots(), self.parents().map(|(_, run)| run.len()));
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

/// The number if `keep`, else 0. A branch would often be mispredicted.
#[inline]
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
