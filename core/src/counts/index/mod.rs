//! The bounded document index: the most recent documents in order of arrival, with postings.

mod stored;

use crate::counts::alloc::element;
use crate::counts::array::{Array, Piecewise};
use crate::counts::{ClassId, WordId};
use std::collections::VecDeque;
use std::sync::Arc;

/// Position of a document in the index; reused after eviction.
pub type Slot = u32;

/// A learned document: its words ordered by id, each once.
#[derive(Clone, Debug, PartialEq)]
pub struct Document {
    pub class: ClassId,
    pub weight: f64,
    /// Shared with the copies that statistics are computed from.
    pub words: Arc<[(WordId, f64)]>,
}

impl Document {
    /// Tokens of the document.
    pub fn length(&self) -> f64 {
        self.words.iter().map(|&(_, count)| count).sum()
    }

    /// The document with another class id and other word ids.
    pub fn renamed(&self, class: ClassId, word_of: &[WordId]) -> Self {
        let renamed = |&(word, count): &(WordId, f64)| (word_of[word as usize], count);
        let mut words: Vec<_> = self.words.iter().map(renamed).collect();
        words.sort_unstable_by_key(|&(word, _)| word);
        Document { class, words: words.into(), ..*self }
    }
}

/// One occurrence of a word in an indexed document.
#[derive(Clone, Copy)]
pub struct Posting {
    pub slot: Slot,
    pub count: f64,
}

/// The documents, oldest first.
#[derive(Clone, Default)]
pub struct Recent {
    slots: Array<Option<Document>>,
    order: VecDeque<Slot>,
}

impl Recent {
    fn document(&self, slot: Slot) -> Option<&Document> {
        self.slots.get(slot as usize).and_then(Option::as_ref)
    }

    fn document_mut(&mut self, slot: Slot) -> Option<&mut Document> {
        self.slots.get_mut(slot as usize).and_then(Option::as_mut)
    }

    /// Documents, oldest first.
    pub fn documents(&self) -> impl DoubleEndedIterator<Item = &Document> {
        self.order.iter().filter_map(|&slot| self.document(slot))
    }

    /// The array that grows with the documents.
    pub fn array(&mut self) -> &mut dyn Piecewise {
        &mut self.slots
    }
}

/// The documents, oldest first, and for each word the documents that contain it, oldest first.
#[derive(Clone, Default)]
pub struct Index {
    recent: Recent,
    /// Properties read for many documents, by slot: classes, weights, and lengths of the count
    /// vectors.
    pub classes: Vec<ClassId>,
    pub weights: Vec<f64>,
    norms: Vec<f64>,
    free: Vec<Slot>,
    postings: Vec<VecDeque<Posting>>,
    /// Number of postings.
    entries: usize,
}

impl Index {
    pub fn len(&self) -> usize {
        self.recent.order.len()
    }

    pub fn is_empty(&self) -> bool {
        self.recent.order.is_empty()
    }

    /// Number of different words of each document, added up.
    pub fn entries(&self) -> usize {
        self.entries
    }

    /// Number of slots ever used: the length of arrays indexed by slot.
    pub fn slots(&self) -> usize {
        self.recent.slots.len()
    }

    pub fn document(&self, slot: Slot) -> Option<&Document> {
        self.recent.document(slot)
    }

    /// The Euclidean length of a document's count vector.
    pub fn norm(&self, slot: Slot) -> f64 {
        self.norms[slot as usize]
    }

    /// Documents, oldest first.
    pub fn documents(&self) -> impl DoubleEndedIterator<Item = &Document> {
        self.recent.documents()
    }

    pub fn recent(&self) -> &Recent {
        &self.recent
    }

    pub fn recent_mut(&mut self) -> &mut Recent {
        &mut self.recent
    }

    pub fn postings(&self, word: WordId) -> impl DoubleEndedIterator<Item = &Posting> {
        self.postings.get(word as usize).into_iter().flatten()
    }

    /// The postings of a word, oldest first, as two contiguous runs: for long walks.
    pub fn posting_runs(&self, word: WordId) -> [&[Posting]; 2] {
        let (older, younger) =
            self.postings.get(word as usize).map_or((&[][..], &[][..]), VecDeque::as_slices);
        [older, younger]
    }

    /// Number of indexed documents that contain a word.
    pub fn frequency(&self, word: WordId) -> usize {
        self.postings.get(word as usize).map_or(0, VecDeque::len)
    }

    pub fn push(&mut self, document: Document) {
        let slot = self.free.pop().unwrap_or(self.recent.slots.len() as Slot);
        for &(word, count) in &*document.words {
            element(&mut self.postings, word as usize).push_back(Posting { slot, count });
        }
        self.entries += document.words.len();
        self.recent.order.push_back(slot);
        *element(&mut self.classes, slot as usize) = document.class;
        *element(&mut self.weights, slot as usize) = document.weight;
        *element(&mut self.norms, slot as usize) = norm(&document.words);
        *self.recent.slots.element(slot as usize) = Some(document);
    }

    /// Removes and returns the oldest document.
    pub fn pop_oldest(&mut self) -> Option<Document> {
        let slot = self.recent.order.pop_front()?;
        self.take(slot)
    }

    /// Removes and returns the document in a slot.
    pub fn remove(&mut self, slot: Slot) -> Option<Document> {
        let position = self.recent.order.iter().rposition(|&other| other == slot)?;
        self.recent.order.remove(position);
        self.take(slot)
    }

    pub fn set_weight(&mut self, slot: Slot, weight: f64) {
        if let Some(document) = self.recent.document_mut(slot) {
            document.weight = weight;
            self.weights[slot as usize] = weight;
        }
    }

    /// The documents with this class and these words (ordered by id), newest first.
    pub fn matches(&self, class: ClassId, words: &[(WordId, f64)]) -> Vec<Slot> {
        let same = |slot: Slot| {
            self.document(slot)
                .is_some_and(|document| document.class == class && *document.words == *words)
        };
        match words.iter().min_by_key(|&&(word, _)| self.frequency(word)) {
            Some(&(rarest, _)) => {
                self.postings(rarest).rev().map(|p| p.slot).filter(|&slot| same(slot)).collect()
            }
            None => self.recent.order.iter().rev().copied().filter(|&slot| same(slot)).collect(),
        }
    }

    /// The documents that contain at least one of some words.
    pub fn with_any(&self, words: &[WordId]) -> Vec<Slot> {
        let postings = words.iter().flat_map(|&word| self.postings(word));
        let mut slots: Vec<Slot> = postings.map(|posting| posting.slot).collect();
        slots.sort_unstable();
        slots.dedup();
        slots
    }

    /// Replaces the words of a document by a subset; it keeps its place.
    pub fn set_words(&mut self, slot: Slot, words: Arc<[(WordId, f64)]>) {
        if let Some(document) = self.recent.document_mut(slot) {
            self.norms[slot as usize] = norm(&words);
            self.entries = self.entries + words.len() - document.words.len();
            document.words = words;
        }
    }

    /// Drops the postings of a word that no document contains.
    pub fn forget_word(&mut self, word: WordId) {
        if let Some(postings) = self.postings.get_mut(word as usize) {
            *postings = VecDeque::new();
        }
    }

    fn take(&mut self, slot: Slot) -> Option<Document> {
        let document = self.recent.slots.get_mut(slot as usize)?.take()?;
        self.entries -= document.words.len();
        for &(word, _) in &*document.words {
            let postings = &mut self.postings[word as usize];
            // The oldest document is first in each of its words' postings.
            if postings.front().is_some_and(|posting| posting.slot == slot) {
                postings.pop_front();
            } else if let Some(position) = postings.iter().rposition(|p| p.slot == slot) {
                postings.remove(position);
            }
            if postings.is_empty() {
                *postings = VecDeque::new();
            }
        }
        self.free.push(slot);
        Some(document)
    }

    pub fn size(&self) -> usize {
        let words: usize = self.documents().map(|document| size_of_val(&*document.words)).sum();
        let postings: usize = self.postings.iter().map(VecDeque::capacity).sum();
        words
            + postings * size_of::<Posting>()
            + self.postings.len() * size_of::<VecDeque<Posting>>()
            + self.recent.slots.len() * size_of::<Option<Document>>()
            + self.recent.slots.len() * (size_of::<ClassId>() + 2 * size_of::<f64>())
            + (self.recent.order.capacity() + self.free.capacity()) * size_of::<Slot>()
    }
}

/// The Euclidean length of counts, also of tiny ones, whose squares underflow.
pub fn length(counts: impl Iterator<Item = f64> + Clone) -> f64 {
    const SCALE: f64 = f64::from_bits((1023 + 800) << 52); // 2^800
    let squares: f64 = counts.clone().map(|count| count * count).sum();
    if squares < f64::MIN_POSITIVE {
        return counts.map(|count| (count * SCALE).powi(2)).sum::<f64>().sqrt() / SCALE;
    }
    squares.sqrt()
}

fn norm(words: &[(WordId, f64)]) -> f64 {
    length(words.iter().map(|&(_, count)| count))
}
