//! Statistics of the counts: invalid arrays are refused, and forgotten words and classes leave nothing.

mod common;

use _core::counts::attributes::AttributeId;
use _core::counts::export::ClassRows;
use _core::counts::{ClassId, SavedOrder, Settings, Statistic, WordId};
use _core::statistics::effective::{Effective, EffectiveArrays, EffectiveClass};
use _core::statistics::packages::{Member, Packages};
use common::{Example, Learner};

fn rows(indptr: &[i64], classes: &[i64], values: &[f64]) -> ClassRows {
    ClassRows { indptr: indptr.into(), classes: classes.into(), values: values.into() }
}

/// Words and classes in the order of their ids.
fn order(words: u32, classes: u32) -> SavedOrder {
    let (words, classes) = ((0..words).collect(), (0..classes).collect());
    SavedOrder { words, classes, ..SavedOrder::default() }
}

fn arrays() -> EffectiveArrays {
    let counts = rows(&[0, 2, 2, 3], &[0, 2, 0], &[5.0, 4.0, 6.0]);
    EffectiveArrays { totals: vec![6.0, 0.0, 4.0], counts }
}

fn cells(table: &Effective, word: WordId) -> Vec<(ClassId, f64)> {
    table.cells(word).collect()
}

#[test]
fn effective_counts_have_their_sums() {
    let table = Effective::new(&arrays(), 1.0, &order(3, 3)).unwrap();
    assert_eq!(cells(&table, 0), [(0, 5.0), (2, 4.0)]);
    assert_eq!((cells(&table, 1), cells(&table, 9)), (vec![], vec![]));
    assert_eq!((table.class(0).total, table.class(0).words), (6.0, 2.0));
    assert!((table.class(0).absences.value() - (2f64.ln() + 1f64.ln())).abs() < 1e-14);
    assert_eq!(table.class(1), EffectiveClass::default());
    assert_eq!(table.class(9), EffectiveClass::default());
}

#[test]
fn effective_counts_forget_words_and_classes() {
    let mut table = Effective::new(&arrays(), 1.0, &order(3, 3)).unwrap();
    table.forget_word(0);
    table.forget_word(7);
    assert_eq!((cells(&table, 0), table.class(0).words), (vec![], 1.0));
    assert_eq!((table.class(2).words, table.class(2).total), (0.0, 4.0));
    let mut table = Effective::new(&arrays(), 1.0, &order(3, 3)).unwrap();
    table.forget_class(0);
    table.forget_class(7);
    assert_eq!((cells(&table, 0), cells(&table, 2)), (vec![(2, 4.0)], vec![]));
    assert_eq!(table.class(0), EffectiveClass::default());
    assert_eq!(table.class(2).words, 1.0);
}

#[test]
fn invalid_effective_counts_are_refused() {
    let with = |values: &[f64]| rows(&[0, 2, 2, 3], &[0, 2, 0], values);
    let wrong = [
        EffectiveArrays { counts: with(&[7.0, 4.0, 6.0]), ..arrays() },
        EffectiveArrays { counts: with(&[5.0, -1.0, 6.0]), ..arrays() },
        EffectiveArrays { counts: with(&[f64::NAN, 4.0, 6.0]), ..arrays() },
        EffectiveArrays { totals: vec![6.0, 0.0, -1.0], ..arrays() },
        EffectiveArrays { totals: vec![6.0, 0.0], ..arrays() },
    ];
    for arrays in wrong {
        assert!(Effective::new(&arrays, 1.0, &order(3, 3)).is_err());
    }
}

#[test]
fn rows_of_classes_are_read_and_written() {
    let arrays = rows(&[0, 2, 2, 3], &[2, 0, 1], &[4.0, 5.0, 6.0]);
    let read = arrays.read("counts", &order(3, 3)).expect("valid arrays");
    let order =
        SavedOrder { words: vec![2, 9, 0], classes: vec![1, 2, 0], ..SavedOrder::default() };
    assert_eq!(ClassRows::of(&read, &order), rows(&[0, 1, 1, 3], &[0, 1, 2], &[6.0, 4.0, 5.0]));
}

#[test]
fn invalid_rows_of_classes_are_refused() {
    for (indptr, classes, values) in [
        (&[0, 1][..], &[0, 1][..], &[1.0][..]),
        (&[0, 2], &[0], &[1.0]),
        (&[1, 0], &[0], &[1.0]),
        (&[0, 1], &[2], &[1.0]),
        (&[0, 1], &[-1], &[1.0]),
    ] {
        assert!(rows(indptr, classes, values).read("counts", &order(3, 2)).is_err());
    }
}

fn member(low: AttributeId, high: AttributeId, information: f64) -> Member {
    Member { low, high, information }
}

#[test]
fn packages_are_looked_up_in_both_directions() {
    let pairs = [member(0, 1, 0.5), member(0, 2, 0.25), member(3, 900, 2.0)];
    let mut packages = Packages::new(&pairs).unwrap();
    assert_eq!((packages.information(0, 2), packages.information(2, 0)), (0.25, 0.25));
    assert_eq!((packages.information(1, 2), packages.information(9, 0)), (0.0, 0.0));
    let turned = [member(0, 2, 0.25), member(1, 2, 0.5), member(3, 900, 2.0)];
    assert_eq!(packages.members(|id| if id < 3 { 2 - id } else { id }), turned);
    assert_eq!([0, 1, 3, 900, 901].map(|id| packages.strength(id)), [0.75, 0.5, 2.0, 2.0, 0.0]);
    packages.forget_attribute(0);
    assert_eq!([0, 1].map(|id| packages.strength(id)), [0.0, 0.5]);
    assert_eq!((packages.information(2, 0), packages.information(900, 3)), (0.0, 2.0));
    assert_eq!(packages.members(|id| id), [member(3, 900, 2.0)]);
    assert_eq!(Packages::new(&[]).expect("no pairs").information(0, 1), 0.0);
}

#[test]
fn invalid_packages_are_refused() {
    for bad in [member(1, 1, 0.5), member(2, 1, 0.5), member(1, 2, 0.0), member(1, 2, f64::NAN)] {
        assert!(Packages::new(&[bad]).is_err());
    }
}

#[test]
fn frequent_words_follow_the_messages() {
    let mut learner = Learner::new(Settings::COUNTS);
    assert_eq!(learner.store.frequent_words(), 0);
    learner.store.set_min_df(2);
    let example = |words: &[&str], class, weight| {
        let words: Vec<_> = words.iter().map(|&word| (word, 1.0)).collect();
        Example { weight, ..Example::new(&words, class) }
    };
    for (words, class, weight) in
        [(&["a", "b"][..], 0, 1.0), (&["b", "c"], 1, 1.0), (&["c"], 0, 2.0), (&["d"], 1, 0.1)]
    {
        learner.learn(&example(words, class, weight));
    }
    // b is in two messages of two classes; c is in one of them and in one of weight 2.
    assert_eq!(learner.store.frequent_words(), 2);
    (0..19).for_each(|_| learner.learn(&example(&["d"], 1, 0.1)));
    assert_eq!(learner.store.frequent_words(), 3);
    learner.unlearn(&example(&["b", "c"], 1, 1.0)).expect("learned");
    assert_eq!(learner.store.frequent_words(), 2);
    let mut twice = learner.store.clone();
    twice.merge(&learner.store, &[0, 1]).expect("valid");
    assert_eq!(twice.frequent_words(), 4);
}
