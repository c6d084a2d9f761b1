//! Fold and classify sixteen ASCII bytes at once.

use crate::text::token::BLOCK;

/// Sixteen bytes, folded and classified as ASCII.
pub(super) struct Block {
    pub(super) folded: u128,
    /// One bit a byte: `[\w-]`, or white space.
    pub(super) bits: u16,
    /// One bit a byte: not ASCII.
    pub(super) other: u16,
    /// One bit a byte: a hyphen.
    pub(super) hyphens: u16,
}

/// The 16 bytes from `at` on, padded with zeros at the end of the text; and their number.
#[inline(always)]
pub(super) fn block_at(text: &[u8], at: usize) -> (u128, usize) {
    let rest = &text[at..];
    if let Some(block) = rest.first_chunk::<BLOCK>() {
        (u128::from_le_bytes(*block), BLOCK)
    } else if let Some(block) = text.last_chunk::<BLOCK>() {
        // Cheaper than copying a varying number of bytes.
        (u128::from_le_bytes(*block).unbounded_shr(8 * (BLOCK - rest.len()) as u32), rest.len())
    } else {
        let mut block = [0; BLOCK];
        block[..rest.len()].copy_from_slice(rest);
        (u128::from_le_bytes(block), rest.len())
    }
}

#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(super) fn classify<const SPACES: bool>(block: u128, case_bit: u8) -> Block {
    #[allow(unsafe_code)]
    // SAFETY: SSE2 is part of every x86-64 processor.
    unsafe {
        classify_sse2::<SPACES>(block, case_bit)
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "sse2")]
#[inline]
fn classify_sse2<const SPACES: bool>(block: u128, case_bit: u8) -> Block {
    use std::arch::x86_64::{
        __m128i, _mm_and_si128, _mm_cmpeq_epi8, _mm_cmpgt_epi8, _mm_cmplt_epi8, _mm_cvtsi128_si64,
        _mm_movemask_epi8, _mm_or_si128, _mm_set_epi64x, _mm_set1_epi8, _mm_unpackhi_epi64,
    };
    // Bytes are compared as signed, so non-ASCII bytes are below all others.
    let all = |byte: u8| _mm_set1_epi8(byte as i8);
    let between = |bytes: __m128i, first: u8, last: u8| {
        let above = _mm_cmpgt_epi8(bytes, all(first - 1));
        _mm_and_si128(above, _mm_cmplt_epi8(bytes, all(last + 1)))
    };
    let bytes = _mm_set_epi64x((block >> 64) as i64, block as i64);
    let letter = between(_mm_or_si128(bytes, all(0x20)), b'a', b'z');
    let folded = _mm_or_si128(bytes, _mm_and_si128(letter, all(case_bit)));
    let hyphen = _mm_cmpeq_epi8(bytes, all(b'-'));
    let class = if SPACES {
        let control = _mm_or_si128(between(bytes, 0x09, 0x0d), between(bytes, 0x1c, 0x1f));
        _mm_or_si128(control, _mm_cmpeq_epi8(bytes, all(b' ')))
    } else {
        let digit = between(bytes, b'0', b'9');
        let mark = _mm_or_si128(_mm_cmpeq_epi8(bytes, all(b'_')), hyphen);
        _mm_or_si128(_mm_or_si128(letter, digit), mark)
    };
    let low = _mm_cvtsi128_si64(folded) as u64;
    let high = _mm_cvtsi128_si64(_mm_unpackhi_epi64(folded, folded)) as u64;
    Block {
        folded: u128::from(high) << 64 | u128::from(low),
        bits: _mm_movemask_epi8(class) as u16,
        other: _mm_movemask_epi8(bytes) as u16,
        hyphens: _mm_movemask_epi8(hyphen) as u16,
    }
}

#[cfg(not(target_arch = "x86_64"))]
pub(super) use classify_portably as classify;

/// [`classify`] for any machine; compilers vectorise the loop.
#[cfg(any(test, not(target_arch = "x86_64")))]
#[inline(always)]
pub(super) fn classify_portably<const SPACES: bool>(block: u128, case_bit: u8) -> Block {
    let bytes = block.to_le_bytes();
    let letter = |byte: u8| (byte | 0x20).wrapping_sub(b'a') < 26;
    let folded = bytes.map(|byte| byte | if letter(byte) { case_bit } else { 0 });
    let class = bytes.map(|byte| {
        u8::from(if SPACES {
            byte == b' ' || byte.wrapping_sub(0x09) < 5 || byte.wrapping_sub(0x1c) < 4
        } else {
            letter(byte) | (byte.wrapping_sub(b'0') < 10) | (byte == b'_') | (byte == b'-')
        })
    });
    Block {
        folded: u128::from_le_bytes(folded),
        bits: gather(class),
        other: gather(bytes.map(|byte| byte >> 7)),
        hyphens: gather(bytes.map(|byte| u8::from(byte == b'-'))),
    }
}

/// Gather the lowest bits of sixteen bytes, each 0 or 1.
#[cfg(any(test, not(target_arch = "x86_64")))]
#[inline(always)]
fn gather(bytes: [u8; BLOCK]) -> u16 {
    let bytes = u128::from_le_bytes(bytes);
    let half = |bytes: u64| bytes.wrapping_mul(0x0102_0408_1020_4080) >> 56;
    (half(bytes as u64) | half((bytes >> 64) as u64) << 8) as u16
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::unicode::{is_space, is_word};

    #[test]
    fn both_classifiers_agree() {
        for byte in 0..=255 {
            for case_bit in [0, 0x20] {
                let block = u128::from_le_bytes([byte; BLOCK]) >> 8;
                let check = |block: Block| (block.folded, block.bits, block.other, block.hyphens);
                let folded = |spaces: bool| {
                    let (a, b) = if spaces {
                        (
                            classify::<true>(block, case_bit),
                            classify_portably::<true>(block, case_bit),
                        )
                    } else {
                        (
                            classify::<false>(block, case_bit),
                            classify_portably::<false>(block, case_bit),
                        )
                    };
                    let (a, b) = (check(a), check(b));
                    // The folding and the class of a non-ASCII byte are never used.
                    if byte < 0x80 {
                        assert_eq!(a, b, "{byte:#x}");
                    }
                    assert_eq!(a.2, b.2, "{byte:#x}");
                    a
                };
                let (words, spaces) = (folded(false), folded(true));
                if byte < 0x80 {
                    let character = char::from(byte);
                    let run = is_word(character) || byte == b'-';
                    let space = is_space(character);
                    assert_eq!(
                        (words.1 & 1, spaces.1 & 1),
                        (run.into(), space.into()),
                        "{byte:#x}"
                    );
                    let lower = if case_bit == 0 { byte } else { byte.to_ascii_lowercase() };
                    assert_eq!(words.0 as u8, lower);
                }
            }
        }
    }
}
