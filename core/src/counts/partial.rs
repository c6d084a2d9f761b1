//! Copies that are made piece by piece, while the store continues to learn.
//!
//! A copy is the store, or a part of it, at one moment, the beginning. Everything small is copied then.
//! The arrays that grow with the words or the documents follow: see [`crate::counts::array`].

use crate::counts::array::{Piecewise, Purpose};
use crate::counts::store::Store;
use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes that are copied at once: some fifty microseconds.
const BYTES: usize = 1 << 17;

/// A copy that has begun: a whole store, or a sample.
pub struct PartialCopy<T> {
    number: u64,
    /// The copy without the elements of its arrays.
    copy: T,
    /// The first array that is not complete.
    place: usize,
}

/// What is copied piece by piece.
pub trait Copied {
    const PURPOSE: Purpose;

    /// The arrays of a store that are copied piece by piece.
    fn sources(store: &mut Store) -> Vec<&mut dyn Piecewise>;

    /// The arrays of the copy, in the order of `sources`.
    fn targets(&mut self) -> Vec<&mut dyn Piecewise>;
}

/// The state of a copy after some pieces.
#[derive(Debug, PartialEq, Eq)]
pub enum Progress {
    Unfinished,
    Finished,
    /// The store has replaced an array, or another copy has begun: begin again.
    Abandoned,
}

impl PartialCopy<Store> {
    /// Begins a copy of a store; one in progress is abandoned.
    pub fn begin(store: &mut Store) -> Self {
        Self::begin_of(store, Store::clone)
    }
}

impl<T: Copied> PartialCopy<T> {
    /// Begins a copy; `small` copies all except the arrays, which are empty meanwhile.
    pub(crate) fn begin_of(store: &mut Store, small: impl FnOnce(&Store) -> T) -> Self {
        static COPIES: AtomicU64 = AtomicU64::new(0);
        let number = COPIES.fetch_add(1, Ordering::Relaxed);
        T::sources(store).into_iter().for_each(|array| array.begin(number, T::PURPOSE));
        let copy = small(store);
        T::sources(store).into_iter().for_each(Piecewise::unpark);
        PartialCopy { number, copy, place: 0 }
    }

    /// Copies some more.
    pub fn advance(&mut self, store: &mut Store) -> Progress {
        let (mut arrays, mut ours) = (T::sources(store), self.copy.targets());
        if arrays.len() != ours.len() {
            return Progress::Abandoned;
        }
        while let Some(array) = arrays.get_mut(self.place) {
            match array.copy_some(self.number, BYTES) {
                None => return Progress::Abandoned,
                Some(0) => self.place += 1,
                Some(_) => return Progress::Unfinished,
            }
        }
        if !arrays.iter().all(|array| array.is_copied(self.number)) {
            return Progress::Abandoned;
        }
        for (array, copy) in arrays.into_iter().zip(&mut ours) {
            array.finish(self.number, &mut **copy);
        }
        Progress::Finished
    }

    /// The finished copy.
    pub fn into_copy(self) -> T {
        self.copy
    }
}

/// Its arrays are in an order that depends only on the settings and the statistics in use.
impl Copied for Store {
    const PURPOSE: Purpose = Purpose::Save;

    fn sources(store: &mut Store) -> Vec<&mut dyn Piecewise> {
        store.targets()
    }

    fn targets(&mut self) -> Vec<&mut dyn Piecewise> {
        let statistics = self.statistics.iter_mut().flat_map(|statistic| statistic.arrays());
        self.vocabulary.arrays().chain(self.rows.arrays()).chain(statistics).collect()
    }
}
