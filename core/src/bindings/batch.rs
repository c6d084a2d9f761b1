//! Messages and batches of messages.

use super::{Numbers, watched};
use crate::counts::batch::{self, Items, Matrix, Messages};
use crate::counts::message::{AsMessage, Message, WordCounts, check_count};
use crate::counts::store::check_weight;
use crate::error::Error;
use crate::text::tokenizer::Tokenizer;
use crate::threads::lock;
use crate::watch::Watch;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::types::{PyBytes, PyDict, PyFloat, PyList, PyString};
use std::ops::Range;
use std::sync::{Arc, Mutex};

/// Checked messages. The calling thread reads texts when they are needed.
#[pyclass(frozen, module = "streamnb._core")]
pub struct Batch {
    messages: Messages<Item>,
    /// The exception of a signal handler during reading.
    raised: Arc<Mutex<Option<PyErr>>>,
}

impl Batch {
    fn read(messages: Messages<Item>) -> Self {
        Batch { messages, raised: Arc::default() }
    }

    fn unread(texts: &Bound<'_, PyList>) -> Self {
        let (len, texts) = (texts.len(), texts.clone().unbind());
        let raised = Arc::new(Mutex::new(None));
        let slot = raised.clone();
        let read = move |places: Range<usize>| {
            Python::attach(|py| {
                let texts = texts.bind(py);
                let item = |place| Item::read(&texts.get_item(place)?);
                let items = read_items(places.len(), places.map(item));
                items.map_err(|error| lock(&slot).replace(error)).ok()
            })
        };
        Batch { messages: Messages::Items(Items::unread(len, Box::new(read))), raised }
    }

    /// Do work on the messages as [`watched`] does.
    pub fn watched<R: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&Watch<'_>) -> R + Send,
    ) -> PyResult<R> {
        let found = watched(py, work)?;
        lock(&self.raised).take().map_or(Ok(found), Err)
    }

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
        // No text is invalid, so the first may be learned before the last is read.
        if messages.iter().all(|message| message.is_instance_of::<PyString>()) {
            return Ok(Batch::unread(messages));
        }
        let items = messages.iter().map(|message| Item::read(&message));
        let items = read_items(messages.len(), items)?;
        Ok(Batch::read(Messages::Items(items.into())))
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
        Ok(Batch::read(Messages::Matrix(matrix)))
    }

    fn __len__(&self) -> usize {
        self.messages.len()
    }
}

/// Return `number` items, or the first exception.
fn read_items(number: usize, items: impl Iterator<Item = PyResult<Item>>) -> PyResult<Vec<Item>> {
    // `collect` of results does not know their number, and would copy them as they grow.
    let mut read = Vec::with_capacity(number);
    for item in items {
        read.push(item?);
    }
    Ok(read)
}

/// A message that is readable without the GIL.
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
    /// Read and check a message.
    pub fn read(x: &Bound<'_, PyAny>) -> PyResult<Self> {
        let Ok(text) = x.cast::<PyString>() else { return Ok(Item::Counts(read_counts(x)?)) };
        Ok(match PyBackedStr::try_from(text.clone()) {
            Ok(text) => Item::Text(text),
            Err(_) => Item::Owned(without_surrogates(text)?),
        })
    }
}

/// Call `work` with a text as a message.
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
        let Ok(count) = checked else { return Err(bad_count(&key, &value)) };
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
#[inline]
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

fn bad_count(key: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>) -> PyErr {
    let message = inputs(key.py())
        .and_then(|inputs| inputs.call_method1("bad_count", (key, value))?.extract::<String>());
    match message {
        Ok(message) => Error::Invalid(message).into(),
        Err(error) => error,
    }
}
