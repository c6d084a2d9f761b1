//! Counts to scores: the terms of each event model, and a file for each family.

pub mod chi_square;
pub mod correlation;
pub mod decision;
pub mod effective;
pub mod events;
pub mod hidden;
pub mod instance_weights;
pub mod messages;
pub mod neighbourhood;
pub mod normalised;
pub mod one_dependence;
pub mod online_weights;
pub mod options;
pub mod packaged;
pub mod parameters;
pub mod ratios;
pub mod scorer;
pub mod scratch;
mod strongest;
pub mod terms;
mod threads;
pub(crate) mod together;
pub mod word_weights;
