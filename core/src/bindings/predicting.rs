//! Scores, decisions and explanations.

use crate::bindings::arrays::bytes_of;
use crate::bindings::batch::Batch;
use crate::bindings::errors::not_ready;
use crate::bindings::messages::read_counts;
use crate::bindings::scoring::Scoring;
use crate::bindings::scratch::with_scratch;
use crate::bindings::store::CountStore;
use crate::counts::message::{Message, WordCounts};
use crate::counts::rows::ClassId;
use crate::counts::store::Store;
use crate::explain::Explanation;
use crate::scoring::{decision, messages};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};

impl CountStore {
    /// Scores the one message `x` is, so that the soft maximum gives probabilities, and makes
    /// something of that.
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

    /// Scores the one message `x` is and makes something of the scores.
    fn with_scores<R: Send>(
        &self,
        x: &Bound<'_, PyAny>,
        scoring: &Scoring,
        finish: impl Fn(&Store, &mut [f64]) -> R + Sync,
    ) -> PyResult<R> {
        let tokenizer = &self.tokenizer.get().inner;
        self.with_message(x, |message| {
            self.read(x.py(), |store| {
                with_scratch(|scratch| {
                    scoring.inner.score_message(store, tokenizer, message, scratch)?;
                    Ok(finish(store, &mut scratch.scores))
                })
            })
        })
    }

    /// Takes the scores of a message apart and makes something of that.
    fn explained<R: Send>(
        &self,
        py: Python<'_>,
        counts: &WordCounts,
        scoring: &Scoring,
        finish: impl FnOnce(&Store, Explanation) -> R + Send,
    ) -> PyResult<R> {
        let tokenizer = &self.tokenizer.get().inner;
        let explained = self.read(py, |store| {
            let explanation = with_scratch(|scratch| {
                let message = Message::Counts(counts);
                scoring.inner.explain_message(store, tokenizer, &message, scratch)
            })?;
            Ok(finish(store, explanation))
        });
        explained.map_err(|error| not_ready(py, error))
    }

    /// Scores a batch and makes something of each message's scores, without the GIL.
    fn with_batch_scores<R: Send>(
        &self,
        py: Python<'_>,
        batch: &Batch,
        scoring: &Scoring,
        finish: impl Fn(&Store, &mut [f64], &mut Vec<R>) + Sync,
    ) -> PyResult<Vec<R>> {
        let (tokenizer, messages) = (&self.tokenizer.get().inner, &batch.messages);
        let results = py.detach(|| {
            self.read_detached(|store| {
                let mut results = Vec::with_capacity(messages.len());
                let finish = |scores: &mut [f64]| finish(store, scores, &mut results);
                with_scratch(|scratch| {
                    scoring.inner.score_each(store, tokenizer, messages, scratch, finish)
                })?;
                Ok(results)
            })
        });
        results.map_err(|error| not_ready(py, error))
    }
}

/// Words, each with its contributions by class.
type Parts = Vec<(String, Vec<f64>)>;

fn name(word: &[u8]) -> String {
    String::from_utf8_lossy(word).into_owned()
}

#[pymethods]
impl CountStore {
    /// The class with the highest score; None before anything was learned.
    fn predict(&self, x: &Bound<'_, PyAny>, scoring: &Scoring) -> PyResult<Option<ClassId>> {
        self.with_probable(x, scoring, decision::best)
    }

    /// The joint log-likelihood of each class, by class id.
    fn scores(&self, x: &Bound<'_, PyAny>, scoring: &Scoring) -> PyResult<Vec<f64>> {
        self.with_scores(x, scoring, |_, scores| scores.to_vec())
    }

    /// The same so that the soft maximum gives probabilities, which for most models it does.
    fn probable_scores(&self, x: &Bound<'_, PyAny>, scoring: &Scoring) -> PyResult<Vec<f64>> {
        self.with_probable(x, scoring, |_, scores| scores.to_vec())
    }

    /// The probability of each class, by class id.
    fn probabilities(&self, x: &Bound<'_, PyAny>, scoring: &Scoring) -> PyResult<Vec<f64>> {
        self.with_probable(x, scoring, decision::probabilities)
    }

    /// The class with the highest score in each of several ways to score.
    fn decisions(
        &self,
        x: &Bound<'_, PyAny>,
        scorings: Vec<Py<Scoring>>,
    ) -> PyResult<Vec<Option<ClassId>>> {
        let tokenizer = &self.tokenizer.get().inner;
        self.with_message(x, |message| {
            self.read(x.py(), |store| {
                let scorings = scorings.iter().map(|scoring| &*scoring.get().inner);
                with_scratch(|scratch| {
                    messages::decisions(scorings, store, tokenizer, message, scratch)
                })
            })
        })
    }

    /// The label of each message of a batch: its class id, looked up in `labels`.
    fn predict_many<'py>(
        &self,
        batch: &Batch,
        scoring: &Scoring,
        labels: &Bound<'py, PyList>,
    ) -> PyResult<Bound<'py, PyList>> {
        let classes =
            self.with_batch_scores(labels.py(), batch, scoring, |store, scores, found| {
                scoring.inner.probable(store, scores);
                found.push(decision::best(store, scores));
            })?;
        let objects: Vec<Bound<'py, PyAny>> = labels.iter().collect();
        let found = classes.into_iter().map(|class| class.and_then(|id| objects.get(id as usize)));
        PyList::new(labels.py(), found.collect::<Vec<_>>())
    }

    /// The joint log-likelihoods of a batch, float64 `messages × class ids`, as bytes.
    fn scores_many<'py>(
        &self,
        py: Python<'py>,
        batch: &Batch,
        scoring: &Scoring,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let push =
            |_: &Store, scores: &mut [f64], all: &mut Vec<f64>| all.extend_from_slice(scores);
        Ok(bytes_of(py, &self.with_batch_scores(py, batch, scoring, push)?))
    }

    /// The same so that the soft maximum gives probabilities, which for most models it does.
    fn probable_scores_many<'py>(
        &self,
        py: Python<'py>,
        batch: &Batch,
        scoring: &Scoring,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let scores = self.with_batch_scores(py, batch, scoring, |store, scores, all| {
            scoring.inner.probable(store, scores);
            all.extend_from_slice(scores);
        })?;
        Ok(bytes_of(py, &scores))
    }

    /// The scores taken apart: baseline by class, and (word, contributions by class) pairs.
    fn explain(&self, x: &Bound<'_, PyDict>, scoring: &Scoring) -> PyResult<(Vec<f64>, Parts)> {
        let counts = read_counts(x.as_any())?;
        self.explained(x.py(), &counts, scoring, |store, explanation| {
            let baseline = explanation.baseline.clone();
            let words = explanation.named(store, &counts);
            (baseline, words.map(|(word, parts)| (name(word), parts)).collect())
        })
    }

    /// What of the contributions of known words was learned besides the counts: such pairs, for most
    /// models none.
    fn corrections(&self, x: &Bound<'_, PyDict>, scoring: &Scoring) -> PyResult<Parts> {
        let counts = read_counts(x.as_any())?;
        self.explained(x.py(), &counts, scoring, |store, explanation| {
            let word = |id| name(store.vocabulary().word(id));
            explanation.corrections.into_iter().map(|(id, parts)| (word(id), parts)).collect()
        })
    }

    /// −ln P(class | message) at each of these ascending thresholds of the packages.
    fn packaged_losses(
        &self,
        x: &Bound<'_, PyAny>,
        scoring: &Scoring,
        class_id: ClassId,
        thresholds: Vec<f64>,
    ) -> PyResult<Vec<f64>> {
        let (tokenizer, scoring) = (&self.tokenizer.get().inner, &scoring.inner);
        self.with_message(x, |message| {
            self.read(x.py(), |store| {
                with_scratch(|scratch| {
                    scoring.look_up(store, tokenizer, message, scratch)?;
                    Ok(scoring.packaged_losses(store, scratch, class_id, &thresholds))
                })
            })
        })
    }
}
