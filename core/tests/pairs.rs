//! The pair table, compared with a map.

use _core::counts::index::Document;
use _core::counts::pairs::{Change, PairTable};
use _core::counts::rows::ClassId;
use _core::counts::vocabulary::WordId;
use std::collections::{BTreeMap, BTreeSet};

fn found(table: &PairTable, a: WordId, b: WordId) -> Vec<(ClassId, f64, f64)> {
    let mut found: Vec<_> =
        table.pairs(a, b).map(|pair| (pair.class, pair.first, pair.second)).collect();
    found.sort_by_key(|&(class, _, _)| class);
    found
}

#[test]
fn learns_and_unlearns_both_directions() {
    let mut table = PairTable::new(1000, false);
    table.learn(0, &[(1, 2.0), (4, 1.0), (9, 3.0)], 1.0);
    table.learn(1, &[(4, 1.0), (9, 1.0)], 2.0);
    table.learn(2, &[(4, 5.0), (9, 1.0)], 1.0);
    assert_eq!(found(&table, 4, 9), [(0, 1.0, 3.0), (1, 2.0, 2.0), (2, 5.0, 1.0)]);
    assert_eq!(found(&table, 9, 4), [(0, 3.0, 1.0), (1, 2.0, 2.0), (2, 1.0, 5.0)]);
    assert_eq!(found(&table, 1, 2), []);
    assert_eq!(table.len(), 5);
    table.unlearn(1, &[(4, 1.0), (9, 1.0)], 2.0);
    assert_eq!(found(&table, 4, 9), [(0, 1.0, 3.0), (2, 5.0, 1.0)]);
    table.unlearn(0, &[(1, 2.0), (4, 1.0), (9, 3.0)], 1.0);
    assert_eq!(found(&table, 4, 9), [(2, 5.0, 1.0)]);
    table.unlearn(2, &[(4, 5.0), (9, 1.0)], 1.0);
    assert!(table.is_empty());
}

#[test]
fn pairs_words_with_themselves_on_request() {
    let mut table = PairTable::new(1000, true);
    table.learn(0, &[(0, 2.0), (4, 1.0)], 1.0);
    table.learn(1, &[(0, 3.0)], 2.0);
    assert_eq!(found(&table, 0, 0), [(0, 2.0, 2.0), (1, 6.0, 6.0)]);
    assert_eq!(found(&table, 0, 4), [(0, 2.0, 1.0)]);
    assert_eq!(table.len(), 4);
    table.unlearn(0, &[(0, 2.0), (4, 1.0)], 1.0);
    assert_eq!(found(&table, 0, 0), [(1, 6.0, 6.0)]);
    assert_eq!(found(&table, 4, 4), []);
    table.unlearn(1, &[(0, 3.0)], 2.0);
    assert!(table.is_empty());
}

#[test]
fn is_dropped_at_its_limit() {
    let mut table = PairTable::new(3, false);
    table.learn(0, &[(1, 1.0), (2, 1.0), (3, 1.0)], 1.0);
    assert!(table.is_complete());
    table.learn(0, &[(1, 1.0), (4, 1.0)], 1.0);
    assert!(!table.is_complete());
    assert!(table.is_empty());
}

#[test]
fn agrees_with_a_map() {
    // A fixed sequence of learned and unlearned documents, compared with a simple map.
    let mut table = PairTable::new(100_000, false);
    let mut map = BTreeMap::<(WordId, WordId, ClassId), f64>::new();
    let mut documents = Vec::new();
    let mut state = 1u64;
    let mut next = |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 33) % below
    };
    for round in 0..3_000 {
        if round % 3 == 2 {
            let (class, words): (ClassId, Vec<(WordId, f64)>) =
                documents.swap_remove(next(documents.len() as u64) as usize);
            table.unlearn(class, &words, 1.0);
            for (i, &(a, count)) in words.iter().enumerate() {
                for &(b, _) in &words[i + 1..] {
                    *map.entry((a, b, class)).or_default() -= count;
                }
            }
            continue;
        }
        let ids: BTreeSet<WordId> = (0..next(12)).map(|_| next(60) as WordId).collect();
        let words: Vec<(WordId, f64)> =
            ids.into_iter().map(|id| (id, (1 + next(3)) as f64)).collect();
        let class = next(3) as ClassId;
        table.learn(class, &words, 1.0);
        for (i, &(a, count)) in words.iter().enumerate() {
            for &(b, _) in &words[i + 1..] {
                *map.entry((a, b, class)).or_default() += count;
            }
        }
        documents.push((class, words));
    }
    map.retain(|_, count| *count > 0.0);
    assert_eq!(table.len(), map.len());
    for (&(a, b, class), &count) in &map {
        let pair = table.pairs(a, b).find(|pair| pair.class == class);
        assert_eq!(pair.map(|pair| pair.first), Some(count));
    }
}

/// Documents of some of 60 words, with their classes; the same for each call.
fn documents(number: usize) -> Vec<Document> {
    let mut state = 1u64;
    let mut next = |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 33) % below
    };
    let mut document = |_| {
        let ids: BTreeSet<WordId> = (0..next(40)).map(|_| next(60) as WordId).collect();
        let words = ids.into_iter().map(|id| (id, (1 + next(3)) as f64)).collect();
        Document { class: next(3) as ClassId, weight: 1.0, instance_weight: 0.0, words }
    };
    (0..number).map(&mut document).collect()
}

#[test]
fn many_threads_follow_as_one() {
    let documents = documents(600);
    let enter = |document| Change { document, enters: true };
    let all: Vec<Change<'_>> = documents.iter().map(enter).collect();
    // Each document leaves after 20 later ones.
    let passing = documents.iter().zip(documents[20..].iter().map(Some).chain([None; 20]));
    let passing: Vec<Change<'_>> = all[..20]
        .iter()
        .copied()
        .chain(passing.flat_map(|(old, new)| {
            new.map(enter).into_iter().chain([Change { document: old, enters: false }])
        }))
        .collect();
    for own in [false, true] {
        for (changes, limit) in [(&all, 9_000), (&passing, 9_000), (&passing, 1_500)] {
            for threads in [1, 2, 3, 25] {
                let mut table = PairTable::new(limit, own);
                let mut expected = table.clone();
                let changes = &changes[..changes.len() - 9];
                for changes in changes.chunks(250) {
                    table.follow(changes, threads);
                    expected.follow(changes, 1);
                    assert_eq!(table.len(), expected.len());
                    assert_eq!(table.is_complete(), expected.is_complete());
                }
                assert_eq!(table.is_complete(), limit == 9_000);
                for (a, b) in (0..60).flat_map(|a| (0..60).map(move |b| (a, b))) {
                    assert_eq!(found(&table, a, b), found(&expected, a, b));
                }
            }
        }
    }
}

#[test]
fn a_table_that_exceeded_its_limit_is_dropped() {
    let document = |words: &[(WordId, f64)]| Document {
        class: 0,
        weight: 1.0,
        instance_weight: 0.0,
        words: words.into(),
    };
    let (one, other) =
        (document(&[(0, 1.0), (1, 1.0), (2, 1.0)]), document(&[(3, 1.0), (4, 1.0), (5, 1.0)]));
    let change = |(document, enters)| Change { document, enters };
    for (limit, fits) in [(5, false), (6, true)] {
        let changes = [(&one, true), (&other, true), (&one, false)].map(change);
        let mut table = PairTable::new(limit, false);
        table.follow(&changes, 2);
        assert_eq!((table.is_complete(), table.len()), (fits, if fits { 3 } else { 0 }));
        let mut table = PairTable::new(limit - 3, false);
        let changes = [(&one, true), (&one, false), (&other, true)].map(change);
        table.follow(&changes, 2);
        assert_eq!((table.is_complete(), table.len()), (fits, if fits { 3 } else { 0 }));
    }
}

#[test]
fn threads_stop_at_a_document_that_does_not_fit() {
    let words: Vec<(WordId, f64)> = (0..20_000).map(|word| (word, 1.0)).collect();
    let huge =
        Document { class: 0, weight: 1.0, instance_weight: 0.0, words: words.into_boxed_slice() };
    // Some pairs of a leaving message do not exist, but the table cannot know which.
    let small = Document { words: [(0, 1.0)].into(), ..huge.clone() };
    for leaves in [false, true] {
        let mut changes = vec![Change { document: &huge, enters: true }];
        if leaves {
            changes.push(Change { document: &small, enters: false });
        }
        let mut table = PairTable::new(10_000, false);
        table.follow(&changes, 4);
        // The document has 200 million pairs.
        assert!(!table.is_complete() && table.size() < 1 << 24, "{}", table.size());
    }
}
