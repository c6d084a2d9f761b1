//! How to score: which estimate, which weights, which family; and the way from a message to scores.

use crate::counts::bag::Bag;
use crate::counts::rows::ClassId;
use crate::counts::store::Store;
use crate::counts::vocabulary::WordId;
use crate::error::Result;
use crate::scoring::correlation::Correlation;
use crate::scoring::decision;
use crate::scoring::neighbourhood::Neighbourhood;
use crate::scoring::online_weights::{OnlineScores, Sums};
use crate::scoring::parameters::{Event, Parameters, Prior, Unseen};
use crate::scoring::scratch::Scratch;
use crate::scoring::terms::ClassTerms;
use crate::statistics::fitted_weights::{FittedWeights, NEW_WORD};
use crate::statistics::word_weights::Weights;
use crate::watch::Watch;
use std::borrow::Cow;

/// What the probabilities of words are estimated from.
#[derive(Clone)]
pub enum Estimate {
    /// The counts, with the smoothing added.
    Additive,
    /// The same, the counts multiplied by the store's weights of words and documents.
    Weighted,
    /// The counts, mixed by factors that take the place of the smoothing.
    Correlation(Correlation),
    /// The store's effective counts, in the place of documents.
    Effective,
}

/// What words count for in the score alone: estimates stay as they are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ScoreWeights {
    /// All the same.
    Uniform,
    /// The store's weights of words: the messages that contain a parent are counted without any.
    Words,
    /// The store's fitted weights.
    Fitted,
    /// P(w|c) is multiplied by the ratio R_wc of the word and the class.
    ChiSquare,
    /// The store's corrections are added to the log odds of words.
    Online(OnlineScores),
}

/// How the words of a message depend on one another, or which documents count for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    Independent,
    /// Hidden parents that mix probabilities.
    Hidden,
    /// Hidden parents that mix ratios.
    Ratios,
    /// Hidden parents of attribute packages.
    Packaged,
    /// Averaged one-dependence estimators.
    OneDependence,
    /// Independent words, by some of the documents only.
    Near(Neighbourhood),
}

/// How to score: an immutable value, shared by all predictions of a model.
#[derive(Clone)]
pub struct Scoring {
    pub parameters: Parameters,
    pub estimate: Estimate,
    pub weights: ScoreWeights,
    pub family: Family,
}

impl Sums for Scoring {
    fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    #[inline]
    fn add(
        &self,
        store: &Store,
        terms: &[ClassTerms],
        bag: &Bag,
        out: &mut Vec<f64>,
        mut visit: impl FnMut(WordId, f64, f64),
    ) {
        let parameters = &self.parameters;
        if matches!(self.estimate, Estimate::Additive) && parameters.event == Event::OneVersusAll {
            // The cells of words are added up anyway: no second look at them.
            return parameters.add_both(store.rows(), terms, bag, out, visit);
        }
        self.scores(store, terms, bag, out);
        for &(word, count) in &bag.words {
            visit(word, count, store.rows().cells(word).map(|cell| cell.documents).sum());
        }
    }
}

impl Scoring {
    /// Independent words of equal weight, smoothed.
    pub fn new(
        event: Event,
        alpha: f64,
        prior: Prior,
        unseen: Unseen,
        vocabulary_size: Option<f64>,
    ) -> Result<Self> {
        Ok(Scoring {
            parameters: Parameters::new(event, alpha, prior, unseen, vocabulary_size)?,
            estimate: Estimate::Additive,
            weights: ScoreWeights::Uniform,
            family: Family::Independent,
        })
    }

    /// The same for the counts of a store as they are: what is added to them has their unit.
    pub fn for_counts(&self, store: &Store) -> Cow<'_, Self> {
        let unit = store.unit();
        if unit == self.parameters.unit {
            return Cow::Borrowed(self);
        }
        Cow::Owned(Scoring { parameters: self.parameters.in_unit(unit), ..self.clone() })
    }

    /// Whether each word must stand in the bag once: presence is no sum over tokens, and parents
    /// are paired with other words.
    pub fn needs_distinct(&self) -> bool {
        self.family != Family::Independent
            || self.parameters.event == Event::Bernoulli
            || matches!(self.weights, ScoreWeights::Online(_))
    }

    /// Computes what all messages share, class by class: once for a batch. The scoring is one
    /// [for these counts](Self::for_counts).
    pub fn prepare(&self, store: &Store, terms: &mut Vec<ClassTerms>) {
        debug_assert_eq!(self.parameters.unit, store.unit());
        let parameters = &self.parameters;
        match &self.estimate {
            Estimate::Additive => parameters.prepare(store, terms),
            Estimate::Weighted => match store.statistic() {
                Some(weights) => parameters.prepare_weighted(store, weights, terms),
                None => parameters.prepare(store, terms),
            },
            Estimate::Correlation(correlation) => {
                parameters.prepare(store, terms);
                correlation.prepare(store, terms);
            }
            Estimate::Effective => parameters.prepare_effective(store, terms),
        }
        match self.weights {
            ScoreWeights::ChiSquare => parameters.prepare_chi_square(store, terms),
            ScoreWeights::Fitted => {
                let scale = store.statistic().map_or(1.0, |fitted: &FittedWeights| fitted.scale);
                for class in terms {
                    class.prior *= scale;
                    class.prior_complement *= scale;
                }
            }
            ScoreWeights::Uniform | ScoreWeights::Words | ScoreWeights::Online(_) => {}
        }
    }

    /// Weighs the tokens of a message, known and unknown, where words count for more or less in
    /// the score. A word of weight 0 is no parent either.
    pub fn weigh_bag(&self, store: &Store, bag: &mut Bag) {
        match self.weights {
            ScoreWeights::Words => {
                if let Some(weights) = store.statistic::<Weights>() {
                    bag.weigh(|word| weights.of_word(word), weights.unseen);
                }
            }
            ScoreWeights::Fitted => {
                if let Some(fitted) = store.statistic::<FittedWeights>() {
                    let scale = fitted.scale;
                    bag.weigh(|word| scale * fitted.of_word(word), scale * NEW_WORD);
                }
            }
            ScoreWeights::Uniform | ScoreWeights::ChiSquare | ScoreWeights::Online(_) => {}
        }
    }

    /// The joint log-likelihood of the bag for each class, its words taken as independent, in
    /// `out[class]`; what stands there for a class without documents means nothing. `terms` are
    /// those of [`Scoring::prepare`].
    pub fn scores(&self, store: &Store, terms: &[ClassTerms], bag: &Bag, out: &mut Vec<f64>) {
        out.clear();
        out.resize(terms.len(), 0.0);
        let parameters = &self.parameters;
        match &self.estimate {
            Estimate::Additive => parameters.add_words(store, store.rows(), terms, bag, out),
            Estimate::Weighted => match store.statistic() {
                Some(weights) => parameters.add_weighted(store, weights, terms, bag, out),
                None => parameters.add_words(store, store.rows(), terms, bag, out),
            },
            Estimate::Correlation(correlation) => {
                correlation.add(parameters.event, store, terms, bag, out);
            }
            Estimate::Effective => parameters.add_effective(store, terms, bag, out),
        }
        self.multiply_ratios(store, terms, bag, out);
    }

    /// Multiplies P(w|c) by the ratio of the word and the class, where a score has these.
    pub fn multiply_ratios(&self, store: &Store, terms: &[ClassTerms], bag: &Bag, out: &mut [f64]) {
        if self.weights == ScoreWeights::ChiSquare {
            self.parameters.add_chi_square(store, terms, bag, out);
        }
    }

    /// Scores the bag of the scratch, whose terms are prepared, into its scores. What takes long
    /// ends when the watch says so.
    pub fn score(&self, store: &Store, scratch: &mut Scratch, watch: &Watch) {
        let Scratch { bag, terms, scores, families, .. } = scratch;
        self.weigh_bag(store, bag);
        let parameters = &self.parameters;
        match self.family {
            Family::Independent => {
                return match self.weights {
                    ScoreWeights::Online(online) => {
                        online.scores(self, store, terms, bag, &mut families.corrected, scores);
                    }
                    _ => self.scores(store, terms, bag, scores),
                };
            }
            Family::Hidden => {
                let hidden = &mut families.hidden;
                parameters.hidden_scores(store, terms, bag, hidden, watch, scores, None);
            }
            Family::Ratios => {
                let hidden = &mut families.hidden;
                parameters.ratio_scores(store, terms, bag, hidden, watch, scores, None);
            }
            Family::Packaged => {
                let threshold = [store.packages().threshold];
                let packaged = &mut families.packaged;
                parameters
                    .packaged_scores(store, terms, bag, packaged, watch, &threshold, scores, None);
            }
            Family::OneDependence => {
                let estimators = &mut families.one_dependence;
                parameters.one_dependence_scores(store, terms, bag, estimators, watch, scores);
            }
            Family::Near(neighbourhood) => {
                let nearest = &mut families.nearest;
                neighbourhood.scores(parameters, store, bag, nearest, terms, scores);
            }
        }
        self.multiply_ratios(store, terms, bag, scores);
    }

    /// Makes of scores those whose soft maximum is the probability of each class: most are that as
    /// they are.
    #[inline]
    pub fn probable(&self, store: &Store, scores: &mut [f64]) {
        if let ScoreWeights::Online(online) = &self.weights {
            online.probable(store, scores);
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
        let parameters = &self.parameters;
        parameters.packaged_scores(store, terms, bag, packaged, watch, thresholds, scores, None);
        let by_threshold = scores.chunks_exact_mut(terms.len().max(1));
        let losses = by_threshold.map(|scores| {
            self.multiply_ratios(store, terms, bag, scores);
            decision::loss(store, scores, class)
        });
        losses.collect()
    }
}
