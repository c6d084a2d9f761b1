//! Learning and unlearning, and the bounds of a store.

mod common;

use _core::counts::rows::small_whole;
use _core::counts::store::{MAX_COUNT, Settings, Store};
use _core::counts::term_weighting::TermWeighting;
use _core::error::Error;
use common::{
    Example, Learner, Random, UNBOUNDED, assert_consistent, indexed, lengths, stream, word,
};

#[test]
fn unlearning_backwards_passes_through_every_state() {
    for index_size in [0, usize::MAX] {
        let settings = Settings { index_size, ..UNBOUNDED };
        let (mut learner, mut states) = (Learner::new(settings), Vec::new());
        let examples = stream(1, 200, 40, 3);
        for example in &examples {
            states.push(learner.snapshot());
            learner.learn(example);
        }
        assert_consistent(&learner.store);
        for (example, state) in examples.iter().zip(&states).rev() {
            assert_eq!(learner.unlearn(example), Ok(()));
            assert!(learner.snapshot() == *state, "{example:?}");
        }
        assert_eq!(learner.store.documents(), 0.0);
        assert!(learner.store.vocabulary.is_empty());
    }
}

#[test]
fn unlearning_in_any_order_leaves_what_the_others_teach() {
    let mut examples = stream(2, 150, 40, 3);
    let mut learner = Learner::of(UNBOUNDED, &examples);
    let mut random = Random::new(3);
    while !examples.is_empty() {
        let place = random.below(examples.len());
        // Of equal messages the youngest goes.
        let same = |other: &Example| *other == examples[place];
        let place = examples.iter().rposition(same).expect("at least itself");
        let gone = examples.remove(place);
        assert_eq!(learner.unlearn(&gone), Ok(()));
        if examples.len().is_multiple_of(10) {
            let fresh = Learner::of(UNBOUNDED, &examples);
            assert!(learner.snapshot() == fresh.snapshot(), "{} left", examples.len());
            assert_eq!(lengths(&learner.store), lengths(&fresh.store));
        }
    }
}

/// Messages of any words are unlearned if the counts of each word allow it, learned or not. The words
/// that most documents have are found once for many messages, so states with and without them take turns.
#[test]
fn a_message_is_refused_if_another_word_is_in_every_document() {
    let settings = Settings { index_size: 0, ..UNBOUNDED };
    let mut random = Random::new(11);
    let (mut refused, mut unlearned) = (0, 0);
    for round in 0..40 {
        let mut learner = Learner::new(settings);
        let (mut documents, mut frequencies) = (0.0, [0.0_f64; 12]);
        for _ in 0..400 {
            // Word 0 is in nearly every message, word 11 in few.
            let has: Vec<bool> = (0..12)
                .map(|place| random.below(12) > place * usize::from(random.below(30) > 0))
                .collect();
            let known = has.iter().enumerate().filter(|&(_, &has)| has);
            let words = known.map(|(place, _)| (word(place), 1.0)).collect();
            let example = Example { words, class: 0, weight: [1.0, 1.0, 2.0][random.below(3)] };
            let weight = example.weight;
            let fits = documents >= weight
                && has.iter().zip(&frequencies).all(|(&has, &frequency)| {
                    if has { frequency >= weight } else { frequency <= documents - weight }
                });
            let change = if documents < 3.0 || random.below(20) > 9 + round % 3 {
                learner.learn(&example);
                weight
            } else {
                assert_eq!(learner.unlearn(&example).is_ok(), fits, "{example:?} {frequencies:?}");
                refused += usize::from(!fits);
                unlearned += usize::from(fits);
                if !fits {
                    continue;
                }
                -weight
            };
            documents += change;
            for (frequency, _) in frequencies.iter_mut().zip(&has).filter(|&(_, &has)| has) {
                *frequency += change;
            }
            if random.below(50) == 0 {
                learner =
                    Learner::from(Store::restore(&learner.snapshot()).expect("its own bytes"));
            }
            if random.below(100) == 0 {
                learner.store.merge(&learner.store.clone(), &[0]).expect("equal settings");
                documents *= 2.0;
                frequencies.iter_mut().for_each(|frequency| *frequency *= 2.0);
            }
        }
        assert_consistent(&learner.store);
    }
    assert!(refused > 500 && unlearned > 500, "{refused} {unlearned}");
}

#[test]
fn a_part_of_the_weight_can_be_unlearned() {
    let mut example = Example::new(&[("win", 2.0), ("cash", 1.0)], 1);
    let once = Learner::of(UNBOUNDED, std::slice::from_ref(&example)).snapshot();
    example.weight = 3.0;
    let mut learner = Learner::of(UNBOUNDED, std::slice::from_ref(&example));
    example.weight = 2.0;
    assert_eq!(learner.unlearn(&example), Ok(()));
    assert_eq!(learner.snapshot(), once);
    assert!(learner.unlearn(&example).is_err());
    assert_eq!(learner.snapshot(), once);
}

#[test]
fn what_was_not_learned_can_not_be_unlearned() {
    let examples = stream(4, 100, 30, 3);
    let mut learner = Learner::of(UNBOUNDED, &examples);
    let before = learner.snapshot();
    let mut refused = 0;
    for mut other in stream(5, 300, 30, 4) {
        other.weight = 1.0;
        let known = |e: &Example| e.words == other.words && e.class == other.class;
        if examples.iter().any(known) {
            continue;
        }
        assert!(matches!(learner.unlearn(&other), Err(Error::NotLearned(_))), "{other:?}");
        refused += 1;
        assert!(learner.snapshot() == before, "{other:?}");
    }
    assert!(refused > 200, "{refused}");
    for example in &examples {
        let other_class = Example { class: (example.class + 1) % 3, ..example.clone() };
        let heavy = Example { weight: 1000.0, ..example.clone() };
        let mut longer = example.clone();
        longer.words.insert("never".into(), 1.0);
        for wrong in [heavy, longer] {
            assert!(matches!(learner.unlearn(&wrong), Err(Error::NotLearned(_))), "{wrong:?}");
        }
        if !examples.iter().any(|e| e.words == example.words && e.class == other_class.class) {
            assert!(learner.unlearn(&other_class).is_err(), "{other_class:?}");
        }
    }
    assert_eq!(learner.snapshot(), before);
    assert_consistent(&learner.store);
}

#[test]
fn without_an_index_the_counts_alone_refuse() {
    let settings = Settings { index_size: 0, ..UNBOUNDED };
    let examples = [
        Example::new(&[("win", 1.0), ("cash", 2.0)], 1),
        Example::new(&[("see", 1.0), ("you", 1.0)], 0),
        Example::new(&[("you", 1.0)], 0),
    ];
    let mut learner = Learner::of(settings, &examples);
    let before = learner.snapshot();
    for wrong in [
        Example::new(&[("win", 1.0), ("cash", 2.0)], 0),
        Example::new(&[("win", 1.0), ("cash", 2.0)], 7),
        Example::new(&[("win", 2.0)], 1),
        Example::new(&[("cash", 1.0)], 1),
        Example::new(&[("never", 1.0)], 1),
        // Both documents of the class have the word "you".
        Example::new(&[("see", 1.0)], 0),
        Example::new(&[], 0),
        Example::new(&[], 7),
    ] {
        assert!(matches!(learner.unlearn(&wrong), Err(Error::NotLearned(_))), "{wrong:?}");
        assert_eq!(learner.snapshot(), before);
    }
}

#[test]
fn weights_out_of_range_are_refused_and_zero_changes_nothing() {
    let mut learner = Learner::of(UNBOUNDED, &stream(6, 20, 20, 2));
    let before = learner.snapshot();
    let mut example = Example::new(&[("brand-new", 1.0)], 0);
    for weight in [-1.0, f64::NAN, f64::INFINITY, 2.0 * MAX_COUNT] {
        example.weight = weight;
        assert!(matches!(learner.unlearn(&example), Err(Error::Invalid(_))));
        assert_eq!(learner.snapshot(), before);
    }
    example.weight = 0.0;
    learner.learn(&example);
    assert_eq!(learner.unlearn(&example), Ok(()));
    assert_eq!(learner.snapshot(), before);
}

#[test]
fn the_index_keeps_the_latest_documents() {
    let examples = stream(7, 120, 30, 3);
    for index_size in [1, 7, 119, 120] {
        let settings = Settings { index_size, ..UNBOUNDED };
        let learner = Learner::of(settings, &examples);
        let latest = Learner::of(UNBOUNDED, &examples[examples.len() - index_size..]);
        assert_eq!(indexed(&learner.store), indexed(&latest.store));
        assert_eq!(lengths(&learner.store), lengths(&latest.store));
        assert_eq!(learner.store.documents(), examples.iter().map(|e| e.weight).sum::<f64>());
        assert_consistent(&learner.store);
    }
}

#[test]
fn evicted_documents_are_unlearned_from_the_counts() {
    let settings = Settings { index_size: 2, ..UNBOUNDED };
    let examples: Vec<Example> =
        (0..4).map(|number| Example::new(&[("shared", 1.0), (&word(number), 2.0)], 0)).collect();
    let mut learner = Learner::of(settings, &examples);
    assert_eq!(learner.unlearn(&examples[0]), Ok(()));
    let fresh = Learner::of(settings, &examples[1..]);
    assert_eq!(learner.snapshot(), fresh.snapshot());
    assert_eq!(learner.unlearn(&examples[3]), Ok(()));
    assert_eq!(learner.store.index.len(), 1);
    assert!(learner.unlearn(&examples[3]).is_err());
    assert_consistent(&learner.store);
}

#[test]
fn pruning_keeps_the_most_frequent_words() {
    let examples = stream(8, 150, 60, 3);
    let mut learner = Learner::of(UNBOUNDED, &examples);
    learner.set_parents(|word| word.len() as f64);
    let frequency = |word: &str| -> f64 {
        let with = examples.iter().filter(|example| example.words.contains_key(word));
        with.map(|example| example.weight).sum()
    };
    let mut ranked: Vec<String> = (0..60).map(word).filter(|word| frequency(word) > 0.0).collect();
    ranked.sort_by(|a, b| frequency(b).total_cmp(&frequency(a)).then(a.cmp(b)));
    ranked.truncate(20);
    learner.store.prune(20);
    assert_consistent(&learner.store);
    assert_eq!(learner.store.vocabulary.len(), 20);
    // The rest is as if only these words had ever been written.
    let cut = |example: &Example| {
        let mut example = example.clone();
        example.words.retain(|word, _| ranked.contains(word));
        example
    };
    let cut: Vec<Example> = examples.iter().map(cut).collect();
    let fresh = Learner::of(UNBOUNDED, &cut);
    assert_eq!(indexed(&learner.store), indexed(&fresh.store));
    assert_eq!(lengths(&learner.store), lengths(&fresh.store));
    for (own, other) in learner.store.classes.iter().zip(&fresh.store.classes) {
        assert_eq!((own.documents, own.tokens), (other.documents, other.tokens));
        let (own, other) = (own.frequencies(), other.frequencies());
        assert_eq!(own.collect::<Vec<_>>(), other.collect::<Vec<_>>());
    }
    // The whole messages can still be unlearned, words and all.
    for example in examples.iter().rev() {
        assert_eq!(learner.unlearn(example), Ok(()), "{example:?}");
    }
    assert_eq!(learner.store.documents(), 0.0);
    assert!(learner.store.vocabulary.is_empty());
    learner.store.prune(0);
}

#[test]
fn the_vocabulary_stays_within_its_bound() {
    for max_features in [0, 1, 10, 50] {
        let settings = Settings { max_features, index_size: 30, ..UNBOUNDED };
        let mut learner = Learner::new(settings);
        for example in stream(9, 200, 200, 3) {
            learner.learn(&example);
            assert!(learner.store.vocabulary.len() <= max_features);
        }
        assert_eq!(learner.store.index.len(), 30);
        if max_features == 0 {
            // No model has such a store, so a file with one is refused.
            assert!(Store::restore(&learner.snapshot()).is_err());
        } else {
            assert_consistent(&learner.store);
        }
    }
}

#[test]
fn any_mixture_of_changes_leaves_a_consistent_store() {
    for seed in 0..12 {
        let mut random = Random::new(seed);
        let settings = Settings {
            max_features: [usize::MAX, 30][seed as usize % 2],
            index_size: [usize::MAX, 10, 0][seed as usize % 3],
            frequencies: true,
            term_weighting: TermWeighting::named(
                ["counts", "log-unit", "unit"][seed as usize / 2 % 3],
            )
            .expect("a name"),
            ..Settings::COUNTS
        };
        let (mut learner, mut learned) = (Learner::new(settings), Vec::new());
        for example in stream(100 + seed, 100, 50, 4) {
            learner.learn(&example);
            learned.push(example);
            match random.below(8) {
                0..3 => {
                    let gone = learned.swap_remove(random.below(learned.len()));
                    unlearn_or_keep(&mut learner, &gone);
                }
                3 => {
                    let never = stream(random.below(1000) as u64, 1, 50, 5).remove(0);
                    unlearn_or_keep(&mut learner, &never);
                }
                4 => learner.store.prune(20 + random.below(30)),
                5 => {
                    let order = learner.store.class_order();
                    let store = Store::restore(&learner.snapshot()).expect("its own bytes");
                    learner = Learner::from(store);
                    // Classes without documents are gone, and the others' numbers close the gap.
                    learned.retain(|example| order.contains(&example.class));
                    for example in &mut learned {
                        let place = order.iter().position(|&class| class == example.class);
                        example.class = place.expect("only those were kept") as u32;
                    }
                }
                _ => {}
            }
            assert_consistent(&learner.store);
        }
    }
}

/// Where words were pruned or documents evicted, it may be either; but never half of it.
fn unlearn_or_keep(learner: &mut Learner, example: &Example) {
    let before = (learner.snapshot(), lengths(&learner.store));
    if learner.unlearn(example).is_err() {
        let after = (learner.snapshot(), lengths(&learner.store));
        assert!(after == before, "{example:?}");
    }
}

#[test]
fn small_whole_numbers_are_found() {
    for number in [0, 1, 2, 7, 1 << 16, (1 << 20) - 1, 1 << 20, u32::MAX] {
        assert_eq!(small_whole(f64::from(number)), (u64::from(number), true));
    }
    assert_eq!(small_whole(-0.0), (0, true));
    for number in [0.5, 0.1, 1e-300, 5e-324, 1.5, 1_048_575.999, 3.0 - 4e-16] {
        assert!(!small_whole(number).1, "{number}");
    }
    let far = [-1.0, -0.6, -3.5, -1e300, 1e15, 1e17, 1e300, f64::INFINITY, f64::NEG_INFINITY];
    for number in far.into_iter().chain([f64::NAN, -f64::NAN]) {
        let (found, is_whole) = small_whole(number);
        assert!(!is_whole || found > u64::from(u32::MAX), "{number}");
    }
}
