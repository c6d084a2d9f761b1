//! Columns: values are learned, unlearned and renamed, and snapshots keep packages.

mod common;

use _core::counts::store::{Settings, Store};
use _core::scoring::composition::Event;
use _core::scoring::event_model::Oov;
use _core::scoring::scorer::Scorer;
use _core::statistics::packages::{Member, Packages};
use common::{Example, Learner, UNBOUNDED, Words, assert_close, scorer};
use std::collections::{BTreeSet, HashMap};

const COLUMNS: Settings = Settings { columns: true, ..UNBOUNDED };

fn rows() -> Vec<Example> {
    let row = |a: &str, b: &str, class| {
        let (a, b) = (format!("a={a}"), format!("b={b}"));
        Example::new(&[(&a, 1.0), (&b, 1.0)], class)
    };
    vec![row("1", "x", 0), row("2", "x", 1), row("3", "y", 0), row("4", "x", 0), row("2", "y", 1)]
}

/// `a=1` and `a=2` become `a=12`, `a=3` and `a=4` become `a=34`.
fn names() -> HashMap<Vec<u8>, Vec<u8>> {
    [("a=1", "a=12"), ("a=2", "a=12"), ("a=3", "a=34"), ("a=4", "a=34")]
        .map(|(old, new)| (old.into(), new.into()))
        .into()
}

#[test]
fn renaming_equals_learning_the_new_names() {
    let mut renamed = Learner::of(COLUMNS, &rows());
    renamed.store.rename(&names());
    let learned: Vec<Example> = rows()
        .into_iter()
        .map(|mut example| {
            let new = |word: String| match names().get(word.as_bytes()) {
                Some(new) => String::from_utf8_lossy(new).into_owned(),
                None => word,
            };
            example.words = example.words.into_iter().map(|(w, f)| (new(w), f)).collect();
            example
        })
        .collect();
    let expected = Learner::of(COLUMNS, &learned);
    assert_eq!(renamed.store.snapshot(false), expected.store.snapshot(false));
    // Lengths are equal too.
    let word = |store: &Store, word: &str| {
        let vocabulary = &store.vocabulary;
        vocabulary.find(&vocabulary.token(word.as_bytes())).expect("learned")
    };
    for name in ["a=12", "a=34", "b=x", "b=y"] {
        let found = [&renamed.store, &expected.store].map(|store| {
            let cells = store.rows.cells(word(store, name));
            let mut lengths: Vec<_> = cells.map(|cell| (cell.class, cell.length)).collect();
            lengths.sort_by_key(|&(class, _)| class);
            lengths
        });
        assert_eq!(found[0], found[1]);
    }
}

#[test]
fn packages_survive_a_snapshot() {
    for settings in [COLUMNS, UNBOUNDED] {
        let mut learner = Learner::of(settings, &rows());
        let information = if settings.columns { 0.25 } else { 0.5 };
        let member = Member { low: 0, high: 1, information };
        let packages = Packages::new(&[member]).expect("a pair");
        let layout = learner.store.layout;
        assert!(learner.store.swap_in(packages.clone(), layout + 1, 0).is_err());
        assert!(learner.store.swap_in(packages, layout, 0).is_ok());
        let bytes = learner.store.snapshot(true);
        let restored = Store::restore(&bytes).expect("whole");
        assert_eq!(restored.snapshot(true), bytes);
        assert_ne!(learner.store.snapshot(false), bytes);
        for length in 0..bytes.len() {
            // Without the packages the snapshot is complete.
            if let Ok(store) = Store::restore(&bytes[..length]) {
                let without = learner.store.snapshot(false);
                assert_eq!(store.snapshot(true), without);
            }
        }
    }
}

/// ln P(c) + Σ ln (n_ic + α)/(n_c + α v_i), where `v` has the number of values of each attribute.
fn categories(words: &Words, class: u32, scoring: &Scorer, v: &HashMap<String, f64>) -> f64 {
    let weight = |value: Option<&String>| -> f64 {
        let with =
            |e: &&Example| e.class == class && value.is_none_or(|word| e.words.contains_key(word));
        rows().iter().filter(with).map(|e| e.weight).sum()
    };
    let known: BTreeSet<String> = rows().iter().flat_map(|e| e.words.keys().cloned()).collect();
    let all: f64 = rows().iter().map(|e| e.weight).sum();
    let mut score = (weight(None) / all).ln();
    for word in words.keys() {
        let values = v.get(word.split('=').next().expect("a name"));
        let Some(values) = values.filter(|_| scoring.model.is_smooth() || known.contains(word))
        else {
            continue;
        };
        let count = weight(Some(word)) + scoring.model.alpha;
        score += (count / (weight(None) + scoring.model.alpha * values)).ln();
    }
    score
}

#[test]
fn categories_are_smoothed_over_the_values_of_their_attribute() {
    let mut learner = Learner::of(COLUMNS, &rows());
    let mut v = HashMap::from([("a".to_owned(), 4.0), ("b".to_owned(), 2.0)]);
    let messages: [&[&str]; 5] =
        [&["a=2", "b=x"], &["a=4"], &["a=new", "b=y"], &["never=x", "b=x"], &[]];
    for declared in [2.0, 7.0] {
        learner.store.attributes.declare(b"b", declared as u32);
        v.insert("b".to_owned(), declared);
        for unseen in [Oov::Smooth, Oov::Skip] {
            for alpha in [1.0, 0.3] {
                let scoring = scorer(Event::Gaussian, |c| (c.alpha, c.oov) = (alpha, unseen));
                for message in messages {
                    let words: Words = message.iter().map(|&word| (word.to_owned(), 1.0)).collect();
                    let expected: Vec<f64> =
                        (0..2).map(|class| categories(&words, class, &scoring, &v)).collect();
                    assert_close(&learner.scores(&scoring, &words), &expected, 1e-12);
                }
            }
        }
    }
}
