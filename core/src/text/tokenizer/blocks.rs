//! Fold and classify sixteen ASCII bytes at once.

use crate::text::token::BLOCK;
use wide::bytemuck::cast;
use wide::i8x16;

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

/// Folds letters by `case_bit` and classifies bytes: as white space if `SPACES`, otherwise as `[\w-]`.
/// The folding and the class of a byte that is not ASCII are undefined.
#[inline(always)]
pub(super) fn classify<const SPACES: bool>(block: u128, case_bit: u8) -> Block {
    // Bytes are compared as signed, so non-ASCII bytes are below all others.
    let all = |byte: u8| i8x16::splat(byte as i8);
    let between = |bytes: i8x16, first: u8, last: u8| {
        bytes.simd_gt(all(first - 1)) & bytes.simd_lt(all(last + 1))
    };
    let bits = |bytes: i8x16| bytes.to_bitmask() as u16;
    let bytes: i8x16 = cast(block.to_le_bytes());
    let letter = between(bytes | all(0x20), b'a', b'z');
    let hyphen = bytes.simd_eq(all(b'-'));
    let class = if SPACES {
        between(bytes, 0x09, 0x0d) | between(bytes, 0x1c, 0x1f) | bytes.simd_eq(all(b' '))
    } else {
        letter | between(bytes, b'0', b'9') | bytes.simd_eq(all(b'_')) | hyphen
    };
    let folded = bytes | letter & all(case_bit);
    Block {
        folded: u128::from_le_bytes(cast(folded)),
        bits: bits(class),
        other: bits(bytes),
        hyphens: bits(hyphen),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::unicode::{is_space, is_word};

    #[test]
    fn each_byte_is_classified() {
        for (byte, case_bit) in (0..=255).flat_map(|byte| [(byte, 0), (byte, 0x20)]) {
            let block = u128::from_le_bytes([byte; BLOCK]) >> 8;
            let check = |block: Block| (block.folded, block.bits, block.other, block.hyphens);
            let words = check(classify::<false>(block, case_bit));
            let spaces = check(classify::<true>(block, case_bit));
            let filled = |is: bool| if is { u16::MAX >> 1 } else { 0 };
            assert_eq!((words.2, spaces.2), (filled(byte >= 0x80), filled(byte >= 0x80)));
            // The folding and the class of a non-ASCII byte are never used.
            if byte < 0x80 {
                let character = char::from(byte);
                let run = is_word(character) || byte == b'-';
                let lower = if case_bit == 0 { byte } else { byte.to_ascii_lowercase() };
                let folded = u128::from_le_bytes([lower; BLOCK]) >> 8;
                let hyphens = filled(byte == b'-');
                assert_eq!(words, (folded, filled(run), 0, hyphens), "{byte:#x}");
                let space = filled(is_space(character));
                assert_eq!(spaces, (folded, space, 0, hyphens), "{byte:#x}");
            }
        }
    }
}
