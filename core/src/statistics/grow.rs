//! The growth of a tree over documents, split by the word with the highest information gain.

use crate::counts::{ClassId, Document, Sample, Slice, WordId};
use crate::error::Result;
use crate::statistics::Tree;
use crate::statistics::cooccurrence::DocumentRows;
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
        let by_place = |a: WordId, b: WordId| places[a as usize].cmp(&places[b as usize]);
        let split = may_split.then(|| slice.best_splits(by_place)).flatten();
        let enough = |&Split { present, .. }: &Split| {
            present.min(slice.documents() - present) >= limits.min_samples_leaf
        };
        let Some(Split { word, .. }) = split.map(|(best, _)| best).filter(enough) else {
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

impl Tree {
    /// Grow a tree from the documents of a copy of the store.
    pub fn grown(sample: &Sample, limits: Limits) -> Tree {
        let frequencies = sample.settings().frequencies;
        grow(sample.indexed(), &sample.word_places(), limits, frequencies, |_, _| {})
    }
}

/// Grow a tree of the documents, and return the minimum depth of the splits on each word: 1 at the
/// root, and 0 without a split. Words are numbered in the order of their bytes.
pub fn depths(rows: &DocumentRows<'_>, limits: Limits, words: usize) -> Result<Vec<i64>> {
    let bounds = rows.read(words)?;
    let mut documents = Vec::with_capacity(bounds.len());
    for ((&(start, end), &class), &weight) in bounds.iter().zip(rows.classes).zip(rows.weights) {
        let words = rows.ids[start..end].iter().map(|&id| (id as WordId, 1.0)).collect();
        documents.push(Document { class: class as ClassId, weight, words });
    }
    let places: Vec<u32> = (0..words as u32).collect();
    let mut depths = vec![0; words];
    grow(&documents, &places, limits, false, |word, depth| {
        let least: &mut i64 = &mut depths[word as usize];
        *least = if *least == 0 { depth as i64 } else { (depth as i64).min(*least) };
    });
    Ok(depths)
}
