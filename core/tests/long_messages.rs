//! A long message costs by its words and their postings, not by the square of its words.

mod common;

use _core::scoring::composition::{Dependence, Event};
use _core::scoring::scorer::{Scorer, Scratch};
use _core::statistics::packages::{Member, Packages};
use _core::statistics::parents::Parents;
use _core::watch::Watch;
use common::{Example, Learner, Random, UNBOUNDED, Words};

const WORDS: usize = 20_000;

const PAIRED: [Dependence; 4] =
    [Dependence::Hidden, Dependence::HiddenRatios, Dependence::Packaged, Dependence::OneDependence];

fn word(number: usize) -> String {
    format!("w{number}")
}

/// Documents of 60 random words. Every word is a parent, in packages with the next two words.
fn learner() -> Learner {
    let (mut random, mut learner) = (Random::new(7), Learner::new(UNBOUNDED));
    for document in 0..1_000 {
        let mut words = Words::new();
        (0..60).for_each(|_| *words.entry(word(random.below(WORDS))).or_insert(0.0) += 1.0);
        learner.learn(&Example { words, class: document % 2, weight: 1.0 });
    }
    let slots = learner.store.vocabulary.slots() as u32;
    let parents = Parents((0..slots).map(|word| f64::from(word + 1)).collect());
    let pairs = (0..slots - 3).flat_map(|low| (1..3).map(move |more| (low, low + more)));
    let member = |(low, high)| Member { low, high, information: f64::from(low + 1) };
    let members: Vec<Member> = pairs.map(member).collect();
    let layout = learner.store.layout;
    learner.store.swap_in(parents, layout, 0).expect("the layout is the store's");
    let packages = Packages::new(&members).expect("pairs");
    learner.store.swap_in(packages, layout, 0).expect("the layout is the store's");
    learner
}

fn scoring(dependence: Dependence, max_parents: Option<usize>) -> Scorer {
    common::scorer(Event::OneVersusAll, |c| {
        (c.parts.dependence, c.max_parents) = (dependence, max_parents);
    })
}

/// The steps of scoring a message of the first `words` words, and the number of its words and postings.
fn steps(learner: &mut Learner, scoring: &Scorer, words: usize) -> (u64, u64) {
    learner.look_up(&(0..words).map(|number| (word(number), 1.0)).collect());
    let mut scratch = Scratch::default();
    std::mem::swap(&mut scratch.message, &mut learner.scratch);
    scoring.prepare(&learner.store, &mut scratch.terms);
    let watch = Watch::default();
    scoring.score(&learner.store, &mut scratch, &watch);
    assert!(scratch.scores.len() == 2 && scratch.scores.iter().all(|score| score.is_finite()));
    let index = &learner.store.index;
    let postings =
        scratch.message.bag.words.iter().map(|&(word, _)| 1 + index.frequency(word) as u64);
    let size = postings.sum();
    std::mem::swap(&mut scratch.message, &mut learner.scratch);
    (watch.steps(), size)
}

#[test]
fn a_bound_on_parents_makes_long_messages_linear() {
    let mut learner = learner();
    for hidden in PAIRED {
        let bounded = scoring(hidden, Some(32));
        for words in [2_000, WORDS] {
            let (steps, size) = steps(&mut learner, &bounded, words);
            assert!(steps > 0 && steps <= 40 * size, "{hidden:?}: {steps} for {size}");
        }
    }
    // Without the bound they are not.
    let (steps, size) = steps(&mut learner, &scoring(Dependence::Packaged, None), 2_000);
    assert!(steps > 100 * size, "{steps} for {size}");
}

#[test]
fn a_bound_that_a_message_does_not_reach_changes_nothing() {
    let mut learner = learner();
    // The words of the first document occur together, and are in each other's packages.
    let vocabulary = &learner.store.vocabulary;
    let name = |id| String::from_utf8_lossy(vocabulary.word(id)).into_owned();
    let words: Words = (0..30).map(|id| (name(id), 2.0)).collect();
    for hidden in PAIRED {
        let any = learner.score(&scoring(hidden, None), &words);
        assert_eq!(learner.score(&scoring(hidden, Some(30)), &words), any);
        assert_ne!(learner.score(&scoring(hidden, Some(2)), &words), any);
    }
}

#[test]
fn a_watch_ends_a_long_message() {
    let mut learner = learner();
    learner.look_up(&(0..WORDS).map(|number| (word(number), 1.0)).collect());
    let goes_on = || false;
    for hidden in PAIRED {
        let scoring = scoring(hidden, None);
        let mut scratch = Scratch::default();
        std::mem::swap(&mut scratch.message, &mut learner.scratch);
        scoring.prepare(&learner.store, &mut scratch.terms);
        let watch = Watch::asking(&goes_on);
        std::thread::sleep(std::time::Duration::from_millis(60));
        assert!(watch.asks());
        scoring.score(&learner.store, &mut scratch, &watch);
        // Each of its loops ends at the first step.
        assert!(watch.steps() < 4 * WORDS as u64, "{hidden:?}: {}", watch.steps());
        std::mem::swap(&mut scratch.message, &mut learner.scratch);
    }
}
