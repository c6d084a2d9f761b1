//! Statistics of a count store: replace them, and export them as arrays.

use super::detached::detached;
use super::store::CountStore;
use super::{Array, Numbers};
use crate::counts::export::ClassRows;
use crate::counts::{AttributeId, Statistic, Store, attributes};
use crate::error::Error;
use crate::statistics::effective::{Effective, EffectiveArrays};
use crate::statistics::grow::Sample;
use crate::statistics::split::Limits;
use crate::statistics::word_weights::WeightArrays;
use crate::statistics::{Member, Packages, Parents, Tree, WordWeights};
use pyo3::prelude::*;

impl CountStore {
    /// Replace a statistic that depends only on ids, unless the layout has changed. The old one is
    /// dropped after the lock is released.
    fn swap_in<T: Statistic>(&self, py: Python<'_>, statistic: T, layout: u64) -> bool {
        self.write(py, |store| store.swap_in(statistic, layout, store.version)).is_ok()
    }
}

type WeightBytes = (Array<f64>, f64, f64, Array<f64>, Array<i64>, Array<i64>, Array<f64>);

#[pymethods]
impl CountStore {
    /// Set the weight of each word as a parent, float64 by id. Return False, without a change, if
    /// the layout differs from `layout`.
    fn set_parents(&self, py: Python<'_>, layout: u64, weights: Numbers<f64>) -> bool {
        self.swap_in(py, Parents(weights.0), layout)
    }

    /// Set the minimum document frequency of parents and of their children.
    fn set_min_df(&self, py: Python<'_>, min_df: u64) {
        self.write(py, |store| store.set_min_df(min_df));
    }

    /// Set the packages: pairs of attributes, first < second, with their information. Return False,
    /// without a change, if the layout differs from `layout`.
    fn set_packages(
        &self,
        py: Python<'_>,
        layout: u64,
        first: Numbers<i64>,
        second: Numbers<i64>,
        information: Numbers<f64>,
    ) -> PyResult<bool> {
        let packages = detached(py, || {
            let id = |id: i64| AttributeId::try_from(id).unwrap_or(attributes::NONE);
            let pairs = first.0.into_iter().zip(second.0).zip(information.0);
            let member =
                |((one, other), information)| Member { low: id(one), high: id(other), information };
            Packages::new(&pairs.map(member).collect::<Vec<_>>())
        })?;
        Ok(self.swap_in(py, packages, layout))
    }

    /// Return the current packages: (attribute, attribute, information), once for each pair.
    fn packages(&self, py: Python<'_>) -> Vec<(u32, u32, f64)> {
        let members = self.read(py, |store| store.packages().members(|id| id));
        members.into_iter().map(|member| (member.low, member.high, member.information)).collect()
    }

    /// Set the effective counts, smoothed with `alpha`: totals by class id, and the sparse words ×
    /// classes matrix. Return False, without a change, if the layout differs from `layout`.
    fn set_effective(
        &self,
        py: Python<'_>,
        layout: u64,
        alpha: f64,
        totals: Numbers<f64>,
        indptr: Numbers<i64>,
        class_ids: Numbers<i64>,
        counts: Numbers<f64>,
    ) -> PyResult<bool> {
        let arrays = EffectiveArrays {
            totals: totals.0,
            counts: ClassRows { indptr: indptr.0, classes: class_ids.0, values: counts.0 },
        };
        let table = detached(py, || Effective::new(&arrays, alpha))?;
        Ok(self.swap_in(py, table, layout))
    }

    /// Return the current effective counts as arrays, in bytes: totals, indptr, class ids, counts.
    /// Words and classes are numbered as in a store restored from the snapshot.
    fn effective(&self, py: Python<'_>) -> (Array<f64>, Array<i64>, Array<i64>, Array<f64>) {
        let EffectiveArrays { totals, counts: ClassRows { indptr, classes, values } } =
            self.read_long(py, |store| store.effective().export(&store.saved_order()));
        (Array(totals), Array(indptr), Array(classes), Array(values))
    }

    /// Set the weights of words, float64 by id, and of unknown words, and the factor of all
    /// weights and of the prior (1 unless the weights are exponents). The other arrays are the counts
    /// that indexed documents add beyond their own weight: by class id, and as a sparse words ×
    /// classes matrix of tokens. Return False, without a change, if the layout differs from `layout`.
    fn set_weights(
        &self,
        py: Python<'_>,
        layout: u64,
        words: Numbers<f64>,
        oov: f64,
        scale: f64,
        documents: Numbers<f64>,
        indptr: Numbers<i64>,
        class_ids: Numbers<i64>,
        tokens: Numbers<f64>,
    ) -> PyResult<bool> {
        let arrays = WeightArrays {
            words: words.0,
            unseen: oov,
            scale,
            documents: documents.0,
            tokens: ClassRows { indptr: indptr.0, classes: class_ids.0, values: tokens.0 },
        };
        // The read lock allows predictions while the totals are summed.
        let summed = self.read_long(py, |store| {
            let found = (store.layout == layout).then(|| WordWeights::new(&arrays, store));
            Ok::<_, Error>(found.transpose()?.map(|weights| (weights, store.version)))
        })?;
        Ok(summed.is_some_and(|(weights, version)| {
            self.write_long(py, |store| store.swap_in(weights, layout, version)).is_ok()
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

    /// Create a tree from the array that `tree` returns.
    fn init_tree(&self, py: Python<'_>, array: Numbers<i64>) {
        self.write_long(py, |store| store.init_tree(&array.0));
    }

    /// Grow a tree over the indexed documents without a lock, and replace the current tree. Return
    /// False, without a change, if the layout has changed since the start.
    fn grow_tree(&self, py: Python<'_>, max_depth: usize, min_samples_leaf: f64) -> bool {
        let limits = Limits { max_depth, min_samples_leaf };
        detached(py, || {
            let sample = self.read_detached(Sample::of);
            let tree = sample.grow(limits);
            let Sample { layout, version, .. } = sample;
            self.write_detached(|store| store.swap_in(tree, layout, version)).is_ok()
        })
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
