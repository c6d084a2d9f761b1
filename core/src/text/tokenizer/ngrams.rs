//! N-grams and sparse bigrams of words.

use std::ops::{ControlFlow, RangeInclusive};

use super::Sizes;
use super::scratch::{SLACK, Scratch, Span};
use crate::text::token::BLOCK;

/// Gives the n-grams of words, the shortest first.
///
/// In a script without spaces a word is a character, which says little alone: there the pairs are
/// given even where single words are all that is asked for, unless `paired` tells that pairs come
/// from elsewhere.
pub(super) fn of_words(
    scratch: &mut Scratch,
    (min, max): Sizes,
    paired: bool,
    mut give: impl FnMut(&[u8], usize, usize) -> ControlFlow<()>,
) -> ControlFlow<()> {
    if max > 1 {
        return joined(scratch, min as usize..=max as usize, give);
    }
    let Scratch { folded, spans, .. } = &*scratch;
    spans.iter().try_for_each(|word| give(folded, word.start, word.end))?;
    if !paired {
        for pair in spans.windows(2).filter(|pair| pair[1].tight) {
            give(folded, pair[0].start, pair[1].end)?;
        }
    }
    ControlFlow::Continue(())
}

fn joined(
    scratch: &mut Scratch,
    sizes: RangeInclusive<usize>,
    mut give: impl FnMut(&[u8], usize, usize) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let Scratch { folded, spans, joined, places, .. } = scratch;
    let bytes = spans.last().map_or(0, |last| last.end);
    make_room(joined, bytes + spans.len());
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
            [only] => give(joined, only.0, only.1),
            [first, .., last] => give(joined, first.0, last.1),
            [] => ControlFlow::Break(()),
        })
    })
}

/// Pairs each word with those that follow it within the window (Siefkes et al. 2004).
///
/// The number of spaces between the two is their distance, and no word holds a space, so that
/// pairs with different words or distances are different tokens. A pair at distance 1 is the
/// n-gram of both; `paired` tells that those come from elsewhere.
pub(super) fn sparse_bigrams(
    scratch: &mut Scratch,
    window: u32,
    paired: bool,
    mut give: impl FnMut(&[u8], usize, usize) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let Scratch { folded, spans, joined: pair, .. } = scratch;
    let longest = spans.iter().map(|word| word.end - word.start).max().unwrap_or(0);
    make_room(pair, 2 * longest + window as usize);
    for (at, first) in spans.iter().enumerate() {
        let length = copy(folded, first, pair, 0);
        for (distance, second) in (1..window as usize).zip(&spans[at + 1..]) {
            // The rounds before have left all spaces but the last.
            let last_space = length + distance - 1;
            pair[last_space] = b' ';
            if distance > 1 || !paired {
                let tight = distance == 1 && second.tight;
                let end = copy(folded, second, pair, last_space + usize::from(!tight));
                give(pair, 0, end)?;
                pair[last_space] = b' ';
            }
        }
    }
    ControlFlow::Continue(())
}

/// Lengthens a buffer to this many bytes and some to spare, if it is shorter.
fn make_room(buffer: &mut Vec<u8>, bytes: usize) {
    if buffer.len() < bytes + SLACK {
        buffer.resize(bytes + SLACK, 0);
    }
}

/// Copies a word; both buffers have room for a block behind its start. Gives the copy's end.
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
