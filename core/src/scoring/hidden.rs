//! Hidden parents: Equations 10–18 of the HMNB paper.
//!
//! Each word i of a message has one hidden parent that mixes the qualified words t of the message:
//! P(w_i | hp_i, c) = Σ_t W_t (n_itc + α)/(L_tc + α m) / Σ_t W_t, t ≠ i, where n_itc = Σ f_ji over
//! documents j of class c that contain t, and L_tc is the length of those documents. A word with
//! no qualified parent in the message falls back to P(w_i | c).
//!
//! With r_tc = W_t/(L_tc + α m) the numerator is α Σ_t r_tc + Σ_t r_tc n_itc. The second sum comes
//! from the pair table at a cost of |d| times the parents, or from the postings of the words at
//! the cost of their document frequencies, whichever is cheaper for this message:
//! Σ_t r_tc n_itc = Σ_j f_ji Σ_{t in j} r_tc, so past documents are walked twice and never paired.

use crate::counts::bag::Bag;
use crate::counts::store::Store;
use crate::scoring::parameters::{Event, Parameters};
use crate::scoring::terms::ClassTerms;

/// One look-up in the pair table counts as this many steps along postings. On 5,206 SMS a look-up
/// took about 50 ns and a step 2.7 ns; of 1, 5, 10, 20 and 40, 20 gave the fastest predictions.
pub(crate) const PAIR_COST: usize = 20;

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
    /// Σ_{t in j} r_tc, `document slots × classes`; zero between calls.
    by_document: Vec<f64>,
}

pub(crate) const NO_PARENT: u32 = u32::MAX;

/// Which documents a hidden parent looks at.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Side {
    Class,
    Complement,
}

impl Parameters {
    /// The joint log-likelihood of the bag with hidden parents, for each class, in `out`.
    ///
    /// `parts`, where given, receives each word's own part, f_i ln P(w_i | hp_i, c), `words ×
    /// classes`, and after them one row for all tokens of unseen words.
    pub fn hidden_scores(
        &self,
        store: &Store,
        terms: &[ClassTerms],
        bag: &Bag,
        scratch: &mut HiddenScratch,
        out: &mut Vec<f64>,
        mut parts: Option<&mut Vec<f64>>,
    ) {
        out.clear();
        out.resize(terms.len(), 0.0);
        if let Some(parts) = parts.as_deref_mut() {
            parts.clear();
            parts.resize((bag.words.len() + 1) * terms.len(), 0.0);
        }
        if matches!(self.event, Event::Multinomial | Event::OneVersusAll) {
            for (score, class) in out.iter_mut().zip(terms) {
                *score += class.prior;
            }
            self.add_side(store, terms, bag, scratch, Side::Class, out, parts.as_deref_mut());
        }
        if matches!(self.event, Event::Complement | Event::OneVersusAll) {
            for (score, class) in out.iter_mut().zip(terms) {
                *score -= class.prior_complement;
            }
            self.add_side(store, terms, bag, scratch, Side::Complement, out, parts);
        }
    }

    #[expect(clippy::too_many_arguments, reason = "what the two sides share")]
    fn add_side(
        &self,
        store: &Store,
        terms: &[ClassTerms],
        bag: &Bag,
        scratch: &mut HiddenScratch,
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
                sum_pairs(store, bag, &parents, scratch, side, classes);
            } else {
                sum_postings(store, bag, &parents, scratch, side, classes);
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
            let (weight, others) = other_weight(store, &parents, bag, own);
            if others == 0 {
                let logs = self.log_word(store, terms, Some(word), side == Side::Complement);
                for (class, log) in logs.into_iter().enumerate() {
                    add(position, count, class, log);
                }
                continue;
            }
            for class in 0..classes {
                let rates = other_rates(&scratch.rates, classes, class, own);
                let sum = self.alpha * rates + scratch.sums[position * classes + class];
                add(position, count, class, (sum / weight).ln());
            }
        }
        let unseen = bag.unseen_tokens();
        if self.is_smooth() && unseen > 0.0 {
            let (weight, others) = other_weight(store, &parents, bag, NO_PARENT);
            let fallback =
                (others == 0).then(|| self.log_word(store, terms, None, side == Side::Complement));
            for class in 0..classes {
                let log = match &fallback {
                    Some(logs) => logs[class],
                    None => {
                        let rates = other_rates(&scratch.rates, classes, class, NO_PARENT);
                        (self.alpha * rates / weight).ln()
                    }
                };
                add(bag.words.len(), unseen, class, log);
            }
        }
    }

    /// The positions of the qualified parents in the bag; fills their rates.
    pub(crate) fn collect_parents(
        &self,
        store: &Store,
        bag: &Bag,
        scratch: &mut HiddenScratch,
        side: Side,
    ) -> Vec<usize> {
        let (classes, known) = (store.classes.len(), store.parents());
        let smoothing = self.alpha * self.words(store);
        let mut parents = Vec::new();
        scratch.rates.clear();
        scratch.parent_of.clear();
        for (position, &(word, _)) in bag.words.iter().enumerate() {
            let weight = known.weight(word);
            if weight <= 0.0 {
                scratch.parent_of.push(NO_PARENT);
                continue;
            }
            scratch.parent_of.push(parents.len() as u32);
            parents.push(position);
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
        parents
    }
}

/// Σ W_t over the parents other than `own`, and how many there are.
pub(crate) fn other_weight(store: &Store, parents: &[usize], bag: &Bag, own: u32) -> (f64, usize) {
    let known = store.parents();
    let others = parents.iter().enumerate().filter(|&(index, _)| index as u32 != own);
    others.fold((0.0, 0), |(weight, count), (_, &position)| {
        (weight + known.weight(bag.words[position].0), count + 1)
    })
}

/// Σ_t r_tc over the parents other than `own`.
pub(crate) fn other_rates(rates: &[f64], classes: usize, class: usize, own: u32) -> f64 {
    let column = rates.iter().skip(class).step_by(classes.max(1)).enumerate();
    column.filter(|&(index, _)| index as u32 != own).map(|(_, rate)| rate).sum()
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
    side: Side,
    classes: usize,
) {
    let HiddenScratch { rates, parent_of, sums, .. } = scratch;
    let mut add = |child: usize, parent: usize, class: usize, count: f64| {
        let rates = &rates[parent * classes..(parent + 1) * classes];
        let sums = &mut sums[child * classes..(child + 1) * classes];
        match side {
            Side::Class => sums[class] += rates[class] * count,
            // What one class has, the complements of all others have.
            Side::Complement => {
                for other in (0..classes).filter(|&other| other != class) {
                    sums[other] += rates[other] * count;
                }
            }
        }
    };
    for (parent, &position) in parents.iter().enumerate() {
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

fn sum_postings(
    store: &Store,
    bag: &Bag,
    parents: &[usize],
    scratch: &mut HiddenScratch,
    side: Side,
    classes: usize,
) {
    let HiddenScratch { rates, parent_of, sums, by_document, .. } = scratch;
    let needed = store.index.slots() * classes;
    if by_document.len() < needed {
        by_document.resize(needed, 0.0);
    }
    for (parent, &position) in parents.iter().enumerate() {
        let rates = &rates[parent * classes..(parent + 1) * classes];
        for posting in store.index.postings(bag.words[position].0) {
            let slot = posting.slot as usize * classes;
            for (sum, rate) in by_document[slot..slot + classes].iter_mut().zip(rates) {
                *sum += rate;
            }
        }
    }
    for (child, &(word, _)) in bag.words.iter().enumerate() {
        let own = match parent_of[child] {
            NO_PARENT => None,
            parent => Some(&rates[parent as usize * classes..(parent as usize + 1) * classes]),
        };
        let sums = &mut sums[child * classes..(child + 1) * classes];
        for posting in store.index.postings(word) {
            let Some(document) = store.index.document(posting.slot) else { continue };
            let slot = posting.slot as usize * classes;
            let count = document.weight * posting.count;
            let mut add = |class: usize| {
                let rate = by_document[slot + class] - own.map_or(0.0, |own| own[class]);
                sums[class] += count * rate;
            };
            match side {
                Side::Class => add(document.class as usize),
                Side::Complement => {
                    (0..classes).filter(|&other| other != document.class as usize).for_each(add);
                }
            }
        }
    }
    for &position in parents {
        for posting in store.index.postings(bag.words[position].0) {
            let slot = posting.slot as usize * classes;
            by_document[slot..slot + classes].fill(0.0);
        }
    }
}
