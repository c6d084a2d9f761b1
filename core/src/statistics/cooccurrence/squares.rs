//! Sums of squares over the pairs of words in the same documents.

use super::{Postings, read_rows};
use crate::error::Result;
use crate::watch::Watch;

/// Sums of whole numbers up to this are exact.
const EXACT: f64 = 9_007_199_254_740_992.0;

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
        && weights.iter().sum::<f64>().powi(2) * longest as f64 <= EXACT;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn squares_equal_those_of_the_full_table() {
        let documents: [&[i64]; 4] = [&[0, 1, 3], &[1, 3], &[], &[0, 3, 4]];
        let weights = [1.0, 2.0, 1.0, 0.5];
        let mut table = [[0.0; 5]; 5];
        let (mut indptr, mut ids) = (vec![0], Vec::new());
        for (words, weight) in documents.iter().zip(weights) {
            for &one in *words {
                for &other in words.iter().filter(|&&other| other != one) {
                    table[one as usize][other as usize] += weight;
                }
            }
            ids.extend_from_slice(words);
            indptr.push(ids.len() as i64);
        }
        let expected: Vec<f64> =
            table.iter().map(|row| row.iter().map(|count| count * count).sum()).collect();
        let watch = Watch::default();
        assert_eq!(squares(&indptr, &ids, &weights, 5, 1, &watch).unwrap(), expected);
        assert_eq!(squares(&[0], &[], &[], 2, 2, &watch).unwrap(), [0.0, 0.0]);
        assert!(squares(&[0, 1], &[2], &[1.0], 2, 1, &watch).is_err());
    }

    #[test]
    fn no_sum_depends_on_the_threads() {
        // Enough pairs for three threads; weights with exact and with rounded sums.
        let (words, documents) = (700_usize, 60);
        let ids: Vec<i64> = (0..documents)
            .flat_map(|d| (0..words as i64).filter(move |w| w % 7 != d % 7))
            .collect();
        let lengths = (0..documents).map(|d| (0..words as i64).filter(|w| w % 7 != d % 7).count());
        let mut indptr = vec![0];
        for length in lengths {
            indptr.push(indptr[indptr.len() - 1] + length as i64);
        }
        for step in [1.0, 0.1] {
            let weights: Vec<f64> = (0..documents).map(|d| step * (1 + d % 3) as f64).collect();
            let sums = |threads| {
                squares(&indptr, &ids, &weights, words, threads, &Watch::default()).unwrap()
            };
            assert_eq!(sums(1), sums(3));
        }
    }
}
