//! Chi-square ratios R_wc: how much more often than by chance a word stands in a class.

use crate::counts::bag::Bag;
use crate::counts::rows::ClassId;
use crate::counts::store::Store;
use crate::scoring::parameters::Parameters;
use crate::scoring::terms::ClassTerms;

/// What a word's ratio to its independence of the class adds to a score: Equation and paper are in
/// `streamnb/parts/weights.py`.
fn log_ratio(documents: f64, of_word: f64, of_class: f64, all: f64) -> f64 {
    if documents * all > of_word * of_class {
        (documents * all / (of_word * of_class)).ln()
    } else {
        0.0
    }
}

impl Parameters {
    /// The terms of the classes that the ratios need.
    pub fn prepare_chi_square(&self, store: &Store, terms: &mut [ClassTerms]) {
        for (terms, class) in terms.iter_mut().zip(store.classes()) {
            let rest = store.documents() - class.documents;
            if self.has_complement_side() && rest > 0.0 {
                terms.outside = (store.documents() / rest).ln();
            }
        }
    }

    /// Multiplies P(w|c), and P(w|c̄), by how much more often than by chance the word stands in
    /// documents of the class, or outside it, where that is more than 1.
    pub fn add_chi_square(&self, store: &Store, terms: &[ClassTerms], bag: &Bag, out: &mut [f64]) {
        let all = store.documents();
        let documents = |class: ClassId| store.classes()[class as usize].documents;
        let (own, complement) = (self.has_own_side(), self.has_complement_side());
        let mut tokens = 0.0;
        for &(word, count) in &bag.words {
            tokens += count;
            let of_word: f64 = store.rows().cells(word).map(|cell| cell.documents).sum();
            for cell in store.rows().cells(word) {
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
        // As if no class had the words: then all of their documents are outside it.
        if complement {
            for (score, class) in out.iter_mut().zip(terms) {
                *score -= tokens * class.outside;
            }
        }
    }
}
