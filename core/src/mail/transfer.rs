//! Content-Transfer-Encoding: base64 and quoted-printable, decoded as far as possible.

use std::borrow::Cow;

/// Decodes a body by the raw value of its `Content-Transfer-Encoding` header.
pub fn decoded<'a>(header: &[u8], body: &'a [u8]) -> Cow<'a, [u8]> {
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
        "base64" | "b64" => base64(body).map_or(Cow::Borrowed(body), Cow::Owned),
        "quoted-printable" | "quotedprintable" | "qp" => quoted_printable(body),
        _ => Cow::Borrowed(body),
    }
}

fn base64_digit(byte: u8) -> Option<u32> {
    Some(u32::from(match byte {
        b'A'..=b'Z' => byte - b'A',
        b'a'..=b'z' => byte - b'a' + 26,
        b'0'..=b'9' => byte - b'0' + 52,
        b'+' => 62,
        b'/' => 63,
        _ => return None,
    }))
}

/// The decoded bytes. Padding may stand anywhere; other bytes are skipped. Lines of text, which
/// mailing lists append, stay as they are. None if no line is base64.
pub fn base64(body: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(body.len() / 4 * 3);
    let (mut group, mut digits) = (0, 0);
    let mut any = false;
    for line in body.split(|&byte| byte == b'\n') {
        let line = line.trim_ascii();
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
    if !body.contains(&b'=') {
        return Cow::Borrowed(body);
    }
    let mut out = Vec::with_capacity(body.len());
    let mut rest = body;
    while let Some(at) = rest.iter().position(|&byte| byte == b'=') {
        out.extend_from_slice(&rest[..at]);
        rest = &rest[at + 1..];
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
