//! How often the words of a message stand together in past documents.
//!
//! n_itc = Σ f_ji over the indexed documents j of class c that contain t, for two words i and t of a
//! message, i = t included: there n_ttc is the tokens of t in them. The counts come from the pair
//! table, at a look-up for each two words, or from the overlaps of past documents with the message:
//! the postings of its words, laid out document by document, at the cost of their document
//! frequencies plus the squares of the overlaps. Words that never stand together are not visited.

use crate::counts::bag::Bag;
use crate::counts::rows::ClassId;
use crate::counts::store::Store;
use crate::scoring::hidden::PAIR_COST;

/// Each posting costs about so many steps: to count, to lay out, and to add up beside the words it
/// overlaps with. After 1,000 and 5,000 SMS, 4 to 16 gave predictions of the same speed, 1 and 2
/// slower ones.
const POSTING_COST: usize = 4;

/// Buffers with more entries than this are given back after the message that needed them.
const KEPT_ENTRIES: usize = 1 << 20;

/// Reused buffers.
#[derive(Default)]
pub struct Together {
    /// (class, n_itc) of a word and a parent, and of the two the other way round.
    cells: Vec<(ClassId, f64)>,
    mirrored: Vec<(ClassId, f64)>,
    /// Where the words of each document slot lie in `entries`; empty between calls.
    spans: Vec<Span>,
    slots: Vec<u32>,
    /// Position in the message, and count times weight.
    entries: Vec<(u32, f64)>,
    /// n_itc of one parent t, `words × classes`; zero between calls.
    counts: Vec<f64>,
    /// Which words stand beside it; false between calls.
    beside: Vec<bool>,
}

#[derive(Clone, Copy, Default)]
struct Span {
    start: usize,
    end: usize,
    class: ClassId,
}

impl Together {
    /// Calls `visit(t, i, counts)` with the positions of a parent t and a word i that it stands
    /// together with, and n_itc for the classes in which it does.
    pub fn visit(
        &mut self,
        store: &Store,
        bag: &Bag,
        is_parent: impl Fn(usize) -> bool,
        visit: impl FnMut(usize, usize, &[(ClassId, f64)]),
    ) {
        if is_cheaper_by_pairs(store, bag) {
            self.visit_pairs(store, bag, is_parent, visit);
        } else {
            self.visit_overlaps(store, bag, is_parent, visit);
        }
    }

    fn visit_pairs(
        &mut self,
        store: &Store,
        bag: &Bag,
        is_parent: impl Fn(usize) -> bool,
        mut visit: impl FnMut(usize, usize, &[(ClassId, f64)]),
    ) {
        for (a, &(word, _)) in bag.words.iter().enumerate() {
            bag.words[a..].iter().for_each(|&(other, _)| store.pairs.touch(word, other));
            for (b, &(other, _)) in bag.words.iter().enumerate().skip(a) {
                if !is_parent(a) && !is_parent(b) {
                    continue;
                }
                self.cells.clear();
                self.mirrored.clear();
                for pair in store.pairs.pairs(word, other) {
                    self.cells.push((pair.class, pair.first));
                    self.mirrored.push((pair.class, pair.second));
                }
                if self.cells.is_empty() {
                    continue;
                }
                if is_parent(b) {
                    visit(b, a, &self.cells);
                }
                if a != b && is_parent(a) {
                    visit(a, b, &self.mirrored);
                }
            }
        }
    }

    fn visit_overlaps(
        &mut self,
        store: &Store,
        bag: &Bag,
        is_parent: impl Fn(usize) -> bool,
        mut visit: impl FnMut(usize, usize, &[(ClassId, f64)]),
    ) {
        self.lay_out(store, bag);
        let classes = store.classes.len();
        self.counts.resize(bag.words.len() * classes, 0.0);
        self.beside.resize(bag.words.len(), false);
        for parent in (0..bag.words.len()).filter(|&position| is_parent(position)) {
            for posting in store.index.postings(bag.words[parent].0) {
                let Span { start, end, class } = self.spans[posting.slot as usize];
                for &(position, count) in &self.entries[start..end] {
                    self.counts[position as usize * classes + class as usize] += count;
                    self.beside[position as usize] = true;
                }
            }
            for position in 0..bag.words.len() {
                if !std::mem::take(&mut self.beside[position]) {
                    continue;
                }
                self.cells.clear();
                let row = &mut self.counts[position * classes..(position + 1) * classes];
                for (class, count) in row.iter_mut().enumerate().filter(|(_, count)| **count > 0.0)
                {
                    self.cells.push((class as ClassId, std::mem::take(count)));
                }
                visit(parent, position, &self.cells);
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

    /// Lays out the words that each past document shares with the message.
    fn lay_out(&mut self, store: &Store, bag: &Bag) {
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
}

fn is_cheaper_by_pairs(store: &Store, bag: &Bag) -> bool {
    if !(store.pairs.is_complete() && store.settings.own_pairs) {
        return false;
    }
    let lookups = bag.words.len() * (bag.words.len() + 1) / 2;
    let postings: usize = bag.words.iter().map(|&(word, _)| store.index.frequency(word)).sum();
    lookups * PAIR_COST < postings * POSTING_COST
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::counts::store::Settings;
    use crate::statistics::parents::Parents;
    use std::collections::BTreeMap;

    const WORDS: u64 = 12;

    /// A store of 250 made-up documents of three classes, of which the oldest were evicted; all
    /// words but the first are parents.
    pub(crate) fn made_up_store(max_pairs: usize) -> Store {
        let mut store = Store::new(Settings {
            max_words: 1000,
            max_documents: 150,
            max_pairs,
            own_pairs: true,
            ..Settings::COUNTS
        });
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
            let (class, weight) = ((state >> 60) as ClassId % 3, 0.5 + (state >> 63) as f64);
            assert!(store.learn(&mut bag, class, weight).is_ok());
        }
        let weights = (0..store.vocabulary().slots()).map(|word| word as f64 * 0.125);
        let (weights, layout) = (weights.collect(), store.layout());
        assert!(store.swap_in(Parents::new(weights), layout, 0).is_ok());
        store
    }

    pub(crate) fn made_up_message(store: &Store) -> Bag {
        let mut bag = Bag::default();
        bag.clear(store.vocabulary().slots());
        for word in [7, 2, 5, 0, 3] {
            bag.add(word, f64::from(word + 1));
        }
        bag.add_unseen(99, 2.0);
        bag
    }

    type Counts = BTreeMap<(usize, usize, ClassId), f64>;

    fn counted(
        run: impl FnOnce(&mut Together, &mut dyn FnMut(usize, usize, &[(ClassId, f64)])),
    ) -> Counts {
        let mut counts = Counts::new();
        let mut together = Together::default();
        run(&mut together, &mut |parent, child, cells| {
            assert!(!cells.is_empty());
            for &(class, count) in cells {
                assert!(counts.insert((parent, child, class), count).is_none());
            }
        });
        assert!(together.spans.iter().all(|span| span.end == 0) && together.slots.is_empty());
        assert!(together.counts.iter().all(|&count| count == 0.0));
        counts
    }

    #[test]
    fn both_ways_count_what_the_documents_hold() {
        let store = made_up_store(10_000);
        let bag = made_up_message(&store);
        let is_parent = |position: usize| position != 3;
        let pairs = counted(|together, visit| together.visit_pairs(&store, &bag, is_parent, visit));
        let overlaps =
            counted(|together, visit| together.visit_overlaps(&store, &bag, is_parent, visit));
        let mut literal = Counts::new();
        for document in store.index().documents() {
            let count_of =
                |word| document.words.iter().find(|&&(other, _)| other == word).map(|w| w.1);
            for (parent, &(parent_word, _)) in bag.words.iter().enumerate() {
                for (child, &(child_word, _)) in bag.words.iter().enumerate() {
                    if let (true, Some(_), Some(count)) =
                        (is_parent(parent), count_of(parent_word), count_of(child_word))
                    {
                        *literal.entry((parent, child, document.class)).or_default() +=
                            document.weight * count;
                    }
                }
            }
        }
        assert!(literal.len() > 50);
        assert_eq!(pairs, literal);
        assert_eq!(overlaps, literal);
    }

    #[test]
    fn a_dropped_table_leaves_the_overlaps() {
        let (with, without) = (made_up_store(10_000), made_up_store(0));
        let bag = made_up_message(&with);
        assert!(is_cheaper_by_pairs(&with, &bag));
        assert!(!is_cheaper_by_pairs(&without, &bag));
        let run =
            |store: &Store| counted(|together, visit| together.visit(store, &bag, |_| true, visit));
        assert_eq!(run(&with), run(&without));
    }
}
