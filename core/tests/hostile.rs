//! Messages and streams that nobody sends in good faith.

mod common;

use _core::counts::store::{MAX_COUNT, Settings};
use _core::scoring::composition::{Dependence, Event};
use _core::scoring::event_model::Prior;
use common::{Example, Learner, UNBOUNDED, Words, assert_consistent, scorer, stream};

const EVENTS: [Event; 4] =
    [Event::Bernoulli, Event::Multinomial, Event::Complement, Event::OneVersusAll];

fn assert_scores_are_finite(learner: &mut Learner, message: &Words) {
    for event in EVENTS {
        let mut scores = learner.scores(&scorer(event, |c| c.prior = Prior::Laplace), message);
        if event != Event::Bernoulli {
            let hidden = scorer(event, |c| {
                (c.prior, c.parts.dependence) = (Prior::Laplace, Dependence::Hidden);
            });
            scores.extend(learner.score(&hidden, message));
        }
        assert!(scores.iter().all(|score| score.is_finite()), "{event:?}: {scores:?}");
    }
}

#[test]
fn empty_messages_are_messages() {
    let mut learner = Learner::new(UNBOUNDED);
    let scoring = scorer(Event::Multinomial, |c| c.prior = Prior::Laplace);
    assert!(learner.scores(&scoring, &Words::new()).is_empty());
    learner.learn_text("", 0);
    learner.learn_text(" .,;! a - \0", 1);
    let empty = Example::new(&[], 0);
    learner.learn(&empty);
    assert_eq!(learner.store.documents(), 3.0);
    assert_eq!(learner.store.vocabulary.len(), 0);
    assert_scores_are_finite(&mut learner, &Words::new());
    assert_consistent(&learner.store);
    assert_eq!(learner.unlearn(&empty), Ok(()));
    assert_eq!(learner.unlearn(&empty), Ok(()));
    assert!(learner.unlearn(&empty).is_err());
    assert_eq!(learner.store.documents(), 1.0);
}

#[test]
fn one_huge_message_is_learned_and_unlearned() {
    // One message adds at most a sixteenth of the bound.
    let settings = Settings { max_features: 2_000_000, index_size: 100, ..UNBOUNDED };
    let mut learner = Learner::of(settings, &stream(61, 50, 40, 2));
    learner.set_parents(|_| 0.0);
    let before = learner.snapshot();
    let words: Words = (0..100_000).map(|number| (format!("huge{number}"), 1.0)).collect();
    let huge = Example { words, class: 1, weight: 1.0 };
    let text: String = huge.words.keys().flat_map(|word| [word.as_str(), " "]).collect();
    learner.learn_text(&text, 1);
    assert!(learner.store.vocabulary.len() > 100_000);
    learner.set_parents(|word| if word.ends_with("99") { 0.5 } else { 0.0 });
    assert_scores_are_finite(&mut learner, &stream(62, 1, 40, 2)[0].words);
    assert_eq!(learner.unlearn(&huge), Ok(()));
    learner.set_parents(|_| 0.0);
    assert!(learner.snapshot() == before);
    assert_consistent(&learner.store);
}

#[test]
fn one_huge_message_does_not_pass_the_bound() {
    let settings = Settings { max_features: 1000, index_size: 10, ..UNBOUNDED };
    let mut learner = Learner::of(settings, &stream(63, 50, 40, 2));
    let text: String = (0..100_000).map(|number| format!("huge{number} ")).collect();
    learner.learn_text(&text, 1);
    assert!((900..=1000).contains(&learner.store.vocabulary.len()));
    for example in stream(64, 50, 40, 2) {
        learner.learn(&example);
    }
    assert!(learner.store.vocabulary.len() <= 1000);
    assert_scores_are_finite(&mut learner, &stream(65, 1, 40, 2)[0].words);
    assert_consistent(&learner.store);
}

#[test]
fn one_word_repeated_without_end_is_one_word() {
    let mut learner = Learner::new(UNBOUNDED);
    learner.learn_text(&"spam ".repeat(300_000), 1);
    learner.learn_text(&"x".repeat(1 << 20), 0);
    assert_eq!(learner.store.vocabulary.len(), 2);
    assert_eq!(learner.store.classes[1].tokens, 300_000.0);
    let message = [("spam".to_owned(), 1e9), ("x".repeat(1 << 20), 1.0)].into();
    assert_scores_are_finite(&mut learner, &message);
    assert_consistent(&learner.store);
}

#[test]
fn hundreds_of_classes_are_kept_apart() {
    let mut examples = stream(66, 900, 60, 300);
    for (number, example) in examples.iter_mut().enumerate() {
        example.class = number as u32 % 300;
    }
    let mut learner = Learner::of(UNBOUNDED, &examples);
    assert_eq!(learner.store.existing_classes(), 300);
    learner.set_parents(|word| if word.len() == 2 { 0.5 } else { 0.0 });
    assert_scores_are_finite(&mut learner, &examples[7].words);
    assert_consistent(&learner.store);
    for example in examples[300..].iter().rev() {
        assert_eq!(learner.unlearn(example), Ok(()));
    }
    assert_eq!(learner.store.existing_classes(), 300);
    // All cells but those of one class are taken back again.
    for example in examples[1..300].iter().rev() {
        assert_eq!(learner.unlearn(example), Ok(()));
    }
    assert_eq!(learner.store.existing_classes(), 1);
    assert_eq!(learner.store.rows.n_cells(), examples[0].words.len());
    let mut fresh = Learner::of(UNBOUNDED, &examples[..1]);
    [&mut learner, &mut fresh].into_iter().for_each(|each| each.set_parents(|_| 0.0));
    assert!(learner.snapshot() == fresh.snapshot());
}

#[test]
fn the_heaviest_message_stays_exact() {
    let light = Example::new(&[("win", 1.0)], 0);
    let heavy =
        Example { weight: MAX_COUNT / 64.0, ..Example::new(&[("win", 1.0), ("cash", 1.0)], 0) };
    let mut learner = Learner::of(UNBOUNDED, &[light.clone(), heavy.clone()]);
    assert_scores_are_finite(&mut learner, &heavy.words);
    assert_eq!(learner.unlearn(&heavy), Ok(()));
    assert_eq!(learner.snapshot(), Learner::of(UNBOUNDED, &[light]).snapshot());
}
