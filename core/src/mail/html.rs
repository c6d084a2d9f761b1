//! HTML to the text that a person sees.
//!
//! The reader follows the tokenizer of the HTML standard: comments, raw texts, attributes with quotes.
//! Instead of a tree it keeps a stack of open elements with the styles that hide text. End tags close
//! elements as the standard's tree builder does, because a style that seems to continue would hide
//! the text behind it.

mod css;
mod elements;
mod entities;
mod output;

use crate::mail::html::css::Style;
use crate::mail::html::elements::{Class, Tag, class, ends_at, is_raw, separator};
use crate::mail::html::entities::decoded;
pub use crate::mail::html::output::plain;
use crate::mail::html::output::{Output, Separator};
use memchr::{memchr, memmem};
use std::borrow::Cow;

/// Bytes in which a `<meta charset>` is searched.
const HEAD: usize = 2_048;
/// Open elements. Deeper elements have the style of the last one.
const MAX_DEPTH: usize = 512;
/// Different addresses and names of tags of a page.
const MAX_URLS: usize = 200;
const MAX_TAGS: usize = 200;
/// Characters of the name of a tag.
const MAX_NAME: usize = 40;
/// Characters of an address.
const MAX_URL: usize = 300;

/// The content of a page.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Page {
    /// The visible text; blocks are lines.
    pub text: String,
    /// Text that a style or an element hides.
    pub hidden: String,
    /// Addresses of links, pictures and forms, each once.
    pub urls: Vec<String>,
    /// Names of opening tags in lower case, with their numbers.
    pub tags: Vec<(String, usize)>,
    pub comments: usize,
}

/// The charset of a page: the declared one, or that of a `<meta>` if the header says nothing useful.
pub fn charset<'a>(bytes: &[u8], declared: Option<&'a str>) -> Option<Cow<'a, str>> {
    let useless = |name: &str| name.eq_ignore_ascii_case("us-ascii") || name.is_empty();
    if let Some(name) = declared.filter(|name| !useless(name)) {
        return Some(Cow::Borrowed(name));
    }
    let head = String::from_utf8_lossy(&bytes[..bytes.len().min(HEAD)]).to_ascii_lowercase();
    let (_, meta) = head.split_once("charset=")?;
    let meta = meta.trim_start_matches(['"', '\'', ' ']);
    let end = meta.find(['"', '\'', ' ', ';', '>', '/']).unwrap_or(meta.len());
    Some(Cow::Owned(meta[..end].to_owned()))
}

/// Whether a text begins as a page does.
pub fn is_page(text: &[u8]) -> bool {
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text).trim_ascii_start();
    let starts = |start: &[u8]| {
        text.get(..start.len()).is_some_and(|found| found.eq_ignore_ascii_case(start))
    };
    [&b"<!doctype html"[..], b"<html", b"<head", b"<body", b"<meta", b"<table", b"<div", b"<center"]
        .into_iter()
        .any(starts)
}

/// Renders a page, valid or not, in linear time. `room` and `hidden_room` bound the characters of the
/// visible and of the hidden text; reading stops when the visible text is full.
pub fn render(html: &str, room: usize, hidden_room: usize) -> Page {
    let mut renderer = Renderer {
        html,
        place: 0,
        open: Vec::new(),
        style: Style::default(),
        visible: Output::new(room),
        hidden: Output::new(hidden_room),
        page: Page::default(),
        counted: Vec::new(),
    };
    renderer.run();
    let Renderer { visible, hidden, page, .. } = renderer;
    Page { text: visible.finish(), hidden: hidden.finish(), ..page }
}

/// An open element, and the style outside it.
struct Open {
    tag: Tag,
    class: Class,
    style: Style,
    outer: Style,
}

struct Renderer<'a> {
    html: &'a str,
    place: usize,
    open: Vec<Open>,
    style: Style,
    visible: Output,
    hidden: Output,
    page: Page,
    /// The elements in `page.tags`.
    counted: Vec<Tag>,
}

impl<'a> Renderer<'a> {
    fn run(&mut self) {
        let html = self.html;
        while self.place < html.len() && !self.visible.is_full() {
            let rest = &html[self.place..];
            let next = memchr(b'<', rest.as_bytes()).unwrap_or(rest.len());
            if next > 0 {
                self.text(&rest[..next]);
                self.place += next;
                continue;
            }
            let bytes = rest.as_bytes();
            match bytes.get(1) {
                Some(b'a'..=b'z' | b'A'..=b'Z') => self.start_tag(),
                Some(b'/') => match bytes.get(2) {
                    Some(b'a'..=b'z' | b'A'..=b'Z') => self.end_tag(),
                    _ => self.skip_to(b'>'),
                },
                Some(b'!') if bytes.starts_with(b"<!--") => self.comment(),
                Some(b'!' | b'?') => self.skip_to(b'>'),
                _ => {
                    self.text("<");
                    self.place += 1;
                }
            }
        }
    }

    fn skip_to(&mut self, byte: u8) {
        let rest = &self.html.as_bytes()[self.place..];
        self.place += memchr(byte, rest).map_or(rest.len(), |at| at + 1);
    }

    fn text(&mut self, text: &str) {
        let text = decoded(text);
        let output = if self.style.hides() { &mut self.hidden } else { &mut self.visible };
        output.push(&text);
    }

    fn separate(&mut self, separator: Separator) {
        self.visible.separate(separator);
        self.hidden.separate(separator);
    }

    /// `<!-- -->`, which `<!-->` and `<!--->` also are. Outlook shows the comments that begin with
    /// `[if`, other programs do not.
    fn comment(&mut self) {
        self.page.comments += 1;
        let rest = &self.html[self.place + 4..];
        let bytes = rest.as_bytes();
        if bytes.starts_with(b">") || bytes.starts_with(b"->") {
            self.place += 4;
            return self.skip_to(b'>');
        }
        let mut end = bytes.len();
        let mut after = end;
        for at in memmem::find_iter(bytes, b"--") {
            let closed = match &bytes[at + 2..] {
                [b'>', ..] => 3,
                [b'!', b'>', ..] => 4,
                // `--->` ends one byte later.
                [b'-', b'>', ..] => 4,
                _ => continue,
            };
            (end, after) = (at, at + closed);
            break;
        }
        let content = &rest[..end];
        self.place += 4 + after;
        let is_conditional = content.trim_start().starts_with("[if");
        if let Some((_, inner)) = content.split_once('>').filter(|_| is_conditional) {
            self.add_hidden(inner);
        } else if after == end {
            // Not closed: nothing behind it is shown.
            self.add_hidden(content);
        }
    }

    /// Adds the text of a page that is not shown.
    fn add_hidden(&mut self, html: &str) {
        let room = self.hidden.left();
        if room > 0 {
            let inner = render(html, room, 0);
            self.hidden.separate(Separator::Line);
            self.hidden.push(&inner.text);
            self.hidden.separate(Separator::Line);
        }
    }

    fn start_tag(&mut self) {
        let (name, at) = name_of(self.html, self.place + 1);
        let tag = Tag::of(name);
        self.count(tag, name);
        elements::closed_by(tag, |closes, stops| self.close_implied(closes, stops));
        let mut style = self.style;
        let mut shown = "";
        let mut is_button = false;
        let mut attributes = Attributes { html: self.html, at };
        for (name, value) in attributes.by_ref() {
            let is = |other: &str| name.eq_ignore_ascii_case(other);
            match name.len() {
                5 if is("style") => style.apply(&decoded(value)),
                5 if is("color") => style.set_color(value),
                7 if is("bgcolor") => style.set_background(value),
                6 if is("hidden") => style.set_hidden(),
                4 if is("text") && tag == Tag::BODY => style.set_color(value),
                10 if is("background") => {
                    style.set_unknown_background();
                    self.add_url(value);
                }
                4 if is("href") => self.add_url(value),
                3 if is("src") => self.add_url(value),
                6 if is("action") => self.add_url(value),
                3 if is("alt") => shown = value,
                5 if is("value") && tag == Tag::INPUT => shown = value,
                11 if is("placeholder") && shown.is_empty() => shown = value,
                4 if is("type") && tag == Tag::INPUT => {
                    is_button = !value.eq_ignore_ascii_case("hidden");
                }
                _ => {}
            }
        }
        self.place = attributes.at;
        self.separate(separator(tag));
        if tag == Tag::INPUT && !is_button {
            shown = "";
        }
        if !shown.is_empty() {
            let outer = std::mem::replace(&mut self.style, style);
            self.separate(Separator::Space);
            self.text(shown);
            self.separate(Separator::Space);
            self.style = outer;
        }
        let class = class(tag);
        if is_raw(tag) {
            self.raw_text(tag, style);
        } else if class != Class::Void {
            if tag == Tag::TEMPLATE {
                style.set_hidden();
            }
            if self.open.len() < MAX_DEPTH {
                self.open.push(Open { tag, class, style, outer: self.style });
                self.style = style;
            }
        }
    }

    /// The text of an element that contains no tags, up to its end tag.
    fn raw_text(&mut self, tag: Tag, style: Style) {
        let rest = &self.html[self.place..];
        let bytes = rest.as_bytes();
        let end = memmem::find_iter(bytes, b"</").find(|&at| {
            let (name, _) = name_of(rest, at + 2);
            Tag::of(name) == tag
        });
        let content = &rest[..end.unwrap_or(rest.len())];
        self.place += content.len();
        let outer = std::mem::replace(&mut self.style, style);
        match tag {
            Tag::STYLE | Tag::SCRIPT if end.is_some() => {}
            Tag::TEXTAREA | Tag::XMP | Tag::PLAINTEXT => self.text(content),
            _ => {
                self.style.set_hidden();
                self.text(content);
            }
        }
        self.style = outer;
        if end.is_some() {
            self.skip_to(b'>');
        }
    }

    fn end_tag(&mut self) {
        let (name, at) = name_of(self.html, self.place + 2);
        let mut attributes = Attributes { html: self.html, at };
        attributes.by_ref().for_each(drop);
        self.place = attributes.at;
        let tag = Tag::of(name);
        self.separate(separator(tag));
        let formatting = class(tag) == Class::Formatting;
        let block = class(tag) == Class::Block;
        for at in (0..self.open.len()).rev() {
            let open = &self.open[at];
            if open.tag == tag {
                if formatting {
                    self.remove(at);
                } else {
                    self.close_to(at);
                }
                return;
            }
            let stops = match open.class {
                // A cell ends formats and blocks within it.
                Class::Cell => !ends_at(tag, open.tag),
                Class::Block => !block && !formatting,
                _ => false,
            };
            if stops {
                return;
            }
        }
    }

    /// Closes the last open element for which `closes` holds, unless one with `stops` is above it.
    fn close_implied(&mut self, closes: fn(Tag) -> bool, stops: fn(Tag) -> bool) {
        for at in (0..self.open.len()).rev() {
            if closes(self.open[at].tag) {
                return self.close_to(at);
            }
            if stops(self.open[at].tag) {
                return;
            }
        }
    }

    /// Closes an element and those within it. Formats within it go on, unless it is a cell.
    fn close_to(&mut self, at: usize) {
        let keeps = self.open[at].class != Class::Cell;
        let mut closed = self.open.split_off(at);
        self.style = closed[0].outer;
        if keeps {
            for open in closed.drain(..).skip(1).filter(|open| open.class == Class::Formatting) {
                let style = self.style.with(&open.outer, &open.style);
                self.open.push(Open { style, outer: self.style, ..open });
                self.style = style;
            }
        }
    }

    /// Closes a format; elements within it stay open, without its style.
    fn remove(&mut self, at: usize) {
        let removed = self.open.remove(at);
        let mut style = removed.outer;
        for open in &mut self.open[at..] {
            let inner = style.with(&open.outer, &open.style);
            (open.outer, open.style) = (style, inner);
            style = inner;
        }
        self.style = style;
    }

    fn count(&mut self, tag: Tag, name: &str) {
        match self.counted.iter().position(|&each| each == tag) {
            Some(place) => self.page.tags[place].1 += 1,
            None if self.counted.len() < MAX_TAGS => {
                let end = name.char_indices().nth(MAX_NAME).map_or(name.len(), |(at, _)| at);
                self.counted.push(tag);
                self.page.tags.push((name[..end].to_ascii_lowercase(), 1));
            }
            None => {}
        }
    }

    fn add_url(&mut self, url: &str) {
        let url = url.trim_ascii();
        // The content of an image, not an address.
        let is_data = url.get(..5).is_some_and(|start| start.eq_ignore_ascii_case("data:"));
        if self.page.urls.len() == MAX_URLS || url.is_empty() || is_data {
            return;
        }
        let end = url.char_indices().nth(MAX_URL).map_or(url.len(), |(at, _)| at);
        let url = plain(&decoded(&url[..end]), MAX_URL);
        if self.page.urls.last() != Some(&url) && !self.page.urls.contains(&url) {
            self.page.urls.push(url);
        }
    }
}

/// The name of a tag that begins at a place, and the place behind it.
fn name_of(html: &str, start: usize) -> (&str, usize) {
    let bytes = &html.as_bytes()[start..];
    let end =
        bytes.iter().position(|byte| matches!(byte, b'>' | b'/') || byte.is_ascii_whitespace());
    let end = start + end.unwrap_or(bytes.len());
    (&html[start..end], end)
}

/// The attributes of a tag, with quotes as in the HTML standard. Afterwards `at` is behind the tag.
struct Attributes<'a> {
    html: &'a str,
    at: usize,
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
