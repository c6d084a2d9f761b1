//! The table of character facts that all messages of one folding share.

use std::fmt;
use std::sync::OnceLock;

use super::page::Page;
use super::{
    CharacterFact, CharacterFacts, Folding, LoadError, PAGE_SIZE, PAGES, PageError, PageSet,
};

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

#[cfg(test)]
mod tests {
    use super::super::{CharacterClass, StandardFacts};
    use super::*;
    use std::error::Error;

    const BOTH: Folding = Folding { lowercase: true, strip_accents: true };

    fn facts(page: usize) -> Vec<CharacterFact> {
        let Ok(facts) = StandardFacts.page(BOTH, page);
        facts
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
