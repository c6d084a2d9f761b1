//! The statistics of a store: asked for, swapped in, saved.

use crate::counts::statistic::{Counted, Exported, SavedOrder, Stale, Statistic, Statistics};
use crate::counts::store::Store;

impl Store {
    /// The statistic of a kind, where it is in use.
    #[inline]
    pub fn statistic<T: Statistic>(&self) -> Option<&T> {
        self.statistics.get()
    }

    /// The statistic of a kind as arrays, where it is in use.
    pub fn export_statistic<T: Exported>(&self) -> Option<T::Arrays> {
        self.statistic::<T>().map(|statistic| statistic.export(&self.saved_order()))
    }

    /// Words and classes as a snapshot has them.
    pub fn saved_order(&self) -> SavedOrder {
        SavedOrder { words: self.vocabulary.sorted_ids(), classes: self.class_order() }
    }

    /// Puts a statistic, computed from the counts of this `layout` and `version`, in the place of
    /// the one in use, which is returned.
    ///
    /// Fails, and changes nothing, if ids have changed their meaning since.
    pub fn swap_in<T: Statistic>(
        &mut self,
        mut statistic: T,
        layout: u64,
        version: u64,
    ) -> std::result::Result<Option<Box<T>>, Stale> {
        if layout != self.layout {
            return Err(Stale);
        }
        if let Some(used) = self.statistic() {
            statistic.take_over(used);
        }
        if version != self.version {
            statistic.recount(&self.counted());
        }
        Ok(self.statistics.put(statistic))
    }

    /// The counts as statistics see them.
    pub fn counted(&self) -> Counted<'_> {
        let Store { vocabulary, classes, rows, index, .. } = self;
        Counted { vocabulary, classes, rows, index }
    }

    /// The statistics, and the counts as they see them.
    pub(crate) fn parts(&mut self) -> (&mut Statistics, Counted<'_>) {
        let Store { statistics, vocabulary, classes, rows, index, .. } = self;
        (statistics, Counted { vocabulary, classes, rows, index })
    }
}
