//! Online weights: their losses, steps, calibration and bytes.

use _core::counts::codec::{Reader, put};
use _core::counts::statistic::Statistics;
use _core::counts::{ClassId, SavedOrder, Statistic, WordId};
use _core::online::calibration::Calibration;
use _core::online::config::Loss;
use _core::online::corrections::Rates;
use _core::online::exposure::ClassExposure;
use _core::online::noise::{FlipRates, sigmoid};
use _core::online::state::OnlineWeights;
use _core::online::undo::HeadStep;

#[test]
fn gradients_are_the_derivatives_of_the_losses() {
    let value = |loss, m: f64| match loss {
        Loss::Logistic => (-m).exp().ln_1p(),
        Loss::Deviance => (-2.0 * m).exp().ln_1p(),
        Loss::Exponential => (-m).exp(),
        Loss::Squared => (1.0 - 1.0 / (1.0 + (-m).exp())).powi(2),
    };
    let step = 1e-6;
    for &loss in Loss::ALL {
        let name = loss.name();
        for score in [-3.0, -0.5, 0.0, 0.7, 4.0] {
            let slope = (value(loss, score - step) - value(loss, score + step)) / (2.0 * step);
            assert!((loss.gradient(score, true) - slope).abs() < 1e-6, "{name} {score}");
            assert_eq!(loss.gradient(-score, false), -loss.gradient(score, true));
        }
        for score in [1e9, -1e9, f64::INFINITY, f64::NEG_INFINITY] {
            assert!(loss.gradient(score, true).abs() <= 1024.0, "{name} {score}");
        }
    }
    assert!(Loss::named("hinge").is_err());
}

const UNBOUNDED: f64 = f64::NEG_INFINITY;

/// Weights with these rates of biases and words.
fn empty() -> OnlineWeights {
    let mut weights = OnlineWeights::default();
    let rates = Rates { rate: 4.0, decay: 16.0, least: UNBOUNDED };
    weights.first.set_rates(rates, 1.0, 1.0, 1.0);
    weights
}

fn step(weights: &mut OnlineWeights, gradients: &[(ClassId, f64)], words: &[WordId]) {
    let words: Vec<_> = words.iter().map(|&word| (word, 1.0)).collect();
    let step = HeadStep::new(gradients.to_vec());
    weights.first.step(&step, 1.0, &words, |_, _| 0.5);
}

fn learned() -> OnlineWeights {
    let mut weights = empty();
    step(&mut weights, &[(0, 0.5)], &[0, 3]);
    step(&mut weights, &[(1, -0.5)], &[3]);
    weights.learn_two(0, -2.0, 1.0, 0.999, FlipRates::default());
    weights
}

fn bytes(weights: &OnlineWeights, words: Vec<WordId>, classes: Vec<ClassId>) -> Vec<u8> {
    let mut bytes = Vec::new();
    weights.put(&SavedOrder { words, classes, ..SavedOrder::default() }, false, &mut bytes);
    bytes
}

#[test]
fn a_step_follows_the_gradient_with_a_shrinking_rate() {
    let weights = learned();
    let expected = |g: f64| 4.0 * g / (1.0 + 16.0 * g * g).sqrt();
    assert_eq!(weights.first.of_word(0).collect::<Vec<_>>(), [(0, expected(0.25))]);
    let both: Vec<_> = weights.first.of_word(3).collect();
    assert_eq!(both, [(0, expected(0.25)), (1, expected(-0.25))]);
    assert_eq!(weights.first.of_class(0), 0.5 / 5.0_f64.sqrt());
    assert_eq!((weights.first.of_word(9).count(), weights.first.of_class(9)), (0, 0.0));
}

#[test]
fn bytes_do_not_depend_on_ids() {
    let weights = learned();
    let mut other = empty();
    step(&mut other, &[(5, 0.5)], &[7, 2]);
    step(&mut other, &[(0, -0.5)], &[2]);
    other.learn_two(5, -2.0, 1.0, 0.999, FlipRates::default());
    let expected = bytes(&weights, vec![0, 1, 3], vec![0, 1]);
    assert_eq!(bytes(&other, vec![7, 1, 2], vec![5, 0]), expected);
    let restored = OnlineWeights::restore(&mut Reader::new(&expected), 3, 2, false).expect("whole");
    assert_eq!(bytes(&restored, vec![0, 1, 2], vec![0, 1]), expected);
    for cut in 0..expected.len() {
        let part = OnlineWeights::restore(&mut Reader::new(&expected[..cut]), 3, 2, false);
        assert!(part.is_err(), "{cut}");
    }
}

#[test]
fn forgotten_words_and_classes_leave_nothing() {
    let mut weights = learned();
    weights.forget_word(3);
    assert_eq!(weights.first.of_word(3).count(), 0);
    let mut weights = learned();
    weights.forget_class(0);
    assert_eq!((weights.first.of_word(0).count(), weights.first.of_word(3).count()), (0, 1));
    weights.forget_class(1);
    assert_eq!(bytes(&weights, vec![0, 3], vec![]), bytes(&empty(), vec![0, 3], vec![]));
}

#[test]
fn merging_averages_by_evidence() {
    let mut statistics = Statistics::default();
    statistics.put(learned());
    let mut merged = learned();
    merged.merge(&statistics, &[0, 1, 2, 3], &[0, 1], 1.0);
    let weights = |of: &OnlineWeights| of.first.of_word(3).map(|(_, w)| w).collect::<Vec<_>>();
    // Up to the step of the sums.
    for (merged, learned) in weights(&merged).iter().zip(weights(&learned())) {
        assert!((merged - learned).abs() < 1e-9, "{merged} {learned}");
    }
    let mut other = empty();
    // Words and classes have other ids in the other model.
    other.merge(&statistics, &[4, 0, 0, 1], &[1, 0], 1.0);
    assert_eq!(bytes(&other, vec![4, 1], vec![1, 0]), bytes(&learned(), vec![0, 3], vec![0, 1]));
}

#[test]
fn both_sides_are_required() {
    let mut exposure = ClassExposure::default();
    assert!(exposure.any_is_warm(0) && !exposure.any_is_warm(1));
    exposure.add(2, 9);
    assert!(!exposure.is_warm(2, 5) && !exposure.any_is_warm(5));
    exposure.add(0, 4);
    assert!(!exposure.is_warm(2, 5) && exposure.is_warm(2, 4));
    exposure.add(1, 1);
    assert!(exposure.is_warm(2, 5) && !exposure.is_warm(0, 5) && exposure.any_is_warm(5));
    exposure.forget(2);
    assert!(!exposure.any_is_warm(2));
}

#[test]
fn others_add_up_and_bytes_are_by_order() {
    let (mut one, mut other) = (ClassExposure::default(), ClassExposure::default());
    one.add(1, 3);
    other.add(0, u64::MAX);
    other.add(1, 2);
    one.merge(&other, &[1, 4]);
    let bytes_of = |exposure: &ClassExposure, classes: &[ClassId]| {
        let mut bytes = Vec::new();
        exposure.put(classes, &mut bytes);
        bytes
    };
    let mut expected = Vec::new();
    [2, u64::MAX, 0].into_iter().for_each(|messages| put(&mut expected, messages));
    assert_eq!(bytes_of(&one, &[4, 1, 0]), expected);
    let restored = ClassExposure::restore(&mut Reader::new(&expected), 3).expect("whole");
    assert_eq!(bytes_of(&restored, &[0, 1, 2]), expected);
}

/// a and k.
fn line(calibration: &Calibration) -> (f64, f64) {
    let a = calibration.log_odds(0.0);
    (a, calibration.log_odds(1.0) - a)
}

fn calibrated(sign: f64) -> Calibration {
    let mut calibration = Calibration::default();
    for i in 0..500_i32 {
        let score = f64::from(i * 7919 % 100 - 50) / 10.0;
        let outcome = f64::from(i * 31 % 97) / 97.0 < sigmoid(1.0 + 0.5 * score);
        calibration.learn(sign * score, outcome == (sign > 0.0), 1.0, 0.999, FlipRates::default());
    }
    calibration
}

#[test]
fn probabilities_equal_observed_shares() {
    let calibration = calibrated(1.0);
    let (a, k) = line(&calibration);
    assert!((a - 1.0).abs() < 0.3 && (k - 0.5).abs() < 0.15, "{calibration:?}");
}

#[test]
fn negated_scores_learn_the_mirror_image() {
    assert_eq!(calibrated(1.0).mirrored(), calibrated(-1.0));
    assert_eq!(calibrated(1.0).mirrored().mirrored(), calibrated(1.0));
}

#[test]
fn merging_is_a_mean_by_evidence() {
    let (one, mut other) = (calibrated(1.0), Calibration::default());
    other.learn(2.0, false, 1.0, 0.999, FlipRates::default());
    let (mut ab, mut ba) = (one, other);
    ab.merge(&other);
    ba.merge(&one);
    assert_eq!(ab, ba);
    let mut same = one;
    same.merge(&one);
    let ((same_a, same_k), (a, k)) = (line(&same), line(&one));
    // H₀ counts once, so the mean is nearer to the true a = 1.
    assert!((same_k - k).abs() < 0.02, "{same:?} {one:?}");
    assert!((same_a - 1.0).abs() < 0.6 * (a - 1.0).abs(), "{same:?} {one:?}");
    let (mut kept, mut taken) = (one, Calibration::default());
    kept.merge(&Calibration::default());
    taken.merge(&one);
    assert_eq!((kept, taken), (one, one));
}

#[test]
fn extreme_scores_keep_it_finite() {
    let mut calibration = Calibration::default();
    for score in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e300, -1e300, 0.0] {
        for outcome in [true, false, true] {
            calibration.learn(score, outcome, 1.0, 0.9, FlipRates::default());
            assert!(calibration.log_odds(1.0).is_finite(), "{calibration:?}");
        }
    }
}
