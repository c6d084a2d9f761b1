//! Errors of the core. No input causes a panic.

use std::fmt;

/// An error of the core. The bindings map each variant to one Python exception class.
#[derive(Debug, Clone, PartialEq)]
pub enum Error {
    /// A parameter, count or weight outside its range.
    Invalid(String),
    /// The message to unlearn or subtract was never learned with these words, class and weight.
    NotLearned(String),
    /// Snapshot bytes that are truncated, altered or have another version.
    Corrupt(String),
}

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Invalid(text) | Error::NotLearned(text) | Error::Corrupt(text) => {
                formatter.write_str(text)
            }
        }
    }
}

impl std::error::Error for Error {}

pub type Result<T> = std::result::Result<T, Error>;
