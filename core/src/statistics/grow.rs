//! The growth of a tree over documents, split by the word with the highest information gain.

use crate::counts::{ClassId, Document, Sample, Slice, WordId};
use crate::error::Result;
use crate::statistics::Tree;
use crate::statistics::cooccurrence::DocumentRows;
use crate::statistics::split::{Limits, Split, best_of, weigh};
use std::cmp::Ordering;

/// The sums of the words of a node, by word. They are 0 between two nodes.
struct Sums {
    /// Documents with a word, of all classes and of the class at hand.
    present: Vec<f64>,
    of_class: Vec<f64>,
    /// Σ_c [L(a_c) + L(n_c − a_c) − L(n_c)] with L(x) = x ln x, as in [`Slice::best_splits`].
    terms: Vec<f64>,
    /// The words of the node, and of the class at hand.
    words: Vec<WordId>,
    class_words: Vec<WordId>,
}

impl Sums {
    fn new(words: usize) -> Self {
        let zeros = || vec![0.0; words];
        let (present, of_class, terms) = (zeros(), zeros(), zeros());
        Sums { present, of_class, terms, words: Vec::new(), class_words: Vec::new() }
    }

    /// Return the best split of documents that are grouped by class; None if all have one class, or no
    /// word has a gain.
    fn best_split(
        &mut self,
        documents: &[Document],
        members: &[usize],
        order: impl Fn(WordId, WordId) -> Ordering,
    ) -> Option<Split> {
        let Sums { present, of_class, terms, words, class_words } = self;
        let groups = || members.chunk_by(|&a, &b| documents[a].class == documents[b].class);
        if groups().count() < 2 {
            return None;
        }
        let mut n = 0.0;
        for group in groups() {
            let mut size = 0.0;
            for document in group.iter().map(|&member| &documents[member]) {
                size += document.weight;
                for &(word, _) in &*document.words {
                    let sum = &mut of_class[word as usize];
                    if *sum == 0.0 {
                        class_words.push(word);
                    }
                    *sum += document.weight;
                }
            }
            n += size;
            let whole = weigh(size);
            for word in class_words.drain(..) {
                let place = word as usize;
                let own = std::mem::take(&mut of_class[place]);
                if present[place] == 0.0 {
                    words.push(word);
                }
                present[place] += own;
                terms[place] += weigh(own) - whole + weigh(size - own);
            }
        }
        let gains = words.drain(..).map(|word| {
            let place = word as usize;
            let (present, terms) =
                (std::mem::take(&mut present[place]), std::mem::take(&mut terms[place]));
            let gain = weigh(n) + terms - (weigh(present) + weigh(n - present));
            Split { word, gain: gain / n, present }
        });
        best_of(&gains.collect::<Vec<_>>(), order).map(|(best, _)| best)
    }
}

/// Grow a tree. A node is a leaf if its documents have one class, if no word has a gain, or if the
/// best split has too few documents on one side. `places` orders the words and `ranks` the classes,
/// so that sums have the same bits for any ids. `on_split` receives the word and the depth of each
/// split, 1 at the root.
fn grow(
    documents: &[Document],
    places: &[u32],
    ranks: &[u32],
    limits: Limits,
    frequencies: bool,
    mut on_split: impl FnMut(WordId, usize),
) -> Tree {
    let mut tree = Tree::new(frequencies);
    let mut sums = Sums::new(places.len());
    let by_place = |a: WordId, b: WordId| places[a as usize].cmp(&places[b as usize]);
    let mut all: Vec<usize> = (0..documents.len()).collect();
    all.sort_by_key(|&member| ranks[documents[member].class as usize]);
    let mut waiting = vec![(0, 0, all)];
    while let Some((node, depth, mut members)) = waiting.pop() {
        let weight: f64 = members.iter().map(|&member| documents[member].weight).sum();
        let may_split = depth < limits.max_depth;
        let split = may_split.then(|| sums.best_split(documents, &members, by_place)).flatten();
        let enough = |&Split { present, .. }: &Split| {
            present.min(weight - present) >= limits.min_samples_leaf
        };
        let Some(Split { word, .. }) = split.filter(enough) else {
            let mut slice = Slice::new(frequencies);
            // In their order, as they enter a tree one by one.
            members.sort_unstable();
            for member in members {
                let Document { class, weight, words, .. } = &documents[member];
                slice.add(*class, words, *weight);
            }
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
        let (places, ranks) = (sample.word_places(), sample.class_places());
        let documents: Vec<Document> = sample.indexed().cloned().collect();
        grow(&documents, &places, &ranks, limits, frequencies, |_, _| {})
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
    let ranks: Vec<u32> = (0..rows.n_classes as u32).collect();
    grow(&documents, &places, &ranks, limits, false, |word, depth| {
        let least: &mut i64 = &mut depths[word as usize];
        *least = if *least == 0 { depth as i64 } else { (depth as i64).min(*least) };
    });
    Ok(depths)
}
