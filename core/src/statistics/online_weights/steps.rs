//! Steps of corrections, class by class, and by shares that differ from class to class.

use crate::counts::rows::ClassId;
use crate::counts::vocabulary::WordId;
use crate::statistics::correction::{Correction, Rates};
use crate::statistics::online_weights::OnlineWeights;

impl OnlineWeights {
    /// Takes a step for each of these classes, where the share of each gradient that a word has is given, `words × gradients`, and
    /// none falls below the least: a word without a share takes no step.
    pub fn step_by(
        &mut self,
        gradients: &[(ClassId, f64)],
        (bias, word): (Rates, Rates),
        words: &[(WordId, f64)],
        shares: &[f64],
        least: f64,
    ) {
        self.step_classes(gradients, bias);
        if word.rate == 0.0 || gradients.is_empty() {
            return;
        }
        for (&(id, _), shares) in words.iter().zip(shares.chunks_exact(gradients.len())) {
            self.words.reach(id);
            for (&(class, gradient), &share) in gradients.iter().zip(shares) {
                if share != 0.0 {
                    let correction = self.words.entry(id, class);
                    correction.step(gradient * share, word);
                    correction.weight = correction.weight.max(least);
                }
            }
        }
    }

    pub(super) fn step_classes(&mut self, gradients: &[(ClassId, f64)], rates: Rates) {
        for &(class, gradient) in gradients {
            if self.classes.len() <= class as usize {
                self.classes.resize(class as usize + 1, Correction::default());
            }
            if rates.rate > 0.0 {
                self.classes[class as usize].step(gradient, rates);
            }
        }
    }
}
