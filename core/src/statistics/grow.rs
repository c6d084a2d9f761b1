//! The growth of a tree over documents, split by the word with the highest information gain.

use crate::counts::codec::ranks;
use crate::counts::{ClassId, Document, Slice, Store, WordId};
use crate::error::Result;
use crate::statistics::Tree;
use crate::statistics::cooccurrence::{DocumentRows, invalid};
use crate::statistics::split::{Limits, Split};

/// Grow a tree. A node is a leaf if its documents have one class, if no word has a gain, or if the
/// best split has too few documents on one side. `on_split` receives the word and the depth of each
/// split, 1 at the root.
fn grow(
    documents: &[Document],
    places: &[u32],
    limits: Limits,
    frequencies: bool,
    mut on_split: impl FnMut(WordId, usize),
) -> Tree {
    let mut tree = Tree::new(frequencies);
    let mut waiting = vec![(0, 0, (0..documents.len()).collect::<Vec<usize>>())];
    while let Some((node, depth, members)) = waiting.pop() {
        let mut slice = Slice::new(frequencies);
        for &member in &members {
            let Document { class, weight, words, .. } = &documents[member];
            slice.add(*class, words, *weight);
        }
        let may_split = depth < limits.max_depth;
        let split = may_split.then(|| slice.best_split(places)).flatten();
        let enough = |&Split { present, .. }: &Split| {
            present.min(slice.documents() - present) >= limits.min_samples_leaf
        };
        let Some(Split { word, .. }) = split.filter(enough) else {
            tree.fill(node, slice);
            continue;
        };
        let contains = |&member: &usize| {
            documents[member].words.binary_search_by_key(&word, |&(word, _)| word).is_ok()
        };
        let (with, without) = members.into_iter().partition(contains);
        if let Some((present, absent)) = tree.split(node, word) {
            on_split(word, depth + 1);
            waiting.extend([(absent, depth + 1, without), (present, depth + 1, with)]);
        }
    }
    tree
}

/// A copy of the documents of a store, so that a tree grows while the store is in use.
pub struct Sample {
    documents: Vec<Document>,
    /// The place of each word in the order of bytes.
    places: Vec<u32>,
    frequencies: bool,
    pub layout: u64,
    pub version: u64,
}

impl Sample {
    pub fn of(store: &Store) -> Self {
        let vocabulary = &store.vocabulary;
        Sample {
            documents: store.index.documents().cloned().collect(),
            places: ranks(&vocabulary.sorted_ids(), vocabulary.slots()),
            frequencies: store.settings.frequencies,
            layout: store.layout,
            version: store.version,
        }
    }

    /// Grow a tree from the documents.
    pub fn grow(&self, limits: Limits) -> Tree {
        grow(&self.documents, &self.places, limits, self.frequencies, |_, _| {})
    }
}

/// Grow a tree of the documents, and return the minimum depth of the splits on each word: 1 at the
/// root, and 0 without a split. `order` has the words in the order of their bytes.
pub fn depths(
    rows: &DocumentRows<'_>,
    order: &[i64],
    limits: Limits,
    words: usize,
) -> Result<Vec<i64>> {
    let bounds = rows.read(words)?;
    let mut documents = Vec::with_capacity(bounds.len());
    for ((&(start, end), &class), &weight) in bounds.iter().zip(rows.classes).zip(rows.weights) {
        let words = rows.ids[start..end].iter().map(|&id| (id as WordId, 1.0)).collect();
        documents.push(Document { class: class as ClassId, weight, words });
    }
    let mut places = vec![u32::MAX; words];
    for (place, &id) in order.iter().enumerate() {
        match usize::try_from(id).ok().and_then(|id| places.get_mut(id)) {
            Some(slot) => *slot = place as u32,
            None => return invalid("a word out of range"),
        }
    }
    let mut depths = vec![0; words];
    grow(&documents, &places, limits, false, |word, depth| {
        let least: &mut i64 = &mut depths[word as usize];
        *least = if *least == 0 { depth as i64 } else { (depth as i64).min(*least) };
    });
    Ok(depths)
}
