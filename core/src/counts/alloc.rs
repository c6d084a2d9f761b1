//! Arrays that grow with the stream without copying large blocks, and memory prefetch.
//!
//! A doubling array copies itself, and copying tens of megabytes is a pause. An array beyond its
//! first pages reserves a large piece of address space instead; the system uses only pages that are
//! written. Beyond that piece the allocator moves pages and copies nothing.

/// Copying fewer bytes takes microseconds.
const SMALL: usize = 1 << 16;

/// Bytes of address space reserved together.
const PIECE: usize = 1 << 26;

/// Reserves capacity for `wanted` elements.
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
        // If the system refuses, the array grows like any other.
        if wanted >= more && array.try_reserve_exact(wanted).is_ok() {
            return;
        }
    }
    array.reserve(more);
}

/// The element at an index; missing elements are added, and a large array is not copied.
#[inline]
pub fn element<T: Clone + Default>(array: &mut Vec<T>, index: usize) -> &mut T {
    if index >= array.len() {
        lengthen(array, index + 1);
    }
    &mut array[index]
}

/// Not inlined, so that learning stays in registers.
#[cold]
fn lengthen<T: Clone + Default>(array: &mut Vec<T>, length: usize) {
    make_room(array, length);
    array.resize(length, T::default());
}

/// Heap size of an array in bytes.
pub fn heap_size<T>(array: &Vec<T>) -> usize {
    array.capacity() * size_of::<T>()
}

/// Prefetches the cache line where a value begins. Nothing waits for it; only the time of a later
/// read depends on it.
#[inline(always)]
pub fn fetch<T>(value: &T) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        #[allow(unsafe_code)]
        // SAFETY: SSE is part of every x86-64 processor, and the address is valid.
        unsafe {
            _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(value).cast());
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = value;
}
