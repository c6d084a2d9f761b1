//! A batch learned in order by one thread, while other threads tokenise the next texts.

use crate::counts::batch::{Labelled, MESSAGE};
use crate::counts::{AsMessage, Bag, MessageScratch, Store};
use crate::error::Result;
use crate::text::distinct::{DistinctTokens, TokenizedTexts};
use crate::text::tokenizer;
use crate::threads::{lock, shared};
use crate::watch::Watch;
use foldhash::fast::RandomState;
use std::ops::Range;
use std::sync::Mutex;
use std::sync::mpsc::sync_channel;

/// Size of a piece of texts in bytes; the same limit bounds its number of messages. Pieces of 2 to
/// 16 KB, 16 to 256 messages and windows of 4 and 16 were equally fast within noise (text messages,
/// R8, SpamAssassin).
const PIECE: usize = 1 << 12;
const MOST: usize = 64;

/// Threads that tokenise: two tokenise faster than one thread learns.
const HELPERS: usize = 2;

/// Pieces that each helper may be ahead of the learner; bounds the memory.
const WINDOW: usize = 4;

/// Longer texts are not tokenised ahead: their tokens would take too much memory.
const LONGEST: usize = 1 << 18;

impl<T: AsMessage> Labelled<'_, T> {
    /// Like [`learn`](Self::learn), one message after the other, with helper threads. `mean` is the
    /// mean size of the texts.
    pub(super) fn learn_cut_ahead(
        &self,
        mean: usize,
        threads: usize,
        store: &mut Store,
        scratch: &mut MessageScratch,
        watch: &Watch,
    ) -> Result<()> {
        let helpers = (threads - 1).min(HELPERS);
        let length = (PIECE / mean.max(1)).clamp(1, MOST);
        let pieces = || {
            let starts = self.range.clone().step_by(length);
            starts.map(|start| start..self.range.end.min(start + length))
        };
        let hasher = store.vocabulary.hasher.clone();
        // Each helper tokenises every second piece. A send or receive fails once the other side ends.
        let (senders, cut): (Vec<_>, Vec<_>) = (0..helpers).map(|_| sync_channel(WINDOW)).unzip();
        let senders = Mutex::new(senders.into_iter().enumerate().collect::<Vec<_>>());
        let learn = |watch: &Watch| {
            for (places, cut) in pieces().zip(cut.iter().cycle()) {
                let Ok(texts) = cut.recv() else { break };
                match texts {
                    None => self.learn(store, scratch, places, watch)?,
                    Some(texts) => {
                        self.learn_cut(store, &texts, &mut scratch.bag, places, watch)?
                    }
                }
                if watch.is_stopped() {
                    break;
                }
            }
            // No helper waits for a learner that has ended.
            drop(cut);
            Ok(())
        };
        let help = |watch: &Watch| {
            let Some((first, sender)) = lock(&senders).pop() else { return Ok(()) };
            let mut buffers = (tokenizer::Scratch::default(), DistinctTokens::default());
            for places in pieces().skip(first).step_by(helpers) {
                let cut = self.cut(&hasher, places, &mut buffers);
                if sender.send(cut).is_err() || watch.stops(MESSAGE + PIECE) {
                    break;
                }
            }
            Ok(())
        };
        shared(helpers + 1, watch, learn, help).into_iter().collect()
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

    /// Tokenises a piece; None if it contains a long text.
    fn cut(
        &self,
        hasher: &RandomState,
        mut places: Range<usize>,
        (scratch, tokens): &mut (tokenizer::Scratch, DistinctTokens),
    ) -> Option<TokenizedTexts> {
        let mut texts = TokenizedTexts::default();
        places.try_for_each(|place| {
            let message = self.batch.get(place);
            if message.size() > LONGEST {
                return None;
            }
            message.cut(hasher, scratch, tokens);
            texts.push(tokens);
            Some(())
        })?;
        Some(texts)
    }
}
