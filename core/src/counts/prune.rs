//! Pruning: the vocabulary's bound.

use crate::counts::rows::take;
use crate::counts::{Store, WordId};

/// One in this many words of a group is forgotten when its turn comes.
const FORGOTTEN: usize = 4;

impl Store {
    /// Prunes one group after the other while there are too many words. Each group loses the
    /// quarter (rounded up) with the lowest document frequency; the words' bytes break ties.
    ///
    /// A group has about sixty words, so this takes microseconds and frees as many words as it
    /// forgets. A word is considered again after a quarter of the bound has arrived.
    pub(crate) fn prune_to_bound(&mut self) {
        while self.vocabulary.len() > self.settings.max_features {
            let groups = self.vocabulary.groups();
            let words = self.vocabulary.group(self.prune_cursor % groups);
            self.prune_cursor = (self.prune_cursor + 1) % groups;
            let forgotten = self.rarest(words.len().div_ceil(FORGOTTEN), words);
            self.forget_words(&forgotten);
            self.pruned = true;
            self.version += 1;
        }
    }

    /// The `count` words with the lowest document frequency; ties go to the last by their bytes.
    fn rarest(&self, count: usize, words: Vec<WordId>) -> Vec<WordId> {
        if count >= words.len() {
            return words;
        }
        let frequency = |word| self.rows.cells(word).map(|cell| cell.documents).sum();
        let mut ranked: Vec<(f64, WordId)> =
            words.into_iter().map(|word| (frequency(word), word)).collect();
        ranked.select_nth_unstable_by(count, |one, other| {
            let word = |id| self.vocabulary.word(id);
            one.0.total_cmp(&other.0).then_with(|| word(other.1).cmp(word(one.1)))
        });
        ranked.into_iter().take(count).map(|(_, word)| word).collect()
    }

    /// Forgets all words except the `keep` words with the highest document frequency, as if the
    /// others had never been learned. The words' bytes break ties.
    pub fn prune(&mut self, keep: usize) {
        if self.vocabulary.len() <= keep {
            return;
        }
        let words = self.vocabulary.sorted_ids();
        let dropped = self.rarest(words.len() - keep, words);
        self.forget_words(&dropped);
        self.pruned = true;
        self.version += 1;
    }

    fn forget_words(&mut self, words: &[WordId]) {
        self.drop_words_from_index(words);
        for &word in words {
            let cells: Vec<_> = self.rows.cells(word).collect();
            for cell in cells {
                let tokens = self.set_cell(word, cell.class, 0.0, 0.0);
                let totals = &mut self.classes[cell.class as usize];
                totals.tokens = take(totals.tokens, tokens).unwrap_or(0.0);
            }
        }
    }
}
