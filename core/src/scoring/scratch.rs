//! Buffers of one thread, used again from message to message.

use crate::counts::bag::Bag;
use crate::scoring::hidden::HiddenScratch;
use crate::scoring::neighbourhood::nearest::NearestScratch;
use crate::scoring::one_dependence::OneDependenceScratch;
use crate::scoring::online_weights::Corrected;
use crate::scoring::packaged::PackagedScratch;
use crate::scoring::terms::ClassTerms;
use crate::text::tokenizer;

#[derive(Default)]
pub struct Scratch {
    pub tokens: tokenizer::Scratch,
    /// The message.
    pub bag: Bag,
    pub terms: Vec<ClassTerms>,
    /// The score of each class, by id.
    pub scores: Vec<f64>,
    pub families: FamilyScratch,
}

/// What single families need besides.
#[derive(Default)]
pub struct FamilyScratch {
    pub hidden: HiddenScratch,
    pub packaged: PackagedScratch,
    pub one_dependence: OneDependenceScratch,
    pub nearest: NearestScratch,
    pub corrected: Corrected,
}
