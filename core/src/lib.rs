//! The native core of streamnb: messages in, counts kept, scores out.
//!
//! Data flows one way: text → tokens ([`tokenizer`]) → ids ([`vocabulary`]) → a bag ([`bag`]) →
//! counts ([`store`]) → scores ([`scoring`], [`hidden`], [`ratios`], [`one_dependence`],
//! [`packaged`]). Nothing here knows Python, but for the bindings.

pub mod attributes;
pub mod bag;
pub mod bags;
pub mod cooccurrence;
pub mod correlation;
pub mod counts;
pub mod decision;
pub mod discriminative;
pub mod effective;
pub mod error;
pub mod events;
pub mod explain;
pub mod exponents;
pub mod export;
pub mod form;
pub mod grow;
pub mod hidden;
pub mod hoeffding;
pub mod index;
pub mod merge;
pub mod message;
pub mod nearest;
pub mod neighbourhood;
pub mod one_dependence;
pub mod packaged;
pub mod pairs;
pub mod prune;
pub mod ratios;
pub mod rename;
pub mod scoring;
pub mod slice;
pub mod snapshot;
pub mod store;
pub mod together;
pub mod token;
pub mod tokenizer;
pub mod tree;
pub mod unicode;
pub mod unlearn;
pub mod vocabulary;
pub mod weights;

#[cfg(feature = "python")]
mod bindings;
