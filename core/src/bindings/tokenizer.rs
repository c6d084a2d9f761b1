//! The tokenizer.

use super::batch::with_text;
use super::with_scratch;
use crate::counts::Message;
use crate::text::tokenizer::{Boundaries, Sizes, TokenizerOptions};
use crate::text::{Token, tokenizer};
use pyo3::prelude::*;
use pyo3::types::PyString;
use std::sync::OnceLock;

/// The native part of `streamnb.Tokenizer`.
#[pyclass(frozen, module = "streamnb._core")]
pub struct NativeTokenizer {
    pub inner: tokenizer::Tokenizer,
}

#[pymethods]
impl NativeTokenizer {
    #[new]
    #[pyo3(signature = (
        *, lowercase, strip_accents, deobfuscate, boundaries, words, characters,
        characters_within_words, length, fields, subject, max_token_length, max_tokens, max_bytes,
        hash_key
    ))]
    fn new(
        lowercase: bool,
        strip_accents: bool,
        deobfuscate: bool,
        boundaries: &str,
        words: Option<Sizes>,
        characters: Option<Sizes>,
        characters_within_words: Option<Sizes>,
        length: bool,
        fields: bool,
        subject: bool,
        max_token_length: Option<u32>,
        max_tokens: Option<u32>,
        max_bytes: Option<u32>,
        hash_key: Option<(u64, u64)>,
    ) -> PyResult<Self> {
        let inner = tokenizer::Tokenizer::new(TokenizerOptions {
            lowercase,
            strip_accents,
            deobfuscate,
            boundaries: Boundaries::named(boundaries)?,
            words,
            characters,
            characters_within_words,
            length,
            fields,
            subject,
            max_token_length,
            max_tokens,
            max_bytes,
            hash_key: hash_key.map(<[u64; 2]>::from),
        })?;
        Ok(NativeTokenizer { inner })
    }

    fn __deepcopy__<'py>(slf: PyRef<'py, Self>, _memo: &Bound<'py, PyAny>) -> PyRef<'py, Self> {
        slf
    }

    /// Return the tokens of a text, in order.
    fn tokens(&self, text: &Bound<'_, PyString>) -> PyResult<Vec<String>> {
        tokens_of(text, &self.inner)
    }

    /// Return the tokens of a text before they are hashed, in order.
    fn plain_tokens(&self, text: &Bound<'_, PyString>) -> PyResult<Vec<String>> {
        tokens_of(text, &self.inner.plain())
    }

    /// Return the name of a token in models: its hash, or the token itself.
    fn name_of(&self, token: &str) -> String {
        self.inner.name_of(token)
    }
}

fn tokens_of(
    text: &Bound<'_, PyString>,
    tokenizer: &tokenizer::Tokenizer,
) -> PyResult<Vec<String>> {
    with_text(text, tokenizer, |message| {
        let mut tokens = Vec::new();
        split(message, |token| tokens.push(String::from_utf8_lossy(token.bytes).into_owned()));
        tokens
    })
}

/// Pass the tokens of a text to `emit`.
pub fn split(message: &Message<'_>, emit: impl FnMut(Token<'_>)) {
    static HASHER: OnceLock<foldhash::fast::RandomState> = OnceLock::new();
    let hasher = HASHER.get_or_init(Default::default);
    with_scratch(|scratch| message.tokenize(hasher, &mut scratch.message.tokens, emit));
}
