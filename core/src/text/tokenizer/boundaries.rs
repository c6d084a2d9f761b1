//! Words by Unicode's rules (UAX #29), for every script.
//!
//! The folded text is split at white space, and the parts at the word boundaries of Unicode Standard
//! Annex 29. Each segment is a word, except invisible ones (controls, marks without a base). Letters
//! with their marks, numbers, symbols and emoji are words. A symbol that repeats is one word of at
//! most [`LONGEST_RUN`] symbols. In scripts without spaces each character is a word, and tight to the
//! word before it.

use std::ops::ControlFlow;

use unicode_segmentation::UnicodeSegmentation;

use super::fold::{Scratch, Span};
use super::runs::{characters, runs};
use crate::text::unicode::is_ignorable;

/// Longest run of a symbol; longer runs give the same word.
pub(super) const LONGEST_RUN: usize = 3;

/// Write the words to the scratch's spans; the scratch's bits mark the white space.
pub(super) fn find_words(scratch: &mut Scratch, len: usize, longest: usize) {
    let Scratch { folded, bits, spans, .. } = scratch;
    spans.clear();
    let mut words = Words { text: &folded[..len], spans: &mut *spans, longest, repeated: 0 };
    if words.text.is_ascii() {
        words.split_ascii(0, len);
    } else {
        let mut from = 0;
        let _ = runs::<false>(bits, len, |start, end| {
            words.split(from, start);
            from = end;
            ControlFlow::Continue(())
        });
        words.split(from, len);
    }
    if longest < usize::MAX {
        let fits = |word: &Span| characters(&folded[word.start..word.end]) <= longest;
        spans.retain(fits);
    }
}

struct Words<'a> {
    text: &'a [u8],
    spans: &'a mut Vec<Span>,
    longest: usize,
    /// Bytes of the symbol whose run is the last span; 0 if the run has ended.
    repeated: usize,
}

impl Words<'_> {
    /// Split a part of the text without white space.
    fn split(&mut self, start: usize, end: usize) {
        self.repeated = 0;
        let part = &self.text[start..end];
        if part.is_ascii() {
            self.split_ascii(start, end);
        } else if let Ok(part) = str::from_utf8(part) {
            for (at, segment) in part.split_word_bound_indices() {
                self.add(start + at, segment);
            }
        }
    }

    /// Split a part of ASCII, which may have white space: here few of the rules apply.
    fn split_ascii(&mut self, start: usize, end: usize) {
        let text = &self.text[..end];
        let mut start = start;
        while let Some(&first) = text.get(start) {
            let mut at = start + 1;
            match CLASSES[usize::from(first)] {
                Class::Nothing => {}
                Class::Word => {
                    while let Some(&byte) = text.get(at)
                        && (CLASSES[usize::from(byte)] == Class::Word
                            || text
                                .get(at + 1)
                                .is_some_and(|&after| joins(text[at - 1], byte, after)))
                    {
                        at += 1;
                    }
                    self.spans.push(Span { start, end: at, tight: false });
                }
                Class::Symbol => {
                    while text.get(at) == Some(&first) {
                        at += 1;
                    }
                    let end = at.min(start + LONGEST_RUN);
                    self.spans.push(Span { start, end, tight: false });
                }
            }
            start = at;
        }
    }

    fn add(&mut self, start: usize, segment: &str) {
        let Some(first) = segment.chars().next() else { return };
        let end = start + segment.len();
        if is_unspaced(first) {
            self.add_characters(start, segment);
        } else if segment.chars().all(is_invisible) {
            self.repeated = 0;
        } else if first.is_alphanumeric() || first == '_' {
            self.repeated = 0;
            self.spans.push(Span { start, end, tight: false });
        } else if !self.repeat(start, segment) {
            self.repeated = segment.len();
            self.spans.push(Span { start, end, tight: false });
        }
    }

    /// Whether the segment continues the run of the symbol before it.
    fn repeat(&mut self, start: usize, segment: &str) -> bool {
        let Some(last) = self.spans.last_mut() else { return false };
        let length = segment.len();
        let again = self.repeated == length
            && start >= length
            && &self.text[start - length..start] == segment.as_bytes();
        if again && last.end == start && last.end - last.start < LONGEST_RUN * length {
            last.end += length;
        }
        again
    }

    /// Add the characters of a script without spaces, each with the marks after it.
    fn add_characters(&mut self, start: usize, segment: &str) {
        self.repeated = 0;
        let mut begins = segment.char_indices().filter(|&(_, c)| is_unspaced(c)).map(|(at, _)| at);
        let mut from = begins.next().unwrap_or(0);
        while from < segment.len() {
            let to = begins.next().unwrap_or(segment.len());
            let (start, end) = (start + from, start + to);
            let tight = self.spans.last().is_some_and(|last| {
                last.end == start && unspaced_at(&self.text[last.start..last.end])
            });
            // Drop long ones here, so that the next character is not tight to a dropped one.
            if characters(&self.text[start..end]) <= self.longest {
                self.spans.push(Span { start, end, tight });
            }
            from = to;
        }
    }
}

/// The kind of segment that an ASCII byte begins.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Nothing,
    Word,
    Symbol,
}

const CLASSES: [Class; 256] = {
    let mut classes = [Class::Nothing; 256];
    let mut byte = 0x21;
    while byte < 0x7f {
        let character = byte as u8;
        let word = character.is_ascii_alphanumeric() || character == b'_';
        classes[byte] = if word { Class::Word } else { Class::Symbol };
        byte += 1;
    }
    classes
};

/// Whether a mark between two characters of a word belongs to the word (WB6, WB7, WB11, WB12).
fn joins(before: u8, mark: u8, after: u8) -> bool {
    match mark {
        b'\'' | b'.' => {
            before.is_ascii_alphabetic() && after.is_ascii_alphabetic()
                || before.is_ascii_digit() && after.is_ascii_digit()
        }
        b':' => before.is_ascii_alphabetic() && after.is_ascii_alphabetic(),
        b',' | b';' => before.is_ascii_digit() && after.is_ascii_digit(),
        _ => false,
    }
}

/// Whether the UTF-8 text begins with a character of a script without spaces.
fn unspaced_at(text: &[u8]) -> bool {
    str::from_utf8(text).is_ok_and(|text| text.starts_with(is_unspaced))
}

/// Whether a character is a letter or vowel sign of a script without spaces between words.
pub(super) fn is_unspaced(character: char) -> bool {
    matches!(
        character,
        // Thai, Lao, Myanmar, Khmer.
        '\u{e01}'..='\u{e3a}' | '\u{e40}'..='\u{e4e}' | '\u{e80}'..='\u{ece}'
            | '\u{edc}'..='\u{edf}' | '\u{1000}'..='\u{103f}' | '\u{1050}'..='\u{108f}'
            | '\u{109a}'..='\u{109f}' | '\u{1780}'..='\u{17d3}' | '\u{17dc}'..='\u{17dd}'
            | '\u{a9e0}'..='\u{a9ef}' | '\u{a9fa}'..='\u{a9fe}' | '\u{aa60}'..='\u{aa7f}'
            // Iteration marks and numbers of Han, Hiragana, Katakana.
            | '\u{3005}'..='\u{3007}' | '\u{3021}'..='\u{3029}' | '\u{3038}'..='\u{303b}'
            | '\u{3041}'..='\u{3096}' | '\u{309d}'..='\u{309f}' | '\u{30a1}'..='\u{30fa}'
            | '\u{30fc}'..='\u{30ff}' | '\u{31f0}'..='\u{31ff}' | '\u{ff66}'..='\u{ff9d}'
            | '\u{1aff0}'..='\u{1b16f}'
            // Han.
            | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}'
            | '\u{20000}'..='\u{3fffd}'
    )
}

/// Whether a character is a control, a mark or ignorable.
pub(super) fn is_invisible(character: char) -> bool {
    character.is_control()
        || unicode_normalization::char::is_combining_mark(character)
        || is_ignorable(character)
}
