//! A token with the key and the hash that a vocabulary looks up.

use std::hash::{BuildHasher, Hasher};

/// Bytes of a short token's key, and of the blocks in which text is read.
pub const BLOCK: usize = 16;

/// The last byte of the key of a token of `BLOCK` bytes or more.
pub const LONG: u128 = 0xff << 120;

/// A token on its way from the tokeniser to the vocabulary.
#[derive(Clone, Copy, Debug)]
pub struct Token<'a> {
    pub bytes: &'a [u8],
    /// Up to 15 bytes: the bytes, padded with zeros, and their number in the last byte; equal keys
    /// mean equal tokens. Longer tokens: the hash below [`LONG`]; different keys mean different
    /// tokens.
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

    /// A token in a buffer that has room for a block after the token's start.
    #[inline(always)]
    pub fn within<S: BuildHasher>(hasher: &S, buffer: &'a [u8], start: usize, end: usize) -> Self {
        let bytes = &buffer[start..end];
        match buffer[start..].first_chunk::<BLOCK>() {
            Some(block) if bytes.len() < BLOCK => Self::short(hasher, bytes, *block),
            _ => Self::long(hasher, bytes),
        }
    }

    /// A token of `first` and the bytes from `start` to `end` of a buffer that has room for a block
    /// after `start`. The token is written to `block`; None if it is long.
    #[inline(always)]
    pub fn prefixed<S: BuildHasher>(
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

    /// Not inlined, because long tokens are rare.
    #[inline(never)]
    fn long<S: BuildHasher>(hasher: &S, bytes: &'a [u8]) -> Self {
        let mut state = hasher.build_hasher();
        state.write(bytes);
        let hash = state.finish();
        Token { bytes, key: LONG | u128::from(hash) << 56, hash }
    }

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
