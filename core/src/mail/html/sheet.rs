//! Style sheets: the rules of `<style>` elements that decide whether a person sees a text.

use crate::mail::html::css::Declarations;
use crate::mail::html::elements::Tag;
use crate::mail::html::open::{Names, Open};
use foldhash::HashMap;
use memchr::{memchr, memchr2, memchr2_iter, memmem, memrchr};
use std::ops::Range;

/// Rules of a page that are read.
const MAX_RULES: usize = 2_000;
/// Comparisons of names for all elements of a page. Later elements have the styles of their attributes.
const MAX_WORK: usize = 2_000_000;

/// The rules of all style sheets of a page so far.
#[derive(Default)]
pub struct Sheet<'a> {
    rules: Vec<Rule<'a>>,
    conditions: Vec<Condition<'a>>,
    /// The last rule for a class, an id or an element; the others follow by `Rule::next`.
    last: HashMap<Key, usize>,
    work: usize,
    found: Vec<(usize, usize)>,
}

struct Rule<'a> {
    /// In `Sheet::conditions`: those on the element, then those on elements outside.
    conditions: Range<usize>,
    specificity: usize,
    declarations: Declarations,
    /// The text that `:before` or `:after` adds.
    content: &'a str,
    /// An earlier rule with the same key.
    next: Option<usize>,
}

/// The name of an element by which its rules are found.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Key {
    Class(Tag),
    Id(Tag),
    Element(Tag),
    All,
}

/// What a part of a selector demands of an element.
enum Condition<'a> {
    Element(Tag),
    Class(&'a str),
    Id(&'a str),
    /// The next conditions are for an element outside.
    Outside,
}

impl Condition<'_> {
    fn holds(&self, names: &Names<'_>, work: &mut usize) -> bool {
        *work += 1;
        match self {
            Condition::Element(tag) => *tag == names.tag,
            Condition::Class(name) => names.classes.split_ascii_whitespace().any(|each| {
                *work += 1;
                each == *name
            }),
            Condition::Id(name) => names.id == *name,
            Condition::Outside => true,
        }
    }

    fn specificity(&self) -> usize {
        match self {
            Condition::Element(_) => 1,
            Condition::Class(_) => 100,
            Condition::Id(_) => 10_000,
            Condition::Outside => 0,
        }
    }
}

impl<'a> Sheet<'a> {
    /// Adds the rules of a style sheet; `media` is the attribute of its element.
    pub fn add(&mut self, css: &'a str, media: &str) {
        if !applies(media) {
            return;
        }
        let mut rest = css;
        let last_comment = memmem::rfind(css.as_bytes(), b"*/").unwrap_or(0);
        while self.rules.len() < MAX_RULES {
            rest = rest.trim_ascii_start();
            if let Some(comment) = rest.strip_prefix("/*") {
                rest = comment.split_once("*/").map_or("", |(_, after)| after);
                continue;
            }
            if let Some(after) =
                ["}", "<!--", "-->", ";"].iter().find_map(|mark| rest.strip_prefix(mark))
            {
                rest = after;
                continue;
            }
            let bytes = rest.as_bytes();
            let end = memchr(b'{', bytes);
            if let Some(name) = rest.strip_prefix('@') {
                let end = memchr2(b'{', b';', bytes);
                let Some(at) = end else { return };
                let (before, inner) = (&name[..at - 1], &rest[at + 1..]);
                let is_open = before.strip_prefix("media").is_some_and(applies);
                // The rules of an open block follow.
                rest = if is_open || bytes[at] == b';' { inner } else { behind_block(inner) };
                continue;
            }
            let Some(at) = end else { return };
            let inner = &rest[at + 1..];
            let mut close = memchr(b'}', inner.as_bytes()).unwrap_or(inner.len());
            if let Some(star) = memrchr(b'*', &inner.as_bytes()[..close])
                && let Some(comment) = inner[..=star].rfind("/*")
                && css.len() - inner.len() + comment < last_comment
                && let Some(length) = inner[comment..].find("*/")
                && comment + length > close
            {
                let behind = comment + length;
                close = inner[behind..].find('}').map_or(inner.len(), |at| behind + at);
            }
            self.add_rules(&rest[..at], &inner[..close]);
            rest = inner.get(close + 1..).unwrap_or_default();
        }
    }

    fn add_rules(&mut self, selectors: &'a str, body: &'a str) {
        let mut declarations = Declarations::default();
        declarations.declare(body);
        let content = if selectors.contains(':') { content(body) } else { "" };
        if declarations.is_empty() && content.is_empty() {
            return;
        }
        for selector in selectors.split(',') {
            let selector = selector.trim_ascii();
            let element = ["before", "after"].iter().find_map(|end| selector.strip_suffix(end));
            let element = element.and_then(|rest| rest.strip_suffix(':'));
            let (selector, declarations, content) = match element {
                Some(rest) => (rest.trim_end_matches(':'), Declarations::default(), content),
                None => (selector, declarations.clone(), ""),
            };
            if declarations.is_empty() && content.is_empty() {
                continue;
            }
            let start = self.conditions.len();
            let Some(key) = self.add_conditions(selector) else {
                self.conditions.truncate(start);
                continue;
            };
            let conditions = start..self.conditions.len();
            let specificity = self.conditions[start..].iter().map(Condition::specificity).sum();
            let next = self.last.insert(key, self.rules.len());
            self.rules.push(Rule { conditions, specificity, declarations, content, next });
        }
    }

    /// Adds the conditions of a selector; returns its key, or None if it is for no element.
    fn add_conditions(&mut self, selector: &'a str) -> Option<Key> {
        let mut found = None;
        for compound in compounds(selector) {
            if found.is_some() {
                self.conditions.push(Condition::Outside);
            }
            let start = self.conditions.len();
            for condition in conditions(compound) {
                self.conditions.push(condition?);
            }
            found = found.or_else(|| Some(key(&self.conditions[start..])));
        }
        found
    }

    /// Adds the declarations of the rules for an element; returns the text that they add to it.
    pub fn apply(
        &mut self,
        names: &Names<'_>,
        outer: &[Open<'_>],
        to: &mut Declarations,
    ) -> Option<&'a str> {
        if self.rules.is_empty() || self.work > MAX_WORK {
            return None;
        }
        self.found.clear();
        self.find(Key::All, names, outer);
        self.find(Key::Element(names.tag), names, outer);
        if !names.id.is_empty() {
            self.find(Key::Id(Tag::of(names.id)), names, outer);
        }
        for class in names.classes.split_ascii_whitespace() {
            self.find(Key::Class(Tag::of(class)), names, outer);
        }
        self.found.sort_unstable();
        let mut content = None;
        for &(_, place) in &self.found {
            let rule = &self.rules[place];
            to.add(&rule.declarations);
            if !rule.content.is_empty() {
                content = Some(rule.content);
            }
        }
        content
    }

    /// Lists the rules for an element with their specificity.
    fn find(&mut self, key: Key, names: &Names<'_>, outer: &[Open<'_>]) {
        let mut next = self.last.get(&key).copied();
        while let Some(place) = next.filter(|_| self.work <= MAX_WORK) {
            let rule = &self.rules[place];
            self.work += 1;
            if matching(&self.conditions[rule.conditions.clone()], names, outer, &mut self.work) {
                self.found.push((rule.specificity, place));
            }
            next = rule.next;
        }
    }
}

/// Whether an element, and elements outside it, fulfil the conditions of a rule.
fn matching(
    conditions: &[Condition<'_>],
    names: &Names<'_>,
    outer: &[Open<'_>],
    work: &mut usize,
) -> bool {
    let mut fulfils = |part: &[Condition<'_>], names: &Names<'_>| {
        part.iter().all(|condition| *work <= MAX_WORK && condition.holds(names, work))
    };
    let mut parts = conditions.split(|each| matches!(each, Condition::Outside));
    let mut outer = outer.iter().rev();
    fulfils(parts.next().unwrap_or_default(), names)
        && parts.all(|part| outer.any(|open| fulfils(part, &open.names)))
}

/// The parts of a selector for one element each, the last one first.
fn compounds(selector: &str) -> impl Iterator<Item = &str> {
    let parts = selector.split(|each: char| each.is_ascii_whitespace() || each == '>');
    parts.rev().filter(|part| !part.is_empty())
}

fn key(conditions: &[Condition<'_>]) -> Key {
    conditions.iter().fold(Key::All, |found, condition| match (condition, found) {
        (Condition::Class(name), _) => Key::Class(Tag::of(name)),
        (Condition::Id(name), Key::All | Key::Element(_)) => Key::Id(Tag::of(name)),
        (Condition::Element(tag), Key::All) => Key::Element(*tag),
        _ => found,
    })
}

/// The conditions of a part of a selector; None for one that is not a name.
fn conditions(compound: &str) -> impl Iterator<Item = Option<Condition<'_>>> {
    let mut rest = compound.strip_prefix('*').unwrap_or(compound);
    std::iter::from_fn(move || {
        let mark = rest.bytes().next()?;
        let skipped = usize::from(matches!(mark, b'.' | b'#' | b'['));
        let text = &rest[skipped..];
        if mark == b'[' {
            let Some((condition, after)) = text.split_once(']') else {
                rest = "";
                return Some(None);
            };
            rest = after;
            let class = condition.strip_prefix("class").map(|rest| rest.trim_start_matches('~'));
            let value = class.and_then(|rest| rest.strip_prefix('='));
            return Some(value.map(|value| Condition::Class(value.trim_matches(['"', '\'']))));
        }
        let is_name =
            |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_') || byte > 127;
        let end = text.bytes().position(|byte| !is_name(byte)).unwrap_or(text.len());
        let (name, after) = text.split_at(end);
        rest = after;
        Some(match mark {
            _ if name.is_empty() => {
                rest = "";
                None
            }
            b'.' => Some(Condition::Class(name)),
            b'#' => Some(Condition::Id(name)),
            _ => Some(Condition::Element(Tag::of(name))),
        })
    })
}

/// Whether a query is true for every screen.
fn applies(query: &str) -> bool {
    query.split(',').any(|each| {
        let each = each.trim_ascii().to_ascii_lowercase();
        let medium = each.strip_prefix("only ").unwrap_or(&each).trim_ascii();
        ["", "all", "screen"].contains(&medium)
    })
}

/// The text behind the end of an open block.
fn behind_block(text: &str) -> &str {
    let mut depth = 1;
    for at in memchr2_iter(b'{', b'}', text.as_bytes()) {
        depth = if text.as_bytes()[at] == b'{' { depth + 1 } else { depth - 1 };
        if depth == 0 {
            return &text[at + 1..];
        }
    }
    ""
}

/// The text of a declaration `content: "…"`.
fn content(body: &str) -> &str {
    let text = body.split_once("content").map_or("", |(_, rest)| rest).trim_ascii_start();
    let text = text.strip_prefix(':').unwrap_or_default().trim_ascii_start();
    let Some(quote) = text.chars().next().filter(|&quote| matches!(quote, '"' | '\'')) else {
        return "";
    };
    text[1..].split(quote).next().unwrap_or_default()
}
