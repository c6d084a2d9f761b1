//! Open elements.

use crate::mail::html::css::Style;
use crate::mail::html::elements::{Class, Tag};
use crate::mail::html::output::Separator;

/// The names by which rules find an element.
#[derive(Clone, Copy)]
pub struct Names<'a> {
    pub tag: Tag,
    /// Separated by blanks.
    pub classes: &'a str,
    pub id: &'a str,
}

/// An open element, and the style outside it.
pub struct Open<'a> {
    pub names: Names<'a>,
    pub class: Class,
    pub separator: Separator,
    pub style: Style,
    pub outer: Style,
}
