//! Parts of a message that have a name: fields in one text, and the subject of a mail or news post.
//!
//! A field begins with a record separator (U+001E), its name and a unit separator (U+001F); the text
//! before the first record separator has no field. A tokenizer without fields treats both separators
//! as white space. A field whose name ends in `=` is a value, which is one token: `user=bob`. If its
//! name ends in `*=`, the words of the message have copies for this value: `user=bob: free`.
//!
//! A header line is a name of printable ASCII, a colon and a text, and continues in lines that begin
//! with white space (RFC 5322, 2.2). The `From ` line of an mbox may come before the headers.

use std::ops::ControlFlow;

const RECORD_SEPARATOR: char = '\u{1e}';
const UNIT_SEPARATOR: char = '\u{1f}';
/// The longest name, in bytes. A longer name is treated as text, because each token repeats the name.
const LONGEST_NAME: usize = 64;

/// The name of the header, and of the field of its tokens.
pub(super) const SUBJECT: &str = "subject";

/// The fields of a text, each with its name; the name is empty outside fields.
pub(super) fn fields(text: &str) -> impl Iterator<Item = (&str, &str)> {
    text.split(RECORD_SEPARATOR).enumerate().map(|(place, part)| {
        match part.split_once(UNIT_SEPARATOR) {
            Some((name, text)) if place > 0 && name.len() <= LONGEST_NAME => (name, text),
            _ => ("", part),
        }
    })
}

/// The name of a value, and whether words have copies for it; None for the name of a text.
pub(super) fn value(name: &str) -> Option<(&str, bool)> {
    let name = name.strip_suffix('=')?;
    let copied = name.strip_suffix('*');
    Some((copied.unwrap_or(name), copied.is_some()))
}

/// The text of the first header `Subject`, with its continuation lines, of a text that begins with
/// headers.
pub(super) fn subject(text: &str) -> Option<&str> {
    let mut begin = None;
    let mut place = 0;
    let end = text.split_inclusive('\n').try_for_each(|line| {
        let start = place;
        place += line.len();
        let continues = line.starts_with([' ', '\t']) && !line.trim_ascii().is_empty();
        match (header(line), begin) {
            (None, _) if continues && start > 0 => {}
            (None, _) if start == 0 && line.starts_with("From ") => {}
            (Some((name, text)), None) => {
                if name.eq_ignore_ascii_case(SUBJECT) {
                    begin = Some(place - text.len());
                }
            }
            _ => return ControlFlow::Break(start),
        }
        ControlFlow::Continue(())
    });
    let end = end.break_value().unwrap_or(text.len());
    begin.map(|begin| text[begin..end].trim_ascii())
}

/// The name and the text of a header line; None for other lines.
fn header(line: &str) -> Option<(&str, &str)> {
    let colon = line.bytes().position(|byte| byte == b':' || !byte.is_ascii_graphic())?;
    let (name, text) = line.split_at(colon);
    (!name.is_empty()).then_some(())?;
    Some((name, text.strip_prefix(':')?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_split_into_named_fields() {
        let of = |text| fields(text).collect::<Vec<_>>();
        assert_eq!(of("plain"), [("", "plain")]);
        assert_eq!(of(""), [("", "")]);
        assert_eq!(
            of("body\u{1e}from\u{1f}ann\u{1e}subject\u{1f}a\u{1f}b\u{1e}no name\u{1e}\u{1f}x"),
            [("", "body"), ("from", "ann"), ("subject", "a\u{1f}b"), ("", "no name"), ("", "x")]
        );
        assert_eq!(of("no\u{1f}field"), [("", "no\u{1f}field")]);
        let long = format!("\u{1e}{}\u{1f}x", "n".repeat(65));
        assert_eq!(of(&long), [("", ""), ("", &long[1..])]);
    }

    #[test]
    fn marks_of_names_tell_values() {
        assert_eq!(value("user"), None);
        assert_eq!(value("user="), Some(("user", false)));
        assert_eq!(value("user*="), Some(("user", true)));
        assert_eq!((value(""), value("*")), (None, None));
    }

    #[test]
    fn the_subject_is_the_first_subject_header() {
        assert_eq!(subject("Subject: free\nentry"), Some("free"));
        assert_eq!(subject("SUBJECT:free"), Some("free"));
        assert_eq!(subject("subject:\n"), Some(""));
        assert_eq!(
            subject("From: a\r\nSubject: b\r\n c\r\n\td\r\nTo: e\r\n\r\nf"),
            Some("b\r\n c\r\n\td")
        );
        assert_eq!(subject("From a@b Mon\nX-A: b\n c: d\nSubject: e\n\nSubject: f"), Some("e"));
        assert_eq!(subject("Subject: a\nSubject: b\n"), Some("a"));
        assert_eq!(subject("Subject: नमस्ते\n\nx"), Some("नमस्ते"));
    }

    #[test]
    fn texts_that_do_not_begin_with_headers_have_no_subject() {
        for text in [
            "",
            "\n",
            "\nSubject: a",
            "see you\nSubject: a",
            "From: a\n\nSubject: b",
            "From: a\n \nSubject: b",
            "no name\nSubject: a",
            ": a\nSubject: b",
            " goes on\nSubject: a",
            "Subject : a",
            "Sübject: a",
            "The Subject: a",
            "X: a\nFrom b\nSubject: c",
        ] {
            assert_eq!(subject(text), None, "{text:?}");
        }
    }
}
