//! The count store: vocabulary, counts and document index, changed together or not at all.

use crate::counts::attributes::Attributes;
use crate::counts::bag::Bag;
use crate::counts::clock::Clock;
use crate::counts::form::Form;
use crate::counts::index::{Behind, Document, Index};
use crate::counts::pairs::PairTable;
use crate::counts::rows::{Class, ClassId, Rows};
use crate::counts::statistic::Statistics;
use crate::counts::vocabulary::{Vocabulary, WordId};
use crate::error::{Error, Result};
use std::any::Any;
use std::collections::VecDeque;
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
    /// Words kept; past it the rarest of one group after the other are pruned.
    pub max_features: usize,
    /// Documents kept in the index; 0 keeps none.
    pub index_size: usize,
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
    /// Whether messages get instance weights as they are learned.
    pub instance_weights: bool,
    /// Whether words have corrections, learned by a step a message.
    pub online_weights: bool,
    /// What counts become before they are learned or scored.
    pub form: Form,
    /// Messages, or seconds, after which a message counts for half; None: it never does.
    pub half_life: Option<f64>,
    /// Whether the half-life is in seconds, of the times that come with messages.
    pub timed: bool,
    /// Whether a document that the index evicts leaves the counts too.
    pub windowed: bool,
}

impl Settings {
    /// Counts alone, without bounds: every other setting is named where it differs.
    pub const COUNTS: Settings = Settings {
        max_features: usize::MAX,
        index_size: 0,
        max_pairs: 0,
        frequencies: false,
        columns: false,
        own_pairs: false,
        instance_weights: false,
        online_weights: false,
        form: Form::COUNTS,
        half_life: None,
        timed: false,
        windowed: false,
    };
}

/// What a model does with a message that it learns besides counting it.
pub trait LearningRule: Any + Send + Sync {
    /// Whether messages get instance weights.
    fn weighs(&self) -> bool {
        false
    }

    /// The instance weight of a message, its words looked up, by what was learned before it: what
    /// it counts for beyond its weight, in units of that.
    fn instance_weight(&self, _store: &Store, _bag: &Bag, _class: ClassId) -> f64 {
        0.0
    }

    /// Learns from a message, its words interned, by what was counted before it.
    fn correct(&self, _store: &mut Store, _bag: &mut Bag, _class: ClassId, _weight: f64) {}
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
    /// What the pair table has yet to follow; None where it follows each document at once.
    pub(crate) behind: Option<Behind>,
    pub(crate) attributes: Attributes,
    pub(crate) clock: Clock,
    /// When the messages came that are learned next, where a half-life is in time.
    pub(crate) times: VecDeque<f64>,
    /// Classes that the window left without documents, for who names them.
    pub(crate) emptied: Vec<ClassId>,
    /// What was computed from the counts and is in use.
    pub(crate) statistics: Statistics,
    /// What learning a message does besides counting it, where a model asks for more.
    pub(crate) rule: Option<Arc<dyn LearningRule>>,
    /// Whether words were ever pruned, after which unlearning is lenient about what is missing.
    pub(crate) pruned: bool,
    /// The group of words that is pruned next.
    pub(crate) hand: usize,
    /// Numbers in the order of the labels, by class id: it breaks ties and orders snapshots.
    pub ranks: Vec<i64>,
    /// How many classes had each id before the one that has it; those beyond, none.
    owners: Vec<u32>,
    pub(crate) version: u64,
    pub(crate) layout: u64,
}

impl Store {
    pub fn new(settings: Settings) -> Self {
        // Counts of indexed documents have lengths, and those of most forms are no whole numbers.
        let small = settings.index_size == 0 && settings.form.scale() == 1.0;
        Store {
            settings,
            vocabulary: Vocabulary::bounded(settings.max_features),
            classes: Vec::new(),
            rows: Rows::new(small, settings.half_life.is_some()),
            index: Index::default(),
            pairs: PairTable::new(settings.max_pairs, settings.own_pairs),
            behind: None,
            attributes: Attributes::default(),
            clock: Clock::new(settings.timed),
            times: VecDeque::new(),
            emptied: Vec::new(),
            statistics: Statistics::default(),
            rule: None,
            pruned: false,
            hand: 0,
            ranks: Vec::new(),
            owners: Vec::new(),
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

    /// What learning a message does besides counting it, where a model asks for more.
    #[inline]
    pub fn rule(&self) -> Option<Arc<dyn LearningRule>> {
        self.rule.clone()
    }

    /// Grows by one with every change.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// Changes whenever an id may come to mean another word or class.
    pub fn layout(&self) -> u64 {
        self.layout
    }

    /// Weight of all documents, in the unit of the counts.
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
    pub(crate) fn rank(&self, class: ClassId) -> i64 {
        self.ranks.get(class as usize).copied().unwrap_or(i64::MAX)
    }

    /// Sets the ranks of some classes.
    pub fn set_ranks(&mut self, ranks: &[(ClassId, i64)]) {
        for &(class, rank) in ranks {
            if class as usize >= self.ranks.len() {
                self.ranks.resize(class as usize + 1, i64::MAX);
            }
            self.ranks[class as usize] = rank;
        }
    }

    /// The class of a handle: its id, and in the bits above 32 how many classes had it before. None
    /// where it has no documents, or another class has its id by now.
    pub fn known_class(&self, handle: u64) -> Option<ClassId> {
        let class = handle as ClassId;
        let owners = self.owners.get(class as usize).copied().unwrap_or(0);
        let exists = self.classes.get(class as usize).is_some_and(Class::exists);
        (exists && u64::from(owners) == handle >> 32).then_some(class)
    }

    /// The classes with documents, by rank.
    pub fn class_order(&self) -> Vec<ClassId> {
        let ids = 0..self.classes.len() as ClassId;
        let mut order: Vec<ClassId> =
            ids.filter(|&class| self.classes[class as usize].exists()).collect();
        order.sort_by_key(|&class| self.rank(class));
        order
    }

    /// Refuses to learn when the vocabulary's memory is exhausted; nothing has changed then.
    pub fn check_room(&self) -> Result<()> {
        let spare_bytes = u32::MAX as usize - MAX_VOCABULARY_BYTES;
        if self.vocabulary.has_room_for(spare_bytes) && self.rows.has_room_for(SPARE_CELLS) {
            Ok(())
        } else {
            Err(Error::Invalid(
                "the vocabulary is full (3 GiB of words, or 4 GiB of counts): set max_features".into(),
            ))
        }
    }

    /// Learns one message, given as the bag of its (interned) words.
    pub fn learn(&mut self, bag: &mut Bag, class: ClassId, weight: f64) -> Result<()> {
        self.learn_instance(bag, class, weight, 0.0)
    }

    /// The same of a message with an instance weight.
    pub fn learn_instance(
        &mut self,
        bag: &mut Bag,
        class: ClassId,
        weight: f64,
        instance_weight: f64,
    ) -> Result<()> {
        check_weight(weight)?;
        if weight == 0.0 {
            self.forget_unused(bag);
            return Ok(());
        }
        if let Some(rule) = self.rule() {
            rule.correct(self, bag, class, weight);
        }
        let weight = weight * self.tick();
        if class as usize >= self.classes.len() {
            self.classes.resize_with(class as usize + 1, Class::default);
        }
        for statistic in self.statistics.iter_mut() {
            statistic.take_words(&self.rows, &bag.words);
        }
        let totals = &mut self.classes[class as usize];
        let mut tokens = 0.0;
        let frequencies = self.settings.frequencies;
        let mut adding = self.rows.adding(class, weight);
        for &(word, count) in &bag.words {
            tokens += count;
            let (documents, before) = adding.add(word, weight * count);
            if frequencies {
                totals.move_frequency(before, documents);
            }
        }
        totals.most_documents = totals.most_documents.max(adding.most_documents());
        totals.documents += weight;
        totals.tokens += weight * tokens;
        for statistic in self.statistics.iter_mut() {
            statistic.add_words(&self.rows, &bag.words);
            statistic.learn(&bag.words, class, weight);
        }
        self.version += 1;
        if self.settings.index_size > 0 {
            bag.words.sort_unstable_by_key(|&(word, _)| word);
            let words = bag.words.as_slice().into();
            self.index_document(Document { class, weight, instance_weight, words });
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
        let gone = if self.settings.columns { self.attributes.remove(word) } else { Some(word) };
        for statistic in self.statistics.iter_mut() {
            statistic.forget_word(word);
            if let Some(attribute) = gone {
                statistic.forget_attribute(attribute);
            }
        }
        self.layout += 1;
    }

    /// Clears what is known of a class that has no documents left: its id may be used again.
    pub(crate) fn forget_empty_class(&mut self, class: ClassId) {
        if !self.classes[class as usize].exists() {
            self.statistics.iter_mut().for_each(|statistic| statistic.forget_class(class));
            if class as usize >= self.owners.len() {
                self.owners.resize(class as usize + 1, 0);
            }
            self.owners[class as usize] += 1;
            self.layout += 1;
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
        let Some(before) = self.rows.cell(word, class) else { return 0.0 };
        for statistic in self.statistics.iter_mut() {
            statistic.take_words(&self.rows, &[(word, tokens)]);
        }
        self.rows.set(word, class, tokens, documents);
        if self.settings.frequencies {
            self.classes[class as usize].move_frequency(before.documents, documents);
        }
        for statistic in self.statistics.iter_mut() {
            statistic.add_words(&self.rows, &[(word, tokens)]);
            statistic.take(word, class, before.tokens - tokens, documents == 0.0);
        }
        if documents == 0.0 && self.rows.is_empty(word) {
            self.forget_word(word);
        }
        before.tokens - tokens
    }

    /// Says how many values an attribute has, learned or not.
    pub fn declare(&mut self, attribute: &[u8], values: u32) {
        self.attributes.declare(attribute, values);
    }

    /// Heap bytes held.
    pub fn size(&self) -> usize {
        self.vocabulary.size()
            + self.rows.size()
            + self.classes.capacity() * size_of::<Class>()
            + self.classes.iter().map(Class::size).sum::<usize>()
            + self.index.size()
            + self.pairs.size()
            + self.attributes.size()
            + self.statistics.size()
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
