//! What is computed from the counts now and then, and swapped in.

pub mod bags;
pub mod cooccurrence;
pub mod document_weights;
pub mod effective;
pub mod fitted_weights;
pub mod grow;
pub mod hoeffding;
pub mod tree;
pub mod word_weights;
