//! Batches of messages, looked up or learned in order.

mod ahead;
mod items;
mod queue;
mod shares;

pub use items::{Items, Read};

use crate::counts::bag::Bag;
use crate::counts::message::{AsMessage, Columns, Message, check_count};
use crate::counts::rows::ClassId;
use crate::counts::store::Store;
use crate::error::{Error, Result};
use crate::text::tokenizer::{self, Tokenizer};
use crate::watch::Watch;
use std::ops::Range;

/// Placeholder for an unread message, in work whose result is discarded.
const NOTHING: Message<'_> = Message::Text("");

/// Cost of a message besides its words, in steps.
pub const MESSAGE: usize = 64;

/// Bytes of text that justify a thread, which must be started and whose store must be added: with
/// this amount per thread two threads took 1/1.2 of the time of one, with three times the amount
/// 1/1.4.
const WORTH: usize = 1 << 17;

/// Mean length in bytes from which texts are tokenised ahead of counting and indexing: mails took
/// .83 of the time, short posts (R8) the same time, and text messages 1.2 times as long.
const LONG: usize = 1_000;

/// Checked messages.
pub enum Messages<T> {
    Items(Items<T>),
    Matrix(Matrix),
}

/// A sparse matrix; rows are messages, columns are words.
pub struct Matrix {
    words: Vec<Box<[u8]>>,
    cells: Vec<(u32, f64)>,
    ends: Vec<usize>,
}

impl Matrix {
    /// Takes compressed rows and the word of each column.
    pub fn new(indptr: &[i64], indices: &[i64], data: &[f64], words: &[&str]) -> Result<Self> {
        let mut matrix = Matrix {
            words: words.iter().map(|word| word.as_bytes().into()).collect(),
            cells: Vec::with_capacity(data.len()),
            ends: Vec::with_capacity(indptr.len()),
        };
        for bounds in indptr.windows(2) {
            let range = match (usize::try_from(bounds[0]), usize::try_from(bounds[1])) {
                (Ok(start), Ok(end)) if start <= end && end <= data.len().min(indices.len()) => {
                    start..end
                }
                _ => {
                    let message = "the sparse matrix has row bounds out of order";
                    return Err(Error::Invalid(message.into()));
                }
            };
            for (&column, &count) in indices[range.clone()].iter().zip(&data[range]) {
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

    fn row(&self, row: usize) -> &[(u32, f64)] {
        let start = if row == 0 { 0 } else { self.ends[row - 1] };
        &self.cells[start..self.ends[row]]
    }
}

impl<T: AsMessage> Messages<T> {
    pub fn len(&self) -> usize {
        match self {
            Messages::Items(items) => items.len(),
            Messages::Matrix(matrix) => matrix.ends.len(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Reads all remaining messages until the watch stops it.
    pub fn read(&self, watch: &Watch) {
        if let Messages::Items(items) = self {
            items.read(watch);
        }
    }

    /// Waits for a message; returns whether it exists.
    #[inline]
    fn has(&self, place: usize) -> bool {
        match self {
            Messages::Items(items) => items.get(place).is_some(),
            Messages::Matrix(_) => true,
        }
    }
}

/// Messages and their tokenizer.
pub struct Batch<'a, T> {
    pub messages: &'a Messages<T>,
    pub tokenizer: &'a Tokenizer,
}

impl<'a, T: AsMessage> Batch<'a, T> {
    /// A reader for single messages.
    pub fn reader(&self) -> MessageReader<'a, T> {
        let Batch { messages, tokenizer } = *self;
        let columns = match messages {
            Messages::Matrix(matrix) => Columns::new(&matrix.words),
            Messages::Items(_) => Columns::new(&[]),
        };
        MessageReader { messages, tokenizer, columns }
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
        let (messages, labels) = (batch.messages.len(), classes.len());
        if labels == messages && range.start <= range.end && range.end <= messages {
            return Ok(Labelled { batch, range, classes, weight });
        }
        Err(Error::Invalid(format!(
            "{messages} messages and {labels} labels: give one label for each message"
        )))
    }

    /// Fails if the store has no room or the weight is invalid.
    fn check(&self, store: &Store) -> Result<()> {
        store.check_room().and_then(|()| store.settings().check_in_window(self.weight))
    }

    /// Learns a part of the range until the watch stops it or an unread message is reached.
    pub fn learn(
        &self,
        store: &mut Store,
        scratch: &mut tokenizer::Scratch,
        bag: &mut Bag,
        part: Range<usize>,
        watch: &Watch,
    ) -> Result<()> {
        let Labelled { batch, classes, weight, .. } = self;
        self.check(store)?;
        let rule = store.rule().filter(|rule| rule.weighs());
        let mut reader = batch.reader();
        for place in part {
            if !batch.messages.has(place) {
                break;
            }
            let class = classes[place];
            let mut instance_weight = 0.0;
            if let Some(rule) = &rule {
                reader.look_up(place, store, scratch, bag, false);
                instance_weight = rule.instance_weight(store, bag, class);
            }
            reader.intern(place, store, scratch, bag);
            store.learn_instance(bag, class, *weight, instance_weight)?;
            if watch.stops(MESSAGE + bag.words.len()) {
                break;
            }
        }
        Ok(())
    }

    /// Learns all messages on up to `threads` threads, including the calling thread, if the batch
    /// is large enough. The calling thread reads the messages.
    ///
    /// If counts add up, each thread learns a share. Otherwise one thread learns in order while the
    /// others tokenise the next texts, and all threads update the pair table.
    pub fn learn_on_threads(
        &self,
        store: &mut Store,
        scratch: &mut tokenizer::Scratch,
        bag: &mut Bag,
        threads: usize,
        watch: &Watch,
    ) -> Result<()> {
        store.follow_by(threads);
        let learned = self.learn_texts_on_threads(store, scratch, bag, threads, watch);
        store.follow_by(1);
        learned
    }

    /// Stores that only count do not let other threads tokenise: it took 1.2 (mails) to 4 times
    /// (text messages) as long, because most of the work is finding and counting words.
    fn learn_texts_on_threads(
        &self,
        store: &mut Store,
        scratch: &mut tokenizer::Scratch,
        bag: &mut Bag,
        threads: usize,
        watch: &Watch,
    ) -> Result<()> {
        let (shared, online) = (store.adds_up(self.weight), store.settings().online_weights);
        let indexed = store.settings().index_size > 0 && store.rule().is_none();
        if let Messages::Items(items) = self.batch.messages
            && threads > 1
            && (shared || online || indexed)
        {
            let mean = items.mean_bytes(2 * WORTH).unwrap_or(0);
            let worth = threads.min(mean * self.range.len() / WORTH);
            if worth > 1 && shared {
                return self.learn_shares(items, worth, store, scratch, bag, watch);
            }
            if worth > 1 && (online || mean >= LONG) {
                return self.learn_cut_ahead(items, worth, store, watch);
            }
        }
        self.batch.messages.read(watch);
        self.learn(store, scratch, bag, self.range.clone(), watch)
    }
}

/// Reads messages one after the other and remembers the ids of columns.
pub struct MessageReader<'a, T> {
    messages: &'a Messages<T>,
    tokenizer: &'a Tokenizer,
    columns: Columns<'a>,
}

impl<T: AsMessage> MessageReader<'_, T> {
    /// Looks up the words of a message; for `distinct` see [`Message::look_up`].
    #[inline]
    pub fn look_up(
        &mut self,
        place: usize,
        store: &Store,
        scratch: &mut tokenizer::Scratch,
        bag: &mut Bag,
        distinct: bool,
    ) {
        match self.messages {
            Messages::Items(items) => {
                let message = items.get(place).unwrap_or(NOTHING);
                message.look_up(store, self.tokenizer, scratch, bag, distinct);
            }
            Messages::Matrix(matrix) => self.columns.look_up(store, matrix.row(place), bag),
        }
    }

    #[inline]
    fn intern(
        &mut self,
        place: usize,
        store: &mut Store,
        scratch: &mut tokenizer::Scratch,
        bag: &mut Bag,
    ) {
        match self.messages {
            Messages::Items(items) => {
                let message = items.get(place).unwrap_or(NOTHING);
                message.intern(store, self.tokenizer, scratch, bag);
            }
            Messages::Matrix(matrix) => self.columns.intern(store, matrix.row(place), bag),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::counts::store::Settings;
    use crate::text::tokenizer::TokenizerOptions;

    struct Text(&'static str);

    impl AsMessage for Text {
        fn as_message(&self) -> Message<'_> {
            Message::Text(self.0)
        }
    }

    fn learned(messages: &Messages<Text>, classes: &[ClassId]) -> Vec<u8> {
        let tokenizer = Tokenizer::new(TokenizerOptions::default()).expect("valid options");
        let mut store = Store::new(Settings::COUNTS);
        let (mut scratch, mut bag) = (tokenizer::Scratch::new(), Bag::default());
        let (all, watch) = (0..messages.len(), Watch::default());
        let batch = Batch { messages, tokenizer: &tokenizer };
        Labelled::new(batch, all.clone(), classes, 1.0)
            .expect("one class for each message")
            .learn(&mut store, &mut scratch, &mut bag, all, &watch)
            .expect("room");
        store.ranks = vec![0, 1];
        store.snapshot_counts(&store.class_order(), |_| 0.0).expect("every class is ranked")
    }

    #[test]
    fn rows_of_a_matrix_are_learned_as_texts_are() {
        let texts = vec![Text("aa bb bb"), Text(""), Text("bb cc")];
        let texts = Messages::Items(texts.into());
        let (indptr, indices) = ([0, 2, 2, 5], [1, 0, 0, 2, 1]);
        let data = [1.0, 2.0, 1.0, 1.0, 0.0];
        let matrix = Matrix::new(&indptr, &indices, &data, &["bb", "aa", "cc"]).expect("a matrix");
        let rows = Messages::Matrix(matrix);
        assert_eq!((texts.len(), rows.len(), rows.is_empty()), (3, 3, false));
        assert_eq!(learned(&texts, &[0, 1, 1]), learned(&rows, &[0, 1, 1]));
        assert_ne!(learned(&texts, &[0, 1, 1]), learned(&rows, &[0, 1, 0]));
    }

    #[test]
    fn what_is_no_matrix_or_has_other_labels_is_refused() {
        let new = |indptr: &[i64], indices: &[i64], data: &[f64]| {
            Matrix::new(indptr, indices, data, &["a"]).is_err()
        };
        assert!(!new(&[0, 1], &[0], &[1.0]));
        assert!(new(&[0, 2], &[0], &[1.0]));
        assert!(new(&[1, 0], &[0], &[1.0]));
        assert!(new(&[0, 1], &[1], &[1.0]));
        assert!(new(&[0, 1], &[-1], &[1.0]));
        assert!(new(&[0, 1], &[0], &[f64::NAN]));
        let messages = Messages::Items(vec![Text("a"), Text("b")].into());
        let tokenizer = Tokenizer::new(TokenizerOptions::default()).expect("valid options");
        let labelled = |range, classes| {
            let batch = Batch { messages: &messages, tokenizer: &tokenizer };
            Labelled::new(batch, range, classes, 1.0).is_ok()
        };
        assert!(labelled(0..2, &[0, 1]));
        let reversed = Range { start: 2, end: 1 };
        for (range, classes) in [(0..2, &[0][..]), (0..3, &[0, 1]), (reversed, &[0, 1])] {
            assert!(!labelled(range, classes));
        }
    }
}
