//! Conditional mutual information of the presences of two words, given the class: which words depend
//! on which.
//!
//! With u and v the documents of a class that have the one and the other, t those that have both, and
//! N all of them, the class adds to n times the information, in bits,
//!
//! ```text
//!   t log tN/uv + (u−t) log (u−t)N/u(N−v) + (v−t) log (v−t)N/(N−u)v
//!     + (N−u−v+t) log (N−u−v+t)N/(N−u)(N−v)
//! ```
//!
//! Packaged hidden naive Bayes, Equation 6, over presence and absence of both words. Logarithms are
//! of ratios: those of counts, from a table, would leave nothing of the information of two rare words
//! but their rounding.

use super::{DocumentRows, Postings};
use crate::counts::rows::small_whole;
use crate::counts::vocabulary::WordId;
use crate::error::{Error, Result};
use crate::watch::Watch;

/// Rounding leaves this much, in bits, where there is nothing.
const NOTHING: f64 = 1e-14;

/// Terms of a class that are kept: most words are in few documents, so that most pairs have the
/// terms of another.
const KEPT: usize = 256;

/// Pairs beyond those that are kept, at least, before the weakest are left out.
const SPARE: usize = 1 << 16;

/// Two words that met, the first below the second, with their information in bits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Met {
    pub first: WordId,
    pub second: WordId,
    pub bits: f64,
}

/// What is known of all pairs that met.
#[derive(Debug, PartialEq)]
pub struct Information {
    /// The pairs with the most information, in the order of their words.
    pub strongest: Vec<Met>,
    /// n times what all of them have, beyond what they would have if they had not met.
    pub beyond: f64,
}

/// What a class adds to the information of two words, and what of it because they met.
#[derive(Clone, Copy, Default)]
struct Term {
    /// u, v and t.
    of: [f64; 3],
    bits: f64,
    beyond: f64,
}

/// The terms of each class that were computed last.
struct Terms(Vec<Term>);

/// What a thread finds.
struct Found {
    pairs: Vec<Met>,
    terms: Terms,
    /// Of words that come later, pairs with no more are not among the strongest.
    least: f64,
    /// What the pairs of a word have beyond.
    beyond: Vec<(usize, f64)>,
    /// Where the words stand that meet the one that is visited, counted from 1.
    place: Vec<u32>,
    touched: Vec<usize>,
    /// t of each of them, by class.
    together: Vec<f64>,
}

/// The information of words that met in some of the documents; at most so many pairs, those with
/// the most, and of equals those of the lower ids.
///
/// `frequencies` has the documents of each word, by class: words × classes. The cost is half of
/// Σ |d|² over documents d, and for each two words that met seven logarithms at most for each class
/// that has both. The same to the last bit on any number of threads.
pub fn information(
    rows: &DocumentRows<'_>,
    frequencies: &[f64],
    most: usize,
    threads: usize,
    watch: &Watch,
) -> Result<Information> {
    let classes = rows.n_classes;
    let words = frequencies.len().checked_div(classes).unwrap_or(0);
    if frequencies.len() != words * classes || u32::try_from(words).is_err() {
        return Err(Error::Invalid("one frequency for each word and class".into()));
    }
    let postings = Postings::new(rows.ids, rows.read(words)?, words);
    let mut sizes = vec![0.0; classes];
    for (&class, weight) in rows.classes.iter().zip(rows.weights) {
        sizes[class as usize] += weight;
    }
    let n: f64 = rows.weights.iter().sum();
    let of = |word: usize| &frequencies[word * classes..(word + 1) * classes];
    let begin = || Found {
        pairs: Vec::new(),
        terms: Terms(vec![Term::default(); classes * KEPT]),
        least: n * NOTHING,
        beyond: Vec::new(),
        place: vec![0; words],
        touched: Vec::new(),
        together: Vec::new(),
    };
    let visit = |found: &mut Found, word: usize| {
        let met = found.meet(&postings, rows, word);
        let Found { pairs, terms, least, beyond, place, touched, together } = found;
        let mut word_beyond = 0.0;
        for (&other, together) in touched.iter().zip(together.chunks_exact(classes)) {
            place[other] = 0;
            let mut bits = 0.0;
            let counts = together.iter().zip(of(word)).zip(of(other));
            for (class, ((&t, &u), &v)) in counts.enumerate() {
                // A class without one of them adds nothing.
                if u > 0.0 && v > 0.0 {
                    let term = terms.of(class, [u, v, t], sizes[class]);
                    bits += term.bits;
                    word_beyond += term.beyond;
                }
            }
            if bits > *least {
                pairs.push(Met { first: word as WordId, second: other as WordId, bits });
            }
        }
        let looked_at = classes * touched.len();
        beyond.push((word, word_beyond));
        touched.clear();
        together.clear();
        if pairs.len() > (2 * most).max(SPARE) {
            *least = keep_strongest(pairs, most).max(*least);
        }
        met + looked_at
    };
    let (mut strongest, mut beyond) = (Vec::new(), Vec::new());
    for part in postings.visit(threads, watch, begin, visit) {
        strongest.extend(part.pairs);
        beyond.extend(part.beyond);
    }
    keep_strongest(&mut strongest, most);
    strongest.iter_mut().for_each(|pair| pair.bits /= n);
    strongest.sort_unstable_by_key(|pair| (pair.first, pair.second));
    // In the order of the words: sums depend on it.
    beyond.sort_unstable_by_key(|&(word, _)| word);
    Ok(Information { strongest, beyond: beyond.into_iter().map(|(_, bits)| bits).sum() })
}

impl Found {
    /// Counts the words that a word meets, by class; returns how many it met.
    fn meet(&mut self, postings: &Postings<'_>, rows: &DocumentRows<'_>, word: usize) -> usize {
        let mut met = 0;
        for (document, others) in postings.of(word) {
            met += others.len();
            let class = rows.classes[document] as usize;
            for &other in others {
                let place = &mut self.place[other as usize];
                if *place == 0 {
                    self.touched.push(other as usize);
                    self.together.resize(self.touched.len() * rows.n_classes, 0.0);
                    *place = self.touched.len() as u32;
                }
                let place = *place as usize - 1;
                self.together[place * rows.n_classes + class] += rows.weights[document];
            }
        }
        met
    }
}

impl Terms {
    /// The term of a class of so many documents.
    fn of(&mut self, class: usize, of: [f64; 3], size: f64) -> Term {
        let [u, v, t] = of;
        let mixed = small_whole(v).0.wrapping_mul(8).wrapping_add(small_whole(t).0);
        let kept = &mut self.0[class * KEPT + mixed as usize % KEPT];
        if kept.of != of {
            let bits = class_bits(u, v, t, size);
            let apart = if t > 0.0 { class_bits(u, v, 0.0, size) } else { bits };
            *kept = Term { of, bits, beyond: bits - apart };
        }
        *kept
    }
}

/// n times what a class of so many documents adds, t of which have both words.
fn class_bits(u: f64, v: f64, t: f64, size: f64) -> f64 {
    let cell = |count: f64, margins: f64| {
        if count > 0.0 && margins > 0.0 { count * (count * size / margins).log2() } else { 0.0 }
    };
    cell(t, u * v)
        + cell(u - t, u * (size - v))
        + cell(v - t, (size - u) * v)
        + cell(size - u - v + t, (size - u) * (size - v))
}

/// Leaves the pairs with the most information, so many; returns how much the last of them has, or
/// nothing where all are left.
fn keep_strongest(pairs: &mut Vec<Met>, most: usize) -> f64 {
    if pairs.len() <= most {
        return 0.0;
    }
    let least = if most == 0 {
        f64::INFINITY
    } else {
        let (_, last, _) = pairs.select_nth_unstable_by(most - 1, |one, other| {
            let by_bits = other.bits.total_cmp(&one.bits);
            by_bits.then((one.first, one.second).cmp(&(other.first, other.second)))
        });
        last.bits
    };
    pairs.truncate(most);
    least
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Documents of words that depend on one another, in three classes.
    struct Texts {
        indptr: Vec<i64>,
        ids: Vec<i64>,
        classes: Vec<i64>,
        weights: Vec<f64>,
        frequencies: Vec<f64>,
    }

    impl Texts {
        fn new(count: i64, words: i64) -> Self {
            let (mut indptr, mut ids) = (vec![0], Vec::new());
            let classes: Vec<i64> = (0..count).map(|document| document % 3).collect();
            let weights: Vec<f64> =
                (0..count).map(|document| [1.0, 0.1][document as usize % 2]).collect();
            let mut frequencies = vec![0.0; 3 * words as usize];
            for document in 0..count {
                let class = document % 3;
                for word in (0..words).filter(|word| (word * document) % 5 < 2 + class) {
                    ids.push(word);
                    frequencies[(3 * word + class) as usize] += weights[document as usize];
                }
                indptr.push(ids.len() as i64);
            }
            Texts { indptr, ids, classes, weights, frequencies }
        }

        fn informed(&self, most: usize, threads: usize) -> Information {
            let Texts { indptr, ids, classes, weights, frequencies } = self;
            let rows = DocumentRows { indptr, ids, classes, weights, n_classes: 3 };
            information(&rows, frequencies, most, threads, &Watch::default()).expect("valid rows")
        }

        /// The weight of the documents of a class that have the one word and the other, or not.
        fn weight(&self, class: i64, words: &[(u32, bool)]) -> f64 {
            let holds = |&document: &usize| {
                let row = self.indptr[document] as usize..self.indptr[document + 1] as usize;
                let row = &self.ids[row];
                self.classes[document] == class
                    && words.iter().all(|&(word, has)| row.contains(&i64::from(word)) == has)
            };
            (0..self.classes.len()).filter(holds).map(|document| self.weights[document]).sum()
        }

        /// Σ P(i, j, c) log P(i, j | c) / P(i | c) P(j | c), as it stands there.
        fn literal(&self, one: u32, other: u32) -> f64 {
            let mut bits = 0.0;
            for class in 0..3 {
                for has in [(true, true), (true, false), (false, true), (false, false)] {
                    let joint = self.weight(class, &[(one, has.0), (other, has.1)]);
                    let apart =
                        self.weight(class, &[(one, has.0)]) * self.weight(class, &[(other, has.1)]);
                    if joint > 0.0 {
                        bits += joint * (joint * self.weight(class, &[]) / apart).log2();
                    }
                }
            }
            bits / self.weights.iter().sum::<f64>()
        }
    }

    #[test]
    fn information_of_a_table_that_is_written_down() {
        let texts = Texts::new(40, 12);
        let Information { strongest, .. } = texts.informed(1_000, 1);
        assert!(strongest.len() > 30);
        for Met { first, second, bits } in strongest {
            let expected = texts.literal(first, second);
            assert!((bits - expected).abs() < 1e-12, "{first} {second}: {bits} {expected}");
        }
    }

    #[test]
    fn the_strongest_are_kept() {
        let texts = Texts::new(40, 12);
        let all = texts.informed(1_000, 1);
        let mut by_bits = all.strongest.clone();
        by_bits.sort_by(|one, other| other.bits.total_cmp(&one.bits));
        let some = texts.informed(7, 1);
        assert_eq!((some.strongest.len(), some.beyond), (7, all.beyond));
        assert!(some.strongest.iter().all(|pair| pair.bits >= by_bits[6].bits));
        assert!(some.strongest.is_sorted_by_key(|pair| (pair.first, pair.second)));
        assert!(texts.informed(0, 1).strongest.is_empty());
    }

    #[test]
    fn nothing_depends_on_the_threads() {
        let texts = Texts::new(90, 500);
        let one = texts.informed(2_000, 1);
        assert_eq!(one.strongest.len(), 2_000);
        assert_eq!(one, texts.informed(2_000, 3));
    }

    #[test]
    fn frequencies_are_those_of_words_and_classes() {
        let (indptr, ids, classes, weights) = (&[0, 1][..], &[0][..], &[0][..], &[1.0][..]);
        let informed = |frequencies: &[f64], n_classes| {
            let rows = DocumentRows { indptr, ids, classes, weights, n_classes };
            information(&rows, frequencies, 9, 1, &Watch::default()).is_ok()
        };
        assert!(informed(&[1.0], 1) && informed(&[1.0, 0.0], 2));
        assert!(!informed(&[1.0], 2) && !informed(&[], 1) && !informed(&[], 0));
    }
}
