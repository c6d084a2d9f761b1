//! Character tables: how each character is folded, and whether it belongs to a word.
//!
//! The facts come from the compiled-in tables of the standard library and `unicode-normalization`.
//! A [`FoldTable`] stores them in pages of 256 code points that are built at the first use.
//!
//! A message is folded character by character, which is exact for both foldings:
//!
//! * Stripping accents is "NFKD, then drop every character with a non-zero combining class". NFKD
//!   decomposes each character by itself, and then only reorders characters that are dropped.
//! * Lowering depends on the context only for the capital sigma (U+03A3). A message that contains
//!   one is folded as a whole by [`Folding::fold`].

use std::fmt::Display;
use std::sync::OnceLock;

use unicode_normalization::char::{
    canonical_combining_class, decompose_compatible, is_combining_mark,
};

/// Code points in a page.
pub const PAGE_SIZE: usize = 256;
/// Pages that cover all of Unicode (planes 0 to 16).
const PAGES: usize = 0x11_0000 / PAGE_SIZE;
const CAPITAL_SIGMA: char = 'Σ';

/// The Unicode versions of the compiled-in tables. Stores with different versions may cut
/// characters that only the newer version assigns into different tokens.
pub fn version() -> String {
    fn dotted((major, minor, patch): (impl Display, impl Display, impl Display)) -> String {
        format!("{major}.{minor}.{patch}")
    }
    format!(
        "case {}, decomposition {}, segmentation {}",
        dotted(char::UNICODE_VERSION),
        dotted(unicode_normalization::UNICODE_VERSION),
        dotted(unicode_segmentation::UNICODE_VERSION),
    )
}

/// How a message is folded before it is cut into tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Folding {
    /// Lower the case (after the accents, if those are stripped).
    pub lowercase: bool,
    /// Decompose (NFKD) and drop the combining characters.
    pub strip_accents: bool,
}

impl Folding {
    /// Fold a text as a whole.
    pub fn fold(self, text: &str) -> String {
        let mut stripped = String::with_capacity(text.len());
        text.chars().for_each(|character| self.strip(character, |c| stripped.push(c)));
        if self.lowercase { stripped.to_lowercase() } else { stripped }
    }

    fn strip(self, character: char, mut emit: impl FnMut(char)) {
        if !self.strip_accents {
            return emit(character);
        }
        decompose_compatible(character, |c| {
            if canonical_combining_class(c) == 0 {
                emit(c);
            }
        });
    }
}

/// Return whether Python's `\w` matches a character: a letter, a number or the underscore.
pub fn is_word(character: char) -> bool {
    // `is_alphanumeric` is true for the letters (L) and numbers (N), and for marks and circled
    // letters that have the property Alphabetic.
    let is_circled = matches!(
        character,
        '\u{24b6}'..='\u{24e9}' | '\u{1f130}'..='\u{1f149}' | '\u{1f150}'..='\u{1f169}'
            | '\u{1f170}'..='\u{1f189}'
    );
    character == '_' || character.is_alphanumeric() && !is_circled && !is_combining_mark(character)
}

/// Return whether Python's `\s` matches a character: white space and four separators of ASCII.
pub fn is_space(character: char) -> bool {
    character.is_whitespace() || matches!(character, '\x1c'..='\x1f')
}

/// One character of folded text: its UTF-8 bytes and its class.
///
/// An entry of a page is either that (the code point folds to one character or to none), or, with
/// the flag `PIECES`, stands for `len` pieces that begin at the index in `bytes`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    /// Padded with zeros.
    pub(crate) bytes: [u8; 4],
    pub(crate) len: u8,
    flags: u8,
}

impl Entry {
    const NOTHING: Self = Self { bytes: [0; 4], len: 0, flags: 0 };
    const RUN: u8 = 1;
    const SPACE: u8 = 1 << 1;
    const SIGMA: u8 = 1 << 2;
    const PIECES: u8 = 1 << 3;

    fn of(character: char) -> Self {
        let mut bytes = [0; 4];
        let len = character.encode_utf8(&mut bytes).len() as u8;
        let flags = if is_word(character) || character == '-' {
            Self::RUN
        } else if is_space(character) {
            Self::SPACE
        } else {
            0
        };
        Self { bytes, len, flags }
    }

    /// Whether the folded character matches `[\w-]`.
    pub(crate) fn is_run(self) -> bool {
        self.flags & Self::RUN != 0
    }

    /// Whether the folded character is white space.
    pub(crate) fn is_space(self) -> bool {
        self.flags & Self::SPACE != 0
    }

    /// Whether the character is lowered from a capital sigma, so that its context decides.
    pub(crate) fn is_sigma(self) -> bool {
        self.flags & Self::SIGMA != 0
    }
}

/// The foldings of 256 code points, packed.
#[derive(Debug)]
pub(crate) struct Page {
    entries: [Entry; PAGE_SIZE],
    /// The foldings of more than one character, one entry for each character.
    pieces: Vec<Entry>,
}

impl Page {
    fn new(folding: Folding, page: usize) -> Box<Self> {
        let mut built = Box::new(Self { entries: [Entry::NOTHING; PAGE_SIZE], pieces: Vec::new() });
        let mut folded = Vec::new();
        for (code, entry) in (page * PAGE_SIZE..).zip(&mut built.entries) {
            // No Rust string contains surrogates.
            let Some(character) = char::from_u32(code as u32) else { continue };
            let mut sigma = false;
            folded.clear();
            folding.strip(character, |c| {
                if folding.lowercase {
                    sigma |= c == CAPITAL_SIGMA;
                    folded.extend(c.to_lowercase().map(Entry::of));
                } else {
                    folded.push(Entry::of(c));
                }
            });
            *entry = match *folded {
                [] => Entry::NOTHING,
                [only] => only,
                _ => {
                    let start = built.pieces.len() as u32;
                    built.pieces.extend_from_slice(&folded);
                    // The longest folding has 18 characters (U+FDFA).
                    let len = folded.len() as u8;
                    Entry { bytes: start.to_le_bytes(), len, flags: Entry::PIECES }
                }
            };
            entry.flags |= if sigma { Entry::SIGMA } else { 0 };
        }
        built
    }

    /// The entry of the code point with this low byte.
    pub(crate) fn entry(&self, offset: u8) -> Entry {
        self.entries[usize::from(offset)]
    }

    /// The characters that an entry of this page folds to.
    pub(crate) fn folded<'a>(&'a self, entry: &'a Entry) -> &'a [Entry] {
        if entry.flags & Entry::PIECES != 0 {
            let start = u32::from_le_bytes(entry.bytes) as usize;
            self.pieces.get(start..start + usize::from(entry.len)).unwrap_or_default()
        } else if entry.len == 0 {
            &[]
        } else {
            std::slice::from_ref(entry)
        }
    }
}

/// The facts of one folding for all of Unicode, shared by all threads and read without a lock.
///
/// An empty table takes 70 KB, a page 2 KB.
#[derive(Debug)]
pub struct FoldTable {
    folding: Folding,
    pages: Box<[OnceLock<Box<Page>>]>,
}

impl FoldTable {
    /// The table of a folding; the process has one for each.
    pub fn of(folding: Folding) -> &'static Self {
        static TABLES: [OnceLock<FoldTable>; 4] = [const { OnceLock::new() }; 4];
        let index = usize::from(folding.lowercase) | usize::from(folding.strip_accents) << 1;
        TABLES[index]
            .get_or_init(|| Self { folding, pages: (0..PAGES).map(|_| OnceLock::new()).collect() })
    }

    /// The folding whose facts the table contains.
    pub(crate) fn folding(&self) -> Folding {
        self.folding
    }

    /// The page of a code point.
    pub(crate) fn page(&self, code: u32) -> &Page {
        let page = code as usize / PAGE_SIZE;
        self.pages[page].get_or_init(|| Page::new(self.folding, page))
    }
}

/// Whether a character is invisible: `Default_Ignorable_Code_Point` or interlinear annotation.
pub fn is_ignorable(character: char) -> bool {
    matches!(
        character,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'
            | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOTH: Folding = Folding { lowercase: true, strip_accents: true };

    #[test]
    fn pages_contain_folded_characters() {
        let folded = |folding: Folding, character: char| {
            let code = u32::from(character);
            let page = FoldTable::of(folding).page(code);
            let entry = page.entry(code as u8);
            let pieces = page.folded(&entry).iter();
            let pieces = pieces.map(|e| {
                let text =
                    String::from_utf8(e.bytes[..usize::from(e.len)].to_vec()).expect("UTF-8");
                (text, e.is_run(), e.is_space())
            });
            (pieces.collect::<Vec<_>>(), entry.is_sigma())
        };
        let one = |text: &str, run, space| (vec![(text.to_owned(), run, space)], false);
        assert_eq!(folded(BOTH, 'É'), one("e", true, false));
        assert_eq!(folded(BOTH, '\u{a0}'), one(" ", false, true));
        assert_eq!(folded(BOTH, '-'), one("-", true, false));
        assert_eq!(folded(BOTH, '\u{301}'), (Vec::new(), false));
        assert_eq!(folded(BOTH, '\u{fdfa}').0.len(), 18);
        let half = [("1", true), ("\u{2044}", false), ("2", true)];
        let half = half.map(|(text, run)| (text.to_owned(), run, false)).to_vec();
        assert_eq!(folded(BOTH, '½'), (half, false));
        assert!(folded(BOTH, 'Σ').1 && folded(BOTH, 'Ϲ').1);
        assert_eq!(folded(Folding::default(), 'Σ'), one("Σ", true, false));
        assert_eq!(folded(Folding::default(), '\u{301}'), one("\u{301}", false, false));
    }
}
