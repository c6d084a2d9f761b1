//! Conditional mutual information of the presences of two words, given the class.

use super::terms::{Terms, bits_apart};
use super::{DocumentRows, Postings, invalid};
use crate::counts::WordId;
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

/// Keep the `most` pairs with the most information. Return the bits of the last one, or 0 if all are
/// kept.
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
