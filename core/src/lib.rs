//! The native core of streamnb: tokenise messages, count words, score classes.
//!
//! Data flows one way: text → tokens ([`text`]) → ids and counts ([`counts`]) → periodic statistics
//! of the counts ([`statistics`]) → scores ([`scoring`]) and the contribution of each word to them
//! ([`explain`]). Only the bindings depend on Python.

#[macro_use]
pub mod error;
/// Word counts by class: vocabulary, rows, document index, slices, snapshots.
pub mod counts {
    pub mod alloc;
    pub mod array;
    pub mod attributes;
    pub mod bag;
    pub mod batch;
    pub mod clock;
    pub mod codec;
    pub mod export;
    pub mod forgetting;
    pub mod index;
    pub mod merge;
    pub mod message;
    pub mod partial;
    pub mod prune;
    pub mod rows;
    pub mod sample;
    pub mod slice;
    pub mod snapshot;
    pub mod statistic;
    pub mod store;
    pub mod term_weighting;
    pub mod unlearn;
    pub mod vocabulary;

    pub use self::attributes::AttributeId;
    pub use self::bag::Bag;
    pub use self::index::Document;
    pub use self::message::{AsMessage, Message, MessageScratch, WordCounts};
    pub use self::rows::{Cell, Cells, Class, ClassId, Rows};
    pub use self::sample::Sample;
    pub use self::slice::Slice;
    pub use self::statistic::{Counted, SavedOrder, Statistic};
    pub use self::store::{LearningRule, MAX_COUNT, Settings, Store};
    pub use self::vocabulary::{Vocabulary, WordId};
}
pub mod explain;
pub mod mail;
/// Counts to scores: the terms of each event model, and a file for each family.
pub mod scoring {
    pub mod chi_square;
    pub mod composition;
    pub mod cooccurrence;
    pub mod correlation;
    pub mod event_model;
    pub mod events;
    pub mod hidden;
    pub mod last_message;
    pub mod messages;
    pub mod neighbourhood;
    pub mod normalised;
    pub mod one_dependence;
    pub mod packaged;
    pub mod ratios;
    pub mod scorer;
    mod top_k;

    pub use self::event_model::{ClassTerms, EventModel, Oov, Output, Prior, Query};
    pub use self::scorer::{Scorer, Scratch};
}
pub mod online;
pub mod saved;
/// Statistics of the counts: each is a [`Statistic`](crate::counts::statistic::Statistic) of the store,
/// computed periodically and swapped in, or updated with each message.
pub mod statistics {
    pub mod cooccurrence;
    pub mod effective;
    pub mod exact;
    pub mod grow;
    pub mod packages;
    pub mod parents;
    pub mod split;
    pub mod tree;
    pub mod word_weights;

    pub use self::packages::{Member, Packages};
    pub use self::parents::Parents;
    pub use self::tree::Tree;
    pub use self::word_weights::{Totals, WordWeights};
}
/// From texts to tokens.
pub mod text {
    pub mod distinct;
    pub mod siphash;
    pub mod sketch;
    pub mod token;
    pub mod tokenizer;
    pub mod unicode;

    pub use self::token::Token;
    pub use self::tokenizer::Tokenizer;
}
pub mod threads;
pub mod watch;

#[cfg(feature = "python")]
#[expect(clippy::too_many_arguments, reason = "named arguments")]
mod bindings;
