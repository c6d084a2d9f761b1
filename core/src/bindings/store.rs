//! The count store: its lock, its settings, its state.
//!
//! A store lies behind a read-write lock, so predictions from many threads run while a refresh
//! reads the counts. The GIL is never held while waiting for a lock. So work that takes long may
//! ask for the GIL with its lock held (`waiting.rs`); nothing else does.

use crate::bindings::errors::{input_error, raise};
use crate::bindings::messages::{read_counts, with_text};
use crate::bindings::options::read_options;
use crate::bindings::tokenizer::NativeTokenizer;
use crate::counts::message::Message;
use crate::counts::rows::ClassId;
use crate::counts::store::{Settings, Store};
use crate::counts::term_weighting::TermWeighting;
use crate::scoring::last_message::LastMessage;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::types::{PyBytes, PyDict, PyString};
use std::sync::{Mutex, PoisonError, RwLock, TryLockError};

/// Messages of so many bytes may take a millisecond to learn.
const LONG: usize = 1 << 14;

/// Counts learned from a stream of messages.
#[pyclass(frozen, module = "streamnb._core")]
pub struct CountStore {
    pub store: RwLock<Store>,
    pub tokenizer: Py<NativeTokenizer>,
    /// Locked only while the store is, and only by `try_lock`.
    pub last_message: Mutex<LastMessage>,
}

impl CountStore {
    fn of(store: Store, tokenizer: Py<NativeTokenizer>) -> Self {
        CountStore { store: RwLock::new(store), tokenizer, last_message: Mutex::default() }
    }

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

    /// As [`write`](Self::write), for a message: without the GIL if it is long.
    pub fn write_message<R: Send>(
        &self,
        py: Python<'_>,
        message: &Message<'_>,
        work: impl FnOnce(&mut Store) -> R + Send,
    ) -> R {
        if message.size() >= LONG {
            return py.detach(|| self.write_detached(work));
        }
        self.write(py, work)
    }

    pub fn write_detached<R>(&self, work: impl FnOnce(&mut Store) -> R) -> R {
        work(&mut self.store.write().unwrap_or_else(PoisonError::into_inner))
    }

    /// Calls `work` with the one message `x` is.
    pub fn with_message<R>(
        &self,
        x: &Bound<'_, PyAny>,
        work: impl FnOnce(&Message<'_>) -> R,
    ) -> PyResult<R> {
        match x.cast::<PyString>() {
            Ok(text) => with_text(text, work),
            Err(_) => Ok(work(&Message::Counts(&read_counts(x)?))),
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
                "max_features" => settings.max_features = value.extract()?,
                "index_size" => settings.index_size = value.extract()?,
                "max_pairs" => settings.max_pairs = value.extract()?,
                "frequencies" => settings.frequencies = value.extract()?,
                "columns" => settings.columns = value.extract()?,
                "own_pairs" => settings.own_pairs = value.extract()?,
                "instance_weights" => settings.instance_weights = value.extract()?,
                "online_weights" => settings.online_weights = value.extract()?,
                "half_life" => settings.half_life = value.extract()?,
                "timed" => settings.timed = value.extract()?,
                "windowed" => settings.windowed = value.extract()?,
                "term_weighting" => {
                    let term_weighting = value.extract::<PyBackedStr>()?;
                    settings.term_weighting =
                        TermWeighting::named(&term_weighting).ok_or_else(|| {
                            input_error(
                                py,
                                format!(
                                    "term_weighting must be {}, not {term_weighting:?}",
                                    TermWeighting::names()
                                ),
                            )
                        })?;
                }
                _ => return Ok(false),
            }
            Ok(true)
        })?;
        settings.check_forgetting().map_err(|error| raise(py, error))?;
        Ok(Self::of(Store::new(settings), tokenizer))
    }

    /// A store from the bytes of `snapshot`.
    #[staticmethod]
    fn restore(py: Python<'_>, tokenizer: Py<NativeTokenizer>, snapshot: &[u8]) -> PyResult<Self> {
        let store = Store::restore(snapshot).map_err(|error| raise(py, error))?;
        Ok(Self::of(store, tokenizer))
    }

    /// The order of the labels, as new ranks of some class ids: it breaks ties and orders
    /// snapshots.
    fn set_ranks(&self, py: Python<'_>, ranks: Vec<(ClassId, i64)>) {
        self.write(py, |store| store.set_ranks(&ranks));
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
        Self::of(store, self.tokenizer.clone_ref(py))
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

    /// Whether each of some classes has documents.
    fn have_documents(&self, py: Python<'_>, class_ids: Vec<ClassId>) -> Vec<bool> {
        self.read(py, |store| {
            let class = |&id: &ClassId| store.classes().get(id as usize);
            class_ids.iter().map(|id| class(id).is_some_and(|class| class.exists())).collect()
        })
    }

    /// Weight of all documents.
    #[getter]
    fn n_documents(&self, py: Python<'_>) -> f64 {
        self.read(py, |store| store.documents() / store.unit())
    }

    /// The classes that the window has left without documents since this was called.
    fn take_emptied(&self, py: Python<'_>) -> Vec<ClassId> {
        self.write(py, Store::take_emptied)
    }

    /// The half-life of a message, if it has one, whether it is in seconds, and whether the messages
    /// are those of a window.
    #[getter]
    fn forgetting(&self, py: Python<'_>) -> (Option<f64>, bool, bool) {
        let Settings { half_life, timed, windowed, .. } = self.read(py, Store::settings);
        (half_life, timed, windowed)
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

    /// The term_weighting of documents.
    #[getter]
    fn term_weighting(&self, py: Python<'_>) -> &'static str {
        self.read(py, |store| store.settings().term_weighting.name())
    }

    /// (pair, class) cells in the pair table.
    #[getter]
    fn n_pairs(&self, py: Python<'_>) -> usize {
        self.read(py, |store| store.pairs().len())
    }

    fn __sizeof__(&self, py: Python<'_>) -> usize {
        let last_message = self.last_message.try_lock().map_or(0, |last| last.size());
        self.read(py, Store::size) + last_message + size_of::<Self>()
    }
}
