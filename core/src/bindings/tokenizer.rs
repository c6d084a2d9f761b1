//! The tokenizer.

use crate::bindings::errors::{input_error, not_ready};
use crate::bindings::host::{Host, fold_table, without_surrogates};
use crate::bindings::messages::{Item, read_counts};
use crate::bindings::scratch::with_scratch;
use crate::counts::message::{AsMessage, Message};
use crate::text::token::Token;
use crate::text::tokenizer::{self, Boundaries, NotReady, Sizes, TokenizerOptions};
use crate::text::unicode::{LoadError, PageSet};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::types::PyString;
use std::sync::OnceLock;

/// How texts become tokens; the native part of `streamnb.Tokenizer`.
#[pyclass(frozen, module = "streamnb._core")]
pub struct NativeTokenizer {
    pub inner: tokenizer::Tokenizer,
}

#[pymethods]
impl NativeTokenizer {
    #[new]
    #[pyo3(signature = (
        *, lowercase, strip_accents, deobfuscate, boundaries, words, sparse_bigrams, characters,
        characters_within_words, length, fields, subject, max_token_length, max_tokens, max_bytes
    ))]
    #[allow(clippy::too_many_arguments)]
    fn new(
        py: Python<'_>,
        lowercase: bool,
        strip_accents: bool,
        deobfuscate: bool,
        boundaries: &str,
        words: Option<Sizes>,
        sparse_bigrams: Option<u32>,
        characters: Option<Sizes>,
        characters_within_words: Option<Sizes>,
        length: bool,
        fields: bool,
        subject: bool,
        max_token_length: Option<u32>,
        max_tokens: Option<u32>,
        max_bytes: Option<u32>,
    ) -> PyResult<Self> {
        let boundaries =
            Boundaries::named(boundaries).map_err(|error| input_error(py, error.to_string()))?;
        let options = TokenizerOptions {
            lowercase,
            strip_accents,
            deobfuscate,
            boundaries,
            words,
            sparse_bigrams,
            characters,
            characters_within_words,
            length,
            fields,
            subject,
            max_token_length,
            max_tokens,
            max_bytes,
        };
        let inner = tokenizer::Tokenizer::with_tables(options, fold_table)
            .map_err(|error| input_error(py, error.to_string()))?;
        Ok(NativeTokenizer { inner })
    }

    fn __deepcopy__<'py>(slf: PyRef<'py, Self>, _memo: &Bound<'py, PyAny>) -> PyRef<'py, Self> {
        slf
    }

    /// The tokens of a text, in order.
    fn tokens(&self, text: &Bound<'_, PyString>) -> PyResult<Vec<String>> {
        let py = text.py();
        self.with_text(py, text, |message| {
            let mut tokens = Vec::new();
            let emit =
                |token: Token<'_>| tokens.push(String::from_utf8_lossy(token.bytes).into_owned());
            self.cut(message, emit)?;
            Ok(tokens)
        })
    }
}

impl NativeTokenizer {
    /// Calls `work` with the text as a message, again after whatever it found missing was
    /// fetched from Python.
    pub fn with_text<R>(
        &self,
        py: Python<'_>,
        text: &Bound<'_, PyString>,
        mut work: impl FnMut(&Message<'_>) -> Result<R, NotReady>,
    ) -> PyResult<R> {
        // The hot path: text that is ready as it is.
        if let Ok(text) = text.to_str()
            && let Ok(result) = work(&Message::Text(text))
        {
            return Ok(result);
        }
        let item = self.prepare(py, text)?;
        work(&item.as_message()).map_err(|error| not_ready(py, error))
    }

    /// A message, ready to be read without Python.
    pub fn item(&self, x: &Bound<'_, PyAny>) -> PyResult<Item> {
        match x.cast::<PyString>() {
            Ok(text) => self.prepare(x.py(), text),
            Err(_) => Ok(Item::Counts(read_counts(x)?)),
        }
    }

    /// Makes a text ready to be cut without Python.
    fn prepare(&self, py: Python<'_>, text: &Bound<'_, PyString>) -> PyResult<Item> {
        let item = match PyBackedStr::try_from(text.clone()) {
            Ok(text) => Item::Text(text),
            Err(_) => Item::Owned(without_surrogates(text)?),
        };
        // As many bytes as characters: it is ASCII, which needs nothing of the host. So no byte of it
        // is read here, by the one thread that has the GIL.
        if matches!(&item, Item::Text(bytes) if bytes.len() == text.len()?) {
            return Ok(item);
        }
        let Message::Text(borrowed) = item.as_message() else { return Ok(item) };
        let ready = self.inner.ready(borrowed);
        if ready.is_ascii() {
            return Ok(item);
        }
        self.load_pages(py, &ready)?;
        if !self.inner.needs_host_fold(&ready) {
            return Ok(item);
        }
        let options = self.inner.options();
        let folded = Host(py).fold(&ready, options.lowercase, options.strip_accents)?;
        self.load_pages(py, &folded)?;
        Ok(Item::Folded(folded))
    }

    fn load_pages(&self, py: Python<'_>, text: &str) -> PyResult<()> {
        let mut missing = PageSet::default();
        self.inner.missing_pages(text, &mut missing);
        if missing.is_empty() {
            return Ok(());
        }
        self.inner.table().load(&missing, &Host(py)).map_err(|error| match error {
            LoadError::Facts(error) => error,
            LoadError::Page(error) => input_error(py, error.to_string()),
        })
    }

    /// Gives the tokens of a text to `emit`.
    pub fn cut(&self, message: &Message<'_>, emit: impl FnMut(Token<'_>)) -> Result<(), NotReady> {
        static HASHER: OnceLock<foldhash::fast::RandomState> = OnceLock::new();
        let hasher = HASHER.get_or_init(Default::default);
        with_scratch(|scratch| match message {
            Message::Text(text) => self.inner.tokenize(text, &mut scratch.tokens, hasher, emit),
            Message::Folded(text) => {
                self.inner.tokenize_folded(text, &mut scratch.tokens, hasher, emit)
            }
            Message::Counts(_) => Ok(()),
        })
    }
}
