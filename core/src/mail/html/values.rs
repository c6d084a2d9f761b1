//! Values of declarations: boxes, sizes, colours.

/// Colours that differ less in each of red, green and blue look the same.
pub const CONTRAST: u8 = 24;
/// Pixels by which a text is moved out of the page.
const FAR: f32 = 300.0;

/// The kind of box of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Display {
    None,
    Inline,
    InlineBlock,
    Block,
}

/// The colour of letters or of a background.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Paint {
    Color([u8; 3]),
    Transparent,
    /// As outside.
    Inherited,
    Unknown,
}

pub fn display(value: &str) -> Option<Display> {
    let is = |names: &[&str]| names.iter().any(|name| value.eq_ignore_ascii_case(name));
    if is(&["none"]) {
        Some(Display::None)
    } else if is(&["inline", "contents", "initial"]) {
        Some(Display::Inline)
    } else if is(&["inline-block", "inline-table", "inline-flex", "inline-grid"]) {
        Some(Display::InlineBlock)
    } else if is(&["block", "table", "flex", "grid", "list-item", "flow-root"]) {
        Some(Display::Block)
    } else {
        None
    }
}

/// The number at the beginning of a value, and its unit.
pub fn number(value: &str) -> Option<(f32, &str)> {
    let value = value.strip_prefix("calc(").unwrap_or(value);
    let is_part = |byte: &u8| byte.is_ascii_digit() || matches!(byte, b'.' | b'-' | b'+');
    let end = value.as_bytes().iter().position(|byte| !is_part(byte)).unwrap_or(value.len());
    let unit = value[end..].trim_ascii_start().trim_end_matches(')');
    value[..end].parse().ok().map(|number| (number, unit))
}

/// Whether a box has no room for a text.
pub fn is_zero(value: &str) -> bool {
    // Most sizes are larger.
    if !matches!(value.as_bytes().first(), Some(b'0' | b'1' | b'.' | b'c' | b'-')) {
        return false;
    }
    number(value).is_some_and(|(number, unit)| {
        number == 0.0 || (number <= 1.0 && ["px", "pt", ""].contains(&unit))
    })
}

/// Whether a size of letters is too small to read; None if it is invalid or as outside.
pub fn is_tiny(value: &str) -> Option<bool> {
    const UNITS: [(&str, f32); 16] = [
        ("px", 2.0),
        ("", 2.0),
        ("pt", 1.5),
        ("em", 0.12),
        ("%", 12.0),
        ("rem", 0.12),
        ("ex", 0.24),
        ("ch", 0.24),
        ("mm", 0.5),
        ("cm", 0.05),
        ("in", 0.02),
        ("pc", 0.12),
        ("q", 2.0),
        ("vw", 0.2),
        ("vh", 0.2),
        ("vmin", 0.2),
    ];
    let Some((number, unit)) = number(value) else {
        let names = ["medium", "small", "large", "initial"];
        let lower = value.to_ascii_lowercase();
        return names.iter().any(|name| lower.ends_with(name)).then_some(false);
    };
    let (unit, least) = UNITS.iter().find(|(each, _)| unit.eq_ignore_ascii_case(each))?;
    let tiny = number <= *least;
    // Sizes relative to the letters outside.
    let relative = ["em", "%", "ex", "ch"].contains(unit);
    (number >= 0.0 && (tiny || !relative)).then_some(tiny)
}

pub fn is_far(value: &str) -> bool {
    if !value.contains('-') {
        return false;
    }
    number(value).is_some_and(|(number, unit)| {
        let far = match unit.to_ascii_lowercase().as_str() {
            "em" | "rem" => FAR / 15.0,
            "%" | "vw" | "vh" => 100.0,
            _ => FAR,
        };
        number <= -far
    })
}

/// The colour of an attribute.
pub fn paint(value: &str) -> Paint {
    color(value).unwrap_or(Paint::Unknown)
}

/// A colour by its name or its numbers; None if it is invalid or as outside.
pub fn color(value: &str) -> Option<Paint> {
    let value = value.trim_ascii();
    if let Some(digits) = value.strip_prefix('#') {
        return hexadecimal(digits);
    }
    if value.len() > 40 {
        return None;
    }
    let name = value.to_ascii_lowercase();
    match name.as_str() {
        "transparent" => return Some(Paint::Transparent),
        "inherit" => return Some(Paint::Inherited),
        _ => {}
    }
    if let Some((function, numbers)) = name.split_once('(') {
        let numbers = numbers.trim_end_matches([')', ' ']);
        let mut numbers = numbers.split([',', ' ', '/']).filter(|each| !each.is_empty());
        let mut next = || number(numbers.next()?);
        let (one, two, three) = (next()?, next()?, next()?);
        if next().is_some_and(|(alpha, _)| alpha < 0.05) {
            return Some(Paint::Transparent);
        }
        let byte = |(number, unit): (f32, &str)| {
            (if unit == "%" { number * 2.55 } else { number }).clamp(0.0, 255.0) as u8
        };
        return match function {
            "rgb" | "rgba" => Some(Paint::Color([byte(one), byte(two), byte(three)])),
            // Without saturation, or at an end, only the lightness counts.
            "hsl" | "hsla" => {
                let light = byte((three.0, "%"));
                let grey = two.0 == 0.0 || !(CONTRAST..=255 - CONTRAST).contains(&light);
                Some(if grey { Paint::Color([light; 3]) } else { Paint::Unknown })
            }
            _ => None,
        };
    }
    let found = NAMES.iter().find(|(each, _)| *each == name).map(|&(_, rgb)| Paint::Color(rgb));
    found.or_else(|| hexadecimal(&name))
}

fn hexadecimal(digits: &str) -> Option<Paint> {
    let mut found = [0; 8];
    if digits.len() > found.len() {
        return None;
    }
    for (place, digit) in found.iter_mut().zip(digits.chars()) {
        *place = digit.to_digit(16)? as u8;
    }
    match found[..digits.len()] {
        [_, _, _, 0] | [_, _, _, _, _, _, 0, _] => Some(Paint::Transparent),
        [r, g, b] | [r, g, b, _] => Some(Paint::Color([r * 17, g * 17, b * 17])),
        [r, s, g, h, b, c] | [r, s, g, h, b, c, _, _] => {
            Some(Paint::Color([r * 16 + s, g * 16 + h, b * 16 + c]))
        }
        _ => None,
    }
}

const NAMES: [(&str, [u8; 3]); 32] = [
    ("honeydew", [240, 255, 240]),
    ("lavenderblush", [255, 240, 245]),
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
