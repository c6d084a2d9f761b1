//! The Python module: one file for each class, and the arrays of a count store in its own files.

mod batch;
mod detached;
mod functions;
mod labels;
mod predicting;
mod scoring;
mod statistics;
mod store;
mod tokenizer;

use self::detached::{attached, detached, ends};
use crate::error::Error;
use crate::scoring::Scratch;
use crate::watch::Watch;
use pyo3::buffer::{Element, PyBuffer};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::cell::RefCell;
use wide::bytemuck::{AnyBitPattern, NoUninit, cast_slice, pod_read_unaligned};

/// The native core: tokenizer, count store and scores. Arrays are passed as bytes or buffers.
#[pymodule]
mod _core {
    #[pymodule_export]
    use super::batch::Batch;
    #[pymodule_export]
    use super::detached::{after_fork, before_fork, end_threads};
    #[pymodule_export]
    use super::functions::{
        class_ids, cooccurrence_squares, join, mail_texts, pair_information, read_html, read_mail,
        smallest_in_orders, split_depths, text_sketch, tokenize_and_hash, unicode_version,
        word_sample,
    };
    #[pymodule_export]
    use super::scoring::ScoringConfig;
    #[pymodule_export]
    use super::statistics::{Sample, SampleCopy};
    #[pymodule_export]
    use super::store::{CountStore, StoreCopy};
    #[pymodule_export]
    use super::tokenizer::NativeTokenizer;
}

impl From<Error> for PyErr {
    /// Convert an error of the core to an exception of `streamnb.errors`.
    fn from(error: Error) -> Self {
        let name = match error {
            Error::Invalid(_) => "InputError",
            Error::NotLearned(_) => "NotLearnedError",
            Error::Corrupt(_) => "ModelFileError",
        };
        Python::attach(|py| {
            let class = py.import("streamnb.errors").and_then(|errors| errors.getattr(name));
            match class.and_then(|class| class.call1((error.to_string(),))) {
                Ok(value) => PyErr::from_value(value),
                Err(error) => error,
            }
        })
    }
}

/// Return these bytes, one after the other. They are copied without the GIL, because that takes long for
/// large models.
fn joined_bytes<'py>(py: Python<'py>, parts: &[&[u8]]) -> PyResult<Bound<'py, PyBytes>> {
    let length: usize = parts.iter().map(|part| part.len()).sum();
    #[allow(unsafe_code)]
    // SAFETY: the pointer is a new object of this length, whose bytes nobody else sees yet, and all of
    // them are written. The object is owned until the end.
    unsafe {
        let new = pyo3::ffi::PyBytes_FromStringAndSize(std::ptr::null(), length as isize);
        let joined = Bound::from_owned_ptr_or_err(py, new)?.cast_into_unchecked::<PyBytes>();
        let start = pyo3::ffi::PyBytes_AsString(joined.as_ptr()) as usize;
        detached(py, || {
            let mut to = start as *mut u8;
            for part in parts {
                std::ptr::copy_nonoverlapping(part.as_ptr(), to, part.len());
                to = to.add(part.len());
            }
        });
        Ok(joined)
    }
}

/// An array for numpy, returned as bytes.
pub struct Array<T>(pub Vec<T>);

impl<'py, T: NoUninit> IntoPyObject<'py> for Array<T> {
    type Target = PyBytes;
    type Output = Bound<'py, PyBytes>;
    type Error = std::convert::Infallible;
    #[cfg(feature = "stub")]
    const OUTPUT_TYPE: pyo3::inspect::PyStaticExpr = <PyBytes as pyo3::PyTypeInfo>::TYPE_HINT;

    fn into_pyobject(self, py: Python<'py>) -> Result<Self::Output, Self::Error> {
        Ok(PyBytes::new(py, cast_slice(&self.0)))
    }
}

/// The numbers of a buffer, or of bytes that an [`Array`] returned. An empty one may be unaligned.
pub struct Numbers<T>(pub Vec<T>);

impl<T: Element + AnyBitPattern> FromPyObject<'_, '_> for Numbers<T> {
    type Error = PyErr;
    #[cfg(feature = "stub")]
    const INPUT_TYPE: pyo3::inspect::PyStaticExpr = PyBuffer::<T>::INPUT_TYPE;

    fn extract(object: Borrowed<'_, '_, PyAny>) -> PyResult<Self> {
        if let Ok(bytes) = object.cast::<PyBytes>() {
            let numbers = bytes.as_bytes().chunks_exact(size_of::<T>());
            if !numbers.remainder().is_empty() {
                return Err(Error::Invalid("an array ends within a number".into()).into());
            }
            return Ok(Numbers(numbers.map(pod_read_unaligned).collect()));
        }
        match PyBuffer::get(&object) {
            Ok(buffer) => buffer.to_vec(object.py()).map(Numbers),
            Err(_) if object.is_empty().unwrap_or(false) => Ok(Numbers(Vec::new())),
            Err(error) => Err(error),
        }
    }
}

/// Call `work` with the buffers of this thread, or with new ones if a signal handler interrupted a
/// call that uses them.
fn with_scratch<R>(work: impl FnOnce(&mut Scratch) -> R) -> R {
    thread_local! {
        static SCRATCH: RefCell<Scratch> = RefCell::default();
    }
    SCRATCH.with(|scratch| match scratch.try_borrow_mut() {
        Ok(mut scratch) => work(&mut scratch),
        Err(_) => work(&mut Scratch::default()),
    })
}

/// Do long work without the GIL; raise the exception of a signal handler.
///
/// Python calls signal handlers only on its main thread, between two of its own steps. So the work
/// periodically acquires the GIL and lets Python check for signals. An exception of a handler, such
/// as `KeyboardInterrupt`, stops the work. The store stays locked meanwhile: a handler may raise or
/// predict, but it must not learn with the same model.
fn watched<R: Send>(py: Python<'_>, work: impl FnOnce(&Watch<'_>) -> R + Send) -> PyResult<R> {
    if ends() {
        return Ok(work(&Watch::default()));
    }
    detached(py, || {
        let raised = RefCell::new(None);
        let goes_on = || match attached(|py| py.check_signals()) {
            Some(Ok(())) => true,
            Some(Err(error)) => {
                raised.replace(Some(error));
                false
            }
            None => false,
        };
        let found = work(&Watch::asking(&goes_on));
        raised.into_inner().map_or(Ok(found), Err)
    })
}
