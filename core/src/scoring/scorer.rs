//! How to score, and the terms of a score that depend on the class only.

use crate::counts::rows::{Class, ClassId};
use crate::counts::slice::Slice;
use crate::counts::store::Store;
use crate::error::{Error, Result};
use crate::scoring::correlation::{Correlation, Factors};
use crate::statistics::word_weights::Totals;
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

/// How to score: an immutable value, shared by all predictions of a model.
pub struct Scoring {
    pub event: Event,
    pub prior: Prior,
    pub unseen: Unseen,
    /// Whether effective counts stand in the place of documents, for Bernoulli only.
    pub effective: bool,
    /// m where it is known beforehand; else m is the number of words learned.
    pub vocabulary_size: Option<f64>,
    pub alpha: f64,
    pub log_alpha: f64,
    /// Factors that take the place of the smoothing.
    pub(crate) correlation: Option<Correlation>,
    /// Whether the store's weights of words and documents count, in estimates and in the score.
    pub(crate) weighted: bool,
    /// Whether the store's weights of words are exponents of a score alone.
    pub(crate) exponents: bool,
    /// Whether the store has exponents of the score besides, which minimise a loss.
    pub(crate) minimised: bool,
    /// Whether P(w|c) is multiplied by the ratio R_wc of the word and the class.
    pub(crate) chi_square: bool,
    table: Arc<[f64]>,
}

impl Scoring {
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
        Ok(Scoring {
            event,
            prior,
            unseen,
            effective: false,
            vocabulary_size,
            alpha,
            log_alpha,
            correlation: None,
            weighted: false,
            exponents: false,
            minimised: false,
            chi_square: false,
            table,
        })
    }

    /// The same, but on the store's effective counts.
    pub fn on_effective(self) -> Result<Self> {
        if self.event != Event::Bernoulli {
            return Err(Error::Invalid(
                "higher-order paths count words that are present: combine them with the event \
                 'bernoulli'"
                    .into(),
            ));
        }
        Ok(Scoring { effective: true, ..self })
    }

    /// The same, but with the store's weights of words and documents, or the ratios R_wc.
    pub fn with_weights(self, weighted: bool, chi_square: bool) -> Result<Self> {
        if weighted || chi_square {
            self.check_weights()?;
        }
        Ok(Scoring { weighted, chi_square, ..self })
    }

    /// The same, but with the store's exponents, which minimise a loss.
    pub fn with_minimised(self) -> Result<Self> {
        self.check_weights()?;
        Ok(Scoring { minimised: true, ..self })
    }

    /// Refuses weights of words where words have no counts.
    fn check_weights(&self) -> Result<()> {
        let countless =
            matches!(self.event, Event::Bernoulli | Event::Attributes | Event::Categories);
        if countless {
            return Err(Error::Invalid(
                "weights are of word counts: combine them with the event 'multinomial', \
                 'complement' or 'one-versus-all'; 'bernoulli' sums over absent words by their \
                 document frequencies alone, and columns count no words"
                    .into(),
            ));
        }
        if self.correlation.is_some() {
            return Err(Error::Invalid(
                "weights need the estimate 'additive': the correlation factor mixes counts that \
                 have none"
                    .into(),
            ));
        }
        Ok(())
    }

    /// The same, but with weights of words in the score alone: the messages that contain a parent
    /// are counted without any.
    pub fn with_exponents(self) -> Self {
        Scoring { exponents: self.weighted, weighted: false, ..self }
    }

    /// ln(count + α), from a table where the count is a small integer.
    #[inline]
    pub fn log_plus(&self, count: f64) -> f64 {
        // 32 bits: that conversion is one instruction. A negative index is out of the table too.
        let index = count as i32;
        match self.table.get(index as usize) {
            Some(&value) if f64::from(index) == count => value,
            _ => (count + self.alpha).ln(),
        }
    }

    /// m: the number of different words. A smoothed estimate needs one at least.
    pub fn words(&self, store: &Store) -> f64 {
        self.vocabulary_size.unwrap_or(1.0).max(store.vocabulary.len() as f64).max(1.0)
    }

    pub fn is_smooth(&self) -> bool {
        self.unseen == Unseen::Smooth
    }

    /// Whether each word must stand in the bag once: presence is no sum over tokens.
    pub fn needs_distinct(&self) -> bool {
        self.event == Event::Bernoulli
    }

    /// ln P(c), from the documents of the class, of all classes, and the number of classes.
    fn log_prior(&self, documents: f64, all: f64, classes: f64) -> f64 {
        match self.prior {
            // The share of a class may be less than the least number above 0; its logarithm is not.
            Prior::Empirical if documents / all == 0.0 => documents.ln() - all.ln(),
            Prior::Empirical => (documents / all).ln(),
            Prior::Laplace => ((documents + 1.0) / (all + classes)).ln(),
            Prior::Uniform => 0.0,
            Prior::MEstimate => ((documents + 1.0 / classes) / (all + 1.0)).ln(),
        }
    }

    /// Computes what all messages share, class by class: once for a batch.
    pub fn prepare(&self, store: &Store, terms: &mut Vec<ClassTerms>) {
        if self.effective {
            return self.prepare_effective(store, terms);
        }
        let ids = 0..store.classes().len() as ClassId;
        let totals = ids.zip(store.classes()).map(|(id, class)| (self.totals(store, id), class));
        self.prepare_classes(store, totals, 0.0, terms);
        if let Some(correlation) = &self.correlation {
            self.prepare_correlated(correlation, store, terms);
        }
    }

    /// The same on a slice of the counts. All classes and words of the stream stay possible: a
    /// class that no document of the slice has counts for one in the empirical prior.
    pub fn prepare_slice(&self, store: &Store, slice: &Slice, terms: &mut Vec<ClassTerms>) {
        let nothing = Class::default();
        let totals = (0..store.classes().len() as ClassId).map(|id| {
            let class = slice.class(id).unwrap_or(&nothing);
            (Totals { documents: class.documents, tokens: class.tokens }, class)
        });
        self.prepare_classes(store, totals, 1.0, terms);
    }

    /// The same from the totals of the classes, in the order of their ids.
    fn prepare_classes<'a>(
        &self,
        store: &Store,
        totals: impl Iterator<Item = (Totals, &'a Class)> + Clone,
        floor: f64,
        terms: &mut Vec<ClassTerms>,
    ) {
        let floor = if self.prior == Prior::Empirical { floor } else { 0.0 };
        let counted = |totals: Totals, learned: &Class| match totals.documents {
            0.0 if learned.exists() => floor,
            documents => documents,
        };
        let learned = store.classes();
        let all: f64 =
            totals.clone().zip(learned).map(|((own, _), class)| counted(own, class)).sum();
        let classes = store.existing_classes() as f64;
        let all_tokens: f64 = totals.clone().map(|(own, _)| own.tokens).sum();
        let smoothing = self.alpha * self.words(store);
        let exponent = self.prior_exponent(store);
        let of_class = |((own, class), learned): ((Totals, &Class), &Class)| {
            let documents = counted(own, learned);
            let mut terms = ClassTerms {
                prior: exponent * self.log_prior(documents, all, classes),
                tokens: (own.tokens + smoothing).ln(),
                ..ClassTerms::default()
            };
            if matches!(self.event, Event::Complement | Event::OneVersusAll) {
                // While only one class is known there is nothing outside it, and nothing to
                // compare: the empirical prior then has no term.
                let empty = self.prior == Prior::Empirical && all <= documents;
                if !empty {
                    let prior = self.log_prior(all - documents, all, classes);
                    terms.prior_complement = exponent * prior;
                }
                // Weighted totals are rounded: nothing is left of all but the class's own.
                terms.tokens_complement = ((all_tokens - own.tokens).max(0.0) + smoothing).ln();
                let rest = store.documents() - class.documents;
                if self.chi_square && rest > 0.0 {
                    terms.outside = (store.documents() / rest).ln();
                }
            }
            if self.event == Event::Attributes {
                terms.documents = (class.documents + self.alpha).ln();
            }
            if self.event == Event::Bernoulli {
                terms.total = class.documents;
                terms.documents = (class.documents + 2.0 * self.alpha).ln();
                terms.absent = self.log_plus(class.documents);
                for (frequency, words) in class.frequencies() {
                    terms.words += words;
                    terms.absences += words * self.log_plus(class.documents - frequency);
                }
            }
            terms
        };
        terms.clear();
        terms.extend(totals.zip(learned).map(of_class));
    }

    /// The same where effective counts stand in the place of documents.
    fn prepare_effective(&self, store: &Store, terms: &mut Vec<ClassTerms>) {
        let totals = |class: ClassId| store.effective().class(class);
        let ids = || 0..store.classes().len() as ClassId;
        let exists = |&class: &ClassId| store.classes()[class as usize].exists();
        // A class that nothing counts for yet would have P(c) = 0, whatever the message: for the
        // empirical prior a class counts for one at least.
        let floor = if self.prior == Prior::Empirical { 1.0 } else { 0.0 };
        let all: f64 = ids().filter(exists).map(|class| totals(class).total.max(floor)).sum();
        let classes = store.existing_classes() as f64;
        terms.clear();
        terms.extend(ids().map(|class| {
            let totals = totals(class);
            ClassTerms {
                prior: self.log_prior(totals.total.max(floor), all, classes),
                total: totals.total,
                documents: (totals.total + 2.0 * self.alpha).ln(),
                absent: self.log_plus(totals.total),
                words: totals.words,
                absences: totals.absences,
                ..ClassTerms::default()
            }
        }));
    }
}

/// The terms of a score that depend on the class only; an event model uses some of them.
#[derive(Clone, Copy, Default)]
pub struct ClassTerms {
    /// ln P(c): Equation 4.
    pub prior: f64,
    /// ln P(c̄): Equation 5.
    pub prior_complement: f64,
    /// ln of the denominator of P(w|c): Equation 6.
    pub tokens: f64,
    /// ln of the denominator of P(w|c̄): Equation 7.
    pub tokens_complement: f64,
    /// n_c, or the effective h_c, which counts of present words are shares of.
    pub total: f64,
    /// ln(n_c + 2α), the denominator of p_wc; with attributes, ln(n_c + α).
    pub documents: f64,
    /// ln(n_c + α), for a word that no document of the class contains.
    pub absent: f64,
    /// How many words the class has seen.
    pub words: f64,
    /// Σ ln(n_c − df_wc + α) over the words the class has seen.
    pub absences: f64,
    /// ln n / (n − n_c): the ratio R_wc̄ of a word that no document of the class contains.
    pub outside: f64,
    /// The correlation factors, where they take the place of the smoothing.
    pub factors: Factors,
    /// ln t and, of the complement, ln(1 + t): what the share of a word is multiplied by where the
    /// class does not have it.
    pub log_factors: Factors,
}
