//! Statistics of a count store: replace them, and export them as arrays.

use super::store::CountStore;
use super::{bytes_of, raise};
use crate::counts::attributes::{self, AttributeId};
use crate::counts::statistic::{Exported, Statistic};
use crate::counts::store::Store;
use crate::statistics::effective::{Effective, EffectiveArrays};
use crate::statistics::fitted_weights::FittedWeights;
use crate::statistics::grow::Sample;
use crate::statistics::packages::{Member, Packages};
use crate::statistics::parents::Parents;
use crate::statistics::split::{Hoeffding, Limits};
use crate::statistics::tree::Tree;
use crate::statistics::word_weights::{WeightArrays, WordWeights};
use pyo3::buffer::PyBuffer;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

impl CountStore {
    /// Replace a statistic that depends only on ids, unless the layout has changed. The old one is
    /// dropped after the lock is released.
    fn swap_in<T: Statistic>(&self, py: Python<'_>, statistic: T, layout: u64) -> bool {
        self.write(py, |store| store.swap_in(statistic, layout, store.version())).is_ok()
    }
}

type Array<'py> = Bound<'py, PyBytes>;
type WeightBytes<'py> = (Array<'py>, f64, Array<'py>, Array<'py>, Array<'py>, Array<'py>);

/// The growth of an online tree: δ, τ and the grace period.
fn growth(limits: Limits, online: Option<(f64, f64, f64)>) -> Option<Hoeffding> {
    online.map(|(delta, tau, grace_period)| Hoeffding { limits, delta, tau, grace_period })
}

#[pymethods]
impl CountStore {
    /// Set the weight of each word as a parent, float64 by id. Return False, without a change, if
    /// the layout differs from `layout`.
    fn set_parents(&self, py: Python<'_>, layout: u64, weights: PyBuffer<f64>) -> PyResult<bool> {
        let weights = weights.to_vec(py)?;
        Ok(self.swap_in(py, Parents::new(weights), layout))
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
        first: PyBuffer<i64>,
        second: PyBuffer<i64>,
        information: PyBuffer<f64>,
        threshold: f64,
    ) -> PyResult<bool> {
        let (first, second) = (first.to_vec(py)?, second.to_vec(py)?);
        let information = information.to_vec(py)?;
        let packages = py.detach(|| {
            let id = |id: i64| AttributeId::try_from(id).unwrap_or(attributes::NONE);
            let pairs = first.into_iter().zip(second).zip(information);
            let member =
                |((one, other), information)| Member { low: id(one), high: id(other), information };
            Packages::new(&pairs.map(member).collect::<Vec<_>>(), threshold)
        });
        let packages = packages.map_err(|error| raise(py, error))?;
        Ok(self.swap_in(py, packages, layout))
    }

    /// Ignore members of packages with less information than `threshold`.
    fn set_package_threshold(&self, py: Python<'_>, threshold: f64) {
        self.write(py, |store| store.set_package_threshold(threshold));
    }

    /// Return the current packages: (attribute, attribute, information), once for each pair.
    fn packages(&self, py: Python<'_>) -> Vec<(u32, u32, f64)> {
        let members = self.read(py, |store| store.packages().members(|id| id));
        members.into_iter().map(|member| (member.low, member.high, member.information)).collect()
    }

    /// Set the effective counts, smoothed with `alpha`: totals by class id, and the sparse words ×
    /// classes matrix. Return False, without a change, if the layout differs from `layout`.
    #[expect(clippy::too_many_arguments, reason = "arrays of a sparse matrix")]
    fn set_effective(
        &self,
        py: Python<'_>,
        layout: u64,
        alpha: f64,
        totals: PyBuffer<f64>,
        indptr: PyBuffer<i64>,
        class_ids: PyBuffer<i64>,
        counts: PyBuffer<f64>,
    ) -> PyResult<bool> {
        let arrays = EffectiveArrays {
            totals: totals.to_vec(py)?,
            indptr: indptr.to_vec(py)?,
            classes: class_ids.to_vec(py)?,
            counts: counts.to_vec(py)?,
        };
        let table =
            py.detach(|| Effective::new(&arrays, alpha)).map_err(|error| raise(py, error))?;
        Ok(self.swap_in(py, table, layout))
    }

    /// Return the current effective counts as arrays, in bytes: totals, indptr, class ids, counts.
    /// Words and classes are numbered as in a store restored from the snapshot.
    fn effective<'py>(&self, py: Python<'py>) -> (Array<'py>, Array<'py>, Array<'py>, Array<'py>) {
        let arrays = py
            .detach(|| self.read_detached(|store| store.effective().export(&store.saved_order())));
        (
            bytes_of(py, &arrays.totals),
            bytes_of(py, &arrays.indptr),
            bytes_of(py, &arrays.classes),
            bytes_of(py, &arrays.counts),
        )
    }

    /// Set the weights of words, float64 by id, and of unknown words. The other arrays are the counts
    /// that indexed documents add beyond their own weight: by class id, and as a sparse words ×
    /// classes matrix of tokens. Return False, without a change, if the layout differs from `layout`.
    #[expect(clippy::too_many_arguments, reason = "arrays of a sparse matrix")]
    fn set_weights(
        &self,
        py: Python<'_>,
        layout: u64,
        words: PyBuffer<f64>,
        oov: f64,
        documents: PyBuffer<f64>,
        indptr: PyBuffer<i64>,
        class_ids: PyBuffer<i64>,
        tokens: PyBuffer<f64>,
    ) -> PyResult<bool> {
        let arrays = WeightArrays {
            words: words.to_vec(py)?,
            unseen: oov,
            documents: documents.to_vec(py)?,
            indptr: indptr.to_vec(py)?,
            classes: class_ids.to_vec(py)?,
            tokens: tokens.to_vec(py)?,
        };
        // The read lock allows predictions while the totals are summed.
        py.detach(|| {
            let summed = self.read_detached(|store| {
                if store.layout() != layout {
                    return Ok(None);
                }
                Ok(Some((WordWeights::new(&arrays, store)?, store.version())))
            })?;
            Ok(summed.is_some_and(|(weights, version)| {
                self.write_detached(|store| store.swap_in(weights, layout, version)).is_ok()
            }))
        })
        .map_err(|error| raise(py, error))
    }

    /// Return the current weights as the arrays of `set_weights`, in bytes, or None without weights.
    /// Words and classes are numbered as in a store restored from the snapshot.
    fn weights<'py>(&self, py: Python<'py>) -> Option<WeightBytes<'py>> {
        let arrays = py.detach(|| self.read_detached(Store::export_statistic::<WordWeights>))?;
        Some((
            bytes_of(py, &arrays.words),
            arrays.unseen,
            bytes_of(py, &arrays.documents),
            bytes_of(py, &arrays.indptr),
            bytes_of(py, &arrays.classes),
            bytes_of(py, &arrays.tokens),
        ))
    }

    /// Set the fitted weights of words, float64 by id, and the factor of them and of the prior in the
    /// score. Return False, without a change, if the layout differs from `layout`.
    fn set_fitted_weights(
        &self,
        py: Python<'_>,
        layout: u64,
        words: PyBuffer<f64>,
        scale: f64,
    ) -> PyResult<bool> {
        let fitted = FittedWeights::new(words.to_vec(py)?, scale);
        Ok(self.swap_in(py, fitted.map_err(|error| raise(py, error))?, layout))
    }

    /// Return the current fitted weights and their factor, or None without them. Words are numbered
    /// as in a store restored from the snapshot.
    fn fitted_weights<'py>(&self, py: Python<'py>) -> Option<(Bound<'py, PyBytes>, f64)> {
        let (words, scale) =
            py.detach(|| self.read_detached(Store::export_statistic::<FittedWeights>))?;
        Some((bytes_of(py, &words), scale))
    }

    /// Create a tree from the arrays that `tree` returns. With `online` (δ, τ and the grace period)
    /// the tree grows while messages are learned.
    fn init_tree(
        &self,
        py: Python<'_>,
        array: PyBuffer<i64>,
        waited: PyBuffer<f64>,
        max_depth: usize,
        min_samples_leaf: f64,
        online: Option<(f64, f64, f64)>,
    ) -> PyResult<()> {
        let (array, waited) = (array.to_vec(py)?, waited.to_vec(py)?);
        let growth = growth(Limits { max_depth, min_samples_leaf }, online);
        py.detach(|| self.write_detached(|store| store.init_tree(&array, &waited, growth)));
        Ok(())
    }

    /// Grow a tree over the indexed documents without a lock, and replace the current tree. Return
    /// False, without a change, if the layout has changed since the start.
    fn grow_tree(
        &self,
        py: Python<'_>,
        max_depth: usize,
        min_samples_leaf: f64,
        online: Option<(f64, f64, f64)>,
    ) -> bool {
        let limits = Limits { max_depth, min_samples_leaf };
        py.detach(|| {
            let sample = self.read_detached(Sample::of);
            let tree = sample.grow(limits, growth(limits, online));
            let Sample { layout, version, .. } = sample;
            self.write_detached(|store| store.swap_in(tree, layout, version)).is_ok()
        })
    }

    /// Return the current tree as two arrays, in bytes, or None without a tree. The first has the word
    /// of each split, then the subtree of documents that contain it and the other subtree; a leaf is
    /// -1. The second has the weight of documents since each leaf was checked. Words are numbered as
    /// in a store restored from the snapshot.
    fn tree<'py>(&self, py: Python<'py>) -> Option<(Bound<'py, PyBytes>, Bound<'py, PyBytes>)> {
        let arrays = py.detach(|| self.read_detached(Store::export_statistic::<Tree>));
        arrays.map(|(array, waited)| (bytes_of(py, &array), bytes_of(py, &waited)))
    }
}
