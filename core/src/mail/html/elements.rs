//! Elements: what their tags separate, and which elements their tags close.

use crate::mail::html::output::Separator;

/// The name of an element: its first eight bytes in lower case, or a hash of a longer name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Tag(u64);

impl Tag {
    pub const fn of(name: &str) -> Tag {
        let bytes = name.as_bytes();
        let (mut packed, mut at) = (0_u64, 0);
        while at < bytes.len() && at < 8 {
            packed = packed << 8 | bytes[at].to_ascii_lowercase() as u64;
            at += 1;
        }
        while at < bytes.len() && at < 32 {
            packed = packed.rotate_left(7).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            packed ^= bytes[at].to_ascii_lowercase() as u64;
            at += 1;
        }
        Tag(packed)
    }
}

/// Declares constants, and functions that are true for lists of elements.
macro_rules! tags {
    ($($constant:ident $name:literal)*) => {
        impl Tag { $(pub const $constant: Tag = Tag::of($name);)* }
    };
}

tags! {
    BODY "body" INPUT "input" TEMPLATE "template" STYLE "style" SCRIPT "script"
    TEXTAREA "textarea" XMP "xmp" PLAINTEXT "plaintext" P "p" TABLE "table" TD "td" TH "th"
    TR "tr" CAPTION "caption" LI "li" UL "ul" OL "ol" DT "dt" DD "dd" DL "dl" OPTION "option"
    SELECT "select" TBODY "tbody" THEAD "thead" TFOOT "tfoot" HEAD "head"
    BUTTON "button" A "a" MARQUEE "marquee" OBJECT "object" HTML "html"
    FONT "font" IMG "img" IMAGE "image" AREA "area" BDO "bdo" DATALIST "datalist" DIALOG "dialog"
    RP "rp" NOBR "nobr" SVG "svg" MATH "math" DESC "desc" DEFS "defs" METADATA "metadata" OPTGROUP "optgroup"
}

macro_rules! one_of {
    ($function:ident $($name:literal)*) => {
        fn $function(tag: Tag) -> bool {
            // The compiler searches such a chain as a tree.
            false $(|| tag.0 == const { Tag::of($name).0 })*
        }
    };
}

one_of!(is_void "area" "base" "br" "col" "embed" "hr" "img" "input" "link" "meta" "param" "source"
    "track" "wbr" "frame" "basefont" "bgsound" "keygen" "image");
one_of!(is_formatting "a" "b" "big" "code" "em" "font" "i" "nobr" "s" "small" "strike" "strong" "tt"
    "u");
one_of!(is_cell "td" "th" "caption" "table" "tr" "tbody" "thead" "tfoot" "marquee" "object" "html"
    "applet" "template");
one_of!(is_block "address" "article" "aside" "blockquote" "body" "center" "dd" "details" "dialog"
    "dir" "div" "dl" "dt" "fieldset" "figcaption" "figure" "footer" "form" "frameset" "h1" "h2" "h3"
    "h4" "h5" "h6" "head" "header" "hgroup" "legend" "li" "listing" "main" "menu" "nav" "ol" "p"
    "plaintext" "pre" "search" "section" "select" "summary" "ul" "xmp" "textarea" "optgroup"
    "option" "hr" "br");
one_of!(is_space "td" "th" "button" "input" "iframe" "embed" "video" "audio" "canvas" "svg" "meter"
    "progress" "frame");
one_of!(is_title "h1" "h2" "h3" "h4" "h5" "h6");
one_of!(is_raw_text "script" "style" "title" "textarea" "xmp" "plaintext" "iframe" "noembed"
    "noframes");
one_of!(closes_p "address" "article" "aside" "blockquote" "center" "details" "dialog" "dir" "div" "dl"
    "fieldset" "figcaption" "figure" "footer" "form" "h1" "h2" "h3" "h4" "h5" "h6" "header" "hgroup"
    "hr" "li" "dd" "dt" "listing" "main" "menu" "nav" "ol" "p" "plaintext" "pre" "search" "section"
    "summary" "table" "ul" "xmp");

/// How the end of an element closes others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Has no content.
    Void,
    /// Goes on behind the end of a block.
    Formatting,
    Block,
    /// Formats and blocks do not end outside it.
    Cell,
    Other,
}

pub fn class(tag: Tag) -> Class {
    match tag {
        _ if is_formatting(tag) => Class::Formatting,
        _ if is_void(tag) => Class::Void,
        _ if is_cell(tag) => Class::Cell,
        _ if is_block(tag) => Class::Block,
        _ => Class::Other,
    }
}

/// The end of any heading closes a heading.
pub fn is_heading(tag: Tag) -> bool {
    is_title(tag)
}

/// Whether the element contains text only.
pub fn is_raw(tag: Tag) -> bool {
    is_raw_text(tag)
}

pub fn separator(tag: Tag) -> Separator {
    if is_space(tag) {
        Separator::Space
    } else if is_block(tag) || is_cell(tag) {
        Separator::Line
    } else {
        Separator::Nothing
    }
}

/// Whether the end tag of an element also closes an open cell.
pub fn ends_at(tag: Tag, open: Tag) -> bool {
    match open {
        Tag::TD | Tag::TH | Tag::CAPTION => {
            is_cell(tag) && tag != Tag::MARQUEE && tag != Tag::OBJECT || tag == Tag::BODY
        }
        Tag::TR => matches!(tag, Tag::TABLE | Tag::TBODY | Tag::THEAD | Tag::TFOOT | Tag::BODY),
        Tag::TBODY | Tag::THEAD | Tag::TFOOT => matches!(tag, Tag::TABLE | Tag::BODY),
        _ => tag == Tag::HTML,
    }
}

/// Calls `close` with the elements that a start tag closes, and those that end the search.
pub fn closed_by(tag: Tag, mut close: impl FnMut(fn(Tag) -> bool, fn(Tag) -> bool)) {
    match tag {
        Tag::TD | Tag::TH => close(
            |open| matches!(open, Tag::TD | Tag::TH),
            |open| matches!(open, Tag::TABLE | Tag::TR),
        ),
        Tag::TR => {
            close(|open| open == Tag::TR, |open| open == Tag::TABLE);
        }
        Tag::TBODY | Tag::THEAD | Tag::TFOOT => close(
            |open| matches!(open, Tag::TBODY | Tag::THEAD | Tag::TFOOT),
            |open| open == Tag::TABLE,
        ),
        Tag::LI => close(|open| open == Tag::LI, is_list),
        Tag::DT | Tag::DD => {
            close(|open| matches!(open, Tag::DT | Tag::DD), |open| open == Tag::DL || is_cell(open))
        }
        Tag::OPTION => close(|open| open == Tag::OPTION, |open| open == Tag::SELECT),
        Tag::A => close(|open| open == Tag::A, |open| class(open) == Class::Cell),
        Tag::BUTTON => close(|open| open == Tag::BUTTON, |open| class(open) == Class::Cell),
        Tag::NOBR => close(|open| open == Tag::NOBR, |open| class(open) == Class::Cell),
        Tag::BODY => close(|open| open == Tag::HEAD, |_| false),
        _ => {}
    }
    if closes_p(tag) {
        close(|open| open == Tag::P, |open| is_cell(open) || open == Tag::BUTTON);
    }
}

fn is_list(tag: Tag) -> bool {
    matches!(tag, Tag::UL | Tag::OL) || is_cell(tag)
}
