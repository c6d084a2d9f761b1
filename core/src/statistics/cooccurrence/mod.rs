//! Statistics of pairs of words in the same documents. No table of pairs is stored: for each word, the
//! words with higher ids in its documents are visited.

mod information;
mod squares;
mod terms;

use crate::counts::export::row_bounds;
use crate::error::{Error, Result};
use crate::threads::shared;
use crate::watch::Watch;
use std::sync::atomic::{AtomicUsize, Ordering};

pub use information::{Information, Pair, information};
pub use squares::squares;

/// Number of words that a thread takes at a time: few, since low ids have more pairs.
const CHUNK: usize = 16;

/// Minimum number of visited pairs for each thread: some milliseconds of work.
const MIN_PER_THREAD: usize = 1 << 20;

/// A copy of indexed documents: compressed rows of ascending word ids, with classes and weights.
pub struct DocumentRows<'a> {
    pub indptr: &'a [i64],
    pub ids: &'a [i64],
    pub classes: &'a [i64],
    pub weights: &'a [f64],
    pub n_classes: usize,
}

impl DocumentRows<'_> {
    /// Check the arrays, and return the range of each row.
    pub(crate) fn read(&self, words: usize) -> Result<Vec<(usize, usize)>> {
        let rows = read_rows(self.indptr, self.ids, self.weights, words)?;
        let in_range = |&class: &i64| usize::try_from(class).is_ok_and(|id| id < self.n_classes);
        if self.classes.len() != rows.len() || !self.classes.iter().all(in_range) {
            return invalid("each row must have one class, within range");
        }
        Ok(rows)
    }
}

/// An error about invalid rows.
pub(crate) fn invalid<T>(what: &str) -> Result<T> {
    Err(Error::Invalid(format!("documents as rows: {what}")))
}

/// Check the arrays, and return the range of each row.
fn read_rows(
    indptr: &[i64],
    ids: &[i64],
    weights: &[f64],
    words: usize,
) -> Result<Vec<(usize, usize)>> {
    let is_positive = |weight: &f64| *weight > 0.0 && weight.is_finite();
    if indptr.len() != weights.len() + 1 || !weights.iter().all(is_positive) {
        return invalid("each row must have one positive weight");
    }
    let whole = indptr.first() == Some(&0) && indptr.last() == Some(&(ids.len() as i64));
    let Some(rows) = row_bounds(indptr, ids.len()).filter(|_| whole) else {
        return invalid("row bounds must ascend and cover all words");
    };
    let in_range = |&id: &i64| usize::try_from(id).is_ok_and(|id| id < words);
    let ascends = |&(start, end): &(usize, usize)| ids[start..end].is_sorted_by(|a, b| a < b);
    if !ids.iter().all(in_range) || !rows.iter().all(ascends) {
        return invalid("words must ascend in each row, within range");
    }
    Ok(rows)
}

/// The documents of each word, and the position of the next word in them.
struct Postings<'a> {
    ids: &'a [i64],
    rows: Vec<(usize, usize)>,
    /// The start of each word in `places`, and the end of the last one.
    starts: Vec<usize>,
    /// A document, and the place of its next word in `ids`.
    places: Vec<(usize, usize)>,
}

impl<'a> Postings<'a> {
    fn new(ids: &'a [i64], rows: Vec<(usize, usize)>, words: usize) -> Self {
        let mut starts = vec![0usize; words + 1];
        for &id in ids {
            starts[id as usize + 1] += 1;
        }
        for word in 0..words {
            starts[word + 1] += starts[word];
        }
        let mut places = vec![(0, 0); ids.len()];
        let mut next = starts.clone();
        for (document, &(start, end)) in rows.iter().enumerate() {
            for (place, &id) in ids.iter().enumerate().take(end).skip(start) {
                let slot = &mut next[id as usize];
                places[*slot] = (document, place + 1);
                *slot += 1;
            }
        }
        Postings { ids, rows, starts, places }
    }

    /// The documents of a word, with the words after it.
    fn of(&self, word: usize) -> impl Iterator<Item = (usize, &'a [i64])> {
        let places = &self.places[self.starts[word]..self.starts[word + 1]];
        places.iter().map(|&(document, after)| (document, &self.ids[after..self.rows[document].1]))
    }

    /// Visit all words on up to `threads` threads, and return the result of each thread. `visit`
    /// returns the number of words it visited.
    fn visit<V: Send>(
        &self,
        threads: usize,
        watch: &Watch,
        begin: impl Fn() -> V + Sync,
        visit: impl Fn(&mut V, usize) -> usize + Sync,
    ) -> Vec<V> {
        let (next, words) = (AtomicUsize::new(0), self.starts.len() - 1);
        let work = |watch: &Watch| {
            let mut made = begin();
            while !watch.is_stopped() {
                let start = next.fetch_add(CHUNK, Ordering::Relaxed);
                if start >= words {
                    break;
                }
                for word in start..words.min(start + CHUNK) {
                    let met = visit(&mut made, word);
                    if watch.stops(met) {
                        break;
                    }
                }
            }
            made
        };
        let pairs: usize = self.rows.iter().map(|&(start, end)| (end - start).pow(2) / 2).sum();
        shared(threads.min(pairs / MIN_PER_THREAD), watch, work, work)
    }
}
