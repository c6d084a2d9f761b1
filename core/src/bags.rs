//! Bags: for each attribute, those it depends on, with their conditional mutual information.
//!
//! Statistics: computed now and then from a copy of the counts and given to the store whole. In
//! texts each word is an attribute, under its own id.

use crate::attributes::AttributeId;
use crate::error::{Error, Result};

#[derive(Clone, Default)]
pub struct Bags {
    starts: Vec<usize>,
    members: Vec<(AttributeId, f64)>,
    /// Ids that have lost their meaning since.
    forgotten: Vec<bool>,
    /// Members with less information than this are left out.
    pub threshold: f64,
}

impl Bags {
    /// Bags from the parts of a matrix in compressed sparse rows, columns ascending in each.
    pub fn new(starts: &[i64], ids: &[i64], information: &[f64], threshold: f64) -> Result<Self> {
        let bad = || Error::Invalid("the bags are no sparse matrix".into());
        let starts: Vec<usize> = starts
            .iter()
            .map(|&s| usize::try_from(s))
            .collect::<std::result::Result<_, _>>()
            .map_err(|_| bad())?;
        let rising = starts.windows(2).all(|pair| pair[0] <= pair[1]);
        let whole = starts.first().is_none_or(|&first| first == 0)
            && starts.last().copied().unwrap_or(0) == ids.len()
            && ids.len() == information.len();
        if !rising || !whole {
            return Err(bad());
        }
        let mut members = Vec::with_capacity(ids.len());
        for (&id, &value) in ids.iter().zip(information) {
            members.push((AttributeId::try_from(id).map_err(|_| bad())?, value));
        }
        let forgotten = vec![false; starts.len().saturating_sub(1)];
        Ok(Bags { starts, members, forgotten, threshold })
    }

    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// The bag of an attribute, by id.
    #[inline]
    pub fn of(&self, id: AttributeId) -> &[(AttributeId, f64)] {
        let index = id as usize;
        if self.forgotten.get(index).is_none_or(|&forgotten| forgotten) {
            return &[];
        }
        &self.members[self.starts[index]..self.starts[index + 1]]
    }

    /// The information of two attributes, 0 where neither is in the other's bag.
    #[inline]
    pub fn information(&self, a: AttributeId, b: AttributeId) -> f64 {
        let bag = self.of(a);
        match bag.binary_search_by_key(&b, |&(id, _)| id) {
            Ok(place) if self.is_known(b) => bag[place].1,
            _ => 0.0,
        }
    }

    #[inline]
    pub fn is_known(&self, id: AttributeId) -> bool {
        self.forgotten.get(id as usize) == Some(&false)
    }

    /// The id will mean something else from now on.
    pub fn forget(&mut self, id: AttributeId) {
        if let Some(forgotten) = self.forgotten.get_mut(id as usize) {
            *forgotten = true;
        }
    }

    /// The same bags, where `place` gives each id's new place, out of `slots`.
    pub fn translated(&self, place: impl Fn(AttributeId) -> AttributeId, slots: usize) -> Self {
        let mut rows = vec![Vec::new(); slots];
        for id in (0..self.forgotten.len() as AttributeId).filter(|&id| self.is_known(id)) {
            let members = self.of(id).iter().filter(|&&(other, _)| self.is_known(other));
            let row = members.map(|&(other, information)| (place(other), information));
            if let Some(slot) = rows.get_mut(place(id) as usize) {
                *slot = row.collect();
            }
        }
        let mut bags = Bags { starts: vec![0], threshold: self.threshold, ..Bags::default() };
        for mut row in rows {
            row.sort_unstable_by_key(|&(id, _)| id);
            bags.members.append(&mut row);
            bags.starts.push(bags.members.len());
        }
        bags.forgotten = vec![false; slots];
        bags
    }

    /// Starts of the rows, and the members: what [`new`](Self::new) takes.
    pub fn rows(&self) -> impl Iterator<Item = &[(AttributeId, f64)]> {
        self.starts.windows(2).map(|ends| &self.members[ends[0]..ends[1]])
    }

    pub fn size(&self) -> usize {
        self.starts.capacity() * size_of::<usize>()
            + self.members.capacity() * size_of::<(AttributeId, f64)>()
            + self.forgotten.capacity()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looks_up_both_directions() {
        let mut bags =
            Bags::new(&[0, 2, 3, 4], &[1, 2, 0, 0], &[0.5, 0.25, 0.5, 0.25], 0.1).unwrap();
        assert_eq!((bags.information(0, 2), bags.information(2, 0)), (0.25, 0.25));
        assert_eq!((bags.information(1, 2), bags.information(9, 0)), (0.0, 0.0));
        let turned = bags.translated(|id| 2 - id, 3);
        assert_eq!((turned.information(2, 1), turned.information(0, 1)), (0.5, 0.0));
        bags.forget(0);
        assert!(bags.of(0).is_empty());
        assert_eq!(bags.information(2, 0), 0.0);
    }

    #[test]
    fn refuses_what_is_no_matrix() {
        for (starts, ids, values) in [
            (&[0, 2][..], &[1][..], &[0.5][..]),
            (&[0, 1, 0], &[1], &[0.5]),
            (&[0, 1], &[-1], &[0.5]),
            (&[-1, 1], &[1], &[0.5]),
            (&[0, 1], &[1], &[]),
        ] {
            assert!(Bags::new(starts, ids, values, 0.0).is_err());
        }
    }
}
