//! A binary tree over the presence of words, with the counts of the indexed documents in its
//! leaves.
//!
//! The tree grows periodically on a copy of the documents, or online: a leaf is split once a word is
//! certain enough. The counts in its leaves are always current: each indexed document counts in its
//! leaf.

use crate::counts::alloc::heap_size;
use crate::counts::codec::ranks;
use crate::counts::index::Index;
use crate::counts::{Bag, ClassId, Counted, Document, SavedOrder, Slice, Statistic, Store, WordId};
use crate::statistics::split::Hoeffding;
use std::cmp::Ordering;
use std::collections::HashSet;

/// The word of a split that was forgotten: no document contains it.
const FORGOTTEN: WordId = WordId::MAX;

/// A leaf in the array of a tree, from which its waiting weight is subtracted.
const LEAF: i64 = -1;

/// Units of waiting weights.
const UNITS: f64 = 1024.0;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Node {
    Leaf(usize),
    Split { word: WordId, present: usize, absent: usize },
}

/// A tree; its root is the first node.
#[derive(Clone)]
pub struct Tree {
    nodes: Vec<Node>,
    leaves: Vec<Slice>,
    /// The weight of the documents that entered each leaf since its last check, in units.
    waited: Vec<i64>,
    /// The words of the splits.
    words: HashSet<WordId>,
    frequencies: bool,
    /// How the tree grows online, if it does.
    growth: Option<Hoeffding>,
}

impl Tree {
    /// A tree of one empty leaf.
    pub fn new(frequencies: bool) -> Self {
        Tree {
            nodes: vec![Node::Leaf(0)],
            leaves: vec![Slice::new(frequencies)],
            waited: vec![0],
            words: HashSet::new(),
            frequencies,
            growth: None,
        }
    }

    /// Return the node of the leaf of a document, its depth, and its place among the leaves. `has` is
    /// whether the document contains a word.
    #[inline]
    fn path(&self, has: impl Fn(WordId) -> bool) -> (usize, usize, usize) {
        let (mut node, mut depth) = (0, 0);
        loop {
            match self.nodes[node] {
                Node::Leaf(leaf) => return (node, depth, leaf),
                Node::Split { word, present, absent } => {
                    node = if has(word) { present } else { absent };
                    depth += 1;
                }
            }
        }
    }

    /// [`path`](Self::path) of a document with words in ascending order.
    fn path_of(&self, words: &[(WordId, f64)]) -> (usize, usize, usize) {
        self.path(|word| words.binary_search_by_key(&word, |&(word, _)| word).is_ok())
    }

    /// The place among the leaves of the leaf of a document.
    fn descend(&self, words: &[(WordId, f64)]) -> usize {
        self.path_of(words).2
    }

    /// The slice of the leaf of a message. The bag contains each word once.
    pub fn slice(&self, bag: &Bag) -> &Slice {
        &self.leaves[self.path(|word| bag.position(word).is_some()).2]
    }

    /// Replace a leaf by a split. The old leaf becomes the side of documents without the word.
    pub fn split(&mut self, node: usize, word: WordId) -> Option<(usize, usize)> {
        let Node::Leaf(leaf) = self.nodes[node] else { return None };
        let (present, absent) = (self.nodes.len(), self.nodes.len() + 1);
        self.nodes.push(Node::Leaf(self.leaves.len()));
        self.nodes.push(Node::Leaf(leaf));
        self.leaves.push(Slice::new(self.frequencies));
        self.waited.push(0);
        self.nodes[node] = Node::Split { word, present, absent };
        self.words.insert(word);
        Some((present, absent))
    }

    /// Set the counts of a leaf.
    pub fn fill(&mut self, node: usize, slice: Slice) {
        if let Node::Leaf(leaf) = self.nodes[node] {
            self.leaves[leaf] = slice;
        }
    }

    /// The tree as an array: the word of each split, then the side of documents that contain it, then
    /// the other; -1 for a leaf, minus its waiting weight. `name` numbers the words.
    pub fn to_array(&self, name: impl Fn(WordId) -> i64) -> Vec<i64> {
        let mut array = Vec::with_capacity(self.nodes.len());
        let mut waiting = vec![0];
        while let Some(node) = waiting.pop() {
            match self.nodes[node] {
                Node::Leaf(leaf) => array.push(LEAF - self.waited[leaf]),
                Node::Split { word: FORGOTTEN, absent, .. } => waiting.push(absent),
                Node::Split { word, present, absent } => {
                    array.push(name(word));
                    waiting.extend([absent, present]);
                }
            }
        }
        array
    }

    /// Return the tree of an array, without counts. Missing items become leaves; excess items and
    /// invalid words are ignored.
    pub fn from_array(array: &[i64], frequencies: bool) -> Self {
        let mut tree = Tree::new(frequencies);
        let mut waiting = vec![0];
        for &item in array {
            let Some(node) = waiting.pop() else { break };
            if let (Node::Leaf(leaf), ..=LEAF) = (tree.nodes[node], item) {
                tree.waited[leaf] = LEAF - item;
            }
            if let Some((present, absent)) =
                WordId::try_from(item).ok().and_then(|word| tree.split(node, word))
            {
                waiting.extend([absent, present]);
            }
        }
        tree
    }

    /// [`to_array`](Self::to_array) as a restored store would number the words.
    pub fn export(&self, order: &SavedOrder) -> Vec<i64> {
        let slots = order.words.iter().max().map_or(0, |&word| word as usize + 1);
        let places = ranks(&order.words, slots);
        self.to_array(|word| places.get(word as usize).copied().unwrap_or(0).into())
    }
}

impl Statistic for Tree {
    fn forget_word(&mut self, forgotten: WordId) {
        if self.words.remove(&forgotten) {
            for node in &mut self.nodes {
                if let Node::Split { word, .. } = node
                    && *word == forgotten
                {
                    *word = FORGOTTEN;
                }
            }
        }
    }

    fn forget_class(&mut self, class: ClassId) {
        self.leaves.iter_mut().for_each(|leaf| leaf.forget_class(class));
    }

    fn enter(&mut self, document: &Document, weight: f64) {
        let leaf = self.descend(&document.words);
        self.leaves[leaf].add(document.class, &document.words, weight);
    }

    fn leave(&mut self, document: &Document, weight: f64) {
        let leaf = self.descend(&document.words);
        self.leaves[leaf].remove(document.class, &document.words, weight);
    }

    /// Split the leaf of the newest document, if a word is certain enough.
    fn indexed(&mut self, index: &Index, order: &dyn Fn(WordId, WordId) -> Ordering) {
        let (Some(growth), Some(newest)) = (self.growth, index.documents().next_back()) else {
            return;
        };
        let (node, depth, leaf) = self.path_of(&newest.words);
        self.waited[leaf] += (newest.weight * UNITS).round() as i64;
        if (self.waited[leaf] as f64) < growth.grace_period * UNITS {
            return;
        }
        self.waited[leaf] = 0;
        let Some(word) = growth.decide(&self.leaves[leaf], depth, order) else { return };
        self.split(node, word);
        self.leaves[leaf] = Slice::new(self.frequencies);
        let new = self.leaves.len() - 1;
        for document in index.documents() {
            let place = self.descend(&document.words);
            if place == leaf || place == new {
                self.leaves[place].add(document.class, &document.words, document.weight);
            }
        }
    }

    fn recount(&mut self, counted: &Counted<'_>) {
        self.leaves.fill_with(|| Slice::new(self.frequencies));
        counted.index.documents().for_each(|document| self.enter(document, document.weight));
    }

    fn size(&self) -> usize {
        heap_size(&self.nodes)
            + heap_size(&self.leaves)
            + heap_size(&self.waited)
            + self.leaves.iter().map(Slice::size).sum::<usize>()
            + self.words.capacity() * size_of::<WordId>()
    }
}

impl Store {
    /// Let the tree grow online from now on.
    pub fn grow_online(&mut self, growth: Hoeffding) {
        if let Some(tree) = self.statistics.get_mut::<Tree>() {
            tree.growth = Some(growth);
        }
    }

    /// Use a tree of one leaf from now on, unless there is a tree.
    pub fn init_tree(&mut self) {
        if self.statistic::<Tree>().is_none() {
            self.use_tree(&[]);
        }
    }

    /// Use the tree of this array from now on, with the counts of the indexed documents.
    pub fn use_tree(&mut self, array: &[i64]) {
        let mut tree = Tree::from_array(array, self.settings.frequencies);
        tree.growth = self.statistic::<Tree>().and_then(|tree| tree.growth);
        tree.recount(&self.counted());
        self.statistics.put(tree);
    }
}
