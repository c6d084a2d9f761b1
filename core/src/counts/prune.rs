//! Pruning: the vocabulary's bound.

use crate::counts::rows::take;
use crate::counts::vocabulary::Key;
use crate::counts::{Settings, Store, WordId};

/// One in this many words of a group is forgotten when its turn comes.
const FORGOTTEN: usize = 4;

/// One message adds at most this share of `max_features`, or `LEAST_NEW` words.
const NEW_SHARE: usize = 16;
const LEAST_NEW: usize = 1 << 10;

impl Settings {
    /// The number of new words that one message may add. Its further new words are not learned.
    pub fn most_new_words(&self) -> usize {
        (self.max_features / NEW_SHARE).max(LEAST_NEW)
    }
}

impl Store {
    /// The key of pruning, which decides together with the counts which words leave.
    pub fn key(&self) -> Key {
        self.vocabulary.key()
    }

    /// Sets the key of pruning. Copies of a model need the same key to prune the same words.
    pub fn set_key(&mut self, key: Key) {
        if key != self.key() {
            self.vocabulary.set_key(key);
            self.version += 1;
        }
    }

    /// Uses a key from half of the bound on, unless there is another key. Until then the state does
    /// not contain it, so models of other keys are equal.
    pub fn offer_key(&mut self, key: Key) {
        self.vocabulary.offer_key(key);
    }

    /// Prunes one group after the other while there are too many words. Each group loses the
    /// quarter (rounded up) with the lowest document frequency; the keyed hash breaks ties.
    ///
    /// A group has about sixty words, so this takes microseconds and frees as many words as it
    /// forgets. A word is considered again after a quarter of the bound has arrived. So a quarter of
    /// the places is for words that are new, and no word leaves before a rarer word of its group.
    /// Senders who do not have the key influence all groups alike.
    pub(crate) fn prune_to_bound(&mut self) {
        while self.vocabulary.len() > self.settings.max_features {
            let groups = self.vocabulary.groups();
            let words = self.vocabulary.group(self.prune_cursor % groups);
            self.prune_cursor = (self.prune_cursor + 1) % groups;
            let hash = |word| self.vocabulary.group_hash(word);
            let forgotten = self.rarest(words.len().div_ceil(FORGOTTEN), words, hash);
            self.forget_words(&forgotten);
            self.evicted += forgotten.len() as u64;
            self.pruned = true;
            self.version += 1;
        }
    }

    /// The `count` words with the lowest document frequency; ties go to the highest `number`, and then
    /// to the last by their bytes.
    fn rarest(
        &self,
        count: usize,
        words: Vec<WordId>,
        number: impl Fn(WordId) -> u64,
    ) -> Vec<WordId> {
        if count >= words.len() {
            return words;
        }
        let frequency = |word| self.rows.cells(word).map(|cell| cell.documents).sum();
        let mut ranked: Vec<(f64, u64, WordId)> =
            words.into_iter().map(|word| (frequency(word), number(word), word)).collect();
        ranked.select_nth_unstable_by(count, |one, other| {
            let word = |id| self.vocabulary.word(id);
            let rank = one.0.total_cmp(&other.0).then(other.1.cmp(&one.1));
            rank.then_with(|| word(other.2).cmp(word(one.2)))
        });
        ranked.into_iter().take(count).map(|(.., word)| word).collect()
    }

    /// Forgets all words except the `keep` words with the highest document frequency, as if the
    /// others had never been learned. The words' bytes break ties.
    pub fn prune(&mut self, keep: usize) {
        if self.vocabulary.len() <= keep {
            return;
        }
        let words = self.vocabulary.sorted_ids();
        let dropped = self.rarest(words.len() - keep, words, |_| 0);
        self.forget_words(&dropped);
        self.pruned = true;
        self.version += 1;
    }

    /// Forgets words as if no message had contained them; returns the number of those that were known.
    pub fn forget_named<'a>(&mut self, words: impl Iterator<Item = &'a [u8]>) -> usize {
        let known: Vec<WordId> =
            words.filter_map(|word| self.vocabulary.find(&self.vocabulary.token(word))).collect();
        if !known.is_empty() {
            self.forget_words(&known);
            self.pruned = true;
            self.version += 1;
        }
        known.len()
    }

    pub(crate) fn forget_words(&mut self, words: &[WordId]) {
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
