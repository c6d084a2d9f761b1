//! Scores on effective counts, which stand in the place of documents: Bernoulli only.

use crate::counts::bag::Bag;
use crate::counts::rows::ClassId;
use crate::counts::store::Store;
use crate::scoring::parameters::{Parameters, Prior};
use crate::scoring::terms::ClassTerms;

impl Parameters {
    /// The terms of the classes from effective counts.
    pub fn prepare_effective(&self, store: &Store, terms: &mut Vec<ClassTerms>) {
        let totals = |class: ClassId| store.effective().class(class);
        let ids = || 0..store.classes().len() as ClassId;
        let exists = |&class: &ClassId| store.classes()[class as usize].exists();
        // A class that nothing counts for yet would have P(c) = 0, whatever the message: for the
        // empirical prior a class counts for one at least.
        let floor = if self.prior == Prior::Empirical { 1.0 } else { 0.0 };
        let all: f64 = ids().filter(exists).map(|class| totals(class).total.max(floor)).sum();
        let classes = store.existing_classes() as f64;
        terms.clear();
        terms.extend(ids().map(|class| {
            let totals = totals(class);
            ClassTerms {
                prior: self.log_prior(totals.total.max(floor), all, classes),
                total: totals.total,
                documents: (totals.total + 2.0 * self.alpha).ln(),
                absent: self.log_plus(totals.total),
                words: totals.words,
                absences: totals.absences,
                ..ClassTerms::default()
            }
        }));
    }

    /// The Bernoulli score on effective counts.
    pub fn add_effective(&self, store: &Store, terms: &[ClassTerms], bag: &Bag, out: &mut [f64]) {
        let effective = store.effective();
        let cells = |word| effective.cells(word).iter().map(|cell| (cell.class, cell.count));
        self.add_bernoulli(store, cells, terms, bag, out);
    }
}
