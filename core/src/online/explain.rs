//! The contributions of words to a corrected score.

use crate::counts::{Bag, ClassId, Store, WordId};
use crate::online::config::{Effect, OnlineConfig};
use crate::online::heads::Head;
use crate::online::score::{inverse_norm, put_values};
use crate::online::state::OnlineWeights;
use crate::scoring::event_model::ClassTerms;

impl OnlineConfig {
    /// Convert the naive Bayes contributions of a message to those of its corrected scores. Return
    /// the corrections of each known word, by class.
    pub fn explain(
        &self,
        store: &Store,
        terms: &[ClassTerms],
        bag: &mut Bag,
        baseline: &mut Vec<f64>,
        words: &mut [(WordId, Vec<f64>)],
        unseen: &mut [Vec<f64>],
    ) -> Vec<(WordId, Vec<f64>)> {
        if store.existing_classes() < 2 {
            let parts = words.iter_mut().map(|(_, parts)| parts).chain(unseen);
            parts.chain([baseline]).for_each(|parts| parts.fill(0.0));
            return Vec::new();
        }
        if store.settings.term_weighting.is_counts() {
            bag.sum_up_unseen();
        }
        let weights = store.statistic::<OnlineWeights>();
        let odds: Vec<_> = words.iter_mut().map(|(_, parts)| std::mem::take(parts)).collect();
        let odds_of_unseen: Vec<_> = unseen.iter_mut().map(std::mem::take).collect();
        let classes = terms.len();
        baseline.fill(0.0);
        words.iter_mut().for_each(|(_, parts)| parts.resize(classes, 0.0));
        unseen.iter_mut().for_each(|parts| parts.resize(classes, 0.0));
        let mut learned: Vec<_> =
            words.iter().map(|&(word, _)| (word, vec![0.0; classes])).collect();
        let mut values = Vec::new();
        put_values(store, weights, bag, &mut values);
        let others = self.heads.others().iter().enumerate();
        let first = weights.map(|weights| &weights.first);
        let first = (None, first, self.effect, self.heads.start());
        let others = others.map(|(place, &other)| {
            let head = weights.and_then(|weights| weights.others.get(place));
            (Some(other), head, Effect::Multiplicative, other.start)
        });
        for (other, head, effect, start) in std::iter::once(first).chain(others) {
            let only_words = other.is_some_and(|other| other.only_words);
            let a = head.map_or(start, Head::share);
            let known = values.iter().map(|&(word, x)| (x, store.vocabulary.is_word(word)));
            let others = bag.unseen.iter().map(|unseen| (unseen.count, unseen.is_word));
            let seen = known.chain(others).filter(|&(_, is_word)| is_word || !only_words);
            let (sum, squares) =
                seen.fold((0.0, 0.0), |(sum, squares), (x, _)| (sum + x, squares + x * x));
            for (class, (base, terms)) in baseline.iter_mut().zip(terms).enumerate() {
                let bias = head.map_or(0.0, |head| head.of_class(class as ClassId));
                *base += a * (bias + (terms.prior - terms.prior_complement));
            }
            let (scale, share) = (a * self.nb_weight, inverse_norm(squares));
            for ((parts, odds), unseen) in unseen.iter_mut().zip(&odds_of_unseen).zip(&bag.unseen) {
                if unseen.is_word || !only_words {
                    parts
                        .iter_mut()
                        .zip(odds)
                        .for_each(|(part, odds)| *part += scale * (odds / sum));
                }
            }
            let known = words.iter_mut().zip(&mut learned).zip(odds.iter().zip(&values));
            for (((_, parts), (_, learned)), (odds, &(word, x))) in known {
                if only_words && !store.vocabulary.is_word(word) {
                    continue;
                }
                parts.iter_mut().zip(odds).for_each(|(part, odds)| *part += scale * (odds / sum));
                for (class, weight) in head.into_iter().flat_map(|head| head.of_word(word)) {
                    let class = class as usize;
                    let correction = match effect {
                        Effect::Additive => a * (weight * x * share),
                        Effect::Multiplicative => weight * (scale * (odds[class] / sum)),
                    };
                    parts[class] += correction;
                    learned[class] += correction;
                }
            }
        }
        learned
    }
}
