//! The terms of a score that depend on the class only: priors and denominators.

use crate::counts::rows::{Class, ClassId};
use crate::counts::slice::Slice;
use crate::counts::store::Store;
use crate::scoring::parameters::{Event, Parameters, Prior};
use crate::statistics::word_weights::Totals;

/// The factors of a class, of its own documents and of those outside it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Factors {
    pub own: f64,
    pub complement: f64,
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
    /// −Σ ln θ over all words: what the weights of words are divided by.
    pub normaliser: f64,
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

impl Parameters {
    /// Computes what all messages share, class by class: once for a batch.
    pub fn prepare(&self, store: &Store, terms: &mut Vec<ClassTerms>) {
        self.prepare_known(store, store.vocabulary().len(), terms);
    }

    /// The same where only so many of the words of the vocabulary were counted.
    pub fn prepare_known(&self, store: &Store, known: usize, terms: &mut Vec<ClassTerms>) {
        let of_class = |class: &Class| Totals { documents: class.documents, tokens: class.tokens };
        let totals = store.classes().iter().map(|class| (of_class(class), class));
        self.prepare_classes(store, totals, 0.0, self.words_of(known), terms);
        if self.event == Event::NormalisedComplement {
            self.prepare_normalised(store, terms);
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
        self.prepare_classes(store, totals, self.unit, self.words(store), terms);
    }

    /// The same from the totals of the classes, in the order of their ids, and the number of words.
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
        let learned = store.classes();
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
            if self.has_complement_side() {
                // While only one class is known there is nothing outside it, and nothing to
                // compare: the empirical prior then has no term.
                let empty = self.prior == Prior::Empirical && all <= documents;
                if !empty {
                    terms.prior_complement = self.log_prior(all - documents, all, classes);
                }
                // Weighted totals are rounded: nothing is left of all but the class's own.
                terms.tokens_complement = ((all_tokens - own.tokens).max(0.0) + smoothing).ln();
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
}
