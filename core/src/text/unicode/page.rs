//! A page of the fold table: what 256 code points fold to, packed.

use super::{CharacterClass, CharacterFact, PAGE_SIZE, PAGES, PageError};

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
    pub(super) fn new(
        page: usize,
        facts: &[CharacterFact],
        lowercase: bool,
    ) -> Result<Box<Self>, PageError> {
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

#[cfg(test)]
mod tests {
    use super::super::{CharacterFacts, Folding, StandardFacts};
    use super::*;

    const BOTH: Folding = Folding { lowercase: true, strip_accents: true };

    fn facts(page: usize) -> Vec<CharacterFact> {
        let Ok(facts) = StandardFacts.page(BOTH, page);
        facts
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
}
