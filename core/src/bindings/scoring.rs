//! The composition of a score.

use crate::error::Result;
use crate::online::config::{Effect, Loss, OnlineConfig};
use crate::online::heads::Heads;
use crate::scoring::composition::{
    Composition, Dependence, DocumentWeights, Estimate, Event, Neighbourhood, Weights,
};
use crate::scoring::{Oov, Prior, Scorer, scorer};
use pyo3::prelude::*;
use std::sync::Arc;

/// The immutable composition of a score and its parameters.
#[pyclass(frozen, module = "streamnb._core")]
pub struct ScoringConfig {
    pub scorer: Arc<Scorer>,
}

#[pymethods]
impl ScoringConfig {
    #[new]
    #[pyo3(signature = (
        *, event="multinomial", dependence="independent", estimate="additive", weights="uniform",
        document_weights="uniform", neighbourhood="stream", alpha=1.0, prior="empirical", oov="smooth",
        vocabulary_size=None, max_parents=None, bag_threshold=0.0, factor=0.1, factors=None, nb_weight=5.0,
        learning_rate=8.0, bias_rate=1.0, rate_decay=64.0, loss="logistic", correction="additive",
        damping=0.1, margin=0.05, warm_up=5, calibrated=true, estimate_noise=true,
        forgetting_factor=0.999, undo_size=10_000, heads="one", max_df=1.0,
        n_neighbors=1
    ))]
    fn new(
        event: &str,
        dependence: &str,
        estimate: &str,
        weights: &str,
        document_weights: &str,
        neighbourhood: &str,
        alpha: f64,
        prior: &str,
        oov: &str,
        vocabulary_size: Option<f64>,
        max_parents: Option<usize>,
        bag_threshold: f64,
        factor: f64,
        factors: Option<Vec<(f64, f64)>>,
        nb_weight: f64,
        learning_rate: f64,
        bias_rate: f64,
        rate_decay: f64,
        loss: &str,
        correction: &str,
        damping: f64,
        margin: f64,
        warm_up: u64,
        calibrated: bool,
        estimate_noise: bool,
        forgetting_factor: f64,
        undo_size: usize,
        heads: &str,
        max_df: f64,
        n_neighbors: usize,
    ) -> Result<Self> {
        let config = scorer::ScoringConfig {
            parts: Composition {
                event: Event::named(event)?,
                dependence: Dependence::named(dependence)?,
                estimate: Estimate::named(estimate)?,
                weights: Weights::named(weights)?,
                document_weights: DocumentWeights::named(document_weights)?,
                neighbourhood: Neighbourhood::named(neighbourhood)?,
            },
            alpha,
            prior: Prior::named(prior)?,
            oov: Oov::named(oov)?,
            vocabulary_size,
            max_parents,
            bag_threshold,
            factor,
            factors: factors.unwrap_or_default(),
            online: OnlineConfig {
                nb_weight,
                learning_rate,
                bias_rate,
                rate_decay,
                loss: Loss::named(loss)?,
                effect: Effect::named(correction)?,
                damping,
                margin,
                warm_up,
                calibrated,
                estimate_noise,
                forgetting_factor,
                undo_size,
                heads: Heads::named(heads)?,
                max_df,
            },
            n_neighbors,
        };
        Ok(ScoringConfig { scorer: Arc::new(config.scorer()?) })
    }

    fn __deepcopy__<'py>(slf: PyRef<'py, Self>, _memo: &Bound<'py, PyAny>) -> PyRef<'py, Self> {
        slf
    }
}
