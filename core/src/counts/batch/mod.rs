//! Batches of messages, looked up or learned in order.

mod ahead;
mod shares;

use crate::counts::export::row_bounds;
use crate::counts::message::{Columns, check_count};
use crate::counts::{AsMessage, ClassId, Message, MessageScratch, Store};
use crate::error::{Error, Result};
use crate::text::Tokenizer;
use crate::watch::Watch;
use std::ops::Range;

/// Cost of a message without its words, in steps.
pub const MESSAGE: usize = 64;

/// Minimum number of bytes of text per thread: with less, starting a thread and adding its store
/// take longer than they save. With this amount per thread, two threads took 1/1.2 of the time of
/// one; with three times the amount, 1/1.4.
const WORTH: usize = 1 << 17;

/// Mean length in bytes from which texts are tokenised ahead of counting and indexing: mails took
/// .83 of the time, short posts (R8) the same time, and text messages 1.2 times as long.
const LONG: usize = 1_000;

/// Checked messages.
pub enum Messages<T> {
    Items(Vec<T>),
    Matrix(Matrix),
}

/// A sparse matrix; rows are messages, columns are words.
pub struct Matrix {
    columns: Columns,
    cells: Vec<(u32, f64)>,
    ends: Vec<usize>,
}

impl Matrix {
    /// Takes compressed rows and the word of each column.
    pub fn new(indptr: &[i64], indices: &[i64], data: &[f64], words: &[&str]) -> Result<Self> {
        let mut matrix = Matrix {
            columns: Columns::new(words),
            cells: Vec::with_capacity(data.len()),
            ends: Vec::with_capacity(indptr.len()),
        };
        let Some(rows) = row_bounds(indptr, data.len().min(indices.len())) else {
            return Err(Error::Invalid("the sparse matrix has row bounds out of order".into()));
        };
        for (start, end) in rows {
            for (&column, &count) in indices[start..end].iter().zip(&data[start..end]) {
                let word = usize::try_from(column).ok().and_then(|column| words.get(column));
                let Some(word) = word else {
                    return Err(Error::Invalid(format!(
                        "the matrix has a column {column}, and vocabulary has {} words: give one \
                         word for each column",
                        words.len()
                    )));
                };
                if let Some(count) = check_count(count, word)? {
                    matrix.cells.push((column as u32, count));
                }
            }
            matrix.ends.push(matrix.cells.len());
        }
        Ok(matrix)
    }

    fn row(&self, row: usize) -> Message<'_> {
        let start = if row == 0 { 0 } else { self.ends[row - 1] };
        Message::Row(&self.cells[start..self.ends[row]], &self.columns)
    }
}

impl<T: AsMessage> Messages<T> {
    /// Number of messages.
    pub fn number(&self) -> usize {
        match self {
            Messages::Items(items) => items.len(),
            Messages::Matrix(matrix) => matrix.ends.len(),
        }
    }
}

/// Messages and their tokenizer.
pub struct Batch<'a, T> {
    pub messages: &'a Messages<T>,
    pub tokenizer: &'a Tokenizer,
}

impl<T: AsMessage> Batch<'_, T> {
    pub fn get(&self, place: usize) -> Message<'_> {
        match self.messages {
            Messages::Items(items) => items[place].as_message(self.tokenizer),
            Messages::Matrix(matrix) => matrix.row(place),
        }
    }
}

/// The labelled messages of a batch.
pub struct Labelled<'a, T> {
    batch: Batch<'a, T>,
    /// The range of messages.
    range: Range<usize>,
    /// The class of each message of the batch.
    classes: &'a [ClassId],
    /// The weight of each message.
    weight: f64,
}

impl<'a, T: AsMessage> Labelled<'a, T> {
    /// Requires one class per message and a range within the batch.
    pub fn new(
        batch: Batch<'a, T>,
        range: Range<usize>,
        classes: &'a [ClassId],
        weight: f64,
    ) -> Result<Self> {
        let (messages, labels) = (batch.messages.number(), classes.len());
        if labels == messages && range.start <= range.end && range.end <= messages {
            return Ok(Labelled { batch, range, classes, weight });
        }
        Err(Error::Invalid(format!(
            "{messages} messages and {labels} labels: give one label for each message"
        )))
    }

    /// Fails if the store has no room or the weight is invalid.
    fn check(&self, store: &Store) -> Result<()> {
        store.check_room().and_then(|()| store.settings.check_in_window(self.weight))
    }

    /// Learns a part of the range until the watch stops it.
    pub fn learn(
        &self,
        store: &mut Store,
        scratch: &mut MessageScratch,
        part: Range<usize>,
        watch: &Watch,
    ) -> Result<()> {
        let Labelled { batch, classes, weight, .. } = self;
        self.check(store)?;
        for place in part {
            batch.get(place).learn(store, scratch, classes[place], *weight)?;
            if watch.stops(MESSAGE + scratch.bag.words.len()) {
                break;
            }
        }
        Ok(())
    }

    /// Size of the texts in bytes; None if other messages are among them.
    fn text_bytes(&self) -> Option<usize> {
        self.range.clone().map(|place| self.batch.get(place).text().map(str::len)).sum()
    }

    /// Learns all messages on up to `threads` threads, including the calling thread, if the batch
    /// is large enough.
    ///
    /// If counts add up, each thread learns a share. Otherwise the calling thread learns in order
    /// while the others tokenise the next texts.
    ///
    /// Stores that only count do not let other threads tokenise: it took 1.2 (mails) to 4 times
    /// (text messages) as long, because most of the work is finding and counting words.
    pub fn learn_on_threads(
        &self,
        store: &mut Store,
        scratch: &mut MessageScratch,
        threads: usize,
        watch: &Watch,
    ) -> Result<()> {
        let (shared, online) = (store.adds_up(self.weight), store.settings.online_weights);
        let indexed = store.settings.index_size > 0;
        if threads > 1
            && (shared || online || indexed)
            && let Some(bytes) = self.text_bytes()
        {
            let worth = threads.min(bytes / WORTH);
            let mean = bytes / self.range.len().max(1);
            if worth > 1 && shared {
                return self.learn_shares(worth, store, scratch, watch);
            }
            if worth > 1 && (online || mean >= LONG) {
                return self.learn_cut_ahead(mean, worth, store, scratch, watch);
            }
        }
        self.learn(store, scratch, self.range.clone(), watch)
    }
}
