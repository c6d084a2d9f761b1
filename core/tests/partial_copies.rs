//! Copies of a store that are made piece by piece, while it learns.

mod common;

use _core::counts::partial::{PartialCopy, Progress};
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
fn complete(
    mut copy: PartialCopy,
    learner: &mut Learner,
    events: &mut impl Iterator<Item = Example>,
    pace: usize,
) -> Store {
    loop {
        match copy.advance(&mut learner.store) {
            Progress::Finished => return copy.into_store(),
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
