//! A batch learned by several threads: each counts its share in a store of its own.
//!
//! Counts add up. Where they are whole numbers, what the threads counted, added up, is what one
//! thread would have counted, to the last bit.

use crate::counts::bag::Bag;
use crate::counts::batch::{Labelled, Messages};
use crate::counts::message::AsMessage;
use crate::counts::rows::Class;
use crate::counts::store::{MAX_COUNT, Settings, Store};
use crate::counts::vocabulary::WordId;
use crate::error::Result;
use crate::text::tokenizer::{self, NotReady};
use crate::threads::shared;
use crate::watch::Watch;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Bytes of texts that are worth a thread. Adding its store takes a third of the time that learning
/// them took: with less, of text messages, two threads took as long as one (`make bench-cores`).
const WORTH: usize = 1 << 17;

/// Words ahead of the one that is added whose counts are fetched.
const AHEAD: usize = 16;

/// Sums below it leave room for a batch.
const MUCH: f64 = MAX_COUNT / 2.0;

impl<T: AsMessage> Labelled<'_, T> {
    /// Learns as [`learn`](Self::learn) does, on up to so many threads, of which the caller's is one,
    /// where counts add up and the batch is worth it.
    pub fn learn_on_threads(
        &self,
        store: &mut Store,
        scratch: &mut tokenizer::Scratch,
        bag: &mut Bag,
        threads: usize,
        watch: &Watch,
    ) -> std::result::Result<Result<()>, NotReady> {
        let range = self.range.clone();
        let shares = if threads > 1 && store.adds_up(self.weight) {
            self.batch.messages.shares(range, threads)
        } else {
            vec![range]
        };
        let mut rest = shares.iter().cloned();
        let first = rest.next().unwrap_or(0..0);
        let (settings, next) = (store.settings(), AtomicUsize::new(1));
        // The caller's thread learns the first share: where it is stopped, nothing else is learned.
        let own = |watch: &Watch| {
            self.learn(store, scratch, bag, first, watch).map(|learned| learned.map(|()| None))
        };
        let other = |watch: &Watch| {
            let place = next.fetch_add(1, Ordering::Relaxed);
            let (mut store, mut bag) = (Store::new(settings), Bag::default());
            let (scratch, share) = (&mut tokenizer::Scratch::new(), shares[place].clone());
            self.learn(&mut store, scratch, &mut bag, share, watch)
                .map(|learned| learned.map(|()| Some((place, store))))
        };
        let mut parts = Vec::new();
        for found in shared(shares.len(), watch, own, other) {
            match found? {
                Ok(part) => parts.extend(part),
                Err(error) => return Ok(Err(error)),
            }
        }
        if watch.is_stopped() {
            return Ok(Ok(()));
        }
        parts.sort_unstable_by_key(|&(place, _)| place);
        let words: usize = parts.iter().map(|(_, part)| part.vocabulary().len()).sum();
        let room = store.settings().max_words.saturating_sub(store.vocabulary().len());
        if words > room || parts.iter().any(|(_, part)| part.pruned) {
            // Which words are pruned depends on when.
            for share in rest {
                let learned = self.learn(store, scratch, bag, share, watch)?;
                if learned.is_err() || watch.is_stopped() {
                    return Ok(learned);
                }
            }
            return Ok(Ok(()));
        }
        parts.iter().for_each(|(_, part)| store.add_counts(part));
        Ok(Ok(()))
    }
}

impl<T: AsMessage> Messages<T> {
    /// Cuts a range into at most so many, of about as many bytes; one, where it is not worth more,
    /// or where there are no texts.
    fn shares(&self, range: Range<usize>, threads: usize) -> Vec<Range<usize>> {
        let Messages::Items(items) = self else { return vec![range] };
        let size = |place: usize| items[place].as_message().text_size();
        let Some(all) = range.clone().map(size).sum::<Option<usize>>() else { return vec![range] };
        let threads = threads.min(all / WORTH).max(1);
        let (mut shares, mut start, mut bytes) = (Vec::with_capacity(threads), range.start, 0);
        for place in range.clone() {
            if bytes * threads >= all * (shares.len() + 1) {
                shares.push(start..place);
                start = place;
            }
            bytes += size(place).unwrap_or(0);
        }
        shares.push(start..range.end);
        shares
    }
}

impl Store {
    /// Whether texts of this weight, counted apart and added, leave the same bits as those counted
    /// here: all that is kept are sums of whole numbers.
    fn adds_up(&self, weight: f64) -> bool {
        let Settings { max_words, max_pairs, frequencies, form, .. } = self.settings;
        // Without an index there are no pairs, whatever their bound is.
        let counts_alone = Settings { max_words, max_pairs, frequencies, form, ..Settings::COUNTS };
        let whole = |sum: f64| sum.fract() == 0.0 && sum < MUCH;
        self.settings == counts_alone
            && form.scale() == 1.0
            && self.rule.is_none()
            && self.statistics.is_empty()
            && weight.fract() == 0.0
            && weight <= f64::from(u32::MAX)
            && self.classes.iter().all(|class| whole(class.documents) && whole(class.tokens))
            && self.rows.is_whole()
    }

    /// Adds what a store of the same classes counted, which has forgotten nothing.
    fn add_counts(&mut self, other: &Store) {
        for (ours, theirs) in grown(&mut self.classes, other.classes.len()).zip(&other.classes) {
            ours.documents += theirs.documents;
            ours.tokens += theirs.tokens;
        }
        let theirs = (0..other.vocabulary.slots() as WordId).map(|id| other.vocabulary.word(id));
        let mut known = Vec::with_capacity(other.vocabulary.slots());
        let tokens = theirs.clone().map(|word| (self.vocabulary.token(word), 0.0));
        self.vocabulary.find_many(tokens, |_, _, word| known.push(word));
        for (id, word) in theirs.enumerate() {
            if let Some(&Some(ahead)) = known.get(id + AHEAD) {
                self.rows.fetch(ahead);
            }
            // No word stands there twice: what is not known is new.
            let ours = known[id].unwrap_or_else(|| self.add_word(&self.vocabulary.token(word)));
            let cells = other.rows.cells(id as WordId);
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
    use crate::counts::batch::Batch;
    use crate::counts::message::Message;
    use crate::counts::rows::ClassId;
    use crate::text::tokenizer::{Tokenizer, TokenizerOptions};

    struct Text(String);

    impl AsMessage for Text {
        fn as_message(&self) -> Message<'_> {
            Message::Text(&self.0)
        }
    }

    /// Texts of so many words together, some of them frequent, and their classes.
    fn texts(words: u64) -> (Messages<Text>, Vec<ClassId>) {
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
        (Messages::Items(items), classes)
    }

    fn learn(store: &mut Store, weight: f64, threads: usize, watch: &Watch) -> Vec<u8> {
        let tokenizer = Tokenizer::new(TokenizerOptions::default()).expect("valid options");
        let (messages, classes) = texts(60_000);
        let (mut scratch, mut bag) = (tokenizer::Scratch::new(), Bag::default());
        let batch = Batch { messages: &messages, tokenizer: &tokenizer };
        Labelled::new(batch, 0..messages.len(), &classes, weight)
            .expect("one class for each message")
            .learn_on_threads(store, &mut scratch, &mut bag, threads, watch)
            .expect("ASCII needs no folding")
            .expect("room");
        store.ranks = (0..5).collect();
        store.snapshot_counts(&store.class_order(), |_| 0.0).expect("every class is ranked")
    }

    #[test]
    fn shares_are_worth_a_thread_and_miss_nothing() {
        let (messages, _) = texts(60_000);
        for threads in 1..5 {
            let shares = messages.shares(3..messages.len() - 2, threads);
            assert_eq!(shares.len(), threads.min(3));
            assert_eq!((shares[0].start, shares[shares.len() - 1].end), (3, messages.len() - 2));
            assert!(shares.windows(2).all(|pair| pair[0].end == pair[1].start));
        }
        assert_eq!(texts(1_000).0.shares(0..20, 4).len(), 1);
        assert_eq!(messages.shares(5..5, 4).len(), 1);
    }

    #[test]
    fn no_count_depends_on_the_threads() {
        for frequencies in [false, true] {
            for (max_words, weight) in [(usize::MAX, 1.0), (usize::MAX, 3.0), (500, 1.0)] {
                let settings = Settings { max_words, frequencies, ..Settings::COUNTS };
                let (mut one, mut many) = (Store::new(settings), Store::new(settings));
                for _ in 0..2 {
                    let expected = learn(&mut one, weight, 1, &Watch::default());
                    assert!(learn(&mut many, weight, 3, &Watch::default()) == expected);
                }
                assert_eq!(many.pruned, max_words == 500);
                assert_eq!(many.vocabulary().len(), one.vocabulary().len());
                for (ours, theirs) in many.classes().iter().zip(one.classes()) {
                    assert_eq!(ours.most_documents, theirs.most_documents);
                }
            }
        }
    }

    #[test]
    fn what_does_not_add_up_to_the_same_bits_is_learned_by_one() {
        // A bound of pairs is in every model's settings.
        let mut store = Store::new(Settings { max_pairs: 9, ..Settings::COUNTS });
        assert!(store.adds_up(1.0) && store.adds_up(0.0));
        assert!(!store.adds_up(0.1) && !store.adds_up(MAX_COUNT));
        for settings in [
            Settings { max_documents: 1, ..Settings::COUNTS },
            Settings { half_life: Some(9.0), ..Settings::COUNTS },
            Settings { online_weights: true, ..Settings::COUNTS },
        ] {
            assert!(!Store::new(settings).adds_up(1.0));
        }
        learn(&mut store, 1.0, 3, &Watch::default());
        assert!(store.adds_up(1.0));
        learn(&mut store, 0.1, 3, &Watch::default());
        assert!(!store.adds_up(1.0));
    }
}
