//! The count store: its lock, its settings, its state.
//!
//! A store lies behind a read-write lock, so predictions from many threads run while a refresh
//! reads the counts. A lock is never held while waiting for the GIL, and the GIL is never held
//! while waiting for a lock.

use crate::bindings::errors::{input_error, not_ready, raise};
use crate::bindings::messages::read_counts;
use crate::bindings::options::read_options;
use crate::bindings::tokenizer::NativeTokenizer;
use crate::counts::form::Form;
use crate::counts::message::Message;
use crate::counts::store::{Settings, Store};
use crate::text::tokenizer::NotReady;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::types::{PyBytes, PyDict, PyString};
use std::sync::{PoisonError, RwLock, TryLockError};

/// Counts learned from a stream of messages.
#[pyclass(frozen, module = "streamnb._core")]
pub struct CountStore {
    pub store: RwLock<Store>,
    pub tokenizer: Py<NativeTokenizer>,
}

impl CountStore {
    pub fn read<R: Send>(&self, py: Python<'_>, work: impl FnOnce(&Store) -> R + Send) -> R {
        match self.store.try_read() {
            Ok(store) => work(&store),
            Err(TryLockError::Poisoned(poisoned)) => work(&poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => py.detach(|| self.read_detached(work)),
        }
    }

    pub fn read_detached<R>(&self, work: impl FnOnce(&Store) -> R) -> R {
        work(&self.store.read().unwrap_or_else(PoisonError::into_inner))
    }

    pub fn write<R: Send>(&self, py: Python<'_>, work: impl FnOnce(&mut Store) -> R + Send) -> R {
        match self.store.try_write() {
            Ok(mut store) => work(&mut store),
            Err(TryLockError::Poisoned(poisoned)) => work(&mut poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => py.detach(|| self.write_detached(work)),
        }
    }

    pub fn write_detached<R>(&self, work: impl FnOnce(&mut Store) -> R) -> R {
        work(&mut self.store.write().unwrap_or_else(PoisonError::into_inner))
    }

    /// Calls `work` with the one message `x` is.
    pub fn with_message<R>(
        &self,
        x: &Bound<'_, PyAny>,
        mut work: impl FnMut(&Message<'_>) -> Result<R, NotReady>,
    ) -> PyResult<R> {
        let py = x.py();
        match x.cast::<PyString>() {
            Ok(text) => self.tokenizer.get().with_text(py, text, work),
            Err(_) => {
                let counts = read_counts(x)?;
                work(&Message::Counts(&counts)).map_err(|error| not_ready(py, error))
            }
        }
    }
}

#[pymethods]
impl CountStore {
    #[new]
    #[pyo3(signature = (tokenizer, **options))]
    fn new(
        py: Python<'_>,
        tokenizer: Py<NativeTokenizer>,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let mut settings = Settings::COUNTS;
        read_options("CountStore()", options, |name, value| {
            match name {
                "max_words" => settings.max_words = value.extract()?,
                "max_documents" => settings.max_documents = value.extract()?,
                "max_pairs" => settings.max_pairs = value.extract()?,
                "frequencies" => settings.frequencies = value.extract()?,
                "columns" => settings.columns = value.extract()?,
                "own_pairs" => settings.own_pairs = value.extract()?,
                "instance_weights" => settings.instance_weights = value.extract()?,
                "online_weights" => settings.online_weights = value.extract()?,
                "form" => {
                    let form = value.extract::<PyBackedStr>()?;
                    settings.form = Form::named(&form).ok_or_else(|| {
                        input_error(py, format!("form must be {}, not {form:?}", Form::names()))
                    })?;
                }
                _ => return Ok(false),
            }
            Ok(true)
        })?;
        Ok(CountStore { store: RwLock::new(Store::new(settings)), tokenizer })
    }

    /// A store from the bytes of `snapshot`.
    #[staticmethod]
    fn restore(py: Python<'_>, tokenizer: Py<NativeTokenizer>, snapshot: &[u8]) -> PyResult<Self> {
        let store = Store::restore(snapshot).map_err(|error| raise(py, error))?;
        Ok(CountStore { store: RwLock::new(store), tokenizer })
    }

    /// The order of the labels, as one rank for each class id: it breaks ties and orders
    /// snapshots.
    fn set_ranks(&self, py: Python<'_>, ranks: Vec<u32>) {
        self.write(py, |store| store.ranks = ranks);
    }

    /// The state as canonical bytes; classes with documents, in the order of their ranks.
    /// Without `statistics` they are a function of what was learned and nothing else.
    fn snapshot<'py>(&self, py: Python<'py>, statistics: bool) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = py.detach(|| {
            self.read_detached(|store| store.snapshot(&store.class_order(), statistics))
        });
        Ok(PyBytes::new(py, &bytes.map_err(|error| raise(py, error))?))
    }

    fn __deepcopy__(&self, py: Python<'_>, _memo: &Bound<'_, PyAny>) -> Self {
        let store = py.detach(|| self.read_detached(Store::clone));
        CountStore { store: RwLock::new(store), tokenizer: self.tokenizer.clone_ref(py) }
    }

    /// Changes whenever an id may come to mean another word or class.
    #[getter]
    fn layout(&self, py: Python<'_>) -> u64 {
        self.read(py, Store::layout)
    }

    /// Grows with every change of the counts.
    #[getter]
    fn version(&self, py: Python<'_>) -> u64 {
        self.read(py, Store::version)
    }

    /// Weight of all documents.
    #[getter]
    fn n_documents(&self, py: Python<'_>) -> f64 {
        self.read(py, Store::documents)
    }

    /// Different words.
    #[getter]
    fn n_words(&self, py: Python<'_>) -> usize {
        self.read(py, |store| store.vocabulary().len())
    }

    /// Nonzero (word, class) cells.
    #[getter]
    fn n_cells(&self, py: Python<'_>) -> usize {
        self.read(py, Store::cells)
    }

    /// Documents in the index.
    #[getter]
    fn n_indexed(&self, py: Python<'_>) -> usize {
        self.read(py, |store| store.index().len())
    }

    /// The form of documents.
    #[getter]
    fn form(&self, py: Python<'_>) -> &'static str {
        self.read(py, |store| store.settings().form.name())
    }

    /// (pair, class) cells in the pair table.
    #[getter]
    fn n_pairs(&self, py: Python<'_>) -> usize {
        self.read(py, |store| store.pairs().len())
    }

    fn __sizeof__(&self, py: Python<'_>) -> usize {
        self.read(py, Store::size) + size_of::<Self>()
    }
}
