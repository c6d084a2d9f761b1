//! Word counts by class: packed where possible, with lazy division.
//!
//! Decaying counts are divided periodically to stay in range. Dividing all of them together would
//! be a pause. So each word stores the number of divisions that its counts include: readers apply
//! the missing ones, and writers divide first.

use super::packed::{Added, PackedRows, Place, unpack};
use super::{ClassId, SparseRows};
use crate::counts::WordId;
use crate::counts::array::{Array, Piecewise};

/// Counts of one word in one class.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Counts {
    /// Occurrences of the word: Σ f_ji over documents j of the class.
    pub tokens: f64,
    /// Documents of the class that contain the word.
    pub documents: f64,
    /// Length of the *indexed* documents of the class that contain the word: the denominator of
    /// P(w_i | w_t, c). Like the numerator it covers the document index only.
    pub length: f64,
}

/// The current counts of one word in one class.
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

/// Counts of one word in one class that are small integers; without documents there is no cell.
#[derive(Clone, Copy, Default)]
pub struct Small {
    pub tokens: u32,
    pub documents: u32,
}

impl Small {
    /// The cell of a class with these counts.
    #[inline(always)]
    fn of_class(self, class: ClassId) -> Cell {
        let (tokens, documents) = (f64::from(self.tokens), f64::from(self.documents));
        Cell { class, tokens, documents, length: 0.0 }
    }
}

/// Base-2 logarithm of the divisor.
pub const DIVISOR: u32 = 256;

/// 2^-400: the minimum of a count, so that counts stay positive and their squares stay
/// representable.
pub const FLOOR: f64 = power(400);

/// Factor of each number of divisions, until everything is at the floor: no count exceeds 2^500. A
/// table, because every cell that is read needs the factor; computing the power took a fifth of the
/// time of `OnlineNB` with pairs of words.
const LEFT: [f64; 5] = [1.0, power(256), power(512), power(768), power(1_022)];

/// 2^-n.
const fn power(n: u64) -> f64 {
    f64::from_bits((1_023 - n) << 52)
}

/// A count after some divisions.
pub fn left_of(count: f64, divisions: u32) -> f64 {
    if divisions == 0 || count == 0.0 {
        return count;
    }
    (count * LEFT[divisions.min(4) as usize]).max(FLOOR)
}

/// The counts of all words.
#[derive(Clone, Default)]
pub struct Rows {
    /// Rows of small integers, which are most; rows of other numbers are only named there.
    packed: Option<PackedRows>,
    /// Rows of any numbers: of all words, or of the words that are not packed, under separate
    /// names.
    wide: SparseRows<Counts>,
    /// Free names of wide rows.
    free: Vec<WordId>,
    /// Number of divisions of all counts.
    divisions: u32,
    /// Number of divisions that the counts of each word include, for decaying counts.
    seen: Option<Array<u32>>,
}

impl Rows {
    /// Rows of counts: packed if most are `small` integers, with lazy division if they decay
    /// (`fading`).
    pub fn new(small: bool, fading: bool) -> Self {
        let packed = (small && !fading).then(PackedRows::default);
        Rows { packed, seen: fading.then(Array::default), ..Rows::default() }
    }

    /// Number of row slots: one more than the largest word with a row.
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
            seen.extend_to(word as usize + 1, self.divisions);
        }
    }

    /// Whether this many cells can be added.
    pub fn has_room_for(&self, cells: usize) -> bool {
        let packed = self.packed.as_ref().is_none_or(|packed| packed.has_room_for(cells));
        packed && self.wide.has_room_for(cells)
    }

    pub fn n_cells(&self) -> usize {
        self.packed.as_ref().map_or(0, PackedRows::n_cells) + self.wide.n_cells()
    }

    /// Whether all counts are integers: nearly all are packed, or none.
    pub fn is_whole(&self) -> bool {
        self.packed.is_some() && self.wide.all(|c| c.tokens.fract() + c.documents.fract() == 0.0)
    }

    /// Prefetches the row of a word.
    pub fn fetch(&self, word: WordId) {
        match &self.packed {
            Some(packed) => packed.fetch(word),
            None => self.wide.fetch(word),
        }
    }

    /// Prefetches the rest of the row, once its beginning is cached.
    #[inline]
    pub fn fetch_more(&self, word: WordId) {
        match &self.packed {
            Some(packed) => packed.fetch_more(word),
            None => self.wide.fetch_more(word),
        }
    }

    /// Divides all counts by 2^256, `times` times.
    pub fn divide(&mut self, times: u32) {
        debug_assert!(self.seen.is_some());
        self.divisions = self.divisions.saturating_add(times);
    }

    /// Number of divisions that the counts of a word lack.
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
        let (two, here, wide) = match self.place(word) {
            Place::Two(two) => (two, &[][..], None),
            Place::Here(cells) => ([0; 2], cells, None),
            Place::Wide(row) => ([0; 2], &[][..], Some(self.wide.cells(row))),
        };
        let wide = wide
            .map(|wide| wide.map(move |(class, counts)| Cell::new(class, now(*counts, unseen))));
        CellIter { two, here: here.iter(), wide }
    }

    #[inline]
    pub fn cell(&self, word: WordId, class: ClassId) -> Option<Cell> {
        if let Some(slot) = self.packed.as_ref().and_then(|packed| packed.slot(word, class)) {
            return (slot != 0).then(|| unpack(slot));
        }
        let Place::Wide(row) = self.place(word) else { return None };
        let counts = self.wide.cell(row, class)?;
        Some(Cell::new(class, now(*counts, self.unseen(word))))
    }

    /// Adds tokens and documents of a class to a word; returns its documents after and before.
    pub fn add(&mut self, word: WordId, class: ClassId, tokens: f64, documents: f64) -> (f64, f64) {
        self.adding(class, documents).add(word, tokens)
    }

    /// An adder of tokens and documents for one class.
    pub fn adding(&mut self, class: ClassId, documents: f64) -> Adding<'_> {
        let packed = self.packed.is_some().then(|| Added::new(class, documents)).flatten();
        Adding { rows: self, class, documents, packed }
    }

    /// The slow path: the row is not packed, or will not be.
    #[inline(never)]
    fn add_other(
        &mut self,
        word: WordId,
        class: ClassId,
        tokens: f64,
        documents: f64,
    ) -> (f64, f64) {
        let mut found = (0.0, 0.0);
        self.change(word, class, |tokens_before, before| {
            found = (before + documents, before);
            (tokens_before + tokens, found.0)
        });
        found
    }

    /// Sets the tokens and documents of a word in a class; without documents the cell is removed.
    pub fn set(&mut self, word: WordId, class: ClassId, tokens: f64, documents: f64) {
        if documents == 0.0 {
            self.remove(word, class);
        } else {
            self.change(word, class, |_, _| (tokens, documents));
        }
    }

    /// Sets the length of the indexed documents of an existing cell.
    pub fn set_length(&mut self, word: WordId, class: ClassId, length: f64) {
        self.wide_entry(word, class).length = length;
    }

    /// Changes the tokens and documents of a word and class; creates a missing cell.
    #[inline]
    fn change(
        &mut self,
        word: WordId,
        class: ClassId,
        mut change: impl FnMut(f64, f64) -> (f64, f64),
    ) {
        if let Some(packed) = &mut self.packed
            && packed.change(word, class, &mut change)
        {
            return;
        }
        let counts = self.wide_entry(word, class);
        (counts.tokens, counts.documents) = change(counts.tokens, counts.documents);
    }

    /// The counts of a word and class in a wide row; creates a missing cell.
    fn wide_entry(&mut self, word: WordId, class: ClassId) -> &mut Counts {
        if self.unseen(word) > 0 {
            self.catch_up(word);
        }
        let row = match self.place(word) {
            Place::Wide(row) => row,
            Place::Two(_) | Place::Here(_) => self.widen(word),
        };
        self.wide.entry(row, class)
    }

    /// Moves a row to the wide rows; returns its name there.
    #[cold]
    fn widen(&mut self, word: WordId) -> WordId {
        let row = self.free.pop().unwrap_or(self.wide.slots() as WordId);
        self.wide.reach(row);
        let cells = self.packed.as_mut().map(|packed| packed.widen(word, row));
        for Cell { class, tokens, documents, length } in cells.into_iter().flatten() {
            *self.wide.entry(row, class) = Counts { tokens, documents, length };
        }
        row
    }

    fn remove(&mut self, word: WordId, class: ClassId) {
        let Place::Wide(row) = self.place(word) else {
            if let Some(packed) = &mut self.packed {
                packed.remove(word, class);
            }
            return;
        };
        self.wide.remove(row, class);
        if let Some(packed) = &mut self.packed
            && self.wide.is_empty(row)
        {
            packed.clear(word);
            self.free.push(row);
        }
    }

    /// Applies the missing divisions to the counts of a word.
    #[cold]
    fn catch_up(&mut self, word: WordId) {
        let unseen = self.unseen(word);
        self.wide.change(word, |counts| *counts = now(*counts, unseen));
        if let Some(seen) = &mut self.seen {
            seen[word as usize] = self.divisions;
        }
    }

    /// The arrays that grow with the words.
    pub fn arrays(&mut self) -> impl Iterator<Item = &mut dyn Piecewise> {
        let packed = self.packed.iter_mut().flat_map(PackedRows::arrays);
        let seen = self.seen.iter_mut().map(|seen| seen as &mut dyn Piecewise);
        packed.chain(self.wide.arrays()).chain(seen)
    }

    pub fn size(&self) -> usize {
        self.packed.as_ref().map_or(0, PackedRows::size)
            + self.wide.size()
            + size_of_val(self.free.as_slice())
            + self.seen.as_ref().map_or(0, |seen| size_of_val(&**seen))
    }
}

/// Counts of words by class.
pub trait Cells {
    /// The cells of a word, in no particular order.
    fn cells(&self, word: WordId) -> impl Iterator<Item = Cell> + Clone;

    /// The cells of a word of classes 0 and 1, which are all that exist; without documents if the
    /// word has none.
    #[inline(always)]
    fn two(&self, word: WordId) -> [Cell; 2] {
        let mut small = [Small::default(); 2];
        if !self.read_small(word, &mut small) {
            return two_of(self.cells(word));
        }
        [small[0].of_class(0), small[1].of_class(1)]
    }

    /// Reads the counts of [`two`](Self::two), if they are known to be small integers.
    fn read_small(&self, _word: WordId, _counts: &mut [Small; 2]) -> bool {
        false
    }
}

/// The cells of classes 0 and 1; a missing one is empty.
fn two_of(cells: impl Iterator<Item = Cell>) -> [Cell; 2] {
    let mut two = [0, 1].map(|class| Cell::new(class, Counts::default()));
    cells.for_each(|cell| two[cell.class as usize] = cell);
    two
}

impl Cells for Rows {
    // Scores visit the cells of each word: a call would cost as much as a cell.
    #[inline(always)]
    fn cells(&self, word: WordId) -> impl Iterator<Item = Cell> + Clone {
        Rows::cells(self, word)
    }

    #[inline(always)]
    fn read_small(&self, word: WordId, counts: &mut [Small; 2]) -> bool {
        self.packed.as_ref().is_some_and(|packed| packed.read_two(word, counts))
    }
}

/// Adds tokens and documents of one class to words.
pub struct Adding<'a> {
    rows: &'a mut Rows,
    class: ClassId,
    documents: f64,
    /// The summand of packed cells, if it fits.
    packed: Option<Added>,
}

impl Adding<'_> {
    /// Adds tokens and the documents to a word; returns its documents after and before.
    #[inline(always)]
    pub fn add(&mut self, word: WordId, tokens: f64) -> (f64, f64) {
        if let (Some(packed), Some(added)) = (&mut self.rows.packed, self.packed)
            && let Some((after, before)) = packed.add(word, added, tokens)
        {
            return (f64::from(after), f64::from(before));
        }
        self.rows.add_other(word, self.class, tokens, self.documents)
    }
}

/// The cells of a word: of a pair, packed ones up to the first empty slot, or wide ones.
///
/// Each step has one predictable branch; `chain` took a fifth of the time of a prediction. Internal
/// iteration branches only at the end.
#[derive(Clone)]
struct CellIter<'a, W> {
    two: [u64; 2],
    here: std::slice::Iter<'a, u64>,
    wide: Option<W>,
}

impl<W: Iterator<Item = Cell>> Iterator for CellIter<'_, W> {
    type Item = Cell;

    #[inline]
    fn next(&mut self) -> Option<Cell> {
        let of_pair = self.two.iter_mut().find(|cell| **cell != 0).map(std::mem::take);
        if let Some(cell) = of_pair {
            return Some(unpack(cell));
        }
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
        for cell in self.two.into_iter().filter(|&cell| cell != 0) {
            sum = add(sum, unpack(cell));
        }
        for &cell in self.here {
            if cell == 0 {
                break;
            }
            sum = add(sum, unpack(cell));
        }
        sum
    }
}

/// Current counts of a cell that lacks some divisions. A store with a half-life has no index,
/// so its lengths are 0.
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
mod tests {
    use super::*;

    #[test]
    fn a_division_changes_the_rows_that_are_touched_after_it_and_no_other() {
        let mut rows = Rows::new(true, true);
        rows.reach(999);
        for word in 0..1000 {
            rows.add(word, word % 3, 255f64.exp2(), 1.0);
        }
        rows.divide(1);
        for word in [7, 8, 8] {
            rows.add(word, 0, 1.0, 1.0);
        }
        assert_eq!(
            rows.seen.iter().flat_map(|seen| seen.iter()).filter(|&&seen| seen > 0).count(),
            2
        );
        assert_eq!(
            *rows.wide.cell(9, 0).expect("a cell"),
            Counts { tokens: 255f64.exp2(), documents: 1.0, length: 0.0 }
        );
        assert_eq!(rows.cell(9, 0).map(|cell| cell.tokens), Some(0.5));
    }
}
