//! How a model scores.

use crate::bindings::errors::raise;
use crate::bindings::options::read_options;
use crate::scoring::composition::{
    Dependence, DocumentWeights, Estimate, Event, Neighbourhood, Weights,
};
use crate::scoring::event_model::{Oov, Prior};
use crate::scoring::online_weights::{Effect, Loss};
use crate::scoring::scorer::{Scorer, ScoringConfig};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::types::PyDict;
use std::sync::Arc;

/// How a model scores: an immutable value.
#[pyclass(frozen, module = "streamnb._core")]
pub struct Scoring {
    pub inner: Arc<Scorer>,
}

/// Read a name by `named`.
fn read<T>(
    value: &Bound<'_, PyAny>,
    named: impl Fn(&str) -> crate::error::Result<T>,
) -> PyResult<T> {
    let name = value.extract::<PyBackedStr>()?;
    named(&name).map_err(|error| raise(value.py(), error))
}

#[pymethods]
impl Scoring {
    #[new]
    #[pyo3(signature = (**options))]
    fn new(py: Python<'_>, options: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        let mut chosen = ScoringConfig::new(Event::Multinomial);
        read_options("Scoring()", options, |name, value| {
            match name {
                "event" => chosen.parts.event = read(value, Event::named)?,
                "dependence" => chosen.parts.dependence = read(value, Dependence::named)?,
                "estimate" => chosen.parts.estimate = read(value, Estimate::named)?,
                "weights" => chosen.parts.weights = read(value, Weights::named)?,
                "document_weights" => {
                    chosen.parts.document_weights = read(value, DocumentWeights::named)?;
                }
                "neighbourhood" => chosen.parts.neighbourhood = read(value, Neighbourhood::named)?,
                "alpha" => chosen.alpha = value.extract()?,
                "prior" => chosen.prior = read(value, Prior::named)?,
                "oov" => chosen.oov = read(value, Oov::named)?,
                "vocabulary_size" => chosen.vocabulary_size = value.extract()?,
                "max_parents" => chosen.max_parents = value.extract()?,
                "factor" => chosen.factor = value.extract()?,
                "factors" => chosen.factors = value.extract::<Option<_>>()?.unwrap_or_default(),
                "nb_weight" => chosen.online.nb_weight = value.extract()?,
                "learning_rate" => chosen.online.learning_rate = value.extract()?,
                "bias_rate" => chosen.online.bias_rate = value.extract()?,
                "rate_decay" => chosen.online.rate_decay = value.extract()?,
                "loss" => chosen.online.loss = read(value, Loss::named)?,
                "correction" => chosen.online.effect = read(value, Effect::named)?,
                "damping" => chosen.online.damping = value.extract()?,
                "margin" => chosen.online.margin = value.extract()?,
                "warm_up" => chosen.online.warm_up = value.extract()?,
                "calibrated" => chosen.online.calibrated = value.extract()?,
                "forgetting_factor" => chosen.online.forgetting_factor = value.extract()?,
                "n_neighbors" => chosen.n_neighbors = value.extract()?,
                _ => return Ok(false),
            }
            Ok(true)
        })?;
        let inner = chosen.scorer().map_err(|error| raise(py, error))?;
        Ok(Scoring { inner: Arc::new(inner) })
    }

    fn __deepcopy__<'py>(slf: PyRef<'py, Self>, _memo: &Bound<'py, PyAny>) -> PyRef<'py, Self> {
        slf
    }
}
