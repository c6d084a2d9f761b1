//! Why facts about characters were refused.

use std::error::Error;
use std::fmt;

use super::{PAGE_SIZE, PAGES};

/// Why facts given for a page were refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageError {
    /// There is no such page.
    NoSuchPage(usize),
    /// A page needs 256 facts; so many were given.
    WrongLength(usize),
    /// The folded text of this code point does not have one class for each of its characters.
    WrongClasses(u32),
    /// The folded text of this code point has more than 255 characters.
    TooLong(u32),
}

impl fmt::Display for PageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoSuchPage(page) => write!(f, "no page {page} in Unicode's {PAGES} pages"),
            Self::WrongLength(given) => {
                write!(f, "a page needs {PAGE_SIZE} character facts, not {given}")
            }
            Self::WrongClasses(code) => {
                write!(f, "U+{code:04X} needs one class for each folded character")
            }
            Self::TooLong(code) => write!(f, "U+{code:04X} folds to more than 255 characters"),
        }
    }
}

impl Error for PageError {}

/// Why [`FoldTable::load`] failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoadError<E> {
    /// The host could not give the facts.
    Facts(E),
    /// The facts it gave were refused.
    Page(PageError),
}

impl<E: fmt::Display> fmt::Display for LoadError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Facts(error) => write!(f, "no character facts: {error}"),
            Self::Page(error) => error.fmt(f),
        }
    }
}

impl<E: Error + 'static> Error for LoadError<E> {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Facts(error) => Some(error),
            Self::Page(error) => Some(error),
        }
    }
}
