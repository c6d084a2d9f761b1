//! Conditional mutual information of the presences of two words, given the class.

use super::terms::{Terms, bits_apart};
use super::{DocumentRows, Postings, invalid};
use crate::counts::vocabulary::WordId;
use crate::error::Result;
use crate::watch::Watch;

/// Rounding errors are below this number of bits.
const ROUNDING: f64 = 1e-14;

/// Minimum number of excess pairs before the weakest are dropped.
const SPARE: usize = 1 << 16;

/// Two words that occurred together, in ascending order, with their information in bits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pair {
    pub first: WordId,
    pub second: WordId,
    pub bits: f64,
}

/// The information of pairs of words.
#[derive(Debug, Default, PartialEq)]
pub struct Information {
    /// The pairs with the most information, in the order of their words.
    pub strongest: Vec<Pair>,
    /// The total of all pairs in bits, including words that never occurred together.
    pub total: f64,
}

/// The state of a thread.
struct Found {
    pairs: Vec<Pair>,
    terms: Terms,
    /// Later pairs with no more bits than this are not among the strongest.
    least: f64,
    /// By word, the bits of its pairs beyond those of words that never occurred together.
    beyond: Vec<(usize, f64)>,
    /// The places of other words in `touched`, from 1.
    place: Vec<u32>,
    touched: Vec<usize>,
    /// t of each touched word, by class.
    together: Vec<f64>,
}

/// Compute the information of the `most` strongest pairs of words (ties go to lower ids), and the sum
/// over all pairs. Packaged hidden naive Bayes, Equation 11, is the mean.
///
/// If two words never occurred together in a class, its term follows from their frequencies alone. So
/// the sum over all pairs is computed from distinct frequencies, as if no words occurred together,
/// plus the differences of the pairs that did.
///
/// The cost is half of Σ |d|² over documents d. Each pair adds at most seven logarithms for each class
/// that has both words, and each two distinct frequencies of a class add three. The
/// result does not depend on the number of threads, to the last bit.
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
        least: n * ROUNDING,
        beyond: Vec::new(),
        place: vec![0; words],
        touched: Vec::new(),
        together: Vec::new(),
    };
    let visit = |found: &mut Found, word: usize| {
        let met = found.visit_word(&postings, rows, word);
        let Found { pairs, terms, least, beyond, place, touched, together } = found;
        let mut word_beyond = 0.0;
        for (&other, together) in touched.iter().zip(together.chunks_exact(classes)) {
            place[other] = 0;
            let mut bits = 0.0;
            let counts = together.iter().zip(of(word)).zip(of(other));
            for (class, ((&t, &u), &v)) in counts.enumerate() {
                // A class without one of the words adds nothing.
                if u > 0.0 && v > 0.0 {
                    let term = terms.of(class, [u, v, t], sizes[class]);
                    bits += term.bits;
                    word_beyond += term.beyond;
                }
            }
            if bits > *least {
                pairs.push(Pair { first: word as WordId, second: other as WordId, bits });
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
    // Sorted by word, since the sum depends on the order.
    beyond.sort_unstable_by_key(|&(word, _)| word);
    let beyond: f64 = beyond.into_iter().map(|(_, bits)| bits).sum();
    let of_class = |class: usize| frequencies.iter().copied().skip(class).step_by(classes);
    let apart = |(class, &size)| bits_apart(of_class(class), size, watch);
    let apart: f64 = sizes.iter().enumerate().map(apart).sum();
    // Rounding may make the total negative.
    Ok(Information { strongest, total: ((apart + beyond) / n).max(0.0) })
}

/// Return the documents with each word by class, `words × classes`, and the documents of each class.
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
    /// Count the words after a word in its documents, by class; return the number of visits.
    fn visit_word(
        &mut self,
        postings: &Postings<'_>,
        rows: &DocumentRows<'_>,
        word: usize,
    ) -> usize {
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
fn keep_strongest(pairs: &mut Vec<Pair>, most: usize) -> f64 {
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
        for Pair { first, second, bits } in strongest {
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
