//! Facts about characters: how each is folded, and what it is in the eyes of a tokeniser.
//!
//! What a character *is* depends on the version of Unicode, and the tokens must be the very ones
//! that the host's own string functions give. So nothing about a non-ASCII character is compiled
//! in: a [`FoldTable`] learns it from the host, a page of 256 code points at a time, and only
//! pages that some message really touches are ever asked for. Once a page is there, reading it
//! takes no lock and no call back to the host.
//!
//! Folding a message character by character is exact for the two foldings on offer:
//!
//! * Stripping accents is "NFKD, then drop every character with a non-zero combining class". NFKD
//!   decomposes each character by itself and then only reorders characters of non-zero combining
//!   class, all of which are dropped.
//! * Lowering is by character except for the capital sigma (U+03A3), which becomes a final sigma
//!   at the end of a word. A character whose folding meets a capital sigma is marked, and a
//!   message that has one must be folded as a whole by the host.
//!
//! ASCII needs no table: the compiled-in facts are those of every version of Unicode.

mod error;
mod page;
mod set;
#[cfg(test)]
mod standard;
mod table;

pub use error::{LoadError, PageError};
pub use set::PageSet;
#[cfg(test)]
pub(crate) use standard::StandardFacts;
pub use table::FoldTable;

/// Code points in one page.
pub const PAGE_SIZE: usize = 256;
/// Pages that cover all of Unicode (planes 0 to 16).
pub const PAGES: usize = 0x11_0000 / PAGE_SIZE;

/// How a message is folded before it is cut into tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Folding {
    /// Lower the case (after the accents, if those are stripped).
    pub lowercase: bool,
    /// Decompose (NFKD) and drop the combining characters.
    pub strip_accents: bool,
}

impl Folding {
    /// A number from 0 to 3, one for each folding, for callers that keep one table for each.
    #[must_use]
    pub fn index(self) -> usize {
        usize::from(self.lowercase) | usize::from(self.strip_accents) << 1
    }
}

/// What a character is to a tokeniser.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CharacterClass {
    /// Matches `\w`: a letter, a digit or another number, or the underscore.
    Word,
    /// Matches `\s`: white space.
    Space,
    /// Neither.
    Other,
}

/// What the host knows of one code point.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CharacterFact {
    /// The code point's text after folding: often itself, sometimes several characters or none.
    pub folded: String,
    /// The class of each character of `folded`.
    pub folded_classes: Vec<CharacterClass>,
    /// The class of the code point itself, unfolded.
    pub class: CharacterClass,
    /// Whether the text meets a capital sigma (U+03A3) just before it is lowered. Only matters
    /// to a folding that lowers.
    pub sigma: bool,
}

/// The source of facts: the host's own string functions.
pub trait CharacterFacts {
    /// What goes wrong when the host cannot tell.
    type Error;

    /// The facts of the 256 code points from `page * 256` on, in order.
    ///
    /// Surrogates, which no Rust string holds, may be given any fact.
    fn page(&self, folding: Folding, page: usize) -> Result<Vec<CharacterFact>, Self::Error>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn foldings_have_their_own_numbers() {
        let mut numbers = Vec::new();
        for (lowercase, strip_accents) in
            [(false, false), (true, false), (false, true), (true, true)]
        {
            numbers.push(Folding { lowercase, strip_accents }.index());
        }
        assert_eq!(numbers, [0, 1, 2, 3]);
    }
}
