//! Fitted weights change the score, but not the estimates.

mod common;

use _core::scoring::composition::{Event, Weights};
use _core::scoring::event_model::Prior;
use _core::scoring::scorer::Scorer;
use _core::statistics::word_weights::FittedWeights;
use common::{Example, Learner, UNBOUNDED};

/// Two classes: a b, and b b c.
fn learner() -> Learner {
    let examples =
        [Example::new(&[("a", 1.0), ("b", 1.0)], 0), Example::new(&[("b", 2.0), ("c", 1.0)], 1)];
    Learner::of(UNBOUNDED, &examples)
}

fn scoring(weights: Weights) -> Scorer {
    common::scorer(Event::Multinomial, |c| {
        (c.prior, c.parts.weights) = (Prior::Laplace, weights);
    })
}

/// Return the scores of the message "a a b new", and the sums of its explanation.
fn scores(learner: &mut Learner, weights: Weights) -> [Vec<f64>; 2] {
    let (scoring, words) = (scoring(weights), [("a", 2.0), ("b", 1.0), ("new", 1.0)]);
    let message = Example::new(&words, 0).words;
    let scores = learner.score(&scoring, &message);
    let explanation = learner.explain(&scoring, &message);
    let mut sums = explanation.baseline;
    for parts in explanation.words.iter().map(|(_, parts)| parts).chain(&explanation.unseen) {
        sums.iter_mut().zip(parts).for_each(|(sum, part)| *sum += part);
    }
    [scores, sums]
}

#[test]
fn fitted_weights_change_the_score_but_not_the_estimate() {
    let mut learner = learner();
    let plain = scores(&mut learner, Weights::Uniform);
    let (layout, version) = (learner.store.layout(), learner.store.version());
    let fitted = FittedWeights::new(vec![0.25, 3.0], 0.5).expect("weights");
    assert!(learner.store.swap_in(fitted.clone(), layout + 1, version).is_err());
    assert!(learner.store.swap_in(fitted, layout, version).is_ok());
    assert_eq!(scores(&mut learner, Weights::Uniform), plain);
    // ln P(c), and the words a, b and a new one in totals of 2 + 3 and 3 + 3.
    let expected = |prior: f64, a: f64, b: f64, new: f64| {
        0.5 * (prior.ln() + 0.25 * 2.0 * a.ln() + 3.0 * b.ln() + new.ln())
    };
    let expected = [
        expected(0.5, 2.0 / 5.0, 2.0 / 5.0, 1.0 / 5.0),
        expected(0.5, 1.0 / 6.0, 3.0 / 6.0, 1.0 / 6.0),
    ];
    for found in scores(&mut learner, Weights::Fitted) {
        for (score, expected) in found.iter().zip(expected) {
            assert!((score - expected).abs() < 1e-12);
        }
    }
    let exported = learner.store.export_statistic(FittedWeights::export);
    assert_eq!(exported, Some((vec![0.25, 3.0, 1.0], 0.5)));
    learner.store.prune(0);
    let left = learner.store.statistic::<FittedWeights>().expect("they stay in use");
    assert_eq!([0, 1, 2].map(|word| left.of_word(word)), [1.0; 3]);
}
