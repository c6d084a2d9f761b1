//! Which documents count for a message: those of its leaf, or those that are nearest to it.

pub mod nearest;

use crate::counts::bag::Bag;
use crate::counts::slice::Slice;
use crate::counts::store::Store;
use crate::scoring::neighbourhood::nearest::NearestScratch;
use crate::scoring::parameters::{Event, Parameters};
use crate::scoring::terms::ClassTerms;
use crate::statistics::tree::Tree;

/// The documents that count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Neighbourhood {
    /// Those of the leaf of the store's tree.
    Leaf,
    /// So many that are nearest.
    Nearest(usize),
}

impl Neighbourhood {
    /// The counts of the documents that count for a message.
    pub fn slice<'a>(
        self,
        parameters: &Parameters,
        store: &'a Store,
        bag: &Bag,
        scratch: &'a mut NearestScratch,
    ) -> Option<&'a Slice> {
        match self {
            Neighbourhood::Leaf => store.statistic::<Tree>().map(|tree| tree.slice(bag)),
            Neighbourhood::Nearest(neighbours) => {
                let whole = parameters.event == Event::Bernoulli;
                Some(scratch.slice(store, bag, neighbours, whole))
            }
        }
    }

    /// The joint log-likelihood of the bag, its words each there once, by the documents that count
    /// for it. It prepares the terms.
    pub fn scores(
        self,
        parameters: &Parameters,
        store: &Store,
        bag: &Bag,
        scratch: &mut NearestScratch,
        terms: &mut Vec<ClassTerms>,
        out: &mut Vec<f64>,
    ) {
        if let Some(slice) = self.slice(parameters, store, bag, scratch) {
            parameters.prepare_slice(store, slice, terms);
            parameters.slice_scores(store, slice, terms, bag, out);
        }
    }
}
