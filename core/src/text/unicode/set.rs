//! Sets of pages.

use super::PAGES;

const PAGE_SET_WORDS: usize = PAGES.div_ceil(64);

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_set_leaves_out_what_does_not_exist() {
        let mut set = PageSet::default();
        set.insert(PAGES);
        set.insert(usize::MAX);
        assert!(set.is_empty());
        set.insert(PAGES - 1);
        assert_eq!(set.iter().collect::<Vec<_>>(), [PAGES - 1]);
    }
}
