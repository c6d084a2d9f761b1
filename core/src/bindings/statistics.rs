//! Statistics of a count store: replace them, and export them as arrays.

use super::detached::detached;
use super::store::{CountArrays, CountStore, count_arrays};
use super::{Array, Numbers};
use crate::counts::attributes::NONE;
use crate::counts::export::ClassRows;
use crate::counts::index::Index;
use crate::counts::partial::PartialCopy;
use crate::counts::{self, ClassId, Statistic, Store};
use crate::error::Error;
use crate::statistics::effective::{Effective, EffectiveArrays};
use crate::statistics::split::{Hoeffding, Limits};
use crate::statistics::word_weights::WeightArrays;
use crate::statistics::{Member, Packages, Parents, Tree, WordWeights};
use pyo3::prelude::*;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::thread;

/// A copy of the counts and of the indexed documents, which statistics are computed from. Its arrays
/// number words by their bytes, classes by their labels and attributes by their names.
#[pyclass(frozen, module = "streamnb._core")]
pub struct Sample(Arc<counts::Sample>);

/// A copy for a refresh that has begun: the store at that moment, whatever it learns meanwhile.
#[pyclass(frozen, module = "streamnb._core")]
pub struct SampleCopy {
    begun: Mutex<Option<PartialCopy<counts::Sample>>>,
    /// The complete copy, which a child of a fork also has.
    complete: OnceLock<Arc<counts::Sample>>,
}

type DocumentArrays =
    (CountArrays, Array<i64>, Array<f64>, Array<i64>, Array<i64>, Array<f64>, Array<i64>);

#[pymethods]
impl Sample {
    /// Return the counts as `CountStore.counts` does.
    fn counts(&self, py: Python<'_>) -> CountArrays {
        detached(py, || count_arrays(self.0.layout, self.0.version, self.0.counts()))
    }

    /// Return the counts and the documents as arrays, in bytes: the result of `counts`; class and
    /// weight of each document, oldest first; the sparse documents × words matrix of counts: indptr,
    /// words, counts; and the attribute of each word.
    fn documents(&self, py: Python<'_>) -> DocumentArrays {
        detached(py, || {
            let documents = self.0.documents();
            (
                count_arrays(self.0.layout, self.0.version, self.0.counts()),
                Array(documents.classes),
                Array(documents.weights),
                Array(documents.indptr),
                Array(documents.words),
                Array(documents.counts),
                Array(documents.attributes),
            )
        })
    }

    /// The class id of each class.
    #[getter]
    fn class_ids(&self) -> Vec<ClassId> {
        self.0.order().classes.clone()
    }
}

impl CountStore {
    /// Replace a statistic of a copy, unless the layout has changed since. The old one is dropped after
    /// the lock is released. If a refresh has begun with the copy, the statistic waits for its end.
    fn swap_in<T: Statistic>(&self, py: Python<'_>, statistic: T, sample: &Sample) -> bool {
        let counts::Sample { layout, version, refresh, .. } = &*sample.0;
        if let Some(number) = *refresh {
            return self.write_long(py, |store| store.add_next(statistic, number));
        }
        self.write_long(py, |store| store.swap_in(statistic, *layout, *version)).is_ok()
    }
}

type WeightBytes = (Array<f64>, f64, f64, Array<f64>, Array<i64>, Array<i64>, Array<f64>);

#[pymethods]
impl CountStore {
    /// Copy the counts, and with `documents` the indexed documents.
    fn sample(&self, py: Python<'_>, documents: bool) -> Sample {
        Sample(self.read_long(py, |store| counts::Sample::of(store, documents, None)).into())
    }

    /// Begin a refresh, and a copy of this moment as by `sample`. The statistics of the copy wait until
    /// `end_refresh`, and follow the changes of the store since now. A refresh before it is dropped.
    fn begin_refresh(&self, py: Python<'_>, documents: bool) -> SampleCopy {
        static REFRESHES: AtomicU64 = AtomicU64::new(0);
        let number = REFRESHES.fetch_add(1, Ordering::Relaxed);
        let begun = self.write_long(py, |store| store.begin_refresh(documents, number));
        SampleCopy { begun: Mutex::new(Some(begun)), complete: OnceLock::new() }
    }

    /// Complete the copy of a refresh, a piece at a time, while the store learns and predicts. None if
    /// the refresh was dropped.
    fn complete_sample(&self, py: Python<'_>, copy: &SampleCopy) -> Option<Sample> {
        let complete = &copy.complete;
        detached(py, || {
            if complete.get().is_none() {
                let sample = Arc::new(self.completed(&copy.begun)?);
                return Some(complete.get_or_init(|| sample).clone());
            }
            complete.get().cloned()
        })
        .map(Sample)
    }

    /// Use the statistics of the refresh that has begun; without `used`, drop them.
    fn end_refresh(&self, py: Python<'_>, used: bool) {
        let old = self.write_long(py, |store| store.end_refresh(used));
        // Dropping a large statistic takes milliseconds. Without a thread it is dropped here.
        let _ = thread::Builder::new().spawn(move || drop(old));
    }

    /// Number of words, and with `documents` of the different words of each indexed document.
    fn refresh_work(&self, py: Python<'_>, documents: bool) -> usize {
        self.read(py, |store| {
            store.vocabulary.len() + if documents { store.index.entries() } else { 0 }
        })
    }

    /// Drop the periodic statistics of a store without messages.
    fn clear_statistics(&self, py: Python<'_>) {
        self.write_long(py, Store::clear_statistics);
    }

    /// Set the weight of each word of a copy as a parent, float64. Return False, without a change, if
    /// ids have changed their meaning since the copy.
    fn set_parents(&self, py: Python<'_>, sample: &Sample, weights: Numbers<f64>) -> bool {
        let parents = detached(py, || Parents::new(&weights.0, sample.0.order()));
        self.swap_in(py, parents, sample)
    }

    /// Set the minimum document frequency of parents and of their children.
    fn set_min_df(&self, py: Python<'_>, min_df: u64) {
        self.write(py, |store| store.set_min_df(min_df));
    }

    /// Set the packages: pairs of attributes of a copy, with their information. Return False, without
    /// a change, if ids have changed their meaning since the copy.
    fn set_packages(
        &self,
        py: Python<'_>,
        sample: &Sample,
        first: Numbers<i64>,
        second: Numbers<i64>,
        information: Numbers<f64>,
    ) -> PyResult<bool> {
        let packages = detached(py, || {
            let attributes = &sample.0.order().attributes;
            let id = |place: i64| {
                let found = usize::try_from(place).ok().and_then(|place| attributes.get(place));
                found.copied().unwrap_or(NONE)
            };
            let pairs = first.0.into_iter().zip(second.0).zip(information.0);
            let member = |((one, other), information)| {
                let (one, other) = (id(one), id(other));
                Member { low: one.min(other), high: one.max(other), information }
            };
            Packages::new(&pairs.map(member).collect::<Vec<_>>())
        })?;
        Ok(self.swap_in(py, packages, sample))
    }

    /// Return the current packages: (attribute, attribute, information), once for each pair.
    fn packages(&self, py: Python<'_>) -> Vec<(u32, u32, f64)> {
        let members = self.read(py, |store| store.packages().members(|id| id));
        members.into_iter().map(|member| (member.low, member.high, member.information)).collect()
    }

    /// Set the effective counts of a copy, smoothed with `alpha`: totals by class, and the sparse words
    /// × classes matrix. Return False, without a change, if ids have changed their meaning since the
    /// copy.
    fn set_effective(
        &self,
        py: Python<'_>,
        sample: &Sample,
        alpha: f64,
        totals: Numbers<f64>,
        indptr: Numbers<i64>,
        classes: Numbers<i64>,
        counts: Numbers<f64>,
    ) -> PyResult<bool> {
        let arrays = EffectiveArrays {
            totals: totals.0,
            counts: ClassRows { indptr: indptr.0, classes: classes.0, values: counts.0 },
        };
        let table = detached(py, || Effective::new(&arrays, alpha, sample.0.order()))?;
        Ok(self.swap_in(py, table, sample))
    }

    /// Return the current effective counts as arrays, in bytes: totals, indptr, class ids, counts.
    /// Words and classes are numbered as in a store restored from the snapshot.
    fn effective(&self, py: Python<'_>) -> (Array<f64>, Array<i64>, Array<i64>, Array<f64>) {
        let EffectiveArrays { totals, counts: ClassRows { indptr, classes, values } } =
            self.read_long(py, |store| store.effective().export(&store.saved_order()));
        (Array(totals), Array(indptr), Array(classes), Array(values))
    }

    /// Set the weights of the words of a copy, float64, and of unknown words, and the factor of all
    /// weights and of the prior (1 unless the weights are exponents). The other arrays are the counts
    /// that indexed documents add beyond their own weight: by class, and as a sparse words × classes
    /// matrix of tokens. Return False, without a change, if ids have changed their meaning since the
    /// copy.
    fn set_weights(
        &self,
        py: Python<'_>,
        sample: &Sample,
        words: Numbers<f64>,
        oov: f64,
        scale: f64,
        documents: Numbers<f64>,
        indptr: Numbers<i64>,
        classes: Numbers<i64>,
        tokens: Numbers<f64>,
    ) -> PyResult<bool> {
        let arrays = WeightArrays {
            words: words.0,
            unseen: oov,
            scale,
            documents: documents.0,
            tokens: ClassRows { indptr: indptr.0, classes: classes.0, values: tokens.0 },
        };
        if sample.0.refresh.is_some() {
            let index = Index::default();
            let counted = sample.0.counted(&index);
            let weights = detached(py, || WordWeights::new(&arrays, sample.0.order(), &counted))?;
            return Ok(self.swap_in(py, weights, sample));
        }
        // The read lock allows predictions while the totals are summed.
        let summed = self.read_long(py, |store| {
            let found = (store.layout == sample.0.layout)
                .then(|| WordWeights::new(&arrays, sample.0.order(), &store.counted()));
            Ok::<_, Error>(found.transpose()?.map(|weights| (weights, store.version)))
        })?;
        Ok(summed.is_some_and(|(weights, version)| {
            self.write_long(py, |store| store.swap_in(weights, sample.0.layout, version)).is_ok()
        }))
    }

    /// Return the current weights as the arrays of `set_weights`, in bytes, or None without weights.
    /// Words and classes are numbered as in a store restored from the snapshot.
    fn weights(&self, py: Python<'_>) -> Option<WeightBytes> {
        let arrays = self.read_long(py, |store| {
            Some(store.statistic::<WordWeights>()?.export(&store.saved_order()))
        })?;
        Some((
            Array(arrays.words),
            arrays.unseen,
            arrays.scale,
            Array(arrays.documents),
            Array(arrays.tokens.indptr),
            Array(arrays.tokens.classes),
            Array(arrays.tokens.values),
        ))
    }

    /// Use a tree of one leaf from now on, unless there is a tree.
    fn init_tree(&self, py: Python<'_>) {
        self.write_long(py, Store::init_tree);
    }

    /// Let the tree grow while messages are learned: split a leaf once its best word leads by Hoeffding's
    /// bound for δ, or the bound is below τ. Leaves are checked once in `grace_period` messages.
    fn grow_online(
        &self,
        py: Python<'_>,
        max_depth: usize,
        min_samples_leaf: f64,
        delta: f64,
        tau: f64,
        grace_period: f64,
    ) {
        let limits = Limits { max_depth, min_samples_leaf };
        let growth = Hoeffding { limits, delta, tau, grace_period };
        self.write(py, |store| store.grow_online(growth));
    }

    /// Grow a tree over the documents of a copy without a lock, and replace the current tree. Return
    /// False, without a change, if ids have changed their meaning since the copy.
    fn grow_tree(
        &self,
        py: Python<'_>,
        sample: &Sample,
        max_depth: usize,
        min_samples_leaf: f64,
    ) -> bool {
        let limits = Limits { max_depth, min_samples_leaf };
        let tree = detached(py, || Tree::grown(&sample.0, limits));
        self.swap_in(py, tree, sample)
    }

    /// Return the current tree as an array, in bytes, or None without a tree: the word of each split,
    /// then the subtree of documents that contain it and the other subtree; a leaf is -1. Words are
    /// numbered as in a store restored from the snapshot.
    fn tree(&self, py: Python<'_>) -> Option<Array<i64>> {
        let export =
            |store: &Store| Some(Array(store.statistic::<Tree>()?.export(&store.saved_order())));
        self.read_long(py, export)
    }
}
