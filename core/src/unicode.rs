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

use std::error::Error;
use std::fmt;
use std::sync::OnceLock;

/// Code points in one page.
pub const PAGE_SIZE: usize = 256;
/// Pages that cover all of Unicode (planes 0 to 16).
pub const PAGES: usize = 0x11_0000 / PAGE_SIZE;

const PAGE_SET_WORDS: usize = PAGES.div_ceil(64);

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

/// One character of folded text: its UTF-8 bytes and its class.
///
/// An entry of a page is either that (the code point folds to one character or to none), or, when
/// flagged `PIECES`, stands for `len` pieces from the index held in `bytes` on.
#[derive(Clone, Copy)]
pub(crate) struct Entry {
    bytes: [u8; 4],
    len: u8,
    flags: u8,
}

impl Entry {
    const RUN: u8 = 1;
    const SPACE: u8 = 1 << 1;
    const OWN_RUN: u8 = 1 << 2;
    const OWN_SPACE: u8 = 1 << 3;
    const SIGMA: u8 = 1 << 4;
    const PIECES: u8 = 1 << 5;

    fn of(character: char, class: CharacterClass) -> Self {
        let mut bytes = [0; 4];
        let len = character.encode_utf8(&mut bytes).len() as u8;
        let flags = match class {
            // The table's "run" is a character that a word goes on with: [\w-].
            CharacterClass::Word => Self::RUN,
            _ if character == '-' => Self::RUN,
            CharacterClass::Space => Self::SPACE,
            CharacterClass::Other => 0,
        };
        Self { bytes, len, flags }
    }

    /// The UTF-8 bytes, padded with zeros; the first `len` count.
    pub(crate) fn bytes(self) -> [u8; 4] {
        self.bytes
    }

    pub(crate) fn len(self) -> usize {
        usize::from(self.len)
    }

    /// Whether the folded character matches `[\w-]`.
    pub(crate) fn is_run(self) -> bool {
        self.flags & Self::RUN != 0
    }

    /// Whether the folded character is white space.
    pub(crate) fn is_space(self) -> bool {
        self.flags & Self::SPACE != 0
    }

    /// Whether the code point itself, unfolded, matches `[\w-]`.
    pub(crate) fn own_is_run(self) -> bool {
        self.flags & Self::OWN_RUN != 0
    }

    /// Whether the code point itself, unfolded, is white space.
    pub(crate) fn own_is_space(self) -> bool {
        self.flags & Self::OWN_SPACE != 0
    }

    /// Whether only the host can lower a text that has this code point.
    pub(crate) fn is_sigma(self) -> bool {
        self.flags & Self::SIGMA != 0
    }
}

pub(crate) struct Page {
    entries: [Entry; PAGE_SIZE],
    /// The foldings of more than one character, one entry a character.
    pieces: Vec<Entry>,
}

impl Page {
    fn new(page: usize, facts: &[CharacterFact], lowercase: bool) -> Result<Box<Self>, PageError> {
        if page >= PAGES {
            return Err(PageError::NoSuchPage(page));
        }
        if facts.len() != PAGE_SIZE {
            return Err(PageError::WrongLength(facts.len()));
        }
        let nothing = Entry { bytes: [0; 4], len: 0, flags: 0 };
        let mut built = Box::new(Self { entries: [nothing; PAGE_SIZE], pieces: Vec::new() });
        for (offset, (fact, entry)) in facts.iter().zip(&mut built.entries).enumerate() {
            let code = (page * PAGE_SIZE + offset) as u32;
            let count = fact.folded.chars().count();
            if count != fact.folded_classes.len() {
                return Err(PageError::WrongClasses(code));
            }
            let mut characters = fact.folded.chars().zip(fact.folded_classes.iter().copied());
            if count <= 1 {
                if let Some((character, class)) = characters.next() {
                    *entry = Entry::of(character, class);
                }
            } else {
                entry.len = u8::try_from(count).map_err(|_| PageError::TooLong(code))?;
                // At most 256 * 255 pieces, so the index fits.
                entry.bytes = (built.pieces.len() as u32).to_le_bytes();
                entry.flags = Entry::PIECES;
                built.pieces.extend(characters.map(|(c, class)| Entry::of(c, class)));
            }
            entry.flags |= match fact.class {
                CharacterClass::Word => Entry::OWN_RUN,
                _ if code == u32::from('-') => Entry::OWN_RUN,
                CharacterClass::Space => Entry::OWN_SPACE,
                CharacterClass::Other => 0,
            };
            if lowercase && fact.sigma {
                entry.flags |= Entry::SIGMA;
            }
        }
        Ok(built)
    }

    /// The entry of the code point with this low byte.
    pub(crate) fn entry(&self, offset: u8) -> Entry {
        self.entries[usize::from(offset)]
    }

    /// The characters that an entry of this page folds to.
    pub(crate) fn folded<'a>(&'a self, entry: &'a Entry) -> &'a [Entry] {
        if entry.flags & Entry::PIECES != 0 {
            let start = u32::from_le_bytes(entry.bytes) as usize;
            self.pieces.get(start..start + entry.len()).unwrap_or_default()
        } else if entry.len == 0 {
            &[]
        } else {
            std::slice::from_ref(entry)
        }
    }
}

/// A set of pages, small enough to be filled anew for every batch of messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageSet {
    bits: [u64; PAGE_SET_WORDS],
}

impl Default for PageSet {
    fn default() -> Self {
        Self { bits: [0; PAGE_SET_WORDS] }
    }
}

impl PageSet {
    /// Adds a page; one that does not exist is left out.
    pub fn insert(&mut self, page: usize) {
        if page < PAGES {
            self.bits[page / 64] |= 1 << (page % 64);
        }
    }

    /// Whether the set has no page.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.bits.iter().all(|&word| word == 0)
    }

    /// The pages, in rising order.
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        (0..PAGES).filter(|page| self.bits[page / 64] >> (page % 64) & 1 != 0)
    }
}

/// The facts of one folding for all of Unicode, filled page by page as messages need them.
///
/// A table is shared between threads. Each page is filled at most once and never changes, so
/// reading needs no lock. An empty table takes 70 KB, a filled page 2 KB.
pub struct FoldTable {
    folding: Folding,
    pages: Box<[OnceLock<Box<Page>>]>,
}

impl fmt::Debug for FoldTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let loaded = self.pages.iter().filter(|page| page.get().is_some()).count();
        f.debug_struct("FoldTable")
            .field("folding", &self.folding)
            .field("loaded_pages", &loaded)
            .finish()
    }
}

impl FoldTable {
    /// An empty table.
    #[must_use]
    pub fn new(folding: Folding) -> Self {
        Self { folding, pages: (0..PAGES).map(|_| OnceLock::new()).collect() }
    }

    /// The folding whose facts the table holds.
    #[must_use]
    pub fn folding(&self) -> Folding {
        self.folding
    }

    /// Adds to `missing` the pages that `text` needs and that are not loaded. Plain ASCII needs
    /// none.
    pub fn missing_pages(&self, text: &str, missing: &mut PageSet) {
        if text.is_ascii() {
            return;
        }
        for character in text.chars().filter(|c| !c.is_ascii()) {
            let page = u32::from(character) as usize / PAGE_SIZE;
            if self.page(page).is_none() {
                missing.insert(page);
            }
        }
    }

    /// Fills a page with facts. One that is filled already keeps what it has.
    ///
    /// # Errors
    ///
    /// A [`PageError`] when the facts do not make a page; the table is then unchanged.
    pub fn fill_page(&self, page: usize, facts: &[CharacterFact]) -> Result<(), PageError> {
        let built = Page::new(page, facts, self.folding.lowercase)?;
        let slot = self.pages.get(page).ok_or(PageError::NoSuchPage(page))?;
        // Losing the race against another thread is fine: both have the same host's facts.
        let _ = slot.set(built);
        Ok(())
    }

    /// Asks the host for each of the pages and fills them.
    ///
    /// # Errors
    ///
    /// The first failure; pages filled before it stay filled.
    pub fn load<F: CharacterFacts>(
        &self,
        pages: &PageSet,
        facts: &F,
    ) -> Result<(), LoadError<F::Error>> {
        for page in pages.iter().filter(|&page| self.page(page).is_none()) {
            let given = facts.page(self.folding, page).map_err(LoadError::Facts)?;
            self.fill_page(page, &given).map_err(LoadError::Page)?;
        }
        Ok(())
    }

    pub(crate) fn page(&self, page: usize) -> Option<&Page> {
        self.pages.get(page).and_then(OnceLock::get).map(Box::as_ref)
    }
}

/// Facts from Rust's own functions and a few hand-written foldings, for tests without a host.
#[cfg(test)]
pub(crate) struct StandardFacts;

#[cfg(test)]
impl StandardFacts {
    pub(crate) fn class(character: char) -> CharacterClass {
        if character.is_alphanumeric() || character == '_' {
            CharacterClass::Word
        } else if character.is_whitespace() || ('\x1c'..='\x1f').contains(&character) {
            CharacterClass::Space
        } else {
            CharacterClass::Other
        }
    }

    pub(crate) fn stripped(character: char) -> String {
        match character {
            'é' | 'è' => "e".into(),
            'É' => "E".into(),
            '\u{300}'..='\u{36f}' => String::new(),
            '½' => "1\u{2044}2".into(),
            '…' => "...".into(),
            '\u{a0}' | '\u{3000}' => " ".into(),
            '-' => "-".into(),
            'Ϲ' => "Σ".into(),
            '\u{fdfa}' => "صلى الله عليه وسلم".into(),
            other => other.into(),
        }
    }

    pub(crate) fn folded(folding: Folding, text: &str) -> String {
        let mut text = text.to_owned();
        if folding.strip_accents {
            text = text.chars().map(Self::stripped).collect();
        }
        if folding.lowercase { text.to_lowercase() } else { text }
    }
}

#[cfg(test)]
impl CharacterFacts for StandardFacts {
    type Error = std::convert::Infallible;

    fn page(&self, folding: Folding, page: usize) -> Result<Vec<CharacterFact>, Self::Error> {
        let codes = page * PAGE_SIZE..(page + 1) * PAGE_SIZE;
        Ok(codes
            .map(|code| {
                let character = char::from_u32(code as u32).unwrap_or(char::REPLACEMENT_CHARACTER);
                let stripped = if folding.strip_accents {
                    Self::stripped(character)
                } else {
                    character.into()
                };
                let folded = if folding.lowercase {
                    stripped.chars().flat_map(char::to_lowercase).collect()
                } else {
                    stripped.clone()
                };
                CharacterFact {
                    folded_classes: folded.chars().map(Self::class).collect(),
                    class: Self::class(character),
                    sigma: stripped.contains('Σ'),
                    folded,
                }
            })
            .collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOTH: Folding = Folding { lowercase: true, strip_accents: true };

    fn facts(page: usize) -> Vec<CharacterFact> {
        let Ok(facts) = StandardFacts.page(BOTH, page);
        facts
    }

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

    #[test]
    fn missing_pages_are_those_of_other_than_ascii() {
        let table = FoldTable::new(BOTH);
        let mut missing = PageSet::default();
        table.missing_pages("plain", &mut missing);
        assert!(missing.is_empty());
        table.missing_pages("café … 😀\u{10ffff}", &mut missing);
        assert_eq!(missing.iter().collect::<Vec<_>>(), [0, 0x20, 0x1f6, 0x10ff]);
        assert_eq!(table.load(&missing, &StandardFacts), Ok(()));
        let mut again = PageSet::default();
        table.missing_pages("café … 😀\u{10ffff}", &mut again);
        assert!(again.is_empty());
        assert_eq!(
            format!("{table:?}"),
            "FoldTable { folding: Folding { lowercase: true, strip_accents: true }, \
             loaded_pages: 4 }"
        );
    }

    #[test]
    fn a_page_set_leaves_out_what_does_not_exist() {
        let mut set = PageSet::default();
        set.insert(PAGES);
        set.insert(usize::MAX);
        assert!(set.is_empty());
        set.insert(PAGES - 1);
        assert_eq!(set.iter().collect::<Vec<_>>(), [PAGES - 1]);
    }

    #[test]
    fn entries_hold_folded_characters() {
        let page = Page::new(0, &facts(0), true).expect("a page");
        let texts = |offset| {
            let entry = page.entry(offset);
            let folded = page.folded(&entry).iter();
            folded.map(|e| (e.bytes()[..e.len()].to_vec(), e.is_run(), e.is_space())).collect()
        };
        let e: Vec<_> = texts(0xc9);
        assert_eq!(e, [(b"e".to_vec(), true, false)]);
        let half: Vec<_> = texts(0xbd);
        assert_eq!(
            half,
            [
                (b"1".to_vec(), true, false),
                ("\u{2044}".into(), false, false),
                (b"2".to_vec(), true, false)
            ]
        );
        let space: Vec<_> = texts(0xa0);
        assert_eq!(space, [(b" ".to_vec(), false, true)]);
        assert!(page.entry(0xa0).own_is_space());
        assert!(page.entry(b'-').own_is_run());
        assert!(page.entry(b'-').is_run());
        let page = Page::new(3, &facts(3), true).expect("a page");
        let entry = page.entry(0x01);
        assert!(page.folded(&entry).is_empty());
        assert!(page.entry(0xa3).is_sigma() && page.entry(0xf9).is_sigma());
        assert!(!page.entry(0xc3).is_sigma());
        let kept = Page::new(3, &facts(3), false).expect("a page");
        assert!(!kept.entry(0xa3).is_sigma());
    }

    #[test]
    fn bad_facts_are_refused() {
        let table = FoldTable::new(BOTH);
        assert_eq!(table.fill_page(PAGES, &facts(0)), Err(PageError::NoSuchPage(PAGES)));
        assert_eq!(table.fill_page(0, &facts(0)[1..]), Err(PageError::WrongLength(255)));
        let mut wrong = facts(1);
        wrong[3].folded_classes.pop();
        assert_eq!(table.fill_page(1, &wrong), Err(PageError::WrongClasses(0x103)));
        wrong[3].folded = "a".repeat(256);
        wrong[3].folded_classes = vec![CharacterClass::Word; 256];
        assert_eq!(table.fill_page(1, &wrong), Err(PageError::TooLong(0x103)));
        assert!(table.page(1).is_none());
        assert_eq!(
            PageError::TooLong(0x103).to_string(),
            "U+0103 folds to more than 255 characters"
        );
    }

    #[test]
    fn a_failing_host_is_reported() {
        struct Failing;
        impl CharacterFacts for Failing {
            type Error = fmt::Error;
            fn page(&self, _: Folding, _: usize) -> Result<Vec<CharacterFact>, fmt::Error> {
                Err(fmt::Error)
            }
        }
        struct Short;
        impl CharacterFacts for Short {
            type Error = fmt::Error;
            fn page(&self, _: Folding, _: usize) -> Result<Vec<CharacterFact>, fmt::Error> {
                Ok(Vec::new())
            }
        }
        let table = FoldTable::new(BOTH);
        let mut pages = PageSet::default();
        pages.insert(7);
        assert_eq!(table.load(&pages, &Failing), Err(LoadError::Facts(fmt::Error)));
        let refused = LoadError::Page(PageError::WrongLength(0));
        assert_eq!(table.load(&pages, &Short), Err(refused));
        assert!(refused.source().is_some());
        assert_eq!(refused.to_string(), "a page needs 256 character facts, not 0");
    }
}
