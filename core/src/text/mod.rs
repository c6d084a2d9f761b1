//! From texts to tokens: the tokeniser and the character tables.

pub mod distinct;
pub mod token;
pub mod tokenizer;
pub mod unicode;
