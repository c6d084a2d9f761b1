//! The corrections of all words.
//!
//! With two classes, the gradients of both are opposite. So are additive corrections; multiplicative
//! ones are equal, because the log odds are opposite as well. Such a word has one number in an array
//! indexed by word. Other words have a cell for each class. Most words have no correction: the messages
//! that brought them were scored correctly. Neighbours in the array are words of the same message, so
//! the array consists of pages, and pages without corrections take no memory.

use crate::counts::alloc::fetch;
use crate::counts::array::{Array, Piecewise};
use crate::counts::codec::{Reader, corrupt, put_float};
use crate::counts::rows::SparseRows;
use crate::counts::{ClassId, WordId};
use crate::error::Result;

/// The rates of steps, and the bound of the corrections.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rates {
    /// r.
    pub rate: f64,
    /// q.
    pub decay: f64,
    /// The lower bound of a correction.
    pub least: f64,
}

/// Gradients are multiples of 1/STEPS and their squares of 1/SQUARES, so that sums are exact: a step
/// that is taken back leaves the same sums as no step.
const STEPS: f64 = 4_294_967_296.0;
const SQUARES: f64 = 1_099_511_627_776.0;

/// The relative error of sums that decay, which are rounded.
const ROUNDING: f64 = 1e-9;

impl Rates {
    /// The rates of sums whose gradients are multiples of this unit.
    pub fn of_unit(self, unit: f64) -> Self {
        Rates { rate: self.rate / unit, decay: self.decay / (unit * unit), ..self }
    }
}

/// The sum Z of the gradients of a number, w or b, and the sum G of their squares. The number is
///
///   w = max(r Z / √(1 + q G), least)
///
/// With a half-life h, a gradient counts 2^(−t/h) times after t messages, and its square the square of
/// that. As for counts, older gradients stay, new ones are multiplied by the unit, and r and q are
/// divided by the unit and its square ([`Rates::of_unit`]).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Correction {
    pub sum: f64,
    pub squares: f64,
}

impl Correction {
    #[inline]
    pub fn weight(self, rates: Rates) -> f64 {
        let weight = rates.rate * self.sum / (1.0 + rates.decay * self.squares).sqrt();
        weight.max(rates.least)
    }

    /// A gradient and its square, as they are summed.
    #[inline]
    fn exact(gradient: f64) -> (f64, f64) {
        let gradient = (gradient * STEPS).round_ties_even() / STEPS;
        (gradient, (gradient * gradient * SQUARES).round_ties_even() / SQUARES)
    }

    #[inline]
    pub fn add(&mut self, gradient: f64) {
        let (gradient, square) = Self::exact(gradient);
        self.sum += gradient;
        self.squares += square;
    }

    /// Take a gradient back, unless it was forgotten.
    pub fn take(&mut self, gradient: f64, is_rounded: bool) {
        let (gradient, square) = Self::exact(gradient);
        let least = if is_rounded { square * (1.0 - ROUNDING) } else { square };
        if self.squares >= least {
            self.sum -= gradient;
            self.squares = (self.squares - square).max(0.0);
        }
    }

    /// The same gradients in another unit.
    pub fn scaled(self, units: f64) -> Self {
        // Not −0.
        Correction { sum: self.sum * units + 0.0, squares: self.squares * units * units }
    }

    /// Set the number to the mean of both, weighted by their squared gradients, which are added.
    pub fn merge(&mut self, other: &Self, rates: Rates) {
        if self.squares == 0.0 || rates.rate == 0.0 {
            *self = *other;
        } else if other.squares > 0.0 {
            let squares = self.squares + other.squares;
            let evidence = |of: &Self| of.weight(rates) * of.squares;
            let mean = (evidence(self) + evidence(other)) / squares;
            let sum = mean * (1.0 + rates.decay * squares).sqrt() / rates.rate;
            *self = Correction { sum: Self::exact(sum).0, squares };
        }
    }

    pub fn put(&self, bytes: &mut Vec<u8>) {
        put_float(bytes, self.sum);
        put_float(bytes, self.squares);
    }

    pub fn restore(reader: &mut Reader<'_>) -> Result<Self> {
        let (sum, squares) = (reader.float()?, reader.float()?);
        if squares < 0.0 {
            return Err(corrupt("a correction has negative squared gradients"));
        }
        Ok(Correction { sum, squares })
    }

    /// The correction of the second class of a pair: with the same sum, or the opposite one.
    #[inline(always)]
    fn of_second(self, sign: f64) -> Self {
        // Not −0.
        Correction { sum: 0.0 + sign * self.sum, ..self }
    }
}

/// Two classes whose corrections are equal (`sign` 1) or opposite (−1).
#[derive(Clone, Copy, Debug, PartialEq)]
struct Pair {
    classes: (ClassId, ClassId),
    sign: f64,
}

/// Words of a page, which is a cache line. A page of 1 took 1.2 bytes more for each word of the SMS
/// collection, a page of 8 took 1.1 more, and no pages took 10 more.
const PAGE: usize = 4;

/// The corrections of words, by class.
#[derive(Clone, Default)]
pub struct Corrections {
    pub rates: Rates,
    /// The classes of the pages.
    pair: Option<Pair>,
    /// The page of each `PAGE` words; 0 is a page without corrections.
    page_of: Array<u32>,
    /// The corrections for the first class of the pair.
    pages: Array<[Correction; PAGE]>,
    /// The corrections of other words.
    rows: SparseRows<Correction>,
}

impl Corrections {
    /// One more than the largest word with corrections.
    pub fn slots(&self) -> usize {
        (self.page_of.len() * PAGE).max(self.rows.slots())
    }

    /// The page of a word, if there is one.
    #[inline(always)]
    fn page(&self, word: WordId) -> Option<&[Correction; PAGE]> {
        let page = self.page_of.get(word as usize / PAGE).copied().unwrap_or(0);
        self.pages.get(page as usize)
    }

    /// The correction of a word for the first class of the pair; 0 for a word without.
    #[inline(always)]
    fn of_first(&self, word: WordId) -> Correction {
        self.page(word).map_or_else(Default::default, |page| page[word as usize % PAGE])
    }

    fn of_first_mut(&mut self, word: WordId) -> Option<&mut Correction> {
        let page = *self.page_of.get(word as usize / PAGE).filter(|&&page| page > 0)?;
        self.pages.get_mut(page as usize).map(|page| &mut page[word as usize % PAGE])
    }

    fn clear_pair(&mut self, word: WordId) {
        self.of_first_mut(word)
            .into_iter()
            .for_each(|correction| *correction = Correction::default());
    }

    /// The corrections of a word for the classes of the pair.
    #[inline]
    fn paired(&self, word: WordId) -> Option<[(ClassId, Correction); 2]> {
        let (Pair { classes, sign }, correction) = (self.pair?, self.of_first(word));
        (correction != Correction::default())
            .then(|| [(classes.0, correction), (classes.1, correction.of_second(sign))])
    }

    fn is_unpaired(&self, word: WordId) -> bool {
        !self.rows.is_empty(word)
    }

    /// w of a word, by class.
    pub fn weights(&self, word: WordId) -> impl Iterator<Item = (ClassId, f64)> {
        self.cells(word).map(|(class, correction)| (class, correction.weight(self.rates)))
    }

    /// The corrections of a word, by class.
    pub fn cells(&self, word: WordId) -> impl Iterator<Item = (ClassId, Correction)> {
        let cells = self.rows.cells(word).map(|(class, &correction)| (class, correction));
        self.paired(word).into_iter().flatten().chain(cells)
    }

    /// Add w of each word times its value, by class.
    #[inline]
    pub fn add_to(&self, sums: &mut [f64], words: &[(WordId, f64)], values: &[f64]) {
        // Without a pair there are no pages, and all that is added to `one` is 0.
        let (first, second, sign) = self.pair.map_or((0, 0, -1.0), |Pair { classes, sign }| {
            (classes.0 as usize, classes.1 as usize, sign)
        });
        let (mut one, mut other) = (sums[first], sums[second]);
        let is_paired = self.rows.slots() == 0;
        for (&(word, _), value) in words.iter().zip(values) {
            let added = self.of_first(word).weight(self.rates) * value;
            one += added;
            other += sign * added;
            if !is_paired && self.is_unpaired(word) {
                // A word with cells has no correction in a page.
                (sums[first], sums[second]) = (one, other);
                for (class, correction) in self.rows.cells(word) {
                    sums[class as usize] += correction.weight(self.rates) * value;
                }
                (one, other) = (sums[first], sums[second]);
            }
        }
        (sums[first], sums[second]) = (one, other);
    }

    /// Whether all corrections are equal for classes 0 and 1, so that [`add_equal`](Self::add_equal)
    /// adds them.
    pub fn are_equal(&self) -> bool {
        let equal = Pair { classes: (0, 1), sign: 1.0 };
        self.rows.slots() == 0 && self.pair.is_none_or(|pair| pair == equal)
    }

    /// Add w of each word times its value, times its log odds of each of two classes.
    pub fn add_equal(&self, sums: &mut [f64; 2], words: &[(WordId, f64)], odds: &[[f64; 2]]) {
        let [mut one, mut other] = *sums;
        for (&(word, value), odds) in words.iter().zip(odds) {
            let weight = self.of_first(word).weight(self.rates) * value;
            one += weight * odds[0];
            other += weight * odds[1];
        }
        *sums = [one, other];
    }

    /// Set the corrections of a word that has none, in the order of the classes.
    pub fn put(&mut self, word: WordId, cells: &[(ClassId, Correction)]) {
        if let [(first, one), (second, other)] = *cells
            && one != Correction::default()
        {
            let is = |sign: f64| other == one.of_second(sign);
            // Sums of 0 are both.
            let sign = match (is(1.0), is(-1.0)) {
                (true, true) => self.pair.map(|pair| pair.sign),
                (true, false) => Some(1.0),
                (false, true) => Some(-1.0),
                (false, false) => None,
            };
            let pair = sign.map(|sign| Pair { classes: (first, second), sign });
            if let Some(of_first) = pair.and_then(|pair| self.in_page(pair, word)) {
                *of_first = one;
                return;
            }
        }
        for &(class, correction) in cells {
            self.rows.reach(word);
            *self.rows.entry(word, class) = correction;
        }
    }

    /// The correction of a word for the first class of this pair, if the pages are of this pair.
    fn in_page(&mut self, pair: Pair, word: WordId) -> Option<&mut Correction> {
        if *self.pair.get_or_insert(pair) != pair {
            return None;
        }
        let place = word as usize / PAGE;
        if *self.page_of.element(place) == 0 {
            let added = self.pages.len().max(1);
            self.pages.extend_to(added + 1, Default::default());
            self.page_of[place] = added as u32;
        }
        self.of_first_mut(word)
    }

    /// Take a step for each of these classes: the gradient times the share of the class's place.
    /// A share of 0 takes no step.
    #[inline]
    pub fn step(
        &mut self,
        word: WordId,
        gradients: &[(ClassId, f64)],
        share: impl Fn(usize) -> f64,
    ) {
        if let [(first, gradient), (second, other)] = *gradients
            && other == -gradient
            && !self.is_unpaired(word)
        {
            let (one, other) = (share(0), share(1));
            if one == 0.0 && other == 0.0 {
                return;
            }
            let sign = if one == other { -1.0 } else { 1.0 };
            let pair = Pair { classes: (first, second), sign };
            if one == -sign * other
                && let Some(correction) = self.in_page(pair, word)
            {
                return correction.add(gradient * one);
            }
        }
        self.separate(word);
        self.rows.reach(word);
        for (place, &(class, gradient)) in gradients.iter().enumerate() {
            let share = share(place);
            if share != 0.0 {
                self.rows.entry(word, class).add(gradient * share);
            }
        }
    }

    /// Take a step back.
    pub fn take(
        &mut self,
        word: WordId,
        gradients: &[(ClassId, f64)],
        is_rounded: bool,
        share: impl Fn(usize) -> f64,
    ) {
        for (place, &(class, gradient)) in gradients.iter().enumerate() {
            let taken = gradient * share(place);
            if self.pair.is_some_and(|pair| pair.classes.0 == class)
                && let Some(correction) = self.of_first_mut(word)
            {
                correction.take(taken, is_rounded);
            }
            if self.rows.cell(word, class).is_some() {
                let correction = self.rows.entry(word, class);
                correction.take(taken, is_rounded);
                if *correction == Correction::default() {
                    self.rows.remove(word, class);
                }
            }
        }
    }

    /// Give a word a cell for each class.
    fn separate(&mut self, word: WordId) {
        for (class, correction) in self.paired(word).into_iter().flatten() {
            self.rows.reach(word);
            *self.rows.entry(word, class) = correction;
            self.clear_pair(word);
        }
    }

    /// Merge the corrections of a word with others.
    pub fn merge(&mut self, word: WordId, others: impl Iterator<Item = (ClassId, Correction)>) {
        let mut cells: Vec<_> = self.cells(word).collect();
        for (class, theirs) in others {
            match cells.iter_mut().find(|(known, _)| *known == class) {
                Some((_, ours)) => ours.merge(&theirs, self.rates),
                None => cells.push((class, theirs)),
            }
        }
        cells.sort_unstable_by_key(|&(class, _)| class);
        self.clear(word);
        self.put(word, &cells);
    }

    /// Remove the corrections of a word.
    pub fn clear(&mut self, word: WordId) {
        self.clear_pair(word);
        self.rows.clear(word);
    }

    /// Remove the corrections of a class.
    pub fn forget_class(&mut self, class: ClassId) {
        for word in 0..self.slots() as WordId {
            self.separate(word);
            if self.is_unpaired(word) {
                self.rows.remove(word, class);
            }
        }
    }

    /// Divide all gradients.
    pub fn divide(&mut self, divided: f64) {
        for page in 0..self.pages.len() {
            self.pages[page].iter_mut().for_each(|cell| *cell = cell.scaled(divided));
        }
        for word in 0..self.rows.slots() as WordId {
            if self.is_unpaired(word) {
                self.rows.change(word, |cell| *cell = cell.scaled(divided));
            }
        }
    }

    /// Prefetch the corrections of a word.
    #[inline]
    pub fn fetch(&self, word: WordId) {
        self.page(word).into_iter().for_each(fetch);
        self.rows.fetch(word);
    }

    /// Prefetch the rest of its cells, once the beginning is cached.
    #[inline]
    pub fn fetch_more(&self, word: WordId) {
        self.rows.fetch_more(word);
    }

    /// The arrays that grow with the words.
    pub fn arrays(&mut self) -> impl Iterator<Item = &mut dyn Piecewise> {
        let pages: [&mut dyn Piecewise; 2] = [&mut self.page_of, &mut self.pages];
        pages.into_iter().chain(self.rows.arrays())
    }

    pub fn size(&self) -> usize {
        size_of_val(&*self.page_of) + size_of_val(&*self.pages) + self.rows.size()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RATES: Rates = Rates { rate: 1.0, decay: 16.0, least: f64::NEG_INFINITY };

    fn corrections() -> Corrections {
        Corrections { rates: RATES, ..Corrections::default() }
    }

    fn step(corrections: &mut Corrections, word: WordId, gradients: &[(ClassId, f64)]) {
        corrections.step(word, gradients, |_| 0.5);
    }

    /// The corrections of a word that has a cell for each class.
    fn separate(gradients: &[&[(ClassId, f64)]]) -> Vec<(ClassId, Correction)> {
        let mut separate = corrections();
        // No pair has these classes.
        step(&mut separate, 9, &[(7, 0.1), (8, -0.1)]);
        gradients.iter().for_each(|gradients| step(&mut separate, 0, gradients));
        assert!(separate.is_unpaired(0));
        separate.cells(0).collect()
    }

    #[test]
    fn opposite_corrections_equal_those_of_separate_cells() {
        let steps: [&[(ClassId, f64)]; 4] =
            [&[(0, 0.5), (1, -0.5)], &[(0, -0.3), (1, 0.3)], &[(1, 0.2)], &[(0, 0.1), (1, -0.1)]];
        for count in 1..=steps.len() {
            let mut corrections = self::corrections();
            steps[..count].iter().for_each(|gradients| step(&mut corrections, 0, gradients));
            assert_eq!(corrections.is_unpaired(0), count > 2);
            let cells: Vec<_> = corrections.cells(0).collect();
            assert_eq!(cells, separate(&steps[..count]));
            let mut sums = [1.0, 1.0];
            corrections.add_to(&mut sums, &[(0, 1.0)], &[0.7]);
            assert_eq!(sums, [0, 1].map(|class| 1.0 + cells[class].1.weight(RATES) * 0.7));
            // Restored, merged and cleared.
            let mut restored = self::corrections();
            restored.put(0, &cells);
            assert_eq!(restored.is_unpaired(0), count > 2);
            restored.merge(0, cells.iter().copied());
            let doubled: Vec<_> = restored.cells(0).map(|(_, cell)| cell.squares).collect();
            assert_eq!(doubled, [0, 1].map(|class| 2.0 * cells[class].1.squares));
            restored.forget_class(0);
            assert_eq!(restored.cells(0).map(|(class, _)| class).collect::<Vec<_>>(), [1]);
            restored.clear(0);
            assert_eq!(restored.cells(0).count(), 0);
        }
    }

    #[test]
    fn equal_corrections_equal_those_of_separate_cells() {
        let steps = [[(0, 0.5), (1, -0.5)], [(0, -0.3), (1, 0.3)]];
        let opposite = |place| if place == 0 { 0.25 } else { -0.25 };
        let (mut corrections, mut separate) = (self::corrections(), self::corrections());
        step(&mut separate, 9, &[(7, 0.1), (8, -0.1)]);
        for gradients in &steps {
            corrections.step(0, gradients, opposite);
            separate.step(0, gradients, opposite);
        }
        assert!(corrections.are_equal() && !separate.are_equal());
        assert!(!corrections.is_unpaired(0) && separate.is_unpaired(0));
        let cells: Vec<_> = corrections.cells(0).collect();
        assert_eq!(cells, separate.cells(0).collect::<Vec<_>>());
        assert_eq!(cells[0].1, cells[1].1);
        let mut sums = [1.0, 2.0];
        corrections.add_equal(&mut sums, &[(0, 3.0), (1, 1.0)], &[[0.5, -0.5], [9.0, 9.0]]);
        let added = cells[0].1.weight(RATES) * 3.0 * 0.5;
        assert_eq!(sums, [1.0 + added, 2.0 - added]);
        // Restored, and taken back.
        let mut restored = self::corrections();
        restored.put(0, &cells);
        assert!(restored.are_equal() && restored.cells(0).eq(cells.iter().copied()));
        // Additive steps leave the pages.
        step(&mut restored, 0, &steps[0]);
        assert!(restored.is_unpaired(0));
        for gradients in &steps {
            corrections.take(0, gradients, false, opposite);
        }
        assert_eq!(corrections.cells(0).count(), 0);
    }

    #[test]
    fn steps_are_taken_back_in_any_order() {
        let steps: [&[(ClassId, f64)]; 4] =
            [&[(0, 0.5), (1, -0.5)], &[(0, -0.3), (1, 0.3)], &[(1, 0.2)], &[(0, 0.1), (1, -0.1)]];
        for count in 1..=steps.len() {
            let mut corrections = self::corrections();
            step(&mut corrections, 0, &[(0, 0.7), (1, -0.7)]);
            let before: Vec<_> = corrections.cells(0).collect();
            steps[..count].iter().for_each(|gradients| step(&mut corrections, 0, gradients));
            for gradients in &steps[..count] {
                corrections.take(0, gradients, false, |_| 0.5);
            }
            assert_eq!(corrections.cells(0).collect::<Vec<_>>(), before);
            corrections.take(0, &[(0, 0.7), (1, -0.7)], false, |_| 0.5);
            assert_eq!(corrections.cells(0).count(), 0);
            // What is not there is not taken.
            corrections.take(0, &[(0, 0.7), (1, -0.7)], false, |_| 0.5);
            assert_eq!(corrections.cells(0).count(), 0);
        }
    }
}
