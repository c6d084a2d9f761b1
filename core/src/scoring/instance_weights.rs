//! Instance weights given as messages are learned: each counts for the more, the less probable its
//! class was by all that had been learned before it.

use crate::counts::bag::Bag;
use crate::counts::index::STEPS;
use crate::counts::rows::ClassId;
use crate::counts::store::{LearningRule, Store};
use crate::error::{Error, Result};
use crate::scoring::decision;
use crate::scoring::scorer::Scoring;
use crate::statistics::word_weights::Weights;
use std::sync::Arc;

/// A message counts for 1 − P(class | message) more than its weight.
struct Improbability(Arc<Scoring>);

impl LearningRule for Improbability {
    fn weighs(&self) -> bool {
        true
    }

    /// A class without messages has probability 0.
    fn instance_weight(&self, store: &Store, bag: &Bag, class: ClassId) -> f64 {
        let (mut terms, mut scores) = (Vec::new(), Vec::new());
        let scoring = self.0.for_counts(store);
        scoring.prepare(store, &mut terms);
        scoring.scores(store, &terms, bag, &mut scores);
        let shares = decision::probabilities(store, &scores);
        let probability = shares.get(class as usize).copied().unwrap_or(0.0);
        // No number would be more than nothing.
        ((1.0 - probability).max(0.0) * STEPS).round() / STEPS
    }
}

impl Store {
    /// Gives messages instance weights from now on, by this scoring, and counts what those of the
    /// index count for.
    pub fn weigh_instances(&mut self, scoring: Arc<Scoring>) -> Result<()> {
        if !self.settings.instance_weights {
            return Err(Error::Invalid("these counts are of messages that weigh alike".into()));
        }
        self.rule = Some(Arc::new(Improbability(scoring)));
        let weights = Weights::of_instances(self);
        self.statistics.put(weights);
        Ok(())
    }
}
