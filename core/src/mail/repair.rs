//! Repairs of a whole mail before it is parsed: byte order marks, UTF-16, line ends, wrappers.

use encoding_rs::{UTF_16BE, UTF_16LE};
use std::borrow::Cow;

/// The mail with `\n` line ends and without anything in front of its headers.
pub fn repaired(raw: &[u8]) -> Cow<'_, [u8]> {
    let utf16 = match raw {
        [0xff, 0xfe, ..] => Some(UTF_16LE),
        [0xfe, 0xff, ..] => Some(UTF_16BE),
        [first, 0, second, 0, ..] if first.is_ascii() && second.is_ascii() => Some(UTF_16LE),
        [0, first, 0, second, ..] if first.is_ascii() && second.is_ascii() => Some(UTF_16BE),
        _ => None,
    };
    if let Some(encoding) = utf16 {
        let text = encoding.decode(raw).0.into_owned().into_bytes();
        return Cow::Owned(without_wrapper(&unix_lines(&text)).to_vec());
    }
    match unix_lines(raw) {
        Cow::Borrowed(raw) => Cow::Borrowed(without_wrapper(raw)),
        Cow::Owned(raw) => Cow::Owned(without_wrapper(&raw).to_vec()),
    }
}

/// CR LF, CR CR LF and a lone CR become LF.
fn unix_lines(raw: &[u8]) -> Cow<'_, [u8]> {
    if !raw.contains(&b'\r') {
        return Cow::Borrowed(raw);
    }
    let mut out = Vec::with_capacity(raw.len());
    let mut rest = raw;
    while let Some(at) = rest.iter().position(|&byte| byte == b'\r') {
        out.extend_from_slice(&rest[..at]);
        out.push(b'\n');
        rest = match &rest[at..] {
            [b'\r', b'\n', after @ ..] | [b'\r', b'\r', b'\n', after @ ..] => after,
            [_, after @ ..] => after,
            [] => &[],
        };
    }
    out.extend_from_slice(rest);
    Cow::Owned(out)
}

/// Removes a byte order mark, blank lines, the length line of `.emlx` and the `From ` line of mbox.
fn without_wrapper(raw: &[u8]) -> &[u8] {
    let raw = raw.strip_prefix(b"\xef\xbb\xbf").unwrap_or(raw).trim_ascii_start();
    let end = raw.iter().position(|&byte| byte == b'\n').unwrap_or(raw.len());
    let (line, rest) = raw.split_at(end);
    let rest = rest.get(1..).unwrap_or_default();
    let length = std::str::from_utf8(line).ok().and_then(|line| line.trim().parse::<usize>().ok());
    if let Some(length) = length {
        return &rest[..length.min(rest.len())];
    }
    if line.starts_with(b"From ") || line.starts_with(b">From ") { rest } else { raw }
}
