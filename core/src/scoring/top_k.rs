//! The parents of a message: its `max_parents` strongest words.

use crate::counts::{Bag, Store};
use crate::scoring::EventModel;

impl EventModel {
    /// Return the positions of the parents in the bag, ascending: the words with a weight.
    pub(crate) fn parents_of(&self, store: &Store, bag: &Bag) -> Vec<usize> {
        let weights = store.parent_weights();
        let weight = |position: usize| weights(bag.words[position].0);
        let mut parents = (0..bag.words.len()).filter(|&position| weight(position) > 0.0).collect();
        self.keep_top_k(store, bag, &mut parents, weight);
        parents
    }

    /// Keep the `max_parents` positions of greatest strength. Ties are broken by the bytes of the
    /// words, so that ids and the order of the message have no effect. Strengths are compared as
    /// `f32`, since their last digits depend on the order of classes.
    pub(crate) fn keep_top_k(
        &self,
        store: &Store,
        bag: &Bag,
        positions: &mut Vec<usize>,
        strength: impl Fn(usize) -> f64,
    ) {
        if positions.len() <= self.max_parents {
            return;
        }
        let word = |position: usize| store.vocabulary.word(bag.words[position].0);
        positions.select_nth_unstable_by(self.max_parents, |&one, &other| {
            let ranks = (strength(one) as f32, strength(other) as f32);
            ranks.1.total_cmp(&ranks.0).then_with(|| word(one).cmp(word(other)))
        });
        positions.truncate(self.max_parents);
        positions.sort_unstable();
    }
}

/// For each row, compute the sum of all other rows, column by column; then the sum of all rows.
/// Differences from the sum of all rows would cancel, so none are used.
pub(crate) fn sums_of_others(rows: &[f64], width: usize, out: &mut Vec<f64>) {
    out.clear();
    out.resize(rows.len() + width, 0.0);
    for place in width..out.len() {
        out[place] = out[place - width] + rows[place - width];
    }
    let mut after = vec![0.0; width];
    for (sums, row) in out[..rows.len()].chunks_exact_mut(width).zip(rows.chunks_exact(width)).rev()
    {
        for ((sum, after), value) in sums.iter_mut().zip(&mut after).zip(row) {
            *sum += *after;
            *after += value;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_leave_one_row_out() {
        let rows = [1.0, 10.0, 2.0, 20.0, 4.0, 40.0];
        let mut sums = Vec::new();
        sums_of_others(&rows, 2, &mut sums);
        assert_eq!(sums, [6.0, 60.0, 5.0, 50.0, 3.0, 30.0, 7.0, 70.0]);
        sums_of_others(&[], 1, &mut sums);
        assert_eq!(sums, [0.0]);
        // A large row does not cancel a small one.
        sums_of_others(&[1e20, 1.0], 1, &mut sums);
        assert_eq!(sums[0], 1.0);
    }
}
