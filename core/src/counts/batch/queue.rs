//! The pieces of a batch that threads tokenise ahead of the learner.

use crate::text::distinct::TokenizedTexts;
use crate::threads::{LOOK, lock};
use crate::watch::Watch;
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// The pieces of a batch, in order: learned pieces, claimed pieces, and the rest.
pub(super) struct Queue {
    range: Range<usize>,
    /// Messages of a piece.
    length: usize,
    pub(super) pieces: usize,
    /// How many unlearned pieces may be claimed.
    window: usize,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    learned: usize,
    taken: VecDeque<Taken>,
    /// Whether learning has ended.
    ended: bool,
    /// Buffers for reuse.
    spare: Vec<TokenizedTexts>,
}

/// A claimed piece.
enum Taken {
    AtWork,
    /// The tokenised texts, if tokenising succeeded.
    Done(Option<TokenizedTexts>),
}

impl Queue {
    pub(super) fn new(range: Range<usize>, length: usize, window: usize) -> Self {
        let pieces = range.len().div_ceil(length);
        let (state, changed) = (Mutex::default(), Condvar::new());
        Queue { range, length, pieces, window, state, changed }
    }

    /// The messages of a piece.
    pub(super) fn places(&self, piece: usize) -> Range<usize> {
        let start = self.range.start + piece * self.length;
        start..self.range.end.min(start + self.length)
    }

    /// Claims the next piece once it is not too far ahead; None if all are claimed or the watch
    /// stops.
    pub(super) fn take(&self, watch: &Watch) -> Option<Claim<'_>> {
        let mut state = lock(&self.state);
        loop {
            let piece = state.learned + state.taken.len();
            if state.ended || piece == self.pieces || watch.is_stopped() {
                return None;
            }
            if state.taken.len() < self.window {
                state.taken.push_back(Taken::AtWork);
                let spare = state.spare.pop().unwrap_or_default();
                return Some(Claim { queue: self, piece, spare, cut: None });
            }
            state = self.wait(state, watch);
        }
    }

    /// The tokenised texts of the first unlearned piece; None if it is unclaimed, could not be
    /// tokenised, or the watch stops.
    pub(super) fn first(&self, watch: &Watch) -> Option<TokenizedTexts> {
        let mut state = lock(&self.state);
        loop {
            match state.taken.front_mut() {
                Some(Taken::Done(texts)) => return texts.take(),
                Some(Taken::AtWork) if !watch.is_stopped() => {}
                Some(Taken::AtWork) => return None,
                None => {
                    state.taken.push_back(Taken::AtWork);
                    return None;
                }
            }
            state = self.wait(state, watch);
        }
    }

    /// Marks the first piece as learned.
    pub(super) fn learned(&self, texts: Option<TokenizedTexts>) {
        let mut state = lock(&self.state);
        state.learned += 1;
        state.taken.pop_front();
        state.spare.extend(texts);
        self.changed.notify_all();
    }

    /// Waits for a change and checks the watch.
    fn wait<'a>(&self, state: MutexGuard<'a, State>, watch: &Watch) -> MutexGuard<'a, State> {
        let waited = self.changed.wait_timeout(state, LOOK);
        watch.asks();
        waited.unwrap_or_else(PoisonError::into_inner).0
    }
}

/// A piece claimed by a thread. Dropping the claim completes it.
pub(super) struct Claim<'a> {
    queue: &'a Queue,
    pub(super) piece: usize,
    /// Buffer for the tokens.
    pub(super) spare: TokenizedTexts,
    /// The tokenised texts, if tokenising succeeded.
    pub(super) cut: Option<TokenizedTexts>,
}

impl Drop for Claim<'_> {
    fn drop(&mut self) {
        let mut state = lock(&self.queue.state);
        let place = self.piece - state.learned;
        state.taken[place] = Taken::Done(self.cut.take());
        self.queue.changed.notify_all();
    }
}

/// When dropped, learning has ended.
pub(super) struct Ended<'a>(pub(super) &'a Queue);

impl Drop for Ended<'_> {
    fn drop(&mut self) {
        lock(&self.0.state).ended = true;
        self.0.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::distinct::DistinctTokens;

    /// A watch that stops a waiting thread.
    fn impatient() -> Watch<'static> {
        Watch::asking(&|| false)
    }

    #[test]
    fn pieces_are_learned_in_order_and_no_more_are_taken_than_the_window_has() {
        let (queue, watch) = (Queue::new(3..13, 4, 2), Watch::default());
        assert_eq!((0..3).map(|n| queue.places(n)).collect::<Vec<_>>(), [3..7, 7..11, 11..13]);
        let mut first = queue.take(&watch).expect("a piece");
        let second = queue.take(&watch).expect("a piece");
        assert_eq!((first.piece, second.piece), (0, 1));
        assert!(queue.take(&impatient()).is_none());
        let mut tokens = DistinctTokens::default();
        tokens.clear();
        first.spare.push(&tokens);
        first.cut = Some(std::mem::take(&mut first.spare));
        drop(second);
        // The second piece is tokenised, the first is not.
        assert!(queue.first(&impatient()).is_none());
        std::thread::scope(|scope| {
            let third = scope.spawn(|| queue.take(&Watch::default()).map(|claim| claim.piece));
            let learner = scope.spawn(|| queue.first(&Watch::default()));
            drop(first);
            let texts = learner.join().expect("no panic");
            assert_eq!(texts.as_ref().map(|texts| texts.text(0).len()), Some(0));
            assert!(queue.take(&impatient()).is_none());
            queue.learned(texts);
            assert_eq!(third.join().expect("no panic"), Some(2));
        });
        // A claimed piece without tokens is handled like an unclaimed one.
        assert!(queue.first(&watch).is_none() && !watch.is_stopped());
        queue.learned(None);
        assert!(queue.first(&watch).is_none());
        queue.learned(None);
        assert!(queue.take(&watch).is_none());
    }

    #[test]
    fn the_learner_takes_an_unclaimed_piece() {
        let (queue, watch) = (Queue::new(0..3, 1, 1), Watch::default());
        assert!(queue.first(&watch).is_none());
        assert!(queue.take(&impatient()).is_none());
        queue.learned(None);
        assert_eq!(queue.take(&watch).map(|claim| claim.piece), Some(1));
    }

    #[test]
    fn no_thread_waits_after_learning_has_ended() {
        let queue = Queue::new(0..9, 1, 1);
        let claim = queue.take(&Watch::default());
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| queue.take(&Watch::default()).is_none());
            drop(Ended(&queue));
            assert!(waiting.join().expect("no panic"));
        });
        drop(claim);
        assert!(queue.take(&Watch::default()).is_none());
    }
}
