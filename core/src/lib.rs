//! The native core of streamnb: tokenise messages, count words, score classes.
//!
//! Data flows one way: text → tokens ([`text`]) → ids and counts ([`counts`]) → periodic statistics
//! of the counts ([`statistics`]) → scores ([`scoring`]) and the contribution of each word to them
//! ([`explain`]). Only the bindings depend on Python.

#[macro_use]
pub mod error;
pub mod counts;
pub mod explain;
pub mod mail;
pub mod scoring;
pub mod statistics;
/// From texts to tokens.
pub mod text {
    pub mod distinct;
    pub mod token;
    pub mod tokenizer;
    pub mod unicode;
}
pub mod threads;
pub mod watch;

#[cfg(feature = "python")]
#[expect(clippy::too_many_arguments, reason = "named arguments")]
mod bindings;
