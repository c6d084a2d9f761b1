//! How a model scores.

use crate::bindings::errors::raise;
use crate::bindings::options::read_options;
use crate::scoring::online_weights::{Effect, Loss};
use crate::scoring::options::Options;
use crate::scoring::scorer;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::types::PyDict;
use std::sync::Arc;

/// How a model scores: an immutable value.
#[pyclass(frozen, module = "streamnb._core")]
pub struct Scoring {
    pub inner: Arc<scorer::Scoring>,
}

#[pymethods]
impl Scoring {
    #[new]
    #[pyo3(signature = (**options))]
    fn new(py: Python<'_>, options: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        let mut chosen = Options::default();
        read_options("Scoring()", options, |name, value| {
            match name {
                "event" => chosen.event = value.extract()?,
                "alpha" => chosen.alpha = value.extract()?,
                "prior" => chosen.prior = value.extract()?,
                "oov" => chosen.unseen = value.extract()?,
                "vocabulary_size" => chosen.vocabulary_size = value.extract()?,
                "hidden" => chosen.hidden = value.extract()?,
                "max_parents" => chosen.max_parents = value.extract()?,
                "effective" => chosen.effective = value.extract()?,
                "factor" => chosen.factor = value.extract()?,
                "factors" => chosen.factors = value.extract::<Option<_>>()?.unwrap_or_default(),
                "weights" => chosen.weights = value.extract()?,
                "nb_weight" => chosen.online.nb_weight = value.extract()?,
                "learning_rate" => chosen.online.learning_rate = value.extract()?,
                "bias_rate" => chosen.online.bias_rate = value.extract()?,
                "rate_decay" => chosen.online.rate_decay = value.extract()?,
                "loss" => {
                    let name = value.extract::<PyBackedStr>()?;
                    chosen.online.loss = Loss::named(&name).map_err(|error| raise(py, error))?;
                }
                "correction" => {
                    let name = value.extract::<PyBackedStr>()?;
                    let effect = Effect::named(&name).map_err(|error| raise(py, error))?;
                    chosen.online.effect = effect;
                }
                "damping" => chosen.online.damping = value.extract()?,
                "margin" => chosen.online.margin = value.extract()?,
                "warm_up" => chosen.online.warm_up = value.extract()?,
                "calibrated" => chosen.online.calibrated = value.extract()?,
                "forgetting_factor" => chosen.online.forgetting_factor = value.extract()?,
                "instance_weights" => chosen.instance_weights = value.extract()?,
                "neighbourhood" => chosen.neighbourhood = value.extract()?,
                "n_neighbors" => chosen.n_neighbors = value.extract()?,
                _ => return Ok(false),
            }
            Ok(true)
        })?;
        let inner = chosen.scoring().map_err(|error| raise(py, error))?;
        Ok(Scoring { inner: Arc::new(inner) })
    }

    fn __deepcopy__<'py>(slf: PyRef<'py, Self>, _memo: &Bound<'py, PyAny>) -> PyRef<'py, Self> {
        slf
    }
}
