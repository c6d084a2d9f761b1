//! The subject of a mail or a news post, in the text as it came.
//!
//! A header's line is a name of printable ASCII, a colon and a text, and goes on in lines that
//! begin with white space (RFC 5322, 2.2). Before all may stand the line `From ` of an mbox.

use std::ops::ControlFlow;

/// The name of the header, and of the field of its tokens.
pub(super) const SUBJECT: &str = "subject";

/// The text of the first header `Subject` of a text that begins with headers, with the lines in
/// which it goes on.
pub(super) fn subject(text: &str) -> Option<&str> {
    let mut begin = None;
    let mut place = 0;
    let end = text.split_inclusive('\n').try_for_each(|line| {
        let start = place;
        place += line.len();
        let goes_on = line.starts_with([' ', '\t']) && !line.trim_ascii().is_empty();
        match (header(line), begin) {
            (None, _) if goes_on && start > 0 => {}
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

/// The name and the text of a header's line; none of another line.
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
    fn the_subject_of_what_begins_with_headers() {
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
    fn other_texts_have_none() {
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
