//! The styles that hide text: `display`, `visibility`, sizes of zero, text in the colour of its
//! background.

/// Colours that differ less in each of red, green and blue look the same.
const CONTRAST: u8 = 24;
/// Pixels by which a text is moved out of the page.
const FAR: f32 = 300.0;

/// The effective style of a text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Style {
    /// Hidden with everything within it.
    removed: bool,
    /// Elements within it can be visible, as those of these two.
    invisible: bool,
    tiny: bool,
    color: Option<[u8; 3]>,
    background: Option<[u8; 3]>,
}

impl Default for Style {
    fn default() -> Self {
        let (color, background) = (Some([0; 3]), Some([255; 3]));
        Style { removed: false, invisible: false, tiny: false, color, background }
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
        self.removed || self.invisible || self.tiny || same
    }

    pub fn set_hidden(&mut self) {
        self.removed = true;
    }

    pub fn set_color(&mut self, value: &str) {
        self.color = color(value);
    }

    pub fn set_background(&mut self, value: &str) {
        self.background = color(value);
    }

    pub fn set_unknown_background(&mut self) {
        self.background = None;
    }

    /// This style with the changes from one style to another.
    pub fn with(mut self, from: &Style, to: &Style) -> Style {
        self.removed |= to.removed && !from.removed;
        if from.invisible != to.invisible {
            self.invisible = to.invisible;
        }
        if from.tiny != to.tiny {
            self.tiny = to.tiny;
        }
        if from.color != to.color {
            self.color = to.color;
        }
        if from.background != to.background {
            self.background = to.background;
        }
        self
    }

    /// Applies the declarations of a `style` attribute.
    pub fn apply(&mut self, declarations: &str) {
        let mut element = Element::default();
        let text;
        let mut declarations = declarations;
        if declarations.contains("/*") {
            text = without_comments(declarations);
            declarations = &text;
        }
        for declaration in declarations.split(';') {
            let Some((name, value)) = declaration.split_once(':') else { continue };
            let (value, important) = match value.split_once('!') {
                Some((value, _)) => (value, true),
                None => (value, false),
            };
            let (name, value) = (name.trim_ascii(), value.trim_ascii());
            let is = |other: &str| name.eq_ignore_ascii_case(other);
            let has = |word: &str| value.eq_ignore_ascii_case(word);
            match name.len() {
                7 if is("display") => element.display.set(has("none"), important),
                7 if is("opacity") => {
                    element.clear.set(number(value).is_some_and(|(n, _)| n < 0.05), important);
                }
                10 if is("visibility") => {
                    element.visibility.set(has("hidden") || has("collapse"), important);
                }
                9 if is("font-size") => element.tiny.set(is_tiny(value), important),
                4 if is("font") => {
                    let size = value.split(['/', ' ']).find(|word| number(word).is_some());
                    if let Some(size) = size {
                        element.tiny.set(is_tiny(size), important);
                    }
                }
                8 if is("overflow") => element.clips.set(has("hidden"), important),
                6 if is("height") => element.flat.set(is_zero(value), important),
                10 if is("max-height") => element.low.set(is_zero(value), important),
                5 if is("width") => element.thin.set(is_zero(value), important),
                9 if is("max-width") => element.narrow.set(is_zero(value), important),
                11 if is("text-indent") => element.indent.set(is_far(value), important),
                4 if is("left") => element.left.set(is_far(value), important),
                3 if is("top") => element.top.set(is_far(value), important),
                11 if is("margin-left") => element.margin.set(is_far(value), important),
                5 if is("color") => element.color.set(color(value), important),
                16 if is("background-color") => {
                    element.background.set(color(value), important);
                }
                10 if is("background") => {
                    let found = value.split_ascii_whitespace().find_map(color);
                    let image = value.contains('(') && !value.starts_with("rgb");
                    element.background.set(found.filter(|_| !image), important);
                }
                16 if is("background-image") => element.background.set(None, important),
                _ => {}
            }
        }
        element.change(self);
    }
}

/// A declared value. The last one counts, unless an earlier one is important.
#[derive(Clone, Copy)]
struct Declared<T> {
    value: Option<T>,
    important: bool,
}

impl<T> Default for Declared<T> {
    fn default() -> Self {
        Declared { value: None, important: false }
    }
}

impl<T> Declared<T> {
    fn set(&mut self, value: T, important: bool) {
        if important || !self.important {
            *self = Declared { value: Some(value), important };
        }
    }
}

impl Declared<bool> {
    fn holds(&self) -> bool {
        self.value == Some(true)
    }
}

/// The declarations of an element.
#[derive(Default)]
struct Element {
    display: Declared<bool>,
    visibility: Declared<bool>,
    clear: Declared<bool>,
    tiny: Declared<bool>,
    clips: Declared<bool>,
    flat: Declared<bool>,
    low: Declared<bool>,
    thin: Declared<bool>,
    narrow: Declared<bool>,
    indent: Declared<bool>,
    left: Declared<bool>,
    top: Declared<bool>,
    margin: Declared<bool>,
    color: Declared<Option<[u8; 3]>>,
    background: Declared<Option<[u8; 3]>>,
}

impl Element {
    fn change(&self, style: &mut Style) {
        let empty = [self.flat, self.low, self.thin, self.narrow].iter().any(Declared::holds);
        let outside = [self.indent, self.left, self.top, self.margin].iter().any(Declared::holds);
        style.removed |=
            self.display.holds() || self.clear.holds() || outside || (empty && self.clips.holds());
        style.invisible = self.visibility.value.unwrap_or(style.invisible);
        style.tiny = self.tiny.value.unwrap_or(style.tiny);
        style.color = self.color.value.unwrap_or(style.color);
        style.background = self.background.value.unwrap_or(style.background);
    }
}

fn without_comments(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, comment)) = rest.split_once("/*") {
        out.push_str(before);
        rest = comment.split_once("*/").map_or("", |(_, after)| after);
    }
    out + rest
}

/// The number at the beginning of a value, and its unit.
fn number(value: &str) -> Option<(f32, &str)> {
    let is_part = |byte: &u8| byte.is_ascii_digit() || matches!(byte, b'.' | b'-' | b'+');
    let end = value.as_bytes().iter().position(|byte| !is_part(byte)).unwrap_or(value.len());
    value[..end].parse().ok().map(|number| (number, value[end..].trim_ascii_start()))
}

fn is_zero(value: &str) -> bool {
    number(value).is_some_and(|(number, _)| number == 0.0)
}

/// Whether a size of letters is too small to read.
fn is_tiny(value: &str) -> bool {
    number(value).is_some_and(|(number, unit)| {
        let absolute = ["px", "pt", ""].iter().any(|each| unit.eq_ignore_ascii_case(each));
        number <= if absolute { 1.0 } else { 0.05 }
    })
}

fn is_far(value: &str) -> bool {
    number(value).is_some_and(|(number, _)| number <= -FAR)
}

/// A colour by its name or its numbers; None for a transparent or an unknown one.
fn color(value: &str) -> Option<[u8; 3]> {
    let value = value.trim_ascii();
    if let Some(digits) = value.strip_prefix('#') {
        return hexadecimal(digits);
    }
    let lower;
    let name = if value.len() <= 32 {
        lower = value.to_ascii_lowercase();
        &lower
    } else {
        return None;
    };
    if let Some(numbers) = name.strip_prefix("rgb") {
        let numbers = numbers.trim_start_matches('a').trim_matches(['(', ')', ' ']);
        let mut numbers = numbers.split([',', ' ', '/']).filter(|each| !each.is_empty());
        let mut next = || {
            let (number, unit) = number(numbers.next()?.trim_ascii())?;
            Some(if unit == "%" { number * 2.55 } else { number }.clamp(0.0, 255.0) as u8)
        };
        let found = [next()?, next()?, next()?];
        let alpha = numbers.next().and_then(number).map_or(1.0, |(alpha, _)| alpha);
        return (alpha > 0.0).then_some(found);
    }
    NAMES
        .iter()
        .find(|(each, _)| each == name)
        .map(|&(_, [r, g, b])| [r, g, b])
        .or_else(|| hexadecimal(name))
}

fn hexadecimal(digits: &str) -> Option<[u8; 3]> {
    let digits: Vec<u8> = digits
        .chars()
        .map(|digit| digit.to_digit(16).map(|digit| digit as u8))
        .collect::<Option<_>>()?;
    match digits[..] {
        [r, g, b] | [r, g, b, _] => Some([r * 17, g * 17, b * 17]),
        [r, s, g, h, b, c] | [r, s, g, h, b, c, _, _] => Some([r * 16 + s, g * 16 + h, b * 16 + c]),
        _ => None,
    }
}

const NAMES: [(&str, [u8; 3]); 30] = [
    ("white", [255, 255, 255]),
    ("black", [0, 0, 0]),
    ("snow", [255, 250, 250]),
    ("ivory", [255, 255, 240]),
    ("whitesmoke", [245, 245, 245]),
    ("ghostwhite", [248, 248, 255]),
    ("floralwhite", [255, 250, 240]),
    ("azure", [240, 255, 255]),
    ("mintcream", [245, 255, 250]),
    ("aliceblue", [240, 248, 255]),
    ("seashell", [255, 245, 238]),
    ("lavender", [230, 230, 250]),
    ("silver", [192, 192, 192]),
    ("lightgray", [211, 211, 211]),
    ("lightgrey", [211, 211, 211]),
    ("gray", [128, 128, 128]),
    ("grey", [128, 128, 128]),
    ("red", [255, 0, 0]),
    ("maroon", [128, 0, 0]),
    ("yellow", [255, 255, 0]),
    ("lightyellow", [255, 255, 224]),
    ("olive", [128, 128, 0]),
    ("lime", [0, 255, 0]),
    ("green", [0, 128, 0]),
    ("aqua", [0, 255, 255]),
    ("teal", [0, 128, 128]),
    ("blue", [0, 0, 255]),
    ("navy", [0, 0, 128]),
    ("fuchsia", [255, 0, 255]),
    ("purple", [128, 0, 128]),
];
