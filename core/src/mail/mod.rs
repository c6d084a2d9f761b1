//! Mail to text: structure, transfer encodings and charsets of mail as it really arrives.
//!
//! The crate `mail-parser` finds headers and parts. This module repairs the input first, and decodes
//! headers and bodies itself, because real mail deviates from the standards there.

mod charset;
mod header;
mod html;
mod transfer;

use crate::mail::charset::decode;
use crate::mail::header::{Parameters, addresses, file_name, header_text};
use crate::threads::shared;
use crate::watch::Watch;
use encoding_rs::{UTF_16BE, UTF_16LE};
use mail_parser::{HeaderName, Message, MessageParser, MessagePart, PartType};
use std::borrow::Cow;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Bytes of a mail that are read: later parts are attachments.
const MAX_BYTES: usize = 1 << 21;
const MAX_PARTS: usize = 100;
/// Headers read of a mail or a part.
pub const MAX_HEADERS: usize = 200;
const MAX_SENDERS: usize = 100;
/// Depth of mails that are attached to one another.
const MAX_DEPTH: usize = 8;
/// Lines that may be boundaries, and declarations of boundaries. A mail with more of both is read as
/// a single part: searching for the boundary of each nested part takes quadratic time.
const MAX_BOUNDARIES: usize = 1_000;
/// Attached mails. More would nest deeper than the stack of a thread.
const MAX_ATTACHED: usize = 1_000;

/// Parses only the headers that give a mail its structure.
static PARSER: LazyLock<MessageParser> = LazyLock::new(|| {
    MessageParser::new()
        .header_content_type(HeaderName::ContentType)
        .header_content_type(HeaderName::ContentDisposition)
        .header_text(HeaderName::ContentTransferEncoding)
        .default_header_ignore()
});

/// The name of a header and its decoded text.
pub type Header = (String, String);

/// A part of a mail that contains no other parts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Part {
    /// The media type in lower case, such as `text/html`.
    pub kind: String,
    /// The declared charset, as written.
    pub charset: Option<String>,
    pub file_name: Option<String>,
    /// The headers of the part; empty for the mail's own body.
    pub headers: Vec<Header>,
    /// The decoded text of a `text/*` part.
    pub text: Option<String>,
}

/// A mail: its headers, and its parts in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mail {
    pub headers: Vec<Header>,
    /// The addresses in all `From` headers, in lower case; at most `MAX_SENDERS`.
    pub senders: Vec<String>,
    pub parts: Vec<Part>,
    /// Media types of all parts, including those that contain others.
    pub kinds: Vec<String>,
}

impl Mail {
    /// Reads a mail. Every input gives a mail; `room` bounds the characters of its texts.
    pub fn read(raw: &[u8], room: usize) -> Mail {
        let raw = repaired(&raw[..raw.len().min(MAX_BYTES)]);
        let mut reader = Reader { mail: Mail::default(), room };
        let after = |byte: u8| raw.split(move |&each| each == byte).skip(1);
        let boundaries = after(b'\n').filter(|line| line.starts_with(b"--")).count();
        let is_mail = |kind: &&[u8]| {
            kind.get(..6).is_some_and(|kind| {
                kind.eq_ignore_ascii_case(b"rfc822") || kind.eq_ignore_ascii_case(b"global")
            })
        };
        let is_declared = |word: &&[u8]| word.eq_ignore_ascii_case(b"boundary");
        let nests = boundaries > MAX_BOUNDARIES
            && raw.windows(8).filter(is_declared).count() > MAX_BOUNDARIES;
        if nests || after(b'/').filter(is_mail).count() > MAX_ATTACHED {
            reader.read_one_part(&raw);
        } else {
            reader.read(&raw, 0);
        }
        reader.mail
    }

    /// The mail as a text for a tokenizer: one line per header, up to `header_room` characters, then
    /// the texts of the parts.
    pub fn text(&self, header_room: usize) -> String {
        let mut lines = String::new();
        let headers = self.parts.iter().flat_map(|part| &part.headers);
        for (name, text) in self.headers.iter().chain(headers) {
            if !lines.is_empty() {
                lines.push('\n');
            }
            lines.push_str(name);
            lines.push_str(": ");
            lines.push_str(text);
        }
        truncate(&mut lines, header_room);
        for text in self.parts.iter().filter_map(|part| part.text.as_ref()) {
            if !lines.is_empty() {
                lines.push('\n');
            }
            lines.push_str(text);
        }
        lines
    }
}

/// The texts of mails with their senders, read on several threads.
///
/// `room` bounds the characters of the texts of a mail, `header_room` those of its header lines.
pub fn texts<T: AsRef<[u8]> + Sync>(
    raw: &[T],
    room: usize,
    header_room: usize,
    threads: usize,
    watch: &Watch,
) -> Vec<(String, Vec<String>)> {
    let next = AtomicUsize::new(0);
    let read = |watch: &Watch| {
        let mut found = Vec::new();
        loop {
            let place = next.fetch_add(1, Ordering::Relaxed);
            let Some(raw) = raw.get(place).map(T::as_ref) else { return found };
            let mail = Mail::read(raw, room);
            found.push((place, (mail.text(header_room), mail.senders)));
            if watch.stops(raw.len()) {
                return found;
            }
        }
    };
    let mut found: Vec<_> =
        shared(threads.min(raw.len()), watch, read, read).into_iter().flatten().collect();
    found.sort_unstable_by_key(|&(place, _)| place);
    found.into_iter().map(|(_, text)| text).collect()
}

/// Cuts a text after `room` characters.
fn truncate(text: &mut String, room: usize) {
    if text.len() > room
        && let Some((end, _)) = text.char_indices().nth(room)
    {
        text.truncate(end);
    }
}

struct Reader {
    mail: Mail,
    room: usize,
}

impl Reader {
    fn read(&mut self, raw: &[u8], depth: usize) {
        match PARSER.parse(raw).filter(|mail| has_headers(mail, raw)) {
            Some(message) => self.add_message(&message, depth),
            None => self.add_plain_text(raw.strip_prefix(b"\n").unwrap_or(raw)),
        }
    }

    /// Reads the headers, and everything behind them as one text.
    fn read_one_part(&mut self, raw: &[u8]) {
        let end = raw.windows(2).position(|bytes| bytes == b"\n\n").map_or(raw.len(), |at| at + 1);
        let (head, body) = raw.split_at(end);
        if let Some(message) = PARSER.parse_headers(head) {
            let charset = declared_charset(message.root_part(), head);
            self.mail.headers = headers(message.root_part(), head, charset.as_deref());
            self.mail.senders = senders(&message);
        }
        self.add_plain_text(body);
    }

    fn add_message(&mut self, message: &Message<'_>, depth: usize) {
        let raw = message.raw_message.as_ref();
        // A raw 8-bit header has the charset of the text behind it.
        let charset = message.parts.iter().find_map(|part| declared_charset(part, raw));
        let own = headers(message.root_part(), raw, charset.as_deref());
        if depth == 0 {
            self.mail.headers = own;
            self.mail.senders = senders(message);
        } else if let Some(part) = self.mail.parts.last_mut() {
            part.headers.extend(own);
        }
        for (place, part) in message.parts.iter().enumerate() {
            if self.mail.kinds.len() == MAX_PARTS {
                return;
            }
            let content = Parameters::of(last_header(part, raw, &HeaderName::ContentType));
            self.mail.kinds.push(content.kind.clone());
            let mut new = Part { kind: content.kind.clone(), ..Part::default() };
            new.charset = content.get("charset").map(Cow::into_owned);
            let disposition =
                Parameters::of(last_header(part, raw, &HeaderName::ContentDisposition));
            let name = disposition.get("filename").or_else(|| content.get("name"));
            new.file_name = name.map(|name| file_name(&name, charset.as_deref()));
            if place > 0 {
                new.headers = headers(part, raw, charset.as_deref());
            }
            self.add_part(new, part, raw, charset.as_deref(), depth);
        }
    }

    fn add_part(
        &mut self,
        new: Part,
        part: &MessagePart<'_>,
        raw: &[u8],
        charset: Option<&str>,
        depth: usize,
    ) {
        match &part.body {
            PartType::Multipart(_) => {}
            PartType::Message(inner) => {
                self.mail.parts.push(new);
                if depth < MAX_DEPTH {
                    self.add_message(inner, depth + 1);
                }
            }
            _ => {
                let (start, end) = (part.offset_body as usize, part.offset_end as usize);
                let body = raw.get(start..end.max(start)).unwrap_or_default();
                let encoding = last_header(part, raw, &HeaderName::ContentTransferEncoding);
                let body = transfer::decoded(encoding, body);
                if new.kind.starts_with("message/") && depth < MAX_DEPTH {
                    self.mail.parts.push(new);
                    if let Some(inner) = PARSER.parse(body.as_ref()) {
                        self.add_message(&inner, depth + 1);
                    }
                } else if new.kind.starts_with("text/") || new.kind.starts_with("multipart/") {
                    let charset = new.charset.clone().or_else(|| charset.map(str::to_owned));
                    self.add_text(new, &body, charset.as_deref());
                } else {
                    self.mail.parts.push(new);
                }
            }
        }
    }

    fn add_plain_text(&mut self, bytes: &[u8]) {
        self.mail.kinds.push("text/plain".into());
        self.add_text(Part { kind: "text/plain".into(), ..Part::default() }, bytes, None);
    }

    fn add_text(&mut self, mut part: Part, bytes: &[u8], charset: Option<&str>) {
        if self.room > 0 {
            let mut bytes = bytes;
            if bytes.len() / 4 > self.room {
                bytes = &bytes[..4 * self.room];
            }
            let html = part.kind == "text/html";
            let declared =
                if html { html::charset(bytes, charset) } else { charset.map(Cow::from) };
            let mut text = decode(bytes, declared.as_deref()).into_owned();
            if html {
                text = html::joined(text);
            }
            truncate(&mut text, self.room);
            // A line end separates it from the next part.
            self.room -= (text.chars().count() + 1).min(self.room);
            part.text = Some(text);
        }
        self.mail.parts.push(part);
    }
}

/// Whether a mail has a header with a colon; otherwise it is a body alone.
fn has_headers(message: &Message<'_>, raw: &[u8]) -> bool {
    let colon = |start: u32| (start as usize).checked_sub(1).and_then(|at| raw.get(at));
    message.headers().iter().any(|header| colon(header.offset_start) == Some(&b':'))
}

/// The addresses in all `From` headers: a program may show any of them.
fn senders(message: &Message<'_>) -> Vec<String> {
    let raw = message.raw_message.as_ref();
    let from = message.headers().iter().filter(|header| header.name == HeaderName::From);
    let values = from.map(|header| header.offset_start as usize..header.offset_end as usize);
    let found = values.flat_map(|range| addresses(raw.get(range).unwrap_or_default()));
    found.take(MAX_SENDERS).collect()
}

/// The headers of a part, decoded.
fn headers(part: &MessagePart<'_>, raw: &[u8], charset: Option<&str>) -> Vec<Header> {
    let texts = part.headers.iter().take(MAX_HEADERS).map(|header| {
        let value = raw.get(header.offset_start as usize..header.offset_end as usize);
        let name = raw.get(header.offset_field as usize..header.offset_start as usize);
        let name = name.unwrap_or_default().strip_suffix(b":").unwrap_or_default();
        let text = header_text(&header.name, value.unwrap_or_default(), charset);
        (String::from_utf8_lossy(name).trim().to_owned(), text)
    });
    texts.collect()
}

/// The raw value of the last header of this name; empty if there is none.
fn last_header<'a>(part: &MessagePart<'_>, raw: &'a [u8], name: &HeaderName<'_>) -> &'a [u8] {
    let found = part.headers.iter().rev().find(|header| header.name == *name);
    let range = found.map(|header| header.offset_start as usize..header.offset_end as usize);
    range.and_then(|range| raw.get(range)).unwrap_or_default()
}

/// The charset that the part declares.
fn declared_charset(part: &MessagePart<'_>, raw: &[u8]) -> Option<String> {
    let content = Parameters::of(last_header(part, raw, &HeaderName::ContentType));
    content.get("charset").map(Cow::into_owned)
}

/// The mail with `\n` line ends and without anything in front of its headers.
fn repaired(raw: &[u8]) -> Vec<u8> {
    let utf16 = match raw {
        [0xff, 0xfe, ..] => Some(UTF_16LE),
        [0xfe, 0xff, ..] => Some(UTF_16BE),
        [first, 0, second, 0, ..] if first.is_ascii() && second.is_ascii() => Some(UTF_16LE),
        [0, first, 0, second, ..] if first.is_ascii() && second.is_ascii() => Some(UTF_16BE),
        _ => None,
    };
    let decoded = utf16.map(|encoding| encoding.decode(raw).0);
    let raw = decoded.as_ref().map_or(raw, |text| text.as_bytes());
    let mut repaired = without_wrapper(&unix_lines(raw)).to_vec();
    if let Some(at) = text_after_headers(&repaired) {
        repaired.insert(at, b'\n');
    }
    repaired
}

/// Where the text begins, if no empty line stands between it and the headers. A few lines without a
/// colon among headers are damaged headers instead.
fn text_after_headers(raw: &[u8]) -> Option<usize> {
    let is_other = |line: &&[u8]| {
        !line.starts_with(b" ") && !line.starts_with(b"\t") && header_name(line).is_none()
    };
    let is_known = |line: &&[u8]| {
        header_name(line).is_some_and(|name| {
            name.starts_with("X-")
                || !matches!(HeaderName::parse(name), None | Some(HeaderName::Other(_)))
        })
    };
    let head = raw.split(|&byte| byte == b'\n').take_while(|line| !line.trim_ascii().is_empty());
    let mut at = 0;
    for line in head {
        if is_other(&line) {
            let rest = || {
                let lines = raw[at..].split(|&byte| byte == b'\n').take(MAX_HEADERS);
                lines.take_while(|line| !line.trim_ascii().is_empty())
            };
            return (rest().filter(is_other).count() > rest().filter(is_known).count())
                .then_some(at);
        }
        at += line.len() + 1;
    }
    None
}

/// The name in front of the colon of a header.
fn header_name(line: &[u8]) -> Option<&str> {
    let name = line[..line.iter().position(|&byte| byte == b':')?].trim_ascii_end();
    let valid = !name.is_empty() && name.iter().all(u8::is_ascii_graphic);
    std::str::from_utf8(name).ok().filter(|_| valid)
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
        // A property list follows the mail. If there is none, the length is wrong.
        let list = rest.get(length..).unwrap_or_default().trim_ascii_start();
        return if list.starts_with(b"<?xml") { &rest[..length] } else { rest };
    }
    if line.starts_with(b"From ") || line.starts_with(b">From ") { rest } else { raw }
}
