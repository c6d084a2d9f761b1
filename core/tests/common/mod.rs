//! Helpers of the integration tests: pseudo-random streams, and a store with its buffers.
#![allow(dead_code, reason = "each test program uses a part of it")]

use _core::counts::{ClassId, Message, MessageScratch, Settings, Store, WordCounts};
use _core::error::Result;
use _core::explain::Explanation;
use _core::online::config::{Effect, Loss, OnlineConfig};
use _core::online::heads::Heads;
use _core::scoring::composition::{
    Composition, Dependence, DocumentWeights, Estimate, Event, Neighbourhood, Weights,
};
use _core::scoring::event_model::{Oov, Prior, Query};
use _core::scoring::scorer::{self, Scorer, ScoringConfig};
use _core::statistics::parents::Parents;
use _core::statistics::word_weights::{WeightArrays, WordWeights};
use _core::text::tokenizer::{Boundaries, Tokenizer, TokenizerOptions};
use _core::watch::Watch;
use std::collections::BTreeMap;
use std::sync::OnceLock;

/// Bounds that no test stream reaches.
pub const UNBOUNDED: Settings = Settings {
    max_features: usize::MAX,
    index_size: usize::MAX,
    frequencies: true,
    ..Settings::COUNTS
};

/// Reproducible pseudo-random numbers (SplitMix64 by Steele and others).
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Random(seed)
    }

    /// A number from 0 to `bound - 1`.
    pub fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % bound as u64) as usize
    }
}

/// Words with their counts, each word once.
pub type Words = BTreeMap<String, f64>;

/// One labelled message.
#[derive(Clone, Debug, PartialEq)]
pub struct Example {
    pub words: Words,
    pub class: ClassId,
    pub weight: f64,
}

impl Example {
    pub fn new(words: &[(&str, f64)], class: ClassId) -> Self {
        let words = words.iter().map(|&(word, count)| (word.to_owned(), count)).collect();
        Example { words, class, weight: 1.0 }
    }

    pub fn count(&self, word: &str) -> f64 {
        self.words.get(word).copied().unwrap_or(0.0)
    }

    pub fn length(&self) -> f64 {
        self.words.values().sum()
    }
}

/// The name of a word; every fifth name is too long to be its own key.
pub fn word(number: usize) -> String {
    if number % 5 == 3 { format!("a-word-of-many-bytes-{number}") } else { format!("w{number}") }
}

/// Up to `longest` tokens of a vocabulary in which low numbers are frequent.
pub fn words(random: &mut Random, vocabulary: usize, longest: usize) -> Words {
    let mut words = Words::new();
    for _ in 0..random.below(longest + 1) {
        let below = 1 + random.below(vocabulary);
        *words.entry(word(random.below(below))).or_default() += 1.0;
    }
    words
}

/// Messages of `classes` classes, each with a typical word. Weights and counts are small multiples of
/// a quarter, so that their sums are exact.
pub fn stream(seed: u64, length: usize, vocabulary: usize, classes: usize) -> Vec<Example> {
    let mut random = Random::new(seed);
    let weights = [1.0, 1.0, 1.0, 2.0, 0.25];
    (0..length)
        .map(|_| {
            let class = random.below(classes);
            let mut words = words(&mut random, vocabulary, 12);
            if random.below(2) == 0 {
                words.insert(word(class), [1.0, 3.0, 0.5][random.below(3)]);
            }
            Example { words, class: class as ClassId, weight: weights[random.below(weights.len())] }
        })
        .collect()
}

/// The tokens of river's `BagOfWords`.
pub const BAG_OF_WORDS: TokenizerOptions = TokenizerOptions {
    lowercase: true,
    strip_accents: true,
    deobfuscate: false,
    boundaries: Boundaries::Python,
    words: Some((1, 1)),
    characters: None,
    characters_within_words: None,
    length: false,
    fields: false,
    subject: false,
    max_token_length: None,
    max_tokens: None,
    max_bytes: None,
    hash_key: None,
};

/// The shared tokenizer of all stores.
fn tokenizer() -> &'static Tokenizer {
    static TOKENIZER: OnceLock<Tokenizer> = OnceLock::new();
    TOKENIZER.get_or_init(|| Tokenizer::new(BAG_OF_WORDS).expect("valid options"))
}

/// An event model with plain parts and Laplace smoothing.
pub fn config(event: Event) -> ScoringConfig {
    ScoringConfig {
        parts: Composition {
            event,
            dependence: Dependence::Independent,
            estimate: Estimate::Additive,
            weights: Weights::Uniform,
            document_weights: DocumentWeights::Uniform,
            neighbourhood: Neighbourhood::Stream,
        },
        alpha: 1.0,
        prior: Prior::Empirical,
        oov: Oov::Smooth,
        vocabulary_size: None,
        max_parents: None,
        bag_threshold: 0.0,
        factor: 0.1,
        factors: Vec::new(),
        online: OnlineConfig {
            nb_weight: 5.0,
            learning_rate: 8.0,
            bias_rate: 1.0,
            rate_decay: 64.0,
            loss: Loss::Logistic,
            effect: Effect::Additive,
            damping: 0.1,
            margin: 0.05,
            warm_up: 5,
            calibrated: true,
            estimate_noise: true,
            forgetting_factor: 0.999,
            undo_size: 1000,
            heads: Heads::One,
            max_df: 1.0,
        },
        n_neighbors: 1,
    }
}

/// A scorer of an event model, with what `set` changes.
pub fn scorer(event: Event, set: impl Fn(&mut ScoringConfig)) -> Scorer {
    let mut config = config(event);
    set(&mut config);
    config.scorer().expect("valid parameters")
}

/// A store with its buffers.
pub struct Learner {
    pub store: Store,
    pub scratch: MessageScratch,
}

impl Learner {
    pub fn new(settings: Settings) -> Self {
        Self::from(Store::new(settings))
    }

    pub fn from(store: Store) -> Self {
        Learner { store, scratch: MessageScratch::default() }
    }

    /// A store that learned these messages.
    pub fn of(settings: Settings, examples: &[Example]) -> Self {
        let mut learner = Self::new(settings);
        examples.iter().for_each(|example| learner.learn(example));
        learner
    }

    pub fn try_learn(&mut self, example: &Example) -> Result<()> {
        let counts = counts_of(&example.words);
        let Learner { store, scratch } = self;
        Message::Counts(&counts).intern(store, scratch);
        store.learn(&mut scratch.bag, example.class, example.weight)
    }

    pub fn learn(&mut self, example: &Example) {
        self.try_learn(example).expect("valid weight");
    }

    pub fn learn_text(&mut self, text: &str, class: ClassId) {
        let Learner { store, scratch } = self;
        Message::Text(text, tokenizer()).intern(store, scratch);
        store.learn(&mut scratch.bag, class, 1.0).expect("valid weight");
    }

    pub fn unlearn(&mut self, example: &Example) -> Result<()> {
        self.look_up(&example.words);
        self.store.unlearn(&mut self.scratch.bag, example.class, example.weight)
    }

    /// Fill the bag with the words of a message, for scoring or unlearning.
    pub fn look_up(&mut self, words: &Words) {
        let counts = counts_of(words);
        Message::Counts(&counts).look_up(&self.store, &mut self.scratch, true);
    }

    /// The scores of independent words.
    pub fn scores(&mut self, scorer: &Scorer, words: &Words) -> Vec<f64> {
        self.look_up(words);
        let (mut terms, mut scores) = (Vec::new(), Vec::new());
        scorer.prepare(&self.store, &mut terms);
        scorer.weigh_bag(&self.store, &mut self.scratch.bag);
        let (store, bag, watch) = (&self.store, &self.scratch.bag, &Watch::default());
        scorer.scores(Query { store, terms: &terms, bag, watch }, &mut scores);
        scores
    }

    /// The scores of any composition.
    pub fn score(&mut self, scorer: &Scorer, words: &Words) -> Vec<f64> {
        let mut scratch = self.prepare(scorer, words);
        scorer.score(&self.store, &mut scratch, &Watch::default());
        scratch.scores
    }

    pub fn explain(&mut self, scorer: &Scorer, words: &Words) -> Explanation {
        let mut scratch = self.prepare(scorer, words);
        scorer.explain(&self.store, &mut scratch)
    }

    fn prepare(&mut self, scorer: &Scorer, words: &Words) -> scorer::Scratch {
        self.look_up(words);
        let mut scratch = scorer::Scratch::default();
        std::mem::swap(&mut scratch.message, &mut self.scratch);
        scorer.prepare(&self.store, &mut scratch.terms);
        scratch
    }

    /// Set the weights of words as parents.
    pub fn set_parents(&mut self, weight: impl Fn(&str) -> f64) {
        let mut weights = vec![0.0; self.store.vocabulary.slots()];
        for id in self.store.vocabulary.sorted_ids() {
            let word = std::str::from_utf8(self.store.vocabulary.word(id)).expect("UTF-8");
            weights[id as usize] = weight(word);
        }
        let (layout, version) = (self.store.layout, self.store.version);
        assert!(self.store.swap_in(Parents(weights), layout, version).is_ok());
    }

    pub fn snapshot(&self) -> Vec<u8> {
        snapshot(&self.store)
    }
}

pub fn counts_of(words: &Words) -> WordCounts {
    let mut counts = WordCounts::default();
    words.iter().for_each(|(word, &count)| counts.push(word.as_bytes(), count));
    counts
}

pub fn snapshot(store: &Store) -> Vec<u8> {
    store.snapshot(true)
}

/// The weights in use.
pub fn weights_of(store: &Store) -> WeightArrays {
    store.statistic::<WordWeights>().expect("weights").export(&store.saved_order())
}

/// The lengths of cells by word and class, which snapshots do not contain.
pub fn lengths(store: &Store) -> BTreeMap<(Vec<u8>, ClassId), f64> {
    let mut lengths = BTreeMap::new();
    for id in store.vocabulary.sorted_ids() {
        for cell in store.rows.cells(id).filter(|cell| cell.length != 0.0) {
            lengths.insert((store.vocabulary.word(id).to_vec(), cell.class), cell.length);
        }
    }
    lengths
}

/// One indexed document: its words, class and weight.
pub type Indexed = (Vec<(Vec<u8>, f64)>, ClassId, f64);

/// The indexed documents, oldest first.
pub fn indexed(store: &Store) -> Vec<Indexed> {
    let named = |&(id, count): &(u32, f64)| (store.vocabulary.word(id).to_vec(), count);
    let documents = store.index.documents().map(|document| {
        let mut words: Vec<_> = document.words.iter().map(named).collect();
        words.sort_by(|a, b| a.0.cmp(&b.0));
        (words, document.class, document.weight)
    });
    documents.collect()
}

/// Assert that derived data agree with the counts and the index, and that a snapshot restores them.
pub fn assert_consistent(store: &Store) {
    let bytes = snapshot(store);
    let restored = Store::restore(&bytes).expect("a store's own snapshot");
    assert_eq!(snapshot(&restored), bytes);
    let order = store.class_order();
    // A restored store numbers its classes in the order of the snapshot.
    let place = |class: ClassId| order.iter().position(|&c| c == class).expect("it exists") as u32;
    let placed = |(key, length): ((Vec<u8>, ClassId), f64)| ((key.0, place(key.1)), length);
    let lengths_here: BTreeMap<_, _> = lengths(store).into_iter().map(placed).collect();
    assert_eq!(lengths_here, lengths(&restored));
    for (class, totals) in restored.classes.iter().enumerate() {
        let own = &store.classes[order[class] as usize];
        let frequencies: Vec<_> = totals.frequencies().collect();
        assert_eq!(own.frequencies().collect::<Vec<_>>(), frequencies);
    }
    for word in 0..store.rows.slots() as u32 {
        for cell in store.rows.cells(word) {
            let own = &store.classes[cell.class as usize];
            let most = own.documents - own.spare + 1e-9 * own.documents;
            assert!(cell.documents <= most || own.common.contains(&word), "word {word}");
        }
    }
}

/// Assert that numbers agree to `tolerance`, relative for numbers above 1.
#[track_caller]
pub fn assert_close(found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len());
    for (a, b) in found.iter().zip(expected) {
        assert!((a - b).abs() <= tolerance * b.abs().max(1.0), "{found:?} is not {expected:?}");
    }
}
