//! Room for arrays that grow with the stream, without ever copying a large one; and asking the memory
//! for what will be read of them soon.
//!
//! An array that doubles copies itself, and a copy of tens of megabytes is a pause. So an array
//! past its first pages is given a large piece of address space at once. Of that, the machine uses
//! the pages that are written to. Past that piece, the allocator moves pages and copies nothing.

/// Arrays of fewer bytes are copied in some microseconds.
const SMALL: usize = 1 << 16;

/// Bytes of address space given at once.
const PIECE: usize = 1 << 26;

/// Makes room for so many elements.
#[inline]
pub fn make_room<T>(array: &mut Vec<T>, elements: usize) {
    if array.capacity() < elements {
        enlarge(array, elements - array.len());
    }
}

#[cold]
fn enlarge<T>(array: &mut Vec<T>, more: usize) {
    let bytes = array.len().saturating_mul(size_of::<T>());
    if (SMALL..PIECE).contains(&bytes) {
        let wanted = PIECE / size_of::<T>().max(1) - array.len();
        // Where the machine refuses it, the array grows as any other.
        if wanted >= more && array.try_reserve_exact(wanted).is_ok() {
            return;
        }
    }
    array.reserve(more);
}

/// Asks for the line of the cache that a value begins in. Nothing waits for it, and nothing but the
/// time of a later reading depends on it.
#[inline(always)]
pub fn fetch<T>(value: &T) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        #[allow(unsafe_code)]
        // SAFETY: SSE is part of every x86-64 processor, and the address is that of a value.
        unsafe {
            _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(value).cast());
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = value;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_large_array_stays_where_it_is() {
        let mut array: Vec<u64> = Vec::new();
        make_room(&mut array, 3);
        assert!((3..100).contains(&array.capacity()));
        array.resize(SMALL / 8, 1);
        make_room(&mut array, 2 * SMALL / 8);
        let place = array.as_ptr();
        for number in 0..1_000_000 {
            let elements = array.len() + 1;
            make_room(&mut array, elements);
            array.push(number);
        }
        assert_eq!((array.as_ptr(), array[SMALL / 8]), (place, 0));
    }
}
