//! Words that enough messages have: of those that fewer have nothing is known that tells classes
//! apart, and yet each of them does so perfectly.

use crate::counts::rows::Rows;
use crate::counts::statistic::{Counted, Statistic};
use crate::counts::store::Store;
use crate::counts::vocabulary::WordId;

/// What a sum of weights may lack by rounding: ten messages of weight 0.1 are one.
const ROUNDING: f64 = 1e-12;

/// How many words have so many messages.
#[derive(Clone, Debug, PartialEq)]
pub struct FrequentWords {
    least: f64,
    number: usize,
}

impl FrequentWords {
    fn of(min_df: u64, rows: &Rows) -> Self {
        let mut frequent = FrequentWords { least: min_df as f64 * (1.0 - ROUNDING), number: 0 };
        frequent.recount_rows(rows);
        frequent
    }

    fn recount_rows(&mut self, rows: &Rows) {
        let words = 0..rows.slots() as WordId;
        self.number = words.filter(|&word| self.has(rows, word)).count();
    }

    /// Whether a word is one of them now.
    #[inline]
    pub fn has(&self, rows: &Rows, word: WordId) -> bool {
        rows.cells(word).map(|cell| cell.documents).sum::<f64>() >= self.least
    }

    fn among(&self, rows: &Rows, words: &[(WordId, f64)]) -> usize {
        words.iter().filter(|&&(word, _)| self.has(rows, word)).count()
    }
}

impl Statistic for FrequentWords {
    fn outlives_word_ids(&self) -> bool {
        true
    }

    fn take_words(&mut self, rows: &Rows, words: &[(WordId, f64)]) {
        self.number -= self.among(rows, words);
    }

    fn add_words(&mut self, rows: &Rows, words: &[(WordId, f64)]) {
        self.number += self.among(rows, words);
    }

    fn recount(&mut self, counted: &Counted<'_>) {
        self.recount_rows(counted.rows);
    }

    fn size(&self) -> usize {
        0
    }

    fn boxed_clone(&self) -> Box<dyn Statistic> {
        Box::new(self.clone())
    }
}

impl Store {
    /// Tells the words that so many messages have from the others from now on; of 1, all are.
    pub fn set_min_df(&mut self, min_df: u64) {
        if min_df > 1 {
            self.statistics.put(FrequentWords::of(min_df, self.rows()));
        }
    }

    /// How many words there are that enough messages have.
    pub fn frequent_words(&self) -> usize {
        let told = self.statistic::<FrequentWords>();
        told.map_or(self.vocabulary.len(), |frequent| frequent.number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::counts::bag::Bag;
    use crate::counts::store::Settings;

    fn bag(store: &mut Store, words: &[&str]) -> Bag {
        let mut bag = Bag::default();
        for word in words {
            let token = store.vocabulary().token(word.as_bytes());
            bag.words.push((store.intern(&token), 1.0));
        }
        bag
    }

    #[test]
    fn words_come_with_the_messages_and_go_with_them() {
        let mut store = Store::new(Settings::COUNTS);
        assert_eq!(store.frequent_words(), 0);
        store.set_min_df(2);
        let messages: [(&[&str], u32, f64); 4] =
            [(&["a", "b"], 0, 1.0), (&["b", "c"], 1, 1.0), (&["c"], 0, 2.0), (&["d"], 1, 0.1)];
        for (words, class, weight) in messages {
            let mut bag = bag(&mut store, words);
            store.learn(&mut bag, class, weight).expect("valid");
        }
        // b by two messages of two classes, c by those and by one that counts twice.
        assert_eq!(store.frequent_words(), 2);
        for _ in 0..19 {
            let mut bag = bag(&mut store, &["d"]);
            store.learn(&mut bag, 1, 0.1).expect("valid");
        }
        assert_eq!(store.frequent_words(), 3);
        let mut second = bag(&mut store, &["b", "c"]);
        store.unlearn(&mut second, 1, 1.0).expect("learned");
        assert_eq!(store.frequent_words(), 2);
        let kept = store.statistic::<FrequentWords>().cloned().expect("told");
        assert_eq!(FrequentWords::of(2, store.rows()), kept);
        let mut twice = store.clone();
        twice.merge(&store, &[0, 1]).expect("valid");
        assert_eq!(twice.frequent_words(), 4);
    }
}
