//! Functions on arrays and labels, and the measure of tokenising.

use crate::bindings::arrays::bytes_of;
use crate::bindings::batch::Batch;
use crate::bindings::errors::raise;
use crate::bindings::tokenizer::NativeTokenizer;
use crate::bindings::waiting::watched;
use crate::counts::batch::Messages;
use crate::counts::rows::ClassId;
use crate::statistics::cooccurrence::{self, DocumentRows};
use crate::statistics::grow;
use crate::statistics::split::Limits;
use pyo3::buffer::PyBuffer;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};

/// Tokenises and hashes the texts of a batch and does nothing else: the limit that learning and
/// predicting are measured against. Returns the sum of the hashes.
#[pyfunction]
pub fn tokenize_and_hash(
    py: Python<'_>,
    tokenizer: &NativeTokenizer,
    batch: &Batch,
) -> PyResult<u64> {
    let messages = batch.cut_by(&tokenizer.inner).messages;
    batch.watched(py, |watch| {
        let mut sum = 0u64;
        messages.read(watch);
        if let Messages::Items(items) = messages {
            for message in (0..messages.len()).map_while(|place| items.get(place)) {
                tokenizer.cut(&message, |token| sum = sum.wrapping_add(token.hash));
            }
        }
        sum
    })
}

/// Objects whose ids are remembered as labels are read.
const REMEMBERED: usize = 64;

/// The class id of each label of a list, uint32, as bytes: what `ids` has for it.
///
/// The labels of a stream are the same few objects again and again, and what is the same object has
/// the same id: for most of them no dictionary is asked.
#[pyfunction]
pub fn class_ids<'py>(
    labels: &Bound<'py, PyList>,
    ids: &Bound<'py, PyDict>,
) -> PyResult<Bound<'py, PyBytes>> {
    // A dictionary that has no id may make one.
    let id_of = |label: &Bound<'py, PyAny>| match ids.get_item(label)? {
        Some(id) => id.extract(),
        None => ids.as_any().get_item(label)?.extract(),
    };
    let mut found: Vec<ClassId> = Vec::with_capacity(labels.len());
    // They are alive as long as these are: an address stands for one of them.
    let labels: Vec<_> = labels.iter().collect();
    let mut known = [(std::ptr::null_mut(), 0); REMEMBERED];
    for label in &labels {
        let address = label.as_ptr();
        let (of, id) = &mut known[address as usize / size_of::<u128>() % REMEMBERED];
        if *of != address {
            (*of, *id) = (address, id_of(label)?);
        }
        found.push(*id);
    }
    Ok(bytes_of(ids.py(), &found))
}

/// For each word, the sum of the squared weights of documents it shares with each other word, as
/// bytes; the documents are a sparse documents × words matrix of ascending word ids.
#[pyfunction]
pub fn cooccurrence_squares<'py>(
    py: Python<'py>,
    indptr: PyBuffer<i64>,
    word_ids: PyBuffer<i64>,
    weights: PyBuffer<f64>,
    n_words: usize,
    threads: usize,
) -> PyResult<Bound<'py, PyBytes>> {
    let (indptr, ids, weights) = (indptr.to_vec(py)?, word_ids.to_vec(py)?, weights.to_vec(py)?);
    let sums = watched(py, |watch| {
        cooccurrence::squares(&indptr, &ids, &weights, n_words, threads, watch)
    })?;
    Ok(bytes_of(py, &sums.map_err(|error| raise(py, error))?))
}

/// The conditional mutual information of words that met, at most `most` pairs: their first words and
/// their second, int64, and their bits, float64, as bytes; and the sum of bits over all pairs of
/// words, whether they met or not. The documents are a sparse documents × words matrix of ascending
/// word ids.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "arrays of a sparse matrix")]
pub fn pair_information<'py>(
    py: Python<'py>,
    indptr: PyBuffer<i64>,
    word_ids: PyBuffer<i64>,
    class_ids: PyBuffer<i64>,
    weights: PyBuffer<f64>,
    n_words: usize,
    n_classes: usize,
    most: usize,
    threads: usize,
) -> PyResult<Bound<'py, PyAny>> {
    let (indptr, ids, classes) = (indptr.to_vec(py)?, word_ids.to_vec(py)?, class_ids.to_vec(py)?);
    let weights = weights.to_vec(py)?;
    let found = watched(py, |watch| {
        let (indptr, ids, classes, weights) = (&*indptr, &*ids, &*classes, &*weights);
        let rows = DocumentRows { indptr, ids, classes, weights, n_classes };
        cooccurrence::information(&rows, n_words, most, threads, watch)
    })?;
    let found = found.map_err(|error| raise(py, error))?;
    let word_ids = |of: fn(&cooccurrence::Pair) -> u32| {
        found.strongest.iter().map(|pair| i64::from(of(pair))).collect::<Vec<_>>()
    };
    let bits: Vec<f64> = found.strongest.iter().map(|pair| pair.bits).collect();
    let arrays = (
        bytes_of(py, &word_ids(|pair| pair.first)),
        bytes_of(py, &word_ids(|pair| pair.second)),
        bytes_of(py, &bits),
        found.total,
    );
    Ok(arrays.into_pyobject(py)?.into_any())
}

/// For each word, the least depth at which the tree that documents grow is split on it, that of the
/// root being 1, and 0 where it is on none: int64, as bytes. The documents are a sparse documents ×
/// words matrix of ascending word ids; `word_order` has the words in the order of their bytes.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "arrays of a sparse matrix")]
pub fn split_depths<'py>(
    py: Python<'py>,
    indptr: PyBuffer<i64>,
    word_ids: PyBuffer<i64>,
    class_ids: PyBuffer<i64>,
    weights: PyBuffer<f64>,
    word_order: PyBuffer<i64>,
    n_words: usize,
    n_classes: usize,
    max_depth: usize,
    min_samples_leaf: f64,
) -> PyResult<Bound<'py, PyBytes>> {
    let (indptr, ids, classes) = (indptr.to_vec(py)?, word_ids.to_vec(py)?, class_ids.to_vec(py)?);
    let (weights, order) = (weights.to_vec(py)?, word_order.to_vec(py)?);
    let depths = py.detach(|| {
        let (indptr, ids, classes, weights) = (&*indptr, &*ids, &*classes, &*weights);
        let rows = DocumentRows { indptr, ids, classes, weights, n_classes };
        grow::depths(&rows, &order, Limits { max_depth, min_samples_leaf }, n_words)
    });
    Ok(bytes_of(py, &depths.map_err(|error| raise(py, error))?))
}
