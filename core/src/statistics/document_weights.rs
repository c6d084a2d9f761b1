//! Messages weighed as they come: each counts for the more, the less probable its class was by all
//! that had been learned before it.
//!
//! What a message counts for beyond its weight is kept with it in the index and stands beside the
//! counts, so that it leaves with the message: unlearned, evicted, subtracted.

use crate::counts::bag::Bag;
use crate::counts::index::Document;
use crate::counts::rows::ClassId;
use crate::counts::store::Store;
use crate::error::{Error, Result};
use crate::scoring::decision;
use crate::scoring::scorer::{ClassTerms, Scoring};
use crate::statistics::word_weights::{NEW_WORD, Weights};
use std::sync::Arc;

/// The extra weight of a message is a multiple of 1 / STEPS: so sums of them are exact.
pub(crate) const STEPS: f64 = 1024.0;

impl Weights {
    /// Follows a document that enters the index.
    pub(crate) fn add_extra(&mut self, document: &Document, weight: f64) {
        let (class, share) = (document.class, weight * document.extra);
        if share == 0.0 {
            return;
        }
        if self.totals.len() <= class as usize {
            self.totals.resize_with(class as usize + 1, Default::default);
        }
        let mut sum = 0.0;
        for &(word, count) in &document.words {
            sum += self.of_word(word) * share * count;
            if self.extra.len() <= word as usize {
                self.extra.resize_with(word as usize + 1, Default::default);
            }
            let cells = &mut self.extra[word as usize];
            if let Some(cell) = cells.iter_mut().find(|cell| cell.0 == class) {
                cell.1 += share * count;
            } else {
                let more = std::mem::take(cells).into_iter().chain([(class, share * count)]);
                *cells = more.collect();
            }
        }
        let totals = &mut self.totals[class as usize];
        totals.documents += share;
        totals.tokens += sum;
    }

    /// Follows a document, or a part of its weight, that leaves the index.
    pub(crate) fn take_extra(&mut self, document: &Document, weight: f64) {
        let (class, share) = (document.class, weight * document.extra);
        if share == 0.0 {
            return;
        }
        let mut sum = 0.0;
        for &(word, count) in &document.words {
            let each = self.of_word(word);
            let Some(cells) = self.extra.get_mut(word as usize) else { continue };
            let Some(cell) = cells.iter_mut().find(|cell| cell.0 == class) else { continue };
            let taken = cell.1.min(share * count);
            cell.1 -= taken;
            sum += each * taken;
            if cell.1 == 0.0 {
                *cells = cells.iter().copied().filter(|cell| cell.1 > 0.0).collect();
            }
        }
        if let Some(totals) = self.totals.get_mut(class as usize) {
            totals.documents = (totals.documents - share).max(0.0);
            totals.tokens = (totals.tokens - sum).max(0.0);
        }
    }

    /// Sums the totals up; in a store whose messages are weighed as they come, with what these
    /// count for there, else with that of documents here.
    pub(crate) fn sum_up_with_extra(&mut self, store: &Store, documents: &[f64]) {
        match store.weights().filter(|_| store.weighing.is_some()) {
            Some(used) => {
                self.extra.clone_from(&used.extra);
                let documents: Vec<f64> =
                    used.totals.iter().map(|totals| totals.documents).collect();
                self.sum_up(store, &documents);
            }
            None => self.sum_up(store, documents),
        }
    }
}

impl Store {
    /// Says how messages are scored that are weighed as they come, and counts what those of the
    /// index count for.
    pub fn weigh(&mut self, scoring: Arc<Scoring>) -> Result<()> {
        if !self.settings.weighed {
            return Err(Error::Invalid("these counts are of messages that weigh alike".into()));
        }
        self.weighing = Some(scoring);
        let mut weights = Weights { unseen: NEW_WORD, ..Weights::default() };
        weights.sum_up(self, &[]);
        for document in self.index.documents() {
            weights.add_extra(document, document.weight);
        }
        self.weights = Some(Box::new(weights));
        Ok(())
    }

    /// Whether messages are weighed as they come.
    pub fn weighs(&self) -> bool {
        self.weighing.is_some()
    }

    /// What a message, its words looked up, counts for beyond its weight: 1 − P(class | message).
    /// A class without messages has probability 0.
    pub fn extra_weight(
        &self,
        bag: &Bag,
        class: ClassId,
        terms: &mut Vec<ClassTerms>,
        scores: &mut Vec<f64>,
    ) -> f64 {
        let Some(scoring) = &self.weighing else { return 0.0 };
        scoring.prepare(self, terms);
        scoring.scores(self, terms, bag, scores);
        let shares = decision::probabilities(self, scores);
        let probability = shares.get(class as usize).copied().unwrap_or(0.0);
        // No number would be more than nothing.
        ((1.0 - probability).max(0.0) * STEPS).round() / STEPS
    }
}
