//! Counts and statistics of pairs of words equal those computed from the documents, on any number
//! of threads.

mod common;

use _core::counts::bag::Bag;
use _core::counts::rows::ClassId;
use _core::counts::store::{Settings, Store};
use _core::scoring::cooccurrence::{Cooccurrence, LANES};
use _core::scoring::event_model::Query;
use _core::statistics::cooccurrence::{DocumentRows, Information, Pair, information, squares};
use _core::watch::Watch;
use std::collections::BTreeMap;

#[test]
fn invalid_rows_are_refused() {
    let rows = |indptr: &[i64], ids: &[i64], weights: &[f64]| {
        squares(indptr, ids, weights, 2, 1, &Watch::default()).is_ok()
    };
    assert!(rows(&[0, 2], &[0, 1], &[1.0]));
    assert!(!rows(&[0, 2], &[1, 0], &[1.0]));
    assert!(!rows(&[0, 2], &[0, 2], &[1.0]));
    assert!(!rows(&[0, 2], &[-1, 0], &[1.0]));
    assert!(!rows(&[0, 3], &[0, 1], &[1.0]));
    assert!(!rows(&[0, 1], &[0, 1], &[1.0]));
    assert!(!rows(&[1, 2], &[0, 1], &[1.0]));
    assert!(!rows(&[0, 2], &[0, 1], &[1.0, 1.0]));
    assert!(!rows(&[0, 2], &[0, 1], &[0.0]));
    assert!(!rows(&[0, 2, 1, 2], &[0, 1], &[1.0; 3]));
    let classes = |classes: &[i64], n_classes| {
        let (indptr, ids, weights) = (&[0, 2, 3][..], &[0, 1, 1][..], &[1.0, 2.0][..]);
        let rows = DocumentRows { indptr, ids, classes, weights, n_classes };
        information(&rows, 2, 9, 1, &Watch::default()).is_ok()
    };
    assert!(classes(&[0, 1], 2));
    assert!(!classes(&[0, 1], 1) && !classes(&[0], 2) && !classes(&[0, -1], 2));
}

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
    let ids: Vec<i64> =
        (0..documents).flat_map(|d| (0..words as i64).filter(move |w| w % 7 != d % 7)).collect();
    let lengths = (0..documents).map(|d| (0..words as i64).filter(|w| w % 7 != d % 7).count());
    let mut indptr = vec![0];
    for length in lengths {
        indptr.push(indptr[indptr.len() - 1] + length as i64);
    }
    for step in [1.0, 0.1] {
        let weights: Vec<f64> = (0..documents).map(|d| step * (1 + d % 3) as f64).collect();
        let sums =
            |threads| squares(&indptr, &ids, &weights, words, threads, &Watch::default()).unwrap();
        assert_eq!(sums(1), sums(3));
    }
}

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
        information(&rows, *words as usize, most, threads, &Watch::default()).expect("valid rows")
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

type Counts = BTreeMap<(usize, usize, ClassId), f64>;

/// n_itc, twice from the same buffers, and from the documents.
fn counted_together(store: &Store, bag: &Bag, parents: &[usize]) -> [Counts; 3] {
    let (watch, mut together) = (Watch::default(), Cooccurrence::default());
    let mut found = || {
        let mut counts = Counts::new();
        let query = Query { store, terms: &[], bag, watch: &watch };
        together.visit(query, parents, |parent, child, cells| {
            assert!(!cells.is_empty());
            for &(class, count) in cells {
                assert!(counts.insert((parent, child, class), count).is_none());
            }
        });
        counts
    };
    let (one, other) = (found(), found());
    let mut literal = Counts::new();
    for document in store.index.documents() {
        let of = |word| document.words.iter().find(|&&(known, _)| known == word).map(|w| w.1);
        for &parent in parents {
            for (child, &(word, _)) in bag.words.iter().enumerate() {
                if let (Some(_), Some(count)) = (of(bag.words[parent].0), of(word)) {
                    *literal.entry((parent, child, document.class)).or_default() +=
                        document.weight * count;
                }
            }
        }
    }
    [one, other, literal]
}

/// A store of documents of these words, the oldest evicted.
fn indexed(documents: impl Iterator<Item = (Vec<(u8, f64)>, ClassId, f64)>) -> Store {
    let mut store = Store::new(Settings { index_size: 150, ..Settings::COUNTS });
    let mut bag = Bag::default();
    for (words, class, weight) in documents {
        bag.clear(store.vocabulary.slots());
        for (word, count) in words {
            let name = [word];
            let token = store.vocabulary.token(&name);
            bag.add(store.intern(&token), count);
        }
        store.learn(&mut bag, class, weight).expect("room");
    }
    store
}

fn message(words: impl IntoIterator<Item = u32>) -> Bag {
    let mut bag = Bag::default();
    bag.clear(0);
    words.into_iter().for_each(|word| bag.add(word, f64::from(word + 1)));
    bag
}

#[test]
fn words_are_counted_beside_their_parents() {
    // Fractions, small integers, and numbers above 16 bits.
    for least in [0.5, 1.0, 40_000.0] {
        let mut random = common::Random::new(1);
        let store = indexed((0..250).map(|_| {
            let words = (0..6).map(|_| (random.below(12) as u8, 1.0)).collect();
            (words, random.below(3) as ClassId, least + random.below(2) as f64)
        }));
        let [one, other, literal] =
            counted_together(&store, &message([7, 2, 5, 0, 3]), &[0, 1, 2, 4]);
        assert!(literal.len() > 50 && one == literal && other == literal, "{least}");
    }
}

#[test]
fn more_parents_than_lanes_are_counted_in_turns() {
    let words = 3 * LANES as u8;
    let store = indexed((0..60).map(|document: u8| {
        let words = (0..words).filter(|word| !(word ^ document).is_multiple_of(3));
        let words = words.map(|word| (word, f64::from(1 + word % 4))).collect();
        (words, ClassId::from(document % 2), 1.0)
    }));
    let parents: Vec<usize> = (0..2 * LANES + 5).collect();
    let [one, other, literal] = counted_together(&store, &message(0..u32::from(words)), &parents);
    assert!(one == literal && other == literal);
}
