//! The length of a message as tokens.

use std::io::Write;
use std::ops::ControlFlow;

use super::giving::Give;
use super::runs::characters;
use super::scratch::{SLACK, Scratch};

/// Steps to a doubling of the length.
const STEPS: [u32; 3] = [1, 2, 4];

/// Gives a token for each fineness: `k:b` says that of steps by the k-th root of 2, the number of
/// characters and one more reaches the b-th.
///
/// Coarse steps are learned soon, fine ones tell more. An empty text has none.
pub(super) fn give(scratch: &mut Scratch, len: usize, giver: &mut impl Give) -> ControlFlow<()> {
    if len == 0 {
        return ControlFlow::Continue(());
    }
    let doublings = ((characters(&scratch.folded[..len]) + 1) as f64).log2();
    let token = &mut scratch.joined;
    STEPS.into_iter().try_for_each(|steps| {
        let reached = (f64::from(steps) * doublings) as u32;
        token.clear();
        // Writing to a buffer in memory does not fail.
        let _ = write!(token, "{steps}:{reached}");
        let len = token.len();
        token.resize(len + SLACK, 0);
        giver.give(token, 0, len)
    })
}
