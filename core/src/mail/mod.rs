//! Mail to text: structure, transfer encodings and charsets of mail as it really arrives.
//!
//! The input is repaired first, because real mail deviates from the standards. Budgets count the
//! characters that a person sees, so that neither markup nor other parts hide a text.

mod charset;
mod header;
mod html;
mod kinds;
mod lines;
mod structure;
mod transfer;

use crate::mail::charset::decode;
use crate::mail::header::{Parameters, addresses, file_name, header_text};
pub use crate::mail::html::{Page, render};
use crate::mail::kinds::{Show, show};
use crate::mail::structure::{Entity, parts};
use crate::threads::shared;
use crate::watch::Watch;
use encoding_rs::{UTF_16BE, UTF_16LE};
use foldhash::HashSet;
use memchr::{memchr, memmem};
use std::borrow::Cow;
use std::cell::OnceCell;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Bytes of a mail that are read: later parts are attachments.
const MAX_BYTES: usize = 1 << 21;
const MAX_PARTS: usize = 1_000;
/// Media types that are listed.
const MAX_KINDS: usize = 100;
/// Headers read of a mail or a part.
pub const MAX_HEADERS: usize = 200;
const MAX_SENDERS: usize = 100;
/// Depth of parts that contain one another.
const MAX_DEPTH: usize = 100;
/// Headers `Subject` and `From` that have a budget of their own, each.
const MAX_SHOWN: usize = 5;
/// Characters of the headers of all parts.
const PART_HEADERS: usize = 4_096;
/// Characters at the beginning of each part, also if the text before it is full: of the first parts,
/// and of all others.
const BEGINNING: usize = 1_024;
const SHORT_BEGINNING: usize = 100;
const LONG_BEGINNINGS: usize = 32;
/// Characters of hidden text.
const HIDDEN: usize = 1_024;
/// Characters of texts that a program shows instead of others.
const ALTERNATIVE: usize = 2_048;
/// Characters of addresses and names of tags.
const LINKS: usize = 2_048;

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
    /// The content of a part that mail programs show as text.
    pub page: Option<Page>,
    /// Whether most programs show another part instead (`multipart/alternative`).
    pub replaced: bool,
}

/// A mail: its headers, and its parts in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mail {
    pub headers: Vec<Header>,
    /// The addresses in all `From` headers, in lower case; at most `MAX_SENDERS`.
    pub senders: Vec<String>,
    pub parts: Vec<Part>,
    /// Media types of all parts, including those that contain others; at most `MAX_KINDS`.
    pub kinds: Vec<String>,
}

impl Mail {
    /// Reads a mail. Every input gives a mail; `room` bounds the characters of the texts that are
    /// shown one after another, except for the beginning of each.
    pub fn read(raw: &[u8], room: usize) -> Mail {
        let raw = repaired(&raw[..raw.len().min(MAX_BYTES)]);
        let mut reader = Reader {
            mail: Mail::default(),
            room,
            whole: room,
            texts: 0,
            raw: &raw,
            declared: OnceCell::new(),
        };
        reader.read(&raw);
        reader.mail
    }

    /// The mail as a text for a tokenizer: one line per header, up to `header_room` characters, then
    /// the texts of the parts. Fields of the tokenizer follow: the links and tags of HTML without a
    /// name, lines of alternatives that the shown text does not contain, and hidden texts.
    pub fn text(&self, header_room: usize) -> String {
        let mut lines = String::new();
        add_headers(&mut lines, &self.headers, header_room);
        let of_parts: Vec<_> = self.parts.iter().flat_map(|part| &part.headers).collect();
        add_headers(&mut lines, of_parts, PART_HEADERS);
        let pages =
            || self.parts.iter().filter_map(|part| Some((part.replaced, part.page.as_ref()?)));
        for (_, page) in pages().filter(|(replaced, _)| !replaced) {
            if !lines.is_empty() {
                lines.push('\n');
            }
            lines.push_str(&page.text);
        }
        let urls = pages().flat_map(|(_, page)| &page.urls).map(String::as_str);
        let tags = pages().flat_map(|(_, page)| &page.tags).map(|(tag, _)| tag.as_str());
        add_field(&mut lines, "", urls.chain(tags), LINKS);
        let replaced: Vec<_> = pages().filter(|(replaced, _)| *replaced).collect();
        if !replaced.is_empty() {
            let shown =
                pages().filter(|(replaced, _)| !replaced).map(|(_, page)| page.text.as_str());
            let shown: HashSet<&str> = shown.flat_map(words).collect();
            let texts = replaced.iter().flat_map(|(_, page)| page.text.lines());
            let other = texts.filter(|line| is_other(line, &shown));
            add_field(&mut lines, "alternative", other, ALTERNATIVE);
        }
        let hidden = pages().map(|(_, page)| page.hidden.as_str());
        add_field(&mut lines, "hidden", hidden, HIDDEN);
        lines
    }
}

/// Adds a line for each header, up to `room` characters. What every program shows has its own room.
fn add_headers<'a>(
    lines: &mut String,
    headers: impl IntoIterator<Item = &'a Header>,
    mut room: usize,
) {
    let mut shown = [MAX_SHOWN; SHOWN.len()];
    for (name, text) in headers {
        let place = SHOWN.iter().position(|each| name.eq_ignore_ascii_case(each));
        let own = place.is_some_and(|place| {
            shown[place] = shown[place].saturating_sub(1);
            shown[place] > 0
        });
        if !own && room == 0 {
            continue;
        }
        let start = lines.len();
        if start > 0 {
            lines.push('\n');
        }
        lines.push_str(name);
        lines.push_str(": ");
        lines.push_str(text);
        if !own {
            let length = lines[start..].chars().count();
            if length > room {
                let end = lines[start..].char_indices().nth(room).map_or(0, |(at, _)| at);
                lines.truncate(start + end);
            }
            room -= length.min(room);
        }
    }
}

/// Headers that every program shows.
const SHOWN: [&str; 2] = ["subject", "from"];

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|character: char| !character.is_alphanumeric()).filter(|word| !word.is_empty())
}

/// Whether a line of an alternative says something else than the text that is shown.
fn is_other(line: &str, shown: &HashSet<&str>) -> bool {
    let (mut same, mut all) = (0, 0);
    for word in words(line) {
        (same, all) = (same + usize::from(shown.contains(word)), all + 1);
    }
    2 * same < all
}

/// Adds lines as a field of a tokenizer: a record separator, the name, a unit separator, the text.
fn add_field<'a>(text: &mut String, name: &str, lines: impl Iterator<Item = &'a str>, room: usize) {
    let start = text.len();
    let mut left = room;
    for line in lines.filter(|line| !line.is_empty()) {
        if left == 0 {
            return;
        }
        if text.len() == start {
            text.push('\u{1e}');
            text.push_str(name);
            text.push('\u{1f}');
        } else {
            text.push('\n');
        }
        let mut line = line;
        if line.len() > left
            && let Some((end, _)) = line.char_indices().nth(left)
        {
            line = &line[..end];
        }
        text.push_str(line);
        left = left.saturating_sub(line.chars().count() + 1);
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

struct Reader<'a> {
    mail: Mail,
    /// Characters left of the texts that are shown.
    room: usize,
    whole: usize,
    /// Texts so far.
    texts: usize,
    raw: &'a [u8],
    /// The first charset in the mail.
    declared: OnceCell<Option<&'a str>>,
}

impl<'a> Reader<'a> {
    fn read(&mut self, raw: &[u8]) {
        let entity = Entity::of(raw);
        if entity.headers.is_empty() {
            self.list("text/plain");
            let part = Part { kind: "text/plain".into(), ..Part::default() };
            return self.add_text(part, entity.body, None, false, true);
        }
        self.mail.headers = self.headers(&entity);
        self.mail.senders = senders(&entity);
        self.add(&entity, Vec::new(), 0, false);
    }

    fn list(&mut self, kind: &str) {
        if self.mail.kinds.len() < MAX_KINDS {
            self.mail.kinds.push(kind.to_owned());
        }
    }

    fn is_full(&self) -> bool {
        self.mail.parts.len() >= MAX_PARTS
    }

    /// Adds a mail or a part with all parts within it.
    fn add(&mut self, entity: &Entity<'_>, headers: Vec<Header>, depth: usize, in_digest: bool) {
        if self.is_full() {
            return;
        }
        let types: Vec<_> =
            entity.values("content-type").take(MAX_SHOWN).map(Parameters::of).collect();
        let transfer: Vec<_> = entity.values("content-transfer-encoding").take(MAX_SHOWN).collect();
        let disposition = entity.values("content-disposition").next_back().map(Parameters::of);
        let name = disposition.as_ref().and_then(|found| found.get("filename"));
        let name = name.or_else(|| types.iter().rev().find_map(|found| found.get("name")));
        let name = name.map(|name| file_name(&name, self.charset(name.as_bytes())));
        // Programs use the first or the last of several types: read all of them.
        let shows = |of: &Parameters<'_>| show(&of.kind, name.as_deref());
        let multipart = types.iter().rev().filter(|of| shows(of) == Show::Multipart);
        for content in multipart.filter(|_| depth < MAX_DEPTH) {
            let Some(boundary) = content.get("boundary") else { continue };
            let mut body = Cow::Borrowed(entity.body);
            let mut found = parts(&body, &boundary);
            if found.is_none() && !transfer.is_empty() {
                body = transfer::decoded(&transfer, entity.body);
                found = parts(&body, &boundary);
            }
            if let Some(found) = found {
                self.list(&content.kind);
                if types.iter().any(|of| shows(of) != Show::Multipart) {
                    for text in [found.preamble, found.epilogue] {
                        let part = Part { kind: "text/plain".into(), ..Part::default() };
                        self.add_text(part, &body[text], None, false, true);
                    }
                }
                let start = content.get("start").filter(|_| content.kind == "multipart/related");
                self.add_parts(&body, &found.inner, &content.kind, start.as_deref(), depth);
                return;
            }
        }
        let first = |way: Show| types.iter().rev().find(|of| shows(of) == way);
        let texts = [Show::Html, Show::Text, Show::Message, Show::Signed, Show::Multipart];
        let content = texts.into_iter().find_map(first).or(types.last());
        let kind = match content {
            Some(content) => content.kind.clone(),
            None if in_digest => "message/rfc822".into(),
            None => "text/plain".into(),
        };
        self.list(&kind);
        let way = show(&kind, name.as_deref());
        let charset = content.and_then(|content| content.get("charset")).map(Cow::into_owned);
        let body = || transfer::decoded(&transfer, entity.body);
        let part = Part { kind, charset, file_name: name, headers, ..Part::default() };
        match way {
            Show::Message | Show::Signed if depth < MAX_DEPTH => {
                let body = body();
                let lines;
                let mut inner = without_wrapper(&body);
                if way == Show::Signed {
                    lines = lines::of_signed(&body);
                    inner = &lines;
                }
                let inner = Entity::of(inner);
                let headers = self.headers(&inner);
                self.mail.parts.push(part);
                if let Some(part) = self.mail.parts.last_mut() {
                    part.headers.extend(headers);
                }
                self.add(&inner, Vec::new(), depth + 1, false);
            }
            Show::Attachment if !html::is_page(&transfer::beginning(&transfer, entity.body)) => {
                self.mail.parts.push(part);
            }
            Show::Attachment => self.add_text(part, &body(), None, true, false),
            _ => {
                let charset = part.charset.clone();
                let is_declared = content.is_some_and(|content| content.is_valid);
                let parameter = |name: &str| content.and_then(|content| content.get(name));
                let mut body = body();
                if way == Show::Calendar {
                    body = Cow::Owned(lines::of_calendar(&body));
                } else if parameter("delsp").is_some_and(|value| value.eq_ignore_ascii_case("yes"))
                {
                    body = Cow::Owned(lines::joined(&body, b" \n", b""));
                }
                self.add_text(part, &body, charset, way == Show::Html, !is_declared);
            }
        }
    }

    fn add_parts(
        &mut self,
        body: &[u8],
        inner: &[std::ops::Range<usize>],
        kind: &str,
        start: Option<&str>,
        depth: usize,
    ) {
        let alternative = kind == "multipart/alternative";
        // The part that a program shows of related ones.
        let mut root = None;
        let room = self.room;
        let mut children = Vec::new();
        for (place, range) in inner.iter().enumerate() {
            if self.is_full() {
                // The others as one text.
                let rest = range.start..inner.last().map_or(range.end, |last| last.end);
                if self.mail.parts.len() < MAX_PARTS + MAX_DEPTH {
                    let part = Part { kind: "text/plain".into(), ..Part::default() };
                    self.add_text(part, &body[rest], None, false, false);
                }
                break;
            }
            let entity = Entity::of(&body[range.clone()]);
            let headers = self.headers(&entity);
            let begin = self.mail.parts.len();
            if alternative || start.is_some() {
                self.room = room;
            }
            let id = entity
                .values("content-id")
                .next_back()
                .map(|id| String::from_utf8_lossy(id.trim_ascii()));
            if start.is_some_and(|start| id.is_some_and(|id| bare(&id) == bare(start))) {
                root = Some(place);
            }
            self.add(&entity, headers, depth + 1, kind == "multipart/digest");
            children.push((begin..self.mail.parts.len(), self.room, place));
        }
        if alternative {
            self.choose(&children, room);
        } else if let Some(root) = root {
            self.show_only(&children, root);
        }
    }

    /// Programs show the last alternative that they can.
    fn choose(&mut self, children: &[(std::ops::Range<usize>, usize, usize)], room: usize) {
        let is_text = |part: &Part| part.page.as_ref().is_some_and(|page| !page.text.is_empty());
        let common = |part: &Part| matches!(part.kind.as_str(), "text/html" | "text/plain");
        let parts = &self.mail.parts;
        let last = |wanted: &dyn Fn(&Part) -> bool| {
            children.iter().rev().find(|(range, ..)| parts[range.clone()].iter().any(wanted))
        };
        let shown = last(&|part| is_text(part) && common(part)).or_else(|| last(&is_text)).cloned();
        match shown {
            Some((.., place)) => self.show_only(children, place),
            None => self.room = room,
        }
    }

    /// The other children are replaced by one, except for meetings.
    fn show_only(&mut self, children: &[(std::ops::Range<usize>, usize, usize)], shown: usize) {
        for (range, left, place) in children {
            if *place == shown {
                self.room = *left;
                continue;
            }
            let others = self.mail.parts[range.clone()].iter_mut();
            others
                .filter(|part| part.kind != "text/calendar")
                .for_each(|part| part.replaced = true);
        }
    }

    /// `sniffs`: whether a text that begins as a page is one.
    fn add_text(
        &mut self,
        mut part: Part,
        bytes: &[u8],
        charset: Option<String>,
        html: bool,
        sniffs: bool,
    ) {
        self.texts += 1;
        let beginning = if self.texts > LONG_BEGINNINGS { SHORT_BEGINNING } else { BEGINNING };
        let room = self.room.max(beginning.min(self.whole));
        let html = html || (sniffs && html::is_page(bytes));
        let charset = charset.as_deref().or_else(|| self.charset(bytes));
        let declared = if html { html::charset(bytes, charset) } else { charset.map(Cow::from) };
        let text = decode(bytes, declared.as_deref());
        let page = if html {
            html::render(&text, room, HIDDEN.min(self.whole))
        } else {
            Page { text: html::plain(&text, room), ..Page::default() }
        };
        // A line end separates it from the next part.
        self.room -= (page.text.chars().count() + 1).min(self.room);
        part.page = Some(page);
        self.mail.parts.push(part);
    }

    /// The headers, decoded. Those of other filters are left out.
    fn headers(&self, entity: &Entity<'_>) -> Vec<Header> {
        let mut shown = 0;
        let mut found = Vec::with_capacity(entity.headers.len().min(MAX_HEADERS));
        for (place, header) in entity.headers.iter().enumerate() {
            let is_shown = SHOWN.iter().any(|name| header.name.eq_ignore_ascii_case(name));
            if place >= MAX_HEADERS {
                if !is_shown || shown >= MAX_SHOWN {
                    continue;
                }
                shown += 1;
            }
            if header.name.is_empty() || is_of_filter(header.name) {
                continue;
            }
            let text = header_text(header.name, header.value, self.charset(header.value));
            found.push((header.name.to_owned(), text));
        }
        found
    }

    /// The charset for bytes that do not declare one: the first in the mail.
    fn charset(&self, bytes: &[u8]) -> Option<&'a str> {
        if bytes.is_ascii() && !bytes.contains(&0x1b) {
            return None;
        }
        *self.declared.get_or_init(|| first_charset(self.raw))
    }
}

fn first_charset(raw: &[u8]) -> Option<&str> {
    let word = memmem::find_iter(raw, b"harset").find(|&at| {
        at > 0
            && raw[at - 1].eq_ignore_ascii_case(&b'c')
            && raw[at + 6..].trim_ascii_start().starts_with(b"=")
    })?;
    let rest = raw[word + 6..].trim_ascii_start()[1..].trim_ascii_start();
    let rest = rest.strip_prefix(b"\"").unwrap_or(rest);
    let ends = |byte: &u8| matches!(byte, b'"' | b';') || byte.is_ascii_whitespace();
    let end = rest.iter().take(60).position(ends).unwrap_or(rest.len().min(60));
    std::str::from_utf8(&rest[..end]).ok()
}

/// An id without its brackets.
fn bare(id: &str) -> &str {
    id.trim_matches(['<', '>', ' '])
}

/// Headers in which filters write their decisions: a model would learn them instead of the mail.
fn is_of_filter(name: &str) -> bool {
    const STARTS: [&str; 8] = [
        "x-spam",
        "x-bogosity",
        "x-rspam",
        "x-dspam",
        "x-crm114",
        "x-sbclass",
        "x-barracuda",
        "x-ham",
    ];
    STARTS
        .iter()
        .any(|start| name.get(..start.len()).is_some_and(|found| found.eq_ignore_ascii_case(start)))
}

/// The addresses in all `From` headers: a program may show any of them.
fn senders(entity: &Entity<'_>) -> Vec<String> {
    entity.values("from").flat_map(addresses).take(MAX_SENDERS).collect()
}

/// The mail with `\n` line ends and without anything in front of its headers.
fn repaired(raw: &[u8]) -> Cow<'_, [u8]> {
    let utf16 = match raw {
        [0xff, 0xfe, ..] => Some(UTF_16LE),
        [0xfe, 0xff, ..] => Some(UTF_16BE),
        [first, 0, second, 0, ..] if first.is_ascii() && second.is_ascii() => Some(UTF_16LE),
        [0, first, 0, second, ..] if first.is_ascii() && second.is_ascii() => Some(UTF_16BE),
        _ => None,
    };
    if let Some(encoding) = utf16 {
        let text = encoding.decode(raw).0;
        return Cow::Owned(without_wrapper(&unix_lines(text.as_bytes())).to_vec());
    }
    match unix_lines(raw) {
        Cow::Borrowed(lines) => Cow::Borrowed(without_wrapper(lines)),
        Cow::Owned(lines) if without_wrapper(&lines).len() == lines.len() => Cow::Owned(lines),
        Cow::Owned(lines) => Cow::Owned(without_wrapper(&lines).to_vec()),
    }
}

/// CR LF, CR CR LF and a lone CR become LF.
fn unix_lines(raw: &[u8]) -> Cow<'_, [u8]> {
    if memchr(b'\r', raw).is_none() {
        return Cow::Borrowed(raw);
    }
    let mut out = Vec::with_capacity(raw.len());
    let mut rest = raw;
    while let Some(at) = memchr(b'\r', rest) {
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
