//! The core accepts the sound compositions, and their scores are right.

mod common;

use _core::counts::store::Settings;
use _core::scoring::composition::{
    Composition, Dependence, DocumentWeights, Estimate, Event, Form, Neighbourhood, Sum, Traits,
    Weights,
};
use _core::scoring::scorer::ScoringConfig;
use common::{Example, Learner, Random, UNBOUNDED, Words, assert_close, config, stream, words};

/// Every combination of parts.
fn all() -> Vec<Composition> {
    let mut found = Vec::new();
    for &event in Event::ALL {
        for &dependence in Dependence::ALL {
            for &estimate in Estimate::ALL {
                for &weights in Weights::ALL {
                    for &document_weights in DocumentWeights::ALL {
                        for &neighbourhood in Neighbourhood::ALL {
                            found.push(Composition {
                                event,
                                dependence,
                                estimate,
                                weights,
                                document_weights,
                                neighbourhood,
                            });
                        }
                    }
                }
            }
        }
    }
    found
}

/// The rules, written out for the present event models and parts.
fn is_sound(c: Composition) -> bool {
    let independent = c.dependence == Dependence::Independent;
    let additive = c.estimate == Estimate::Additive;
    let unweighted =
        c.weights == Weights::Uniform && c.document_weights == DocumentWeights::Uniform;
    let plain = independent && additive && unweighted;
    if c.neighbourhood != Neighbourhood::Stream {
        return plain
            && !matches!(
                c.event,
                Event::NormalisedComplement | Event::Attributes | Event::Gaussian
            );
    }
    match c.event {
        Event::NormalisedComplement | Event::Gaussian => plain,
        Event::Attributes => {
            additive && unweighted && (independent || c.dependence == Dependence::Packaged)
        }
        Event::Bernoulli => independent && unweighted && c.estimate != Estimate::Correlation,
        Event::Multinomial | Event::Complement | Event::OneVersusAll => {
            let both = c.event == Event::OneVersusAll;
            let instance = c.document_weights == DocumentWeights::Instance;
            let estimated = match c.estimate {
                Estimate::Additive => true,
                Estimate::Correlation => independent && unweighted,
                Estimate::Effective => false,
            };
            let weighted = match c.weights {
                Weights::Uniform | Weights::Multiplied | Weights::ChiSquare => true,
                Weights::Exponents => !instance,
                Weights::Online => both && independent && !instance,
            };
            let mixed = c.dependence != Dependence::HiddenRatios || both;
            estimated && weighted && mixed && (independent || !instance)
        }
    }
}

#[test]
fn the_core_accepts_sound_compositions_and_refuses_every_other() {
    let mut accepted = 0;
    for parts in all() {
        let scorer = ScoringConfig { parts, ..config(parts.event) }.scorer();
        assert_eq!(scorer.is_ok(), is_sound(parts), "{parts:?}");
        match scorer {
            Ok(_) => accepted += 1,
            Err(error) => {
                let text = error.to_string();
                assert!(text.contains(" need") && text.contains("not '"), "{text}");
            }
        }
    }
    assert_eq!((all().len(), accepted), (3150, 79));
}

/// Rows of two attributes, as words.
fn rows() -> Vec<Example> {
    let mut random = Random::new(5);
    let row = |(a, b, class): (usize, usize, usize)| {
        let (a, b) = (format!("a={a}"), format!("b={b}"));
        Example::new(&[(&a, 1.0), (&b, 1.0)], class as u32)
    };
    (0..60).map(|_| row((random.below(4), random.below(3), random.below(3)))).collect()
}

/// A store that has learned documents which the event model can read, and new documents.
fn scene(event: Event) -> (Learner, Vec<Words>) {
    match event.traits().form {
        Form::Counts | Form::Presence => {
            let mut learner = Learner::of(UNBOUNDED, &stream(61, 80, 30, 3));
            learner.store.init_tree();
            let mut random = Random::new(62);
            (learner, (0..5).map(|_| words(&mut random, 45, 15)).collect())
        }
        Form::Values | Form::Numbers => {
            let settings = Settings { columns: true, ..UNBOUNDED };
            let (learned, new) = (rows(), rows());
            let words = new.into_iter().take(5).map(|row| row.words);
            (Learner::of(settings, &learned), words.collect())
        }
    }
}

/// Before any statistic is computed, words have no parents, all weights are 1 and the tree has one
/// leaf. So a composition scores as its event model does, or as the formula of the part says.
#[test]
fn accepted_compositions_score_as_their_event_models_without_statistics() {
    for parts in all().into_iter().filter(|&parts| parts.check().is_ok()) {
        let (mut learner, messages) = scene(parts.event);
        let scorer = ScoringConfig { parts, n_neighbors: 1000, ..config(parts.event) };
        let scorer = scorer.scorer().expect("accepted");
        let plain = config(parts.event).scorer().expect("plain parts");
        for message in &messages {
            let found = learner.score(&scorer, message);
            assert!(found.len() == 3 && found.iter().all(|score| score.is_finite()), "{parts:?}");
            let explanation = learner.explain(&scorer, message);
            let mut sums = explanation.baseline;
            for part in explanation.words.iter().map(|(_, part)| part).chain(&explanation.unseen) {
                sums.iter_mut().zip(part).for_each(|(sum, part)| *sum += part);
            }
            assert_close(&sums, &found, 1e-10);
            let expected = learner.score(&plain, message);
            let neutral = parts.estimate == Estimate::Additive
                && matches!(
                    parts.weights,
                    Weights::Uniform | Weights::Multiplied | Weights::Exponents
                )
                && parts.dependence != Dependence::HiddenRatios
                && parts.neighbourhood != Neighbourhood::Nearest;
            if neutral {
                assert_close(&found, &expected, 1e-10);
            } else if parts.weights == Weights::Online {
                // b_k = 0 and r_ik = 0: the prior, and 5 times the mean of the log odds.
                let priors = learner.score(&plain, &Words::new());
                let tokens: f64 = message.values().sum();
                let online = |(score, prior): (&f64, &f64)| {
                    if tokens > 0.0 { prior + 5.0 * (score - prior) / tokens } else { *prior }
                };
                let expected: Vec<f64> = expected.iter().zip(&priors).map(online).collect();
                assert_close(&found, &expected, 1e-10);
            }
        }
    }
}

#[test]
fn traits_tell_event_models_apart() {
    let traits: Vec<Traits> = Event::ALL.iter().map(|event| event.traits()).collect();
    for (place, one) in traits.iter().enumerate() {
        assert!(one.own || one.complement);
        assert!(!traits[..place].contains(one), "{one:?}");
    }
    let sums = |sum| traits.iter().filter(|traits| traits.sum == sum).count();
    assert_eq!((sums(Sum::Vocabulary), sums(Sum::Normalised)), (1, 1));
}

#[test]
fn names_are_read_and_written() {
    for &event in Event::ALL {
        assert_eq!(Event::named(event.name()), Ok(event));
    }
    let error = Dependence::named("parents").expect_err("no such dependence").to_string();
    assert_eq!(
        error,
        "dependence must be 'independent', 'hidden', 'hidden-ratios', 'one-dependence' or \
         'packaged', not \"parents\""
    );
}

#[test]
fn refusals_name_the_problem_and_the_allowed_values() {
    let refusal = |set: fn(&mut Composition)| {
        let mut parts = config(Event::Multinomial).parts;
        set(&mut parts);
        parts.check().expect_err("refused").to_string()
    };
    assert_eq!(
        refusal(|c| (c.event, c.dependence) = (Event::Bernoulli, Dependence::Hidden)),
        "hidden parents need an event model that adds up word counts: event must be \
         'multinomial', 'complement' or 'one-versus-all', not 'bernoulli'"
    );
    assert_eq!(
        refusal(|c| (c.weights, c.neighbourhood) = (Weights::ChiSquare, Neighbourhood::Tree)),
        "word weights need neighbourhood 'stream', not 'tree': weights are statistics of the \
         counts of the whole stream"
    );
}
