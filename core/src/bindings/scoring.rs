//! How a model scores.

use crate::bindings::errors::raise;
use crate::bindings::options::read_options;
use crate::scoring::composition::{
    Axis, Dependence, DocumentWeights, Estimate, Event, Needs, Neighbourhood, Traits, Weights,
};
use crate::scoring::event_model::{Oov, Prior};
use crate::scoring::online_weights::{Effect, Loss};
use crate::scoring::scorer::{Scorer, ScoringConfig};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::types::{PyDict, PyTuple};
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

/// Return which parts of a score go together: by axis and name, the traits of each event model,
/// and the needs of each other part.
#[pyfunction]
pub fn compositions(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let table = PyDict::new(py);
    let events = PyDict::new(py);
    for event in Event::ALL {
        let Traits { own, complement, form, sum } = event.traits();
        let row = PyDict::new(py);
        row.set_item("own", own)?;
        row.set_item("complement", complement)?;
        row.set_item("form", form.name())?;
        row.set_item("sum", sum.name())?;
        events.set_item(event.name(), row)?;
    }
    table.set_item("event", events)?;
    let put = |axis: Axis, parts: Vec<(&str, Needs)>| -> PyResult<()> {
        let rows = PyDict::new(py);
        for (name, needs) in parts {
            let row = PyDict::new(py);
            row.set_item("forms", PyTuple::new(py, needs.forms.iter().map(|form| form.name()))?)?;
            row.set_item("sums", PyTuple::new(py, needs.sums.iter().map(|sum| sum.name()))?)?;
            row.set_item("both_sides", needs.both_sides)?;
            row.set_item("plain", PyTuple::new(py, needs.plain.iter().map(|axis| axis.name()))?)?;
            rows.set_item(name, row)?;
        }
        table.set_item(axis.name(), rows)
    };
    put(
        Axis::Dependence,
        Dependence::ALL.iter().map(|part| (part.name(), part.needs())).collect(),
    )?;
    put(Axis::Estimate, Estimate::ALL.iter().map(|part| (part.name(), part.needs())).collect())?;
    put(Axis::Weights, Weights::ALL.iter().map(|part| (part.name(), part.needs())).collect())?;
    put(
        Axis::DocumentWeights,
        DocumentWeights::ALL.iter().map(|part| (part.name(), part.needs())).collect(),
    )?;
    put(
        Axis::Neighbourhood,
        Neighbourhood::ALL.iter().map(|part| (part.name(), part.needs())).collect(),
    )?;
    Ok(table)
}
