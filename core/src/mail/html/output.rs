//! Text for a person: blanks are folded, invisible characters left out, and its length is bounded.

use crate::text::unicode::is_ignorable;
use std::borrow::Cow;

/// Blanks in a row that are kept of a text without markup.
const MAX_BLANKS: usize = 4;

/// What stands between two texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Separator {
    Nothing,
    Space,
    Line,
}

/// A text of bounded length.
pub struct Output {
    text: String,
    left: usize,
    pending: Separator,
}

impl Output {
    pub fn new(room: usize) -> Self {
        Output { text: String::new(), left: room, pending: Separator::Nothing }
    }

    /// Characters that still fit.
    pub fn left(&self) -> usize {
        self.left
    }

    pub fn is_full(&self) -> bool {
        self.left == 0
    }

    pub fn separate(&mut self, separator: Separator) {
        self.pending = self.pending.max(separator);
    }

    /// Appends a text. Its blanks become single spaces; line ends are those of blocks.
    pub fn push(&mut self, text: &str) {
        let mut rest = text;
        while self.left > 0 {
            // The fast path: a word of printable ASCII.
            let bytes = rest.as_bytes();
            let word =
                bytes.iter().take(self.left).take_while(|byte| byte.is_ascii_graphic()).count();
            if word > 0 {
                self.write_separator();
                let word = word.min(self.left);
                self.text.push_str(&rest[..word]);
                self.left -= word;
                rest = &rest[word..];
                continue;
            }
            let Some(character) = rest.chars().next() else { return };
            rest = &rest[character.len_utf8()..];
            if is_invisible(character) {
                continue;
            }
            if is_blank(character) {
                self.separate(Separator::Space);
            } else {
                self.write_separator();
                if self.left > 0 {
                    self.text.push(character);
                    self.left -= 1;
                }
            }
        }
    }

    fn write_separator(&mut self) {
        let separator = std::mem::replace(&mut self.pending, Separator::Nothing);
        if separator > Separator::Nothing && !self.text.is_empty() && self.left > 0 {
            self.text.push(if separator == Separator::Line { '\n' } else { ' ' });
            self.left -= 1;
        }
    }

    pub fn finish(self) -> String {
        self.text
    }
}

/// Whether a program shows nothing for a character, also within a word.
fn is_invisible(character: char) -> bool {
    character == '\0' || (!character.is_ascii() && is_ignorable(character))
}

/// Whether a character is a blank for a reader. Controls also separate fields of a tokenizer.
fn is_blank(character: char) -> bool {
    character.is_whitespace() || character.is_control() || character == '\u{2800}'
}

/// A text as a person reads it: characters behind an override run from right to left.
pub fn displayed(text: &str) -> Cow<'_, str> {
    const OVERRIDE: char = '\u{202e}';
    if !text.contains(OVERRIDE) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, inner)) = rest.split_once(OVERRIDE) {
        out.push_str(before);
        let end = inner.find(['\u{202c}', '\n']).unwrap_or(inner.len());
        out.extend(inner[..end].chars().rev());
        rest = &inner[end..];
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// A text as it is, without invisible characters and separators of fields, up to `room` characters. A
/// run of blanks counts once.
pub fn plain(text: &str, room: usize) -> String {
    let changes = |byte: &u8| !byte.is_ascii() || matches!(byte, 0 | 0x1e | 0x1f);
    if text.len() <= room && !text.as_bytes().iter().any(changes) {
        return text.to_owned();
    }
    let text = displayed(text);
    let mut out = String::with_capacity(text.len().min(2 * room));
    let (mut left, mut blanks) = (room, 0);
    for character in text.chars() {
        if is_invisible(character) {
            continue;
        }
        let blank = is_blank(character);
        blanks = if blank { blanks + 1 } else { 0 };
        if blanks > MAX_BLANKS {
            continue;
        }
        if blanks <= 1 {
            if left == 0 {
                break;
            }
            left -= 1;
        }
        out.push(if blank && matches!(character, '\u{1e}' | '\u{1f}') { ' ' } else { character });
    }
    out
}
