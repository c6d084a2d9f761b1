//! Growing a tree over documents: splits on the word that says most about the class.

use crate::counts::index::Document;
use crate::counts::rows::ClassId;
use crate::counts::slice::Slice;
use crate::counts::vocabulary::WordId;
use crate::error::{Error, Result};
use crate::statistics::cooccurrence::read_rows;
use crate::statistics::tree::Tree;
use std::cmp::Ordering;

/// Gains that are nearer than this, in nats, are the same but for rounding.
pub const TIE: f64 = 1e-12;

/// How far a tree grows.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Splits between the root and a leaf.
    pub max_depth: usize,
    /// The least weight of documents on either side of a split.
    pub min_samples_leaf: f64,
}

impl Limits {
    /// Whether a split of documents of weight `n` leaves enough on either side.
    pub fn allow(&self, split: &Split, n: f64) -> bool {
        split.present.min(n - split.present) >= self.min_samples_leaf
    }
}

/// The place of a word in the order of bytes.
pub fn place(places: &[u32], word: WordId) -> u32 {
    places.get(word as usize).copied().unwrap_or(u32::MAX)
}

/// A split of the documents of a slice.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Split {
    pub word: WordId,
    /// Information gain, in nats.
    pub gain: f64,
    /// Weight of the documents that contain the word.
    pub present: f64,
}

/// x ln x, and 0 of 0.
fn weigh(x: f64) -> f64 {
    if x > 0.0 { x * x.ln() } else { 0.0 }
}

impl Slice {
    /// The word whose presence has the highest information gain for the class, and the next highest
    /// gain. Of words that tie it is the first in `order`. None where all documents are of one
    /// class, or nothing gains.
    pub fn best_splits(&self, order: impl Fn(WordId, WordId) -> Ordering) -> Option<(Split, f64)> {
        let n = self.documents();
        if self.classes().iter().filter(|class| class.exists()).count() < 2 {
            return None;
        }
        // n · gain = L(n) − L(a) − L(b) + Σ_c [L(a_c) + L(n_c − a_c) − L(n_c)], where L(x) = x ln x,
        // a documents contain the word and b do not. A class that has none of a adds nothing.
        let of_classes: Vec<f64> =
            self.classes().iter().map(|class| weigh(class.documents)).collect();
        let gains: Vec<Split> = self
            .words()
            .map(|(word, cells)| {
                let (mut present, mut gain) = (0.0, weigh(n));
                for cell in cells {
                    let class = cell.class as usize;
                    present += cell.documents;
                    gain += weigh(cell.documents) - of_classes[class]
                        + weigh(self.classes()[class].documents - cell.documents);
                }
                gain -= weigh(present) + weigh(n - present);
                Split { word, gain: gain / n, present }
            })
            .collect();
        let highest = gains.iter().map(|split| split.gain).fold(0.0, f64::max);
        if highest <= TIE {
            return None;
        }
        let ties = gains.iter().filter(|split| split.gain >= highest - TIE);
        let best = *ties.min_by(|one, other| order(one.word, other.word))?;
        let others = gains.iter().filter(|split| split.word != best.word);
        Some((best, others.map(|split| split.gain).fold(0.0, f64::max)))
    }
}

/// Grows a tree: a leaf is where all documents are of one class, no word gains anything, or the
/// best split would leave too few documents on one side.
pub fn grow(documents: &[Document], places: &[u32], limits: Limits, frequencies: bool) -> Tree {
    let mut tree = Tree::new(frequencies, None);
    let mut waiting = vec![(0, 0, (0..documents.len()).collect::<Vec<usize>>())];
    while let Some((node, depth, members)) = waiting.pop() {
        let mut slice = Slice::new(frequencies);
        for &member in &members {
            let Document { class, weight, words, .. } = &documents[member];
            slice.add(*class, words, *weight);
        }
        let by_place = |one, other| place(places, one).cmp(&place(places, other));
        let split = if depth < limits.max_depth { slice.best_splits(by_place) } else { None };
        let enough = |(split, _): &(Split, f64)| limits.allow(split, slice.documents());
        let Some((Split { word, .. }, _)) = split.filter(enough) else {
            tree.fill(node, slice);
            continue;
        };
        let contains = |&member: &usize| {
            documents[member].words.binary_search_by_key(&word, |&(word, _)| word).is_ok()
        };
        let (with, without) = members.into_iter().partition(contains);
        if let Some((present, absent)) = tree.split(node, word) {
            waiting.extend([(absent, depth + 1, without), (present, depth + 1, with)]);
        }
    }
    tree
}

/// A copy of indexed documents: compressed rows of ascending word ids, with classes and weights.
pub struct DocumentRows<'a> {
    pub indptr: &'a [i64],
    pub ids: &'a [i64],
    pub classes: &'a [i64],
    pub weights: &'a [f64],
    pub n_classes: usize,
}

/// For each word, the least depth at which the tree that documents grow is split on it, that of the
/// root being 1; 0 where it is split on it nowhere. `order` has the words in the order of bytes.
pub fn depths(
    rows: &DocumentRows<'_>,
    order: &[i64],
    limits: Limits,
    words: usize,
) -> Result<Vec<i64>> {
    let invalid = |what: &str| Err(Error::Invalid(format!("documents as rows: {what}")));
    let bounds = read_rows(rows.indptr, rows.ids, rows.weights, words)?;
    if rows.classes.len() != bounds.len() {
        return invalid("one class for each row");
    }
    let mut documents = Vec::with_capacity(bounds.len());
    for ((&(start, end), &class), &weight) in bounds.iter().zip(rows.classes).zip(rows.weights) {
        let class = ClassId::try_from(class).ok().filter(|&id| (id as usize) < rows.n_classes);
        let Some(class) = class else { return invalid("a class out of range") };
        let words = rows.ids[start..end].iter().map(|&id| (id as WordId, 1.0)).collect();
        documents.push(Document { class, weight, extra: 0.0, words });
    }
    let mut places = vec![u32::MAX; words];
    for (place, &id) in order.iter().enumerate() {
        match usize::try_from(id).ok().and_then(|id| places.get_mut(id)) {
            Some(slot) => *slot = place as u32,
            None => return invalid("a word out of range"),
        }
    }
    let mut depths = vec![0; words];
    let mut waiting = vec![1];
    for word in grow(&documents, &places, limits, false).to_array(i64::from) {
        let Some(depth) = waiting.pop() else { break };
        if let Some(least) = usize::try_from(word).ok().and_then(|word| depths.get_mut(word)) {
            *least = if *least == 0 { depth } else { depth.min(*least) };
            waiting.extend([depth + 1, depth + 1]);
        }
    }
    Ok(depths)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLACES: [u32; 4] = [3, 2, 1, 0];

    fn documents(rows: &[(ClassId, &[WordId])]) -> Vec<Document> {
        let words = |words: &[WordId]| words.iter().map(|&word| (word, 1.0)).collect();
        let document = |&(class, w)| Document { class, weight: 1.0, extra: 0.0, words: words(w) };
        rows.iter().map(document).collect()
    }

    fn limits(max_depth: usize, min_samples_leaf: f64) -> Limits {
        Limits { max_depth, min_samples_leaf }
    }

    #[test]
    fn finds_the_word_that_gains_most() {
        let mut slice = Slice::new(false);
        for document in documents(&[(0, &[0, 1]), (0, &[0]), (1, &[1, 2]), (1, &[2, 3])]) {
            slice.add(document.class, &document.words, 1.0);
        }
        // 0 and 2 tell the classes apart; 2 is the first of them.
        let by_place = |one, other| place(&PLACES, one).cmp(&place(&PLACES, other));
        let (best, second) = slice.best_splits(by_place).unwrap();
        assert_eq!((best.word, best.present), (2, 2.0));
        assert!((best.gain - 2f64.ln()).abs() < 1e-15);
        assert!((second - 2f64.ln()).abs() < 1e-15);
    }

    #[test]
    fn stops_where_nothing_is_left_to_tell() {
        let same = documents(&[(0, &[0]), (1, &[0]), (0, &[1]), (1, &[1])]);
        let pure = documents(&[(0, &[0]), (0, &[1])]);
        for sample in [same, pure, Vec::new()] {
            assert_eq!(grow(&sample, &PLACES, limits(9, 0.0), true).to_array(i64::from), [-1]);
        }
        let sample = documents(&[(0, &[0]), (0, &[0]), (1, &[1]), (2, &[])]);
        let grown = |limits| grow(&sample, &PLACES, limits, false).to_array(i64::from);
        assert_eq!(grown(limits(9, 1.0)), [0, -1, 1, -1, -1]);
        assert_eq!(grown(limits(1, 1.0)), [0, -1, -1]);
        assert_eq!(grown(limits(9, 2.0)), [0, -1, -1]);
        assert_eq!(grown(limits(9, 2.5)), [-1]);
        assert_eq!(grown(limits(0, 1.0)), [-1]);
    }

    #[test]
    fn tells_the_least_depth_of_each_word() {
        // Word 0 is best; with it comes 3, and without it 1 and then 3.
        let indptr = [0, 1, 2, 3, 4, 6, 8, 9, 10, 11, 12, 13, 13];
        let ids = [0, 0, 0, 0, 0, 3, 0, 3, 1, 1, 1, 1, 3];
        let classes = [0, 0, 0, 0, 1, 1, 2, 2, 2, 2, 3, 4];
        let weights = [1.0; 12];
        let all = |classes: &[i64], n_classes, order: &[i64]| {
            let (indptr, ids, weights) = (&indptr, &ids, &weights);
            let rows = DocumentRows { indptr, ids, classes, weights, n_classes };
            depths(&rows, order, limits(9, 1.0), 4)
        };
        assert_eq!(all(&classes, 5, &[0, 1, 2, 3]).unwrap(), [1, 2, 0, 2]);
        assert!(all(&classes, 4, &[0, 1, 2, 3]).is_err());
        assert!(all(&classes[1..], 5, &[0, 1, 2, 3]).is_err());
        assert!(all(&[-1; 12], 5, &[0, 1, 2, 3]).is_err());
        assert!(all(&classes, 5, &[0, 1, 2, 4]).is_err());
        assert!(all(&classes, 5, &[0, 1, 2, -4]).is_err());
    }

    #[test]
    fn counts_each_document_in_its_leaf() {
        let sample = documents(&[(0, &[0]), (0, &[0]), (1, &[1]), (2, &[])]);
        let tree = grow(&sample, &PLACES, limits(9, 1.0), false);
        let mut recounted = tree.clone();
        recounted.recount(sample.iter());
        let sizes = |tree: &Tree| tree.leaves().iter().map(Slice::documents).collect::<Vec<_>>();
        assert_eq!(sizes(&tree), sizes(&recounted));
    }
}
