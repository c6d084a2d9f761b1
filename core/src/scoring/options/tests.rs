//! Names choose parts, and parts that do not go together are refused.

use super::*;

fn options(set: impl Fn(&mut Options)) -> Result<Scoring> {
    let mut options = Options::default();
    set(&mut options);
    options.scoring()
}

fn name(name: &str) -> Option<String> {
    Some(name.to_owned())
}

fn refusal(set: impl Fn(&mut Options)) -> String {
    options(set).err().expect("refused").to_string()
}

#[test]
fn names_choose_the_parts() {
    let plain = options(|_| {}).expect("the defaults");
    assert_eq!((plain.family, plain.weights), (Family::Independent, ScoreWeights::Uniform));
    assert!(matches!(plain.estimate, Estimate::Additive));
    let hidden = options(|o| o.hidden = name("probabilities")).expect("hidden parents");
    assert_eq!(hidden.family, Family::Hidden);
    let near = options(|o| {
        o.neighbourhood = name("nearest");
        o.n_neighbors = 7;
    });
    assert_eq!(near.expect("neighbours").family, Family::Near(Neighbourhood::Nearest(7)));
}

#[test]
fn weights_count_in_the_score_alone_where_words_depend_on_one_another() {
    let weighted = |hidden: Option<&str>, weights: &str| {
        let scoring = options(|o| {
            o.hidden = hidden.map(Into::into);
            o.weights = name(weights);
        });
        let Scoring { estimate, weights, .. } = scoring.expect("they go together");
        (matches!(estimate, Estimate::Weighted), weights)
    };
    assert_eq!(weighted(None, "multiplied"), (true, ScoreWeights::Uniform));
    assert_eq!(weighted(Some("packaged"), "multiplied"), (false, ScoreWeights::Words));
    for hidden in [None, Some("estimators")] {
        assert_eq!(weighted(hidden, "fitted"), (false, ScoreWeights::Fitted));
        assert_eq!(weighted(hidden, "chi-square"), (false, ScoreWeights::ChiSquare));
    }
    let both = options(|o| {
        o.instance_weights = true;
        o.weights = name("chi-square");
    });
    let both = both.expect("weights of documents and ratios of words");
    assert!(matches!(both.estimate, Estimate::Weighted));
    assert_eq!(both.weights, ScoreWeights::ChiSquare);
}

#[test]
fn names_that_are_none_are_refused() {
    for (set, what) in [
        ((|o| o.event = "poisson".into()) as fn(&mut Options), "event must be 'bernoulli', "),
        (|o| o.prior = "flat".into(), "prior must be 'empirical', "),
        (|o| o.unseen = "guess".into(), "oov must be 'smooth' or 'skip', not \"guess\""),
        (|o| o.hidden = name("parents"), "hidden must be None, "),
        (|o| o.weights = name("heavy"), "weights must be None, "),
        (|o| o.neighbourhood = name("street"), "neighbourhood must be None, "),
    ] {
        assert!(refusal(set).starts_with(what), "{}", refusal(set));
    }
}

#[test]
fn parts_that_do_not_go_together_are_refused() {
    for (set, what) in [
        ((|o| o.hidden = name("ratios")) as fn(&mut Options), "'one-versus-all' has both"),
        (|o| (o.event, o.hidden) = ("bernoulli".into(), name("packaged")), "hidden parents need"),
        (|o| (o.event, o.hidden) = ("bernoulli".into(), name("estimators")), "one-dependence"),
        (|o| (o.event, o.hidden) = ("gaussian".into(), name("packaged")), "binned numbers"),
        (|o| (o.event, o.hidden) = ("attributes".into(), name("estimators")), "with it alone"),
        (|o| o.effective = true, "words that are present"),
        (|o| (o.factor, o.hidden) = (Some(0.5), name("packaged")), "dependence 'independent'"),
        (|o| (o.factor, o.event) = (Some(0.5), "bernoulli".into()), "not 'bernoulli'"),
        (|o| (o.factor, o.weights) = (Some(0.5), name("fitted")), "estimate 'additive'"),
        (|o| (o.weights, o.event) = (name("fitted"), "attributes".into()), "word counts"),
        (|o| (o.instance_weights, o.hidden) = (true, name("packaged")), "of documents need"),
        (|o| o.weights = name("online"), "event 'one-versus-all'"),
        (
            |o| {
                (o.weights, o.event, o.online.learning_rate) =
                    (name("online"), "one-versus-all".into(), -1.0)
            },
            "from 0 on",
        ),
        (|o| (o.neighbourhood, o.hidden) = (name("leaf"), name("packaged")), "neighbourhoods"),
        (|o| (o.neighbourhood, o.event) = (name("leaf"), "attributes".into()), "of texts"),
        (|o| (o.neighbourhood, o.factor) = (name("leaf"), Some(0.5)), "whole stream"),
        (|o| (o.neighbourhood, o.weights) = (name("leaf"), name("fitted")), "'uniform'"),
    ] {
        assert!(refusal(set).contains(what), "{}", refusal(set));
    }
}
