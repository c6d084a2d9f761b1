//! Sums over the pairs of words that stand in the same documents, of which no table is kept.

use crate::error::{Error, Result};

/// For each word i, Σ_j A_ij² over the other words j, where A_ij is the weight of the documents
/// that contain both.
///
/// The documents are compressed rows of ascending word ids below `words`. The cost is half of
/// Σ |d|² over documents d, the memory that of the postings.
pub fn squares(indptr: &[i64], ids: &[i64], weights: &[f64], words: usize) -> Result<Vec<f64>> {
    let rows = read_rows(indptr, ids, weights, words)?;
    // For each word its documents, and where it stands in them: only later words are visited.
    let mut starts = vec![0usize; words + 1];
    for &id in ids {
        starts[id as usize + 1] += 1;
    }
    for word in 0..words {
        starts[word + 1] += starts[word];
    }
    let mut postings = vec![(0usize, 0usize); ids.len()];
    let mut next = starts.clone();
    for (document, &(start, end)) in rows.iter().enumerate() {
        for (place, &id) in ids.iter().enumerate().take(end).skip(start) {
            let slot = &mut next[id as usize];
            postings[*slot] = (document, place + 1);
            *slot += 1;
        }
    }
    let mut sums = vec![0.0; words];
    let mut together = vec![0.0f64; words];
    let mut touched: Vec<usize> = Vec::new();
    for word in 0..words {
        for &(document, after) in &postings[starts[word]..starts[word + 1]] {
            let weight = weights[document];
            for &other in &ids[after..rows[document].1] {
                let other = other as usize;
                if together[other] == 0.0 {
                    touched.push(other);
                }
                together[other] += weight;
            }
        }
        for other in touched.drain(..) {
            let square = together[other] * together[other];
            together[other] = 0.0;
            sums[word] += square;
            sums[other] += square;
        }
    }
    Ok(sums)
}

/// Where each row begins and ends, once everything is known to be in range.
pub(crate) fn read_rows(
    indptr: &[i64],
    ids: &[i64],
    weights: &[f64],
    words: usize,
) -> Result<Vec<(usize, usize)>> {
    let invalid = |what: &str| Err(Error::Invalid(format!("documents as rows: {what}")));
    if indptr.len() != weights.len() + 1 {
        return invalid("one weight for each row");
    }
    if !weights.iter().all(|weight| *weight > 0.0 && weight.is_finite()) {
        return invalid("weights must be positive");
    }
    if !ids.iter().all(|&id| usize::try_from(id).is_ok_and(|id| id < words)) {
        return invalid("a word out of range");
    }
    let mut rows = Vec::with_capacity(weights.len());
    for bounds in indptr.windows(2) {
        match (usize::try_from(bounds[0]), usize::try_from(bounds[1])) {
            (Ok(start), Ok(end)) if start <= end && end <= ids.len() => {
                if !ids[start..end].is_sorted_by(|one, other| one < other) {
                    return invalid("words must ascend");
                }
                rows.push((start, end));
            }
            _ => return invalid("row bounds out of order"),
        }
    }
    if rows.first().is_some_and(|row| row.0 != 0)
        || rows.last().map_or(0, |row| row.1) != ids.len()
        || !rows.is_sorted_by(|one, other| one.1 == other.0)
    {
        return invalid("row bounds out of order");
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn squares_of_a_table_that_is_written_down() {
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
        assert_eq!(squares(&indptr, &ids, &weights, 5).unwrap(), expected);
        assert_eq!(squares(&[0], &[], &[], 2).unwrap(), [0.0, 0.0]);
    }

    #[test]
    fn refuses_what_is_no_table() {
        assert!(squares(&[0, 2], &[1, 0], &[1.0], 2).is_err());
        assert!(squares(&[0, 2], &[0, 2], &[1.0], 2).is_err());
        assert!(squares(&[0, 2], &[-1, 0], &[1.0], 2).is_err());
        assert!(squares(&[0, 3], &[0, 1], &[1.0], 2).is_err());
        assert!(squares(&[0, 1], &[0, 1], &[1.0], 2).is_err());
        assert!(squares(&[1, 2], &[0, 1], &[1.0], 2).is_err());
        assert!(squares(&[0, 2], &[0, 1], &[1.0, 1.0], 2).is_err());
        assert!(squares(&[0, 2], &[0, 1], &[0.0], 2).is_err());
        assert!(squares(&[0, 2, 1, 2], &[0, 1], &[1.0; 3], 2).is_err());
    }
}
