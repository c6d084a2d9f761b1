//! Trees that grow online: a leaf is split once it is nearly sure which word splits it best.
//!
//! After each `grace_period` of documents, a leaf compares the information gains of its two best
//! words. By Hoeffding's bound the better one is the best with probability 1 − δ where it leads by
//! more than √(R² ln(1/δ) / 2n), R the range of the gain and n the documents of the leaf. Where that
//! bound is below τ the two are as good as one another, and the better one is taken.

use crate::counts::index::Document;
use crate::counts::slice::Slice;
use crate::counts::store::Store;
use crate::counts::vocabulary::WordId;
use crate::statistics::grow::{Limits, Split, TIE, place};
use crate::statistics::tree::Tree;
use std::cmp::Ordering;

/// When leaves are split.
#[derive(Clone, Copy, Debug)]
pub struct Hoeffding {
    pub limits: Limits,
    /// The probability of choosing wrong.
    pub delta: f64,
    /// In nats.
    pub tau: f64,
    /// Weight of documents between two looks at a leaf.
    pub grace_period: f64,
}

impl Hoeffding {
    /// The split of a leaf's documents, if it is sure enough. `order` breaks ties of words.
    fn decide(
        &self,
        slice: &Slice,
        depth: usize,
        order: impl Fn(WordId, WordId) -> Ordering,
    ) -> Option<Split> {
        if depth >= self.limits.max_depth {
            return None;
        }
        let (best, second) = slice.best_splits(order)?;
        let classes = slice.classes().iter().filter(|class| class.exists()).count() as f64;
        let n = slice.documents();
        let bound = classes.ln() * ((1.0 / self.delta).ln() / (2.0 * n)).sqrt();
        let sure = best.gain - second > bound + TIE || bound < self.tau;
        (sure && self.limits.allow(&best, n)).then_some(best)
    }
}

impl Tree {
    /// Looks at the leaf of a document that was added, and splits it if that is due. `indexed` are
    /// all documents that the tree has.
    pub fn look<'a, I: Iterator<Item = &'a Document>>(
        &mut self,
        document: &Document,
        indexed: impl Fn() -> I,
        order: impl Fn(WordId, WordId) -> Ordering,
    ) {
        let Some(growth) = self.growth else { return };
        let (node, depth, leaf) = self.descend(&document.words);
        self.waited[leaf] += document.weight;
        if self.waited[leaf] < growth.grace_period {
            return;
        }
        self.waited[leaf] = 0.0;
        if let Some(split) = growth.decide(&self.leaves()[leaf], depth, order) {
            self.split(node, split.word);
            // Both sides: the leaf that was, and the new one.
            let new = self.leaves().len() - 1;
            self.recount_leaves(&[leaf, new], indexed());
        }
    }

    /// Grows a tree from nothing, document by document.
    pub fn replay(
        documents: &[Document],
        places: &[u32],
        growth: Hoeffding,
        frequencies: bool,
    ) -> Tree {
        let mut tree = Tree::new(frequencies, Some(growth));
        for (i, document) in documents.iter().enumerate() {
            let by_place = |one, other| place(places, one).cmp(&place(places, other));
            tree.add(document, document.weight);
            tree.look(document, || documents[..=i].iter(), by_place);
        }
        tree
    }
}

impl Store {
    /// Lets the tree look at the leaf of the newest document of the index.
    pub(crate) fn grow_online(&mut self) {
        if let (Some(tree), Some(newest)) = (&mut self.tree, self.index.documents().next_back()) {
            let (index, vocabulary) = (&self.index, &self.vocabulary);
            let by_bytes = |one, other| vocabulary.word(one).cmp(vocabulary.word(other));
            tree.look(newest, || index.documents(), by_bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn growth(delta: f64, tau: f64) -> Hoeffding {
        let limits = Limits { max_depth: 9, min_samples_leaf: 1.0 };
        Hoeffding { limits, delta, tau, grace_period: 4.0 }
    }

    fn stream(n: usize) -> Vec<Document> {
        // Word 0 tells the classes apart; word 1 nearly does; word 2 stands anywhere.
        let document = |i: usize| {
            let class = (i % 2) as u32;
            let has = [class == 0, (class == 0) ^ (i % 8 == 7), i.is_multiple_of(3)];
            let words = (0..3).filter(|&word| has[word as usize]).map(|word| (word, 1.0));
            Document { class, weight: 1.0, extra: 0.0, words: words.collect() }
        };
        (0..n).map(document).collect()
    }

    fn grown(n: usize, growth: Hoeffding) -> Vec<i64> {
        Tree::replay(&stream(n), &[0, 1, 2], growth, false).to_array(i64::from)
    }

    #[test]
    fn splits_once_it_is_sure() {
        // The second word lacks an eighth of the documents, so the lead is 0.3 nats or so: the bound
        // is below that, with δ = 0.1, from about 6 documents on, and with δ = 1e-9 from 60 on.
        assert_eq!(
            (grown(3, growth(0.1, 0.0)), grown(80, growth(0.1, 0.0))),
            (vec![-1], vec![0, -1, -1])
        );
        assert_eq!(grown(24, growth(1e-9, 0.0)), [-1]);
        assert_eq!(grown(200, growth(1e-9, 0.0)), [0, -1, -1]);
        // A tie is no lead, unless τ takes either.
        assert_eq!(grown(4, growth(1e-9, 0.0)), [-1]);
        assert_eq!(grown(4, growth(1e-9, 9.0)), [0, -1, -1]);
    }

    #[test]
    fn sides_of_a_split_have_their_documents() {
        let tree = Tree::replay(&stream(50), &[0, 1, 2], growth(0.1, 0.0), true);
        let sizes: Vec<f64> = tree.leaves().iter().map(Slice::documents).collect();
        assert_eq!(sizes, [25.0, 25.0]);
    }
}
