//! The bytes of a store with its statistics. Statistics that follow from the counts alone are computed
//! again instead.

use crate::counts::codec::{Reader, corrupt, put, put_count, ranks};
use crate::counts::statistic::Statistics;
use crate::counts::{AttributeId, SavedOrder, Statistic, Store};
use crate::error::Result;
use crate::online::label_state::LabelWeights;
use crate::online::state::OnlineWeights;
use crate::statistics::effective::Effective;
use crate::statistics::{Member, Packages, Parents, Tree, WordWeights};

/// A periodic statistic, which depends on the counts at its last refresh.
trait Saved: Statistic + Sized {
    /// Append the statistic. Words, classes and attributes are numbered by their place in the order.
    fn put(&self, order: &SavedOrder, bytes: &mut Vec<u8>);

    /// Read the statistic of a store whose ids are in the order.
    fn restore(reader: &mut Reader<'_>, order: &SavedOrder, store: &Store) -> Result<Self>;
}

impl Store {
    /// Return the state as bytes. `statistics` is whether to include the periodic statistics. Online
    /// weights are always included.
    pub fn snapshot(&self, statistics: bool) -> Vec<u8> {
        let order = self.saved_order();
        let mut bytes = self.snapshot_counts(&order);
        if self.settings.label_sets {
            let decays = self.settings.half_life.is_some();
            let none = LabelWeights::default();
            self.statistic().unwrap_or(&none).put(&order, decays, &mut bytes);
            return bytes;
        }
        if self.settings.online_weights {
            let decays = self.settings.half_life.is_some();
            let none = OnlineWeights::default();
            self.statistic().unwrap_or(&none).put(&order, decays, &mut bytes);
            return bytes;
        }
        let used = Chosen { statistics: &self.statistics, next: false, wanted: statistics };
        used.put_all(&order, &mut bytes);
        // A refresh that has begun is complete here, and adds its statistics.
        let next = Chosen { next: true, ..used };
        if next.any() {
            next.put_all(&order, &mut bytes);
        }
        bytes
    }

    /// Return the store of the bytes of [`snapshot`](Self::snapshot). Its classes are numbered in the
    /// order of their ranks.
    pub fn restore(bytes: &[u8]) -> Result<Self> {
        let (mut store, mut reader) = Store::restore_counts(bytes)?;
        if store.settings.label_sets {
            let weights = LabelWeights::restore(&mut reader, &store)?;
            store.statistics.put(weights);
        } else if store.settings.online_weights {
            let (words, classes) = (store.vocabulary.len(), store.classes.len());
            let decays = store.settings.half_life.is_some();
            let weights = OnlineWeights::restore(&mut reader, words, classes, decays)?;
            store.statistics.put(weights);
        } else {
            let order = store.saved_order();
            store.restore_statistics(&mut reader, &order, false)?;
            if !reader.is_empty() {
                store.restore_statistics(&mut reader, &order, true)?;
            }
        }
        if !reader.is_empty() {
            return Err(corrupt("excess bytes at the end"));
        }
        Ok(store)
    }

    /// Drop the periodic statistics of a store without messages.
    pub fn clear_statistics(&mut self) {
        self.statistics.drop_next();
        let has_tree = self.statistic::<Tree>().is_some();
        self.statistics.remove::<Parents>();
        self.statistics.remove::<Packages>();
        self.statistics.remove::<Effective>();
        self.statistics.remove::<WordWeights>();
        if has_tree {
            self.use_tree(&[]);
        }
    }

    /// Read the statistics in use, or with `next` those that wait.
    fn restore_statistics(
        &mut self,
        reader: &mut Reader<'_>,
        order: &SavedOrder,
        next: bool,
    ) -> Result<()> {
        self.restore_statistic::<Parents>(reader, order, next)?;
        self.restore_statistic::<Packages>(reader, order, next)?;
        self.restore_statistic::<Effective>(reader, order, next)?;
        self.restore_statistic::<WordWeights>(reader, order, next)?;
        self.restore_statistic::<Tree>(reader, order, next)
    }

    fn restore_statistic<T: Saved>(
        &mut self,
        reader: &mut Reader<'_>,
        order: &SavedOrder,
        next: bool,
    ) -> Result<()> {
        if reader.flag()? {
            let statistic = T::restore(reader, order, self)?;
            if next {
                self.statistics.put_next(statistic);
            } else {
                self.statistics.put(statistic);
            }
        }
        Ok(())
    }
}

/// The statistics in use, or with `next` those that wait; none unless they are wanted.
#[derive(Clone, Copy)]
struct Chosen<'a> {
    statistics: &'a Statistics,
    next: bool,
    wanted: bool,
}

impl Chosen<'_> {
    fn get<T: Saved>(&self) -> Option<&T> {
        let Chosen { statistics, next, wanted } = *self;
        if next { statistics.next() } else { statistics.get() }.filter(|_| wanted)
    }

    fn any(&self) -> bool {
        self.get::<Parents>().is_some()
            || self.get::<Packages>().is_some()
            || self.get::<Effective>().is_some()
            || self.get::<WordWeights>().is_some()
            || self.get::<Tree>().is_some()
    }

    fn put_all(&self, order: &SavedOrder, bytes: &mut Vec<u8>) {
        self.put_statistic::<Parents>(order, bytes);
        self.put_statistic::<Packages>(order, bytes);
        self.put_statistic::<Effective>(order, bytes);
        self.put_statistic::<WordWeights>(order, bytes);
        self.put_statistic::<Tree>(order, bytes);
    }

    fn put_statistic<T: Saved>(&self, order: &SavedOrder, bytes: &mut Vec<u8>) {
        let statistic = self.get::<T>();
        put(bytes, u64::from(statistic.is_some()));
        if let Some(statistic) = statistic {
            statistic.put(order, bytes);
        }
    }
}

impl Saved for Parents {
    fn put(&self, order: &SavedOrder, bytes: &mut Vec<u8>) {
        order.words.iter().for_each(|&word| put_count(bytes, self.weight(word)));
    }

    fn restore(reader: &mut Reader<'_>, order: &SavedOrder, _: &Store) -> Result<Self> {
        let weights = order.words.iter().map(|_| reader.count()).collect::<Result<Vec<_>>>()?;
        Ok(Parents::new(&weights, order))
    }
}

impl Saved for Packages {
    fn put(&self, order: &SavedOrder, bytes: &mut Vec<u8>) {
        let slots = order.attributes.iter().max().map_or(0, |&id| id as usize + 1);
        let ranks = ranks(&order.attributes, slots);
        let rank = |id: AttributeId| ranks.get(id as usize).copied().unwrap_or(0);
        let members = self.members(rank);
        put(bytes, members.len() as u64);
        for member in members {
            put(bytes, u64::from(member.low));
            put(bytes, u64::from(member.high));
            put_count(bytes, member.information);
        }
        // The total of an attribute includes partners that were forgotten since.
        order.attributes.iter().for_each(|&id| put_count(bytes, self.strength(id)));
    }

    fn restore(reader: &mut Reader<'_>, order: &SavedOrder, _: &Store) -> Result<Self> {
        let id = |reader: &mut Reader<'_>| -> Result<AttributeId> {
            let place = reader.id(order.attributes.len(), "a package has an unknown attribute")?;
            Ok(order.attributes[place as usize])
        };
        let mut members = Vec::new();
        for _ in 0..reader.number()? {
            let (a, b) = (id(reader)?, id(reader)?);
            let information = reader.positive()?;
            members.push(Member { low: a.min(b), high: a.max(b), information });
        }
        let mut packages = Packages::new(&members).map_err(|_| corrupt("invalid packages"))?;
        for &attribute in &order.attributes {
            packages.set_strength(attribute, reader.count()?);
        }
        Ok(packages)
    }
}

impl Saved for Effective {
    fn put(&self, order: &SavedOrder, bytes: &mut Vec<u8>) {
        self.put(order, bytes);
    }

    fn restore(reader: &mut Reader<'_>, order: &SavedOrder, _: &Store) -> Result<Self> {
        let found = Effective::restore(reader, order);
        found.map_err(|_| corrupt("invalid effective counts"))
    }
}

impl Saved for WordWeights {
    fn put(&self, order: &SavedOrder, bytes: &mut Vec<u8>) {
        self.put(order, bytes);
    }

    fn restore(reader: &mut Reader<'_>, order: &SavedOrder, _: &Store) -> Result<Self> {
        WordWeights::restore(reader, order).map_err(|_| corrupt("invalid weights"))
    }
}

impl Saved for Tree {
    fn put(&self, order: &SavedOrder, bytes: &mut Vec<u8>) {
        let array = self.export(order);
        put(bytes, array.len() as u64);
        // A leaf is followed by its waiting weight.
        for item in array {
            put(bytes, (item + 1).max(0) as u64);
            if item < 0 {
                put(bytes, (-1 - item) as u64);
            }
        }
    }

    fn restore(reader: &mut Reader<'_>, order: &SavedOrder, store: &Store) -> Result<Self> {
        let mut array = Vec::new();
        for _ in 0..reader.number()? {
            let place = reader.id(order.words.len() + 1, "a tree has an unknown word")?;
            let leaf = |waited: u64| -> Result<i64> {
                let waited = i64::try_from(waited).ok().filter(|&waited| waited < i64::MAX);
                Ok(-1 - waited.ok_or_else(|| corrupt("a leaf waits for too long"))?)
            };
            array.push(match place.checked_sub(1) {
                Some(place) => order.words[place as usize].into(),
                None => leaf(reader.number()?)?,
            });
        }
        let mut tree = Tree::from_array(&array, store.settings.frequencies);
        tree.recount(&store.counted());
        Ok(tree)
    }
}
