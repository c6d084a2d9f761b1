//! Small whole numbers, told from others without a branch.

/// 2^52: numbers from here on are whole, and the lowest bits of one say by how much it is above.
const WHOLE: f64 = 4_503_599_627_370_496.0;

/// The whole number next to this one, and whether it is this one. Of what is below 0 or not far
/// above 2^52, no number, or nothing finite, it is a very large one.
///
/// A conversion to an integer would have to look for what does not fit, which takes longer.
#[inline(always)]
pub fn small_whole(number: f64) -> (u64, bool) {
    let above = number + WHOLE;
    (above.to_bits().wrapping_sub(WHOLE.to_bits()), above - WHOLE == number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_whole_numbers_are_found() {
        for number in [0, 1, 2, 7, 1 << 16, (1 << 20) - 1, 1 << 20, u32::MAX] {
            assert_eq!(small_whole(f64::from(number)), (u64::from(number), true));
        }
        assert_eq!(small_whole(-0.0), (0, true));
        for number in [0.5, 0.1, 1e-300, 5e-324, 1.5, 1_048_575.999, 3.0 - 4e-16] {
            assert!(!small_whole(number).1, "{number}");
        }
        let far = [-1.0, -0.6, -3.5, -1e300, 1e15, 1e17, 1e300, f64::INFINITY, f64::NEG_INFINITY];
        for number in far.into_iter().chain([f64::NAN, -f64::NAN]) {
            let (found, is_whole) = small_whole(number);
            assert!(!is_whole || found > u64::from(u32::MAX), "{number}");
        }
    }
}
