//! The native core of streamnb: messages in, counts kept, scores out.
//!
//! Data flows one way: text → tokens ([`text`]) → ids and counts ([`counts`]) → what is computed
//! from them now and then ([`statistics`]) → scores ([`scoring`]) and what each word adds to them
//! ([`explain`]). Nothing here knows Python, but for the bindings.

pub mod counts;
pub mod error;
pub mod explain;
pub mod scoring;
pub mod statistics;
pub mod text;
pub mod threads;
pub mod watch;

#[cfg(feature = "python")]
mod bindings;
