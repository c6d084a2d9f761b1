//! Arrays that are copied piece by piece while others change them.
//!
//! Copying a large store at once is a pause. So a copy *begins*, in constant time for each array, and
//! the pieces follow, a few at a time. Whoever changes an element before the copy has its piece saves
//! the piece first. The result is therefore the array at the moment of the beginning. Reading costs
//! nothing, and changing an element costs one predictable branch.

use crate::counts::alloc::make_room;
use std::any::Any;
use std::collections::HashMap;
use std::ops::{Deref, Index, IndexMut, Range};
use std::slice::SliceIndex;

/// Bytes of a piece. A message changes some hundred pieces at most, in less than a millisecond.
const PIECE_BYTES: usize = 1 << 12;

/// An array whose elements change only through methods that respect copies in progress.
pub struct Array<T> {
    items: Vec<T>,
    /// The copies in progress: at most one for each purpose.
    copies: Vec<Copy<T>>,
}

/// The purpose of a copy: a copy ends the copies before it for the same purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    Save,
    Refresh,
}

/// A copy in progress.
struct Copy<T> {
    /// The number of the copy: the same for all arrays of a store.
    number: u64,
    purpose: Purpose,
    /// The first elements, up to a piece, as they were at the beginning.
    items: Vec<T>,
    /// The number of elements at the beginning.
    length: usize,
    /// Later pieces that have changed since, as they were at the beginning.
    saved: HashMap<usize, Box<[T]>>,
    /// The elements of the array itself, while its owner is cloned without them.
    parked: Vec<T>,
}

/// An array of any type, as part of a store that is copied.
pub trait Piecewise: Any {
    /// Begins a copy of this number, and parks the elements, so that a clone is empty.
    fn begin(&mut self, number: u64, purpose: Purpose);

    /// Returns the parked elements.
    fn unpark(&mut self);

    /// Copies pieces of at most about `bytes` bytes; returns the bytes left to copy now, or None if
    /// this is another array than at the beginning of the copy.
    fn copy_some(&mut self, number: u64, bytes: usize) -> Option<usize>;

    /// Whether a copy of this number is complete.
    fn is_copied(&self, number: u64) -> bool;

    /// Ends the copy of this number: moves its elements into the empty array `to`.
    fn finish(&mut self, number: u64, to: &mut dyn Piecewise);
}

impl<T> Array<T> {
    const PIECE: usize = if size_of::<T>() == 0 || size_of::<T>() > PIECE_BYTES {
        1
    } else {
        PIECE_BYTES / size_of::<T>()
    };
}

impl<T: Clone> Array<T> {
    pub fn push(&mut self, item: T) {
        let length = self.items.len() + 1;
        make_room(&mut self.items, length);
        self.items.push(item);
    }

    /// Removes all elements, and completes copies in progress.
    pub fn clear(&mut self) {
        let items = std::mem::take(&mut self.items);
        for copy in &mut self.copies {
            while copy.items.len() < copy.length {
                copy.take_piece(&items);
            }
        }
    }

    /// Lengthens the array.
    pub fn extend_to(&mut self, length: usize, item: T) {
        make_room(&mut self.items, length);
        if length > self.items.len() {
            self.items.resize(length, item);
        }
    }

    /// The element at an index; missing elements are added.
    #[inline]
    pub fn element(&mut self, index: usize) -> &mut T
    where
        T: Default,
    {
        if index >= self.items.len() {
            self.extend_to(index + 1, T::default());
        }
        &mut self[index]
    }

    #[inline]
    pub fn get_mut(&mut self, index: usize) -> Option<&mut T> {
        if index < self.items.len() { Some(&mut self[index]) } else { None }
    }

    /// All elements, of which only those in `range` may be changed.
    #[inline(always)]
    pub fn changing(&mut self, range: Range<usize>) -> &mut [T] {
        if !self.copies.is_empty() {
            self.save(range);
        }
        &mut self.items
    }

    #[cold]
    fn save(&mut self, range: Range<usize>) {
        self.copies.iter_mut().for_each(|copy| copy.save(&self.items, range.clone()));
    }
}

impl<T: Clone> Copy<T> {
    /// Copies the next piece, if there is one.
    fn take_piece(&mut self, items: &[T]) {
        let start = self.items.len();
        let end = self.length.min(start + Array::<T>::PIECE);
        if start == end {
            return; // all of it is copied, and the array may be shorter now
        }
        match self.saved.remove(&(start / Array::<T>::PIECE)) {
            Some(saved) => self.items.extend(saved),
            None => self.items.extend_from_slice(&items[start..end]),
        }
    }

    /// Saves the pieces of the elements in `range`, unless the copy has them.
    fn save(&mut self, items: &[T], range: Range<usize>) {
        let end = range.end.min(self.length);
        if end <= self.items.len() || range.start >= end {
            return;
        }
        let piece = Array::<T>::PIECE;
        let first = range.start.max(self.items.len()) / piece;
        for place in first..=(end - 1) / piece {
            let elements = place * piece..self.length.min((place + 1) * piece);
            self.saved.entry(place).or_insert_with(|| items[elements].into());
        }
    }
}

impl<T: Clone + Send + Sync + 'static> Piecewise for Array<T> {
    fn begin(&mut self, number: u64, purpose: Purpose) {
        let (length, parked) = (self.items.len(), std::mem::take(&mut self.items));
        let items = Vec::with_capacity(length);
        self.copies.retain(|copy| copy.purpose != purpose);
        self.copies.push(Copy { number, purpose, items, length, saved: HashMap::new(), parked });
    }

    fn unpark(&mut self) {
        if let Some(copy) = self.copies.last_mut() {
            self.items = std::mem::take(&mut copy.parked);
        }
    }

    fn copy_some(&mut self, number: u64, bytes: usize) -> Option<usize> {
        let copy = self.copies.iter_mut().find(|copy| copy.number == number)?;
        let pieces = bytes.div_ceil(PIECE_BYTES);
        for _ in 0..pieces {
            copy.take_piece(&self.items);
        }
        Some((copy.length - copy.items.len()) * size_of::<T>().max(1))
    }

    fn is_copied(&self, number: u64) -> bool {
        let copy = self.copies.iter().find(|copy| copy.number == number);
        copy.is_some_and(|copy| copy.items.len() == copy.length)
    }

    fn finish(&mut self, number: u64, to: &mut dyn Piecewise) {
        let place = self.copies.iter().position(|copy| copy.number == number);
        if let (Some(place), Some(to)) = (place, (to as &mut dyn Any).downcast_mut()) {
            let Array { items, .. }: &mut Self = to;
            *items = self.copies.swap_remove(place).items;
        }
    }
}

impl<T> From<Vec<T>> for Array<T> {
    fn from(items: Vec<T>) -> Self {
        Array { items, copies: Vec::new() }
    }
}

impl<T> FromIterator<T> for Array<T> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        Vec::from_iter(items).into()
    }
}

impl<T> Default for Array<T> {
    fn default() -> Self {
        Vec::new().into()
    }
}

/// A clone has no copies in progress.
impl<T: Clone> Clone for Array<T> {
    fn clone(&self) -> Self {
        self.items.clone().into()
    }
}

impl<T> Deref for Array<T> {
    type Target = [T];

    #[inline(always)]
    fn deref(&self) -> &[T] {
        &self.items
    }
}

impl<T, I: SliceIndex<[T]>> Index<I> for Array<T> {
    type Output = I::Output;

    #[inline(always)]
    fn index(&self, index: I) -> &I::Output {
        &self.items[index]
    }
}

impl<T: Clone> IndexMut<usize> for Array<T> {
    #[inline(always)]
    fn index_mut(&mut self, index: usize) -> &mut T {
        &mut self.changing(index..index + 1)[index]
    }
}

impl<T: Clone> IndexMut<Range<usize>> for Array<T> {
    #[inline(always)]
    fn index_mut(&mut self, range: Range<usize>) -> &mut [T] {
        &mut self.changing(range.clone())[range]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers of some pieces, and what they are when a copy begins.
    fn begun(number: u64) -> (Array<u32>, Array<u32>, Vec<u32>) {
        let before: Vec<u32> = (0..5_000).collect();
        let mut array = Array::from(before.clone());
        array.begin(number, Purpose::Save);
        let to = array.clone();
        array.unpark();
        assert!(to.is_empty() && array[..] == before);
        (array, to, before)
    }

    #[test]
    fn a_copy_has_the_elements_of_its_beginning_whatever_changes_meanwhile() {
        for step in 0..8 {
            let (mut array, mut to, before) = begun(7);
            let mut left = usize::MAX;
            let mut changed = 1_usize;
            while left > 0 {
                for _ in 0..step {
                    changed = changed * 2_654_435_761 % 5_003;
                    if changed < array.len() {
                        array[changed] += 1;
                    }
                    array.push(9);
                    array[100 * step..100 * step + 50].fill(1);
                }
                left = array.copy_some(7, PIECE_BYTES).expect("the copy goes on");
            }
            let now = array.to_vec();
            array.finish(7, &mut to);
            assert_eq!(to[..], before);
            assert_eq!(array[..], now);
            assert_eq!(now == before, step == 0);
        }
    }

    #[test]
    fn another_array_in_the_same_place_ends_a_copy() {
        let (mut array, _, _) = begun(7);
        assert_eq!(array.copy_some(8, 1), None);
        array = Array::default();
        assert_eq!(array.copy_some(7, 1), None);
    }

    #[test]
    fn a_cleared_array_completes_its_copy() {
        let (mut array, mut to, before) = begun(7);
        array.copy_some(7, PIECE_BYTES);
        array[4_000] = 1;
        array.clear();
        assert_eq!((array.len(), array.copy_some(7, 1)), (0, Some(0)));
        array.push(3);
        assert_eq!(array.copy_some(7, 1), Some(0));
        array.finish(7, &mut to);
        assert_eq!((&to[..], &array[..]), (&before[..], &[3][..]));
    }

    #[test]
    fn copies_of_two_purposes_do_not_disturb_each_other() {
        let (mut array, mut first, before) = begun(7);
        array.copy_some(7, PIECE_BYTES);
        array[10] = 1;
        array[4_000] = 2;
        let between = array.to_vec();
        array.begin(8, Purpose::Refresh);
        let mut second = array.clone();
        array.unpark();
        array[20] = 3;
        array[4_001] = 4;
        let after = array.to_vec();
        assert_eq!((array.copy_some(7, 1 << 20), array.copy_some(8, 1 << 20)), (Some(0), Some(0)));
        array.finish(7, &mut first);
        array.finish(8, &mut second);
        assert_eq!((&first[..], &second[..]), (&before[..], &between[..]));
        assert_eq!(array[..], after);
    }

    #[test]
    fn an_empty_array_has_a_copy() {
        let mut array = Array::<Box<[u8]>>::default();
        array.begin(1, Purpose::Save);
        array.unpark();
        array.push(Box::from([1]));
        assert_eq!(array.copy_some(1, 1), Some(0));
        let mut to = Array::<Box<[u8]>>::from(vec![Box::from([2])]);
        array.finish(1, &mut to);
        assert_eq!((to.len(), array.len()), (0, 1));
    }
}
