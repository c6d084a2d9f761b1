//! Counts to scores: the terms of each event model, and a file for each family.

pub mod correlation;
pub mod decision;
pub mod events;
pub mod hidden;
pub mod nearest;
pub mod neighbourhood;
pub mod normalised;
pub mod one_dependence;
pub mod packaged;
pub mod ratios;
pub mod scorer;
pub mod together;
