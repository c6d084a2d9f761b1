//! Learning messages with several labels. Their scores are those of [`predicting`](super::predicting).

use super::batch::{Batch, read_weight};
use super::scoring::ScoringConfig;
use super::store::CountStore;
use super::{Numbers, watched, with_scratch};
use crate::counts::batch::MESSAGE;
use crate::counts::{ClassId, Message, Store};
use crate::error::Error;
use crate::scoring::{Scratch, messages};
use crate::watch::Watch;
use pyo3::prelude::*;

/// Sorted ids of labels, each once.
fn sorted(mut class_ids: Vec<ClassId>) -> Vec<ClassId> {
    class_ids.sort_unstable();
    class_ids.dedup();
    class_ids
}

#[pymethods]
impl CountStore {
    /// Correct the scores of labels by each message learned from now on. The store must have
    /// `label_sets`.
    fn correct_labels(&self, py: Python<'_>, scoring: &ScoringConfig) -> PyResult<()> {
        let online = scoring.scorer.online();
        Ok(self.write_long(py, |store| store.correct_labels(online))?)
    }

    /// Return the class ids of the labels whose log odds are above a threshold.
    fn labels_above(
        &self,
        x: &Bound<'_, PyAny>,
        scoring: &ScoringConfig,
        threshold: f64,
    ) -> PyResult<Vec<ClassId>> {
        self.with_scores(x, scoring, true, |store, odds| {
            let labels = (1..).zip(store.classes.iter().zip(odds).skip(1));
            let above = labels.filter(|(_, (class, odds))| class.exists() && **odds > threshold);
            above.map(|(label, _)| label).collect()
        })
    }

    /// Learn one message with the class ids of its labels, from 1 on. Class 0 has every message.
    fn learn_labels(
        &self,
        x: &Bound<'_, PyAny>,
        class_ids: Vec<ClassId>,
        weight: &Bound<'_, PyAny>,
        scoring: &ScoringConfig,
    ) -> PyResult<()> {
        let (weight, labels) = (read_weight(weight)?, sorted(class_ids));
        let (scorer, last) = (&scoring.scorer, &self.last_message);
        let ahead = |store: &Store, message: &Message<'_>, scratch: &mut Scratch| {
            scorer.score_message(store, message, scratch, &Watch::default(), last);
            false
        };
        self.with_message_write(x, ahead, |store, message, scratch, _| {
            messages::learn_labels(store, scorer, message, scratch, (&labels, weight), last)
        })
    }

    /// Learn the messages of a batch from `start` to before `stop`: message i has the class ids
    /// `class_ids[indptr[i]:indptr[i + 1]]`. If a signal handler raises, only the first messages are
    /// learned.
    fn learn_labels_many(
        &self,
        py: Python<'_>,
        batch: &Batch,
        indptr: Numbers<i64>,
        class_ids: Numbers<ClassId>,
        weight: &Bound<'_, PyAny>,
        scoring: &ScoringConfig,
    ) -> PyResult<()> {
        let weight = read_weight(weight)?;
        let batch = batch.with_tokenizer(&self.tokenizer.get().inner);
        let number = batch.messages.number();
        let ends = indptr
            .0
            .windows(2)
            .map(|ends| Some((ends[0].try_into().ok()?, ends[1].try_into().ok()?)));
        let sets = ends
            .map(|ends| ends.and_then(|(start, end): (usize, usize)| class_ids.0.get(start..end)));
        let sets: Option<Vec<_>> = sets.map(|ids| ids.map(|ids| sorted(ids.to_vec()))).collect();
        let sets = sets.filter(|sets| sets.len() == number).ok_or_else(|| {
            Error::Invalid(format!("{number} messages need as many sets of labels"))
        })?;
        watched(py, |watch| {
            self.write_detached(|store| {
                with_scratch(|scratch| {
                    for (place, labels) in sets.iter().enumerate() {
                        let (message, learned) = (batch.get(place), (&**labels, weight));
                        let last = &self.last_message;
                        messages::learn_labels(
                            store,
                            &scoring.scorer,
                            &message,
                            scratch,
                            learned,
                            last,
                        )?;
                        if watch.stops(MESSAGE + scratch.message.bag.words.len()) {
                            break;
                        }
                    }
                    Ok::<(), Error>(())
                })
            })
        })??;
        Ok(())
    }

    /// Unlearn one message with the class ids of its labels.
    fn unlearn_labels(
        &self,
        x: &Bound<'_, PyAny>,
        class_ids: Vec<ClassId>,
        weight: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let (weight, labels) = (read_weight(weight)?, sorted(class_ids));
        self.with_words_write(x, |store, bag| store.unlearn_labels(bag, &labels, weight))
    }
}
