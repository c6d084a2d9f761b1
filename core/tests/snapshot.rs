//! Snapshots: canonical, and harmless when damaged.

mod common;

use _core::counts::store::{Settings, Store};
use _core::counts::term_weighting::TermWeighting;
use _core::error::Error;
use _core::scoring::composition::{Dependence, Event};
use _core::scoring::event_model::Prior;
use _core::scoring::scorer::Scorer;
use common::{Example, Learner, UNBOUNDED, assert_consistent, lengths, stream};

#[test]
fn restoring_gives_the_same_snapshot() {
    for settings in [
        UNBOUNDED,
        Settings {
            max_features: 20,
            index_size: 10,
            frequencies: false,
            columns: false,
            online_weights: true,
            term_weighting: TermWeighting::named("log-unit").expect("a name"),
            ..UNBOUNDED
        },
        Settings { index_size: 0, ..UNBOUNDED },
    ] {
        for length in [0, 1, 200] {
            let mut learner = Learner::of(settings, &stream(31, length, 60, 3));
            learner.set_parents(|word| if word.len() % 2 == 0 { 0.1 } else { 0.0 });
            let bytes = learner.snapshot();
            let restored = Store::restore(&bytes).expect("its own bytes");
            assert!(common::snapshot(&restored) == bytes);
            assert_eq!(restored.settings, settings);
            assert_eq!(restored.documents(), learner.store.documents());
            assert_consistent(&learner.store);
        }
    }
}

#[test]
fn a_restored_store_goes_on_as_the_first() {
    let settings = Settings { max_features: 40, index_size: 25, ..UNBOUNDED };
    let examples = stream(32, 200, 60, 3);
    let mut learner = Learner::of(settings, &examples[..100]);
    assert_eq!(learner.store.class_order(), [0, 1, 2]);
    let mut restored = Learner::from(Store::restore(&learner.snapshot()).expect("its own bytes"));
    for example in &examples[100..] {
        learner.learn(example);
        restored.learn(example);
        assert!(learner.snapshot() == restored.snapshot());
    }
    assert_eq!(lengths(&learner.store), lengths(&restored.store));
}

#[test]
fn the_history_does_not_show() {
    let settings = Settings { index_size: 0, ..UNBOUNDED };
    let examples = stream(33, 100, 40, 3);
    let forwards = Learner::of(settings, &examples);
    let reversed: Vec<Example> = examples.iter().rev().cloned().collect();
    let backwards = Learner::of(settings, &reversed);
    assert!(forwards.snapshot() == backwards.snapshot());
    let mut detour = Learner::of(settings, &stream(34, 50, 80, 3));
    examples.iter().for_each(|example| detour.learn(example));
    for example in &stream(34, 50, 80, 3) {
        assert_eq!(detour.unlearn(example), Ok(()));
    }
    assert!(forwards.snapshot() == detour.snapshot());
}

#[test]
fn ranks_order_the_classes() {
    let mut learner = Learner::of(UNBOUNDED, &stream(36, 30, 20, 3));
    learner.store.ranks = vec![2, 0, 1];
    assert_eq!(learner.store.class_order(), [1, 2, 0]);
    let turned: Vec<Example> = stream(36, 30, 20, 3)
        .into_iter()
        .map(|example| Example { class: [2, 0, 1][example.class as usize], ..example })
        .collect();
    assert!(learner.snapshot() == Learner::of(UNBOUNDED, &turned).snapshot());
}

/// A small store with all that a snapshot can hold: long words, fractions, parents, an empty
/// message, evicted documents.
fn small() -> Learner {
    let settings = Settings { max_features: 50, index_size: 5, ..UNBOUNDED };
    let mut learner = Learner::of(settings, &stream(37, 8, 8, 2));
    learner.learn(&Example { weight: 1.5, ..Example::new(&[("a-rather-long-word", 0.3)], 1) });
    learner.learn(&Example::new(&[], 0));
    learner.set_parents(|word| word.len() as f64 / 7.0);
    learner
}

/// Uses all that was restored, in every way; gives the snapshot it began with.
fn use_it(store: Store, other: &Store, scorings: &[Scorer]) -> Vec<u8> {
    let mut learner = Learner::from(store);
    let bytes = learner.snapshot();
    let again = Store::restore(&bytes).expect("a restored store's own snapshot");
    assert!(common::snapshot(&again) == bytes);
    assert_eq!(lengths(&learner.store), lengths(&again));
    for message in &stream(37, 8, 8, 2) {
        for scoring in scorings {
            learner.score(scoring, &message.words);
        }
        let _ = learner.unlearn(message);
    }
    for message in &stream(38, 3, 8, 2) {
        learner.learn(message);
    }
    learner.store.merge(other, &[0, 1]).expect("room");
    let _ = learner.store.subtract(other, &[0, 1]);
    learner.store.prune(2);
    learner.snapshot();
    bytes
}

#[test]
fn truncated_bytes_are_refused() {
    let bytes = small().snapshot();
    for length in 0..bytes.len() {
        assert!(matches!(Store::restore(&bytes[..length]), Err(Error::Corrupt(_))), "{length}");
    }
    let longer = [&bytes[..], &[0]].concat();
    assert!(matches!(Store::restore(&longer), Err(Error::Corrupt(_))));
}

#[test]
fn altered_bytes_are_refused_or_make_a_sound_store() {
    let other = small().store;
    let scorings = [
        (Event::Bernoulli, Dependence::Independent),
        (Event::Multinomial, Dependence::Independent),
        (Event::Complement, Dependence::Independent),
        (Event::Multinomial, Dependence::Hidden),
        (Event::Complement, Dependence::Hidden),
    ]
    .map(|(event, dependence)| {
        common::scorer(event, |c| (c.prior, c.parts.dependence) = (Prior::Laplace, dependence))
    });
    let bytes = common::snapshot(&other);
    let use_it = |store| use_it(store, &other, &scorings);
    assert_eq!(use_it(Store::restore(&bytes).expect("its own bytes")), bytes);
    let mut restored = 0;
    for place in 0..bytes.len() {
        let (before, after) = (&bytes[..place], &bytes[place + 1..]);
        let with = |middle: &[u8]| [before, middle, after].concat();
        let flipped = (0..8).map(|bit| with(&[bytes[place] ^ 1 << bit]));
        // Besides, a byte lost and a byte found.
        for altered in flipped.chain([with(&[0]), with(&[]), with(&[bytes[place], 3])]) {
            match Store::restore(&altered) {
                Ok(store) => {
                    use_it(store);
                    restored += 1;
                }
                Err(error) => assert!(matches!(error, Error::Corrupt(_)), "{error:?}"),
            }
        }
    }
    // Only a checksum, which the caller adds, tells a count from another.
    assert!(restored > 0);
}

#[test]
fn the_version_is_told() {
    let mut bytes = small().snapshot();
    bytes[8] = 9;
    let error = Store::restore(&bytes).err().expect("another version").to_string();
    assert!(error.contains("version 9"), "{error}");
    assert!(Store::restore(b"").is_err());
    assert!(Store::restore(b"PK\x03\x04streamnb").is_err());
}
