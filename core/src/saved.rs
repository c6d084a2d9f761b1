//! The bytes of a store with some of its statistics: the weight of each word as a parent, and packages
//! or online weights at the end. Other statistics are saved as arrays, or computed again.

use crate::counts::codec::{Reader, corrupt, put, put_count, ranks};
use crate::counts::{AttributeId, Store, WordId};
use crate::error::Result;
use crate::online::state::OnlineWeights;
use crate::statistics::{Member, Packages, Parents};

impl Store {
    /// Return the state as bytes. `statistics` is whether to include statistics that can be computed
    /// again from the counts. Online weights cannot, so they are always included.
    pub fn snapshot(&self, statistics: bool) -> Vec<u8> {
        let (parents, order) = (self.parents(), self.saved_order());
        let weight = |word| if statistics { parents.weight(word) } else { 0.0 };
        let mut bytes = self.snapshot_counts(&order, weight);
        if self.settings.online_weights {
            self.statistic().unwrap_or(&OnlineWeights::default()).put(&order, &mut bytes);
        } else if statistics && !self.packages().is_empty() {
            self.put_packages(&order.words, &mut bytes);
        }
        bytes
    }

    /// Return the store of the bytes of [`snapshot`](Self::snapshot). Its classes are numbered in the
    /// order of their ranks.
    pub fn restore(bytes: &[u8]) -> Result<Self> {
        let (mut store, weights, mut reader) = Store::restore_counts(bytes)?;
        if weights.iter().any(|&weight| weight > 0.0) {
            store.statistics.put(Parents(weights));
        }
        if store.settings.online_weights {
            let (words, classes) = (store.vocabulary.len(), store.classes.len());
            let weights = OnlineWeights::restore(&mut reader, words, classes)?;
            store.statistics.put(weights);
        } else if !reader.is_empty() {
            store.restore_packages(&mut reader)?;
        }
        if !reader.is_empty() {
            return Err(corrupt("excess bytes at the end"));
        }
        Ok(store)
    }

    /// Write the packages in use: attributes in the order of their names, words in the order of their
    /// bytes.
    fn put_packages(&self, words: &[WordId], bytes: &mut Vec<u8>) {
        let ranks = if self.settings.columns {
            ranks(&self.attributes.sorted_ids(), self.attributes.slots())
        } else {
            ranks(words, self.vocabulary.slots())
        };
        let rank = |id: AttributeId| ranks.get(id as usize).copied().unwrap_or(0);
        let members = self.packages().members(rank);
        put(bytes, members.len() as u64);
        for member in members {
            put(bytes, u64::from(member.low));
            put(bytes, u64::from(member.high));
            put_count(bytes, member.information);
        }
    }

    fn restore_packages(&mut self, reader: &mut Reader<'_>) -> Result<()> {
        // Restored words are numbered in the order of their bytes; attributes may not be.
        let order = self.attributes.sorted_ids();
        let columns = self.settings.columns;
        let slots = if columns { order.len() } else { self.vocabulary.len() };
        let id = |reader: &mut Reader<'_>| -> Result<AttributeId> {
            let rank = reader.id(slots, "a package has an unknown attribute")?;
            Ok(if columns { order[rank as usize] } else { rank })
        };
        let mut members = Vec::new();
        for _ in 0..reader.number()? {
            let (a, b) = (id(reader)?, id(reader)?);
            let information = reader.positive()?;
            members.push(Member { low: a.min(b), high: a.max(b), information });
        }
        let packages = Packages::new(&members).ok().filter(|packages| !packages.is_empty());
        self.statistics.put(packages.ok_or_else(|| corrupt("invalid packages"))?);
        Ok(())
    }
}
