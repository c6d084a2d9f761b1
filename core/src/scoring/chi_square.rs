//! Chi-square ratios R_wc: how much more often than by chance a class has a word.

use crate::counts::{ClassId, Store};
use crate::scoring::{ClassTerms, EventModel, Query};

/// ln max(R_wc, 1), the contribution of a token to a score. `streamnb/families/chi_square.py` cites
/// the equation and the paper.
fn log_ratio(documents: f64, of_word: f64, of_class: f64, all: f64) -> f64 {
    let chance = of_word * of_class;
    if documents <= 0.0 || of_class <= 0.0 {
        // The side has no documents, or their weight is lost in rounding.
        0.0
    } else if chance < f64::MIN_POSITIVE {
        ((documents / of_word).ln() + (all.ln() - of_class.ln())).max(0.0)
    } else if documents * all > chance {
        (documents * all / chance).ln()
    } else {
        0.0
    }
}

impl EventModel {
    /// Compute the terms of the classes that the ratios need.
    pub fn prepare_chi_square(&self, store: &Store, terms: &mut [ClassTerms]) {
        for (terms, class) in terms.iter_mut().zip(&store.classes) {
            let rest = store.documents() - class.documents;
            if self.traits.complement && rest > 0.0 {
                terms.outside = (store.documents() / rest).ln();
            }
        }
    }

    /// Multiply P(w|c) and P(w|c̄) by max(R, 1), where R is how much more often than by chance the
    /// documents of the class, or of all others, contain the word.
    pub fn add_chi_square(&self, query: Query<'_>, out: &mut [f64]) {
        let Query { store, terms, bag, .. } = query;
        let all = store.documents();
        let documents = |class: ClassId| store.classes[class as usize].documents;
        let (own, complement) = (self.traits.own, self.traits.complement);
        let mut tokens = 0.0;
        for &(word, count) in &bag.words {
            tokens += count;
            let of_word: f64 = store.rows.cells(word).map(|cell| cell.documents).sum();
            for cell in store.rows.cells(word) {
                let of_class = documents(cell.class);
                let mut change = 0.0;
                if own {
                    change += log_ratio(cell.documents, of_word, of_class, all);
                }
                if complement {
                    let rest = (of_word - cell.documents).max(0.0);
                    change += terms[cell.class as usize].outside
                        - log_ratio(rest, of_word, all - of_class, all);
                }
                out[cell.class as usize] += count * change;
            }
        }
        // The complement of a class without a word has all of its documents; corrected above.
        if complement {
            for (score, class) in out.iter_mut().zip(terms) {
                *score -= tokens * class.outside;
            }
        }
    }
}
