//! Scores with weights of words or of documents, in the estimate and in the score.

use crate::counts::index::STEPS;
use crate::counts::{Bag, ClassId, LearningRule, Store};
use crate::error::{Error, Result};
use crate::scoring::event_model::probabilities;
use crate::scoring::{ClassTerms, EventModel, Query, Scorer};
use crate::statistics::{Totals, WordWeights};
use crate::watch::Watch;
use std::sync::Arc;

impl EventModel {
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
}

/// The rule that adds 1 − P(class | message) to the weight of each message when it is learned.
struct Improbability(Arc<Scorer>);

impl LearningRule for Improbability {
    fn weighs(&self) -> bool {
        true
    }

    /// A class without messages has probability 0.
    fn instance_weight(&self, store: &Store, bag: &mut Bag, class: ClassId) -> f64 {
        let (mut terms, mut scores) = (Vec::new(), Vec::new());
        let scorer = self.0.for_counts(store);
        scorer.prepare(store, &mut terms);
        scorer.weigh_bag(store, bag);
        let watch = Watch::default();
        scorer.scores(Query { store, terms: &terms, bag, watch: &watch }, &mut scores);
        let shares = probabilities(store, &scores);
        let probability = shares.get(class as usize).copied().unwrap_or(0.0);
        // `max` also turns NaN into 0.
        ((1.0 - probability).max(0.0) * STEPS).round() / STEPS
    }
}

impl Store {
    /// Give messages instance weights by this scorer from now on, and add up the weights of the index.
    pub fn weigh_instances(&mut self, scorer: Arc<Scorer>) -> Result<()> {
        if !self.settings.instance_weights {
            return Err(Error::Invalid(
                "the store has no instance weights: make it with instance_weights=True".into(),
            ));
        }
        self.rule = Some(Arc::new(Improbability(scorer)));
        let weights = WordWeights::of_instances(self);
        self.statistics.put(weights);
        Ok(())
    }
}
