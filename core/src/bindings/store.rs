//! The count store: its lock, settings and state; learning and exports.
//!
//! A read-write lock protects a store, so threads predict while a refresh reads the counts. No
//! thread waits for the lock while it holds the GIL. Therefore long work may acquire the GIL while it
//! holds the lock (see [`watched`]).

use super::batch::{Batch, Item, read_weight, with_text};
use super::detached::detached;
use super::scoring::ScoringConfig;
use super::tokenizer::NativeTokenizer;
use super::{Array, Numbers, joined_bytes, watched, with_scratch};
use crate::counts::batch::Labelled;
use crate::counts::export::Counts;
use crate::counts::partial::{Copied, PartialCopy, Progress};
use crate::counts::term_weighting::TermWeighting;
use crate::counts::{AsMessage, Bag, ClassId, Message, Settings, Store};
use crate::error::Result;
use crate::scoring::last_message::LastMessage;
use crate::scoring::{Scratch, messages};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyMapping, PyString};
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError, RwLock, TryLockError};
use std::time::Duration;

/// Size in bytes of messages that may take a millisecond to learn: they are read before they are
/// learned, without the GIL.
const LONG: usize = 1 << 14;

type Floats = Array<f64>;
type Ints = Array<i64>;
pub type CountArrays = (u64, u64, Floats, Floats, Ints, Ints, Floats, Floats, Floats);

/// Time for waiting threads between two pieces of a copy.
const BREATH: Duration = Duration::from_micros(50);

/// A copy of a store that has begun: the store at that moment, whatever it learns meanwhile.
#[pyclass(frozen, module = "streamnb._core")]
pub struct StoreCopy(Mutex<Option<PartialCopy<Store>>>);

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
            Err(TryLockError::WouldBlock) => detached(py, || self.read_detached(work)),
        }
    }

    /// [`read`](Self::read) without the GIL, for long work.
    pub fn read_long<R: Send>(&self, py: Python<'_>, work: impl FnOnce(&Store) -> R + Send) -> R {
        detached(py, || self.read_detached(work))
    }

    pub fn read_detached<R>(&self, work: impl FnOnce(&Store) -> R) -> R {
        work(&self.store.read().unwrap_or_else(PoisonError::into_inner))
    }

    pub fn write<R: Send>(&self, py: Python<'_>, work: impl FnOnce(&mut Store) -> R + Send) -> R {
        match self.store.try_write() {
            Ok(mut store) => work(&mut store),
            Err(TryLockError::Poisoned(poisoned)) => work(&mut poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => detached(py, || self.write_detached(work)),
        }
    }

    /// [`write`](Self::write) without the GIL, for long work.
    pub fn write_long<R: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut Store) -> R + Send,
    ) -> R {
        detached(py, || self.write_detached(work))
    }

    pub fn write_detached<R>(&self, work: impl FnOnce(&mut Store) -> R) -> R {
        work(&mut self.store.write().unwrap_or_else(PoisonError::into_inner))
    }

    /// Complete a copy of this store, a piece at a time. None if it cannot be completed, because the
    /// store has replaced its arrays since: begin another one.
    pub fn completed<T: Copied>(&self, copy: &Mutex<Option<PartialCopy<T>>>) -> Option<T> {
        let mut copy = copy.lock().unwrap_or_else(PoisonError::into_inner).take()?;
        loop {
            match self.write_detached(|store| copy.advance(store)) {
                Progress::Unfinished => std::thread::sleep(BREATH),
                Progress::Finished => return Some(copy.into_copy()),
                Progress::Abandoned => return None,
            }
        }
    }

    /// Copy the store, a piece at a time if no other copy begins meanwhile.
    fn copied(&self, py: Python<'_>) -> Store {
        let copy = self.begin_copy(py);
        let copied = detached(py, || self.completed(&copy.0));
        copied.unwrap_or_else(|| self.read_long(py, Store::clone))
    }

    /// Call `work` with the message `x`.
    pub fn with_message<R>(
        &self,
        x: &Bound<'_, PyAny>,
        work: impl FnOnce(&Message<'_>) -> R,
    ) -> PyResult<R> {
        let tokenizer = &self.tokenizer.get().inner;
        match x.cast::<PyString>() {
            Ok(text) => with_text(text, tokenizer, work),
            Err(_) => Ok(work(&Item::read(x)?.as_message(tokenizer))),
        }
    }

    /// Change the store by the message `x`. A long message is first read by `ahead`, without the GIL
    /// and while others predict. `work` receives the result of `ahead`, or false if the store has
    /// changed since.
    pub fn with_message_write<R: Send>(
        &self,
        x: &Bound<'_, PyAny>,
        ahead: impl Fn(&Store, &Message<'_>, &mut Scratch) -> bool + Sync,
        work: impl Fn(&mut Store, &Message<'_>, &mut Scratch, bool) -> Result<R> + Sync,
    ) -> PyResult<R> {
        let py = x.py();
        let done = self.with_message(x, |message| {
            if message.size() < LONG {
                let change = |store: &mut Store| with_scratch(|s| work(store, message, s, false));
                return self.write(py, change);
            }
            let moment = |store: &Store| (store.version, store.layout);
            let change = |scratch: &mut Scratch| {
                let (is_read, before) =
                    self.read_detached(|store| (ahead(store, message, scratch), moment(store)));
                self.write_detached(|store| {
                    let is_valid = is_read && moment(store) == before;
                    work(store, message, scratch, is_valid)
                })
            };
            detached(py, || with_scratch(change))
        })?;
        Ok(done?)
    }

    /// Unlearn the message `x` by `work`, which receives its words.
    pub fn with_words_write<R: Send>(
        &self,
        x: &Bound<'_, PyAny>,
        work: impl Fn(&mut Store, &mut Bag) -> Result<R> + Sync,
    ) -> PyResult<R> {
        let look_up = |store: &Store, message: &Message<'_>, scratch: &mut Scratch| {
            message.look_up(store, &mut scratch.message, true);
            true
        };
        self.with_message_write(x, look_up, |store, message, scratch, is_looked_up| {
            if !is_looked_up {
                look_up(store, message, scratch);
            }
            work(store, &mut scratch.message.bag)
        })
    }

    /// Learn a message of the class that `class_of` returns; return whether there is a class.
    #[inline]
    fn learn_as(
        &self,
        x: &Bound<'_, PyAny>,
        weight: &Bound<'_, PyAny>,
        class_of: impl Fn(&Store) -> Option<ClassId> + Sync,
    ) -> PyResult<bool> {
        let weight = read_weight(weight)?;
        let last = &self.last_message;
        let ahead = |store: &Store, message: &Message<'_>, scratch: &mut Scratch| {
            messages::read_ahead(store, message, scratch, last)
        };
        self.with_message_write(x, ahead, |store, message, scratch, is_cut| {
            let Some(class_id) = class_of(store) else { return Ok(false) };
            let learned = (class_id, weight);
            messages::learn(store, message, &mut scratch.message, learned, last, is_cut)?;
            Ok(true)
        })
    }
}

#[pymethods]
impl CountStore {
    #[new]
    #[pyo3(signature = (
        tokenizer, *, max_features=usize::MAX, index_size=0, frequencies=false, columns=false,
        online_weights=false, label_sets=false, term_weighting="counts", half_life=None, timed=false,
        windowed=false
    ))]
    fn new(
        tokenizer: Py<NativeTokenizer>,
        max_features: usize,
        index_size: usize,
        frequencies: bool,
        columns: bool,
        online_weights: bool,
        label_sets: bool,
        term_weighting: &str,
        half_life: Option<f64>,
        timed: bool,
        windowed: bool,
    ) -> PyResult<Self> {
        let settings = Settings {
            max_features,
            index_size,
            frequencies,
            columns,
            online_weights: online_weights || label_sets,
            label_sets,
            term_weighting: TermWeighting::named(term_weighting)?,
            half_life,
            timed,
            windowed,
        };
        settings.check_forgetting()?;
        Ok(Self::of(Store::new(settings), tokenizer))
    }

    /// Restore a store from the bytes of `snapshot`.
    #[staticmethod]
    fn restore(tokenizer: Py<NativeTokenizer>, snapshot: &[u8]) -> PyResult<Self> {
        Ok(Self::of(Store::restore(snapshot)?, tokenizer))
    }

    /// The 16 bytes of the key of pruning; zeros without one.
    #[getter]
    fn pruning_key<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let key = self.read(py, Store::key);
        PyBytes::new(py, key.map(u64::to_le_bytes).as_flattened())
    }

    /// Set the key of pruning: immediately, or `later`, from half of `max_features` on, unless there
    /// is another key.
    fn set_pruning_key(&self, py: Python<'_>, key: [u8; 16], later: bool) {
        let (halves, _) = key.as_chunks::<8>();
        let key = [halves[0], halves[1]].map(u64::from_le_bytes);
        self.write_long(py, |store| if later { store.offer_key(key) } else { store.set_key(key) });
    }

    /// Numbers of words since the start of the process: pruned to stay within `max_features`, and
    /// not learned because their message had too many new words.
    #[getter]
    fn left_out(&self, py: Python<'_>) -> (u64, u64) {
        self.read(py, |store| (store.evicted, store.refused))
    }

    /// Set new ranks of some class ids: the order of the labels, which breaks ties and orders
    /// snapshots.
    fn set_ranks(&self, py: Python<'_>, ranks: Vec<(ClassId, i64)>) {
        self.write(py, |store| store.set_ranks(&ranks));
    }

    /// Return the state as canonical bytes, with the classes in the order of their ranks. Without
    /// `statistics` the bytes depend only on the learned messages.
    fn snapshot<'py>(&self, py: Python<'py>, statistics: bool) -> Bound<'py, PyBytes> {
        let bytes = self.read_long(py, |store| store.snapshot(statistics));
        PyBytes::new(py, &bytes)
    }

    /// Begin a copy of this moment. The store learns and predicts while the copy is completed; a copy
    /// that is not complete yet is abandoned.
    fn begin_copy(&self, py: Python<'_>) -> StoreCopy {
        let copy = self.write_long(py, PartialCopy::begin);
        StoreCopy(Mutex::new(Some(copy)))
    }

    /// Complete a copy that `begin_copy` of this store returned, and return its `snapshot`. None if
    /// the copy was abandoned: begin another one.
    fn copy_snapshot<'py>(
        &self,
        py: Python<'py>,
        copy: &StoreCopy,
        statistics: bool,
    ) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let bytes = detached(py, || Some(self.completed(&copy.0)?.snapshot(statistics)));
        let Some(bytes) = bytes else { return Ok(None) };
        let joined = joined_bytes(py, &[&bytes]);
        detached(py, || drop(bytes));
        joined.map(Some)
    }

    fn __deepcopy__(&self, py: Python<'_>, _memo: &Bound<'_, PyAny>) -> Self {
        Self::of(self.copied(py), self.tokenizer.clone_ref(py))
    }

    /// A number that changes whenever an id may be assigned to another word or class.
    #[getter]
    fn layout(&self, py: Python<'_>) -> u64 {
        self.read(py, |store| store.layout)
    }

    /// Return for each class whether it has documents.
    fn have_documents(&self, py: Python<'_>, class_ids: Vec<ClassId>) -> Vec<bool> {
        self.read(py, |store| {
            let class = |&id: &ClassId| store.classes.get(id as usize);
            class_ids.iter().map(|id| class(id).is_some_and(|class| class.exists())).collect()
        })
    }

    /// The total weight of all documents.
    #[getter]
    fn n_documents(&self, py: Python<'_>) -> f64 {
        self.read(py, |store| store.documents() / store.unit())
    }

    /// The weight of the documents of each class, by class id.
    #[getter]
    fn class_documents(&self, py: Python<'_>) -> Vec<f64> {
        self.read(py, |store| {
            store.classes.iter().map(|class| class.documents / store.unit()).collect()
        })
    }

    /// The weights of the indexed documents, oldest first.
    #[getter]
    fn indexed_weights(&self, py: Python<'_>) -> Vec<f64> {
        self.read(py, |store| store.index.documents().map(|document| document.weight).collect())
    }

    /// Return the classes that have lost all documents to the window since the last call.
    fn take_emptied(&self, py: Python<'_>) -> Vec<ClassId> {
        self.write(py, Store::take_emptied)
    }

    /// The half-life of a message or None, whether it is in seconds, and whether the store is
    /// windowed.
    #[getter]
    fn forgetting(&self, py: Python<'_>) -> (Option<f64>, bool, bool) {
        let Settings { half_life, timed, windowed, .. } = self.read(py, |store| store.settings);
        (half_life, timed, windowed)
    }

    /// Whether the settings equal those of another store.
    fn has_settings_of(&self, py: Python<'_>, other: &CountStore) -> bool {
        let settings = other.read(py, |store| store.settings);
        self.read(py, |store| store.settings == settings)
    }

    /// The number of words.
    #[getter]
    fn n_words(&self, py: Python<'_>) -> usize {
        self.read(py, |store| store.vocabulary.len())
    }

    /// The number of nonzero (word, class) cells.
    #[getter]
    fn n_cells(&self, py: Python<'_>) -> usize {
        self.read(py, |store| store.rows.n_cells())
    }

    /// The term weighting of documents.
    #[getter]
    fn term_weighting(&self, py: Python<'_>) -> &'static str {
        self.read(py, |store| store.settings.term_weighting.name())
    }

    fn __sizeof__(&self, py: Python<'_>) -> usize {
        let last_message = self.last_message.try_lock().map_or(0, |last| last.size());
        self.read(py, Store::size) + last_message + size_of::<Self>()
    }

    /// Correct the scores of this scoring by each message learned from now on. The store must have
    /// `online_weights`.
    fn correct_online(&self, py: Python<'_>, scoring: &ScoringConfig) -> PyResult<()> {
        let scorer = scoring.scorer.clone();
        Ok(self.write_long(py, |store| store.correct_online(scorer))?)
    }

    /// Maintain the norms of the complement weights of this scoring from now on.
    fn normalise(&self, py: Python<'_>, scoring: &ScoringConfig) {
        let model = scoring.scorer.model.clone();
        self.write_long(py, |store| store.normalise(model));
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
    fn learn_many(
        &self,
        py: Python<'_>,
        batch: &Batch,
        class_ids: Numbers<ClassId>,
        weight: &Bound<'_, PyAny>,
        start: usize,
        stop: usize,
        threads: usize,
    ) -> PyResult<()> {
        let weight = read_weight(weight)?;
        let batch_texts = batch.with_tokenizer(&self.tokenizer.get().inner);
        let labelled = Labelled::new(batch_texts, start..stop, &class_ids.0, weight)?;
        let learned = watched(py, |watch| {
            self.write_detached(|store| {
                with_scratch(|scratch| {
                    labelled.learn_on_threads(store, &mut scratch.message, threads, watch)
                })
            })
        })?;
        Ok(learned?)
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
        let weight = read_weight(weight)?;
        self.with_words_write(x, |store, bag| {
            store.unlearn(bag, class_id, weight)?;
            Ok(store.classes.get(class_id as usize).is_some_and(|class| class.exists()))
        })
    }

    /// Add the counts of another store; `class_ids` maps its classes to those of this store.
    fn merge(&self, py: Python<'_>, other: &CountStore, class_ids: Vec<ClassId>) -> PyResult<()> {
        // A copy prevents a deadlock of two stores that merge each other.
        let other = other.copied(py);
        Ok(self.write_long(py, |store| store.merge(&other, &class_ids))?)
    }

    /// Subtract the counts of another store.
    fn subtract(
        &self,
        py: Python<'_>,
        other: &CountStore,
        class_ids: Vec<ClassId>,
    ) -> PyResult<()> {
        let other = other.copied(py);
        Ok(self.write_long(py, |store| store.subtract(&other, &class_ids))?)
    }

    /// Remove all words except the `keep` words with the highest document frequency.
    fn prune(&self, py: Python<'_>, keep: usize) {
        self.write_long(py, |store| store.prune(keep));
    }

    /// Forget words as if no message had contained them; return how many were known.
    fn forget_words(&self, py: Python<'_>, words: Vec<String>) -> usize {
        let words = words.iter().map(String::as_bytes);
        self.write_long(py, |store| store.forget_named(words))
    }

    /// Set the number of values of attributes, including values not learned yet.
    #[pyo3(signature = (values: "Mapping[str, int]"))]
    fn declare(&self, values: &Bound<'_, PyMapping>) -> PyResult<()> {
        let py = values.py();
        let values: Vec<(String, u32)> = values.items()?.extract()?;
        self.write(py, |store| {
            values
                .iter()
                .for_each(|(name, count)| store.attributes.declare(name.as_bytes(), *count));
        });
        Ok(())
    }

    /// Rename words. Two words with the same new name must not occur in the same document.
    fn rename(&self, py: Python<'_>, names: HashMap<String, String>) {
        let names = names.into_iter().map(|(old, new)| (old.into_bytes(), new.into_bytes()));
        let names = names.collect();
        self.write_long(py, |store| store.rename(&names));
    }

    /// Return the counts as arrays, in bytes: (layout, version, documents and tokens by class id,
    /// and the sparse words × classes matrix: indptr, class ids, tokens, documents, lengths).
    fn counts(&self, py: Python<'_>) -> CountArrays {
        self.read_long(py, |store| count_arrays(store.layout, store.version, store.export()))
    }

    /// Return the word of each id; the word of a free id is empty.
    fn words(&self, py: Python<'_>) -> Vec<String> {
        self.read(py, |store| {
            let vocabulary = &store.vocabulary;
            let ids = 0..vocabulary.slots() as u32;
            ids.map(|id| String::from_utf8_lossy(vocabulary.word(id)).into_owned()).collect()
        })
    }
}

pub fn count_arrays(layout: u64, version: u64, counts: Counts) -> CountArrays {
    (
        layout,
        version,
        Array(counts.class_documents),
        Array(counts.class_tokens),
        Array(counts.indptr),
        Array(counts.classes),
        Array(counts.tokens),
        Array(counts.documents),
        Array(counts.lengths),
    )
}
