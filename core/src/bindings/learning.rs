//! Learning and unlearning, of messages and of whole stores.

use crate::bindings::batch::Batch;
use crate::bindings::errors::raise;
use crate::bindings::messages::read_weight;
use crate::bindings::scoring::Scoring;
use crate::bindings::scratch::with_scratch;
use crate::bindings::store::CountStore;
use crate::counts::batch::Labelled;
use crate::counts::rows::ClassId;
use crate::counts::store::Store;
use crate::scoring::messages;
use crate::scoring::scorer::Scratch;
use pyo3::buffer::PyBuffer;
use pyo3::prelude::*;
use std::collections::HashMap;

#[pymethods]
impl CountStore {
    /// Gives messages instance weights as they are learned from now on, by how probable their class
    /// is by this scoring. The store is one of messages with instance weights.
    fn weigh_instances(&self, py: Python<'_>, scoring: &Scoring) -> PyResult<()> {
        let inner = scoring.inner.clone();
        py.detach(|| self.write_detached(|store| store.weigh_instances(inner)))
            .map_err(|error| raise(py, error))
    }

    /// Corrects the scores of this scoring by each message that is learned from now on. The store is
    /// one with corrections of words.
    fn correct_online(&self, py: Python<'_>, scoring: &Scoring) -> PyResult<()> {
        let inner = scoring.inner.clone();
        py.detach(|| self.write_detached(|store| store.correct_online(inner)))
            .map_err(|error| raise(py, error))
    }

    /// Keeps what normalises the weights of complements by this scoring, from now on.
    fn normalise(&self, py: Python<'_>, scoring: &Scoring) {
        let model = scoring.inner.model.clone();
        py.detach(|| self.write_detached(|store| store.normalise(model)));
    }

    /// Learns one message.
    fn learn(
        &self,
        x: &Bound<'_, PyAny>,
        class_id: ClassId,
        weight: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        self.learn_as(x, weight, |_| Some(class_id)).map(|_| ())
    }

    /// Learns one message of a class that has documents, by its handle; returns whether it has.
    fn learn_known(
        &self,
        x: &Bound<'_, PyAny>,
        handle: u64,
        weight: &Bound<'_, PyAny>,
    ) -> PyResult<bool> {
        self.learn_as(x, weight, |store| store.known_class(handle))
    }

    /// Learns the messages of a batch from `start` to before `stop`, each with the class id that
    /// stands at its place, on up to so many threads. Where a signal's handler raises, the first of
    /// them are learned.
    #[expect(clippy::too_many_arguments, reason = "what Python gives")]
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
        // Where an empty array lies, no number may lie.
        let class_ids = if class_ids.is_empty()? {
            Vec::new()
        } else {
            PyBuffer::<ClassId>::get(class_ids)?.to_vec(py)?
        };
        let cut = batch.cut_by(&self.tokenizer.get().inner);
        let labelled = Labelled::new(cut, start..stop, &class_ids, weight)
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

    /// Says when the messages came that are learned next: seconds, NaN where that is not known. For
    /// a half-life in time.
    fn expect_times(&self, py: Python<'_>, times: Vec<f64>) {
        self.write(py, |store| store.expect_times(times));
    }

    /// Unlearns one message; returns whether its class still has documents.
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

    /// Adds all that another store learned; `class_ids` maps its classes to this store's.
    fn merge(&self, py: Python<'_>, other: &CountStore, class_ids: Vec<ClassId>) -> PyResult<()> {
        py.detach(|| {
            // A copy: two stores that merge each other must not wait for each other's lock.
            let other = other.read_detached(Store::clone);
            self.write_detached(|store| store.merge(&other, &class_ids))
        })
        .map_err(|error| raise(py, error))
    }

    /// Takes back all that another store learned.
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

    /// Forgets all but the `keep` words with the highest document frequency.
    fn prune(&self, py: Python<'_>, keep: usize) {
        py.detach(|| self.write_detached(|store| store.prune(keep)));
    }

    /// Says how many values attributes have, learned or not.
    fn declare(&self, py: Python<'_>, values: HashMap<String, u32>) {
        self.write(py, |store| {
            values.iter().for_each(|(name, &count)| store.declare(name.as_bytes(), count));
        });
    }

    /// Renames words, which never stand in the same document if they get the same name.
    fn rename(&self, py: Python<'_>, names: HashMap<String, String>) {
        let names = names.into_iter().map(|(old, new)| (old.into_bytes(), new.into_bytes()));
        let names = names.collect();
        py.detach(|| self.write_detached(|store| store.rename(&names)));
    }
}

impl CountStore {
    /// Learns one message of the class that the store has for it; returns whether it has one.
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
