//! Scores, decisions and explanations.

use super::batch::{Batch, read_counts};
use super::scoring::Scoring;
use super::store::CountStore;
use super::{bytes_of, watched, with_scratch};
use crate::counts::message::{Message, WordCounts};
use crate::counts::rows::ClassId;
use crate::counts::store::Store;
use crate::explain::Explanation;
use crate::scoring::scorer::Scratch;
use crate::scoring::{decision, messages, scorer};
use crate::watch::Watch;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};

impl CountStore {
    /// Score a message and call `finish` with the scores whose soft maximum is the probabilities.
    fn with_probable<R: Send>(
        &self,
        x: &Bound<'_, PyAny>,
        scoring: &Scoring,
        finish: impl Fn(&Store, &[f64]) -> R + Sync,
    ) -> PyResult<R> {
        self.with_scores(x, scoring, |store, scores| {
            scoring.inner.probable(store, scores);
            finish(store, scores)
        })
    }

    /// Score a message and call `finish` with the scores.
    fn with_scores<R: Send>(
        &self,
        x: &Bound<'_, PyAny>,
        scoring: &Scoring,
        finish: impl Fn(&Store, &mut [f64]) -> R + Sync,
    ) -> PyResult<R> {
        let (tokenizer, scoring) = (&self.tokenizer.get().inner, &scoring.inner);
        self.with_message_read(x, scoring, |store, message, scratch, watch| {
            scoring.score_message(store, tokenizer, message, scratch, watch, &self.last_message);
            finish(store, &mut scratch.scores)
        })
    }

    /// Call `work` with a message: without the GIL if this scoring may take long.
    fn with_message_read<R: Send>(
        &self,
        x: &Bound<'_, PyAny>,
        scoring: &scorer::Scorer,
        work: impl Fn(&Store, &Message<'_>, &mut Scratch, &Watch<'_>) -> R + Sync,
    ) -> PyResult<R> {
        let py = x.py();
        self.with_message(x, |message| {
            let with = |store: &Store, watch: &Watch<'_>| {
                with_scratch(|scratch| work(store, message, scratch, watch))
            };
            if !scoring.may_take_long(message.size()) {
                return Ok(self.read(py, |store| with(store, &Watch::default())));
            }
            watched(py, |watch| self.read_detached(|store| with(store, watch)))
        })?
    }

    /// Explain the scores of a message and call `finish` with the explanation.
    fn explained<R: Send>(
        &self,
        py: Python<'_>,
        counts: &WordCounts,
        scoring: &Scoring,
        finish: impl FnOnce(&Store, Explanation) -> R + Send,
    ) -> R {
        let (tokenizer, scoring) = (&self.tokenizer.get().inner, &scoring.inner);
        let explain = |store: &Store| {
            let explanation = with_scratch(|scratch| {
                scoring.explain_message(store, tokenizer, &Message::Counts(counts), scratch)
            });
            finish(store, explanation)
        };
        if scoring.may_take_long(counts.size()) {
            py.detach(|| self.read_detached(explain))
        } else {
            self.read(py, explain)
        }
    }

    /// Score a batch on several threads without the GIL, and call `finish` with the scores of each
    /// message.
    fn with_batch_scores<R: Send>(
        &self,
        py: Python<'_>,
        batch: &Batch,
        scoring: &Scoring,
        threads: usize,
        finish: impl Fn(&Store, &mut [f64], &mut Vec<R>) + Sync,
    ) -> PyResult<Vec<R>> {
        let (texts, scoring) = (batch.with_tokenizer(&self.tokenizer.get().inner), &scoring.inner);
        batch.watched(py, |watch| {
            self.read_detached(|store| {
                let finish = |scores: &mut [f64], found: &mut Vec<R>| finish(store, scores, found);
                with_scratch(|scratch| {
                    let threads = threads.max(1);
                    scoring.score_many(store, &texts, threads, scratch, watch, finish)
                })
            })
        })
    }
}

/// Words with their contributions by class.
type Parts = Vec<(String, Vec<f64>)>;

fn name(word: &[u8]) -> String {
    String::from_utf8_lossy(word).into_owned()
}

#[pymethods]
impl CountStore {
    /// Return the class with the highest score; None if the store is empty.
    fn predict(&self, x: &Bound<'_, PyAny>, scoring: &Scoring) -> PyResult<Option<ClassId>> {
        self.with_probable(x, scoring, decision::best)
    }

    /// Return the joint log-likelihood of each class, by class id.
    fn scores(&self, x: &Bound<'_, PyAny>, scoring: &Scoring) -> PyResult<Vec<f64>> {
        self.with_scores(x, scoring, |_, scores| scores.to_vec())
    }

    /// Return the scores whose soft maximum is the probabilities; for most models, the scores.
    fn probable_scores(&self, x: &Bound<'_, PyAny>, scoring: &Scoring) -> PyResult<Vec<f64>> {
        self.with_probable(x, scoring, |_, scores| scores.to_vec())
    }

    /// Return the probability of each class, by class id.
    fn probabilities(&self, x: &Bound<'_, PyAny>, scoring: &Scoring) -> PyResult<Vec<f64>> {
        self.with_probable(x, scoring, decision::probabilities)
    }

    /// Return the class with the highest score under each scoring.
    fn decisions(
        &self,
        x: &Bound<'_, PyAny>,
        scorings: Vec<Py<Scoring>>,
    ) -> PyResult<Vec<Option<ClassId>>> {
        let tokenizer = &self.tokenizer.get().inner;
        let Some(first) = scorings.first() else { return Ok(Vec::new()) };
        self.with_message_read(x, &first.get().inner, |store, message, scratch, watch| {
            let scorings = scorings.iter().map(|scoring| &*scoring.get().inner);
            messages::decisions(scorings, store, tokenizer, message, scratch, watch)
        })
    }

    /// Return the label of each message of a batch; `labels` has the label of each class id.
    fn predict_many<'py>(
        &self,
        batch: &Batch,
        scoring: &Scoring,
        labels: &Bound<'py, PyList>,
        threads: usize,
    ) -> PyResult<Bound<'py, PyList>> {
        let py = labels.py();
        let classes =
            self.with_batch_scores(py, batch, scoring, threads, |store, scores, found| {
                scoring.inner.probable(store, scores);
                found.push(decision::best(store, scores));
            })?;
        let objects: Vec<Bound<'py, PyAny>> = labels.iter().collect();
        let found = classes.into_iter().map(|class| class.and_then(|id| objects.get(id as usize)));
        PyList::new(labels.py(), found.collect::<Vec<_>>())
    }

    /// Return the joint log-likelihoods of a batch, float64 `messages × class ids`, as bytes.
    fn scores_many<'py>(
        &self,
        py: Python<'py>,
        batch: &Batch,
        scoring: &Scoring,
        threads: usize,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let push =
            |_: &Store, scores: &mut [f64], all: &mut Vec<f64>| all.extend_from_slice(scores);
        Ok(bytes_of(py, &self.with_batch_scores(py, batch, scoring, threads, push)?))
    }

    /// Return `probable_scores` of a batch, float64 `messages × class ids`, as bytes.
    fn probable_scores_many<'py>(
        &self,
        py: Python<'py>,
        batch: &Batch,
        scoring: &Scoring,
        threads: usize,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let scores =
            self.with_batch_scores(py, batch, scoring, threads, |store, scores, all| {
                scoring.inner.probable(store, scores);
                all.extend_from_slice(scores);
            })?;
        Ok(bytes_of(py, &scores))
    }

    /// Return the scores, the probable scores and the probabilities of each message, float64
    /// `messages × 3 × class ids`, as bytes.
    fn predictions_many<'py>(
        &self,
        py: Python<'py>,
        batch: &Batch,
        scoring: &Scoring,
        threads: usize,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let predictions =
            self.with_batch_scores(py, batch, scoring, threads, |store, scores, all| {
                all.extend_from_slice(scores);
                scoring.inner.probable(store, scores);
                all.extend_from_slice(scores);
                all.extend(decision::probabilities(store, scores));
            })?;
        Ok(bytes_of(py, &predictions))
    }

    /// Explain the scores: return the baseline by class, and (word, contributions by class) pairs.
    fn explain(&self, x: &Bound<'_, PyAny>, scoring: &Scoring) -> PyResult<(Vec<f64>, Parts)> {
        let counts = read_counts(x)?;
        Ok(self.explained(x.py(), &counts, scoring, |store, explanation| {
            let baseline = explanation.baseline.clone();
            let words = explanation.named(store, &counts);
            (baseline, words.map(|(word, parts)| (name(word), parts)).collect())
        }))
    }

    /// Return the part of the contributions of known words that was learned besides the counts, as
    /// (word, contributions by class) pairs; empty for most models.
    fn corrections(&self, x: &Bound<'_, PyAny>, scoring: &Scoring) -> PyResult<Parts> {
        let counts = read_counts(x)?;
        Ok(self.explained(x.py(), &counts, scoring, |store, explanation| {
            let word = |id| name(store.vocabulary().word(id));
            explanation.corrections.into_iter().map(|(id, parts)| (word(id), parts)).collect()
        }))
    }

    /// Return −ln P(class | message) at each of the ascending thresholds of the packages.
    fn packaged_losses(
        &self,
        x: &Bound<'_, PyAny>,
        scoring: &Scoring,
        class_id: ClassId,
        thresholds: Vec<f64>,
    ) -> PyResult<Vec<f64>> {
        let (tokenizer, scoring) = (&self.tokenizer.get().inner, &scoring.inner);
        self.with_message_read(x, scoring, |store, message, scratch, watch| {
            let scoring = scoring.for_counts(store);
            scoring.look_up(store, tokenizer, message, scratch);
            scoring.packaged_losses(store, scratch, class_id, &thresholds, watch)
        })
    }
}
