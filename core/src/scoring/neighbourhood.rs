//! Which documents count for a message: those of its leaf, or those that are nearest to it.

use crate::counts::bag::Bag;
use crate::counts::slice::Slice;
use crate::counts::store::Store;
use crate::error::{Error, Result};
use crate::explain::Explanation;
use crate::scoring::nearest::NearestScratch;
use crate::scoring::scorer::{ClassTerms, Event, Scoring};

/// The documents that count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Neighbourhood {
    /// Those of the leaf of the store's tree.
    Leaf,
    /// So many that are nearest.
    Nearest(usize),
}

impl Neighbourhood {
    /// Refuses what has no meaning on a part of the documents.
    pub fn check(self, scoring: &Scoring) -> Result<()> {
        let invalid = |message: &str| Err(Error::Invalid(message.into()));
        if matches!(scoring.event, Event::Attributes | Event::Categories) {
            return invalid(
                "neighbourhoods are of texts: combine them with the event 'multinomial', \
                 'complement', 'one-versus-all' or 'bernoulli', not columns",
            );
        }
        if scoring.effective || scoring.correlation.is_some() {
            return invalid(
                "neighbourhoods need the estimate 'additive': paths and correlation factors are \
                 of the whole stream",
            );
        }
        if scoring.weighted || scoring.chi_square || scoring.minimised {
            return invalid(
                "neighbourhoods need weights and document_weights 'uniform': weights are \
                 statistics of the whole stream",
            );
        }
        Ok(())
    }

    fn slice<'a>(
        self,
        scoring: &Scoring,
        store: &'a Store,
        bag: &Bag,
        scratch: &'a mut NearestScratch,
    ) -> Option<&'a Slice> {
        match self {
            Neighbourhood::Leaf => store.tree().map(|tree| tree.slice(bag)),
            Neighbourhood::Nearest(neighbours) => {
                let whole = scoring.event == Event::Bernoulli;
                Some(scratch.slice(store, bag, neighbours, whole))
            }
        }
    }
}

impl Scoring {
    /// The joint log-likelihood of the bag, its words each there once, by the documents that count
    /// for it. It prepares the terms.
    pub fn neighbourhood_scores(
        &self,
        store: &Store,
        neighbourhood: Neighbourhood,
        bag: &Bag,
        scratch: &mut NearestScratch,
        terms: &mut Vec<ClassTerms>,
        out: &mut Vec<f64>,
    ) {
        if let Some(slice) = neighbourhood.slice(self, store, bag, scratch) {
            self.prepare_slice(store, slice, terms);
            self.slice_scores(store, slice, terms, bag, out);
        }
    }

    /// Explains that score: what each word counts for among the documents that count.
    pub fn explain_neighbourhood(
        &self,
        store: &Store,
        neighbourhood: Neighbourhood,
        bag: &Bag,
        scratch: &mut NearestScratch,
        terms: &mut Vec<ClassTerms>,
    ) -> Explanation {
        let nothing = Slice::default();
        let slice = neighbourhood.slice(self, store, bag, scratch).unwrap_or(&nothing);
        self.prepare_slice(store, slice, terms);
        self.explain_sum(store, bag, |single, scores| {
            self.slice_scores(store, slice, terms, single, scores);
        })
    }
}
