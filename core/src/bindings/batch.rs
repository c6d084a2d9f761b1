//! Batches of messages.

use crate::bindings::errors::raise;
use crate::bindings::messages::Item;
use crate::bindings::tokenizer::NativeTokenizer;
use crate::counts::batch::{self, Matrix, Messages};
use crate::text::tokenizer::Tokenizer;
use pyo3::buffer::PyBuffer;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::types::PyList;

/// Many messages, checked and ready to be read without the GIL.
#[pyclass(frozen, module = "streamnb._core")]
pub struct Batch {
    pub messages: Messages<Item>,
}

impl Batch {
    /// The messages, to be read with this tokenizer.
    pub fn cut_by<'a>(&'a self, tokenizer: &'a Tokenizer) -> batch::Batch<'a, Item> {
        batch::Batch { messages: &self.messages, tokenizer }
    }
}

#[pymethods]
impl Batch {
    /// The messages of a list: strings, or mappings of tokens to counts.
    #[new]
    fn new(tokenizer: &NativeTokenizer, messages: &Bound<'_, PyList>) -> PyResult<Self> {
        // What collects results does not know how many there will be, and copies them as they grow.
        let mut items = Vec::with_capacity(messages.len());
        for message in messages.iter() {
            items.push(tokenizer.item(&message)?);
        }
        Ok(Batch { messages: Messages::Items(items) })
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
        Ok(Batch { messages: Messages::Matrix(matrix) })
    }

    fn __len__(&self) -> usize {
        self.messages.len()
    }
}
