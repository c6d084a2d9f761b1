//! Scores, decisions and explanations.

use crate::bindings::arrays::bytes_of;
use crate::bindings::batch::Batch;
use crate::bindings::messages::read_counts;
use crate::bindings::scoring::Scoring;
use crate::bindings::scratch::with_scratch;
use crate::bindings::store::CountStore;
use crate::bindings::waiting::watched;
use crate::counts::message::{Message, WordCounts};
use crate::counts::rows::ClassId;
use crate::counts::store::Store;
use crate::explain::Explanation;
use crate::scoring::scorer::Scratch;
use crate::scoring::{decision, messages, scorer};
use crate::watch::Watch;
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
        let (tokenizer, scoring) = (&self.tokenizer.get().inner, &scoring.inner);
        self.with_message_read(x, scoring, |store, message, scratch, watch| {
            scoring.score_message(store, tokenizer, message, scratch, watch, &self.last_message);
            finish(store, &mut scratch.scores)
        })
    }

    /// Does something with the one message `x` is: without the GIL, where this scoring may take
    /// long.
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

    /// Takes the scores of a message apart and makes something of that.
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

    /// Scores a batch on some threads and makes something of each message's scores, without the GIL.
    fn with_batch_scores<R: Send>(
        &self,
        py: Python<'_>,
        batch: &Batch,
        scoring: &Scoring,
        threads: usize,
        finish: impl Fn(&Store, &mut [f64], &mut Vec<R>) + Sync,
    ) -> PyResult<Vec<R>> {
        let (cut, scoring) = (batch.cut_by(&self.tokenizer.get().inner), &scoring.inner);
        batch.watched(py, |watch| {
            self.read_detached(|store| {
                let finish = |scores: &mut [f64], found: &mut Vec<R>| finish(store, scores, found);
                with_scratch(|scratch| {
                    let threads = threads.max(1);
                    scoring.score_many(store, &cut, threads, scratch, watch, finish)
                })
            })
        })
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
        let Some(first) = scorings.first() else { return Ok(Vec::new()) };
        self.with_message_read(x, &first.get().inner, |store, message, scratch, watch| {
            let scorings = scorings.iter().map(|scoring| &*scoring.get().inner);
            messages::decisions(scorings, store, tokenizer, message, scratch, watch)
        })
    }

    /// The label of each message of a batch: its class id, looked up in `labels`.
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

    /// The joint log-likelihoods of a batch, float64 `messages × class ids`, as bytes.
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

    /// The same so that the soft maximum gives probabilities, which for most models it does.
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

    /// Of each message its scores, its probable scores, and the probability of each class: float64
    /// `messages × 3 × class ids`.
    fn predictions_many<'py>(
        &self,
        py: Python<'py>,
        batch: &Batch,
        scoring: &Scoring,
        threads: usize,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let said = self.with_batch_scores(py, batch, scoring, threads, |store, scores, all| {
            all.extend_from_slice(scores);
            scoring.inner.probable(store, scores);
            all.extend_from_slice(scores);
            all.extend(decision::probabilities(store, scores));
        })?;
        Ok(bytes_of(py, &said))
    }

    /// The scores taken apart: baseline by class, and (word, contributions by class) pairs.
    fn explain(&self, x: &Bound<'_, PyDict>, scoring: &Scoring) -> PyResult<(Vec<f64>, Parts)> {
        let counts = read_counts(x.as_any())?;
        Ok(self.explained(x.py(), &counts, scoring, |store, explanation| {
            let baseline = explanation.baseline.clone();
            let words = explanation.named(store, &counts);
            (baseline, words.map(|(word, parts)| (name(word), parts)).collect())
        }))
    }

    /// What of the contributions of known words was learned besides the counts: such pairs, for most
    /// models none.
    fn corrections(&self, x: &Bound<'_, PyDict>, scoring: &Scoring) -> PyResult<Parts> {
        let counts = read_counts(x.as_any())?;
        Ok(self.explained(x.py(), &counts, scoring, |store, explanation| {
            let word = |id| name(store.vocabulary().word(id));
            explanation.corrections.into_iter().map(|(id, parts)| (word(id), parts)).collect()
        }))
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
        self.with_message_read(x, scoring, |store, message, scratch, watch| {
            let scoring = scoring.for_counts(store);
            scoring.look_up(store, tokenizer, message, scratch);
            scoring.packaged_losses(store, scratch, class_id, &thresholds, watch)
        })
    }
}
