//! Scores, decisions and explanations.

use super::batch::{Batch, read_counts};
use super::scoring::ScoringConfig;
use super::store::CountStore;
use super::{Array, watched, with_scratch};
use crate::counts::{ClassId, Message, Store};
use crate::scoring::event_model::{best, probabilities};
use crate::scoring::{Scorer, Scratch, messages};
use crate::watch::Watch;
use pyo3::prelude::*;
use pyo3::types::PyList;

impl CountStore {
    /// Score a message and call `finish` with the scores; with `probable`, with those whose soft
    /// maximum is the probabilities.
    pub fn with_scores<R: Send>(
        &self,
        x: &Bound<'_, PyAny>,
        scoring: &ScoringConfig,
        probable: bool,
        finish: impl Fn(&Store, &[f64]) -> R + Sync,
    ) -> PyResult<R> {
        let scorer = &scoring.scorer;
        self.with_message_read(x, scorer, |store, message, scratch, watch| {
            scorer.score_message(store, message, scratch, watch, &self.last_message);
            if probable {
                scorer.probable(store, &mut scratch.scores);
            }
            finish(store, &scratch.scores)
        })
    }

    /// Call `work` with a message: without the GIL if this scorer may take long.
    fn with_message_read<R: Send>(
        &self,
        x: &Bound<'_, PyAny>,
        scorer: &Scorer,
        work: impl Fn(&Store, &Message<'_>, &mut Scratch, &Watch<'_>) -> R + Sync,
    ) -> PyResult<R> {
        let py = x.py();
        self.with_message(x, |message| {
            let with = |store: &Store, watch: &Watch<'_>| {
                with_scratch(|scratch| work(store, message, scratch, watch))
            };
            if !scorer.may_take_long(message.size()) {
                return Ok(self.read(py, |store| with(store, &Watch::default())));
            }
            watched(py, |watch| self.read_detached(|store| with(store, watch)))
        })?
    }

    /// Score a batch on several threads without the GIL, and call `finish` with the scores of each
    /// message.
    fn with_batch_scores<R: Send>(
        &self,
        py: Python<'_>,
        batch: &Batch,
        scoring: &ScoringConfig,
        threads: usize,
        finish: impl Fn(&Store, &mut [f64], &mut Vec<R>) + Sync,
    ) -> PyResult<Vec<R>> {
        let (texts, scorer) = (batch.with_tokenizer(&self.tokenizer.get().inner), &scoring.scorer);
        watched(py, |watch| {
            self.read_detached(|store| {
                let finish = |scores: &mut [f64], found: &mut Vec<R>| finish(store, scores, found);
                with_scratch(|scratch| {
                    scorer.score_many(store, &texts, threads.max(1), scratch, watch, finish)
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
    fn predict(&self, x: &Bound<'_, PyAny>, scoring: &ScoringConfig) -> PyResult<Option<ClassId>> {
        self.with_scores(x, scoring, true, best)
    }

    /// Return the joint log-likelihood of each class, by class id; with `probable`, the scores whose
    /// soft maximum is the probabilities, which are the same for most models.
    fn scores(
        &self,
        x: &Bound<'_, PyAny>,
        scoring: &ScoringConfig,
        probable: bool,
    ) -> PyResult<Vec<f64>> {
        self.with_scores(x, scoring, probable, |_, scores| scores.to_vec())
    }

    /// Return the probability of each class, by class id.
    fn probabilities(&self, x: &Bound<'_, PyAny>, scoring: &ScoringConfig) -> PyResult<Vec<f64>> {
        self.with_scores(x, scoring, true, probabilities)
    }

    /// Return the class with the highest score under each scoring.
    fn decisions(
        &self,
        x: &Bound<'_, PyAny>,
        scorings: Vec<Py<ScoringConfig>>,
    ) -> PyResult<Vec<Option<ClassId>>> {
        let Some(first) = scorings.first() else { return Ok(Vec::new()) };
        self.with_message_read(x, &first.get().scorer, |store, message, scratch, watch| {
            let scorers = scorings.iter().map(|scoring| &*scoring.get().scorer);
            messages::decisions(scorers, store, message, scratch, watch)
        })
    }

    /// Return the label of each message of a batch; `labels` has the label of each class id.
    fn predict_many<'py>(
        &self,
        batch: &Batch,
        scoring: &ScoringConfig,
        labels: &Bound<'py, PyList>,
        threads: usize,
    ) -> PyResult<Bound<'py, PyList>> {
        let py = labels.py();
        let classes =
            self.with_batch_scores(py, batch, scoring, threads, |store, scores, found| {
                scoring.scorer.probable(store, scores);
                found.push(best(store, scores));
            })?;
        let objects: Vec<Bound<'py, PyAny>> = labels.iter().collect();
        let found = classes.into_iter().map(|class| class.and_then(|id| objects.get(id as usize)));
        PyList::new(py, found.collect::<Vec<_>>())
    }

    /// Return `scores` of a batch, float64 `messages × class ids`, as bytes.
    fn scores_many(
        &self,
        py: Python<'_>,
        batch: &Batch,
        scoring: &ScoringConfig,
        threads: usize,
        probable: bool,
    ) -> PyResult<Array<f64>> {
        let scores = self.with_batch_scores(py, batch, scoring, threads, |store, scores, all| {
            if probable {
                scoring.scorer.probable(store, scores);
            }
            all.extend_from_slice(scores);
        });
        scores.map(Array)
    }

    /// Return the scores, the probable scores and the probabilities of each message, float64
    /// `messages × 3 × class ids`, as bytes.
    fn predictions_many(
        &self,
        py: Python<'_>,
        batch: &Batch,
        scoring: &ScoringConfig,
        threads: usize,
    ) -> PyResult<Array<f64>> {
        let scores = self.with_batch_scores(py, batch, scoring, threads, |store, scores, all| {
            all.extend_from_slice(scores);
            scoring.scorer.probable(store, scores);
            all.extend_from_slice(scores);
            all.extend(probabilities(store, scores));
        });
        scores.map(Array)
    }

    /// Return the number of distinct words of a message, the number of known ones, and the strength
    /// of their evidence for the class with the highest score.
    fn evidence(
        &self,
        x: &Bound<'_, PyAny>,
        scoring: &ScoringConfig,
    ) -> PyResult<(usize, usize, f64)> {
        let scorer = &scoring.scorer;
        self.with_message_read(x, scorer, |store, message, scratch, _| {
            let found = scorer.evidence(store, message, scratch);
            (found.words, found.known, found.strength)
        })
    }

    /// Explain the scores: return the baseline by class, and (word, contributions by class) pairs.
    /// The last pairs have the part of the contributions of known words that was learned besides the
    /// counts; most models have none.
    fn explain(
        &self,
        x: &Bound<'_, PyAny>,
        scoring: &ScoringConfig,
    ) -> PyResult<(Vec<f64>, Parts, Parts)> {
        let counts = read_counts(x)?;
        let scorer = &scoring.scorer;
        let explain = |store: &Store| {
            let message = Message::Counts(&counts);
            let mut explanation =
                with_scratch(|scratch| scorer.explain_message(store, &message, scratch));
            let baseline = std::mem::take(&mut explanation.baseline);
            let corrections = std::mem::take(&mut explanation.corrections);
            let of_id = |(id, parts)| (name(store.vocabulary.word(id)), parts);
            let words = explanation.named(store, &counts);
            let words = words.map(|(word, parts)| (name(word), parts)).collect();
            (baseline, words, corrections.into_iter().map(of_id).collect())
        };
        let is_long = scorer.may_take_long(counts.size());
        Ok(if is_long { self.read_long(x.py(), explain) } else { self.read(x.py(), explain) })
    }
}
