//! Weights of words: their totals follow the counts.

mod common;

use _core::counts::SavedOrder;
use _core::counts::store::{Settings, Store};
use _core::scoring::composition::{Event, Weights};
use _core::scoring::event_model::Prior;
use _core::scoring::scorer::Scorer;
use _core::statistics::word_weights::{WeightArrays, WordWeights};
use common::{Learner, UNBOUNDED, assert_close, stream, weights_of};

/// Words weigh 0, 1/2, 1, … by their bytes, and each class has extra tokens of some words.
fn arrays(store: &Store) -> WeightArrays {
    let mut arrays = WeightArrays { unseen: 0.5, scale: 1.0, ..WeightArrays::default() };
    arrays.tokens.indptr.push(0);
    for id in 0..store.vocabulary.slots() as u32 {
        let bytes = store.vocabulary.word(id);
        let sum: u32 = bytes.iter().map(|&byte| u32::from(byte)).sum();
        arrays.words.push(f64::from(sum % 5) / 2.0);
        if !store.rows.is_empty(id) {
            for cell in store.rows.cells(id).filter(|cell| (sum + cell.class).is_multiple_of(3)) {
                arrays.tokens.classes.push(i64::from(cell.class));
                arrays.tokens.values.push(f64::from(sum % 7));
            }
        }
        arrays.tokens.indptr.push(arrays.tokens.values.len() as i64);
    }
    arrays.documents = vec![0.5; store.classes.len()];
    arrays
}

/// Words and classes in the order of their ids.
fn every_id(store: &Store) -> SavedOrder {
    let words = (0..store.vocabulary.slots() as u32).collect();
    let classes = (0..store.classes.len() as u32).collect();
    SavedOrder { words, classes, ..SavedOrder::default() }
}

fn weigh(store: &mut Store, arrays: &WeightArrays) {
    let weights =
        WordWeights::new(arrays, &every_id(store), &store.counted()).expect("valid weights");
    let (layout, version) = (store.layout, store.version);
    assert!(store.swap_in(weights, layout, version).is_ok());
}

fn scoring(event: Event) -> Scorer {
    common::scorer(event, |c| {
        (c.prior, c.vocabulary_size) = (Prior::Laplace, Some(1000.0));
        c.parts.weights = Weights::Multiplied;
    })
}

const EVENTS: [Event; 3] = [Event::Multinomial, Event::Complement, Event::OneVersusAll];

#[test]
fn totals_follow_what_is_learned_and_unlearned() {
    let examples = stream(3, 200, 40, 3);
    let mut learner = Learner::of(UNBOUNDED, &examples[..120]);
    let first = arrays(&learner.store);
    weigh(&mut learner.store, &first);
    for (new, old) in examples[120..].iter().zip(&examples) {
        learner.learn(new);
        learner.unlearn(old).expect("it was learned");
    }
    learner.store.prune(20);
    // Restore the store, and sum up the weights again.
    let before: Vec<Vec<f64>> = (EVENTS.iter())
        .flat_map(|&event| {
            let scoring = scoring(event);
            let scores = examples.iter().map(|example| learner.scores(&scoring, &example.words));
            scores.collect::<Vec<_>>()
        })
        .collect();
    let in_use = weights_of(&learner.store);
    let mut restored = Learner::from(Store::restore(&learner.snapshot()).expect("a snapshot"));
    let order = learner.store.class_order();
    weigh(&mut restored.store, &in_use);
    let mut before = before.iter();
    for event in EVENTS {
        let scoring = scoring(event);
        for example in &examples {
            let here = before.next().expect("one for each");
            let placed: Vec<f64> = order.iter().map(|&class| here[class as usize]).collect();
            assert_close(&restored.scores(&scoring, &example.words), &placed, 1e-11);
        }
    }
}

#[test]
fn weights_of_another_layout_are_refused() {
    let examples = stream(5, 60, 30, 2);
    let mut learner = Learner::of(UNBOUNDED, &examples);
    let found = arrays(&learner.store);
    let weights = WordWeights::new(&found, &every_id(&learner.store), &learner.store.counted())
        .expect("valid weights");
    let (layout, version) = (learner.store.layout, learner.store.version);
    learner.store.prune(5);
    assert!(learner.store.swap_in(weights, layout, version).is_err());
    assert!(learner.store.statistic::<WordWeights>().is_none());
}

#[test]
fn totals_of_older_counts_are_computed_again() {
    let examples = stream(7, 80, 30, 2);
    let mut late = Learner::of(UNBOUNDED, &examples[..60]);
    let found = arrays(&late.store);
    let weights = WordWeights::new(&found, &every_id(&late.store), &late.store.counted())
        .expect("valid weights");
    let (layout, version) = (late.store.layout, late.store.version);
    let mut in_time = Learner::from(late.store.clone());
    weigh(&mut in_time.store, &found);
    for example in &examples[60..] {
        late.learn(example);
        in_time.learn(example);
    }
    assert!(late.store.swap_in(weights, layout, version).is_ok());
    for example in &examples {
        let scoring = scoring(Event::OneVersusAll);
        let expected = in_time.scores(&scoring, &example.words);
        assert_close(&late.scores(&scoring, &example.words), &expected, 1e-11);
    }
}

#[test]
fn merging_sums_totals_up() {
    let examples = stream(11, 90, 30, 2);
    let settings = Settings { index_size: 0, ..UNBOUNDED };
    let mut merged = Learner::of(settings, &examples[..50]);
    let found = arrays(&merged.store);
    weigh(&mut merged.store, &found);
    let mut together = Learner::from(merged.store.clone());
    let other = Learner::of(settings, &examples[50..]);
    merged.store.merge(&other.store, &[0, 1]).expect("room");
    examples[50..].iter().for_each(|example| together.learn(example));
    for example in &examples {
        let scoring = scoring(Event::Multinomial);
        let expected = together.scores(&scoring, &example.words);
        assert_close(&merged.scores(&scoring, &example.words), &expected, 1e-11);
    }
    let sizes = (merged.store.size(), Learner::of(settings, &examples).store.size());
    assert!(sizes.0 > sizes.1);
}
