//! Content-Transfer-Encoding: base64 and quoted-printable, decoded as far as possible.

use crate::mail::lines::uudecoded;
use memchr::memchr;
use std::borrow::Cow;

/// Bytes that show whether a body is a page.
const BEGINNING: usize = 700;

/// An encoding that changes bytes.
#[derive(Clone, Copy, PartialEq)]
enum Encoding {
    Base64,
    QuotedPrintable,
    Uuencode,
}

/// Decodes a body by the raw values of all its `Content-Transfer-Encoding` headers. Programs use the
/// first or the last one, so the body decides.
pub fn decoded<'a>(headers: &[&[u8]], body: &'a [u8]) -> Cow<'a, [u8]> {
    let found: Vec<_> = headers.iter().map(|header| encoding(header)).collect();
    let agree = found.iter().all(|each| Some(each) == found.first());
    if found.contains(&Some(Encoding::Base64)) && (agree || begins_as_base64(body)) {
        return base64(body).map_or(Cow::Borrowed(body), Cow::Owned);
    }
    if found.contains(&Some(Encoding::QuotedPrintable)) {
        return quoted_printable(body);
    }
    // Uuencoded files may also be part of a text without an encoding.
    uudecoded(body)
}

/// The decoded beginning of a body.
pub fn beginning<'a>(headers: &[&[u8]], body: &'a [u8]) -> Cow<'a, [u8]> {
    decoded(headers, &body[..body.len().min(BEGINNING)])
}

fn begins_as_base64(body: &[u8]) -> bool {
    let mut lines = body.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii);
    let Some(line) = lines.find(|line| !line.is_empty()) else { return false };
    line.len() > 3 && line.iter().all(|&byte| is_base64(byte))
}

fn encoding(header: &[u8]) -> Option<Encoding> {
    let name = String::from_utf8_lossy(header).to_ascii_lowercase();
    // Remove comments, quotes, semicolons and `x-` prefixes.
    let name: String = match name.split_once('(') {
        Some((before, comment)) => {
            let after = comment.split_once(')').map_or("", |(_, after)| after);
            if before.trim().is_empty() { after.to_owned() } else { before.to_owned() }
        }
        None => name,
    };
    let name = name.split(';').next().unwrap_or_default();
    let name = name.trim_matches(|character: char| !character.is_ascii_alphanumeric());
    match name.strip_prefix("x-").unwrap_or(name) {
        "base64" | "b64" => Some(Encoding::Base64),
        "quoted-printable" | "quotedprintable" | "qp" => Some(Encoding::QuotedPrintable),
        "uuencode" | "uue" | "uu" => Some(Encoding::Uuencode),
        _ => None,
    }
}

/// The value of each byte as a base64 digit; `NO_DIGIT` for others.
const DIGITS: [u8; 256] = {
    let mut table = [NO_DIGIT; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = match byte as u8 {
            letter @ b'A'..=b'Z' => letter - b'A',
            letter @ b'a'..=b'z' => letter - b'a' + 26,
            digit @ b'0'..=b'9' => digit - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => NO_DIGIT,
        };
        byte += 1;
    }
    table
};
const NO_DIGIT: u8 = 0xff;

fn base64_digit(byte: u8) -> Option<u32> {
    let digit = DIGITS[byte as usize];
    (digit != NO_DIGIT).then_some(u32::from(digit))
}

/// Decodes a line of whole groups; false, and nothing written, if it is not one.
fn whole_line(line: &[u8], out: &mut Vec<u8>) -> bool {
    let start = out.len();
    let (groups, rest) = line.as_chunks::<4>();
    if !rest.is_empty() {
        return false;
    }
    for group in groups {
        let digits = group.map(|byte| DIGITS[byte as usize]);
        if digits.iter().fold(0, |all, digit| all | digit) > 63 {
            out.truncate(start);
            return false;
        }
        let bits = digits.iter().fold(0_u32, |bits, &digit| bits << 6 | u32::from(digit));
        out.extend_from_slice(&bits.to_be_bytes()[1..]);
    }
    true
}

/// The decoded bytes. Padding may stand anywhere; other bytes are skipped. Lines of text, which
/// mailing lists append, stay as they are. None if no line is base64.
pub fn base64(body: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(body.len() / 4 * 3);
    let (mut group, mut digits) = (0, 0);
    let mut any = false;
    for line in body.split(|&byte| byte == b'\n') {
        let line = line.trim_ascii();
        if digits == 0 && !line.is_empty() && whole_line(line, &mut out) {
            any = true;
            continue;
        }
        let is_text = line.contains(&b' ')
            || (any && line.iter().any(|&byte| !is_base64(byte)) && !mostly_base64(line));
        if is_text && digits != 1 && (any || !line.contains(&b'=')) {
            if line.contains(&b' ') && !any && !mostly_base64(line) {
                return None;
            }
            if !mostly_base64(line) {
                flush(&mut out, &mut group, &mut digits);
                out.push(b'\n');
                out.extend_from_slice(line);
                continue;
            }
        }
        for &byte in line {
            if let Some(digit) = base64_digit(byte) {
                any = true;
                group = group << 6 | digit;
                digits += 1;
                if digits == 4 {
                    out.extend_from_slice(&[(group >> 16) as u8, (group >> 8) as u8, group as u8]);
                    (group, digits) = (0, 0);
                }
            } else if byte == b'=' {
                flush(&mut out, &mut group, &mut digits);
            }
        }
    }
    flush(&mut out, &mut group, &mut digits);
    any.then_some(out)
}

fn is_base64(byte: u8) -> bool {
    base64_digit(byte).is_some() || byte == b'='
}

/// Whether nine tenths of a line are base64 digits, without a blank between them.
fn mostly_base64(line: &[u8]) -> bool {
    let digits = line.iter().filter(|&&byte| is_base64(byte)).count();
    let blanks = line.iter().filter(|byte| byte.is_ascii_whitespace()).count();
    blanks == 0 && 10 * digits >= 7 * line.len()
}

/// Writes the bytes of an incomplete group.
fn flush(out: &mut Vec<u8>, group: &mut u32, digits: &mut u32) {
    match *digits {
        2 => out.push((*group >> 4) as u8),
        3 => out.extend_from_slice(&[(*group >> 10) as u8, (*group >> 2) as u8]),
        _ => {}
    }
    (*group, *digits) = (0, 0);
}

fn hex(byte: u8) -> Option<u8> {
    (byte as char).to_digit(16).map(|digit| digit as u8)
}

/// The decoded bytes; an invalid escape stays as it is.
pub fn quoted_printable(body: &[u8]) -> Cow<'_, [u8]> {
    if memchr(b'=', body).is_none() {
        return Cow::Borrowed(body);
    }
    let mut out = Vec::with_capacity(body.len());
    let mut rest = body;
    while let Some(at) = memchr(b'=', rest) {
        out.extend_from_slice(&rest[..at]);
        rest = &rest[at + 1..];
        if let Some(after) = rest.strip_prefix(b"\n") {
            rest = after;
            continue;
        }
        // A soft line break, with blanks that transport added behind it.
        let blanks = rest.iter().take_while(|&&byte| matches!(byte, b' ' | b'\t' | b'\r')).count();
        match rest {
            [first, second, after @ ..] if hex(*first).is_some() && hex(*second).is_some() => {
                let value = hex(*first).unwrap_or(0) << 4 | hex(*second).unwrap_or(0);
                out.push(value);
                rest = after;
            }
            _ if rest.get(blanks) == Some(&b'\n') => rest = &rest[blanks + 1..],
            _ if blanks == rest.len() => rest = &[],
            _ => out.push(b'='),
        }
    }
    out.extend_from_slice(rest);
    Cow::Owned(out)
}
