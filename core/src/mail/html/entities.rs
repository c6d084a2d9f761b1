//! Character references: `&amp;`, `&#8203;`, `&#x200b;`.

use mail_parser::decoders::html::add_html_token;
use memchr::memchr;
use std::borrow::Cow;

/// The longest name of a reference, in bytes.
const LONGEST: usize = 32;

/// A text with its references replaced.
pub fn decoded(text: &str) -> Cow<'_, str> {
    let Some(first) = memchr(b'&', text.as_bytes()) else { return Cow::Borrowed(text) };
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    let mut at = first;
    loop {
        out.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        let taken = reference(rest, &mut out);
        if taken == 0 {
            out.push('&');
        }
        rest = &rest[taken..];
        match memchr(b'&', rest.as_bytes()) {
            Some(next) => at = next,
            None => break,
        }
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// Writes the reference behind an ampersand; returns its length, or 0 if it is not one.
fn reference(rest: &str, out: &mut String) -> usize {
    let bytes = rest.as_bytes();
    if bytes.first() == Some(&b'#') {
        return numeric(bytes, out);
    }
    let window = &bytes[..bytes.len().min(LONGEST)];
    let length = window.iter().take_while(|byte| byte.is_ascii_alphanumeric()).count();
    if bytes.get(length) == Some(&b';')
        && let Some(found) = named(&bytes[..length])
    {
        out.push_str(&found);
        return length + 1;
    }
    // Names of Latin-1 need no semicolon.
    for length in (2..=length.min(6)).rev() {
        let found = named(&bytes[..length]);
        if let Some(found) = found.filter(|found| found.chars().all(|found| (found as u32) < 256)) {
            out.push_str(&found);
            return length;
        }
    }
    0
}

fn named(name: &[u8]) -> Option<String> {
    let mut token = Vec::with_capacity(name.len() + 2);
    token.push(b'&');
    token.extend_from_slice(name);
    token.push(b';');
    let mut found = String::new();
    add_html_token(&mut found, &token, false);
    (found.as_bytes() != token).then_some(found)
}

fn numeric(bytes: &[u8], out: &mut String) -> usize {
    let (radix, start) = match bytes.get(1) {
        Some(b'x' | b'X') => (16, 2),
        _ => (10, 1),
    };
    let is_digit = |byte: &&u8| (**byte as char).is_digit(radix);
    let digits = bytes[start..].iter().take_while(is_digit);
    let (length, code) = digits.fold((0, 0_u32), |(length, code), &byte| {
        let digit = (byte as char).to_digit(radix).unwrap_or(0);
        (length + 1, code.saturating_mul(radix).saturating_add(digit))
    });
    if length == 0 {
        return 0;
    }
    let found = match code {
        // The standard reads these as Windows-1252.
        0x80..=0x9f => {
            let byte = [code as u8];
            encoding_rs::WINDOWS_1252.decode_without_bom_handling(&byte).0.chars().next()
        }
        _ => char::from_u32(code).filter(|&found| found != '\0'),
    };
    out.push(found.unwrap_or('\u{fffd}'));
    let length = start + length;
    length + usize::from(bytes.get(length) == Some(&b';'))
}
