//! n_itc of a message's words from the overlaps of past documents with the message.

use crate::counts::bag::Bag;
use crate::counts::index::Slot;
use crate::counts::rows::ClassId;
use crate::counts::store::Store;
use crate::watch::Watch;

/// Buffers with more entries than this are given back after the message that needed them.
const KEPT_ENTRIES: usize = 1 << 20;

/// Reused buffers.
#[derive(Default)]
pub struct Overlaps {
    /// Where the words of each document slot lie in `entries`; empty between calls.
    spans: Vec<Span>,
    slots: Vec<Slot>,
    /// Position in the message, and count times weight.
    entries: Vec<(u32, f64)>,
    /// n_itc of one parent t, `words × classes`; zero between calls.
    counts: Vec<f64>,
    /// Which words stand beside it: as marks, false between calls, and one after the other.
    is_beside: Vec<bool>,
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
        self.lay_out(store, bag);
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

    /// Whether nothing is left of the last message.
    #[cfg(test)]
    pub fn is_empty(&self) -> bool {
        let none = self.spans.iter().all(|span| span.end == 0) && self.slots.is_empty();
        none && self.counts.iter().all(|&count| count == 0.0) && self.beside.is_empty()
    }
}
