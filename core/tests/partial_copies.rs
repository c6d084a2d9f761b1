//! Copies of a store that are made piece by piece, while it learns.

mod common;

use _core::counts::Sample;
use _core::counts::partial::{Copied, PartialCopy, Progress};
use _core::counts::store::{Settings, Store};
use _core::scoring::composition::{Event, Weights};
use common::{Example, Learner, UNBOUNDED, assert_consistent, scorer, snapshot, stream};
use std::sync::Arc;

/// Stores of every kind of row and array: packed, wide, decaying, pruned, indexed, corrected.
fn kinds() -> Vec<Settings> {
    let plain = Settings { index_size: 0, frequencies: false, ..UNBOUNDED };
    vec![
        plain,
        UNBOUNDED,
        Settings { index_size: 50, ..UNBOUNDED },
        Settings { max_features: 3_000, ..plain },
        Settings { half_life: Some(2.0), ..plain },
        Settings { online_weights: true, ..plain },
        Settings { online_weights: true, max_features: 3_000, ..plain },
    ]
}

fn learner(settings: Settings) -> Learner {
    let mut learner = Learner::new(settings);
    if settings.online_weights {
        let scorer = scorer(Event::OneVersusAll, |config| config.parts.weights = Weights::Online);
        learner.store.correct_online(Arc::new(scorer)).expect("online weights");
    }
    learner
}

/// Messages of many words, some of them long.
fn events() -> Vec<Example> {
    let mut events = stream(5, 3_000, 6_000, 3);
    for (place, example) in events.iter_mut().enumerate() {
        let long = format!("a word of many characters, number {}", place * 7 % 1_000);
        example.words.insert(long, 1.0);
    }
    events
}

/// Complete a copy while the store learns some messages after each piece.
fn complete<T: Copied>(
    mut copy: PartialCopy<T>,
    learner: &mut Learner,
    events: &mut impl Iterator<Item = Example>,
    pace: usize,
) -> T {
    loop {
        match copy.advance(&mut learner.store) {
            Progress::Finished => return copy.into_copy(),
            Progress::Unfinished => events.take(pace).for_each(|event| learner.learn(&event)),
            Progress::Abandoned => panic!("nothing replaces an array here"),
        }
    }
}

#[test]
fn a_copy_is_the_store_of_its_beginning_whatever_is_learned_meanwhile() {
    for settings in kinds() {
        for pace in [0, 1, 40] {
            let mut learner = learner(settings);
            let mut twin = self::learner(settings);
            let mut events = events().into_iter();
            // The hashers of both find the same words in another order.
            for event in events.by_ref().take(2_000) {
                learner.learn(&event);
                twin.learn(&event);
            }
            let before = learner.snapshot();
            let copy = PartialCopy::begin(&mut learner.store);
            let mut learned = events.clone();
            let copied = complete(copy, &mut learner, &mut events, pace);
            assert!(snapshot(&copied) == before, "{settings:?}");
            assert_consistent(&copied);
            // The store itself has learned all of it, as one that was not copied.
            let rest = learned.len() - events.len();
            learned.by_ref().take(rest).for_each(|event| twin.learn(&event));
            assert!(learner.snapshot() == twin.snapshot(), "{settings:?}");
            if settings.online_weights {
                continue; // a restored store has no rule of learning yet
            }
            // The copy continues as the store did.
            let mut copied = Learner::from(copied);
            let mut original = Learner::from(Store::restore(&before).expect("its own bytes"));
            for event in events.take(200) {
                copied.learn(&event);
                original.learn(&event);
            }
            assert!(copied.snapshot() == original.snapshot(), "{settings:?}");
        }
    }
}

/// All that a sample contains, in the order of its arrays.
fn contents(sample: &Sample) -> impl PartialEq + use<> {
    let (counts, documents) = (sample.counts(), sample.documents());
    (
        (counts.class_documents, counts.class_tokens, counts.indptr, counts.classes),
        (counts.tokens, counts.documents, counts.lengths),
        (documents.classes, documents.weights, documents.indptr, documents.words),
        (documents.counts, documents.attributes, sample.word_places(), sample.class_places()),
    )
}

#[test]
fn a_sample_is_the_moment_of_its_beginning_also_beside_a_copy_of_the_store() {
    for settings in kinds() {
        for (pace, with_documents) in [(0, true), (1, true), (40, true), (40, false)] {
            let mut learner = learner(settings);
            let mut events = events().into_iter();
            events.by_ref().take(1_000).for_each(|event| learner.learn(&event));
            let before = learner.snapshot();
            let saved = PartialCopy::begin(&mut learner.store);
            events.by_ref().take(1_000).for_each(|event| learner.learn(&event));
            let expected = Sample::of(&learner.store, with_documents, Some(1));
            let copy = learner.store.begin_refresh(with_documents, 1);
            let copied = complete(copy, &mut learner, &mut events, pace);
            assert!(contents(&copied) == contents(&expected), "{settings:?}");
            let saved = complete(saved, &mut learner, &mut events, pace);
            assert!(snapshot(&saved) == before, "{settings:?}");
        }
    }
}

#[test]
fn a_failed_subtraction_leaves_a_sample_in_progress() {
    let settings = Settings { index_size: 50, ..UNBOUNDED };
    let mut learner = learner(settings);
    events().iter().take(500).for_each(|event| learner.learn(event));
    let expected = Sample::of(&learner.store, true, Some(1));
    let copy = learner.store.begin_refresh(true, 1);
    let mut other = Learner::from(Store::restore(&learner.snapshot()).expect("its own bytes"));
    events().iter().skip(500).take(1).for_each(|event| other.learn(event));
    let classes: Vec<_> = (0..other.store.classes.len() as u32).collect();
    assert!(learner.store.subtract(&other.store, &classes).is_err());
    let copied = complete(copy, &mut learner, &mut std::iter::empty(), 0);
    assert!(contents(&copied) == contents(&expected));
}

#[test]
fn another_copy_or_new_arrays_abandon_a_copy() {
    let mut learner = learner(UNBOUNDED);
    events().iter().take(500).for_each(|event| learner.learn(event));
    let mut first = PartialCopy::begin(&mut learner.store);
    let second = PartialCopy::begin(&mut learner.store);
    assert_eq!(first.advance(&mut learner.store), Progress::Abandoned);
    let before = learner.snapshot();
    let copied = complete(second, &mut learner, &mut std::iter::empty(), 0);
    assert!(snapshot(&copied) == before);
    let mut third = PartialCopy::begin(&mut learner.store);
    learner.store = Store::restore(&before).expect("its own bytes");
    assert_eq!(third.advance(&mut learner.store), Progress::Abandoned);
}
