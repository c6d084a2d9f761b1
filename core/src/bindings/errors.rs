//! Errors of the core as exceptions of `streamnb.errors`.

use crate::error::Error;
use pyo3::prelude::*;

pub fn raise(py: Python<'_>, error: Error) -> PyErr {
    let name = match error {
        Error::Invalid(_) => "InputError",
        Error::NotLearned(_) => "NotLearnedError",
        Error::Corrupt(_) => "ModelFileError",
    };
    named_error(py, name, error.to_string())
}

fn named_error(py: Python<'_>, name: &str, message: String) -> PyErr {
    let class = py.import("streamnb.errors").and_then(|errors| errors.getattr(name));
    match class.and_then(|class| class.call1((message,))) {
        Ok(value) => PyErr::from_value(value),
        Err(error) => error,
    }
}

pub fn input_error(py: Python<'_>, message: impl Into<String>) -> PyErr {
    raise(py, Error::Invalid(message.into()))
}
