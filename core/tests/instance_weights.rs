//! Instance weights that messages get when they are learned: they leave together with the messages.

mod common;

use _core::counts::store::{Settings, Store};
use _core::scoring::composition::{DocumentWeights, Event};
use _core::scoring::scorer::Scorer;
use _core::statistics::word_weights::{WeightArrays, WordWeights};
use common::{
    Example, Learner, UNBOUNDED, assert_close, assert_consistent, snapshot, stream, weights_of,
};
use std::sync::Arc;

const WEIGHED: Settings = Settings { frequencies: false, instance_weights: true, ..UNBOUNDED };

fn scoring() -> Arc<Scorer> {
    let weights = DocumentWeights::Instance;
    Arc::new(common::scorer(Event::Multinomial, |c| c.parts.document_weights = weights))
}

fn weighing(store: Store) -> Learner {
    let mut learner = Learner::from(store);
    learner.store.weigh_instances(scoring()).expect("a store that weighs");
    learner
}

fn state(learner: &Learner) -> (Vec<u8>, Vec<f64>, Vec<f64>) {
    let weights = weights_of(&learner.store);
    (snapshot(&learner.store), weights.documents, weights.tokens.values)
}

#[test]
fn unlearning_goes_back_through_the_same_states() {
    let examples = stream(17, 150, 40, 3);
    let mut learner = weighing(Store::new(WEIGHED));
    let (mut states, mut extras) = (Vec::new(), Vec::new());
    for example in &examples {
        states.push(state(&learner));
        extras.push(learner.learn_instance(example));
    }
    // The class of the first message is unknown, so its probability is 0.
    assert_eq!(extras[0], 1.0);
    assert!(extras.iter().any(|&extra| extra < 0.2) && extras[20..].iter().any(|&e| e > 0.8));
    let restored = weighing(Store::restore(&snapshot(&learner.store)).expect("a snapshot"));
    assert_eq!(state(&restored).0, state(&learner).0);
    assert_eq!(state(&restored).2.len(), state(&learner).2.len());
    for (example, before) in examples.iter().zip(states).rev() {
        learner.unlearn(example).expect("it was learned");
        assert!(state(&learner) == before);
    }
    assert_consistent(&learner.store);
}

#[test]
fn evicted_documents_lose_the_weight_they_were_given() {
    let examples = stream(19, 80, 40, 2);
    let settings = Settings { index_size: 10, ..WEIGHED };
    let mut learner = weighing(Store::new(settings));
    let extras: Vec<f64> = examples.iter().map(|e| learner.learn_instance(e)).collect();
    let mut expected = [0.0; 2];
    for (example, extra) in examples.iter().zip(extras).skip(70) {
        expected[example.class as usize] += example.weight * extra;
    }
    let placed: Vec<f64> =
        learner.store.class_order().iter().map(|&class| expected[class as usize]).collect();
    assert_eq!(state(&learner).1, placed);
    learner.store.prune(0);
    assert_eq!(state(&learner).1, placed);
    assert!(state(&learner).2.is_empty());
}

#[test]
fn a_store_without_instance_weights_refuses_them() {
    let mut store = Store::new(UNBOUNDED);
    assert!(store.weigh_instances(scoring()).is_err());
    let mut learner = Learner::from(store);
    assert_eq!(learner.learn_instance(&Example::new(&[("a", 1.0)], 0)), 0.0);
    assert!(learner.store.statistic::<WordWeights>().is_none());
}

#[test]
fn snapshots_with_invalid_weights_are_refused() {
    let mut learner = weighing(Store::new(WEIGHED));
    learner.learn_instance(&Example::new(&[("a", 1.0)], 0));
    let bytes = snapshot(&learner.store);
    // The extra weight of the document is 1024 steps, written as the number 2048.
    let place = bytes.windows(2).rposition(|two| two == [0x80, 0x10]).expect("it is there");
    for wrong in [[0x82, 0x10], [0xff, 0x7f]] {
        let mut altered = bytes.clone();
        altered[place..place + 2].copy_from_slice(&wrong);
        assert!(Store::restore(&altered).is_err());
    }
    let mut altered = bytes.clone();
    altered[place..place + 2].copy_from_slice(&[0x80, 0x08]);
    assert!(Store::restore(&altered).is_ok());
}

#[test]
fn weights_of_words_keep_the_instance_weights_in_use() {
    let examples = stream(23, 90, 40, 3);
    let mut learner = weighing(Store::new(Settings { index_size: 30, ..WEIGHED }));
    for example in &examples[..60] {
        learner.learn_instance(example);
    }
    let scores = |learner: &mut Learner| -> Vec<Vec<f64>> {
        examples.iter().map(|example| learner.scores(&scoring(), &example.words)).collect()
    };
    let in_use = weights_of(&learner.store);
    for late in [false, true] {
        let mut other = Learner::from(learner.store.clone());
        // All words have weight 1, and documents have no extra weight.
        let arrays = WeightArrays { unseen: 1.0, ..WeightArrays::default() };
        let weights = WordWeights::new(&arrays, &other.store).expect("valid weights");
        let (layout, version) = (other.store.layout, other.store.version);
        if late {
            for example in &examples[60..] {
                other.learn_instance(example);
            }
        }
        let expected = scores(&mut other);
        assert!(other.store.swap_in(weights, layout, version).is_ok());
        for (found, expected) in scores(&mut other).iter().zip(expected) {
            assert_close(found, &expected, 1e-11);
        }
        let exported = weights_of(&other.store);
        assert_eq!(exported.tokens == in_use.tokens, !late);
    }
}
