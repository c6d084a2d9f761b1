//! SipHash-2-4 (Aumasson, Bernstein 2012): without the key, nobody can find words of equal hashes.
//!
//! The algorithm of the standard library may change with the compiler; snapshots depend on this one.

/// A key. The key of zeros is public.
pub type Key = [u64; 2];

#[inline(always)]
fn rounds(v: &mut [u64; 4], count: usize) {
    for _ in 0..count {
        v[0] = v[0].wrapping_add(v[1]);
        v[2] = v[2].wrapping_add(v[3]);
        v[1] = v[1].rotate_left(13) ^ v[0];
        v[3] = v[3].rotate_left(16) ^ v[2];
        v[0] = v[0].rotate_left(32);
        v[2] = v[2].wrapping_add(v[1]);
        v[0] = v[0].wrapping_add(v[3]);
        v[1] = v[1].rotate_left(17) ^ v[2];
        v[3] = v[3].rotate_left(21) ^ v[0];
        v[2] = v[2].rotate_left(32);
    }
}

/// The hash of some bytes.
pub fn siphash([first, second]: Key, bytes: &[u8]) -> u64 {
    let mut v = [
        first ^ 0x736f_6d65_7073_6575,
        second ^ 0x646f_7261_6e64_6f6d,
        first ^ 0x6c79_6765_6e65_7261,
        second ^ 0x7465_6462_7974_6573,
    ];
    let (blocks, rest) = bytes.as_chunks::<8>();
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    last[7] = bytes.len() as u8;
    for block in blocks.iter().chain([&last]) {
        let block = u64::from_le_bytes(*block);
        v[3] ^= block;
        rounds(&mut v, 2);
        v[0] ^= block;
    }
    v[2] ^= 0xff;
    rounds(&mut v, 4);
    v[0] ^ v[1] ^ v[2] ^ v[3]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hashes_are_those_of_the_paper() {
        // Key 00 01 … 0f and messages 00 01 …, from the authors' test vectors.
        let key = [0x0706_0504_0302_0100, 0x0f0e_0d0c_0b0a_0908];
        let message: Vec<u8> = (0..15).collect();
        assert_eq!(siphash(key, b""), 0x726f_db47_dd0e_0e31);
        assert_eq!(siphash(key, &message[..1]), 0x74f8_39c5_93dc_67fd);
        assert_eq!(siphash(key, &message[..8]), 0x93f5_f579_9a93_2462);
        assert_eq!(siphash(key, &message), 0xa129_ca61_49be_45e5);
    }
}
