//! Words by Unicode's rules (UAX #29), for every script.
//!
//! The folded text is cut at white space, and what lies between at the word boundaries of Unicode's
//! Standard Annex 29. Each segment is a word but those of nothing to see (controls, marks without
//! a base): letters with their marks, numbers, symbols and emoji. The same symbol several times in
//! a row is one word, however often it stands there once it is there [`LONGEST_RUN`] times. In
//! scripts that are written without spaces each character is a word, and tight to the one before.

use std::ops::ControlFlow;

use unicode_segmentation::UnicodeSegmentation;

use super::runs::{characters, runs};
use super::scratch::{Scratch, Span};

/// Symbols in a row that are told apart.
pub(super) const LONGEST_RUN: usize = 3;

/// Writes the words to the scratch's spans; the scratch's bits tell the white space.
pub(super) fn find_words(scratch: &mut Scratch, len: usize, longest: usize) {
    let Scratch { folded, bits, spans, .. } = scratch;
    spans.clear();
    let mut words = Words { text: &folded[..len], spans: &mut *spans, longest, repeated: 0 };
    if words.text.is_ascii() {
        words.cut_ascii(0, len);
    } else {
        let mut from = 0;
        let _ = runs::<false>(bits, len, |start, end| {
            words.cut(from, start);
            from = end;
            ControlFlow::Continue(())
        });
        words.cut(from, len);
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
    /// Bytes of the symbol whose run the last span is; 0 if that can't go on.
    repeated: usize,
}

impl Words<'_> {
    /// Cuts a part of the text that has no white space.
    fn cut(&mut self, start: usize, end: usize) {
        self.repeated = 0;
        let part = &self.text[start..end];
        if part.is_ascii() {
            self.cut_ascii(start, end);
        } else if let Ok(part) = str::from_utf8(part) {
            for (at, segment) in part.split_word_bound_indices() {
                self.add(start + at, segment);
            }
        }
    }

    /// The same for ASCII, where the rules are few and white space may stay.
    fn cut_ascii(&mut self, start: usize, end: usize) {
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

    /// Whether the segment goes on with the run of the symbol before it.
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

    /// Adds the characters of a script without spaces, each with the marks behind it.
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
            // What is too long is left out here, lest the next be tight to it.
            if characters(&self.text[start..end]) <= self.longest {
                self.spans.push(Span { start, end, tight });
            }
            from = to;
        }
    }
}

/// What an ASCII byte begins.
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

/// Letters and vowel signs of scripts that are written without spaces between words.
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

/// Controls, marks and characters that only steer how others are shown.
pub(super) fn is_invisible(character: char) -> bool {
    character.is_control()
        || unicode_normalization::char::is_combining_mark(character)
        || is_ignorable(character)
}

/// Characters without a shape (`Default_Ignorable_Code_Point` and interlinear annotation).
pub(super) fn is_ignorable(character: char) -> bool {
    matches!(
        character,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'
            | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}'
    )
}
