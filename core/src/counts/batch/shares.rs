//! A batch learned by several threads: each counts its share in a store of its own.
//!
//! Counts add up. With integer counts, the sum of the threads' counts equals the counts of a single
//! thread in every bit.

use crate::counts::bag::Bag;
use crate::counts::batch::{Items, Labelled};
use crate::counts::message::AsMessage;
use crate::counts::rows::Class;
use crate::counts::store::{MAX_COUNT, Settings, Store};
use crate::counts::vocabulary::WordId;
use crate::error::Result;
use crate::text::tokenizer;
use crate::threads::{lock, shared};
use crate::watch::Watch;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock};

/// Messages taken together from the part that may still be shared.
const TAKEN: usize = 16;

/// Distance in words of the prefetch while counts are added.
const AHEAD: usize = 16;

/// Sums below this leave room for a batch.
const MUCH: f64 = MAX_COUNT / 2.0;

impl<T: AsMessage> Labelled<'_, T> {
    /// Like [`learn`](Self::learn), with one thread per share. One thread learns the first share
    /// while the calling thread reads all messages; the other shares are then counted separately
    /// and finally added. If stopped, a prefix of the messages is learned.
    pub(super) fn learn_shares(
        &self,
        items: &Items<T>,
        threads: usize,
        store: &mut Store,
        scratch: &mut tokenizer::Scratch,
        bag: &mut Bag,
        watch: &Watch,
    ) -> Result<()> {
        let shares = &Shares::new(items, self.range.clone(), threads);
        let (empty, last) = (store.emptied(), shares.number - 1);
        let (first_store, next) = (Mutex::new(Some(&mut *store)), AtomicUsize::new(1));
        let count = |place: usize, scratch: &mut _, bag: &mut _, watch: &Watch| {
            let mut store = empty.clone();
            self.learn(&mut store, scratch, bag, shares.get(place), watch)
                .map(|()| Some((place, store)))
        };
        let own = |watch: &Watch| {
            shares.items.read(watch);
            count(last, scratch, bag, watch)
        };
        let other = |watch: &Watch| {
            let (scratch, bag) = (&mut tokenizer::Scratch::new(), &mut Bag::default());
            let Some(store) = lock(&first_store).take() else {
                return count(next.fetch_add(1, Ordering::Relaxed), scratch, bag, watch);
            };
            while let Some(places) = shares.take_first() {
                self.learn(store, scratch, bag, places, watch)?;
                if watch.is_stopped() {
                    break;
                }
            }
            Ok(None)
        };
        let mut parts = Vec::new();
        for found in shared(shares.number, watch, own, other) {
            parts.extend(found?);
        }
        if watch.is_stopped() {
            return Ok(());
        }
        parts.sort_unstable_by_key(|&(place, _)| place);
        let words: usize = parts.iter().map(|(_, part)| part.vocabulary().len()).sum();
        let room = store.settings().max_features.saturating_sub(store.vocabulary().len());
        if words <= room && !parts.iter().any(|(_, part)| part.pruned) {
            parts.iter().for_each(|(_, part)| store.add_counts(part));
            return Ok(());
        }
        // Pruning depends on the order of arrival.
        let apart = shares.get(1).start..shares.get(last).end;
        self.learn(store, scratch, bag, apart, watch)
    }
}

/// The shares of a batch, one for each thread.
struct Shares<'a, T> {
    items: &'a Items<T>,
    number: usize,
    /// The rest of the first share: the whole batch until it is split.
    first: Mutex<Range<usize>>,
    all: OnceLock<Vec<Range<usize>>>,
}

impl<'a, T: AsMessage> Shares<'a, T> {
    fn new(items: &'a Items<T>, range: Range<usize>, number: usize) -> Self {
        Shares { items, number, first: Mutex::new(range), all: OnceLock::new() }
    }

    /// The next few messages of the first share.
    fn take_first(&self) -> Option<Range<usize>> {
        let mut left = lock(&self.first);
        let taken = left.start..left.end.min(left.start + TAKEN);
        left.start = taken.end;
        (!taken.is_empty()).then_some(taken)
    }

    /// A share after the first. Once all messages are read, the unclaimed rest is split evenly.
    fn get(&self, place: usize) -> Range<usize> {
        let all = self.all.get_or_init(|| {
            let mut left = lock(&self.first);
            let all = self.items.cut(left.clone(), self.number);
            left.end = all[0].end;
            all
        });
        all[place].clone()
    }
}

impl Store {
    /// Whether counting texts of this weight separately and adding the counts gives the same bits:
    /// all counts are sums of integers.
    pub(super) fn adds_up(&self, weight: f64) -> bool {
        let Settings { max_features, max_pairs, frequencies, term_weighting, .. } = self.settings;
        // Without an index there are no pairs, whatever their bound.
        let counts_alone =
            Settings { max_features, max_pairs, frequencies, term_weighting, ..Settings::COUNTS };
        let whole = |sum: f64| sum.fract() == 0.0 && sum < MUCH;
        self.settings == counts_alone
            && term_weighting.scale() == 1.0
            && self.rule.is_none()
            && self.statistics.is_empty()
            && weight.fract() == 0.0
            && weight <= f64::from(u32::MAX)
            && self.classes.iter().all(|class| whole(class.documents) && whole(class.tokens))
            && self.rows.is_whole()
    }

    /// An empty store of the same settings whose words this store finds without reading them.
    fn emptied(&self) -> Store {
        let mut store = Store::new(self.settings);
        store.vocabulary = self.vocabulary.emptied(self.settings.max_features);
        store
    }

    /// Adds the counts of such a store, which has the same classes and has forgotten nothing.
    fn add_counts(&mut self, other: &Store) {
        for (ours, theirs) in grown(&mut self.classes, other.classes.len()).zip(&other.classes) {
            ours.documents += theirs.documents;
            ours.tokens += theirs.tokens;
        }
        let theirs = 0..other.vocabulary.slots() as WordId;
        let mut known = Vec::with_capacity(theirs.len());
        let tokens = theirs.clone().map(|id| (other.vocabulary.known_token(id), 0.0));
        self.vocabulary.find_many(tokens, |_, _, word| known.push(word));
        for id in theirs {
            if let Some(&Some(ahead)) = known.get(id as usize + AHEAD) {
                self.rows.fetch(ahead);
            }
            // Words are distinct: an unknown word is new.
            let token = || other.vocabulary.known_token(id);
            let ours = known[id as usize].unwrap_or_else(|| self.add_word(&token()));
            let cells = other.rows.cells(id);
            self.add_cells(ours, cells.map(|cell| (cell.class, cell.tokens, cell.documents)));
        }
        self.version += 1;
    }
}

fn grown(classes: &mut Vec<Class>, length: usize) -> impl Iterator<Item = &mut Class> {
    if length > classes.len() {
        classes.resize_with(length, Class::default);
    }
    classes.iter_mut()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::counts::batch::{Batch, Messages};
    use crate::counts::message::Message;
    use crate::counts::rows::ClassId;
    use crate::text::tokenizer::{Tokenizer, TokenizerOptions};

    #[derive(Clone)]
    struct Text(String);

    impl AsMessage for Text {
        fn as_message(&self) -> Message<'_> {
            Message::Text(&self.0)
        }
    }

    /// Texts with `words` words in total, some of them frequent, and their classes.
    fn texts(words: u64) -> (Vec<Text>, Vec<ClassId>) {
        let (mut state, mut items, mut classes) = (1u64, Vec::new(), Vec::new());
        let mut draw = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) % below
        };
        let mut left = words;
        while left > 0 {
            let length = left.min(draw(40));
            let text = (0..length).map(|_| {
                let below = draw(3_000) + 1;
                format!("word{} ", draw(below))
            });
            items.push(Text(text.collect()));
            classes.push(draw(5) as ClassId);
            left -= length;
        }
        (items, classes)
    }

    fn learn(store: &mut Store, weight: f64, threads: usize) -> Vec<u8> {
        let (texts, classes) = texts(60_000);
        learn_items(store, texts.into(), &classes, weight, threads)
    }

    fn learn_items(
        store: &mut Store,
        items: Items<Text>,
        classes: &[ClassId],
        weight: f64,
        threads: usize,
    ) -> Vec<u8> {
        let tokenizer = Tokenizer::new(TokenizerOptions::default()).expect("valid options");
        let (messages, watch) = (Messages::Items(items), Watch::default());
        let (mut scratch, mut bag) = (tokenizer::Scratch::new(), Bag::default());
        let batch = Batch { messages: &messages, tokenizer: &tokenizer };
        Labelled::new(batch, 0..messages.len(), classes, weight)
            .expect("one class for each message")
            .learn_on_threads(store, &mut scratch, &mut bag, threads, &watch)
            .expect("room");
        store.ranks = (0..5).collect();
        store.snapshot_counts(&store.class_order(), |_| 0.0).expect("every class is ranked")
    }

    #[test]
    fn no_count_depends_on_the_threads() {
        for frequencies in [false, true] {
            for (max_features, weight) in [(usize::MAX, 1.0), (usize::MAX, 3.0), (500, 1.0)] {
                let settings = Settings { max_features, frequencies, ..Settings::COUNTS };
                let (mut one, mut many) = (Store::new(settings), Store::new(settings));
                for _ in 0..2 {
                    let expected = learn(&mut one, weight, 1);
                    assert!(learn(&mut many, weight, 3) == expected);
                }
                assert_eq!(many.pruned, max_features == 500);
                // Words get the ids that a single thread would assign: sums over words keep their
                // bits.
                let words = |store: &Store| store.vocabulary().sorted_ids();
                assert_eq!(words(&many), words(&one));
                for (ours, theirs) in many.classes().iter().zip(one.classes()) {
                    assert_eq!(ours.most_documents, theirs.most_documents);
                }
            }
        }
    }

    #[test]
    fn where_reading_is_interrupted_the_first_messages_are_learned() {
        let (texts, classes) = texts(60_000);
        let (len, all) = (texts.len(), texts.clone());
        for (end, threads) in [(0, 2), (1_024, 2), (1_024, 3), (2_048, 3), (2_048, 9)] {
            let all = all.clone();
            let read =
                move |places: Range<usize>| (places.end <= end).then(|| all[places].to_vec());
            let items = Items::unread(len, Box::new(read));
            let mut many = Store::new(Settings::COUNTS);
            let found = learn_items(&mut many, items, &classes, 1.0, threads);
            let learned = many.documents() as usize;
            assert!(learned <= end && learned >= end / 2, "{learned} of {end}");
            let mut one = Store::new(Settings::COUNTS);
            let first = Items::from(texts[..learned].to_vec());
            assert!(found == learn_items(&mut one, first, &classes[..learned], 1.0, 1));
        }
    }

    #[test]
    fn what_does_not_add_up_to_the_same_bits_is_learned_by_one() {
        // Every model sets a bound for pairs.
        let mut store = Store::new(Settings { max_pairs: 9, ..Settings::COUNTS });
        assert!(store.adds_up(1.0) && store.adds_up(0.0));
        assert!(!store.adds_up(0.1) && !store.adds_up(MAX_COUNT));
        for settings in [
            Settings { index_size: 1, ..Settings::COUNTS },
            Settings { half_life: Some(9.0), ..Settings::COUNTS },
            Settings { online_weights: true, ..Settings::COUNTS },
        ] {
            assert!(!Store::new(settings).adds_up(1.0));
        }
        learn(&mut store, 1.0, 3);
        assert!(store.adds_up(1.0));
        learn(&mut store, 0.1, 3);
        assert!(!store.adds_up(1.0));
    }
}
