//! Hidden parents: the postings and the formulas give equal scores.

mod common;

use _core::counts::store::{Settings, Store};
use _core::scoring::composition::{Dependence, Event};
use _core::scoring::event_model::{Oov, Prior};
use _core::scoring::scorer::Scorer;
use _core::statistics::parents::Parents;
use common::{Example, Learner, Random, UNBOUNDED, Words, assert_close, stream, words};

const EVENTS: [Event; 3] = [Event::Multinomial, Event::Complement, Event::OneVersusAll];

fn scoring(event: Event, unseen: Oov) -> Scorer {
    common::scorer(event, |c| {
        (c.prior, c.oov, c.parts.dependence) = (Prior::Laplace, unseen, Dependence::Hidden);
    })
}

/// A few words are parents.
fn few(word: &str) -> f64 {
    match word {
        "w0" => 0.4,
        "w2" => 0.1,
        "a-word-of-many-bytes-3" => 0.25,
        _ => 0.0,
    }
}

/// Many words are parents.
fn many(word: &str) -> f64 {
    (word.len() % 3) as f64 / 2.0
}

/// P(w_i | hp_i, c), or P(w_i | c) without a parent, over these messages.
fn log_word(examples: &[&Example], parents: &[(&str, f64)], word: &str, size: f64) -> f64 {
    let others: Vec<_> = parents.iter().filter(|(parent, _)| *parent != word).collect();
    if others.is_empty() {
        let count: f64 = examples.iter().map(|e| e.weight * e.count(word)).sum();
        let tokens: f64 = examples.iter().map(|e| e.weight * e.length()).sum();
        return ((count + 1.0) / (tokens + size)).ln();
    }
    let (mut mixed, mut weights) = (0.0, 0.0);
    for &&(parent, weight) in &others {
        let with = examples.iter().filter(|e| e.words.contains_key(parent));
        let (mut together, mut length) = (0.0, 0.0);
        for example in with {
            together += example.weight * example.count(word);
            length += example.weight * example.length();
        }
        mixed += weight * (together + 1.0) / (length + size);
        weights += weight;
    }
    (mixed / weights).ln()
}

/// Equations 10–18, written out over the messages.
fn reference(
    examples: &[Example],
    learner: &Learner,
    scoring: &Scorer,
    message: &Words,
    weight: fn(&str) -> f64,
    classes: u32,
) -> Vec<f64> {
    let vocabulary = &learner.store.vocabulary;
    let known = |word: &str| vocabulary.find(&vocabulary.token(word.as_bytes())).is_some();
    let parents: Vec<(&str, f64)> = message
        .keys()
        .map(|word| (word.as_str(), weight(word)))
        .filter(|&(word, weight)| weight > 0.0 && known(word))
        .collect();
    let all: f64 = examples.iter().map(|e| e.weight).sum();
    let side = |class: u32, complement: bool| {
        let own: Vec<&Example> =
            examples.iter().filter(|e| (e.class == class) != complement).collect();
        let documents: f64 = own.iter().map(|e| e.weight).sum();
        let mut score = ((documents + 1.0) / (all + f64::from(classes))).ln();
        for (word, count) in message {
            if known(word) || scoring.model.oov == Oov::Smooth {
                score += count * log_word(&own, &parents, word, vocabulary.len() as f64);
            }
        }
        score
    };
    let traits = scoring.model.traits;
    let score = |class| {
        let own = if traits.own { side(class, false) } else { 0.0 };
        own - if traits.complement { side(class, true) } else { 0.0 }
    };
    (0..classes).map(score).collect()
}

/// Walks along postings add few classes at once, and many one by one.
const CLASSES: [u32; 5] = [1, 2, 3, 4, 6];

#[test]
fn postings_and_formulas_agree() {
    for classes in CLASSES {
        postings_and_formulas_agree_with(classes);
    }
}

fn postings_and_formulas_agree_with(classes: u32) {
    let examples = stream(51, 300, 25, classes as usize);
    let mut learner = Learner::of(UNBOUNDED, &examples);
    let mut random = Random::new(52);
    for weight in [few, many] {
        learner.set_parents(weight);
        for event in EVENTS {
            for unseen in [Oov::Smooth, Oov::Skip] {
                let scoring = scoring(event, unseen);
                for _ in 0..6 {
                    let message = words(&mut random, 32, 15);
                    let found = learner.score(&scoring, &message);
                    let expected =
                        reference(&examples, &learner, &scoring, &message, weight, classes);
                    assert_close(&found, &expected, 1e-12);
                }
            }
        }
    }
}

#[test]
fn a_store_that_goes_on_scores_as_a_restored_one() {
    for classes in CLASSES {
        a_store_that_goes_on_scores_as_a_restored_one_with(classes as usize);
    }
}

fn a_store_that_goes_on_scores_as_a_restored_one_with(classes: usize) {
    // Documents leave the index by age and by unlearning, and their slots are reused.
    let mut learner = Learner::new(Settings { index_size: 100, ..UNBOUNDED });
    let mut random = Random::new(53);
    let examples = stream(54, 250, 25, classes);
    for (number, example) in examples.iter().enumerate() {
        learner.learn(example);
        if number % 7 == 0 {
            let again = &examples[number - number.min(3)];
            assert_eq!(learner.unlearn(again), Ok(()));
            // Unlearn a part of it once more.
            let more = Example { weight: 2.0 * again.weight, ..again.clone() };
            learner.learn(&more);
            assert_eq!(learner.unlearn(again), Ok(()));
        }
        let weight = if number % 2 == 0 { few } else { many };
        let mut fresh = Learner::from(Store::restore(&learner.snapshot()).expect("its own bytes"));
        learner.set_parents(weight);
        fresh.set_parents(weight);
        let message = words(&mut random, 25, 10);
        for event in EVENTS {
            let scoring = scoring(event, Oov::Smooth);
            let scores = learner.score(&scoring, &message);
            let order = learner.store.class_order();
            let found: Vec<f64> = order.iter().map(|&class| scores[class as usize]).collect();
            assert_close(&found, &fresh.score(&scoring, &message), 1e-12);
        }
    }
}

#[test]
fn without_parents_the_scores_are_the_independent_ones() {
    let mut learner = Learner::of(UNBOUNDED, &stream(55, 100, 30, 3));
    let mut random = Random::new(56);
    for event in EVENTS {
        let scoring = scoring(event, Oov::Smooth);
        let message = words(&mut random, 40, 15);
        let plain = learner.scores(&scoring, &message);
        assert_close(&learner.score(&scoring, &message), &plain, 1e-12);
    }
}

#[test]
fn parents_of_another_layout_are_refused() {
    let examples = [Example::new(&[("old", 1.0)], 0), Example::new(&[("kept", 1.0)], 0)];
    let mut learner = Learner::of(UNBOUNDED, &examples);
    let layout = learner.store.layout;
    assert_eq!(learner.unlearn(&examples[0]), Ok(()));
    let parents = || Parents(vec![1.0, 1.0]);
    assert!(learner.store.swap_in(parents(), layout, 0).is_err());
    learner.learn(&Example::new(&[("new", 1.0)], 0));
    assert!((0..2).all(|id| learner.store.parents().weight(id) == 0.0));
    assert!(learner.store.swap_in(parents(), learner.store.layout, 0).is_ok());
    // A forgotten word loses its weight.
    learner.unlearn(&examples[1]).expect("learned");
    learner.learn(&Example::new(&[("other", 1.0)], 0));
    assert_eq!((0..2).map(|id| learner.store.parents().weight(id)).sum::<f64>(), 1.0);
}
