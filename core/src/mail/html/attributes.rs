//! Tags: their names and attributes.

use crate::mail::html::elements::Tag;
use memchr::memchr;

/// The attributes of a start tag.
#[derive(Default)]
pub struct Found<'a> {
    pub style: Option<&'a str>,
    pub class: Option<&'a str>,
    pub id: Option<&'a str>,
    pub color: Option<&'a str>,
    pub text: Option<&'a str>,
    pub bgcolor: Option<&'a str>,
    pub width: &'a str,
    pub height: &'a str,
    pub alt: &'a str,
    pub value: &'a str,
    pub label: &'a str,
    pub placeholder: &'a str,
    pub kind: &'a str,
    pub media: &'a str,
    pub background: bool,
    pub hidden: bool,
    pub open: bool,
    pub rtl: bool,
    pub href: bool,
}

impl<'a> Found<'a> {
    /// The text that programs show of an attribute.
    pub fn shown(&self, tag: Tag) -> &'a str {
        let is = |kinds: &[&str]| kinds.iter().any(|kind| self.kind.eq_ignore_ascii_case(kind));
        match tag {
            Tag::IMG | Tag::IMAGE | Tag::AREA => self.alt,
            Tag::INPUT if is(&["image"]) => self.alt,
            Tag::INPUT if is(&["checkbox", "radio", "password", "file", "range", "color"]) => "",
            Tag::INPUT if self.value.is_empty() => self.placeholder,
            Tag::INPUT => self.value,
            Tag::TEXTAREA => self.placeholder,
            Tag::OPTION | Tag::OPTGROUP => self.label,
            _ => "",
        }
    }
}

/// The name of a tag that begins at a place, and the place behind it.
pub fn name_of(html: &str, start: usize) -> (&str, usize) {
    let bytes = &html.as_bytes()[start..];
    let end =
        bytes.iter().position(|byte| matches!(byte, b'>' | b'/') || byte.is_ascii_whitespace());
    let end = start + end.unwrap_or(bytes.len());
    (&html[start..end], end)
}

/// The attributes of a tag, with quotes as in the HTML standard. Afterwards `at` is behind the tag.
pub struct Attributes<'a> {
    pub html: &'a str,
    pub at: usize,
}

impl<'a> Iterator for Attributes<'a> {
    type Item = (&'a str, &'a str);

    fn next(&mut self) -> Option<Self::Item> {
        let (html, bytes) = (self.html, self.html.as_bytes());
        let blank = |at: usize| bytes.get(at).is_some_and(|byte| byte.is_ascii_whitespace());
        while blank(self.at) || bytes.get(self.at) == Some(&b'/') {
            self.at += 1;
        }
        match bytes.get(self.at) {
            None => return None,
            Some(b'>') => {
                self.at += 1;
                return None;
            }
            _ => {}
        }
        let start = self.at;
        // An equals sign at the beginning belongs to the name.
        let ends = |byte: &u8| matches!(byte, b'>' | b'/' | b'=') || byte.is_ascii_whitespace();
        let name = bytes[start + 1..].iter().position(ends).map_or(bytes.len(), |n| start + 1 + n);
        self.at = name;
        let mut at = name;
        while blank(at) {
            at += 1;
        }
        if bytes.get(at) != Some(&b'=') {
            return Some((&html[start..name], ""));
        }
        at += 1;
        while blank(at) {
            at += 1;
        }
        let (from, to) = match bytes.get(at) {
            Some(&quote @ (b'"' | b'\'')) => {
                let end = memchr(quote, &bytes[at + 1..]).map_or(bytes.len(), |n| at + 1 + n);
                self.at = (end + 1).min(bytes.len());
                (at + 1, end)
            }
            _ => {
                let rest = &bytes[at.min(bytes.len())..];
                let ends = |byte: &u8| *byte == b'>' || byte.is_ascii_whitespace();
                let end = rest.iter().position(ends).map_or(bytes.len(), |n| at + n);
                self.at = end;
                (at.min(end), end)
            }
        };
        Some((&html[start..name], &html[from.min(to)..to]))
    }
}
