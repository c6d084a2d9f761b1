//! Texts to tokens: the tokeniser, and characters as this Python knows them.

pub mod distinct;
pub mod token;
pub mod tokenizer;
pub mod unicode;
