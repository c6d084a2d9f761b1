//! N-grams of words and of characters.

use std::ops::ControlFlow;

use super::options::SPARSE_WINDOW;
use super::runs::{characters, runs};
use super::scratch::SLACK;
use super::{Scratch, Tokenizer};

impl Tokenizer {
    pub(super) fn word_ngrams(
        &self,
        scratch: &mut Scratch,
        len: usize,
        mut give: impl FnMut(&[u8], usize, usize) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let (joined, spans) = self.join_words(scratch, len);
        let (min, max) = self.options.ngram_range;
        let flow = (min as usize..=max as usize).try_for_each(|n| {
            spans.windows(n).try_for_each(|words| match words {
                [only] => give(&joined, only.0, only.1),
                [first, .., last] => give(&joined, first.0, last.1),
                [] => ControlFlow::Break(()),
            })
        });
        scratch.joined = joined;
        scratch.spans = spans;
        flow
    }

    /// Pairs each word with those that follow it within the window. The number of spaces between
    /// the two is their distance, and no word holds a space, so that pairs with different words
    /// or distances are different tokens.
    pub(super) fn sparse_bigrams(
        &self,
        scratch: &mut Scratch,
        len: usize,
        mut give: impl FnMut(&[u8], usize, usize) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let (joined, spans) = self.join_words(scratch, len);
        let pair = &mut scratch.pair;
        let flow = spans.iter().enumerate().try_for_each(|(at, &(start, end))| {
            pair.clear();
            pair.extend_from_slice(&joined[start..end]);
            let mut first = pair.len();
            spans[at + 1..].iter().take(SPARSE_WINDOW - 1).try_for_each(|&(start, end)| {
                pair.truncate(first);
                pair.push(b' ');
                first = pair.len();
                pair.extend_from_slice(&joined[start..end]);
                let len = pair.len();
                pair.resize(len + SLACK, 0);
                give(pair, 0, len)
            })
        });
        scratch.joined = joined;
        scratch.spans = spans;
        flow
    }

    /// Takes the scratch's buffers of words side by side, filled; to be put back.
    fn join_words(&self, scratch: &mut Scratch, len: usize) -> (Vec<u8>, Vec<(usize, usize)>) {
        let mut joined = std::mem::take(&mut scratch.joined);
        let mut spans = std::mem::take(&mut scratch.spans);
        joined.clear();
        spans.clear();
        let _ = self.words(scratch, len, |start, end| {
            let to = joined.len();
            joined.extend_from_slice(&scratch.folded[start..end]);
            spans.push((to, joined.len()));
            joined.push(b' ');
            ControlFlow::Continue(())
        });
        joined.resize(joined.len() + SLACK, 0);
        (joined, spans)
    }

    pub(super) fn char_ngrams(
        &self,
        scratch: &mut Scratch,
        len: usize,
        mut give: impl FnMut(&[u8], usize, usize) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let Scratch { folded, bits, joined, .. } = scratch;
        joined.clear();
        let mut copied = 0;
        let _ = runs::<false>(bits, len, |start, end| {
            // A lone white-space character stays what it is: scikit-learn replaces `\s\s+`.
            if characters(&folded[start..end]) > 1 {
                joined.extend_from_slice(&folded[copied..start]);
                joined.push(b' ');
                copied = end;
            }
            ControlFlow::Continue(())
        });
        joined.extend_from_slice(&folded[copied..len]);
        let len = joined.len();
        joined.resize(len + SLACK, 0);
        let (min, max) = self.options.ngram_range;
        (min as usize..=max as usize)
            .try_for_each(|n| each_ngram(&joined[..len], n, |start, end| give(joined, start, end)))
    }

    pub(super) fn char_ngrams_within_words(
        &self,
        scratch: &mut Scratch,
        len: usize,
        mut give: impl FnMut(&[u8], usize, usize) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let Scratch { folded, bits, joined, .. } = scratch;
        let (min, max) = self.options.ngram_range;
        let longest = self.options.max_token_length.map_or(usize::MAX, |max| max as usize);
        let mut word = |start: usize, end: usize| {
            let count = characters(&folded[start..end]);
            if count == 0 || count > longest {
                return ControlFlow::Continue(());
            }
            joined.clear();
            joined.push(b' ');
            joined.extend_from_slice(&folded[start..end]);
            joined.push(b' ');
            let (len, count) = (joined.len(), count + 2);
            joined.resize(len + SLACK, 0);
            for n in min as usize..=max as usize {
                if n >= count {
                    // The whole word, only once however long n-grams may become.
                    return give(joined, 0, len);
                }
                each_ngram(&joined[..len], n, |start, end| give(joined, start, end))?;
            }
            ControlFlow::Continue(())
        };
        let mut from = 0;
        runs::<false>(bits, len, |start, end| {
            let flow = word(from, start);
            from = end;
            flow
        })?;
        word(from, len)
    }
}

/// Calls `found` for each of the text's n-grams of characters.
fn each_ngram(
    text: &[u8],
    n: usize,
    mut found: impl FnMut(usize, usize) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let next = |at: usize| {
        at + match text.get(at) {
            None | Some(0..0xc0) => 1,
            Some(0xc0..0xe0) => 2,
            Some(0xe0..0xf0) => 3,
            Some(0xf0..) => 4,
        }
    };
    let (mut start, mut end) = (0, 0);
    for _ in 0..n {
        end = next(end);
    }
    while end <= text.len() {
        found(start, end)?;
        start = next(start);
        end = next(end);
    }
    ControlFlow::Continue(())
}
