//! A message that is scored and then learned, or scored twice, is read and scored once.

use crate::counts::bag::Bag;
use crate::counts::message::Message;
use crate::counts::store::Store;
use crate::error::Result;
use crate::scoring::online_weights::learning::OnlineCorrection;
use crate::scoring::scorer::{Estimate, Family, Scoring};
use crate::scoring::scratch::Scratch;
use crate::statistics::online_weights::OnlineWeights;
use crate::statistics::recall::Recall;
use crate::text::tokenizer::Tokenizer;
use crate::watch::Watch;
use std::any::Any;
use std::sync::MutexGuard;

impl Scoring {
    /// Where the message is kept that was scored last, if these are the scores that are corrected,
    /// and this message is one to keep.
    pub(crate) fn recall<'a>(
        &self,
        store: &'a Store,
        message: &Message<'_>,
    ) -> Option<MutexGuard<'a, Recall>> {
        let rule = store.rule.as_deref()? as &dyn Any;
        let corrected = &rule.downcast_ref::<OnlineCorrection>()?.scoring;
        if store.settings.columns || !Recall::takes(message) || !self.scores_as(corrected) {
            return None;
        }
        store.statistic::<OnlineWeights>()?.recall()
    }

    /// Whether scores are the same, of independent words that are corrected online.
    fn scores_as(&self, other: &Self) -> bool {
        let (ours, theirs) = (&self.parameters, &other.parameters);
        let plain = |scoring: &Self| {
            scoring.family == Family::Independent && matches!(scoring.estimate, Estimate::Additive)
        };
        ours.event == theirs.event
            && ours.alpha == theirs.alpha
            && ours.prior == theirs.prior
            && ours.unseen == theirs.unseen
            && ours.vocabulary_size == theirs.vocabulary_size
            && self.weights == other.weights
            && plain(self)
            && plain(other)
    }

    /// Scores a message, which is kept from then on, if it is not the one that was.
    pub(crate) fn score_recalling(
        &self,
        store: &Store,
        tokenizer: &Tokenizer,
        message: &Message<'_>,
        scratch: &mut Scratch,
        mut recall: MutexGuard<'_, Recall>,
        watch: &Watch,
    ) {
        if recall.is(store, message) {
            scratch.scores.clear();
            scratch.scores.extend_from_slice(recall.scores());
            return;
        }
        recall.forget();
        let Scratch { tokens, bag, terms, .. } = &mut *scratch;
        let Recall { tokens: kept, unknown, .. } = &mut *recall;
        message.look_up_keeping(store, tokenizer, tokens, bag, kept, unknown);
        let scoring = self.for_counts(store);
        scoring.prepare(store, terms);
        scoring.score(store, scratch, watch);
        let Scratch { bag, scores, families, .. } = &*scratch;
        recall.keep(store, message, bag, scores, &families.corrected.values);
    }
}

impl Store {
    /// Puts the message that was scored last into a bag, ready to be learned; None if it is another.
    pub(crate) fn intern_recalled(
        &mut self,
        message: &Message<'_>,
        bag: &mut Bag,
        weight: f64,
    ) -> Option<Result<()>> {
        self.rule.as_ref()?;
        let of_message = |weights: &OnlineWeights| {
            weights.recall().is_some_and(|recall| recall.is(self, message))
        };
        if weight == 0.0 || !self.statistic().is_some_and(of_message) {
            return None;
        }
        if let Err(error) = self.check_room() {
            return Some(Err(error));
        }
        let recall = self.statistics.get_mut::<OnlineWeights>()?.take_recall();
        recall.intern(self, bag);
        self.statistics.get_mut::<OnlineWeights>()?.give_back(recall);
        Some(Ok(()))
    }
}
