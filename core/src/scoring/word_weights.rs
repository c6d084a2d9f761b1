//! Scores where words or documents have weights, in the estimate and in the score.

use crate::counts::bag::Bag;
use crate::counts::rows::ClassId;
use crate::counts::store::Store;
use crate::scoring::parameters::Parameters;
use crate::scoring::terms::ClassTerms;
use crate::statistics::word_weights::{Totals, Weights};

impl Parameters {
    /// The terms of the classes, where these count for what the weights make of them.
    pub fn prepare_weighted(&self, store: &Store, weights: &Weights, terms: &mut Vec<ClassTerms>) {
        let ids = 0..store.classes().len() as ClassId;
        let totals = ids.zip(store.classes()).map(|(id, class)| {
            let Totals { documents, tokens } = weights.totals(id);
            (Totals { documents: class.documents + documents, tokens }, class)
        });
        self.prepare_classes(store, totals, 0.0, self.words(store), terms);
    }

    /// The multinomial, complement or one-versus-all score where words or documents have weights:
    /// with N_ci = W_i times what i counts in c, ± ln P ± Σ_i W_i f_i ln P(w_i | c or c̄).
    pub fn add_weighted(
        &self,
        store: &Store,
        weights: &Weights,
        terms: &[ClassTerms],
        bag: &Bag,
        out: &mut [f64],
    ) {
        let own = self.has_own_side();
        let complement = self.has_complement_side();
        let unseen = if self.is_smooth() { weights.unseen * bag.unseen_tokens() } else { 0.0 };
        let (mut tokens, mut shared) = (unseen, unseen * self.log_alpha);
        for &(word, count) in &bag.words {
            let weight = weights.of_word(word);
            if weight == 0.0 {
                continue;
            }
            let count = weight * count;
            tokens += count;
            let cells = || {
                let cells = store.rows().cells(word);
                cells.map(|cell| (cell.class, weights.count(word, cell.class, cell.tokens)))
            };
            let total: f64 = if complement { cells().map(|(_, tokens)| tokens).sum() } else { 0.0 };
            let log_total = self.log_plus(total);
            shared += count * log_total;
            // A class without the word has ln α, and the total in its complement.
            for (class, of_class) in cells() {
                let mut change = 0.0;
                if own {
                    change += self.log_plus(of_class) - self.log_alpha;
                }
                if complement {
                    change += log_total - self.log_plus((total - of_class).max(0.0));
                }
                out[class as usize] += count * change;
            }
        }
        for (score, class) in out.iter_mut().zip(terms) {
            if own {
                *score += class.prior + tokens * (self.log_alpha - class.tokens);
            }
            if complement {
                *score += tokens * class.tokens_complement - shared - class.prior_complement;
            }
        }
    }
}
