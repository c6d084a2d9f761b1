//! Lines of texts with rules of their own: calendars, cards, uuencoded files, signed mails.

use memchr::memmem;
use std::borrow::Cow;

/// A text with each of some bytes replaced.
pub fn joined(text: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = memmem::find(rest, from) {
        out.extend_from_slice(&rest[..at]);
        out.extend_from_slice(to);
        rest = &rest[at + from.len()..];
    }
    out.extend_from_slice(rest);
    out
}

/// Calendars and cards fold lines within words and escape characters.
pub fn of_calendar(text: &[u8]) -> Vec<u8> {
    let text = joined(&joined(text, b"\r", b""), b"\n ", b"");
    let text = joined(&joined(&text, b"\n\t", b""), b"\\n", b"\n");
    joined(&joined(&text, b"\\N", b"\n"), b"\\", b"")
}

/// The mail within a signature: the octets of the longest content that begins with a header. Its
/// pieces are joined; the frame of each begins with a tag and a length.
pub fn of_signed(der: &[u8]) -> Vec<u8> {
    let starts = [&b"Content-"[..], b"content-", b"MIME-", b"Mime-"];
    let Some(at) = starts.iter().filter_map(|start| memmem::find(der, start)).min() else {
        return Vec::new();
    };
    // The length of the first piece stands in front of it.
    let length = match der[..at] {
        [.., 0x04, 0x82, high, low] => usize::from(high) << 8 | usize::from(low),
        [.., 0x04, 0x83, first, high, low] => {
            usize::from(first) << 16 | usize::from(high) << 8 | usize::from(low)
        }
        [.., 0x04, 0x81, length] | [.., 0x04, length] => usize::from(length),
        _ => der.len() - at,
    };
    let mut out = Vec::new();
    let mut rest = &der[at..];
    let mut next = length;
    loop {
        let (piece, after) = rest.split_at(next.min(rest.len()));
        out.extend_from_slice(piece);
        (next, rest) = match after {
            [0x04, 0x82, high, low, rest @ ..] => {
                (usize::from(*high) << 8 | usize::from(*low), rest)
            }
            [0x04, 0x81, length, rest @ ..] => (usize::from(*length), rest),
            [0x04, length @ 0..=0x7f, rest @ ..] => (usize::from(*length), rest),
            _ => return joined(&out, b"\r", b""),
        };
    }
}

/// A text with the files that it contains as uuencoded lines decoded.
pub fn uudecoded(text: &[u8]) -> Cow<'_, [u8]> {
    if !text.starts_with(b"begin ") && memmem::find(text, b"\nbegin ").is_none() {
        return Cow::Borrowed(text);
    }
    let mut out = Vec::with_capacity(text.len());
    let mut inside = false;
    for line in text.split(|&byte| byte == b'\n') {
        if inside {
            inside = line != b"end";
            decode_line(line, &mut out);
            continue;
        }
        inside = is_begin(line);
        if !inside {
            out.extend_from_slice(line);
        }
        out.push(b'\n');
    }
    Cow::Owned(out)
}

/// `begin 644 name`.
fn is_begin(line: &[u8]) -> bool {
    let mode =
        line.strip_prefix(b"begin ").and_then(|rest| rest.split(|&byte| byte == b' ').next());
    mode.is_some_and(|mode| matches!(mode.len(), 3 | 4) && mode.iter().all(u8::is_ascii_digit))
}

/// Decodes a line; one that is not encoded stays as it is.
fn decode_line(line: &[u8], out: &mut Vec<u8>) {
    let Some((&length, digits)) = line.split_first() else { return };
    let length = usize::from(length.wrapping_sub(b' ') & 63);
    let is_whole = digits.len().abs_diff(length.div_ceil(3) * 4) < 4;
    if !is_whole || !line.iter().all(|byte| matches!(byte, b' '..=b'`')) {
        if line != b"end" {
            out.extend_from_slice(line);
            out.push(b'\n');
        }
        return;
    }
    let end = out.len() + length;
    for group in digits.chunks(4) {
        let digit =
            |at: usize| group.get(at).map_or(0, |byte| u32::from(byte.wrapping_sub(b' ') & 63));
        let bits = digit(0) << 18 | digit(1) << 12 | digit(2) << 6 | digit(3);
        out.extend_from_slice(&bits.to_be_bytes()[1..]);
    }
    out.truncate(end);
}
