//! N-grams of characters, across words and within them.

use std::ops::ControlFlow;

use super::runs::{characters, runs};
use super::scratch::SLACK;
use super::{Scratch, Sizes};

/// Gives the text's n-grams of characters; the scratch's bits tell its white space.
pub(super) fn across_words(
    scratch: &mut Scratch,
    len: usize,
    (min, max): Sizes,
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
    (min as usize..=max as usize)
        .try_for_each(|n| each_ngram(&joined[..len], n, |start, end| give(joined, start, end)))
}

/// Gives the n-grams of the characters of each word; the scratch's bits tell the white space.
pub(super) fn within_words(
    scratch: &mut Scratch,
    len: usize,
    (min, max): Sizes,
    longest: usize,
    mut give: impl FnMut(&[u8], usize, usize) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let Scratch { folded, bits, joined, .. } = scratch;
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
