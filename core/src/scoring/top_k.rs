//! Which words of a message are parents: the strongest, where there are more than allowed.

use crate::counts::bag::Bag;
use crate::counts::store::Store;
use crate::scoring::event_model::EventModel;

impl EventModel {
    /// The positions in the bag of a message's parents, ascending: its words with a weight.
    pub(crate) fn parents_of(&self, store: &Store, bag: &Bag) -> Vec<usize> {
        let weights = store.parent_weights();
        let weight = |position: usize| weights(bag.words[position].0);
        let mut parents = (0..bag.words.len()).filter(|&position| weight(position) > 0.0).collect();
        self.keep_top_k(store, bag, &mut parents, weight);
        parents
    }

    /// Keeps `max_parents` of some positions in the bag, those of the greatest strength; of equally
    /// strong ones the first by the words' bytes, so that neither ids nor the order of a message
    /// matter. Nor does the last digit of a strength, which depends on the order of classes.
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

/// For each row its sum with all others left out but it: the rows before it and those after it,
/// column by column; and behind them the sum of all. No difference is taken, which would cancel.
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
        // What is left is what is there, however large the other.
        sums_of_others(&[1e20, 1.0], 1, &mut sums);
        assert_eq!(sums[0], 1.0);
    }
}
