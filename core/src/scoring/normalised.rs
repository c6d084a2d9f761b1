//! Weight-normalised complement naive Bayes: the word weights of each class add up to 1.
//!
//! With θ_ck the smoothed share of word k outside class c, the weight of word k is ln θ_ck / Z_c,
//! Z_c = Σ_k ln θ_ck over all m words. A message changes Z_c of every class that shares a word with
//! it, so two sums over words follow each message:
//!
//!   Σ_k ln(N_·k − N_ck + α) = Σ_k ln(N_·k + α) − Σ_{k in c} [ln(N_·k + α) − ln(N_·k − N_ck + α)]
//!
//! The second sum runs over the words of the class only. Both add integers, logarithms in steps of
//! 2^-48, so the order in which words come and go does not change them.
//!
//! Rennie et al. 2003: Tackling the Poor Assumptions of Naive Bayes Text Classifiers, Table 4.

use crate::counts::alloc::element;
use crate::counts::{Cells, Counted, Rows, Statistic, Store, WordId};
use crate::scoring::{ClassTerms, EventModel, Query};

/// Logarithms are rounded to multiples of 1/STEPS before they are added up.
const STEPS: f64 = (1_u64 << 48) as f64;

/// Sums of logarithms over the words learned, for the smoothing of a model.
#[derive(Clone)]
struct ComplementLogs {
    model: EventModel,
    /// Number of words.
    words: f64,
    /// Σ_k ln(N_·k + α).
    totals: i128,
    /// Σ_k [ln(N_·k + α) − ln(N_·k − N_ck + α)] over the words of each class.
    own: Vec<i128>,
}

impl ComplementLogs {
    /// Compute the sums of all words.
    fn of(model: EventModel, rows: &Rows) -> Self {
        let mut logs = ComplementLogs { model, words: 0.0, totals: 0, own: Vec::new() };
        (0..rows.slots() as WordId).for_each(|word| logs.change(rows, word, 1));
        logs
    }

    /// Add (`sign` 1) or subtract (-1) the current contribution of a word.
    fn change(&mut self, rows: &Rows, word: WordId, sign: i128) {
        if rows.is_empty(word) {
            return;
        }
        let steps = |count: f64| (self.model.log_plus(count) * STEPS).round() as i128;
        let total: f64 = rows.cells(word).map(|cell| cell.tokens).sum();
        let of_total = steps(total);
        self.words += sign as f64;
        self.totals += sign * of_total;
        for cell in rows.cells(word) {
            let own = sign * (of_total - steps(total - cell.tokens));
            *element(&mut self.own, cell.class as usize) += own;
        }
    }

    /// Σ_k ln(N_·k − N_ck + α) over all words learned.
    fn complement(&self, class: usize) -> f64 {
        (self.totals - self.own.get(class).copied().unwrap_or(0)) as f64 / STEPS
    }
}

impl Statistic for ComplementLogs {
    fn take_words(&mut self, rows: &Rows, words: &[(WordId, f64)]) {
        words.iter().for_each(|&(word, _)| self.change(rows, word, -1));
    }

    fn add_words(&mut self, rows: &Rows, words: &[(WordId, f64)]) {
        words.iter().for_each(|&(word, _)| self.change(rows, word, 1));
    }

    fn recount(&mut self, counted: &Counted<'_>) {
        *self = ComplementLogs::of(self.model.clone(), counted.rows);
    }
}

impl Store {
    /// Maintain the sums that normalise the weights of complements from now on.
    pub fn normalise(&mut self, model: EventModel) {
        self.statistics.put(ComplementLogs::of(model, &self.rows));
    }
}

impl EventModel {
    /// Compute −Z_c of each class in `terms`.
    pub(crate) fn prepare_normalised(&self, store: &Store, terms: &mut [ClassTerms]) {
        let counted;
        let logs = match store.statistic::<ComplementLogs>() {
            Some(kept) => kept,
            None => {
                counted = ComplementLogs::of(self.clone(), &store.rows);
                &counted
            }
        };
        let words = self.words(store);
        let absent = (words - logs.words) * self.log_alpha;
        for (class, terms) in terms.iter_mut().enumerate() {
            terms.normaliser = words * terms.tokens_complement - logs.complement(class) - absent;
        }
    }

    /// Add −ln P(c̄) + Σ_i f_i ln θ_ci / Z_c.
    pub(crate) fn add_normalised(&self, query: Query<'_>, counts: &impl Cells, out: &mut [f64]) {
        self.add_complement(query, counts, out);
        for (score, class) in out.iter_mut().zip(query.terms) {
            let sum = *score + class.prior_complement;
            // With at least two words, −Z_c ≥ m ln m > 1. A single word has share 1 and no effect.
            let share = if class.normaliser > 1.0 { sum / class.normaliser } else { 0.0 };
            *score = share - class.prior_complement;
        }
    }
}
