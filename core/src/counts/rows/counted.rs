//! The counts of words by class: packed where they may be, and how they become less.
//!
//! Where counts fade they are all divided now and then, so that they stay numbers. To divide them at
//! once would be a pause. So each word has the number of divisions that its counts have seen: who
//! reads them makes up for the others, and who changes them divides them first.

use super::packed::{Added, PackedRows, Place, unpack};
use super::{ClassId, SparseRows};
use crate::counts::room::make_room;
use crate::counts::vocabulary::WordId;

/// What the store counts for one word in one class.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Counts {
    /// Occurrences of the word: Σ f_ji over documents j of the class.
    pub tokens: f64,
    /// Documents of the class that contain the word.
    pub documents: f64,
    /// Length of the *indexed* documents of the class that contain the word: the denominator of
    /// P(w_i | w_t, c). It covers the document index only, as the numerator does.
    pub length: f64,
}

/// The counts of one word in one class, as they are now.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cell {
    pub class: ClassId,
    pub tokens: f64,
    pub documents: f64,
    pub length: f64,
}

impl Cell {
    fn new(class: ClassId, Counts { tokens, documents, length }: Counts) -> Self {
        Cell { class, tokens, documents, length }
    }
}

/// The logarithm to base 2 of what counts are divided by.
pub const DIVISOR: u32 = 256;

/// 2^-400: what no count falls below, so that it never becomes nothing, and squares of counts are
/// numbers.
pub const FLOOR: f64 = power(400);

/// What so many divisions leave of 1, to where nothing above the least is left: no count is above
/// 2^500. A table, because what is left is computed for every cell that is read, divided or not:
/// a power in its place took a fifth of the time of `OnlineNB` with pairs of words.
const LEFT: [f64; 5] = [1.0, power(256), power(512), power(768), power(1_022)];

/// 2^-n.
const fn power(n: u64) -> f64 {
    f64::from_bits((1_023 - n) << 52)
}

/// What is left of a count after so many divisions.
#[inline]
pub fn left_of(count: f64, divisions: u32) -> f64 {
    if divisions == 0 || count == 0.0 {
        return count;
    }
    (count * LEFT[divisions.min(4) as usize]).max(FLOOR)
}

/// The counts of all words.
#[derive(Clone, Default)]
pub struct Rows {
    /// Rows of small whole numbers, where most are; those of others are named there.
    packed: Option<PackedRows>,
    /// Rows of any numbers: of all words, or of those that are not packed, under names of their own.
    wide: SparseRows<Counts>,
    /// Such names that are free.
    free: Vec<WordId>,
    /// How often all counts were divided.
    divisions: u32,
    /// How many of these the counts of each word have seen, where counts fade.
    seen: Option<Vec<u32>>,
}

impl Rows {
    /// Rows of counts: packed where most are `small` whole numbers, and ready to be divided where
    /// they fade.
    pub fn new(small: bool, fading: bool) -> Self {
        let packed = (small && !fading).then(PackedRows::default);
        Rows { packed, seen: fading.then(Vec::new), ..Rows::default() }
    }

    /// One more than the largest word that has a row.
    pub fn slots(&self) -> usize {
        self.packed.as_ref().map_or_else(|| self.wide.slots(), PackedRows::slots)
    }

    pub fn is_empty(&self, word: WordId) -> bool {
        match &self.packed {
            Some(packed) => packed.is_empty(word),
            None => self.wide.is_empty(word),
        }
    }

    /// Makes room for a word.
    #[inline]
    pub fn reach(&mut self, word: WordId) {
        match &mut self.packed {
            Some(packed) => packed.reach(word),
            None => self.wide.reach(word),
        }
        if let Some(seen) = &mut self.seen
            && word as usize >= seen.len()
        {
            make_room(seen, word as usize + 1);
            seen.resize(word as usize + 1, self.divisions);
        }
    }

    /// Whether so many cells can be added.
    pub fn has_room_for(&self, cells: usize) -> bool {
        let packed = self.packed.as_ref().is_none_or(|packed| packed.has_room_for(cells));
        packed && self.wide.has_room_for(cells)
    }

    pub fn n_cells(&self) -> usize {
        self.packed.as_ref().map_or(0, PackedRows::n_cells) + self.wide.n_cells()
    }

    /// Whether all counts are whole numbers: nearly all are packed, or none.
    pub fn is_whole(&self) -> bool {
        self.packed.is_some() && self.wide.all(|c| c.tokens.fract() + c.documents.fract() == 0.0)
    }

    /// Asks the memory for the row of a word …
    #[inline]
    pub fn fetch(&self, word: WordId) {
        match &self.packed {
            Some(packed) => packed.fetch(word),
            None => self.wide.fetch(word),
        }
    }

    /// … and for the rest of it, once its beginning is there.
    #[inline]
    pub fn fetch_more(&self, word: WordId) {
        match &self.packed {
            Some(packed) => packed.fetch_more(word),
            None => self.wide.fetch_more(word),
        }
    }

    /// Divides all counts by 2^256, so many times.
    pub fn divide(&mut self, times: u32) {
        debug_assert!(self.seen.is_some());
        self.divisions = self.divisions.saturating_add(times);
    }

    /// How many divisions the counts of a word have not seen.
    #[inline]
    fn unseen(&self, word: WordId) -> u32 {
        self.seen.as_ref().map_or(0, |seen| self.divisions - seen[word as usize])
    }

    #[inline(always)]
    fn place(&self, word: WordId) -> Place<'_> {
        self.packed.as_ref().map_or(Place::Wide(word), |packed| packed.place(word))
    }

    /// The cells of a word, in no particular order.
    #[inline(always)]
    pub fn cells(&self, word: WordId) -> impl Iterator<Item = Cell> + Clone {
        let unseen = self.unseen(word);
        let (here, wide) = match self.place(word) {
            Place::Here(cells) => (cells, None),
            Place::Wide(row) => (&[][..], Some(self.wide.cells(row))),
        };
        let wide = wide.map(|wide| wide.map(move |c| Cell::new(c.class, now(**c, unseen))));
        Cells { here: here.iter(), wide }
    }

    #[inline]
    pub fn cell(&self, word: WordId, class: ClassId) -> Option<Cell> {
        match self.place(word) {
            Place::Here(cells) => PackedRows::find(cells, class),
            Place::Wide(row) => {
                let cell = self.wide.cell(row, class)?;
                Some(Cell::new(class, now(**cell, self.unseen(word))))
            }
        }
    }

    /// Adds tokens and documents to what a word has of a class; returns how many documents that
    /// makes, and made before.
    pub fn add(&mut self, word: WordId, class: ClassId, tokens: f64, documents: f64) -> (f64, f64) {
        self.adding(class, documents).add(word, tokens)
    }

    /// What adds tokens and so many documents to what words have of a class.
    #[inline]
    pub fn adding(&mut self, class: ClassId, documents: f64) -> Adding<'_> {
        let packed = self.packed.is_some().then(|| Added::new(class, documents)).flatten();
        Adding { rows: self, class, documents, packed, most: 0, most_of_others: 0.0 }
    }

    /// The same where what a word has is not packed, or will not be.
    #[inline(never)]
    fn add_other(
        &mut self,
        word: WordId,
        class: ClassId,
        tokens: f64,
        documents: f64,
    ) -> (f64, f64) {
        let (mut after, mut before) = (0.0, 0.0);
        self.change(word, class, |counts| {
            before = counts.documents;
            counts.tokens += tokens;
            counts.documents += documents;
            after = counts.documents;
        });
        (after, before)
    }

    /// Sets the tokens and documents that a word has of a class; with no documents, it has no cell.
    pub fn set(&mut self, word: WordId, class: ClassId, tokens: f64, documents: f64) {
        if documents == 0.0 {
            self.remove(word, class);
        } else {
            self.change(word, class, |counts| {
                counts.tokens = tokens;
                counts.documents = documents;
            });
        }
    }

    /// Sets the length of the indexed documents of a cell that is there.
    pub fn set_length(&mut self, word: WordId, class: ClassId, length: f64) {
        self.wide_entry(word, class).length = length;
    }

    /// Changes the counts of a word and class, made if they are missing, as they are now.
    #[inline]
    fn change(&mut self, word: WordId, class: ClassId, mut change: impl FnMut(&mut Counts)) {
        if let Some(packed) = &mut self.packed
            && packed.change(word, class, |tokens, documents| {
                let mut counts = Counts { tokens, documents, length: 0.0 };
                change(&mut counts);
                (counts.tokens, counts.documents)
            })
        {
            return;
        }
        change(self.wide_entry(word, class));
    }

    /// The counts of a word and class among rows of any numbers, made if they are missing.
    fn wide_entry(&mut self, word: WordId, class: ClassId) -> &mut Counts {
        if self.unseen(word) > 0 {
            self.catch_up(word);
        }
        let row = match self.place(word) {
            Place::Wide(row) => row,
            Place::Here(_) => self.widen(word),
        };
        self.wide.entry(row, class)
    }

    /// Moves a row to those of any numbers; returns its name there.
    #[cold]
    fn widen(&mut self, word: WordId) -> WordId {
        let row = self.free.pop().unwrap_or(self.wide.slots() as WordId);
        self.wide.reach(row);
        let cells = self.packed.as_mut().map(|packed| packed.widen(word, row));
        for Cell { class, tokens, documents, length } in cells.into_iter().flatten() {
            **self.wide.entry(row, class) = Counts { tokens, documents, length };
        }
        row
    }

    fn remove(&mut self, word: WordId, class: ClassId) {
        let row = match self.place(word) {
            Place::Wide(row) => Some(row),
            Place::Here(_) => None,
        };
        if let Some(row) = row {
            self.wide.remove(row, class);
        }
        let Some(packed) = &mut self.packed else { return };
        match row {
            None => packed.remove(word, class),
            Some(row) if self.wide.is_empty(row) => {
                packed.clear(word);
                self.free.push(row);
            }
            Some(_) => {}
        }
    }

    /// Divides the counts of a word by what they have not seen.
    #[cold]
    fn catch_up(&mut self, word: WordId) {
        let unseen = self.unseen(word);
        self.wide.change(word, |counts| *counts = now(*counts, unseen));
        if let Some(seen) = &mut self.seen {
            seen[word as usize] = self.divisions;
        }
    }

    pub fn size(&self) -> usize {
        self.packed.as_ref().map_or(0, PackedRows::size)
            + self.wide.size()
            + size_of_val(self.free.as_slice())
            + self.seen.as_ref().map_or(0, |seen| size_of_val(seen.as_slice()))
    }
}

/// Adds tokens and documents to what words have of a class.
pub struct Adding<'a> {
    rows: &'a mut Rows,
    class: ClassId,
    documents: f64,
    /// What is added to packed cells, where it fits.
    packed: Option<Added>,
    /// The most documents that a packed cell has now, …
    most: u32,
    /// … and another one.
    most_of_others: f64,
}

impl Adding<'_> {
    /// Adds tokens, and the documents, to a word; returns how many documents that makes, and made
    /// before.
    #[inline(always)]
    pub fn add(&mut self, word: WordId, tokens: f64) -> (f64, f64) {
        if let (Some(packed), Some(added)) = (&mut self.rows.packed, self.packed)
            && let Some((after, before)) = packed.add(word, added, tokens)
        {
            self.most = self.most.max(after);
            return (f64::from(after), f64::from(before));
        }
        let found = self.rows.add_other(word, self.class, tokens, self.documents);
        self.most_of_others = self.most_of_others.max(found.0);
        found
    }

    /// The most documents that a cell has to which was added.
    pub fn most_documents(&self) -> f64 {
        self.most_of_others.max(f64::from(self.most))
    }
}

/// The cells of a word: those packed, up to the first that is nothing, or those of any numbers.
///
/// One step of it is one branch that is foreseen; what `chain` makes of the two took a fifth of the
/// time of a prediction. Who takes all of them at once has no branch but the end.
#[derive(Clone)]
struct Cells<'a, W> {
    here: std::slice::Iter<'a, u64>,
    wide: Option<W>,
}

impl<W: Iterator<Item = Cell>> Iterator for Cells<'_, W> {
    type Item = Cell;

    #[inline]
    fn next(&mut self) -> Option<Cell> {
        match &mut self.wide {
            None => self.here.next().filter(|&&cell| cell != 0).map(|&cell| unpack(cell)),
            Some(wide) => wide.next(),
        }
    }

    #[inline(always)]
    fn fold<B, F: FnMut(B, Cell) -> B>(self, from: B, mut add: F) -> B {
        if let Some(wide) = self.wide {
            return wide.fold(from, add);
        }
        let mut sum = from;
        for &cell in self.here {
            if cell == 0 {
                break;
            }
            sum = add(sum, unpack(cell));
        }
        sum
    }
}

/// Counts that have not seen so many divisions, as they are now. With a half-life there is no
/// index, and no length of indexed documents.
#[inline]
fn now(counts: Counts, unseen: u32) -> Counts {
    if unseen == 0 {
        return counts;
    }
    Counts {
        tokens: left_of(counts.tokens, unseen),
        documents: left_of(counts.documents, unseen),
        ..counts
    }
}

#[cfg(test)]
mod tests;
