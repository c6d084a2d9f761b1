//! Conditional mutual information of the presences of two words, given the class: which words depend
//! on which. Of those that never met, only the sum is wanted.

use super::terms::{Terms, bits_apart};
use super::{DocumentRows, Postings, invalid};
use crate::counts::vocabulary::WordId;
use crate::error::Result;
use crate::watch::Watch;

/// Rounding leaves this much, in bits, where there is nothing.
const NOTHING: f64 = 1e-14;

/// Pairs beyond those that are kept, at least, before the weakest are left out.
const SPARE: usize = 1 << 16;

/// Two words that met, the first below the second, with their information in bits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Met {
    pub first: WordId,
    pub second: WordId,
    pub bits: f64,
}

/// What is known of all pairs of words.
#[derive(Debug, Default, PartialEq)]
pub struct Information {
    /// Of those that met, the pairs with the most information, in the order of their words.
    pub strongest: Vec<Met>,
    /// What all pairs have together, in bits, whether they met or not.
    pub total: f64,
}

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

/// The information of words that met in some of the documents, at most so many pairs: those with
/// the most, and of equals those of the lower ids; and the sum over all pairs.
///
/// Where two words never met in a class, what it adds follows from their frequencies in it. So the
/// sum over all pairs is that of words that never met, by distinct frequencies, and what those that
/// did have beyond it. Packaged hidden naive Bayes, Equation 11, is its mean.
///
/// The cost is half of Σ |d|² over documents d, and for each two words that met seven logarithms at
/// most for each class that has both; and for each class half of the square of its distinct
/// frequencies, with three. The same to the last bit on any number of threads.
pub fn information(
    rows: &DocumentRows<'_>,
    words: usize,
    most: usize,
    threads: usize,
    watch: &Watch,
) -> Result<Information> {
    let classes = rows.n_classes;
    if u32::try_from(words).is_err() {
        return invalid("too many words");
    }
    let bounds = rows.read(words)?;
    if bounds.is_empty() {
        return Ok(Information::default());
    }
    let (frequencies, sizes) = counted(rows, &bounds, words);
    let postings = Postings::new(rows.ids, bounds, words);
    let n: f64 = rows.weights.iter().sum();
    let of = |word: usize| &frequencies[word * classes..(word + 1) * classes];
    let begin = || Found {
        pairs: Vec::new(),
        terms: Terms::new(classes),
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
    let beyond: f64 = beyond.into_iter().map(|(_, bits)| bits).sum();
    let of_class = |class: usize| frequencies.iter().copied().skip(class).step_by(classes);
    let apart = |(class, &size)| bits_apart(of_class(class), size, watch);
    let apart: f64 = sizes.iter().enumerate().map(apart).sum();
    // Where there is nothing, rounding may leave less.
    Ok(Information { strongest, total: ((apart + beyond) / n).max(0.0) })
}

/// The documents that have each word, by class: words × classes; and all documents of each class.
fn counted(
    rows: &DocumentRows<'_>,
    bounds: &[(usize, usize)],
    words: usize,
) -> (Vec<f64>, Vec<f64>) {
    let classes = rows.n_classes;
    let (mut frequencies, mut sizes) = (vec![0.0; words * classes], vec![0.0; classes]);
    for ((&(start, end), &class), weight) in bounds.iter().zip(rows.classes).zip(rows.weights) {
        sizes[class as usize] += weight;
        for &word in &rows.ids[start..end] {
            frequencies[word as usize * classes + class as usize] += weight;
        }
    }
    (frequencies, sizes)
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
        words: u32,
    }

    impl Texts {
        fn new(count: i64, words: u32) -> Self {
            let (mut indptr, mut ids) = (vec![0], Vec::new());
            let classes: Vec<i64> = (0..count).map(|document| document % 3).collect();
            let weights: Vec<f64> =
                (0..count).map(|document| [1.0, 0.1][document as usize % 2]).collect();
            for document in 0..count {
                let class = document % 3;
                let has = |word: &i64| (word * document) % 5 < 2 + class;
                ids.extend((0..i64::from(words)).filter(has));
                indptr.push(ids.len() as i64);
            }
            Texts { indptr, ids, classes, weights, words }
        }

        fn informed(&self, most: usize, threads: usize) -> Information {
            let Texts { indptr, ids, classes, weights, words } = self;
            let rows = DocumentRows { indptr, ids, classes, weights, n_classes: 3 };
            information(&rows, *words as usize, most, threads, &Watch::default())
                .expect("valid rows")
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
    fn the_total_is_that_of_all_pairs() {
        let mut texts = Texts::new(40, 12);
        // Words that meet none of the others, and few of one another.
        for (class, words) in [(0, [12, 13]), (2, [13, 14]), (0, [15, 16])] {
            texts.ids.extend(words);
            texts.indptr.push(texts.ids.len() as i64);
            texts.classes.push(class);
            texts.weights.push(0.5);
        }
        texts.words = 17;
        let pairs = (0..17).flat_map(|other| (0..other).map(move |one| (one, other)));
        let expected: f64 = pairs.map(|(one, other)| texts.literal(one, other)).sum();
        for most in [0, 1_000] {
            let Information { total, .. } = texts.informed(most, 1);
            assert!((total / expected - 1.0).abs() < 1e-12, "{total} {expected}");
        }
    }

    #[test]
    fn the_strongest_are_kept() {
        let texts = Texts::new(40, 12);
        let all = texts.informed(1_000, 1);
        let mut by_bits = all.strongest.clone();
        by_bits.sort_by(|one, other| other.bits.total_cmp(&one.bits));
        let some = texts.informed(7, 1);
        assert_eq!((some.strongest.len(), some.total), (7, all.total));
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
    fn without_documents_there_is_nothing() {
        let rows = |ids, classes, weights, n_classes| {
            let indptr = if ids == [0; 0] { &[0][..] } else { &[0, 1] };
            DocumentRows { indptr, ids, classes, weights, n_classes }
        };
        let informed = |rows, words| information(&rows, words, 9, 1, &Watch::default());
        for (words, classes) in [(0, 0), (0, 2), (2, 0), (2, 2)] {
            let found = informed(rows(&[], &[], &[], classes), words).expect("nothing is valid");
            assert_eq!(found, Information::default());
        }
        assert!(informed(rows(&[0], &[0], &[1.0], 1), 1).is_ok());
        assert!(informed(rows(&[0], &[0], &[1.0], 0), 1).is_err());
        assert!(informed(rows(&[0], &[0], &[1.0], 1), 0).is_err());
        assert!(informed(rows(&[0], &[0], &[1.0], 1), usize::MAX).is_err());
    }
}
