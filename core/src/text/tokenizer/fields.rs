//! A message of several fields in one text.
//!
//! A field begins with a record separator (U+001E), its name and a unit separator (U+001F); what
//! stands before the first is of no field. To a tokenizer without fields both are white space.

/// Begins a field.
const RECORD: char = '\u{1e}';
/// Stands between a field's name and its text.
const UNIT: char = '\u{1f}';
/// The longest name, in bytes: what is longer is no name, lest each token drag it along.
pub const LONGEST_NAME: usize = 64;

/// The fields of a text, each with its name; the name is empty where there is none.
pub(super) fn fields(text: &str) -> impl Iterator<Item = (&str, &str)> {
    text.split(RECORD).enumerate().map(|(place, part)| match part.split_once(UNIT) {
        Some((name, text)) if place > 0 && name.len() <= LONGEST_NAME => (name, text),
        _ => ("", part),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_told_apart() {
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
}
