//! A batch learned in order by one thread, while other threads tokenise the next texts.

use crate::counts::bag::Bag;
use crate::counts::batch::queue::{Ended, Queue};
use crate::counts::batch::{Items, Labelled, MESSAGE};
use crate::counts::message::AsMessage;
use crate::counts::store::Store;
use crate::error::Result;
use crate::text::distinct::{DistinctTokens, TokenizedTexts};
use crate::text::tokenizer::{self, Tokenizer};
use crate::threads::{lock, shared};
use crate::watch::Watch;
use foldhash::fast::RandomState;
use std::ops::Range;
use std::sync::Mutex;

/// Size of a piece of texts in bytes; the same limit bounds its number of messages. Pieces of 2 to
/// 16 KB, 16 to 256 messages and windows of 4 and 16 were equally fast within noise (text messages,
/// R8, SpamAssassin).
const PIECE: usize = 1 << 12;
const MOST: usize = 64;

/// Helper threads: two tokenise faster than one thread learns.
const THREADS: usize = 3;

/// Pieces that each helper may be ahead of the learner; bounds the memory.
const WINDOW: usize = 4;

/// Longer texts are not tokenised ahead: their tokens would take too much memory.
const LONGEST: usize = 1 << 18;

impl<T: AsMessage> Labelled<'_, T> {
    /// Like [`learn`](Self::learn), one message after the other, with helper threads. The caller's
    /// thread reads the messages and tokenises like the helpers.
    pub(super) fn learn_cut_ahead(
        &self,
        items: &Items<T>,
        threads: usize,
        store: &mut Store,
        watch: &Watch,
    ) -> Result<()> {
        let threads = threads.min(THREADS);
        let mean = items.mean_bytes(PIECE * MOST).unwrap_or(PIECE);
        let length = (PIECE / mean.max(1)).clamp(1, MOST);
        let hasher = store.vocabulary().hasher().clone();
        let queue = Queue::new(self.range.clone(), length, WINDOW * (threads - 1));
        let cutter = Cutter { items, tokenizer: self.batch.tokenizer, hasher, queue: &queue };
        let learner = Mutex::new(Some(store));
        let own = |watch: &Watch| {
            items.read(watch);
            cutter.cut(watch);
            Ok(())
        };
        let other = |watch: &Watch| {
            let Some(store) = lock(&learner).take() else {
                cutter.cut(watch);
                return Ok(());
            };
            self.learn_queue(&queue, store, watch)
        };
        shared(threads, watch, own, other).into_iter().collect()
    }

    /// Learns all pieces in order, and tokenises the pieces that no helper has claimed.
    fn learn_queue(&self, queue: &Queue, store: &mut Store, watch: &Watch) -> Result<()> {
        let (mut scratch, mut bag) = (tokenizer::Scratch::new(), Bag::default());
        let _ended = Ended(queue);
        for piece in 0..queue.pieces {
            let (places, cut) = (queue.places(piece), queue.first(watch));
            if watch.is_stopped() {
                break;
            }
            match &cut {
                None => self.learn(store, &mut scratch, &mut bag, places, watch)?,
                Some(texts) => self.learn_cut(store, texts, &mut bag, places, watch)?,
            }
            if watch.is_stopped() {
                break;
            }
            queue.learned(cut);
        }
        Ok(())
    }

    /// Learns tokenised texts.
    fn learn_cut(
        &self,
        store: &mut Store,
        texts: &TokenizedTexts,
        bag: &mut Bag,
        places: Range<usize>,
        watch: &Watch,
    ) -> Result<()> {
        self.check(store)?;
        for (text, place) in places.enumerate() {
            store.intern_distinct(texts.text(text), bag);
            store.learn(bag, self.classes[place], self.weight)?;
            if watch.stops(MESSAGE + bag.words.len()) {
                break;
            }
        }
        Ok(())
    }
}

/// Tokenises the texts of a queue.
struct Cutter<'a, T> {
    items: &'a Items<T>,
    tokenizer: &'a Tokenizer,
    hasher: RandomState,
    queue: &'a Queue,
}

impl<T: AsMessage> Cutter<'_, T> {
    fn cut(&self, watch: &Watch) {
        let (mut scratch, mut tokens) = (tokenizer::Scratch::new(), DistinctTokens::default());
        while let Some(mut taken) = self.queue.take(watch) {
            let mut texts = std::mem::take(&mut taken.spare);
            texts.clear();
            if self.cut_piece(taken.piece, &mut texts, &mut scratch, &mut tokens, watch).is_some() {
                taken.cut = Some(texts);
            }
        }
    }

    /// Tokenises a piece; None if it contains a message that the learner must handle itself.
    fn cut_piece(
        &self,
        piece: usize,
        texts: &mut TokenizedTexts,
        scratch: &mut tokenizer::Scratch,
        tokens: &mut DistinctTokens,
        watch: &Watch,
    ) -> Option<()> {
        for place in self.queue.places(piece) {
            let message = self.items.get(place)?;
            let size = message.text().map(str::len).filter(|&size| size <= LONGEST)?;
            message.cut(&self.hasher, self.tokenizer, scratch, tokens);
            texts.push(tokens);
            if watch.stops(MESSAGE + size) {
                return None;
            }
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::counts::batch::{Batch, Messages};
    use crate::counts::message::Message;
    use crate::counts::rows::ClassId;
    use crate::counts::store::Settings;
    use crate::text::tokenizer::TokenizerOptions;

    #[derive(Clone)]
    struct Item(String);

    impl AsMessage for Item {
        fn as_message(&self) -> Message<'_> {
            Message::Text(&self.0)
        }
    }

    const ONLINE: Settings = Settings { online_weights: true, ..Settings::COUNTS };

    /// Messages of old and new words, some of them long, with their classes.
    fn messages(number: usize) -> (Vec<Item>, Vec<ClassId>) {
        let text = |n: usize| {
            let words = (0..n % 90).map(|i| format!("word{} a-long-enough-word-{n} ", i * n % 577));
            Item(words.collect())
        };
        ((0..number).map(text).collect(), (0..number).map(|n| n as ClassId % 3).collect())
    }

    fn learn(items: Items<Item>, classes: &[ClassId], threads: usize) -> Store {
        let tokenizer = Tokenizer::new(TokenizerOptions::default()).expect("valid options");
        let messages = Messages::Items(items);
        let (mut scratch, mut bag) = (tokenizer::Scratch::new(), Bag::default());
        let mut store = Store::new(ONLINE);
        Labelled::new(
            Batch { messages: &messages, tokenizer: &tokenizer },
            0..classes.len(),
            classes,
            1.0,
        )
        .expect("one class for each message")
        .learn_on_threads(&mut store, &mut scratch, &mut bag, threads, &Watch::default())
        .expect("room");
        store
    }

    /// The counts, and the words in the order of their ids.
    fn content(store: &mut Store) -> (Vec<u8>, Vec<Vec<u8>>) {
        store.ranks = vec![0, 1, 2];
        let counts = store.snapshot_counts(&store.class_order(), |_| 0.0);
        let ids = 0..store.vocabulary().slots() as u32;
        let words = ids.map(|id| store.vocabulary().word(id).to_vec()).collect();
        (counts.expect("every class is ranked"), words)
    }

    #[test]
    fn no_count_and_no_id_depends_on_who_cuts_the_texts() {
        let (items, classes) = messages(2_000);
        let expected = content(&mut learn(items.clone().into(), &classes, 1));
        for threads in [2, 3, 8] {
            assert!(content(&mut learn(items.clone().into(), &classes, threads)) == expected);
        }
    }

    #[test]
    fn where_reading_is_interrupted_the_first_messages_are_learned() {
        let (items, classes) = messages(2_000);
        for end in [0, 512, 1_024] {
            let all = items.clone();
            let read =
                move |places: Range<usize>| (places.end <= end).then(|| all[places].to_vec());
            let mut some = learn(Items::unread(items.len(), Box::new(read)), &classes, 2);
            assert_eq!(some.documents() as usize, end);
            let first = items[..end].to_vec();
            assert!(content(&mut some) == content(&mut learn(first.into(), &classes[..end], 1)));
        }
    }
}
