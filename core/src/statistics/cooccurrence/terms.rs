//! The term of a class in the information of two words.
//!
//! Let u and v be the documents of the class with each word, t those with both, and N all of them. The
//! term, in n times the information in bits, is
//!
//! ```text
//!   t log tN/uv + (u−t) log (u−t)N/u(N−v) + (v−t) log (v−t)N/(N−u)v
//!     + (N−u−v+t) log (N−u−v+t)N/(N−u)(N−v)
//! ```
//!
//! Packaged hidden naive Bayes, Equation 6, over presence and absence of both words. Logarithms are
//! computed from ratios: differences of tabulated logarithms would round away the information of rare
//! words.

use crate::counts::rows::small_whole;
use crate::watch::Watch;

/// Number of cached terms of a class. Most words are in few documents, so most pairs share their
/// terms.
const KEPT: usize = 256;

/// The term of a class, and its excess over the term of words that never occurred together.
#[derive(Clone, Copy, Default)]
pub struct Term {
    /// u, v and t.
    of: [f64; 3],
    pub bits: f64,
    pub beyond: f64,
}

impl Term {
    fn new(of: [f64; 3], size: f64) -> Self {
        let [u, v, t] = of;
        let bits = class_bits(u, v, t, size);
        let apart = if t > 0.0 { class_bits(u, v, 0.0, size) } else { bits };
        Term { of, bits, beyond: bits - apart }
    }
}

/// A cache of the terms of each class.
pub struct Terms(Vec<Term>);

impl Terms {
    pub fn new(classes: usize) -> Self {
        Terms(vec![Term::default(); classes * KEPT])
    }

    /// Return the term of a class with `size` documents for u, v and t.
    #[inline(always)]
    pub fn of(&mut self, class: usize, of: [f64; 3], size: f64) -> Term {
        let [_, v, t] = of;
        let mixed = small_whole(v).0.wrapping_mul(8).wrapping_add(small_whole(t).0);
        let kept = &mut self.0[class * KEPT + mixed as usize % KEPT];
        if kept.of != of {
            *kept = Term::new(of, size);
        }
        *kept
    }
}

/// Compute the sum of the terms of a class over all pairs of words, as if none occurred together.
/// `frequencies` has the documents of the class with each word.
///
/// The cost is half of the square of the number of distinct frequencies.
pub fn bits_apart(frequencies: impl Iterator<Item = f64>, size: f64, watch: &Watch) -> f64 {
    let mut sorted: Vec<f64> = frequencies.filter(|&frequency| frequency > 0.0).collect();
    sorted.sort_unstable_by(f64::total_cmp);
    let distinct: Vec<(f64, f64)> =
        sorted.chunk_by(|one, other| one == other).map(|of| (of[0], of.len() as f64)).collect();
    let mut bits = 0.0;
    for (below, &(u, words)) in distinct.iter().enumerate() {
        let to_each = |&(v, others): &(f64, f64)| others * class_bits(u, v, 0.0, size);
        let with_others: f64 = distinct[..below].iter().map(to_each).sum();
        let among = (words - 1.0) / 2.0 * class_bits(u, u, 0.0, size);
        bits += words * (with_others + among);
        if watch.stops(below + 1) {
            break;
        }
    }
    bits
}

/// Compute the term of a class with `size` documents.
fn class_bits(u: f64, v: f64, t: f64, size: f64) -> f64 {
    let cell = |count: f64, margins: f64| {
        if count > 0.0 && margins > 0.0 { count * (count * size / margins).log2() } else { 0.0 }
    };
    cell(t, u * v)
        + cell(u - t, u * (size - v))
        + cell(v - t, (size - u) * v)
        + cell(size - u - v + t, (size - u) * (size - v))
}
