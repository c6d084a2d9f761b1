//! What is computed from the counts now and then, and swapped in: each a
//! [`Statistic`](crate::counts::statistic::Statistic) of the store.

pub mod calibration;
pub mod class_exposure;
pub mod cooccurrence;
pub mod damping;
pub mod effective;
pub mod fitted_weights;
pub mod frequent;
pub mod grow;
pub mod hoeffding;
pub mod instance_weights;
pub mod online_weights;
pub mod packages;
pub mod parents;
pub mod saved;
pub mod split;
pub mod tree;
pub mod word_weights;
