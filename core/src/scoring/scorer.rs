//! The scorer of a composition: from a bag of words to the score of each class.

use crate::counts::bag::Bag;
use crate::counts::rows::ClassId;
use crate::counts::slice::Slice;
use crate::counts::store::Store;
use crate::error::Result;
use crate::scoring::composition::{
    Composition, Dependence, DocumentWeights, Estimate, Event, Form, Neighbourhood, Sum, Weights,
};
use crate::scoring::correlation::Correlation;
use crate::scoring::decision;
use crate::scoring::event_model::{ClassTerms, EventModel, Factors, Oov, Prior};
use crate::scoring::hidden::HiddenScratch;
use crate::scoring::neighbourhood::NearestScratch;
use crate::scoring::one_dependence::OneDependenceScratch;
use crate::scoring::online_weights::{OnlineConfig, OnlineScratch};
use crate::scoring::packaged::PackagedScratch;

use crate::statistics::fitted_weights::{FittedWeights, NEW_WORD};
use crate::statistics::tree::Tree;
use crate::statistics::word_weights::WordWeights;
use crate::text::tokenizer;
use crate::watch::Watch;
use std::borrow::Cow;

/// The parts of a score and their parameters.
#[derive(Clone, Debug)]
pub struct ScoringConfig {
    pub parts: Composition,
    pub alpha: f64,
    pub prior: Prior,
    pub oov: Oov,
    pub vocabulary_size: Option<f64>,
    /// Maximum number of parents in a message; None is unlimited.
    pub max_parents: Option<usize>,
    /// The correlation factor, and by class those of its documents and of all others.
    pub factor: f64,
    pub factors: Vec<(f64, f64)>,
    /// The parameters of online weights.
    pub online: OnlineConfig,
    /// Number of nearest documents.
    pub n_neighbors: usize,
}

impl ScoringConfig {
    /// The event model with plain parts and Laplace smoothing.
    pub fn new(event: Event) -> Self {
        ScoringConfig {
            parts: Composition::plain(event),
            alpha: 1.0,
            prior: Prior::Empirical,
            oov: Oov::Smooth,
            vocabulary_size: None,
            max_parents: None,
            factor: 0.1,
            factors: Vec::new(),
            online: OnlineConfig::default(),
            n_neighbors: 1,
        }
    }

    /// Check the parts and their parameters, and return a scorer.
    pub fn scorer(&self) -> Result<Scorer> {
        self.parts.check()?;
        let mut model = EventModel::new(
            self.parts.event,
            self.alpha,
            self.prior,
            self.oov,
            self.vocabulary_size,
        )?;
        model.max_parents = self.max_parents.unwrap_or(usize::MAX);
        let of_class = |&(own, complement): &(f64, f64)| Factors { own, complement };
        let factors = self.factors.iter().map(of_class).collect();
        let correlation = Correlation::new(self.factor, factors)?;
        let online = self.online.checked()?;
        Ok(Scorer::new(model, self.parts, correlation, online, self.n_neighbors))
    }
}

/// An immutable scorer, shared by all predictions of a model.
#[derive(Clone)]
pub struct Scorer {
    pub model: EventModel,
    parts: Composition,
    correlation: Correlation,
    pub(crate) online: OnlineConfig,
    pub(crate) n_neighbors: usize,
}

/// Reused buffers of one thread.
#[derive(Default)]
pub struct Scratch {
    pub tokens: tokenizer::Scratch,
    /// The message.
    pub bag: Bag,
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
    /// `parts` were checked: see [`ScoringConfig::scorer`].
    pub(super) fn new(
        model: EventModel,
        parts: Composition,
        correlation: Correlation,
        online: OnlineConfig,
        n_neighbors: usize,
    ) -> Self {
        Scorer { model, parts, correlation, online, n_neighbors }
    }

    #[inline]
    pub fn parts(&self) -> Composition {
        self.parts
    }

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
        self.parts.dependence != Dependence::Independent
            || self.parts.neighbourhood != Neighbourhood::Stream
            || self.model.traits.form == Form::Presence
            || self.is_online()
    }

    /// Whether the store's corrections are added to the scores.
    #[inline]
    pub(crate) fn is_online(&self) -> bool {
        self.parts.weights == Weights::Online
    }

    /// The weights that multiply the counts of an additive estimate.
    #[inline]
    fn count_weights<'a>(&self, store: &'a Store) -> Option<&'a WordWeights> {
        let parts = &self.parts;
        let weighted = parts.dependence == Dependence::Independent
            && (parts.weights == Weights::Multiplied
                || parts.document_weights == DocumentWeights::Instance);
        if weighted { store.statistic() } else { None }
    }

    /// Compute the terms that all messages share, class by class: once for a batch. The scorer is
    /// one [for these counts](Self::for_counts).
    pub fn prepare(&self, store: &Store, terms: &mut Vec<ClassTerms>) {
        debug_assert_eq!(self.model.unit, store.unit());
        let model = &self.model;
        match self.parts.estimate {
            Estimate::Additive => match self.count_weights(store) {
                Some(weights) => model.prepare_weighted(store, weights, terms),
                None => model.prepare(store, terms),
            },
            Estimate::Correlation => {
                model.prepare(store, terms);
                self.correlation.prepare(store, terms);
            }
            Estimate::Effective => model.prepare_effective(store, terms),
        }
        match self.parts.weights {
            Weights::ChiSquare => model.prepare_chi_square(store, terms),
            Weights::Fitted => {
                let scale = store.statistic().map_or(1.0, |fitted: &FittedWeights| fitted.scale);
                for class in terms {
                    class.prior *= scale;
                    class.prior_complement *= scale;
                }
            }
            Weights::Uniform | Weights::Multiplied | Weights::Online => {}
        }
    }

    /// Multiply the counts of a message, of known and unknown words, by weights that change the
    /// score alone. A word of weight 0 is not a parent either.
    pub fn weigh_bag(&self, store: &Store, bag: &mut Bag) {
        match self.parts.weights {
            Weights::Multiplied if self.parts.dependence != Dependence::Independent => {
                if let Some(weights) = store.statistic::<WordWeights>() {
                    bag.weigh(|word| weights.of_word(word), weights.unseen);
                }
            }
            Weights::Fitted => {
                if let Some(fitted) = store.statistic::<FittedWeights>() {
                    let scale = fitted.scale;
                    bag.weigh(|word| scale * fitted.of_word(word), scale * NEW_WORD);
                }
            }
            Weights::Uniform | Weights::Multiplied | Weights::ChiSquare | Weights::Online => {}
        }
    }

    /// Compute the joint log-likelihood of the bag for each class in `out[class]`, with independent
    /// words. The value for a class without documents is undefined. `terms` are prepared.
    pub fn scores(&self, store: &Store, terms: &[ClassTerms], bag: &Bag, out: &mut Vec<f64>) {
        out.clear();
        out.resize(terms.len(), 0.0);
        let model = &self.model;
        match self.parts.estimate {
            Estimate::Additive => match self.count_weights(store) {
                Some(weights) => model.add_weighted(store, weights, terms, bag, out),
                None => model.add_words(store, store.rows(), terms, bag, out),
            },
            Estimate::Correlation => self.correlation.add(model.traits, store, terms, bag, out),
            Estimate::Effective => model.add_effective(store, terms, bag, out),
        }
        self.multiply_ratios(store, terms, bag, out);
    }

    /// Multiply P(w|c) by the chi-square ratio of the word and the class.
    pub fn multiply_ratios(&self, store: &Store, terms: &[ClassTerms], bag: &Bag, out: &mut [f64]) {
        if self.parts.weights == Weights::ChiSquare {
            self.model.add_chi_square(store, terms, bag, out);
        }
    }

    /// Score the bag of the scratch, whose terms are prepared. Long computations stop when the
    /// watch says so.
    pub fn score(&self, store: &Store, scratch: &mut Scratch, watch: &Watch) {
        let Scratch { bag, terms, scores, families, .. } = scratch;
        self.weigh_bag(store, bag);
        let model = &self.model;
        match self.parts.dependence {
            Dependence::Independent => match self.parts.neighbourhood {
                Neighbourhood::Stream if self.is_online() => {
                    self.online_scores(store, terms, bag, &mut families.online, scores);
                }
                Neighbourhood::Stream => self.scores(store, terms, bag, scores),
                Neighbourhood::Tree | Neighbourhood::Nearest => {
                    if let Some(slice) = self.slice(store, bag, &mut families.nearest) {
                        model.prepare_slice(store, slice, terms);
                        model.slice_scores(store, slice, terms, bag, scores);
                    }
                }
            },
            Dependence::Hidden => {
                let hidden = &mut families.hidden;
                model.hidden_scores(store, terms, bag, hidden, watch, scores, None);
                self.multiply_ratios(store, terms, bag, scores);
            }
            Dependence::HiddenRatios => {
                let hidden = &mut families.hidden;
                model.ratio_scores(store, terms, bag, hidden, watch, scores, None);
                self.multiply_ratios(store, terms, bag, scores);
            }
            Dependence::Packaged => {
                let threshold = [store.packages().threshold];
                let packaged = &mut families.packaged;
                model.packaged_scores(store, terms, bag, packaged, watch, &threshold, scores, None);
                self.multiply_ratios(store, terms, bag, scores);
            }
            Dependence::OneDependence => {
                let estimators = &mut families.one_dependence;
                model.one_dependence_scores(store, terms, bag, estimators, watch, scores);
                self.multiply_ratios(store, terms, bag, scores);
            }
        }
    }

    /// Replace scores by those whose softmax is the probability of each class. Most already are.
    #[inline]
    pub fn probable(&self, store: &Store, scores: &mut [f64]) {
        if self.is_online() {
            self.online.probable(store, scores);
        }
    }

    /// −ln P(class | message) of the bag of the scratch, whose terms are prepared, at each of
    /// these ascending thresholds of the packages.
    pub fn packaged_losses(
        &self,
        store: &Store,
        scratch: &mut Scratch,
        class: ClassId,
        thresholds: &[f64],
        watch: &Watch,
    ) -> Vec<f64> {
        let Scratch { bag, terms, scores, families, .. } = scratch;
        self.weigh_bag(store, bag);
        let packaged = &mut families.packaged;
        self.model.packaged_scores(store, terms, bag, packaged, watch, thresholds, scores, None);
        let by_threshold = scores.chunks_exact_mut(terms.len().max(1));
        let losses = by_threshold.map(|scores| {
            self.multiply_ratios(store, terms, bag, scores);
            decision::loss(store, scores, class)
        });
        losses.collect()
    }
}

impl Scorer {
    /// Return the counts of the documents that count for a message; None without a tree.
    pub fn slice<'a>(
        &self,
        store: &'a Store,
        bag: &Bag,
        scratch: &'a mut NearestScratch,
    ) -> Option<&'a Slice> {
        match self.parts().neighbourhood {
            Neighbourhood::Stream => None,
            Neighbourhood::Tree => store.statistic::<Tree>().map(|tree| tree.slice(bag)),
            Neighbourhood::Nearest => {
                let whole = self.model.traits.sum == Sum::Vocabulary;
                Some(scratch.slice(store, bag, self.n_neighbors, whole))
            }
        }
    }
}
