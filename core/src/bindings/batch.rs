//! Messages and batches of messages.

use super::Numbers;
use crate::counts::batch::{Matrix, Messages};
use crate::counts::message::check_count;
use crate::counts::store::check_weight;
use crate::counts::{AsMessage, Message, WordCounts, batch};
use crate::error::Error;
use crate::text::Tokenizer;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::types::{PyBytes, PyDict, PyFloat, PyList, PyString};

/// Checked messages.
#[pyclass(frozen, module = "streamnb._core")]
pub struct Batch {
    messages: Messages<Item>,
}

impl Batch {
    /// The messages with the tokenizer that splits them.
    pub fn with_tokenizer<'a>(&'a self, tokenizer: &'a Tokenizer) -> batch::Batch<'a, Item> {
        batch::Batch { messages: &self.messages, tokenizer }
    }
}

#[pymethods]
impl Batch {
    /// Create a batch from a list of strings, or of mappings from tokens to counts.
    #[new]
    fn new(messages: &Bound<'_, PyList>) -> PyResult<Self> {
        let mut items = Vec::with_capacity(messages.len());
        for message in messages {
            items.push(Item::read(&message)?);
        }
        Ok(Batch { messages: Messages::Items(items) })
    }

    /// Create a batch from the rows of a sparse matrix: its indptr, indices and data, and the word
    /// of each column.
    #[staticmethod]
    fn from_rows(
        indptr: Numbers<i64>,
        indices: Numbers<i64>,
        data: Numbers<f64>,
        words: Vec<PyBackedStr>,
    ) -> PyResult<Self> {
        let words: Vec<&str> = words.iter().map(|word| &**word).collect();
        let matrix = Matrix::new(&indptr.0, &indices.0, &data.0, &words)?;
        Ok(Batch { messages: Messages::Matrix(matrix) })
    }

    fn __len__(&self) -> usize {
        self.messages.number()
    }
}

/// A message that is readable without the GIL.
pub enum Item {
    Text(PyBackedStr),
    Owned(String),
    Counts(WordCounts),
}

impl AsMessage for Item {
    fn as_message<'a>(&'a self, tokenizer: &'a Tokenizer) -> Message<'a> {
        match self {
            Item::Text(text) => Message::Text(text, tokenizer),
            Item::Owned(text) => Message::Text(text, tokenizer),
            Item::Counts(counts) => Message::Counts(counts),
        }
    }
}

impl Item {
    /// Read and check a message: a text, a record with a text, or counts.
    pub fn read(x: &Bound<'_, PyAny>) -> PyResult<Self> {
        let record;
        let text = match x.cast::<PyString>() {
            Ok(text) => text,
            Err(_) => match read_counts(x) {
                Ok(counts) => return Ok(Item::Counts(counts)),
                Err(error) => {
                    record = inputs(x.py())?.call_method1("record_text", (x,))?;
                    record.cast::<PyString>().map_err(|_| error)?
                }
            },
        };
        Ok(match PyBackedStr::try_from(text.clone()) {
            Ok(text) => Item::Text(text),
            Err(_) => Item::Owned(without_surrogates(text)?),
        })
    }
}

/// Call `work` with a text as a message.
pub fn with_text<R>(
    text: &Bound<'_, PyString>,
    tokenizer: &Tokenizer,
    work: impl FnOnce(&Message<'_>) -> R,
) -> PyResult<R> {
    match text.to_str() {
        Ok(text) => Ok(work(&Message::Text(text, tokenizer))),
        Err(_) => Ok(work(&Message::Text(&without_surrogates(text)?, tokenizer))),
    }
}

/// Replace each lone surrogate by U+FFFD.
fn without_surrogates(text: &Bound<'_, PyString>) -> PyResult<String> {
    let encoded = text.call_method1("encode", ("utf-32-le", "surrogatepass"))?;
    let codes = encoded.cast::<PyBytes>()?.as_bytes().as_chunks::<4>().0.iter();
    let character = |code: &[u8; 4]| char::from_u32(u32::from_le_bytes(*code));
    Ok(codes.map(|code| character(code).unwrap_or(char::REPLACEMENT_CHARACTER)).collect())
}

/// Read and check the counts of a mapping; zeros are left out.
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
        let checked = check_count(float(&value), "");
        let Ok(count) = checked else {
            let message = inputs(py)?.call_method1("bad_count", (key, value))?;
            return Err(Error::Invalid(message.extract()?).into());
        };
        let Some(count) = count else { continue };
        match key.cast::<PyString>().ok().and_then(|word| word.to_str().ok()) {
            Some(word) => counts.push(word.as_bytes(), count),
            // An n-gram of river, an integer feature, or an invalid word.
            None => {
                let name = inputs(py)?.call_method1("token_name", (&key,))?;
                counts.push(name.cast::<PyString>()?.to_str()?.as_bytes(), count);
            }
        }
    }
    Ok(counts)
}

/// A number as a float, else NaN.
fn float(number: &Bound<'_, PyAny>) -> f64 {
    match number.cast_exact::<PyFloat>() {
        Ok(float) => float.value(),
        Err(_) => number.extract().unwrap_or(f64::NAN),
    }
}

/// Read and check the weight of a message.
pub fn read_weight(weight: &Bound<'_, PyAny>) -> PyResult<f64> {
    let given = float(weight);
    check_weight(given).map_err(|error| match weight.repr() {
        Ok(shown) => Error::Invalid(format!("{error}: {shown} was given")).into(),
        Err(error) => error,
    })?;
    Ok(given)
}

fn inputs(py: Python<'_>) -> PyResult<Bound<'_, PyModule>> {
    py.import("streamnb.text.inputs")
}
