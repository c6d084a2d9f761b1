//! The messages of a batch. Threads can process the first messages while later ones are read.

use crate::counts::batch::MESSAGE;
use crate::counts::message::{AsMessage, Message};
use crate::watch::Watch;
use std::ops::Range;
use std::sync::OnceLock;

/// Messages read together: a reader of the first one waits a few microseconds.
const PIECE: usize = 256;

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

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;
    use std::sync::atomic::{AtomicUsize, Ordering};

    struct Text(usize);

    impl AsMessage for Text {
        fn as_message(&self) -> Message<'_> {
            Message::Text(&"yyyyyyyyyyyyyyyyyyyy"[..self.0])
        }
    }

    /// `len` texts that can be read up to `end`.
    fn unread(len: usize, end: usize) -> Items<Text> {
        let text = |place: usize| Text(place % 20);
        let read =
            move |places: Range<usize>| (places.end <= end).then(|| places.map(text).collect());
        Items::unread(len, Box::new(read))
    }

    fn sizes(items: &Items<Text>) -> Vec<Option<usize>> {
        (0..items.len()).map(|place| Some(items.get(place)?.size())).collect()
    }

    #[test]
    fn who_needs_a_message_waits_until_it_is_read() {
        let (items, got) = (unread(3 * PIECE, 3 * PIECE), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            let last = scope.spawn(|| {
                got.fetch_add(items.get(0).map_or(0, |_| 1), Ordering::Relaxed);
                items.get(3 * PIECE - 1).map(|message| message.size())
            });
            // The first piece lets the other thread continue to the last one, which does not exist.
            assert_eq!(
                items.mean_bytes(1),
                Some((0..PIECE).map(|n| n % 20).sum::<usize>() / PIECE)
            );
            while got.load(Ordering::Relaxed) == 0 {
                std::thread::yield_now();
            }
            assert!(!last.is_finished());
            items.read(&Watch::default());
            assert_eq!(last.join().expect("no panic"), Some((3 * PIECE - 1) % 20));
        });
        assert_eq!(sizes(&items), (0..3 * PIECE).map(|n| Some(n % 20)).collect::<Vec<_>>());
    }

    #[test]
    fn nobody_waits_for_what_is_never_read() {
        let goes_on = Cell::new(false);
        let stopping = || goes_on.get();
        for (items, watch) in [
            (unread(3 * PIECE, PIECE), Watch::default()),
            (unread(3 * PIECE, 3 * PIECE), Watch::asking(&stopping)),
        ] {
            std::thread::scope(|scope| {
                let last = scope.spawn(|| items.get(3 * PIECE - 1).is_none());
                // Long enough for the watch to be checked.
                std::thread::sleep(std::time::Duration::from_millis(60));
                items.read(&watch);
                assert!(last.join().expect("no panic"));
            });
            assert_eq!(sizes(&items).iter().flatten().count(), PIECE);
        }
    }

    #[test]
    fn items_that_are_there_are_read() {
        for len in [0, 1, PIECE, PIECE + 1] {
            let items = Items::from((0..len).map(|n| Text(n % 20)).collect::<Vec<_>>());
            assert_eq!(sizes(&items), (0..len).map(|n| Some(n % 20)).collect::<Vec<_>>());
            items.read(&Watch::default());
            assert!(items.mean_bytes(usize::MAX).is_some());
        }
    }

    #[test]
    fn a_range_is_cut_into_as_many_as_are_asked_for() {
        let items = Items::from((0..200).map(|n| Text(n % 20)).collect::<Vec<_>>());
        for parts in 1..5 {
            let cut = items.cut(3..198, parts);
            assert_eq!((cut.len(), cut[0].start, cut[parts - 1].end), (parts, 3, 198));
            assert!(cut.windows(2).all(|pair| pair[0].end == pair[1].start));
            assert!(cut.iter().all(|part| part.len().abs_diff(195 / parts) < 9));
        }
        // Empty ranges, or fewer messages than parts.
        assert_eq!(items.cut(7..7, 3), [7..7, 7..7, 7..7]);
        let empty = Items::from(vec![Text(0), Text(0)]);
        let cut = empty.cut(0..2, 3);
        assert_eq!((cut.len(), cut[2].end), (3, 2));
        assert_eq!(cut.iter().map(|part| part.len()).sum::<usize>(), 2);
    }
}
