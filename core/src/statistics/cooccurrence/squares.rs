//! Sums of squares over the pairs of words in the same documents.

use super::{Postings, read_rows};
use crate::counts::MAX_COUNT;
use crate::error::Result;
use crate::watch::Watch;

/// The sums of a thread.
struct Sums {
    squares: Vec<f64>,
    /// A_ij of the visited word i.
    together: Vec<f64>,
    touched: Vec<usize>,
}

/// Compute Σ_j A_ij² for each word i over the other words j, where A_ij is the weight of the documents
/// that contain both.
///
/// The documents are compressed rows of ascending word ids below `words`. The cost is half of
/// Σ |d|² over documents d. The result does not depend on the number of threads, to the last bit: one
/// thread is used if sums depend on their order.
pub fn squares(
    indptr: &[i64],
    ids: &[i64],
    weights: &[f64],
    words: usize,
    threads: usize,
    watch: &Watch,
) -> Result<Vec<f64>> {
    let postings = Postings::new(ids, read_rows(indptr, ids, weights, words)?, words);
    let longest = postings.rows.iter().map(|&(start, end)| end - start).max().unwrap_or(0);
    let whole = weights.iter().all(|weight| weight.fract() == 0.0)
        && weights.iter().sum::<f64>().powi(2) * longest as f64 <= MAX_COUNT;
    let begin =
        || Sums { squares: vec![0.0; words], together: vec![0.0; words], touched: Vec::new() };
    let visit = |Sums { squares, together, touched }: &mut Sums, word: usize| {
        let mut met = 0;
        for (document, others) in postings.of(word) {
            met += others.len();
            for &other in others {
                let other = other as usize;
                if together[other] == 0.0 {
                    touched.push(other);
                }
                together[other] += weights[document];
            }
        }
        for other in touched.drain(..) {
            let square = together[other] * together[other];
            together[other] = 0.0;
            squares[word] += square;
            squares[other] += square;
        }
        met
    };
    let found = postings.visit(if whole { threads } else { 1 }, watch, begin, visit);
    let mut parts = found.into_iter().map(|sums| sums.squares);
    let mut squares = parts.next().unwrap_or_default();
    for part in parts {
        squares.iter_mut().zip(part).for_each(|(sum, part)| *sum += part);
    }
    Ok(squares)
}
