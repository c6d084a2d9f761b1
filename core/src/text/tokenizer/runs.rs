//! The second pass: from the bits to runs, and from runs to words.

use std::ops::ControlFlow;

use super::fold::{Scratch, Span};

/// Call `found` with the start and end of each match of `\b\w[\w\-]+\b` in the folded text.
#[inline(always)]
pub(super) fn words(
    scratch: &Scratch,
    len: usize,
    longest: usize,
    mut found: impl FnMut(usize, usize) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let text = &scratch.folded[..len];
    runs::<true>(&scratch.bits, len, |start, end| {
        let (mut start, mut end) = (start, end);
        if scratch.plain {
            // Without hyphens and other characters each run is a word.
            if end - start > longest {
                return ControlFlow::Continue(());
            }
            return found(start, end);
        }
        if text[start] == b'-' || text[end - 1] == b'-' {
            while start < end && text[start] == b'-' {
                start += 1;
            }
            while start < end && text[end - 1] == b'-' {
                end -= 1;
            }
            if end - start < 2 {
                return ControlFlow::Continue(());
            }
        }
        // A run of one byte was skipped, so only one character of several bytes can be too short.
        if text[start] >= 0xc0 && end - start <= 4 && characters(&text[start..end]) < 2 {
            return ControlFlow::Continue(());
        }
        if end - start > longest && characters(&text[start..end]) > longest {
            return ControlFlow::Continue(());
        }
        found(start, end)
    })
}

/// Write the words to the scratch's spans.
pub(super) fn find_words(scratch: &mut Scratch, len: usize, longest: usize) {
    let mut spans = std::mem::take(&mut scratch.spans);
    spans.clear();
    let _ = words(scratch, len, longest, |start, end| {
        spans.push(Span { start, end, tight: false });
        ControlFlow::Continue(())
    });
    scratch.spans = spans;
}

/// The number of characters of UTF-8 text.
pub(super) fn characters(text: &[u8]) -> usize {
    text.iter().filter(|&&byte| byte & 0xc0 != 0x80).count()
}

/// Call `found` with the start and end of each maximal run of set bits; `SKIP_SINGLE` skips runs of
/// one bit.
#[inline(always)]
pub(super) fn runs<const SKIP_SINGLE: bool>(
    bits: &[u64],
    len: usize,
    mut found: impl FnMut(usize, usize) -> ControlFlow<()>,
) -> ControlFlow<()> {
    // A zero bit ends the last run, so one more word than the text may need is read.
    let words = &bits[..len / 64 + 2];
    let (mut before, mut kept_before) = (0, 0);
    let (mut open, mut start) = (false, 0);
    let mut base = 0;
    for pair in words.windows(2) {
        let (word, after) = (pair[0], pair[1]);
        let kept = if SKIP_SINGLE {
            word & ((word << 1 | before >> 63) | (word >> 1 | after << 63))
        } else {
            word
        };
        let shifted = kept << 1 | kept_before >> 63;
        let (mut starts, mut ends) = (kept & !shifted, shifted & !kept);
        (before, kept_before) = (word, kept);
        while ends != 0 {
            if !open {
                start = base + starts.trailing_zeros() as usize;
                starts &= starts.wrapping_sub(1);
            }
            open = false;
            let end = base + ends.trailing_zeros() as usize;
            ends &= ends - 1;
            found(start, end)?;
        }
        if starts != 0 {
            open = true;
            start = base + starts.trailing_zeros() as usize;
        }
        base += 64;
    }
    ControlFlow::Continue(())
}
