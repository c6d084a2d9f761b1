//! A batch learned in order by one thread, while other threads tokenise the next texts.

use crate::counts::bag::Bag;
use crate::counts::batch::queue::{Ended, Queue};
use crate::counts::batch::{Items, Labelled, MESSAGE};
use crate::counts::message::AsMessage;
use crate::counts::store::Store;
use crate::error::Result;
use crate::text::distinct::{DistinctTokens, TokenizedTexts};
use crate::text::tokenizer;
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
        let cut = |watch: &Watch| self.cut_pieces(items, &hasher, &queue, watch);
        let learner = Mutex::new(Some(store));
        let own = |watch: &Watch| {
            items.read(watch);
            cut(watch);
            Ok(())
        };
        let other = |watch: &Watch| {
            let Some(store) = lock(&learner).take() else {
                cut(watch);
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

    /// Tokenises the pieces of a queue. Leaves a piece to the learner if it contains a message that
    /// is not a short text.
    fn cut_pieces(&self, items: &Items<T>, hasher: &RandomState, queue: &Queue, watch: &Watch) {
        let (mut scratch, mut tokens) = (tokenizer::Scratch::new(), DistinctTokens::default());
        while let Some(mut taken) = queue.take(watch) {
            let mut texts = std::mem::take(&mut taken.spare);
            texts.clear();
            let cut = queue.places(taken.piece).try_for_each(|place| {
                let message = items.get(place)?;
                let size = message.text().map(str::len).filter(|&size| size <= LONGEST)?;
                message.cut(hasher, self.batch.tokenizer, &mut scratch, &mut tokens);
                texts.push(&tokens);
                (!watch.stops(MESSAGE + size)).then_some(())
            });
            taken.cut = cut.map(|()| texts);
        }
    }
}
