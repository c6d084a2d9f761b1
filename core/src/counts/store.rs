//! The count store: vocabulary, counts and document index, changed together or not at all.

use crate::counts::attributes::Attributes;
use crate::counts::bag::Bag;
use crate::counts::form::Form;
use crate::counts::index::{Document, Index};
use crate::counts::pairs::PairTable;
use crate::counts::rows::{Class, ClassId, Rows, take};
use crate::counts::vocabulary::{Vocabulary, WordId};
use crate::error::{Error, Result};
use crate::scoring::normalised::Normalised;
use crate::scoring::scorer::Scoring;
use crate::statistics::bags::Bags;
use crate::statistics::effective::Effective;
use crate::statistics::fitted_weights::Exponents;
use crate::statistics::tree::Tree;
use crate::statistics::word_weights::Weights;
use crate::text::token::Token;
use std::sync::Arc;

/// Counts and weights above 2^53 are no longer exact in `f64`: they are refused.
pub const MAX_COUNT: f64 = 9_007_199_254_740_992.0;

/// The most vocabulary bytes a store takes before it asks for a bound.
const MAX_VOCABULARY_BYTES: usize = 3 << 30;

/// The most cells that one message is trusted to add.
const SPARE_CELLS: usize = 1 << 24;

/// What a store keeps and how much of it, set once.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// Words kept; past it the rarest are pruned.
    pub max_words: usize,
    /// Documents kept in the index; 0 keeps none.
    pub max_documents: usize,
    /// (pair, class) cells kept in the pair table; 0 keeps none.
    pub max_pairs: usize,
    /// Whether to keep, for each class, how many words have which document frequency: the
    /// Bernoulli model needs it, and it costs the others two thirds of their learning speed.
    pub frequencies: bool,
    /// Whether words are values of attributes, `name=value`. The length of a document is then 1:
    /// documents are counted, not tokens.
    pub columns: bool,
    /// Whether the pair table also holds each word with itself.
    pub own_pairs: bool,
    /// Whether a message counts for the more, the less probable its class was when it came.
    pub weighed: bool,
    /// What counts become before they are learned or scored.
    pub form: Form,
}

/// Everything learned so far.
#[derive(Clone)]
pub struct Store {
    pub(crate) settings: Settings,
    pub(crate) vocabulary: Vocabulary,
    pub(crate) classes: Vec<Class>,
    pub(crate) rows: Rows,
    pub(crate) index: Index,
    pub(crate) pairs: PairTable,
    /// W_t by word id, 0 for words that are no parents: the statistics in use.
    pub(crate) parents: Vec<f64>,
    /// What depends on what, by the id of attributes: other statistics in use.
    pub(crate) bags: Bags,
    pub(crate) attributes: Attributes,
    /// The effective counts in use, where an estimate makes any.
    pub(crate) effective: Effective,
    /// Weights of words and documents, where there are any: other statistics in use.
    pub(crate) weights: Option<Box<Weights>>,
    /// Weights of words in the score alone, where there are any: other statistics in use.
    pub(crate) exponents: Option<Box<Exponents>>,
    /// What normalises the weights of complements, where a model needs it.
    pub(crate) normalised: Option<Box<Normalised>>,
    /// How messages are scored that are weighed as they come.
    pub(crate) weighing: Option<Arc<Scoring>>,
    /// The tree in use, where a model has one.
    pub(crate) tree: Option<Tree>,
    /// Whether words were ever pruned, after which unlearning is lenient about what is missing.
    pub(crate) pruned: bool,
    /// The order of the labels, by class id: it breaks ties and orders snapshots.
    pub ranks: Vec<u32>,
    pub(crate) version: u64,
    pub(crate) layout: u64,
}

impl Store {
    pub fn new(settings: Settings) -> Self {
        Store {
            settings,
            vocabulary: Vocabulary::new(),
            classes: Vec::new(),
            rows: Rows::default(),
            index: Index::default(),
            pairs: PairTable::new(settings.max_pairs, settings.own_pairs),
            parents: Vec::new(),
            bags: Bags::default(),
            attributes: Attributes::default(),
            effective: Effective::default(),
            weights: None,
            exponents: None,
            normalised: None,
            weighing: None,
            tree: None,
            pruned: false,
            ranks: Vec::new(),
            version: 0,
            layout: 0,
        }
    }

    pub fn settings(&self) -> Settings {
        self.settings
    }

    pub fn vocabulary(&self) -> &Vocabulary {
        &self.vocabulary
    }

    pub fn classes(&self) -> &[Class] {
        &self.classes
    }

    pub fn rows(&self) -> &Rows {
        &self.rows
    }

    pub fn index(&self) -> &Index {
        &self.index
    }

    pub fn pairs(&self) -> &PairTable {
        &self.pairs
    }

    /// Grows by one with every change.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// Changes whenever an id may come to mean another word or class.
    pub fn layout(&self) -> u64 {
        self.layout
    }

    pub fn documents(&self) -> f64 {
        self.classes.iter().map(|class| class.documents).sum()
    }

    /// How many classes have documents.
    pub fn existing_classes(&self) -> usize {
        self.classes.iter().filter(|class| class.exists()).count()
    }

    pub fn cells(&self) -> usize {
        self.rows.n_cells()
    }

    /// The place of a class among the labels; a class of no known place comes last.
    pub(crate) fn rank(&self, class: ClassId) -> u32 {
        self.ranks.get(class as usize).copied().unwrap_or(u32::MAX)
    }

    /// The classes with documents, by rank.
    pub fn class_order(&self) -> Vec<ClassId> {
        let ids = 0..self.classes.len() as ClassId;
        let mut order: Vec<ClassId> =
            ids.filter(|&class| self.classes[class as usize].exists()).collect();
        order.sort_by_key(|&class| self.rank(class));
        order
    }

    /// The id of a word that is about to be learned.
    #[inline]
    pub fn intern(&mut self, token: &Token<'_>) -> WordId {
        let id = self.vocabulary.intern(token);
        self.rows.reach(id);
        if self.settings.columns {
            self.attributes.add(id, token.bytes);
        }
        id
    }

    /// Refuses to learn when the vocabulary's memory is exhausted; nothing has changed then.
    pub fn check_room(&self) -> Result<()> {
        let spare_bytes = u32::MAX as usize - MAX_VOCABULARY_BYTES;
        if self.vocabulary.has_room_for(spare_bytes) && self.rows.has_room_for(SPARE_CELLS) {
            Ok(())
        } else {
            Err(Error::Invalid(
                "the vocabulary is full (3 GiB of words, or 4 GiB of counts): set max_words".into(),
            ))
        }
    }

    /// Learns one message, given as the bag of its (interned) words.
    pub fn learn(&mut self, bag: &mut Bag, class: ClassId, weight: f64) -> Result<()> {
        self.learn_weighed(bag, class, weight, 0.0)
    }

    /// The same where it counts for more than its weight, `extra` times it.
    pub fn learn_weighed(
        &mut self,
        bag: &mut Bag,
        class: ClassId,
        weight: f64,
        extra: f64,
    ) -> Result<()> {
        check_weight(weight)?;
        if weight == 0.0 {
            self.forget_unused(bag);
            return Ok(());
        }
        if class as usize >= self.classes.len() {
            self.classes.resize_with(class as usize + 1, Class::default);
        }
        if let Some(normalised) = &mut self.normalised {
            normalised.take(&self.rows, bag.words.iter().map(|(word, _)| word));
        }
        let totals = &mut self.classes[class as usize];
        let mut tokens = 0.0;
        for &(word, count) in &bag.words {
            let cell = self.rows.entry(word, class);
            tokens += count;
            cell.tokens += weight * count;
            if self.settings.frequencies {
                totals.move_frequency(cell.documents, cell.documents + weight);
            }
            cell.documents += weight;
            totals.most_documents = totals.most_documents.max(cell.documents);
        }
        totals.documents += weight;
        totals.tokens += weight * tokens;
        if let Some(normalised) = &mut self.normalised {
            normalised.add(&self.rows, bag.words.iter().map(|(word, _)| word));
        }
        if let Some(weights) = &mut self.weights {
            for &(word, count) in &bag.words {
                weights.learn(word, class, weight * count);
            }
        }
        self.version += 1;
        if self.settings.max_documents > 0 {
            bag.words.sort_unstable_by_key(|&(word, _)| word);
            let words = bag.words.as_slice().into();
            self.index_document(Document { class, weight, extra, words });
        }
        self.prune_to_bound();
        Ok(())
    }

    /// Words interned for a message that is not learned after all.
    fn forget_unused(&mut self, bag: &Bag) {
        for &(word, _) in &bag.words {
            if self.rows.is_empty(word) {
                self.forget_word(word);
            }
        }
    }

    pub(crate) fn forget_word(&mut self, word: WordId) {
        self.vocabulary.remove(word);
        if let Some(weight) = self.parents.get_mut(word as usize) {
            *weight = 0.0;
        }
        let gone = if self.settings.columns { self.attributes.remove(word) } else { Some(word) };
        if let Some(attribute) = gone {
            self.bags.forget(attribute);
        }
        self.effective.forget_word(word);
        if let Some(weights) = &mut self.weights {
            weights.forget_word(word);
        }
        if let Some(exponents) = &mut self.exponents {
            exponents.forget_word(word);
        }
        if let Some(tree) = &mut self.tree {
            tree.forget_word(word);
        }
        self.layout += 1;
    }

    /// Clears what is known of a class that has no documents left: its id may be used again.
    pub(crate) fn forget_empty_class(&mut self, class: ClassId) {
        if !self.classes[class as usize].exists() {
            self.effective.forget_class(class);
            if let Some(weights) = &mut self.weights {
                weights.forget_class(class);
            }
            if let Some(tree) = &mut self.tree {
                tree.forget_class(class);
            }
            self.layout += 1;
        }
    }

    pub(crate) fn index_document(&mut self, document: Document) {
        self.count_indexed(&document);
        self.index.push(document);
        while self.index.len() > self.settings.max_documents {
            if let Some(oldest) = self.index.pop_oldest() {
                self.drop_from_index(&oldest, oldest.weight);
            }
        }
        self.grow_online();
    }

    /// Adds what an indexed document gives to lengths, pairs, weights and the tree.
    pub(crate) fn count_indexed(&mut self, document: &Document) {
        if let Some(weights) = &mut self.weights {
            weights.add_extra(document, document.weight);
        }
        self.add_lengths(document, document.weight);
        self.pairs.learn(document.class, &document.words, document.weight);
        if let Some(tree) = &mut self.tree {
            tree.add(document, document.weight);
        }
    }

    /// Takes back what an indexed document gave to them.
    pub(crate) fn drop_from_index(&mut self, document: &Document, weight: f64) {
        if let Some(weights) = &mut self.weights {
            weights.take_extra(document, weight);
        }
        self.add_lengths(document, -weight);
        self.pairs.unlearn(document.class, &document.words, weight);
        if let Some(tree) = &mut self.tree {
            tree.remove(document, weight);
        }
    }

    fn add_lengths(&mut self, document: &Document, weight: f64) {
        let length = if self.settings.columns { 1.0 } else { document.length() };
        for &(word, _) in &document.words {
            if let Some(cell) = self.rows.cell_mut(word, document.class) {
                cell.length = if weight < 0.0 {
                    take(cell.length, -weight * length).unwrap_or(0.0)
                } else {
                    cell.length + weight * length
                };
            }
        }
    }

    /// Sets a cell's counts, dropping it at zero documents; returns the tokens taken away.
    pub(crate) fn set_cell(
        &mut self,
        word: WordId,
        class: ClassId,
        tokens: f64,
        documents: f64,
    ) -> f64 {
        let Some(&before) = self.rows.cell(word, class) else { return 0.0 };
        if let Some(normalised) = &mut self.normalised {
            normalised.take(&self.rows, std::iter::once(&word));
        }
        let cell = self.rows.entry(word, class);
        cell.tokens = tokens;
        cell.documents = documents;
        if self.settings.frequencies {
            self.classes[class as usize].move_frequency(before.documents, documents);
        }
        if let Some(weights) = &mut self.weights {
            weights.take(word, class, before.tokens - tokens, documents == 0.0);
        }
        if documents == 0.0 {
            self.rows.remove(word, class);
        }
        if let Some(normalised) = &mut self.normalised {
            normalised.add(&self.rows, std::iter::once(&word));
        }
        if documents == 0.0 && self.rows.is_empty(word) {
            self.forget_word(word);
        }
        before.tokens - tokens
    }

    /// Gives each word its weight as a parent (by id; 0 for words that are no parents).
    ///
    /// Returns false, and changes nothing, if ids have changed their meaning since `layout`.
    pub fn set_parents(&mut self, weights: Vec<f64>, layout: u64) -> bool {
        if layout != self.layout {
            return false;
        }
        self.parents = weights;
        true
    }

    /// Gives each attribute its bag. Returns false, and changes nothing, if ids have changed their
    /// meaning since `layout`.
    pub fn set_bags(&mut self, bags: Bags, layout: u64) -> bool {
        if layout != self.layout {
            return false;
        }
        self.bags = bags;
        true
    }

    /// Members of bags with less information than this are left out from now on.
    pub fn set_bag_threshold(&mut self, threshold: f64) {
        self.bags.threshold = threshold;
    }

    /// Says how many values an attribute has, learned or not.
    pub fn declare(&mut self, attribute: &[u8], values: u32) {
        self.attributes.declare(attribute, values);
    }

    #[inline]
    pub fn parent_weight(&self, word: WordId) -> f64 {
        self.parents.get(word as usize).copied().unwrap_or(0.0)
    }

    /// Heap bytes held.
    pub fn size(&self) -> usize {
        self.vocabulary.size()
            + self.rows.size()
            + self.classes.capacity() * size_of::<Class>()
            + self.classes.iter().map(Class::size).sum::<usize>()
            + self.index.size()
            + self.pairs.size()
            + self.parents.capacity() * size_of::<f64>()
            + self.bags.size()
            + self.attributes.size()
            + self.effective.size()
            + self.weights().map_or(0, Weights::size)
            + self.exponents.as_ref().map_or(0, |exponents| exponents.size())
            + self.normalised.as_ref().map_or(0, |normalised| normalised.size())
            + self.tree.as_ref().map_or(0, Tree::size)
    }
}

/// Refuses a weight that is negative, not finite or beyond exact counting.
pub fn check_weight(weight: f64) -> Result<()> {
    if (0.0..=MAX_COUNT).contains(&weight) {
        Ok(())
    } else {
        Err(Error::Invalid("the weight of a message must be a number from 0 to 2**53".into()))
    }
}
