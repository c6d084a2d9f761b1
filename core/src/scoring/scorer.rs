//! The scorer of a composition: from a bag of words to the score of each class.

use crate::counts::{Bag, MessageScratch, Slice, Store};
use crate::error::{Error, Result};
use crate::online::config::{OnlineConfig, OnlineScratch};
use crate::scoring::composition::{
    Composition, Dependence, DocumentWeights, Estimate, Form, Neighbourhood, Sum, Weights,
};
use crate::scoring::event_model::log_table;
use crate::scoring::hidden::HiddenScratch;
use crate::scoring::neighbourhood::NearestScratch;
use crate::scoring::one_dependence::OneDependenceScratch;
use crate::scoring::packaged::PackagedScratch;
use crate::scoring::{ClassTerms, EventModel, Oov, Output, Prior, Query};
use crate::statistics::word_weights::Weighted;
use crate::statistics::{Tree, WordWeights};
use crate::watch::Watch;
use std::borrow::Cow;

/// The largest smoothing: its products with the unit of decaying counts and the vocabulary are finite.
const MOST_ALPHA: f64 = 1e100;

/// The parts of a score and their parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct ScoringConfig {
    pub parts: Composition,
    pub alpha: f64,
    pub prior: Prior,
    pub oov: Oov,
    pub vocabulary_size: Option<f64>,
    /// Maximum number of parents in a message; None is unlimited.
    pub max_parents: Option<usize>,
    /// Bits; pairs of attributes with less information are not in a package of this score.
    pub bag_threshold: f64,
    /// The correlation factor, and by class those of its documents and of all others.
    pub factor: f64,
    pub factors: Vec<(f64, f64)>,
    /// The parameters of online weights.
    pub online: OnlineConfig,
    /// Number of nearest documents.
    pub n_neighbors: usize,
}

impl ScoringConfig {
    /// Check the parts and the smoothing, and return a scorer. The caller checks other parameters.
    pub fn scorer(&self) -> Result<Scorer> {
        let &ScoringConfig { alpha, prior, oov, vocabulary_size, .. } = self;
        self.parts.check()?;
        if !(alpha > 0.0 && alpha <= MOST_ALPHA) {
            return Err(Error::Invalid(format!(
                "alpha must be a positive number (1 is Laplace smoothing), at most {MOST_ALPHA:e}, \
                 not {alpha}"
            )));
        }
        if let Some(size) = vocabulary_size
            && !(size >= 1.0 && size.is_finite())
        {
            return Err(Error::Invalid(format!(
                "vocabulary_size must be a number of words, at least 1, not {size}"
            )));
        }
        let model = EventModel {
            traits: self.parts.event.traits(),
            prior,
            oov,
            vocabulary_size,
            unit: 1.0,
            alpha,
            log_alpha: alpha.ln(),
            max_parents: self.max_parents.unwrap_or(usize::MAX),
            bag_threshold: self.bag_threshold,
            table: log_table(alpha),
        };
        Ok(Scorer { model, config: self.clone() })
    }
}

/// An immutable scorer, shared by all predictions of a model.
#[derive(Clone)]
pub struct Scorer {
    pub model: EventModel,
    pub(crate) config: ScoringConfig,
}

/// Reused buffers of one thread.
#[derive(Default)]
pub struct Scratch {
    pub message: MessageScratch,
    pub terms: Vec<ClassTerms>,
    /// The score of each class, by id.
    pub scores: Vec<f64>,
    pub families: FamilyScratch,
}

/// The buffers of families.
#[derive(Default)]
pub struct FamilyScratch {
    pub hidden: HiddenScratch,
    pub packaged: PackagedScratch,
    pub one_dependence: OneDependenceScratch,
    pub nearest: NearestScratch,
    pub online: OnlineScratch,
}

impl Scorer {
    /// Return the scorer for the current counts of a store: the smoothing has their unit.
    pub fn for_counts(&self, store: &Store) -> Cow<'_, Self> {
        let unit = store.unit();
        if unit == self.model.unit {
            return Cow::Borrowed(self);
        }
        Cow::Owned(Scorer { model: self.model.in_unit(unit), ..self.clone() })
    }

    /// Whether the bag must contain each word once: presence is not a sum over tokens, and parents
    /// are paired with other words.
    pub fn needs_distinct(&self) -> bool {
        self.config.parts.dependence != Dependence::Independent
            || self.config.parts.neighbourhood != Neighbourhood::Stream
            || self.model.traits.form == Form::Presence
            || self.is_online()
    }

    /// The parameters of online weights.
    pub fn online(&self) -> &OnlineConfig {
        &self.config.online
    }

    /// Whether the store's corrections are added to the scores.
    pub(crate) fn is_online(&self) -> bool {
        self.config.parts.weights == Weights::Online
    }

    /// The weights that multiply the counts of a message.
    fn word_weights<'a>(&self, store: &'a Store) -> Option<&'a WordWeights> {
        let parts = &self.config.parts;
        let weighted = matches!(parts.weights, Weights::Multiplied | Weights::Exponents)
            || parts.document_weights == DocumentWeights::Instance;
        if weighted { store.statistic() } else { None }
    }

    /// The weights that multiply the counts of an additive estimate, too.
    fn count_weights<'a>(&self, store: &'a Store) -> Option<&'a WordWeights> {
        let Composition { dependence, weights, .. } = self.config.parts;
        let counted = dependence == Dependence::Independent && weights != Weights::Exponents;
        self.word_weights(store).filter(|_| counted)
    }

    /// Compute the terms that all messages share, class by class: once for a batch. The scorer is
    /// one [for these counts](Self::for_counts).
    pub fn prepare(&self, store: &Store, terms: &mut Vec<ClassTerms>) {
        debug_assert_eq!(self.model.unit, store.unit());
        if store.settings.label_sets {
            return self.prepare_labels(store, store.vocabulary.len(), terms);
        }
        let model = &self.model;
        match self.config.parts.estimate {
            Estimate::Additive => match self.count_weights(store) {
                Some(weights) => model.prepare_weighted(store, weights, terms),
                None => model.prepare(store, terms),
            },
            Estimate::Correlation => {
                model.prepare(store, terms);
                self.config.prepare_correlation(store, terms);
            }
            Estimate::Effective => model.prepare_effective(store, terms),
        }
        match self.config.parts.weights {
            Weights::ChiSquare => model.prepare_chi_square(store, terms),
            Weights::Online => self.prepare_online(store, store.vocabulary.len(), terms),
            Weights::Exponents => {
                let scale = self.word_weights(store).map_or(1.0, |weights| weights.scale);
                for class in terms {
                    class.prior *= scale;
                    class.prior_complement *= scale;
                }
            }
            Weights::Uniform | Weights::Multiplied => {}
        }
    }

    /// Multiply the counts of a message, of known and unknown words, by their weights. A word of
    /// weight 0 is not a parent either.
    pub fn weigh_bag(&self, store: &Store, bag: &mut Bag) {
        if let Some(weights) = self.word_weights(store) {
            let scale = weights.scale;
            bag.weigh(|word| scale * weights.of_word(word), scale * weights.unseen);
        }
    }

    /// Compute the joint log-likelihood of the bag for each class in `out[class]`, with independent
    /// words. The value for a class without documents is undefined.
    pub fn scores(&self, query: Query<'_>, out: &mut Vec<f64>) {
        out.clear();
        out.resize(query.terms.len(), 0.0);
        let model = &self.model;
        match self.config.parts.estimate {
            Estimate::Additive => match self.count_weights(query.store) {
                Some(weights) => {
                    model.add_words(query, &Weighted { rows: &query.store.rows, weights }, out);
                }
                None if self.is_online() => {
                    self.add_odds::<false>(query, out, |_| {}, |_, _, _| {})
                }
                None => model.add_words(query, &query.store.rows, out),
            },
            Estimate::Correlation => model.add_correlation(query, out),
            Estimate::Effective => model.add_effective(query, out),
        }
        self.multiply_ratios(query, out);
    }

    /// Multiply P(w|c) by the chi-square ratio of the word and the class.
    pub(crate) fn multiply_ratios(&self, query: Query<'_>, out: &mut [f64]) {
        if self.config.parts.weights == Weights::ChiSquare {
            self.model.add_chi_square(query, out);
        }
    }

    /// Compute the scores without chi-square ratios, and the parts of words that depend on one
    /// another.
    pub(crate) fn dependent_scores(
        &self,
        query: Query<'_>,
        families: &mut FamilyScratch,
        out: &mut Output<'_>,
    ) {
        let (model, FamilyScratch { hidden, packaged, one_dependence, .. }) =
            (&self.model, families);
        match self.config.parts.dependence {
            Dependence::Independent => {}
            Dependence::Hidden => model.hidden_scores(query, hidden, out),
            Dependence::HiddenRatios => model.ratio_scores(query, hidden, out),
            Dependence::Packaged => model.packaged_scores(query, packaged, out),
            Dependence::OneDependence => model.one_dependence_scores(query, one_dependence, out),
        }
    }

    /// Score the bag of the scratch, whose terms are prepared. Long computations stop when the
    /// watch says so.
    pub fn score(&self, store: &Store, scratch: &mut Scratch, watch: &Watch) {
        let Scratch { message: MessageScratch { bag, .. }, terms, scores, families } = scratch;
        if store.settings.label_sets {
            return self.label_scores(store, terms, bag, &mut families.online, scores);
        }
        self.weigh_bag(store, bag);
        if self.is_online() {
            return self.online_scores(store, terms, bag, &mut families.online, scores);
        }
        if self.config.parts.neighbourhood != Neighbourhood::Stream {
            if let Some(slice) = self.slice(store, bag, &mut families.nearest) {
                self.model.prepare_slice(store, slice, terms);
                self.slice_scores(Query { store, terms, bag, watch }, slice, scores);
            }
            return;
        }
        let query = Query { store, terms, bag, watch };
        if self.config.parts.dependence == Dependence::Independent {
            return self.scores(query, scores);
        }
        self.dependent_scores(query, families, &mut Output { scores, parts: None });
        self.multiply_ratios(query, scores);
    }

    /// [`scores`](Self::scores) from a slice of the counts and its prepared terms.
    pub(crate) fn slice_scores(&self, query: Query<'_>, slice: &Slice, out: &mut Vec<f64>) {
        out.clear();
        out.resize(query.terms.len(), 0.0);
        self.model.add_words(query, slice, out);
    }

    /// Replace scores by those whose softmax is the probability of each class. Most already are.
    pub fn probable(&self, store: &Store, scores: &mut [f64]) {
        if store.settings.label_sets {
            self.probable_labels(store, scores);
        } else if self.is_online() {
            self.config.online.probable(store, scores);
        }
    }

    /// Return the counts of the documents that count for a message; None without a tree.
    pub fn slice<'a>(
        &self,
        store: &'a Store,
        bag: &Bag,
        scratch: &'a mut NearestScratch,
    ) -> Option<&'a Slice> {
        match self.config.parts.neighbourhood {
            Neighbourhood::Stream => None,
            Neighbourhood::Tree => store.statistic::<Tree>().map(|tree| tree.slice(bag)),
            Neighbourhood::Nearest => {
                let whole = self.model.traits.sum == Sum::Vocabulary;
                Some(scratch.slice(store, bag, self.config.n_neighbors, whole))
            }
        }
    }
}
