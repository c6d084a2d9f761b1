//! N-grams of words and of characters.

use std::ops::{ControlFlow, Range, RangeInclusive};

use super::Sizes;
use super::fold::{SLACK, Scratch, Span};
use super::runs::{characters, runs};
use super::token_sink::TokenSink;
use crate::text::token::BLOCK;

/// Push the n-grams of words, the shortest first.
///
/// In a script without spaces a word is one character, which is hardly informative alone. There the
/// pairs are added even if only single words are requested.
pub(super) fn of_words(
    scratch: &mut Scratch,
    (min, max): Sizes,
    sink: &mut impl TokenSink,
) -> ControlFlow<()> {
    if max > 1 {
        return joined(scratch, min as usize..=max as usize, sink);
    }
    let Scratch { folded, spans, .. } = &*scratch;
    spans.iter().try_for_each(|word| sink.push(folded, word.start, word.end))?;
    let mut pairs = spans.windows(2).filter(|pair| pair[1].tight);
    pairs.try_for_each(|pair| sink.push(folded, pair[0].start, pair[1].end))
}

fn joined(
    scratch: &mut Scratch,
    sizes: RangeInclusive<usize>,
    sink: &mut impl TokenSink,
) -> ControlFlow<()> {
    let Scratch { folded, spans, joined, places, .. } = scratch;
    let bytes = spans.last().map_or(0, |last| last.end);
    joined.resize(joined.len().max(bytes + spans.len() + SLACK), 0);
    places.clear();
    let mut to = 0;
    for word in spans.iter() {
        if !word.tight {
            joined[to] = b' ';
            to += 1;
        }
        let end = copy(folded, word, joined, to);
        places.push((to, end));
        to = end;
    }
    sizes.into_iter().try_for_each(|n| {
        places.windows(n).try_for_each(|words| match words {
            [only] => sink.push(joined, only.0, only.1),
            [first, .., last] => sink.push(joined, first.0, last.1),
            [] => ControlFlow::Break(()),
        })
    })
}

/// Copy a word and return the copy's end; both buffers have room for a block after the start.
#[inline(always)]
fn copy(folded: &[u8], word: &Span, buffer: &mut [u8], to: usize) -> usize {
    let length = word.end - word.start;
    let blocks = (folded[word.start..].first_chunk(), buffer[to..].first_chunk_mut::<BLOCK>());
    match blocks {
        (Some(block), Some(copy)) if length <= BLOCK => *copy = *block,
        _ => buffer[to..to + length].copy_from_slice(&folded[word.start..word.end]),
    }
    to + length
}

/// Push the text's n-grams of characters; the scratch's bits mark the white space.
pub(super) fn across_words(
    scratch: &mut Scratch,
    len: usize,
    (min, max): Sizes,
    sink: &mut impl TokenSink,
) -> ControlFlow<()> {
    let Scratch { folded, bits, joined, .. } = scratch;
    joined.clear();
    let mut copied = 0;
    let _ = runs::<false>(bits, len, |start, end| {
        // A single white-space character stays: scikit-learn replaces `\s\s+`.
        if characters(&folded[start..end]) > 1 {
            joined.extend_from_slice(&folded[copied..start]);
            joined.push(b' ');
            copied = end;
        }
        ControlFlow::Continue(())
    });
    joined.extend_from_slice(&folded[copied..len]);
    let (len, ascii) = (joined.len(), joined.is_ascii());
    joined.resize(len + SLACK, 0);
    (min as usize..=max as usize).try_for_each(|n| each_ngram(joined, 0..len, n, ascii, sink))
}

/// Push the n-grams of the characters of each word; the scratch's bits mark the white space.
pub(super) fn within_words(
    scratch: &mut Scratch,
    len: usize,
    (min, max): Sizes,
    longest: usize,
    sink: &mut impl TokenSink,
) -> ControlFlow<()> {
    let Scratch { folded, bits, joined, .. } = scratch;
    // A space before and after each word; words share them.
    joined.clear();
    joined.push(b' ');
    joined.extend_from_slice(&folded[..len + SLACK]);
    joined[len + 1] = b' ';
    let ascii = folded[..len].is_ascii();
    let mut word = |joined: &[u8], start: usize, end: usize| {
        let count = if ascii { end - start } else { characters(&folded[start..end]) };
        if count == 0 || count > longest {
            return ControlFlow::Continue(());
        }
        let padded = start..end + 2;
        for n in min as usize..=max as usize {
            if n >= count + 2 {
                // The whole word, once.
                return sink.push(joined, padded.start, padded.end);
            }
            each_ngram(joined, padded.clone(), n, ascii, sink)?;
        }
        ControlFlow::Continue(())
    };
    let mut from = 0;
    runs::<false>(bits, len, |start, end| {
        (joined[start + 1], joined[end]) = (b' ', b' ');
        let flow = word(joined, from, start);
        from = end;
        flow
    })?;
    word(joined, from, len)
}

/// Push each n-gram of the characters in a range of a text, which may be known to be ASCII.
fn each_ngram(
    text: &[u8],
    Range { mut start, end: last }: Range<usize>,
    n: usize,
    ascii: bool,
    sink: &mut impl TokenSink,
) -> ControlFlow<()> {
    if ascii {
        return (start..(last + 1).saturating_sub(n))
            .try_for_each(|start| sink.push(text, start, start + n));
    }
    let next = |at: usize| {
        at + match text.get(at) {
            None | Some(0..0xc0) => 1,
            Some(0xc0..0xe0) => 2,
            Some(0xe0..0xf0) => 3,
            Some(0xf0..) => 4,
        }
    };
    let mut end = (0..n).fold(start, |end, _| next(end));
    while end <= last {
        sink.push(text, start, end)?;
        start = next(start);
        end = next(end);
    }
    ControlFlow::Continue(())
}
