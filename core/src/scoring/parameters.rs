//! The parameters of a score: event model, prior, smoothing, vocabulary.

use crate::counts::rows::small_whole;
use crate::counts::store::Store;
use crate::error::{Error, Result};
use std::sync::{Arc, OnceLock};

/// How a class gives a word its probability.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A word is present or absent: McCallum and Nigam's multi-variate Bernoulli model.
    Bernoulli,
    /// A word is drawn as often as it occurs: Equations 1 and 6.
    Multinomial,
    /// The class that fits worst to all documents outside it: Equations 2 and 7.
    Complement,
    /// The same with weights of words that add up to 1 in each class.
    NormalisedComplement,
    /// Multinomial minus complement: Equation 3, as the difference of the logarithms.
    OneVersusAll,
    /// A word is the value of an attribute: (n_ic + α/v_i) / (n_c + α), v_i values.
    Attributes,
    /// A word is the value of an attribute: (n_ic + α) / (n_c + α v_i), v_i values.
    Categories,
}

/// The estimate of P(c).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Prior {
    /// n_c / n.
    Empirical,
    /// (n_c + 1) / (n + s): Equations 4 and 5.
    Laplace,
    /// The same for every class: no term at all.
    Uniform,
    /// (n_c + 1/s) / (n + 1): the m-estimate with m = 1.
    MEstimate,
}

/// What a word that no class has seen counts for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unseen {
    /// It is estimated from the smoothing alone.
    Smooth,
    /// It is no evidence.
    Skip,
}

/// How many values ln(k + α) are tabulated: few counts of a word in a class are larger. Only the
/// lines that counts fall on take room in a cache.
const TABLE: usize = 1 << 16;

/// The table of ln(k + α): that of α = 1 is made once and shared, as most models need it.
fn log_table(alpha: f64) -> Arc<[f64]> {
    static LAPLACE: OnceLock<Arc<[f64]>> = OnceLock::new();
    let make = |size: usize| (0..size).map(|count| (count as f64 + alpha).ln()).collect();
    if alpha == 1.0 { LAPLACE.get_or_init(|| make(TABLE)).clone() } else { make(TABLE / 16) }
}

/// What every way to score needs: an immutable value.
#[derive(Clone)]
pub struct Parameters {
    pub event: Event,
    pub prior: Prior,
    pub unseen: Unseen,
    /// m where it is known beforehand; else m is the number of words learned.
    pub vocabulary_size: Option<f64>,
    /// What a message of weight 1 counts for now; α is in this unit.
    pub unit: f64,
    pub alpha: f64,
    pub log_alpha: f64,
    /// How many words of a message may be parents of others.
    pub max_parents: usize,
    table: Arc<[f64]>,
}

impl Parameters {
    pub fn new(
        event: Event,
        alpha: f64,
        prior: Prior,
        unseen: Unseen,
        vocabulary_size: Option<f64>,
    ) -> Result<Self> {
        if !(alpha > 0.0 && alpha.is_finite()) {
            return Err(Error::Invalid(format!(
                "alpha must be a positive number (1 is Laplace smoothing), not {alpha}"
            )));
        }
        if let Some(size) = vocabulary_size
            && !(size >= 1.0 && size.is_finite())
        {
            return Err(Error::Invalid(format!(
                "vocabulary_size must be a number of words, at least 1, not {size}"
            )));
        }
        let table = log_table(alpha);
        let log_alpha = alpha.ln();
        let (unit, max_parents) = (1.0, usize::MAX);
        Ok(Parameters {
            event,
            prior,
            unseen,
            vocabulary_size,
            unit,
            alpha,
            log_alpha,
            max_parents,
            table,
        })
    }

    /// The same of counts in another unit: an estimate is a ratio of counts, so that what is added
    /// to them is all that has a unit.
    pub fn in_unit(&self, unit: f64) -> Self {
        let alpha = self.alpha / self.unit * unit;
        let table = Arc::default();
        Parameters { unit, alpha, log_alpha: alpha.ln(), table, ..self.clone() }
    }

    /// ln(count + α), from a table where the count is a small integer.
    #[inline]
    pub fn log_plus(&self, count: f64) -> f64 {
        let (index, is_whole) = small_whole(count);
        match self.table.get(index as usize) {
            Some(&value) if is_whole => value,
            _ => (count + self.alpha).ln(),
        }
    }

    /// m: the number of different words. A smoothed estimate needs one at least.
    pub fn words(&self, store: &Store) -> f64 {
        self.words_of(store.vocabulary.len())
    }

    /// α m of P(w_i|w_t,c), given a parent: m of the words that enough messages have.
    pub(crate) fn smoothing_by_parents(&self, store: &Store) -> f64 {
        self.alpha * self.words_of(store.frequent_words())
    }

    /// The same, so many words being known.
    pub fn words_of(&self, known: usize) -> f64 {
        self.vocabulary_size.unwrap_or(1.0).max(known as f64).max(1.0)
    }

    pub fn is_smooth(&self) -> bool {
        self.unseen == Unseen::Smooth
    }

    /// Whether a score has the side of the class, P(w|c).
    pub fn has_own_side(&self) -> bool {
        !matches!(self.event, Event::Complement | Event::NormalisedComplement)
    }

    /// Whether a score has the side of all other classes, P(w|c̄).
    pub fn has_complement_side(&self) -> bool {
        matches!(self.event, Event::Complement | Event::NormalisedComplement | Event::OneVersusAll)
    }

    /// ln P(c), from the documents of the class, of all classes, and the number of classes.
    pub fn log_prior(&self, documents: f64, all: f64, classes: f64) -> f64 {
        let unit = self.unit;
        match self.prior {
            // The share of a class may be less than the least number above 0; its log is not.
            Prior::Empirical if documents / all == 0.0 => documents.ln() - all.ln(),
            Prior::Empirical => (documents / all).ln(),
            Prior::Laplace => ((documents + unit) / (all + classes * unit)).ln(),
            Prior::Uniform => 0.0,
            Prior::MEstimate => ((documents + unit / classes) / (all + unit)).ln(),
        }
    }
}
