//! Counts of words in classes: vocabulary, rows, index of documents, pairs, slices, snapshots.

pub mod attributes;
pub mod bag;
pub mod batch;
pub mod clock;
pub mod codec;
pub mod export;
pub mod forgetting;
pub mod form;
pub mod index;
pub mod merge;
pub mod message;
pub mod pairs;
pub mod prune;
pub mod rename;
pub mod room;
pub mod rows;
pub mod slice;
pub mod snapshot;
pub mod statistic;
pub mod store;
pub mod swap;
pub mod unlearn;
pub mod vocabulary;
