//! Hidden parents: the pair table, the postings and the formulas give equal scores.

mod common;

use _core::counts::store::Settings;
use _core::scoring::composition::{Dependence, Event};
use _core::scoring::event_model::{Oov, Prior};
use _core::scoring::scorer::Scorer;
use _core::statistics::packages::{Member, Packages};
use _core::statistics::parents::Parents;
use common::{Example, Learner, Random, UNBOUNDED, Words, assert_close, stream, words};

const EVENTS: [Event; 3] = [Event::Multinomial, Event::Complement, Event::OneVersusAll];

fn scoring(event: Event, unseen: Oov) -> Scorer {
    common::scorer(event, |c| {
        (c.prior, c.oov, c.parts.dependence) = (Prior::Laplace, unseen, Dependence::Hidden);
    })
}

/// A few words are parents, so that look-ups in the pair table are cheaper.
fn few(word: &str) -> f64 {
    match word {
        "w0" => 0.4,
        "w2" => 0.1,
        "a-word-of-many-bytes-3" => 0.25,
        _ => 0.0,
    }
}

/// Many words are parents, so that walks along the postings are cheaper.
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
    let vocabulary = learner.store.vocabulary();
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
    let traits = scoring.model.event.traits();
    let score = |class| {
        let own = if traits.own { side(class, false) } else { 0.0 };
        own - if traits.complement { side(class, true) } else { 0.0 }
    };
    (0..classes).map(score).collect()
}

/// Walks along postings add few classes at once, and many one by one.
const CLASSES: [u32; 5] = [1, 2, 3, 4, 6];

#[test]
fn pairs_postings_and_formulas_agree() {
    for classes in CLASSES {
        pairs_postings_and_formulas_agree_with(classes);
    }
}

fn pairs_postings_and_formulas_agree_with(classes: u32) {
    let examples = stream(51, 300, 25, classes as usize);
    let mut by_pairs = Learner::of(UNBOUNDED, &examples);
    let mut by_postings = Learner::of(Settings { max_pairs: 0, ..UNBOUNDED }, &examples);
    assert!(by_pairs.store.pairs().is_complete() && !by_postings.store.pairs().is_complete());
    let mut random = Random::new(52);
    for weight in [few, many] {
        by_pairs.set_parents(weight);
        by_postings.set_parents(weight);
        for event in EVENTS {
            for unseen in [Oov::Smooth, Oov::Skip] {
                let scoring = scoring(event, unseen);
                for _ in 0..6 {
                    let message = words(&mut random, 32, 15);
                    let found = by_pairs.score(&scoring, &message);
                    let walked = by_postings.score(&scoring, &message);
                    assert_close(&found, &walked, 1e-12);
                    let expected =
                        reference(&examples, &by_pairs, &scoring, &message, weight, classes);
                    assert_close(&found, &expected, 1e-12);
                }
            }
        }
    }
}

#[test]
fn both_ways_agree_while_the_stream_goes_on() {
    for classes in CLASSES {
        both_ways_agree_while_the_stream_goes_on_with(classes as usize);
    }
}

fn both_ways_agree_while_the_stream_goes_on_with(classes: usize) {
    // Documents leave the index by age and by unlearning, and their slots are reused.
    let settings = Settings { index_size: 100, ..UNBOUNDED };
    let mut by_pairs = Learner::new(settings);
    let mut by_postings = Learner::new(Settings { max_pairs: 0, ..settings });
    let mut dropped = Learner::new(Settings { max_pairs: 150, ..settings });
    let mut random = Random::new(53);
    let examples = stream(54, 250, 25, classes);
    for (number, example) in examples.iter().enumerate() {
        for learner in [&mut by_pairs, &mut by_postings, &mut dropped] {
            learner.learn(example);
            if number % 7 == 0 {
                let again = &examples[number - number.min(3)];
                assert_eq!(learner.unlearn(again), Ok(()));
                // Unlearn a part of it once more.
                let more = Example { weight: 2.0 * again.weight, ..again.clone() };
                learner.learn(&more);
                assert_eq!(learner.unlearn(again), Ok(()));
            }
            learner.set_parents(if number % 2 == 0 { few } else { many });
        }
        let message = words(&mut random, 25, 10);
        for event in EVENTS {
            let scoring = scoring(event, Oov::Smooth);
            let found = by_pairs.score(&scoring, &message);
            assert_close(&by_postings.score(&scoring, &message), &found, 1e-12);
            assert_close(&dropped.score(&scoring, &message), &found, 1e-12);
        }
    }
    assert!(by_pairs.store.pairs().is_complete() && !dropped.store.pairs().is_complete());
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
    let layout = learner.store.layout();
    assert_eq!(learner.unlearn(&examples[0]), Ok(()));
    let parents = || Parents::new(vec![1.0, 1.0]);
    assert!(learner.store.swap_in(parents(), layout, 0).is_err());
    learner.learn(&Example::new(&[("new", 1.0)], 0));
    assert!((0..2).all(|id| learner.store.parents().weight(id) == 0.0));
    assert!(learner.store.swap_in(parents(), learner.store.layout(), 0).is_ok());
    // A forgotten word loses its weight.
    learner.unlearn(&examples[1]).expect("learned");
    learner.learn(&Example::new(&[("other", 1.0)], 0));
    assert_eq!((0..2).map(|id| learner.store.parents().weight(id)).sum::<f64>(), 1.0);
}

#[test]
fn every_dependence_scores_alike_without_the_pair_table() {
    let settings = Settings { own_pairs: true, ..UNBOUNDED };
    let examples = stream(57, 200, 25, 3);
    let mut by_pairs = Learner::of(settings, &examples);
    let mut by_postings = Learner::of(Settings { max_pairs: 0, ..settings }, &examples);
    let members = (0..20).flat_map(|low| (1..3).map(move |more| (low, low + more)));
    let member = |(low, high)| Member { low, high, information: f64::from(low + 1) };
    let members: Vec<Member> = members.map(member).collect();
    for learner in [&mut by_pairs, &mut by_postings] {
        let layout = learner.store.layout();
        let packages = Packages::new(&members, 0.0).expect("pairs");
        assert!(learner.store.swap_in(packages, layout, 0).is_ok());
    }
    let mut random = Random::new(58);
    for weight in [few, many] {
        by_pairs.set_parents(weight);
        by_postings.set_parents(weight);
        for &dependence in Dependence::ALL {
            let scoring = common::scorer(Event::OneVersusAll, |c| c.parts.dependence = dependence);
            for _ in 0..6 {
                let message = words(&mut random, 32, 15);
                let found = by_pairs.score(&scoring, &message);
                assert_close(&by_postings.score(&scoring, &message), &found, 1e-12);
            }
        }
    }
}
