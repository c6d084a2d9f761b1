//! An event model with its prior, smoothing and vocabulary size, and its terms for each class.

use crate::counts::rows::small_whole;
use crate::counts::{Bag, Class, ClassId, Slice, Store};
use crate::online::noise::LabelNoise;
use crate::scoring::composition::{Form, Sum, Traits};
use crate::statistics::{Totals, WordWeights};
use crate::watch::Watch;
use std::sync::{Arc, OnceLock};

named_enum! {
    /// The estimate of P(c).
    "prior" Prior {
        /// n_c / n.
        Empirical = "empirical",
        /// (n_c + 1) / (n + s): Equations 4 and 5.
        Laplace = "laplace",
        /// No term at all.
        Uniform = "uniform",
        /// (n_c + 1/s) / (n + 1): the m-estimate with m = 1.
        MEstimate = "m-estimate",
    }
}

named_enum! {
    /// The treatment of words that no class has seen.
    "oov" Oov {
        /// Estimate them from the smoothing alone.
        Smooth = "smooth",
        /// Leave them out of the score.
        Skip = "skip",
    }
}

/// Number of tabulated values ln(k + α): few counts of a word in a class are larger. Unused entries
/// do not occupy cache.
const TABLE: usize = 1 << 16;

/// Return the table of ln(k + α). The table of α = 1 is shared, since most models use it.
pub(crate) fn log_table(alpha: f64) -> Arc<[f64]> {
    static LAPLACE: OnceLock<Arc<[f64]>> = OnceLock::new();
    let make = |size: usize| (0..size).map(|count| (count as f64 + alpha).ln()).collect();
    if alpha == 1.0 { LAPLACE.get_or_init(|| make(TABLE)).clone() } else { make(TABLE / 16) }
}

/// An immutable event model.
#[derive(Clone)]
pub struct EventModel {
    pub traits: Traits,
    pub prior: Prior,
    pub oov: Oov,
    /// m if it is fixed; None is the number of words learned.
    pub vocabulary_size: Option<f64>,
    /// The current count of a message of weight 1, which decays; α is in this unit.
    pub unit: f64,
    pub alpha: f64,
    pub log_alpha: f64,
    /// Maximum number of parents in a message.
    pub max_parents: usize,
    /// Minimum information of a pair of attributes in a package, in bits.
    pub bag_threshold: f64,
    pub(crate) table: Arc<[f64]>,
}

impl EventModel {
    /// Return the model for counts in another unit. An estimate is a ratio of counts, so only the
    /// smoothing changes.
    pub fn in_unit(&self, unit: f64) -> Self {
        let alpha = self.alpha / self.unit * unit;
        let table = Arc::default();
        EventModel { unit, alpha, log_alpha: alpha.ln(), table, ..self.clone() }
    }

    /// ln(count + α), from a table if the count is a small integer.
    #[inline]
    pub fn log_plus(&self, count: f64) -> f64 {
        let (index, is_whole) = small_whole(count);
        match self.table.get(index as usize) {
            Some(&value) if is_whole => value,
            _ => (count + self.alpha).ln(),
        }
    }

    /// ln(count + α) of an integer.
    #[inline(always)]
    pub(crate) fn log_plus_small(&self, count: u32) -> f64 {
        match self.table.get(count as usize) {
            Some(&value) => value,
            None => (f64::from(count) + self.alpha).ln(),
        }
    }

    /// m: the number of distinct words, at least 1.
    pub fn words(&self, store: &Store) -> f64 {
        self.words_of(store.vocabulary.len())
    }

    /// α m of P(w_i|w_t,c) for a parent t: m is the number of words with at least `min_df` messages.
    pub(crate) fn smoothing_by_parents(&self, store: &Store) -> f64 {
        self.alpha * self.words_of(store.frequent_words())
    }

    /// m if `known` words were learned.
    pub fn words_of(&self, known: usize) -> f64 {
        self.vocabulary_size.unwrap_or(1.0).max(known as f64).max(1.0)
    }

    pub fn is_smooth(&self) -> bool {
        self.oov == Oov::Smooth
    }

    /// ln P(c), from the documents of the class, of all classes, and the number of classes.
    pub fn log_prior(&self, documents: f64, all: f64, classes: f64) -> f64 {
        let unit = self.unit;
        match self.prior {
            // The quotient may underflow; its logarithm does not.
            Prior::Empirical if documents / all == 0.0 => documents.ln() - all.ln(),
            Prior::Empirical => (documents / all).ln(),
            Prior::Laplace => ((documents + unit) / (all + classes * unit)).ln(),
            Prior::Uniform => 0.0,
            Prior::MEstimate => ((documents + unit / classes) / (all + unit)).ln(),
        }
    }
}

/// The correlation factors of a class: for its own documents and for all others.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Factors {
    pub own: f64,
    pub complement: f64,
}

/// The terms of a score that depend on the class only. An event model uses some of them.
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
    /// −Σ ln θ over all words, the divisor of normalised word weights.
    pub normaliser: f64,
    /// n_c, or the effective h_c: the denominator for counts of present words.
    pub total: f64,
    /// ln(n_c + 2α), the denominator of p_wc; for attributes, ln(n_c + α).
    pub documents: f64,
    /// ln(n_c + α), for a word that no document of the class contains.
    pub absent: f64,
    /// Number of words the class has seen.
    pub words: f64,
    /// Σ ln(n_c − df_wc + α) over the words the class has seen.
    pub absences: f64,
    /// ln n / (n − n_c): the ratio R_wc̄ of a word that no document of the class contains.
    pub outside: f64,
    /// The correlation factors that replace the smoothing.
    pub factors: Factors,
    /// ln t and, for the complement, ln(1 + t): the factors of a word that the class does not have.
    pub log_factors: Factors,
}

/// A message to score, and the counts that it is scored by.
#[derive(Clone, Copy)]
pub struct Query<'a> {
    pub store: &'a Store,
    /// The prepared terms of each class.
    pub terms: &'a [ClassTerms],
    pub bag: &'a Bag,
    /// Stops long computations.
    pub watch: &'a Watch<'a>,
}

/// The score of each class and, if requested, the part of each word: `words × classes`, and one row
/// for all tokens of unseen words.
pub struct Output<'a> {
    pub scores: &'a mut Vec<f64>,
    pub parts: Option<&'a mut Vec<f64>>,
}

impl Output<'_> {
    /// Set all scores and parts to 0.
    pub(crate) fn clear(&mut self, query: Query<'_>) {
        let classes = query.terms.len();
        self.scores.clear();
        self.scores.resize(classes, 0.0);
        if let Some(parts) = &mut self.parts {
            parts.clear();
            parts.resize((query.bag.words.len() + 1) * classes, 0.0);
        }
    }

    /// Add a part to the score of a class. `place` is its place among the parts.
    pub(crate) fn add(&mut self, class: usize, place: usize, part: f64) {
        self.scores[class] += part;
        if let Some(parts) = &mut self.parts {
            parts[place] += part;
        }
    }
}

/// Return the class with the highest score among those with documents; ties go to the lowest rank.
pub fn best(store: &Store, scores: &[f64]) -> Option<ClassId> {
    let mut best: Option<ClassId> = None;
    for (class, &score) in scores.iter().enumerate() {
        let class = class as ClassId;
        let better = best.is_none_or(|other| {
            let leader = scores[other as usize];
            score > leader || (score == leader && store.rank(class) < store.rank(other))
        });
        if better && store.classes[class as usize].exists() {
            best = Some(class);
        }
    }
    best
}

/// Return the probability of each class, the softmax of the scores; 0 for a class without documents.
pub fn probabilities(store: &Store, scores: &[f64]) -> Vec<f64> {
    let Some(best) = best(store, scores) else { return vec![0.0; scores.len()] };
    let highest = scores[best as usize];
    let mut shares: Vec<f64> = scores
        .iter()
        .zip(&store.classes)
        .map(|(&score, class)| match class.exists() {
            // Equal scores have equal shares, even if infinite.
            true if score == highest => 1.0,
            true => (score - highest).exp(),
            false => 0.0,
        })
        .collect();
    let sum: f64 = shares.iter().sum();
    shares.iter_mut().for_each(|share| *share /= sum);
    shares
}

impl EventModel {
    /// Compute the terms that all messages share, class by class: once for a batch.
    pub fn prepare(&self, store: &Store, terms: &mut Vec<ClassTerms>) {
        self.prepare_known(store, store.vocabulary.len(), terms);
    }

    /// Compute the terms if only `known` words of the vocabulary were counted.
    pub fn prepare_known(&self, store: &Store, known: usize, terms: &mut Vec<ClassTerms>) {
        let of_class = |class: &Class| Totals { documents: class.documents, tokens: class.tokens };
        let totals = store.classes.iter().map(|class| (of_class(class), class));
        self.prepare_classes(store, totals, 0.0, self.words_of(known), terms);
        if self.traits.sum == Sum::Normalised {
            self.prepare_normalised(store, terms);
        }
    }

    /// Replace the totals of the classes by the expected totals without wrong labels.
    pub(crate) fn correct_terms(
        &self,
        store: &Store,
        noise: &LabelNoise,
        known: usize,
        terms: &mut [ClassTerms],
    ) {
        let smoothing = self.alpha * self.words_of(known);
        let all: f64 = store.classes.iter().map(|class| class.tokens).sum();
        for (id, (class, terms)) in store.classes.iter().zip(terms).enumerate() {
            let own = noise.of(id as ClassId).true_count(class.tokens, all);
            terms.tokens = (own + smoothing).ln();
            terms.tokens_complement = (all - own + smoothing).ln();
        }
    }

    /// Compute the terms from a slice of the counts. All classes and words of the stream stay
    /// possible: a class without documents in the slice counts as one in the empirical prior.
    pub fn prepare_slice(&self, store: &Store, slice: &Slice, terms: &mut Vec<ClassTerms>) {
        let nothing = Class::default();
        let totals = (0..store.classes.len() as ClassId).map(|id| {
            let class = slice.class(id).unwrap_or(&nothing);
            (Totals { documents: class.documents, tokens: class.tokens }, class)
        });
        self.prepare_classes(store, totals, self.unit, self.words(store), terms);
    }

    /// Compute the terms of the classes from weighted counts.
    pub fn prepare_weighted(
        &self,
        store: &Store,
        weights: &WordWeights,
        terms: &mut Vec<ClassTerms>,
    ) {
        let ids = 0..store.classes.len() as ClassId;
        let totals = ids.zip(&store.classes).map(|(id, class)| {
            let Totals { documents, tokens } = weights.totals(id);
            (Totals { documents: class.documents + documents, tokens }, class)
        });
        self.prepare_classes(store, totals, 0.0, self.words(store), terms);
    }

    /// Compute the terms from the totals of the classes, in the order of their ids.
    pub fn prepare_classes<'a>(
        &self,
        store: &Store,
        totals: impl Iterator<Item = (Totals, &'a Class)> + Clone,
        floor: f64,
        words: f64,
        terms: &mut Vec<ClassTerms>,
    ) {
        let floor = if self.prior == Prior::Empirical { floor } else { 0.0 };
        let counted = |totals: Totals, learned: &Class| match totals.documents {
            0.0 if learned.exists() => floor,
            documents => documents,
        };
        let learned = &store.classes;
        let all: f64 =
            totals.clone().zip(learned).map(|((own, _), class)| counted(own, class)).sum();
        let classes = store.existing_classes() as f64;
        let all_tokens: f64 = totals.clone().map(|(own, _)| own.tokens).sum();
        let smoothing = self.alpha * words;
        let of_class = |((own, class), learned): ((Totals, &Class), &Class)| {
            let documents = counted(own, learned);
            let mut terms = ClassTerms {
                prior: self.log_prior(documents, all, classes),
                tokens: (own.tokens + smoothing).ln(),
                ..ClassTerms::default()
            };
            if self.traits.complement {
                // The complement of a single class is empty, and its empirical prior has no term.
                let empty = self.prior == Prior::Empirical && all <= documents;
                if !empty {
                    terms.prior_complement = self.log_prior(all - documents, all, classes);
                }
                // Weighted totals are rounded, so the difference may be slightly negative.
                terms.tokens_complement = ((all_tokens - own.tokens).max(0.0) + smoothing).ln();
            }
            if self.traits.form == Form::Values {
                terms.documents = (class.documents + self.alpha).ln();
            }
            if self.traits.sum == Sum::Vocabulary {
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
}
