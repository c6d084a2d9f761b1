//! The messages of a batch. Threads can process the first messages while later ones are read.

use crate::counts::batch::MESSAGE;
use crate::counts::message::{AsMessage, Message};
use crate::watch::Watch;
use std::ops::Range;
use std::sync::OnceLock;

/// Messages read together: a reader of the first one waits a few microseconds.
pub const PIECE: usize = 256;

/// Reads the messages of a range; None if it was interrupted.
pub type Read<T> = dyn Fn(Range<usize>) -> Option<Vec<T>> + Send + Sync;

/// Messages that are present, or that one thread reads while others wait for them.
///
/// Texts belong to the host language, whose lock allows one thread to read them. The calling thread
/// must call [`read`](Self::read).
pub struct Items<T> {
    pieces: Box<[OnceLock<Vec<T>>]>,
    len: usize,
    read: Option<Box<Read<T>>>,
}

impl<T> From<Vec<T>> for Items<T> {
    fn from(items: Vec<T>) -> Self {
        let (len, mut rest) = (items.len(), items.into_iter());
        let piece = |_| OnceLock::from(rest.by_ref().take(PIECE).collect::<Vec<T>>());
        Items { pieces: (0..len.div_ceil(PIECE)).map(piece).collect(), len, read: None }
    }
}

impl<T: AsMessage> Items<T> {
    /// `len` messages that are not read yet.
    pub fn unread(len: usize, read: Box<Read<T>>) -> Self {
        let pieces = (0..len.div_ceil(PIECE)).map(|_| OnceLock::new()).collect();
        Items { pieces, len, read: Some(read) }
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Waits for a message; None if reading ended before it.
    #[inline]
    pub fn get(&self, place: usize) -> Option<Message<'_>> {
        self.pieces[place / PIECE].wait().get(place % PIECE).map(T::as_message)
    }

    /// Reads all remaining messages until the watch stops it.
    pub fn read(&self, watch: &Watch) {
        let _ended = Ended(&self.pieces);
        self.read_while(|_| !watch.stops(MESSAGE * PIECE));
    }

    /// The mean size in bytes of the first texts, up to a total of `together` bytes; None if other
    /// messages are among them. Reads these texts.
    pub fn mean_bytes(&self, together: usize) -> Option<usize> {
        let (mut bytes, mut texts) = (Some(0), 0);
        self.read_while(|items| {
            let sizes = items.iter().map(|item| item.as_message().text().map(str::len));
            bytes = sizes.fold(bytes, |bytes, size| Some(bytes? + size?));
            texts += items.len();
            bytes.is_some_and(|bytes| bytes < together)
        });
        Some(bytes? / texts.max(1))
    }

    /// Splits a range into `parts` ranges with about equal bytes of text.
    pub fn cut(&self, range: Range<usize>, parts: usize) -> Vec<Range<usize>> {
        let size =
            |place| self.get(place).and_then(|message| message.text().map(str::len)).unwrap_or(0);
        let all: usize = range.clone().map(size).sum();
        let (mut cut, mut start, mut bytes) = (Vec::with_capacity(parts), range.start, 0);
        for place in range.clone() {
            if cut.len() + 1 < parts && bytes * parts >= all * (cut.len() + 1) {
                cut.push(start..place);
                start = place;
            }
            bytes += size(place);
        }
        cut.push(start..range.end);
        cut.resize(parts, range.end..range.end);
        cut
    }

    /// Reads piece by piece while `goes_on` accepts the messages read.
    fn read_while(&self, mut goes_on: impl FnMut(&[T]) -> bool) {
        for (number, piece) in self.pieces.iter().enumerate() {
            let places = number * PIECE..self.len.min((number + 1) * PIECE);
            let read = || self.read.as_ref().and_then(|read| read(places));
            let Some(items) =
                piece.get().or_else(|| read().map(|items| piece.get_or_init(|| items)))
            else {
                return;
            };
            if !goes_on(items) {
                return;
            }
        }
    }
}

/// When dropped, nothing waits for unread messages any longer.
struct Ended<'a, T>(&'a [OnceLock<Vec<T>>]);

impl<T> Drop for Ended<'_, T> {
    fn drop(&mut self) {
        for piece in self.0 {
            piece.get_or_init(Vec::new);
        }
    }
}
