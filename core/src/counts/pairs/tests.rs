//! The pair table against the obvious structure.

use super::*;

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
fn pairs_words_with_themselves_where_asked() {
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
    // A fixed sequence of documents learned and unlearned, against the obvious structure.
    let mut table = PairTable::new(100_000, false);
    let mut map = std::collections::BTreeMap::<(WordId, WordId, ClassId), f64>::new();
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
        let ids: std::collections::BTreeSet<WordId> =
            (0..next(12)).map(|_| next(60) as WordId).collect();
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
