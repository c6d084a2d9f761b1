//! Scores equal the formulas, computed from the learned messages.

mod common;

use _core::counts::store::Settings;
use _core::scoring::composition::{Dependence, Event, Form, Sum, Traits};
use _core::scoring::event_model::{Oov, Prior, best, probabilities};
use _core::scoring::scorer::{Scorer, ScoringConfig};
use common::{
    Example, Learner, Random, UNBOUNDED, Words, assert_close, config, scorer, stream, words,
};
use std::collections::BTreeSet;

/// The event models of texts.
fn events() -> impl Iterator<Item = Event> {
    let of_texts = |event: &Event| matches!(event.traits().form, Form::Counts | Form::Presence);
    Event::ALL.iter().copied().filter(of_texts)
}

/// The formulas, computed from the learned messages without any stored counts.
struct Reference<'a> {
    examples: &'a [Example],
    scoring: &'a Scorer,
}

impl Reference<'_> {
    /// The messages of a class, or of all others.
    fn side(&self, class: u32, complement: bool) -> impl Iterator<Item = &Example> {
        self.examples.iter().filter(move |e| (e.class == class) != complement)
    }

    fn vocabulary(&self) -> BTreeSet<&String> {
        self.examples.iter().flat_map(|example| example.words.keys()).collect()
    }

    /// m; the unseen words of a message do not change it.
    fn size(&self) -> f64 {
        self.scoring.model.vocabulary_size.unwrap_or(0.0).max(self.vocabulary().len() as f64)
    }

    /// Equations 4 and 5.
    fn log_prior(&self, class: u32, complement: bool) -> f64 {
        let documents: f64 = self.side(class, complement).map(|e| e.weight).sum();
        let all: f64 = self.examples.iter().map(|e| e.weight).sum();
        let classes: BTreeSet<u32> = self.examples.iter().map(|e| e.class).collect();
        match self.scoring.model.prior {
            Prior::Empirical => (documents / all).ln(),
            Prior::Laplace => ((documents + 1.0) / (all + classes.len() as f64)).ln(),
            Prior::Uniform => 0.0,
            Prior::MEstimate => ((documents + 1.0 / classes.len() as f64) / (all + 1.0)).ln(),
        }
    }

    /// Equations 6 and 7.
    fn log_word(&self, word: &str, class: u32, complement: bool) -> f64 {
        let count: f64 = self.side(class, complement).map(|e| e.weight * e.count(word)).sum();
        let tokens: f64 = self.side(class, complement).map(|e| e.weight * e.length()).sum();
        let alpha = self.scoring.model.alpha;
        ((count + alpha) / (tokens + alpha * self.size())).ln()
    }

    fn draws(&self, message: &Words, class: u32, complement: bool) -> f64 {
        let vocabulary = self.vocabulary();
        let skip = self.scoring.model.oov == Oov::Skip;
        let words = message.iter().filter(|(word, _)| !skip || vocabulary.contains(word));
        let logs = words.map(|(word, count)| count * self.log_word(word, class, complement));
        self.log_prior(class, complement) + logs.sum::<f64>()
    }

    /// −Σ ln P(w|c̄) over all m words.
    fn normaliser(&self, class: u32) -> f64 {
        let vocabulary = self.vocabulary();
        let known: f64 = vocabulary.iter().map(|word| self.log_word(word, class, true)).sum();
        let others = self.size() - vocabulary.len() as f64;
        -known - others * self.log_word("an unseen word", class, true)
    }

    fn bernoulli(&self, message: &Words, class: u32) -> f64 {
        let alpha = self.scoring.model.alpha;
        let mut vocabulary = self.vocabulary();
        if self.scoring.model.oov == Oov::Smooth {
            vocabulary.extend(message.keys());
        }
        let documents: f64 = self.side(class, false).map(|e| e.weight).sum();
        let mut score = self.log_prior(class, false);
        for &word in &vocabulary {
            let with = self.side(class, false).filter(|e| e.words.contains_key(word));
            let p = (with.map(|e| e.weight).sum::<f64>() + alpha) / (documents + 2.0 * alpha);
            score += if message.contains_key(word) { p.ln() } else { (1.0 - p).ln() };
        }
        // Words of the fixed vocabulary that no message contains.
        let others = (self.size() - vocabulary.len() as f64).max(0.0);
        score + others * (1.0 - alpha / (documents + 2.0 * alpha)).ln()
    }

    /// The score that the traits of the event model describe.
    fn score(&self, message: &Words, class: u32) -> f64 {
        let Traits { own, complement, form, sum } = self.scoring.model.traits;
        match (form, sum) {
            (Form::Presence, Sum::Vocabulary) => self.bernoulli(message, class),
            (Form::Counts, Sum::Message) => {
                let inside = if own { self.draws(message, class, false) } else { 0.0 };
                inside - if complement { self.draws(message, class, true) } else { 0.0 }
            }
            (Form::Counts, Sum::Normalised) => {
                let prior = self.log_prior(class, true);
                -prior - (self.draws(message, class, true) - prior) / self.normaliser(class)
            }
            other => panic!("no reference for {other:?}"),
        }
    }
}

#[test]
fn scores_equal_the_formulas() {
    let examples = stream(41, 80, 30, 3);
    let mut learner = Learner::of(UNBOUNDED, &examples);
    let mut random = Random::new(42);
    // Some words of these messages are unseen.
    let messages: Vec<Words> = (0..6).map(|_| words(&mut random, 45, 15)).collect();
    for event in events() {
        for prior in [Prior::Empirical, Prior::Laplace, Prior::Uniform, Prior::MEstimate] {
            for unseen in [Oov::Smooth, Oov::Skip] {
                for (alpha, size) in [(1.0, None), (0.3, Some(12.0)), (2.5, Some(400.0))] {
                    let scoring = scorer(event, |c| {
                        (c.alpha, c.prior, c.oov, c.vocabulary_size) = (alpha, prior, unseen, size);
                    });
                    let reference = Reference { examples: &examples, scoring: &scoring };
                    for message in &messages {
                        let found = learner.scores(&scoring, message);
                        let expected: Vec<f64> =
                            (0..3).map(|class| reference.score(message, class)).collect();
                        assert_close(&found, &expected, 1e-12);
                    }
                }
            }
        }
    }
}

#[test]
fn scores_after_unlearning_equal_those_of_the_other_messages() {
    let examples = stream(43, 120, 30, 3);
    for index_size in [0, 20, usize::MAX] {
        let settings = Settings { index_size, ..UNBOUNDED };
        let mut learner = Learner::of(settings, &examples);
        for example in examples[60..].iter().rev() {
            assert_eq!(learner.unlearn(example), Ok(()));
        }
        let mut random = Random::new(44);
        for event in events() {
            let scoring = scorer(event, |c| c.prior = Prior::Laplace);
            let reference = Reference { examples: &examples[..60], scoring: &scoring };
            let message = words(&mut random, 40, 15);
            let expected: Vec<f64> = (0..3).map(|c| reference.score(&message, c)).collect();
            assert_close(&learner.scores(&scoring, &message), &expected, 1e-12);
        }
    }
}

#[test]
fn explanations_add_up() {
    let mut learner = Learner::of(UNBOUNDED, &stream(45, 80, 30, 3));
    learner.set_parents(|word| if word.len() == 2 { 0.5 } else { 0.0 });
    let message = words(&mut Random::new(46), 45, 30);
    for event in events() {
        let scoring = scorer(event, |_| {});
        let scores = learner.scores(&scoring, &message);
        let mut cases = vec![(learner.explain(&scoring, &message), scores)];
        let mut config = config(event);
        config.parts.dependence = Dependence::Hidden;
        if let Ok(hidden) = config.scorer() {
            let scores = learner.score(&hidden, &message);
            cases.push((learner.explain(&hidden, &message), scores));
        }
        for (parts, scores) in cases {
            assert!(!parts.unseen.is_empty());
            let mut sums = parts.baseline;
            for part in parts.words.iter().map(|(_, part)| part).chain(&parts.unseen) {
                sums.iter_mut().zip(part).for_each(|(sum, part)| *sum += part);
            }
            assert_close(&sums, &scores, 1e-11);
        }
    }
}

#[test]
fn decisions_follow_scores_and_ranks() {
    let mut learner = Learner::of(UNBOUNDED, &stream(47, 40, 20, 4));
    learner.store.ranks = vec![3, 1, 2, 0];
    assert_eq!(best(&learner.store, &[-1.0, -2.0, -3.0, -4.0]), Some(0));
    assert_eq!(best(&learner.store, &[-1.0, -1.0, -1.0, -4.0]), Some(1));
    let shares = probabilities(&learner.store, &[-2000.0, -2000.0, -3000.0, -2000.0]);
    assert_close(&shares, &[1.0 / 3.0, 1.0 / 3.0, 0.0, 1.0 / 3.0], 1e-15);
    let nothing = Learner::new(UNBOUNDED);
    assert_eq!(best(&nothing.store, &[]), None);
    assert!(probabilities(&nothing.store, &[]).is_empty());
}

#[test]
fn parameters_out_of_range_are_refused() {
    let new = |alpha, vocabulary_size| {
        let config = ScoringConfig { alpha, vocabulary_size, ..config(Event::Multinomial) };
        config.scorer().is_err()
    };
    for alpha in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(new(alpha, None));
    }
    for size in [0.0, f64::NAN, f64::INFINITY] {
        assert!(new(1.0, Some(size)));
    }
}
