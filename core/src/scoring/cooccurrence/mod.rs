//! Counts of the words of a message in past documents that contain a parent.
//!
//! n_itc = Σ f_ji over the indexed documents j of class c that contain t, for two words i and t of a
//! message, t a parent. n_ttc is the number of tokens of t. The counts come from
//!
//! - the overlaps of past documents with the message: the postings of its words, arranged by
//!   document. This costs their document frequencies plus, for each parent, the overlaps of its
//!   documents;
//! - the postings of its words, which costs their document frequencies for each 32 parents.
//!
//! The cheaper source for the message is used; both give the same counts. Words that never occur
//! together are not visited.

mod simd_counts;

use crate::counts::bag::Bag;
use crate::counts::index::Slot;
use crate::counts::rows::ClassId;
use crate::counts::store::Store;
use crate::scoring::cooccurrence::simd_counts::{LANES, SimdCounts};
use crate::scoring::event_model::Query;

/// Cost of a posting in steps along an overlap: it is counted, arranged and added up. After 1,000 and
/// 5,000 SMS, 4 to 16 gave predictions of the same speed, 1 and 2 slower ones.
const POSTING_COST: usize = 4;

/// Cost of a step along a posting for 32 parallel parents, in steps along an overlap.
const SIMD_COST: usize = 3;

/// Buffers with more entries are freed after the message that needed them.
const KEPT_ENTRIES: usize = 1 << 20;

/// Reused buffers.
#[derive(Default)]
pub struct Cooccurrence {
    overlaps: Overlaps,
    lanes: SimdCounts,
}

impl Cooccurrence {
    /// Call `visit(t, i, counts)` with the positions of each parent t and each word i that occurred
    /// together with it, and n_itc of the classes in which it did. `parents` are ascending.
    pub fn visit(
        &mut self,
        query: Query<'_>,
        parents: &[usize],
        visit: impl FnMut(usize, usize, &[(ClassId, f64)]),
    ) {
        if is_cheaper_by_simd(query, parents) {
            self.lanes.visit(query, parents, visit);
        } else {
            self.overlaps.visit(query, parents, visit);
        }
    }
}

/// Reused buffers of the overlaps.
#[derive(Default)]
pub struct Overlaps {
    /// The range of each document slot in `entries`; empty between calls.
    spans: Vec<Span>,
    slots: Vec<Slot>,
    /// Position in the message, and count times document weight.
    entries: Vec<(u32, f64)>,
    /// n_itc of one parent t, `words × classes`; zero between calls.
    counts: Vec<f64>,
    /// Whether each word occurred together with t; false between calls.
    is_beside: Vec<bool>,
    /// The words that did.
    beside: Vec<u32>,
    cells: Vec<(ClassId, f64)>,
}

#[derive(Clone, Copy, Default)]
struct Span {
    start: usize,
    end: usize,
    class: ClassId,
}

impl Overlaps {
    /// See [`Cooccurrence::visit`]; i = t is included.
    pub fn visit(
        &mut self,
        query: Query<'_>,
        parents: &[usize],
        mut visit: impl FnMut(usize, usize, &[(ClassId, f64)]),
    ) {
        let Query { store, bag, watch, .. } = query;
        self.arrange(store, bag);
        let classes = store.classes.len();
        self.counts.resize(bag.words.len() * classes, 0.0);
        self.is_beside.resize(bag.words.len(), false);
        for &parent in parents {
            let mut steps = 1;
            for posting in store.index.postings(bag.words[parent].0) {
                let Span { start, end, class } = self.spans[posting.slot as usize];
                steps += end - start;
                for &(position, count) in &self.entries[start..end] {
                    self.counts[position as usize * classes + class as usize] += count;
                    if !self.is_beside[position as usize] {
                        self.is_beside[position as usize] = true;
                        self.beside.push(position);
                    }
                }
            }
            for position in self.beside.drain(..) {
                let position = position as usize;
                self.is_beside[position] = false;
                self.cells.clear();
                let row = &mut self.counts[position * classes..(position + 1) * classes];
                for (class, count) in row.iter_mut().enumerate().filter(|(_, count)| **count > 0.0)
                {
                    self.cells.push((class as ClassId, std::mem::take(count)));
                }
                visit(parent, position, &self.cells);
            }
            if watch.stops(steps) {
                break;
            }
        }
        for slot in self.slots.drain(..) {
            self.spans[slot as usize] = Span::default();
        }
        if self.entries.capacity() > KEPT_ENTRIES {
            self.entries = Vec::new();
        }
        if self.counts.capacity() > KEPT_ENTRIES {
            self.counts = Vec::new();
        }
    }

    /// Arrange the words that each past document shares with the message.
    fn arrange(&mut self, store: &Store, bag: &Bag) {
        if self.spans.len() < store.index.slots() {
            self.spans.resize(store.index.slots(), Span::default());
        }
        for &(word, _) in &bag.words {
            for posting in store.index.postings(word) {
                let length = &mut self.spans[posting.slot as usize].end;
                if *length == 0 {
                    self.slots.push(posting.slot);
                }
                *length += 1;
            }
        }
        let mut start = 0;
        for &slot in &self.slots {
            let span = &mut self.spans[slot as usize];
            let length = span.end;
            let class = store.index.document(slot).map_or(0, |document| document.class);
            *span = Span { start, end: start, class };
            start += length;
        }
        self.entries.clear();
        self.entries.resize(start, (0, 0.0));
        for (position, &(word, _)) in bag.words.iter().enumerate() {
            for posting in store.index.postings(word) {
                let weight = store.index.document(posting.slot).map_or(0.0, |d| d.weight);
                let span = &mut self.spans[posting.slot as usize];
                self.entries[span.end] = (position as u32, weight * posting.count);
                span.end += 1;
            }
        }
    }

    /// Whether the buffers are reset.
    #[cfg(test)]
    pub fn is_empty(&self) -> bool {
        let none = self.spans.iter().all(|span| span.end == 0) && self.slots.is_empty();
        none && self.counts.iter().all(|&count| count == 0.0) && self.beside.is_empty()
    }
}

fn is_cheaper_by_simd(query: Query<'_>, parents: &[usize]) -> bool {
    let Query { store, bag, .. } = query;
    let postings = query.postings();
    let of_parents = parents.iter().map(|&parent| store.index.frequency(bag.words[parent].0));
    // The mean overlap of a document with the message.
    let overlap = postings / store.index.len().max(1) + 1;
    let overlaps = POSTING_COST * postings + of_parents.sum::<usize>() * overlap;
    parents.len().div_ceil(LANES) * postings * SIMD_COST < overlaps
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::counts::store::Settings;
    use crate::watch::Watch;
    use std::collections::BTreeMap;

    const WORDS: u64 = 12;

    /// A store of 250 generated documents of three classes, the oldest evicted. Documents have weight
    /// `least` or one more.
    fn store(least: f64) -> Store {
        let settings = Settings { max_features: 1000, index_size: 150, ..Settings::COUNTS };
        let mut store = Store::new(settings);
        let mut bag = Bag::default();
        let mut state = 1u64;
        for _ in 0..250 {
            bag.clear(store.vocabulary().slots());
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            for shift in (0..24).step_by(4) {
                let name = [b'a' + ((state >> (33 + shift)) % WORDS) as u8];
                let token = store.vocabulary().token(&name);
                bag.add(store.intern(&token), 1.0);
            }
            let (class, weight) = ((state >> 60) as ClassId % 3, least + (state >> 63) as f64);
            assert!(store.learn(&mut bag, class, weight).is_ok());
        }
        store
    }

    fn message(store: &Store) -> Bag {
        let mut bag = Bag::default();
        bag.clear(store.vocabulary().slots());
        for word in [7, 2, 5, 0, 3] {
            bag.add(word, f64::from(word + 1));
        }
        bag
    }

    fn query<'a>(store: &'a Store, bag: &'a Bag, watch: &'a Watch) -> Query<'a> {
        Query { store, bag, watch, terms: &[] }
    }

    type Counts = BTreeMap<(usize, usize, ClassId), f64>;

    fn counted(
        run: impl FnOnce(&mut Cooccurrence, &mut dyn FnMut(usize, usize, &[(ClassId, f64)])),
    ) -> Counts {
        let mut counts = Counts::new();
        let mut together = Cooccurrence::default();
        run(&mut together, &mut |parent, child, cells| {
            assert!(!cells.is_empty());
            for &(class, count) in cells {
                assert!(counts.insert((parent, child, class), count).is_none());
            }
        });
        assert!(together.overlaps.is_empty() && together.lanes.is_empty());
        counts
    }

    fn literal(store: &Store, bag: &Bag, parents: &[usize]) -> Counts {
        let mut literal = Counts::new();
        for document in store.index().documents() {
            let count_of =
                |word| document.words.iter().find(|&&(other, _)| other == word).map(|w| w.1);
            for &parent in parents {
                for (child, &(word, _)) in bag.words.iter().enumerate() {
                    if let (Some(_), Some(count)) = (count_of(bag.words[parent].0), count_of(word))
                    {
                        *literal.entry((parent, child, document.class)).or_default() +=
                            document.weight * count;
                    }
                }
            }
        }
        literal
    }

    #[test]
    fn both_ways_count_what_the_documents_hold() {
        let (parents, watch) = ([0, 1, 2, 4], Watch::default());
        // Fractions, small integers, and numbers above 16 bits.
        for least in [0.5, 1.0, 40_000.0] {
            let store = store(least);
            let bag = message(&store);
            let query = query(&store, &bag, &watch);
            let literal = literal(&store, &bag, &parents);
            assert!(literal.len() > 50);
            assert_eq!(counted(|all, visit| all.overlaps.visit(query, &parents, visit)), literal);
            assert_eq!(counted(|all, visit| all.lanes.visit(query, &parents, visit)), literal);
        }
    }

    #[test]
    fn more_parents_than_lanes_are_counted_in_turns() {
        let mut store = Store::new(Settings { index_size: 100, ..Settings::COUNTS });
        let mut bag = Bag::default();
        for document in 0..60_u8 {
            bag.clear(store.vocabulary().slots());
            for word in (0..3 * LANES as u8).filter(|word| (word ^ document) % 3 > 0) {
                let name = [b'a' + word / 16, b'a' + word % 16];
                let token = store.vocabulary().token(&name);
                bag.add(store.intern(&token), f64::from(1 + word % 4));
            }
            assert!(store.learn(&mut bag, ClassId::from(document % 2), 1.0).is_ok());
        }
        bag.clear(store.vocabulary().slots());
        (0..3 * LANES as u32).for_each(|word| bag.add(word, 1.0));
        let parents: Vec<usize> = (0..2 * LANES + 5).collect();
        let watch = Watch::default();
        let query = query(&store, &bag, &watch);
        let literal = literal(&store, &bag, &parents);
        assert_eq!(counted(|all, visit| all.lanes.visit(query, &parents, visit)), literal);
        assert_eq!(counted(|all, visit| all.overlaps.visit(query, &parents, visit)), literal);
    }
}
