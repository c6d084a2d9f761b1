//! The contributions of words to a corrected score.

use crate::counts::{Bag, ClassId, Store, WordId};
use crate::online::config::{Effect, OnlineConfig};
use crate::online::score::put_values;
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
        let parts = words.iter_mut().map(|(_, parts)| parts).chain(unseen);
        if store.existing_classes() < 2 {
            parts.chain([baseline]).for_each(|parts| parts.fill(0.0));
            return Vec::new();
        }
        if store.settings.term_weighting.is_counts() {
            bag.sum_up_unseen();
        }
        let mut values = Vec::new();
        let weights = store.statistic::<OnlineWeights>();
        let (sum, share) = put_values(store, weights, bag, &mut values);
        for part in parts.flatten() {
            *part = self.nb_weight * (*part / sum);
        }
        for (class, (base, terms)) in baseline.iter_mut().zip(terms).enumerate() {
            let bias = weights.map_or(0.0, |weights| weights.of_class(class as ClassId));
            *base = bias + (terms.prior - terms.prior_complement);
        }
        let correct = |(&(word, value), (_, parts)): (&(WordId, f64), &mut (_, Vec<f64>))| {
            let mut corrections = vec![0.0; parts.len()];
            for (class, weight) in weights.into_iter().flat_map(|weights| weights.of_word(word)) {
                let class = class as usize;
                corrections[class] = match self.effect {
                    Effect::Additive => weight * value * share,
                    Effect::Multiplicative => weight * parts[class],
                };
            }
            parts.iter_mut().zip(&corrections).for_each(|(part, correction)| *part += correction);
            (word, corrections)
        };
        values.iter().zip(words).map(correct).collect()
    }
}
