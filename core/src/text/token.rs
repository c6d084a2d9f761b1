//! A token with what finds it in a vocabulary: its key and its hash.

use std::hash::{BuildHasher, Hasher};

/// Bytes that are handled at once.
pub const BLOCK: usize = 16;

/// The last byte of the key of a token of `BLOCK` bytes or more.
pub const LONG: u128 = 0xff << 120;

/// A token on its way from the tokeniser to the vocabulary.
#[derive(Clone, Copy, Debug)]
pub struct Token<'a> {
    pub bytes: &'a [u8],
    /// Up to 15 bytes: the bytes, padded with zeros, and their number in the last byte, so that
    /// equal keys are equal tokens. Longer ones: the hash under [`LONG`], so that tokens with
    /// different keys are different.
    pub key: u128,
    pub hash: u64,
}

impl<'a> Token<'a> {
    #[inline]
    pub fn new<S: BuildHasher>(hasher: &S, bytes: &'a [u8]) -> Self {
        if bytes.len() < BLOCK {
            let mut block = [0; BLOCK];
            block[..bytes.len()].copy_from_slice(bytes);
            Self::short(hasher, bytes, block)
        } else {
            Self::long(hasher, bytes)
        }
    }

    /// A token that lies in a buffer with room for a block behind its start.
    #[inline(always)]
    pub fn within<S: BuildHasher>(hasher: &S, buffer: &'a [u8], start: usize, end: usize) -> Self {
        let bytes = &buffer[start..end];
        match buffer[start..].first_chunk::<BLOCK>() {
            Some(block) if bytes.len() < BLOCK => Self::short(hasher, bytes, *block),
            _ => Self::long(hasher, bytes),
        }
    }

    /// A token of `first` and the bytes from `start` to `end`, which lie in a buffer with room for
    /// a block behind their start. Such a token is written to `block`; None if it is a long one.
    #[inline(always)]
    pub fn behind<S: BuildHasher>(
        hasher: &S,
        first: u8,
        buffer: &[u8],
        start: usize,
        end: usize,
        block: &'a mut [u8; BLOCK],
    ) -> Option<Self> {
        let length = end - start + 1;
        let rest = buffer[start..].first_chunk::<BLOCK>()?;
        if length >= BLOCK {
            return None;
        }
        *block = (u128::from_le_bytes(*rest) << 8 | u128::from(first)).to_le_bytes();
        Some(Self::short(hasher, &block[..length], *block))
    }

    #[inline(always)]
    fn short<S: BuildHasher>(hasher: &S, bytes: &'a [u8], block: [u8; BLOCK]) -> Self {
        let length = bytes.len();
        let kept = u128::from_le_bytes(block) & ((1 << (8 * length)) - 1);
        let key = kept | (length as u128) << 120;
        Token { bytes, key, hash: hash_key(hasher, key) }
    }

    /// Kept out of line, for long tokens are few.
    #[inline(never)]
    fn long<S: BuildHasher>(hasher: &S, bytes: &'a [u8]) -> Self {
        let mut state = hasher.build_hasher();
        state.write(bytes);
        let hash = state.finish();
        Token { bytes, key: LONG | u128::from(hash) << 56, hash }
    }

    #[inline]
    pub fn is_short(&self) -> bool {
        self.bytes.len() < BLOCK
    }
}

/// The hash of a short token.
#[inline(always)]
pub fn hash_key<S: BuildHasher>(hasher: &S, key: u128) -> u64 {
    let mut state = hasher.build_hasher();
    state.write_u64(key as u64);
    state.write_u64((key >> 64) as u64);
    state.finish()
}
