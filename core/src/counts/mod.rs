//! Word counts by class: vocabulary, rows, document index, slices, snapshots.

pub mod alloc;
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
pub mod prune;
pub mod rows;
pub mod slice;
pub mod snapshot;
pub mod statistic;
pub mod store;
pub mod term_weighting;
pub mod unlearn;
pub mod vocabulary;
