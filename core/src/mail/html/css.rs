//! The styles that hide text: `display`, `visibility`, sizes of zero, text in the colour of its
//! background.

use crate::mail::html::values::{
    CONTRAST, Display, Paint, color, display, is_far, is_tiny, is_zero, number,
};
use memchr::{memchr, memchr_iter, memchr2, memchr3};

/// The effective style of a text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Style {
    /// Hidden with everything within it.
    removed: bool,
    /// Elements within it can be visible, as those of the next two.
    invisible: bool,
    tiny: bool,
    transparent: bool,
    /// Letters from right to left.
    pub reversed: bool,
    color: Option<[u8; 3]>,
    background: Option<[u8; 3]>,
}

impl Default for Style {
    fn default() -> Self {
        Style {
            removed: false,
            invisible: false,
            tiny: false,
            transparent: false,
            reversed: false,
            color: Some([0; 3]),
            background: Some([255; 3]),
        }
    }
}

impl Style {
    pub fn hides(&self) -> bool {
        let same = match (self.color, self.background) {
            (Some(color), Some(background)) => {
                color.iter().zip(background).all(|(one, other)| one.abs_diff(other) < CONTRAST)
            }
            _ => false,
        };
        self.removed || self.invisible || self.tiny || self.transparent || same
    }

    pub fn is_removed(&self) -> bool {
        self.removed
    }

    pub fn set_hidden(&mut self) {
        self.removed = true;
    }

    /// This style with the changes from one style to another.
    pub fn with(mut self, from: &Style, to: &Style) -> Style {
        self.removed |= to.removed && !from.removed;
        macro_rules! change {
            ($($field:ident)*) => { $(if from.$field != to.$field { self.$field = to.$field; })* };
        }
        change!(invisible tiny transparent reversed color background);
        self
    }
}

/// A declared value. The last one counts, unless an earlier one is important.
#[derive(Clone, Copy, PartialEq)]
struct Declared<T> {
    value: Option<T>,
    important: bool,
}

impl<T> Default for Declared<T> {
    fn default() -> Self {
        Declared { value: None, important: false }
    }
}

impl<T: Copy> Declared<T> {
    fn set(&mut self, value: T, important: bool) {
        if important || !self.important {
            *self = Declared { value: Some(value), important };
        }
    }

    /// Sets a value unless it is invalid: browsers ignore such declarations.
    fn set_valid(&mut self, value: Option<T>, important: bool) {
        if let Some(value) = value {
            self.set(value, important);
        }
    }

    fn add(&mut self, other: Declared<T>) {
        self.set_valid(other.value, other.important);
    }
}

/// A property that holds or not: one bit of each mask in `Declarations`.
#[derive(Clone, Copy)]
enum Flag {
    Invisible,
    Tiny,
    Clear,
    Fill,
    Clips,
    Flat,
    Low,
    Thin,
    Narrow,
    Indent,
    Left,
    Top,
    Margin,
    Raised,
    Moved,
    Cut,
    /// `absolute` or `fixed`.
    Free,
    Relative,
    Floats,
    RightToLeft,
    Overrides,
    Image,
}

/// The declarations of an element that decide whether a person sees its text.
#[derive(Clone, Default, PartialEq)]
pub struct Declarations {
    display: Declared<Display>,
    color: Declared<Paint>,
    background: Declared<Paint>,
    /// Flags that are declared, that hold, and that are important.
    declared: u32,
    held: u32,
    important: u32,
}

impl Declarations {
    pub fn is_empty(&self) -> bool {
        let painted = self.color.value.or(self.background.value).is_some();
        self.declared == 0 && self.display.value.is_none() && !painted
    }

    /// Adds later declarations.
    pub fn add(&mut self, other: &Declarations) {
        self.display.add(other.display);
        self.color.add(other.color);
        self.background.add(other.background);
        let taken = other.declared & (!self.important | other.important);
        self.declared |= taken;
        self.held = (self.held & !taken) | (other.held & taken);
        self.important |= other.important & taken;
    }

    fn set_flag(&mut self, flag: Flag, holds: bool, important: bool) {
        let bit = 1 << flag as u32;
        if important || self.important & bit == 0 {
            self.declared |= bit;
            self.held = if holds { self.held | bit } else { self.held & !bit };
            self.important |= if important { bit } else { 0 };
        }
    }

    fn set_valid_flag(&mut self, flag: Flag, holds: Option<bool>, important: bool) {
        if let Some(holds) = holds {
            self.set_flag(flag, holds, important);
        }
    }

    fn holds(&self, flag: Flag) -> bool {
        self.held & (1 << flag as u32) != 0
    }

    fn flag(&self, flag: Flag) -> Option<bool> {
        (self.declared & (1 << flag as u32) != 0).then(|| self.holds(flag))
    }

    pub fn display(&self) -> Option<Display> {
        self.display.value
    }

    pub fn hide(&mut self) {
        self.display.set(Display::None, false);
    }

    /// The colour of an attribute, or of the standard style of an element.
    pub fn set_color(&mut self, color: Paint) {
        self.color.set(color, false);
    }

    pub fn set_background(&mut self, color: Paint) {
        self.background.set(color, false);
    }

    pub fn set_image(&mut self) {
        self.set_flag(Flag::Image, true, false);
    }

    /// The width and height of an attribute.
    pub fn set_size(&mut self, value: &str) {
        if is_zero(value) {
            self.set_flag(Flag::Flat, true, false);
        }
    }

    /// An element whose content has the size of its box, such as a picture.
    pub fn clip(&mut self) {
        self.set_flag(Flag::Clips, true, false);
    }

    pub fn set_reversed(&mut self) {
        self.set_flag(Flag::RightToLeft, true, false);
        self.set_flag(Flag::Overrides, true, false);
    }

    /// Adds the declarations of a `style` attribute or of a rule.
    pub fn declare(&mut self, declarations: &str) {
        let text;
        let mut declarations = declarations;
        if memchr2(b'*', b'\\', declarations.as_bytes()).is_some() {
            text = unescaped(&without_comments(declarations));
            declarations = &text;
        }
        let mut rest = declarations;
        while !rest.is_empty() {
            let end = end_of(rest);
            let declaration = &rest[..end];
            rest = rest.get(end + 1..).unwrap_or_default();
            let Some((name, value)) = declaration.split_once(':') else { continue };
            let mark = memchr(b'!', value.as_bytes());
            let value = &value[..mark.unwrap_or(value.len())];
            self.set(name.trim_ascii(), value.trim_ascii(), mark.is_some());
        }
    }

    fn set(&mut self, name: &str, value: &str, important: bool) {
        let is = |other: &str| name.eq_ignore_ascii_case(other);
        let has = |word: &str| value.eq_ignore_ascii_case(word);
        let contains = |word: &str| value.to_ascii_lowercase().contains(word);
        match name.len() {
            7 if is("display") => self.display.set_valid(display(value), important),
            7 if is("opacity") => {
                self.set_flag(Flag::Clear, number(value).is_some_and(|(n, _)| n < 0.05), important);
            }
            6 if is("filter") => self.set_flag(Flag::Clear, contains("opacity(0"), important),
            10 if is("visibility") => {
                let hidden = has("hidden") || has("collapse");
                self.set_valid_flag(
                    Flag::Invisible,
                    (hidden || has("visible")).then_some(hidden),
                    important,
                );
            }
            9 if is("font-size") => self.set_valid_flag(Flag::Tiny, is_tiny(value), important),
            4 if is("font") => {
                // A weight may stand before the size, a height of lines behind it.
                let mut sizes = value.split('/').next().unwrap_or_default().split(' ');
                if let Some(size) = sizes.rfind(|word| number(word).is_some()) {
                    self.set_valid_flag(Flag::Tiny, is_tiny(size), important);
                }
            }
            23 if is("-webkit-text-fill-color") => {
                self.set_flag(Flag::Fill, color(value) == Some(Paint::Transparent), important);
            }
            8..=10 if is("overflow") || is("overflow-x") || is("overflow-y") => {
                self.set_flag(Flag::Clips, !has("visible"), important);
            }
            6 if is("height") => self.set_flag(Flag::Flat, is_zero(value), important),
            10 if is("max-height") => self.set_flag(Flag::Low, is_zero(value), important),
            5 if is("width") => self.set_flag(Flag::Thin, is_zero(value), important),
            9 if is("max-width") => self.set_flag(Flag::Narrow, is_zero(value), important),
            11 if is("text-indent") => self.set_flag(Flag::Indent, is_far(value), important),
            4 if is("left") => self.set_flag(Flag::Left, is_far(value), important),
            3 if is("top") => self.set_flag(Flag::Top, is_far(value), important),
            11 if is("margin-left") => self.set_flag(Flag::Margin, is_far(value), important),
            10 if is("margin-top") => self.set_flag(Flag::Raised, is_far(value), important),
            6 if is("margin") => {
                self.set_flag(
                    Flag::Margin,
                    value.contains('-') && value.split_ascii_whitespace().any(is_far),
                    important,
                );
            }
            9 if is("transform") => {
                let inner = value.split_once('(').map_or("", |(_, inner)| inner);
                let far = inner.split(',').any(|each| is_far(each.trim_ascii()));
                self.set_flag(Flag::Moved, far || contains("scale(0)"), important);
            }
            4 if is("clip") => self.set_flag(Flag::Cut, contains("rect("), important),
            9 if is("clip-path") => {
                let zero = ["inset(50%", "inset(100%", "circle(0"];
                self.set_flag(Flag::Moved, zero.iter().any(|each| contains(each)), important);
            }
            8 if is("position") => {
                self.set_flag(Flag::Free, has("absolute") || has("fixed"), important);
                self.set_flag(Flag::Relative, has("relative"), important);
            }
            5 if is("float") => self.set_flag(Flag::Floats, !has("none"), important),
            9 if is("direction") => self.set_flag(Flag::RightToLeft, has("rtl"), important),
            12 if is("unicode-bidi") => {
                self.set_flag(Flag::Overrides, contains("override"), important)
            }
            5 if is("color") => self.color.set_valid(color(value), important),
            16 if is("background-color") => self.background.set_valid(color(value), important),
            10 if is("background") => {
                self.set_flag(
                    Flag::Image,
                    value.contains('(') && (contains("url(") || contains("gradient(")),
                    important,
                );
                let found = color(value).or_else(|| value.split_ascii_whitespace().find_map(color));
                self.background.set(found.unwrap_or(Paint::Transparent), important);
            }
            16 if is("background-image") => self.set_flag(Flag::Image, !has("none"), important),
            _ => {}
        }
    }

    /// Changes the style of an element. `is_block` and `is_inline` tell its box without declarations.
    pub fn change(&self, style: &mut Style, is_block: bool, is_inline: bool) {
        let (is_block, is_inline) = match self.display.value {
            Some(Display::Block | Display::InlineBlock) => (true, false),
            Some(Display::Inline) => (false, true),
            Some(Display::None) | None => (is_block, is_inline),
        };
        let free = self.holds(Flag::Free);
        // Only boxes have a height.
        let has_size = is_block || free || self.holds(Flag::Floats);
        let empty =
            [Flag::Flat, Flag::Low, Flag::Thin, Flag::Narrow].iter().any(|&flag| self.holds(flag));
        let positioned = free || self.holds(Flag::Relative);
        let outside = (positioned && (self.holds(Flag::Left) || self.holds(Flag::Top)))
            || (!is_inline
                && (self.holds(Flag::Indent)
                    || self.holds(Flag::Moved)
                    || self.holds(Flag::Raised)))
            || self.holds(Flag::Margin)
            || (free && self.holds(Flag::Cut));
        style.removed |= self.display.value == Some(Display::None)
            || self.holds(Flag::Clear)
            || outside
            || (empty && has_size && self.holds(Flag::Clips));
        style.invisible = self.flag(Flag::Invisible).unwrap_or(style.invisible);
        style.tiny = self.flag(Flag::Tiny).unwrap_or(style.tiny);
        if self.holds(Flag::Overrides) {
            style.reversed = self.holds(Flag::RightToLeft);
        }
        match self.color.value {
            Some(Paint::Color(color)) => (style.color, style.transparent) = (Some(color), false),
            Some(Paint::Unknown) => (style.color, style.transparent) = (None, false),
            Some(Paint::Transparent) => style.transparent = true,
            Some(Paint::Inherited) | None => {}
        }
        style.transparent = self.flag(Flag::Fill).unwrap_or(style.transparent);
        match self.background.value {
            Some(Paint::Color(color)) => style.background = Some(color),
            Some(Paint::Unknown) => style.background = None,
            Some(Paint::Transparent | Paint::Inherited) | None => {}
        }
        if self.holds(Flag::Image) {
            style.background = None;
        }
    }
}

/// The end of a declaration: a semicolon outside of strings and parentheses.
fn end_of(text: &str) -> usize {
    let bytes = text.as_bytes();
    let (mut at, mut end) = (0, 0);
    loop {
        if end <= at {
            end = memchr(b';', &bytes[at..]).map_or(bytes.len(), |length| at + length);
        }
        match memchr3(b'"', b'\'', b'(', &bytes[at..end]) {
            Some(open) => at = behind(bytes, at + open),
            None => return end,
        }
    }
}

/// The place behind the string or the parentheses that begin at a place. They may hold a whole font.
fn behind(bytes: &[u8], mut at: usize) -> usize {
    let mut depth = 0;
    while let Some(&byte) = bytes.get(at) {
        at += 1;
        match byte {
            b'(' => depth += 1,
            b')' => depth -= 1,
            quote => at = memchr(quote, &bytes[at..]).map_or(bytes.len(), |n| at + n + 1),
        }
        if depth == 0 {
            return at;
        }
        let next = memchr3(b'"', b'\'', b')', &bytes[at..]).map_or(bytes.len(), |n| at + n);
        depth += memchr_iter(b'(', &bytes[at..next]).count();
        at = next;
    }
    bytes.len()
}

/// Comments separate words.
fn without_comments(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, comment)) = rest.split_once("/*") {
        out.push_str(before);
        out.push(' ');
        rest = comment.split_once("*/").map_or("", |(_, after)| after);
    }
    out + rest
}

/// Replaces escapes such as `\6f`, which a blank may end.
fn unescaped(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, escape)) = rest.split_once('\\') {
        out.push_str(before);
        let digits = escape.bytes().take(6).take_while(u8::is_ascii_hexdigit).count();
        let code = u32::from_str_radix(&escape[..digits], 16).ok().and_then(char::from_u32);
        if let Some(found) = code {
            out.push(if found.is_control() { '\u{fffd}' } else { found });
        }
        rest = &escape[digits..];
        if digits > 0 {
            rest = rest.strip_prefix(' ').unwrap_or(rest);
        }
    }
    out + rest
}
