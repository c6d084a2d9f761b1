//! N-grams and sparse bigrams of words.

use std::ops::{ControlFlow, RangeInclusive};

use super::Sizes;
use super::scratch::{SLACK, Scratch, Span};

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
    joined.clear();
    places.clear();
    for &Span { start, end, tight } in spans.iter() {
        if !tight {
            joined.push(b' ');
        }
        let to = joined.len();
        joined.extend_from_slice(&folded[start..end]);
        places.push((to, joined.len()));
    }
    joined.resize(joined.len() + SLACK, 0);
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
    for (at, first) in spans.iter().enumerate() {
        pair.clear();
        pair.extend_from_slice(&folded[first.start..first.end]);
        let length = pair.len();
        for (distance, second) in (1..window as usize).zip(&spans[at + 1..]) {
            if distance == 1 && paired {
                continue;
            }
            let spaces = if distance == 1 && second.tight { 0 } else { distance };
            pair.truncate(length);
            pair.resize(length + spaces, b' ');
            pair.extend_from_slice(&folded[second.start..second.end]);
            let len = pair.len();
            pair.resize(len + SLACK, 0);
            give(pair, 0, len)?;
        }
    }
    ControlFlow::Continue(())
}
