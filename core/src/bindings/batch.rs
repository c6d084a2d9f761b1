//! Batches of messages.

use crate::bindings::errors::raise;
use crate::bindings::messages::Item;
use crate::bindings::waiting::watched;
use crate::counts::batch::{self, Items, Matrix, Messages};
use crate::text::tokenizer::Tokenizer;
use crate::threads::lock;
use crate::watch::Watch;
use pyo3::buffer::PyBuffer;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::types::{PyList, PyString};
use std::ops::Range;
use std::sync::{Arc, Mutex};

/// Many messages, checked. Texts are read as they are needed, by the thread that called.
#[pyclass(frozen, module = "streamnb._core")]
pub struct Batch {
    messages: Messages<Item>,
    /// What was raised as they were read: by the handler of a signal, as texts can be read.
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

    /// Does work on the messages without the GIL, with a watch that stops it when a signal's handler
    /// raises; returns what the work found, or raises what the handler did.
    pub fn watched<R: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&Watch<'_>) -> R + Send,
    ) -> PyResult<R> {
        let found = watched(py, work)?;
        lock(&self.raised).take().map_or(Ok(found), Err)
    }

    /// The messages, to be read with this tokenizer.
    pub fn cut_by<'a>(&'a self, tokenizer: &'a Tokenizer) -> batch::Batch<'a, Item> {
        batch::Batch { messages: &self.messages, tokenizer }
    }
}

#[pymethods]
impl Batch {
    /// The messages of a list: strings, or mappings of tokens to counts.
    #[new]
    fn new(messages: &Bound<'_, PyList>) -> PyResult<Self> {
        // No text is refused, whatever it has: the first may be learned before the last is read.
        if messages.iter().all(|message| message.is_instance_of::<PyString>()) {
            return Ok(Batch::unread(messages));
        }
        let items = messages.iter().map(|message| Item::read(&message));
        let items = read_items(messages.len(), items)?;
        Ok(Batch::read(Messages::Items(items.into())))
    }

    /// The rows of a sparse matrix, given as its indptr, indices and data and the word of each
    /// column.
    #[staticmethod]
    fn from_rows(
        py: Python<'_>,
        indptr: PyBuffer<i64>,
        indices: PyBuffer<i64>,
        data: PyBuffer<f64>,
        words: Vec<PyBackedStr>,
    ) -> PyResult<Self> {
        let words: Vec<&str> = words.iter().map(|word| &**word).collect();
        let (indptr, indices) = (indptr.to_vec(py)?, indices.to_vec(py)?);
        let matrix = Matrix::new(&indptr, &indices, &data.to_vec(py)?, &words);
        let matrix = matrix.map_err(|error| raise(py, error))?;
        Ok(Batch::read(Messages::Matrix(matrix)))
    }

    fn __len__(&self) -> usize {
        self.messages.len()
    }
}

/// So many items, or what the first of them raised that could not be read.
fn read_items(number: usize, items: impl Iterator<Item = PyResult<Item>>) -> PyResult<Vec<Item>> {
    // What collects results does not know how many there will be, and copies them as they grow.
    let mut read = Vec::with_capacity(number);
    for item in items {
        read.push(item?);
    }
    Ok(read)
}
