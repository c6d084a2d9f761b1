//! HTML to the text that a person sees.
//!
//! The reader follows the tokenizer of the HTML standard: comments, raw texts, attributes with quotes.
//! Instead of a tree it keeps a stack of open elements with the styles that hide text. End tags close
//! elements as the standard's tree builder does, because a style that seems to continue would hide
//! the text behind it.

mod attributes;
mod css;
mod elements;
mod entities;
mod open;
mod output;
mod sheet;
mod values;

use crate::mail::html::attributes::{Attributes, Found, name_of};
use crate::mail::html::css::{Declarations, Style};
use crate::mail::html::elements::{Class, Tag, class, ends_at, is_heading, is_raw, separator};
use crate::mail::html::entities::decoded;
use crate::mail::html::open::{Names, Open};
pub use crate::mail::html::output::plain;
use crate::mail::html::output::{Output, Separator, displayed};
use crate::mail::html::sheet::Sheet;
use crate::mail::html::values::{Display, Paint, paint};
use foldhash::HashMap;
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
/// The colour of links, and the colours of fields and buttons, unless a page changes them.
const LINK: Paint = Paint::Color([0, 0, 238]);
const LETTERS: Paint = Paint::Color([0; 3]);
const FIELD: Paint = Paint::Color([239; 3]);
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
    let mut text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text).trim_ascii_start();
    for (begin, end) in [(&b"<?xml"[..], &b"?>"[..]), (b"<!--", b"-->")] {
        if text.starts_with(begin)
            && let Some(at) = memmem::find(text, end)
        {
            text = text[at + end.len()..].trim_ascii_start();
        }
    }
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
    let mut renderer = Renderer::new(html, room, hidden_room);
    renderer.run();
    let Renderer { visible, hidden, page, .. } = renderer;
    Page { text: visible.finish(), hidden: hidden.finish(), ..page }
}

struct Renderer<'a> {
    html: &'a str,
    place: usize,
    open: Vec<Open<'a>>,
    style: Style,
    visible: Output,
    hidden: Output,
    page: Page,
    /// The elements in `page.tags`.
    counted: Vec<Tag>,
    sheet: Sheet<'a>,
    /// The declarations of `style` attributes: most elements of a page have one of a few.
    styles: HashMap<&'a str, Declarations>,
    /// The colour of links.
    link: Paint,
    /// Whether the open list of options has shown one.
    listed: bool,
}

impl<'a> Renderer<'a> {
    fn new(html: &'a str, room: usize, hidden_room: usize) -> Self {
        Renderer {
            html,
            place: 0,
            open: Vec::new(),
            style: Style::default(),
            visible: Output::new(room),
            hidden: Output::new(hidden_room),
            page: Page::default(),
            counted: Vec::new(),
            sheet: Sheet::default(),
            styles: HashMap::default(),
            link: LINK,
            listed: false,
        }
    }

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
                Some(b'!') if bytes.starts_with(b"<![CDATA[") && self.is_xml() => self.cdata(),
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

    /// Whether text here follows XML: in a page that declares it, or in a drawing.
    fn is_xml(&self) -> bool {
        self.html.trim_ascii_start().starts_with("<?xml") || self.is_in_drawing()
    }

    fn is_in_drawing(&self) -> bool {
        self.open.iter().any(|open| matches!(open.names.tag, Tag::SVG | Tag::MATH))
    }

    fn cdata(&mut self) {
        let rest = &self.html[self.place + 9..];
        let (text, after) = rest.split_once("]]>").unwrap_or((rest, ""));
        self.place = self.html.len() - after.len();
        self.text(text);
    }

    fn text(&mut self, text: &str) {
        let mut text = decoded(text);
        if self.style.reversed {
            text = Cow::Owned(text.chars().rev().collect());
        } else if let Cow::Owned(shown) = displayed(&text) {
            text = Cow::Owned(shown);
        }
        let output = if self.style.hides() { &mut self.hidden } else { &mut self.visible };
        output.push(&text);
    }

    /// What is removed from a page separates nothing in it.
    fn separate(&mut self, separator: Separator) {
        if !self.style.is_removed() {
            self.visible.separate(separator);
        }
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
    fn add_hidden(&mut self, html: &'a str) {
        let room = self.hidden.left();
        if room > 0 {
            let mut inner = Renderer::new(html, room, 0);
            inner.styles = std::mem::take(&mut self.styles);
            inner.run();
            self.styles = inner.styles;
            self.hidden.separate(Separator::Line);
            self.hidden.push(&inner.visible.finish());
            self.hidden.separate(Separator::Line);
        }
    }

    fn start_tag(&mut self) {
        let (name, at) = name_of(self.html, self.place + 1);
        let tag = Tag::of(name);
        self.count(tag, name);
        elements::closed_by(tag, |closes, stops| self.close_implied(closes, stops));
        let mut attributes = Attributes { html: self.html, at };
        let mut found = Found::default();
        for (name, value) in attributes.by_ref() {
            let is = |other: &str| name.eq_ignore_ascii_case(other);
            match name.len() {
                // Programs use the first of several attributes.
                5 if is("style") => found.style = found.style.or(Some(value)),
                5 if is("class") => found.class = found.class.or(Some(value)),
                2 if is("id") => found.id = found.id.or(Some(value)),
                5 if is("color") => found.color = found.color.or(Some(value)),
                4 if is("text") => found.text = found.text.or(Some(value)),
                4 if is("link") && tag == Tag::BODY => self.link = paint(value),
                7 if is("bgcolor") => found.bgcolor = found.bgcolor.or(Some(value)),
                10 if is("background") => {
                    found.background = true;
                    self.add_url(value);
                }
                6 if is("hidden") => found.hidden = true,
                4 if is("open") => found.open = true,
                3 if is("dir") => found.rtl = value.eq_ignore_ascii_case("rtl"),
                5 if is("width") => found.width = value,
                6 if is("height") => found.height = value,
                4 if is("href") => {
                    found.href = true;
                    self.add_url(value);
                }
                3 if is("src") => self.add_url(value),
                6 if is("action") => self.add_url(value),
                3 if is("alt") => found.alt = value,
                5 if is("value") => found.value = value,
                5 if is("label") => found.label = value,
                11 if is("placeholder") => found.placeholder = value,
                4 if is("type") => found.kind = value,
                5 if is("media") => found.media = value,
                _ => {}
            }
        }
        self.place = attributes.at;
        let closed = self.html[..self.place].ends_with("/>");
        let names = Names {
            tag,
            classes: found.class.unwrap_or_default(),
            id: found.id.unwrap_or_default(),
        };
        let mut declared = self.declared(tag, &found);
        let content = self.sheet.apply(&names, &self.open, &mut declared);
        if let Some(declarations) = found.style {
            let style = self.styles.entry(declarations).or_insert_with(|| {
                let mut style = Declarations::default();
                style.declare(&decoded(declarations));
                style
            });
            declared.add(style);
        }
        let class = class(tag);
        let natural = separator(tag);
        let mut style = self.style;
        let is_block = class == Class::Block || tag == Tag::IMG;
        if !declared.is_empty() {
            declared.change(&mut style, is_block, natural == Separator::Nothing);
        }
        let separator = match declared.display() {
            Some(Display::Inline) if natural == Separator::Line => Separator::Nothing,
            Some(Display::Block) => Separator::Line,
            _ => natural,
        };
        let outer = std::mem::replace(&mut self.style, style);
        self.separate(separator);
        for shown in [found.shown(tag), content.unwrap_or_default()] {
            if !shown.is_empty() {
                self.separate(Separator::Space);
                self.text(shown);
                self.separate(Separator::Space);
            }
        }
        self.style = outer;
        if is_raw(tag) && !(closed && self.is_in_drawing()) {
            let is_css = found.kind.is_empty() || found.kind.eq_ignore_ascii_case("text/css");
            self.raw_text(tag, style, if is_css { found.media } else { "none" });
        } else if class != Class::Void {
            if tag == Tag::TEMPLATE {
                style.set_hidden();
            }
            if self.open.len() < MAX_DEPTH {
                self.open.push(Open { names, class, separator, style, outer: self.style });
                self.style = style;
            }
        }
    }

    /// The declarations of the standard style and of attributes, which style sheets override.
    fn declared(&mut self, tag: Tag, found: &Found<'_>) -> Declarations {
        let mut declared = Declarations::default();
        match tag {
            Tag::FONT => found.color.iter().for_each(|value| declared.set_color(paint(value))),
            Tag::BODY => found.text.iter().for_each(|value| declared.set_color(paint(value))),
            Tag::A if found.href => declared.set_color(self.link),
            Tag::BUTTON | Tag::INPUT | Tag::TEXTAREA | Tag::SELECT => {
                declared.set_color(LETTERS);
                declared.set_background(FIELD);
                self.listed = false;
            }
            Tag::OPTION if !found.hidden => {
                let all = self.listed && self.open.iter().any(|open| open.names.tag == Tag::SELECT);
                if std::mem::replace(&mut self.listed, true) && all {
                    declared.hide();
                }
            }
            Tag::DATALIST | Tag::RP | Tag::TEMPLATE => declared.hide(),
            Tag::DIALOG if !found.open => declared.hide(),
            Tag::DESC | Tag::DEFS | Tag::METADATA if self.is_in_drawing() => declared.hide(),
            Tag::BDO if found.rtl => declared.set_reversed(),
            Tag::IMG => {
                declared.clip();
                declared.set_size(found.width);
                declared.set_size(found.height);
            }
            _ => {}
        }
        let painted = found.background || found.bgcolor.is_some();
        if painted && (tag == Tag::BODY || class(tag) == Class::Cell) {
            found.bgcolor.iter().for_each(|value| declared.set_background(paint(value)));
            if found.background {
                declared.set_image();
            }
        }
        if found.hidden || (tag == Tag::INPUT && found.kind.eq_ignore_ascii_case("hidden")) {
            declared.hide();
        }
        declared
    }

    /// The text of an element that contains no tags, up to its end tag.
    fn raw_text(&mut self, tag: Tag, style: Style, media: &str) {
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
            Tag::STYLE if end.is_some() => {
                self.sheet.add(content, media);
                // A page without the tag of its body has one.
                let body = Names { tag: Tag::BODY, classes: "", id: "" };
                let mut declared = Declarations::default();
                if !self.open.iter().any(|open| open.names.tag == Tag::BODY) {
                    self.sheet.apply(&body, &[], &mut declared);
                }
                self.style = outer;
                declared.change(&mut self.style, true, false);
                return self.skip_to(b'>');
            }
            Tag::SCRIPT if end.is_some() => {}
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
        let formatting = class(tag) == Class::Formatting;
        let block = class(tag) == Class::Block;
        let heading = is_heading(tag);
        for at in (0..self.open.len()).rev() {
            let open = &self.open[at];
            if open.names.tag == tag || (heading && is_heading(open.names.tag)) {
                let separator = open.separator;
                self.separate(separator);
                if formatting {
                    self.remove(at);
                } else {
                    self.close_to(at);
                }
                return;
            }
            let stops = match open.class {
                // A cell ends formats and blocks within it.
                Class::Cell => !ends_at(tag, open.names.tag),
                Class::Block => !block && !formatting,
                _ => false,
            };
            if stops {
                break;
            }
        }
        self.separate(separator(tag));
    }

    /// Closes the last open element for which `closes` holds, unless one with `stops` is above it.
    fn close_implied(&mut self, closes: fn(Tag) -> bool, stops: fn(Tag) -> bool) {
        for at in (0..self.open.len()).rev() {
            if closes(self.open[at].names.tag) {
                return self.close_to(at);
            }
            if stops(self.open[at].names.tag) {
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
        // An address contains no blanks: what follows is text for filters.
        let url = url.split_ascii_whitespace().next().unwrap_or_default();
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
