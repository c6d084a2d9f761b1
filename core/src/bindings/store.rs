//! The count store: its lock, settings and state; learning and exports.
//!
//! A read-write lock protects a store, so threads predict while a refresh reads the counts. No
//! thread waits for the lock while it holds the GIL. Therefore long work may acquire the GIL while it
//! holds the lock (see [`watched`](super::watched)).

use super::batch::{Batch, read_counts, read_weight, with_text};
use super::scoring::Scoring;
use super::tokenizer::NativeTokenizer;
use super::{bytes_of, input_error, raise, with_scratch};
use crate::counts::batch::Labelled;
use crate::counts::export::Counts;
use crate::counts::message::Message;
use crate::counts::rows::ClassId;
use crate::counts::store::{Settings, Store};
use crate::counts::term_weighting::TermWeighting;
use crate::scoring::last_message::LastMessage;
use crate::scoring::messages;
use crate::scoring::scorer::Scratch;
use pyo3::buffer::PyBuffer;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyMapping, PyString};
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError, RwLock, TryLockError};

/// Size in bytes of messages that may take a millisecond to learn.
const LONG: usize = 1 << 14;

type Array<'py> = Bound<'py, PyBytes>;
type CountArrays<'py> =
    (u64, u64, Array<'py>, Array<'py>, Array<'py>, Array<'py>, Array<'py>, Array<'py>, Array<'py>);
type DocumentArrays<'py> = (
    CountArrays<'py>,
    Array<'py>,
    Array<'py>,
    Array<'py>,
    Array<'py>,
    Array<'py>,
    Array<'py>,
    Array<'py>,
    Array<'py>,
);

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

    /// [`write`](Self::write) for a message: without the GIL if it is long.
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

    /// Call `work` with the message `x`.
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

    /// Learn a message of the class that `class_of` returns; return whether there is a class.
    #[inline]
    fn learn_as(
        &self,
        x: &Bound<'_, PyAny>,
        weight: &Bound<'_, PyAny>,
        class_of: impl Fn(&Store) -> Option<ClassId> + Sync,
    ) -> PyResult<bool> {
        let py = x.py();
        let weight = read_weight(weight)?;
        let tokenizer = &self.tokenizer.get().inner;
        self.with_message(x, |message| {
            let last = &self.last_message;
            self.write_message(py, message, |store| {
                let Some(class_id) = class_of(store) else { return Ok(false) };
                with_scratch(|scratch| {
                    messages::learn(store, tokenizer, message, scratch, class_id, weight, last)?;
                    Ok(true)
                })
            })
        })?
        .map_err(|error| raise(py, error))
    }
}

#[pymethods]
impl CountStore {
    #[new]
    #[pyo3(signature = (
        tokenizer, *, max_features=usize::MAX, index_size=0, max_pairs=0, frequencies=false,
        columns=false, own_pairs=false, instance_weights=false, online_weights=false,
        term_weighting="counts", half_life=None, timed=false, windowed=false
    ))]
    #[expect(clippy::too_many_arguments, reason = "named arguments")]
    fn new(
        py: Python<'_>,
        tokenizer: Py<NativeTokenizer>,
        max_features: usize,
        index_size: usize,
        max_pairs: usize,
        frequencies: bool,
        columns: bool,
        own_pairs: bool,
        instance_weights: bool,
        online_weights: bool,
        term_weighting: &str,
        half_life: Option<f64>,
        timed: bool,
        windowed: bool,
    ) -> PyResult<Self> {
        let term_weighting = TermWeighting::named(term_weighting).ok_or_else(|| {
            let names = TermWeighting::names();
            input_error(py, format!("term_weighting must be {names}, not {term_weighting:?}"))
        })?;
        let settings = Settings {
            max_features,
            index_size,
            max_pairs,
            frequencies,
            columns,
            own_pairs,
            instance_weights,
            online_weights,
            term_weighting,
            half_life,
            timed,
            windowed,
        };
        settings.check_forgetting().map_err(|error| raise(py, error))?;
        Ok(Self::of(Store::new(settings), tokenizer))
    }

    /// Restore a store from the bytes of `snapshot`.
    #[staticmethod]
    fn restore(py: Python<'_>, tokenizer: Py<NativeTokenizer>, snapshot: &[u8]) -> PyResult<Self> {
        let store = Store::restore(snapshot).map_err(|error| raise(py, error))?;
        Ok(Self::of(store, tokenizer))
    }

    /// Set new ranks of some class ids: the order of the labels, which breaks ties and orders
    /// snapshots.
    fn set_ranks(&self, py: Python<'_>, ranks: Vec<(ClassId, i64)>) {
        self.write(py, |store| store.set_ranks(&ranks));
    }

    /// Return the state as canonical bytes, with the classes in the order of their ranks. Without
    /// `statistics` the bytes depend only on the learned messages.
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

    /// A number that changes whenever an id may be assigned to another word or class.
    #[getter]
    fn layout(&self, py: Python<'_>) -> u64 {
        self.read(py, Store::layout)
    }

    /// A number that increases with every change of the counts.
    #[getter]
    fn version(&self, py: Python<'_>) -> u64 {
        self.read(py, Store::version)
    }

    /// Return for each class whether it has documents.
    fn have_documents(&self, py: Python<'_>, class_ids: Vec<ClassId>) -> Vec<bool> {
        self.read(py, |store| {
            let class = |&id: &ClassId| store.classes().get(id as usize);
            class_ids.iter().map(|id| class(id).is_some_and(|class| class.exists())).collect()
        })
    }

    /// The total weight of all documents.
    #[getter]
    fn n_documents(&self, py: Python<'_>) -> f64 {
        self.read(py, |store| store.documents() / store.unit())
    }

    /// Return the classes that have lost all documents to the window since the last call.
    fn take_emptied(&self, py: Python<'_>) -> Vec<ClassId> {
        self.write(py, Store::take_emptied)
    }

    /// The half-life of a message or None, whether it is in seconds, and whether the store is
    /// windowed.
    #[getter]
    fn forgetting(&self, py: Python<'_>) -> (Option<f64>, bool, bool) {
        let Settings { half_life, timed, windowed, .. } = self.read(py, Store::settings);
        (half_life, timed, windowed)
    }

    /// The number of words.
    #[getter]
    fn n_words(&self, py: Python<'_>) -> usize {
        self.read(py, |store| store.vocabulary().len())
    }

    /// The number of nonzero (word, class) cells.
    #[getter]
    fn n_cells(&self, py: Python<'_>) -> usize {
        self.read(py, Store::cells)
    }

    /// The number of documents in the index.
    #[getter]
    fn n_indexed(&self, py: Python<'_>) -> usize {
        self.read(py, |store| store.index().len())
    }

    /// The term weighting of documents.
    #[getter]
    fn term_weighting(&self, py: Python<'_>) -> &'static str {
        self.read(py, |store| store.settings().term_weighting.name())
    }

    /// The number of (pair, class) cells in the pair table.
    #[getter]
    fn n_pairs(&self, py: Python<'_>) -> usize {
        self.read(py, |store| store.pairs().len())
    }

    fn __sizeof__(&self, py: Python<'_>) -> usize {
        let last_message = self.last_message.try_lock().map_or(0, |last| last.size());
        self.read(py, Store::size) + last_message + size_of::<Self>()
    }

    /// Compute instance weights of the messages learned from now on: from the probability of their
    /// class under this scoring. The store must have `instance_weights`.
    fn weigh_instances(&self, py: Python<'_>, scoring: &Scoring) -> PyResult<()> {
        let inner = scoring.inner.clone();
        py.detach(|| self.write_detached(|store| store.weigh_instances(inner)))
            .map_err(|error| raise(py, error))
    }

    /// Correct the scores of this scoring by each message learned from now on. The store must have
    /// `online_weights`.
    fn correct_online(&self, py: Python<'_>, scoring: &Scoring) -> PyResult<()> {
        let inner = scoring.inner.clone();
        py.detach(|| self.write_detached(|store| store.correct_online(inner)))
            .map_err(|error| raise(py, error))
    }

    /// Maintain the norms of the complement weights of this scoring from now on.
    fn normalise(&self, py: Python<'_>, scoring: &Scoring) {
        let model = scoring.inner.model.clone();
        py.detach(|| self.write_detached(|store| store.normalise(model)));
    }

    /// Learn one message.
    fn learn(
        &self,
        x: &Bound<'_, PyAny>,
        class_id: ClassId,
        weight: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        self.learn_as(x, weight, |_| Some(class_id)).map(|_| ())
    }

    /// Learn one message of a class by its handle; return whether the class has documents.
    fn learn_known(
        &self,
        x: &Bound<'_, PyAny>,
        handle: u64,
        weight: &Bound<'_, PyAny>,
    ) -> PyResult<bool> {
        self.learn_as(x, weight, |store| store.known_class(handle))
    }

    /// Learn the messages of a batch from `start` to before `stop`, each with the class id at its
    /// position, on up to `threads` threads. If a signal handler raises, only the first messages are
    /// learned.
    #[expect(clippy::too_many_arguments, reason = "named arguments")]
    fn learn_many(
        &self,
        py: Python<'_>,
        batch: &Batch,
        class_ids: &Bound<'_, PyAny>,
        weight: &Bound<'_, PyAny>,
        start: usize,
        stop: usize,
        threads: usize,
    ) -> PyResult<()> {
        let weight = read_weight(weight)?;
        // An empty array may be unaligned.
        let class_ids = if class_ids.is_empty()? {
            Vec::new()
        } else {
            PyBuffer::<ClassId>::get(class_ids)?.to_vec(py)?
        };
        let batch_texts = batch.with_tokenizer(&self.tokenizer.get().inner);
        let labelled = Labelled::new(batch_texts, start..stop, &class_ids, weight)
            .map_err(|error| raise(py, error))?;
        let learned = batch.watched(py, |watch| {
            self.write_detached(|store| {
                with_scratch(|Scratch { tokens, bag, .. }| {
                    labelled.learn_on_threads(store, tokens, bag, threads, watch)
                })
            })
        })?;
        learned.map_err(|error| raise(py, error))
    }

    /// Set the times of the messages that are learned next, for a half-life in time: seconds, NaN
    /// for unknown times.
    fn expect_times(&self, py: Python<'_>, times: Vec<f64>) {
        self.write(py, |store| store.expect_times(times));
    }

    /// Unlearn one message; return whether its class still has documents.
    fn unlearn(
        &self,
        x: &Bound<'_, PyAny>,
        class_id: ClassId,
        weight: &Bound<'_, PyAny>,
    ) -> PyResult<bool> {
        let py = x.py();
        let weight = read_weight(weight)?;
        let tokenizer = &self.tokenizer.get().inner;
        self.with_message(x, |message| {
            self.write_message(py, message, |store| {
                with_scratch(|Scratch { tokens, bag, .. }| {
                    message.unlearn(store, tokenizer, tokens, bag, class_id, weight)
                })
            })
        })?
        .map_err(|error| raise(py, error))
    }

    /// Add the counts of another store; `class_ids` maps its classes to those of this store.
    fn merge(&self, py: Python<'_>, other: &CountStore, class_ids: Vec<ClassId>) -> PyResult<()> {
        py.detach(|| {
            // A copy prevents a deadlock of two stores that merge each other.
            let other = other.read_detached(Store::clone);
            self.write_detached(|store| store.merge(&other, &class_ids))
        })
        .map_err(|error| raise(py, error))
    }

    /// Subtract the counts of another store.
    fn subtract(
        &self,
        py: Python<'_>,
        other: &CountStore,
        class_ids: Vec<ClassId>,
    ) -> PyResult<()> {
        py.detach(|| {
            let other = other.read_detached(Store::clone);
            self.write_detached(|store| store.subtract(&other, &class_ids))
        })
        .map_err(|error| raise(py, error))
    }

    /// Remove all words except the `keep` words with the highest document frequency.
    fn prune(&self, py: Python<'_>, keep: usize) {
        py.detach(|| self.write_detached(|store| store.prune(keep)));
    }

    /// Set the number of values of attributes, including values not learned yet.
    #[pyo3(signature = (values: "Mapping[str, int]"))]
    fn declare(&self, values: &Bound<'_, PyMapping>) -> PyResult<()> {
        let py = values.py();
        let values: Vec<(String, u32)> = values.items()?.extract()?;
        self.write(py, |store| {
            values.iter().for_each(|(name, count)| store.declare(name.as_bytes(), *count));
        });
        Ok(())
    }

    /// Rename words. Two words with the same new name must not occur in the same document.
    fn rename(&self, py: Python<'_>, names: HashMap<String, String>) {
        let names = names.into_iter().map(|(old, new)| (old.into_bytes(), new.into_bytes()));
        let names = names.collect();
        py.detach(|| self.write_detached(|store| store.rename(&names)));
    }

    /// Return the counts as arrays, in bytes: (layout, version, documents and tokens by class id,
    /// and the sparse words × classes matrix: indptr, class ids, tokens, documents, lengths).
    fn counts<'py>(&self, py: Python<'py>) -> CountArrays<'py> {
        let counts = py.detach(|| {
            self.read_detached(|store| (store.layout(), store.version(), store.export()))
        });
        counts_for_python(py, counts)
    }

    /// Return the word of each id; the word of a free id is empty.
    fn words(&self, py: Python<'_>) -> Vec<String> {
        self.read(py, |store| {
            let vocabulary = store.vocabulary();
            let ids = 0..vocabulary.slots() as u32;
            ids.map(|id| String::from_utf8_lossy(vocabulary.word(id)).into_owned()).collect()
        })
    }

    /// Return the counts and the indexed documents at the same moment, as arrays, in bytes: the
    /// result of `counts`; class ids and weights of the documents, oldest first; the sparse documents
    /// × words matrix of counts: indptr, word ids, counts; the ids of all words in the order of their
    /// bytes, empty unless `ordered`; the class ids in the order of their ranks; and the attribute id
    /// of each word, -1 for free word ids.
    fn documents<'py>(&self, py: Python<'py>, ordered: bool) -> DocumentArrays<'py> {
        let (counts, documents, words, classes) = py.detach(|| {
            self.read_detached(|store| {
                let counts = (store.layout(), store.version(), store.export());
                let words = if ordered { store.vocabulary().sorted_ids() } else { Vec::new() };
                (counts, store.export_documents(), words, store.class_order())
            })
        });
        let ids = |ids: Vec<u32>| ids.into_iter().map(i64::from).collect::<Vec<_>>();
        (
            counts_for_python(py, counts),
            bytes_of(py, &documents.classes),
            bytes_of(py, &documents.weights),
            bytes_of(py, &documents.indptr),
            bytes_of(py, &documents.words),
            bytes_of(py, &documents.counts),
            bytes_of(py, &ids(words)),
            bytes_of(py, &ids(classes)),
            bytes_of(py, &documents.attributes),
        )
    }
}

fn counts_for_python<'py>(
    py: Python<'py>,
    (layout, version, export): (u64, u64, Counts),
) -> CountArrays<'py> {
    (
        layout,
        version,
        bytes_of(py, &export.class_documents),
        bytes_of(py, &export.class_tokens),
        bytes_of(py, &export.indptr),
        bytes_of(py, &export.classes),
        bytes_of(py, &export.tokens),
        bytes_of(py, &export.documents),
        bytes_of(py, &export.lengths),
    )
}
