//! The count store: vocabulary, counts and document index change together or not at all.

use crate::counts::alloc::element;
use crate::counts::attributes::Attributes;
use crate::counts::clock::Clock;
use crate::counts::index::Index;
use crate::counts::statistic::{Stale, Statistics};
use crate::counts::term_weighting::TermWeighting;
use crate::counts::{
    AttributeId, Bag, Class, ClassId, Counted, Document, Rows, SavedOrder, Statistic, Vocabulary,
    WordId,
};
use crate::error::{Error, Result};
use std::any::Any;
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

/// Counts and weights above 2^53 are not exact in `f64` and are rejected.
pub const MAX_COUNT: f64 = 9_007_199_254_740_992.0;

/// Maximum vocabulary size in bytes; beyond it the user must set a bound.
const MAX_VOCABULARY_BYTES: usize = 3 << 30;

/// Maximum number of cells that one message is assumed to add.
const SPARE_CELLS: usize = 1 << 24;

/// Immutable settings of a store: its contents and its bounds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// Maximum number of words; beyond it the rarest words of one group after the other are pruned.
    pub max_features: usize,
    /// Maximum number of documents in the index; 0 disables it.
    pub index_size: usize,
    /// Whether each class keeps a histogram of document frequencies. Bernoulli models need it; it
    /// costs other models two thirds of their learning speed.
    pub frequencies: bool,
    /// Whether words are values of attributes, `name=value`. The length of a document is then 1:
    /// documents are counted instead of tokens.
    pub columns: bool,
    /// Whether words have corrections, learned one step per message.
    pub online_weights: bool,
    /// Whether a message has any number of labels: the first class then has every message, and each
    /// other class the messages with its label. Only with `online_weights`.
    pub label_sets: bool,
    /// Transformation of counts before they are learned or scored.
    pub term_weighting: TermWeighting,
    /// Messages or seconds after which a message counts half; None for no decay.
    pub half_life: Option<f64>,
    /// Whether the half-life is in seconds of the messages' times.
    pub timed: bool,
    /// Whether a document that the index evicts is also removed from the counts.
    pub windowed: bool,
}

impl Settings {
    /// Counts only, without bounds.
    pub const COUNTS: Settings = Settings {
        max_features: usize::MAX,
        index_size: 0,
        frequencies: false,
        columns: false,
        online_weights: false,
        label_sets: false,
        term_weighting: TermWeighting::Counts,
        half_life: None,
        timed: false,
        windowed: false,
    };
}

/// An additional step of a model when it learns a message.
pub trait LearningRule: Any + Send + Sync {
    /// Learns from a message before it is counted, and advances the clock ([`Store::tick`]) once: the
    /// message is scored before, and its step counts as much as the message. The bag holds interned
    /// words.
    fn correct(&self, store: &mut Store, bag: &mut Bag, class: ClassId, weight: f64);

    /// Takes the step of a message back, before its counts are removed.
    fn undo(&self, store: &mut Store, bag: &Bag, class: ClassId, weight: f64);
}

/// The state of the store.
#[derive(Clone)]
pub struct Store {
    pub settings: Settings,
    pub vocabulary: Vocabulary,
    pub classes: Vec<Class>,
    pub rows: Rows,
    pub index: Index,
    pub attributes: Attributes,
    pub(crate) clock: Clock,
    /// Times of the messages that are learned next, for a half-life in time.
    pub(crate) times: VecDeque<f64>,
    /// Classes that the window left without documents; their owner collects them.
    pub(crate) emptied: Vec<ClassId>,
    /// The statistics in use.
    pub(crate) statistics: Statistics,
    /// An additional learning step, if the model needs one.
    pub rule: Option<Arc<dyn LearningRule>>,
    /// Whether words were ever pruned; unlearning then tolerates missing words.
    pub(crate) pruned: bool,
    /// The group of words that is pruned next.
    pub(crate) prune_cursor: usize,
    /// How many words this process has pruned to stay within the bound.
    pub evicted: u64,
    /// How many new words of long messages this process has not learned.
    pub refused: u64,
    /// Ranks of the classes in label order, by class id: they break ties and order snapshots.
    pub ranks: Vec<i64>,
    /// How many earlier classes had each id; ids beyond the end had none.
    owners: Vec<u32>,
    /// Increases by one with every change.
    pub version: u64,
    /// Changes whenever an id may refer to another word or class.
    pub layout: u64,
}

impl Store {
    pub fn new(settings: Settings) -> Self {
        // Counts of indexed documents have lengths, and most term weightings give fractions.
        let small = settings.index_size == 0 && settings.term_weighting.scale() == 1.0;
        Store {
            settings,
            vocabulary: Vocabulary::bounded(settings.max_features),
            classes: Vec::new(),
            rows: Rows::new(small, settings.half_life.is_some()),
            index: Index::default(),
            attributes: Attributes::default(),
            clock: Clock::new(settings.timed),
            times: VecDeque::new(),
            emptied: Vec::new(),
            statistics: Statistics::default(),
            rule: None,
            pruned: false,
            prune_cursor: 0,
            evicted: 0,
            refused: 0,
            ranks: Vec::new(),
            owners: Vec::new(),
            version: 0,
            layout: 0,
        }
    }

    /// Weight of all documents, in the unit of the counts.
    pub fn documents(&self) -> f64 {
        self.classes.iter().map(|class| class.documents).sum()
    }

    /// Number of classes with documents.
    pub fn existing_classes(&self) -> usize {
        self.classes.iter().filter(|class| class.exists()).count()
    }

    /// The rank of a class among the labels; classes without a rank come last.
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

    /// Resolves a class handle: the id in the low 32 bits, the number of earlier owners above. None
    /// if the class has no documents or the id belongs to another class.
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

    /// Fails without a change if the memory of the vocabulary is exhausted.
    pub fn check_room(&self) -> Result<()> {
        let spare_bytes = u32::MAX as usize - MAX_VOCABULARY_BYTES;
        if self.vocabulary.has_room_for(spare_bytes) && self.rows.has_room_for(SPARE_CELLS) {
            Ok(())
        } else {
            Err(Error::Invalid(
                "the vocabulary is full (3 GiB of words, or 4 GiB of counts): set max_features"
                    .into(),
            ))
        }
    }

    /// Learns one message, given as a bag of interned words.
    pub fn learn(&mut self, bag: &mut Bag, class: ClassId, weight: f64) -> Result<()> {
        check_weight(weight)?;
        if weight == 0.0 {
            self.forget_unused(bag);
            return Ok(());
        }
        match self.rule.clone() {
            Some(rule) => rule.correct(self, bag, class, weight),
            None => self.tick(),
        }
        let weight = weight * self.unit();
        for statistic in self.statistics.iter_mut() {
            statistic.take_words(&self.rows, &bag.words);
        }
        self.count(bag, class, weight);
        for statistic in self.statistics.iter_mut() {
            statistic.add_words(&self.rows, &bag.words);
            statistic.learn(&bag.words, class, weight);
        }
        self.version += 1;
        if self.settings.index_size > 0 {
            bag.words.sort_unstable_by_key(|&(word, _)| word);
            let words = bag.words.as_slice().into();
            self.index_document(Document { class, weight, words });
        }
        self.forget_faded();
        self.prune_to_bound();
        Ok(())
    }

    /// Adds a message to the counts of a class.
    #[inline]
    pub(crate) fn count(&mut self, bag: &Bag, class: ClassId, weight: f64) {
        let totals = element(&mut self.classes, class as usize);
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
        totals.documents += weight;
        totals.tokens += weight * tokens;
    }

    /// Forgets words that were interned for a message that is not learned.
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

    /// Clears the statistics of a class without documents: its id may be reused.
    pub(crate) fn forget_empty_class(&mut self, class: ClassId) {
        if !self.classes[class as usize].exists() {
            self.statistics.iter_mut().for_each(|statistic| statistic.forget_class(class));
            *element(&mut self.owners, class as usize) += 1;
            self.layout += 1;
        }
    }

    /// Sets the counts of a cell and drops it at zero documents; returns the tokens removed.
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

    /// Heap size in bytes.
    pub fn size(&self) -> usize {
        self.vocabulary.size()
            + self.rows.size()
            + self.classes.capacity() * size_of::<Class>()
            + self.classes.iter().map(Class::size).sum::<usize>()
            + self.index.size()
            + self.attributes.size()
            + self.statistics.size()
    }
}

/// Statistics: read, replace, save.
impl Store {
    /// The statistic of type `T`, if it is in use.
    pub fn statistic<T: Statistic>(&self) -> Option<&T> {
        self.statistics.get()
    }

    /// Words and classes in snapshot order.
    pub fn saved_order(&self) -> SavedOrder {
        SavedOrder::of(self.settings, &self.vocabulary, &self.attributes, self.class_order())
    }

    /// Replaces a statistic, computed at this `layout` and `version`, and returns the old one.
    ///
    /// Fails without a change if ids have changed their meaning since.
    pub fn swap_in<T: Statistic>(
        &mut self,
        mut statistic: T,
        layout: u64,
        version: u64,
    ) -> std::result::Result<Option<Box<T>>, Stale> {
        if layout != self.layout {
            return Err(Stale);
        }
        if version != self.version {
            statistic.recount(&self.counted());
        }
        Ok(self.statistics.put(statistic))
    }

    /// Lets a statistic of a copy wait for the end of the refresh of this number. Return false if the
    /// refresh was dropped.
    pub fn add_next<T: Statistic>(&mut self, statistic: T, number: u64) -> bool {
        self.statistics.add_next(statistic, number)
    }

    /// Uses the statistics of the refresh that has begun, or drops them. Returns the old ones.
    pub fn end_refresh(&mut self, used: bool) -> Vec<Box<dyn Statistic>> {
        if used { self.statistics.use_next() } else { self.statistics.drop_next() }
    }

    /// The counts as statistics see them.
    pub fn counted(&self) -> Counted<'_> {
        let Store { classes, rows, index, .. } = self;
        Counted { classes, rows, index }
    }

    /// The statistics, together with the counts as they see them.
    pub(crate) fn parts(&mut self) -> (&mut Statistics, Counted<'_>) {
        let Store { statistics, classes, rows, index, .. } = self;
        (statistics, Counted { classes, rows, index })
    }
}

impl SavedOrder {
    pub fn of(
        settings: Settings,
        vocabulary: &Vocabulary,
        attributes: &Attributes,
        classes: Vec<ClassId>,
    ) -> Self {
        let words = vocabulary.sorted_ids();
        let attributes = if settings.columns { attributes.sorted_ids() } else { words.clone() };
        SavedOrder { words, classes, attributes }
    }
}

/// Columns whose bins became coarser.
impl Store {
    /// Renames words. Words with the same new name become one word with the sum of their counts:
    /// they must never occur in the same document.
    pub fn rename(&mut self, names: &HashMap<Vec<u8>, Vec<u8>>) {
        let mut renamed = Store::new(self.settings);
        renamed.attributes = self.attributes.emptied();
        renamed.set_key(self.key());
        let mut word_of: Vec<WordId> = vec![0; self.vocabulary.slots()];
        for word in self.vocabulary.sorted_ids() {
            let bytes = self.vocabulary.word(word);
            let bytes = names.get(bytes).map_or(bytes, Vec::as_slice);
            let new = renamed.intern(&renamed.vocabulary.token(bytes));
            word_of[word as usize] = new;
            for cell in self.rows.cells(word) {
                let length = renamed.rows.cell(new, cell.class).map_or(0.0, |known| known.length);
                renamed.rows.add(new, cell.class, cell.tokens, cell.documents);
                renamed.rows.set_length(new, cell.class, length + cell.length);
            }
        }
        self.classes.iter_mut().for_each(|class| class.spare = 0.0);
        for document in self.index.documents() {
            renamed.index.push(document.renamed(document.class, &word_of));
        }
        self.vocabulary = renamed.vocabulary;
        self.rows = renamed.rows;
        self.attributes = renamed.attributes;
        self.index = renamed.index;
        // Attributes keep their ids.
        self.statistics.forget_word_ids();
        self.version += 1;
        self.layout += 1;
    }

    /// The attribute id of a word; in texts, its own id.
    pub fn attribute_of(&self, word: WordId) -> AttributeId {
        if self.settings.columns { self.attributes.of(word) } else { word }
    }
}

/// Rejects weights that are negative, not finite or beyond exact counting.
pub fn check_weight(weight: f64) -> Result<()> {
    if (0.0..=MAX_COUNT).contains(&weight) {
        Ok(())
    } else {
        Err(Error::Invalid("the weight of a message must be a number from 0 to 2**53".into()))
    }
}
