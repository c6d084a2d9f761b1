//! Headers and parts of a mail, as mail programs find them. All line ends are LF.

use memchr::{memchr, memmem};
use std::ops::Range;

/// Lines behind a line without a colon in which headers are searched.
const AHEAD: usize = 200;

/// The name and the raw value of a header, which may continue on further lines.
pub struct RawHeader<'a> {
    pub name: &'a str,
    pub value: &'a [u8],
}

/// A mail or a part: its headers, and the text behind the empty line.
pub struct Entity<'a> {
    pub headers: Vec<RawHeader<'a>>,
    pub body: &'a [u8],
}

impl<'a> Entity<'a> {
    /// Finds the end of the headers. A line of blanks or a text without an empty line before it also
    /// ends them.
    pub fn of(raw: &'a [u8]) -> Self {
        let mut headers: Vec<RawHeader<'a>> = Vec::new();
        let mut at = 0;
        while at < raw.len() {
            let end = memchr(b'\n', &raw[at..]).map_or(raw.len(), |length| at + length);
            let after = (end + 1).min(raw.len());
            let line = &raw[at..end];
            if line.is_empty() || (line.trim_ascii().is_empty() && !continues(&raw[after..])) {
                return Entity { headers, body: &raw[after..] };
            }
            if line.starts_with(b" ") || line.starts_with(b"\t") {
                if let Some(last) = headers.last_mut() {
                    let start = last.value.as_ptr() as usize - raw.as_ptr() as usize;
                    last.value = &raw[start..end];
                }
            } else if let Some(name) = header_name(line) {
                let start = at + memchr(b':', line).map_or(line.len(), |colon| colon + 1);
                headers.push(RawHeader { name, value: &raw[start..end] });
            } else if is_text(&raw[at..]) {
                return Entity { headers, body: &raw[at..] };
            } else {
                // A damaged line among headers. Lines that continue it belong to it.
                headers.push(RawHeader { name: "", value: &raw[end..end] });
            }
            at = after;
        }
        Entity { headers, body: &raw[raw.len()..] }
    }

    /// The raw values of all headers of a name, given in lower case.
    pub fn values(&self, name: &str) -> impl DoubleEndedIterator<Item = &'a [u8]> {
        let found =
            self.headers.iter().filter(move |header| header.name.eq_ignore_ascii_case(name));
        found.map(|header| header.value)
    }
}

/// Whether headers go on behind a line of blanks.
fn continues(raw: &[u8]) -> bool {
    let line = raw.split(|&byte| byte == b'\n').next().unwrap_or_default();
    header_name(line).is_some() && !line.starts_with(b"--")
}

/// Whether a line without a colon begins the text: up to the next empty line, most lines are not known
/// headers. A few such lines among headers are damaged headers.
fn is_text(raw: &[u8]) -> bool {
    let lines = raw.split(|&byte| byte == b'\n').take(AHEAD);
    let (mut other, mut known) = (0, 0);
    for line in lines.take_while(|line| !line.trim_ascii().is_empty()) {
        match header_name(line) {
            Some(name) => known += usize::from(is_known(name)),
            None => other += usize::from(!line.starts_with(b" ") && !line.starts_with(b"\t")),
        }
    }
    other > known
}

fn is_known(name: &str) -> bool {
    use mail_parser::HeaderName;
    name.starts_with("X-") || !matches!(HeaderName::parse(name), None | Some(HeaderName::Other(_)))
}

/// The name in front of the colon of a header.
fn header_name(line: &[u8]) -> Option<&str> {
    let name = line[..memchr(b':', line)?].trim_ascii_end();
    let valid = !name.is_empty() && name.iter().all(u8::is_ascii_graphic);
    std::str::from_utf8(name).ok().filter(|_| valid)
}

/// The parts of a body between its boundaries.
pub struct Parts {
    pub inner: Vec<Range<usize>>,
    /// The text before the first boundary.
    pub preamble: Range<usize>,
    /// The text behind the closing boundary.
    pub epilogue: Range<usize>,
}

/// Splits a body at the lines that begin with a boundary. If none has it alone, longer lines count:
/// parsers read a declared boundary in different ways.
pub fn parts(body: &[u8], boundary: &str) -> Option<Parts> {
    let boundary = boundary.trim_ascii_end();
    if boundary.is_empty() {
        return None;
    }
    let delimiter = [b"--", boundary.as_bytes()].concat();
    split(body, &delimiter, true).or_else(|| split(body, &delimiter, false))
}

fn split(body: &[u8], delimiter: &[u8], exact: bool) -> Option<Parts> {
    let mut inner = Vec::new();
    let mut preamble = None;
    // The beginning of the open part; none behind a closing boundary.
    let mut begin = None;
    let mut epilogue = body.len()..body.len();
    for at in memmem::find_iter(body, delimiter) {
        if at > 0 && body[at - 1] != b'\n' {
            continue;
        }
        let rest = at + delimiter.len();
        let end = memchr(b'\n', &body[rest..]).map_or(body.len(), |length| rest + length);
        let after = body[rest..end].trim_ascii();
        let closes = if exact { after == b"--" } else { after.ends_with(b"--") };
        if exact && !closes && !after.is_empty() {
            continue;
        }
        let before = at.saturating_sub(1);
        preamble.get_or_insert(0..before);
        if let Some(begin) = begin {
            inner.push(begin..before.max(begin));
        }
        let next = (end + 1).min(body.len());
        begin = (!closes).then_some(next);
        if closes {
            epilogue = next..body.len();
        }
    }
    if let Some(begin) = begin {
        inner.push(begin..body.len());
        epilogue = body.len()..body.len();
    }
    (!inner.is_empty()).then(|| Parts { inner, preamble: preamble.unwrap_or(0..0), epilogue })
}
