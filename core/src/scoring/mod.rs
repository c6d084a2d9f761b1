//! Counts to scores: the terms of each event model, and a file for each family.

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
pub mod online_learning;
pub mod online_weights;
pub mod packaged;
pub mod ratios;
pub mod scorer;
mod top_k;
pub mod weights;
