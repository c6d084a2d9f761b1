//! A copy of a store that is made piece by piece, while the store continues to learn.
//!
//! The copy is the store at one moment, the beginning. Everything small is copied then. The arrays that
//! grow with the words follow: see [`crate::counts::array`].

use crate::counts::Store;
use crate::counts::array::Piecewise;
use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes that are copied at once: some fifty microseconds.
const BYTES: usize = 1 << 17;

/// A copy that has begun.
pub struct PartialCopy {
    number: u64,
    /// The store without the elements of its arrays.
    store: Store,
    /// The first array that is not complete.
    place: usize,
}

/// The state of a copy after some pieces.
#[derive(Debug, PartialEq, Eq)]
pub enum Progress {
    Unfinished,
    Finished,
    /// The store has replaced an array, or another copy has begun: begin again.
    Abandoned,
}

impl PartialCopy {
    /// Begins a copy; a copy in progress is abandoned.
    pub fn begin(store: &mut Store) -> Self {
        static COPIES: AtomicU64 = AtomicU64::new(0);
        let number = COPIES.fetch_add(1, Ordering::Relaxed);
        store.arrays().into_iter().for_each(|array| array.begin(number));
        let copy = store.clone();
        store.arrays().into_iter().for_each(Piecewise::unpark);
        PartialCopy { number, store: copy, place: 0 }
    }

    /// Copies some more.
    pub fn advance(&mut self, store: &mut Store) -> Progress {
        let (mut arrays, mut ours) = (store.arrays(), self.store.arrays());
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
            array.finish(&mut **copy);
        }
        Progress::Finished
    }

    /// The store of a finished copy.
    pub fn into_store(self) -> Store {
        self.store
    }
}

impl Store {
    /// The arrays that grow with the words, in an order that depends only on the settings and the
    /// statistics in use.
    fn arrays(&mut self) -> Vec<&mut dyn Piecewise> {
        let statistics = self.statistics.iter_mut().flat_map(|statistic| statistic.arrays());
        self.vocabulary.arrays().chain(self.rows.arrays()).chain(statistics).collect()
    }
}
