//! Messages taken out of Python, checked.

use crate::bindings::errors::input_error;
use crate::counts::message::{AsMessage, Message, WordCounts, check_count};
use crate::counts::store::check_weight;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::types::{PyBytes, PyDict, PyFloat, PyString};

/// A message taken out of Python, readable without the GIL.
pub enum Item {
    Text(PyBackedStr),
    Owned(String),
    Counts(WordCounts),
}

impl AsMessage for Item {
    fn as_message(&self) -> Message<'_> {
        match self {
            Item::Text(text) => Message::Text(text),
            Item::Owned(text) => Message::Text(text),
            Item::Counts(counts) => Message::Counts(counts),
        }
    }
}

impl Item {
    /// A message, checked.
    pub fn read(x: &Bound<'_, PyAny>) -> PyResult<Self> {
        let Ok(text) = x.cast::<PyString>() else { return Ok(Item::Counts(read_counts(x)?)) };
        Ok(match PyBackedStr::try_from(text.clone()) {
            Ok(text) => Item::Text(text),
            Err(_) => Item::Owned(without_surrogates(text)?),
        })
    }
}

/// Calls `work` with a text as a message.
pub fn with_text<R>(
    text: &Bound<'_, PyString>,
    work: impl FnOnce(&Message<'_>) -> R,
) -> PyResult<R> {
    match text.to_str() {
        Ok(text) => Ok(work(&Message::Text(text))),
        Err(_) => Ok(work(&Message::Text(&without_surrogates(text)?))),
    }
}

/// Replace each lone surrogate by U+FFFD.
fn without_surrogates(text: &Bound<'_, PyString>) -> PyResult<String> {
    let encoded = text.call_method1("encode", ("utf-32-le", "surrogatepass"))?;
    let codes = encoded.cast::<PyBytes>()?.as_bytes().as_chunks::<4>().0.iter();
    let character = |code: &[u8; 4]| char::from_u32(u32::from_le_bytes(*code));
    Ok(codes.map(|code| character(code).unwrap_or(char::REPLACEMENT_CHARACTER)).collect())
}

/// The counts of a mapping, checked; zeros are left out, as they say nothing.
pub fn read_counts(x: &Bound<'_, PyAny>) -> PyResult<WordCounts> {
    let py = x.py();
    let converted;
    let mapping = match x.cast::<PyDict>() {
        Ok(mapping) => mapping,
        Err(_) => {
            converted = inputs(py)?.call_method1("as_dict", (x,))?.cast_into::<PyDict>()?;
            &converted
        }
    };
    let mut counts = WordCounts::default();
    for (key, value) in mapping.iter() {
        let given = match value.cast_exact::<PyFloat>() {
            Ok(float) => float.value(),
            Err(_) => match value.extract::<f64>() {
                Ok(count) => count,
                Err(_) => return Err(bad_count(&key, &value)),
            },
        };
        let checked = check_count(given, "");
        let Ok(count) = checked else { return Err(bad_count(&key, &value)) };
        let Some(count) = count else { continue };
        match key.cast::<PyString>().ok().and_then(|word| word.to_str().ok()) {
            Some(word) => counts.push(word.as_bytes(), count),
            // An n-gram as river gives it, an integer feature, or no word at all.
            None => {
                let name = inputs(py)?.call_method1("token_name", (&key,))?;
                counts.push(name.cast::<PyString>()?.to_str()?.as_bytes(), count);
            }
        }
    }
    Ok(counts)
}

/// A message's weight, checked.
pub fn read_weight(weight: &Bound<'_, PyAny>) -> PyResult<f64> {
    let given = match weight.cast_exact::<PyFloat>() {
        Ok(float) => float.value(),
        Err(_) => weight.extract::<f64>().unwrap_or(f64::NAN),
    };
    check_weight(given).map_err(|error| match weight.repr() {
        Ok(shown) => input_error(weight.py(), format!("{error}: {shown} was given")),
        Err(error) => error,
    })?;
    Ok(given)
}

fn inputs(py: Python<'_>) -> PyResult<Bound<'_, PyModule>> {
    py.import("streamnb.text.inputs")
}

fn bad_count(key: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>) -> PyErr {
    let message = inputs(key.py())
        .and_then(|inputs| inputs.call_method1("bad_count", (key, value))?.extract::<String>());
    match message {
        Ok(message) => input_error(key.py(), message),
        Err(error) => error,
    }
}
