//! From counts to scores: the event models and the joint log-likelihood of a bag of words.
//!
//! All formulas are those of the hidden multinomial naive Bayes (HMNB) paper, Equations 1–7.

use crate::bag::Bag;
use crate::counts::{ClassId, Row};
use crate::error::{Error, Result};
use crate::store::Store;

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
}

/// What a word that no class has seen counts for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unseen {
    /// It is estimated from the smoothing alone.
    Smooth,
    /// It is no evidence.
    Skip,
}

/// How many values ln(k + α) are tabulated: 32 KiB, what a first-level cache holds.
const TABLE: usize = 4096;

/// How to score: an immutable value, shared by all predictions of a model.
pub struct Scoring {
    pub event: Event,
    pub prior: Prior,
    pub unseen: Unseen,
    /// m where it is known beforehand; else m is the number of words learned.
    pub vocabulary_size: Option<f64>,
    pub alpha: f64,
    pub(crate) log_alpha: f64,
    table: Vec<f64>,
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
        let table = (0..TABLE).map(|count| (count as f64 + alpha).ln()).collect();
        let log_alpha = alpha.ln();
        Ok(Scoring { event, prior, unseen, vocabulary_size, alpha, log_alpha, table })
    }

    /// ln(count + α), from a table where the count is a small integer.
    #[inline]
    pub(crate) fn log_plus(&self, count: f64) -> f64 {
        let index = count as usize;
        match self.table.get(index) {
            Some(&value) if index as f64 == count => value,
            _ => (count + self.alpha).ln(),
        }
    }

    /// m: the number of different words.
    pub(crate) fn words(&self, store: &Store) -> f64 {
        let seen = store.vocabulary.len() as f64;
        self.vocabulary_size.map_or(seen, |size| size.max(seen)).max(1.0)
    }

    pub(crate) fn is_smooth(&self) -> bool {
        self.unseen == Unseen::Smooth
    }

    /// ln P(c), from the documents of the class, of all classes, and the number of classes.
    pub(crate) fn log_prior(&self, documents: f64, all: f64, classes: f64) -> f64 {
        match self.prior {
            Prior::Empirical => (documents / all).ln(),
            Prior::Laplace => ((documents + 1.0) / (all + classes)).ln(),
            Prior::Uniform => 0.0,
        }
    }

    /// ln P(c̄): Equation 5. While only one class is known there is nothing outside it, and
    /// nothing to compare: the empirical prior then has no term.
    pub(crate) fn log_prior_complement(&self, documents: f64, all: f64, classes: f64) -> f64 {
        if self.prior == Prior::Empirical && all <= documents {
            return 0.0;
        }
        self.log_prior(all - documents, all, classes)
    }

    /// The joint log-likelihood of the bag for each class, in `out[class]`; what stands there
    /// for a class without documents means nothing.
    pub fn scores(&self, store: &Store, bag: &Bag, out: &mut Vec<f64>) {
        out.clear();
        out.resize(store.classes.len(), 0.0);
        match self.event {
            Event::Bernoulli => self.bernoulli(store, bag, out),
            Event::Multinomial => self.multinomial(store, bag, out),
            Event::Complement => self.complement(store, bag, out),
            Event::OneVersusAll => self.one_versus_all(store, bag, out),
        }
    }

    /// Σ_i f_i ln(n_ic + α) without the part f_i ln α that all classes share, for each class.
    #[inline]
    fn add_words(&self, store: &Store, bag: &Bag, out: &mut [f64]) {
        for &(word, count) in &bag.words {
            for cell in store.rows[word as usize].cells() {
                out[cell.class as usize] += count * (self.log_plus(cell.tokens) - self.log_alpha);
            }
        }
    }

    /// Tokens that take part: those of unseen words only where they are smoothed.
    fn tokens(&self, bag: &Bag) -> f64 {
        bag.tokens() + if self.is_smooth() { bag.unseen_tokens() } else { 0.0 }
    }

    /// Equations 1, 4 and 6.
    fn multinomial(&self, store: &Store, bag: &Bag, out: &mut [f64]) {
        let (all, classes) = (store.documents(), store.existing_classes() as f64);
        let tokens = self.tokens(bag);
        let smoothing = self.alpha * self.words(store);
        for (score, class) in out.iter_mut().zip(&store.classes) {
            *score = self.log_prior(class.documents, all, classes)
                + tokens * (self.log_alpha - (class.tokens + smoothing).ln());
        }
        self.add_words(store, bag, out);
    }

    /// Equations 2, 5 and 7: −ln P(c̄) − Σ_i f_i ln P(w_i | c̄).
    fn complement(&self, store: &Store, bag: &Bag, out: &mut [f64]) {
        let (all, classes) = (store.documents(), store.existing_classes() as f64);
        let tokens = self.tokens(bag);
        let smoothing = self.alpha * self.words(store);
        let all_tokens: f64 = store.classes.iter().map(|class| class.tokens).sum();
        let mut shared = self.log_alpha * (tokens - bag.tokens());
        for &(word, count) in &bag.words {
            let row = &store.rows[word as usize];
            let total: f64 = row.cells().map(|cell| cell.tokens).sum();
            let log_total = self.log_plus(total);
            shared += count * log_total;
            for cell in row.cells() {
                out[cell.class as usize] +=
                    count * (log_total - self.log_plus(total - cell.tokens));
            }
        }
        for (score, class) in out.iter_mut().zip(&store.classes) {
            *score += tokens * (all_tokens - class.tokens + smoothing).ln()
                - shared
                - self.log_prior_complement(class.documents, all, classes);
        }
    }

    /// Equation 3, as [ln P(c) ∏ P(w_i|c)^f_i] − [ln P(c̄) ∏ P(w_i|c̄)^f_i].
    fn one_versus_all(&self, store: &Store, bag: &Bag, out: &mut Vec<f64>) {
        self.complement(store, bag, out);
        let mut own = vec![0.0; out.len()];
        self.multinomial(store, bag, &mut own);
        for (score, own) in out.iter_mut().zip(own) {
            *score += own;
        }
    }

    /// ln P(c) + Σ_present ln p_wc + Σ_absent ln(1 − p_wc), p_wc = (df_wc + α)/(n_c + 2α).
    fn bernoulli(&self, store: &Store, bag: &Bag, out: &mut [f64]) {
        let (all, classes) = (store.documents(), store.existing_classes() as f64);
        let unseen = if self.is_smooth() { bag.unseen_words() as f64 } else { 0.0 };
        // Words of which nothing is known are absent, but for those of this message.
        let words = self.words(store).max(store.vocabulary.len() as f64 + unseen);
        for (score, class) in out.iter_mut().zip(&store.classes) {
            let log_documents = (class.documents + 2.0 * self.alpha).ln();
            let log_absent = self.log_plus(class.documents);
            let mut known = 0.0;
            let mut sum = 0.0;
            for (frequency, words) in class.frequencies() {
                known += words;
                sum += words * self.log_plus(class.documents - frequency);
            }
            *score = self.log_prior(class.documents, all, classes) + sum
                + (words - known - unseen) * log_absent
                + unseen * self.log_alpha
                - words * log_documents
                // As if the words of the message had never been seen in this class …
                + bag.words.len() as f64 * (self.log_alpha - log_absent);
        }
        for &(word, _) in &bag.words {
            for cell in store.rows[word as usize].cells() {
                // … and what changes where they were.
                let class = &store.classes[cell.class as usize];
                out[cell.class as usize] += self.log_plus(cell.documents) - self.log_alpha
                    + self.log_plus(class.documents)
                    - self.log_plus(class.documents - cell.documents);
            }
        }
    }

    /// ln P(w | c) of one word for each class by Equation 6, or Equation 7 for the complement.
    pub(crate) fn log_word(&self, store: &Store, row: Option<&Row>, complement: bool) -> Vec<f64> {
        let smoothing = self.alpha * self.words(store);
        let all_tokens: f64 = store.classes.iter().map(|class| class.tokens).sum();
        let total: f64 = row.map_or(0.0, |row| row.cells().map(|cell| cell.tokens).sum());
        let terms = store.classes.iter().enumerate().map(|(class, totals)| {
            let own = row.and_then(|row| row.cell(class as ClassId)).map_or(0.0, |c| c.tokens);
            if complement {
                self.log_plus(total - own) - (all_tokens - totals.tokens + smoothing).ln()
            } else {
                self.log_plus(own) - (totals.tokens + smoothing).ln()
            }
        });
        terms.collect()
    }
}

/// The class with the highest score among those with documents; ties go to the lowest rank.
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

/// The probability of each class: the scores through the soft maximum; 0 for a class without
/// documents.
pub fn probabilities(store: &Store, scores: &[f64]) -> Vec<f64> {
    let Some(best) = best(store, scores) else { return vec![0.0; scores.len()] };
    let highest = scores[best as usize];
    let mut shares: Vec<f64> = scores
        .iter()
        .zip(&store.classes)
        .map(|(score, class)| if class.exists() { (score - highest).exp() } else { 0.0 })
        .collect();
    let sum: f64 = shares.iter().sum();
    shares.iter_mut().for_each(|share| *share /= sum);
    shares
}
