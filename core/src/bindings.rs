//! Everything that knows Python.
//!
//! A store lies behind a read-write lock, so predictions from many threads run while a refresh
//! reads the counts. A lock is never held while waiting for the GIL, and the GIL is never held
//! while waiting for a lock.

use crate::counts::attributes::{self, AttributeId};
use crate::counts::bag::Bag;
use crate::counts::export::Counts;
use crate::counts::form::Form;
use crate::counts::message::{Columns, Message, WordCounts, check_count};
use crate::counts::rows::ClassId;
use crate::counts::store::{Settings, Store, check_weight};
use crate::error::Error;
use crate::scoring::correlation::{Correlation, Factors};
use crate::scoring::decision;
use crate::scoring::hidden::HiddenScratch;
use crate::scoring::nearest::NearestScratch;
use crate::scoring::neighbourhood::Neighbourhood;
use crate::scoring::one_dependence::OneDependenceScratch;
use crate::scoring::packaged::PackagedScratch;
use crate::scoring::scorer::{self, ClassTerms, Event, Prior, Unseen};
use crate::statistics::bags::{Bags, Member};
use crate::statistics::cooccurrence;
use crate::statistics::effective::{Effective, EffectiveArrays};
use crate::statistics::fitted_weights::Exponents;
use crate::statistics::grow::{self, Limits};
use crate::statistics::hoeffding::Hoeffding;
use crate::statistics::tree::Tree;
use crate::statistics::word_weights::{WeightArrays, Weights};
use crate::text::token::Token;
use crate::text::tokenizer::{self, Boundaries, NotReady, Sizes, TokenizerOptions};
use crate::text::unicode::{
    CharacterClass, CharacterFact, CharacterFacts, FoldTable, Folding, LoadError, PageSet,
};
use pyo3::buffer::PyBuffer;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::types::{PyBytes, PyDict, PyFloat, PyList, PyString};
use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, OnceLock, PoisonError, RwLock, TryLockError};

/// Buffers of one thread.
#[derive(Default)]
struct Scratch {
    tokens: tokenizer::Scratch,
    bag: Bag,
    hidden: HiddenScratch,
    packaged: PackagedScratch,
    one_dependence: OneDependenceScratch,
    nearest: NearestScratch,
    terms: Vec<ClassTerms>,
    scores: Vec<f64>,
}

thread_local! {
    static SCRATCH: RefCell<Scratch> = RefCell::default();
}

fn raise(py: Python<'_>, error: Error) -> PyErr {
    let name = match error {
        Error::Invalid(_) => "InputError",
        Error::NotLearned(_) => "NotLearnedError",
        Error::Corrupt(_) => "ModelFileError",
    };
    named_error(py, name, error.to_string())
}

fn named_error(py: Python<'_>, name: &str, message: String) -> PyErr {
    let class = py.import("streamnb.errors").and_then(|errors| errors.getattr(name));
    match class.and_then(|class| class.call1((message,))) {
        Ok(value) => PyErr::from_value(value),
        Err(error) => error,
    }
}

fn input_error(py: Python<'_>, message: impl Into<String>) -> PyErr {
    raise(py, Error::Invalid(message.into()))
}

// ---------------------------------------------------------------------------------------------
// Tokeniser

/// The tables of character facts, one for each folding, shared by the process.
fn fold_table(folding: Folding) -> Arc<FoldTable> {
    static TABLES: [OnceLock<Arc<FoldTable>>; 4] = [const { OnceLock::new() }; 4];
    TABLES[folding.index()].get_or_init(|| Arc::new(FoldTable::new(folding))).clone()
}

/// What this Python knows of characters.
struct Host<'py>(Python<'py>);

impl CharacterFacts for Host<'_> {
    type Error = PyErr;

    fn page(&self, folding: Folding, page: usize) -> PyResult<Vec<CharacterFact>> {
        let facts = self
            .0
            .import("streamnb.text._unicode")?
            .call_method1("page_facts", (folding.lowercase, folding.strip_accents, page))?
            .extract::<Vec<(String, Vec<u8>, u8, bool)>>()?;
        let class = |code: u8| match code {
            1 => CharacterClass::Word,
            2 => CharacterClass::Space,
            _ => CharacterClass::Other,
        };
        let fact = |(folded, classes, own, sigma): (String, Vec<u8>, u8, bool)| CharacterFact {
            folded,
            folded_classes: classes.into_iter().map(class).collect(),
            class: class(own),
            sigma,
        };
        Ok(facts.into_iter().map(fact).collect())
    }
}

/// How texts become tokens; the native part of `streamnb.Tokenizer`.
#[pyclass(frozen, module = "streamnb._core")]
struct NativeTokenizer {
    inner: tokenizer::Tokenizer,
}

#[pymethods]
impl NativeTokenizer {
    #[new]
    #[pyo3(signature = (
        *, lowercase, strip_accents, deobfuscate, boundaries, words, sparse_bigrams, characters,
        characters_within_words, length, fields, max_token_length, max_tokens, max_bytes
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
    fn with_text<R>(
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
        work(&item.message()).map_err(|error| input_error(py, error.to_string()))
    }

    /// Makes a text ready to be cut without Python.
    fn prepare(&self, py: Python<'_>, text: &Bound<'_, PyString>) -> PyResult<Item> {
        let item = match PyBackedStr::try_from(text.clone()) {
            Ok(text) => Item::Text(text),
            Err(_) => Item::Owned(without_surrogates(text)?),
        };
        let Message::Text(borrowed) = item.message() else { return Ok(item) };
        let ready = self.inner.ready(borrowed);
        if ready.is_ascii() {
            return Ok(item);
        }
        self.load_pages(py, &ready)?;
        if !self.inner.needs_host_fold(&ready) {
            return Ok(item);
        }
        let folded = self.host_fold(py, &ready)?;
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
    fn cut(&self, message: &Message<'_>, emit: impl FnMut(Token<'_>)) -> Result<(), NotReady> {
        static HASHER: OnceLock<foldhash::fast::RandomState> = OnceLock::new();
        let hasher = HASHER.get_or_init(Default::default);
        SCRATCH.with_borrow_mut(|scratch| match message {
            Message::Text(text) => self.inner.tokenize(text, &mut scratch.tokens, hasher, emit),
            Message::Folded(text) => {
                self.inner.tokenize_folded(text, &mut scratch.tokens, hasher, emit)
            }
            Message::Counts(_) => Ok(()),
        })
    }

    fn host_fold(&self, py: Python<'_>, text: &str) -> PyResult<String> {
        let options = self.inner.options();
        py.import("streamnb.text._unicode")?
            .call_method1("fold", (text, options.lowercase, options.strip_accents))?
            .extract()
    }
}

/// Lone surrogates are no text; they separate tokens as U+FFFD does.
fn without_surrogates(text: &Bound<'_, PyString>) -> PyResult<String> {
    text.py()
        .import("streamnb.text._unicode")?
        .call_method1("without_surrogates", (text,))?
        .extract()
}

// ---------------------------------------------------------------------------------------------
// Messages from Python

/// The counts of a mapping, checked; zeros are left out, as they say nothing.
fn read_counts(x: &Bound<'_, PyAny>) -> PyResult<WordCounts> {
    let py = x.py();
    let converted;
    let mapping = match x.cast::<PyDict>() {
        Ok(mapping) => mapping,
        Err(_) => {
            converted = inputs(py)?.call_method1("as_dict", (x,))?.cast_into::<PyDict>()?;
            &converted
        }
    };
    let mut counts = WordCounts::default();
    for (key, value) in mapping.iter() {
        let given = match value.cast_exact::<PyFloat>() {
            Ok(float) => float.value(),
            Err(_) => match value.extract::<f64>() {
                Ok(count) => count,
                Err(_) => return Err(bad_count(&key, &value)),
            },
        };
        let checked = check_count(given, "");
        let Ok(count) = checked else { return Err(bad_count(&key, &value)) };
        let Some(count) = count else { continue };
        match key.cast::<PyString>().ok().and_then(|word| word.to_str().ok()) {
            Some(word) => counts.push(word.as_bytes(), count),
            // An n-gram as river gives it, an integer feature, or no word at all.
            None => {
                let name = inputs(py)?.call_method1("token_name", (&key,))?;
                counts.push(name.cast::<PyString>()?.to_str()?.as_bytes(), count);
            }
        }
    }
    Ok(counts)
}

/// A message's weight, checked.
fn read_weight(weight: &Bound<'_, PyAny>) -> PyResult<f64> {
    let given = match weight.cast_exact::<PyFloat>() {
        Ok(float) => float.value(),
        Err(_) => weight.extract::<f64>().unwrap_or(f64::NAN),
    };
    check_weight(given).map_err(|error| match weight.repr() {
        Ok(shown) => input_error(weight.py(), format!("{error}: {shown} was given")),
        Err(error) => error,
    })?;
    Ok(given)
}

fn inputs(py: Python<'_>) -> PyResult<Bound<'_, PyModule>> {
    py.import("streamnb.text.inputs")
}

fn bad_count(key: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>) -> PyErr {
    let message = inputs(key.py())
        .and_then(|inputs| inputs.call_method1("bad_count", (key, value))?.extract::<String>());
    match message {
        Ok(message) => input_error(key.py(), message),
        Err(error) => error,
    }
}

/// A message taken out of Python, readable without the GIL.
enum Item {
    Text(PyBackedStr),
    Owned(String),
    Folded(String),
    Counts(WordCounts),
}

impl Item {
    fn message(&self) -> Message<'_> {
        match self {
            Item::Text(text) => Message::Text(text),
            Item::Owned(text) => Message::Text(text),
            Item::Folded(text) => Message::Folded(text),
            Item::Counts(counts) => Message::Counts(counts),
        }
    }

    fn new(tokenizer: &NativeTokenizer, x: &Bound<'_, PyAny>) -> PyResult<Self> {
        match x.cast::<PyString>() {
            Ok(text) => tokenizer.prepare(x.py(), text),
            Err(_) => Ok(Item::Counts(read_counts(x)?)),
        }
    }
}

/// Rows of a sparse matrix whose columns are words.
struct Rows {
    words: Vec<Box<[u8]>>,
    cells: Vec<(u32, f64)>,
    ends: Vec<usize>,
}

impl Rows {
    fn new(
        py: Python<'_>,
        indptr: &[i64],
        indices: &[i64],
        data: &[f64],
        words: &[PyBackedStr],
    ) -> PyResult<Self> {
        let mut rows = Rows {
            words: words.iter().map(|word| word.as_bytes().into()).collect(),
            cells: Vec::with_capacity(data.len()),
            ends: Vec::with_capacity(indptr.len()),
        };
        for bounds in indptr.windows(2) {
            let range = match (usize::try_from(bounds[0]), usize::try_from(bounds[1])) {
                (Ok(start), Ok(end)) if start <= end && end <= data.len().min(indices.len()) => {
                    start..end
                }
                _ => return Err(input_error(py, "the sparse matrix has row bounds out of order")),
            };
            for (&column, &count) in indices[range.clone()].iter().zip(&data[range]) {
                let word = usize::try_from(column).ok().and_then(|column| words.get(column));
                let Some(word) = word else {
                    let message = format!(
                        "the matrix has a column {column}, and vocabulary has {} words: give one word for each column",
                        words.len()
                    );
                    return Err(input_error(py, message));
                };
                if let Some(count) = check_count(count, word).map_err(|error| raise(py, error))? {
                    rows.cells.push((column as u32, count));
                }
            }
            rows.ends.push(rows.cells.len());
        }
        Ok(rows)
    }

    fn row(&self, row: usize) -> &[(u32, f64)] {
        let start = if row == 0 { 0 } else { self.ends[row - 1] };
        &self.cells[start..self.ends[row]]
    }
}

/// Many messages, checked and ready to be read without the GIL.
#[pyclass(frozen, module = "streamnb._core")]
struct Batch {
    messages: Messages,
}

enum Messages {
    Items(Vec<Item>),
    Rows(Rows),
}

#[pymethods]
impl Batch {
    /// The messages of a list: strings, or mappings of tokens to counts.
    #[new]
    fn new(tokenizer: &NativeTokenizer, messages: &Bound<'_, PyList>) -> PyResult<Self> {
        let items = messages.iter().map(|x| Item::new(tokenizer, &x)).collect::<PyResult<_>>()?;
        Ok(Batch { messages: Messages::Items(items) })
    }

    /// The rows of a sparse matrix, given as its indptr, indices and data and the word of each
    /// column.
    #[staticmethod]
    fn from_rows(
        py: Python<'_>,
        indptr: PyBuffer<i64>,
        indices: PyBuffer<i64>,
        data: PyBuffer<f64>,
        words: Vec<PyBackedStr>,
    ) -> PyResult<Self> {
        let rows =
            Rows::new(py, &indptr.to_vec(py)?, &indices.to_vec(py)?, &data.to_vec(py)?, &words)?;
        Ok(Batch { messages: Messages::Rows(rows) })
    }

    fn __len__(&self) -> usize {
        match &self.messages {
            Messages::Items(items) => items.len(),
            Messages::Rows(rows) => rows.ends.len(),
        }
    }
}

impl Batch {
    /// Calls `work` with the bag of each message, its words looked up, and the other buffers.
    fn look_up_each(
        &self,
        store: &Store,
        tokenizer: &tokenizer::Tokenizer,
        distinct: bool,
        mut work: impl FnMut(&mut Scratch),
    ) -> Result<(), NotReady> {
        SCRATCH.with_borrow_mut(|scratch| match &self.messages {
            Messages::Items(items) => items.iter().try_for_each(|item| {
                let Scratch { tokens, bag, .. } = &mut *scratch;
                item.message().look_up(store, tokenizer, tokens, bag, distinct)?;
                work(scratch);
                Ok(())
            }),
            Messages::Rows(rows) => {
                let mut columns = Columns::new(&rows.words);
                for row in 0..rows.ends.len() {
                    columns.look_up(store, rows.row(row), &mut scratch.bag);
                    work(scratch);
                }
                Ok(())
            }
        })
    }

    /// Learns the messages of a range, each with its class.
    fn learn_each(
        &self,
        store: &mut Store,
        tokenizer: &tokenizer::Tokenizer,
        range: Range<usize>,
        classes: &[ClassId],
        weight: f64,
    ) -> Result<Result<(), Error>, NotReady> {
        SCRATCH.with_borrow_mut(|scratch| {
            let Scratch { tokens, bag, terms, scores, .. } = scratch;
            let mut columns = match &self.messages {
                Messages::Rows(rows) => Columns::new(&rows.words),
                Messages::Items(_) => Columns::new(&[]),
            };
            for position in range {
                let class = classes[position];
                let mut extra = 0.0;
                if store.weighs() {
                    match &self.messages {
                        Messages::Items(items) => {
                            let message = items[position].message();
                            message.look_up(store, tokenizer, tokens, bag, false)?;
                        }
                        Messages::Rows(rows) => columns.look_up(store, rows.row(position), bag),
                    }
                    extra = store.extra_weight(bag, class, terms, scores);
                }
                match &self.messages {
                    Messages::Items(items) => {
                        items[position].message().intern(store, tokenizer, tokens, bag)?;
                    }
                    Messages::Rows(rows) => columns.intern(store, rows.row(position), bag),
                }
                if let Err(error) = store.learn_weighed(bag, class, weight, extra) {
                    return Ok(Err(error));
                }
            }
            Ok(Ok(()))
        })
    }
}

// ---------------------------------------------------------------------------------------------
// Scoring

/// What the parents of a model mix.
#[derive(Clone, Copy, PartialEq)]
enum Hidden {
    Probabilities,
    Ratios,
    Packaged,
    Estimators,
}

/// How a model scores: an immutable value.
#[pyclass(frozen, module = "streamnb._core")]
struct Scoring {
    inner: Arc<scorer::Scoring>,
    hidden: Option<Hidden>,
    neighbourhood: Option<Neighbourhood>,
}

#[pymethods]
impl Scoring {
    #[new]
    #[expect(clippy::too_many_arguments, reason = "keyword arguments of Python")]
    #[pyo3(signature = (*, event, alpha, prior, unseen, vocabulary_size, hidden, effective, factor=None, factors=None, weighted=false, weighted_documents=false, chi_square=false, minimised=false, neighbourhood=None, n_neighbors=1))]
    fn new(
        py: Python<'_>,
        event: &str,
        alpha: f64,
        prior: &str,
        unseen: &str,
        vocabulary_size: Option<f64>,
        hidden: Option<&str>,
        effective: bool,
        factor: Option<f64>,
        factors: Option<Vec<(f64, f64)>>,
        weighted: bool,
        weighted_documents: bool,
        chi_square: bool,
        minimised: bool,
        neighbourhood: Option<&str>,
        n_neighbors: usize,
    ) -> PyResult<Self> {
        let name = event;
        let event = match event {
            "bernoulli" => Event::Bernoulli,
            "multinomial" => Event::Multinomial,
            "complement" => Event::Complement,
            "one-versus-all" => Event::OneVersusAll,
            "attributes" => Event::Attributes,
            // Its numbers are not the core's.
            "gaussian" => Event::Categories,
            other => {
                let message = format!(
                    "event must be 'bernoulli', 'multinomial', 'complement', 'one-versus-all', 'attributes' or 'gaussian', not {other:?}"
                );
                return Err(input_error(py, message));
            }
        };
        let hidden = match hidden {
            None => None,
            Some("probabilities") => Some(Hidden::Probabilities),
            Some("ratios") => Some(Hidden::Ratios),
            Some("packaged") => Some(Hidden::Packaged),
            Some("estimators") => Some(Hidden::Estimators),
            Some(other) => {
                let message = format!(
                    "hidden must be None, 'probabilities', 'ratios', 'packaged' or 'estimators', \
                     not {other:?}"
                );
                return Err(input_error(py, message));
            }
        };
        if hidden == Some(Hidden::Ratios) && event != Event::OneVersusAll {
            let message = format!(
                "hidden parents of ratios mix P(w|not c) / P(w|c), and of these two sides only \
                 the event 'one-versus-all' has both: combine them with it, not with {name:?}"
            );
            return Err(input_error(py, message));
        }
        if hidden.is_some() && event == Event::Bernoulli {
            // Of an absent word there is no count to estimate from the messages with a parent.
            let what = match hidden {
                Some(Hidden::Estimators) => "one-dependence estimators",
                _ => "hidden parents",
            };
            let message = format!(
                "{what} need word counts: combine them with the event 'multinomial', \
                 'complement' or 'one-versus-all', not 'bernoulli'"
            );
            return Err(input_error(py, message));
        }
        if hidden.is_some() && event == Event::Categories {
            let message = "hidden parents of columns need binned numbers: combine them with the \
                           event 'attributes', not with 'gaussian'";
            return Err(input_error(py, message));
        }
        if matches!(hidden, Some(Hidden::Probabilities | Hidden::Estimators))
            && event == Event::Attributes
        {
            let message = "hidden parents of columns are those of the dependence 'packaged': \
                           combine the event 'attributes' with it alone";
            return Err(input_error(py, message));
        }
        let prior = match prior {
            "empirical" => Prior::Empirical,
            "laplace" => Prior::Laplace,
            "uniform" => Prior::Uniform,
            "m-estimate" => Prior::MEstimate,
            other => {
                let message = format!(
                    "prior must be 'empirical', 'laplace', 'uniform' or 'm-estimate', not {other:?}"
                );
                return Err(input_error(py, message));
            }
        };
        let unseen = match unseen {
            "smooth" => Unseen::Smooth,
            "skip" => Unseen::Skip,
            other => {
                let message = format!("unseen must be 'smooth' or 'skip', not {other:?}");
                return Err(input_error(py, message));
            }
        };
        let mut inner = scorer::Scoring::new(event, alpha, prior, unseen, vocabulary_size)
            .and_then(|inner| if effective { inner.on_effective() } else { Ok(inner) })
            .map_err(|error| raise(py, error))?;
        if let Some(factor) = factor {
            if hidden.is_some() {
                let message = "the correlation factor needs the dependence 'independent'";
                return Err(input_error(py, message));
            }
            let of_class = |(own, complement)| Factors { own, complement };
            let by_class = factors.unwrap_or_default().into_iter().map(of_class).collect();
            inner = Correlation::new(factor, by_class)
                .and_then(|correlation| inner.with_correlation(correlation))
                .map_err(|error| raise(py, error))?;
        }
        if weighted_documents && hidden.is_some() {
            let message = "weights of documents need the dependence 'independent': the messages \
                           that contain a parent are counted without any";
            return Err(input_error(py, message));
        }
        let weighted = weighted || weighted_documents;
        inner = inner
            .with_weights(weighted, chi_square)
            .and_then(|inner| if minimised { inner.with_minimised() } else { Ok(inner) })
            .map_err(|error| raise(py, error))?;
        if hidden.is_some() {
            inner = inner.with_exponents();
        }
        let neighbourhood = match neighbourhood {
            None => None,
            Some("leaf") => Some(Neighbourhood::Leaf),
            Some("nearest") => Some(Neighbourhood::Nearest(n_neighbors)),
            Some(other) => {
                let message =
                    format!("neighbourhood must be None, 'leaf' or 'nearest', not {other:?}");
                return Err(input_error(py, message));
            }
        };
        if let Some(neighbourhood) = neighbourhood {
            if hidden.is_some() {
                let message = "neighbourhoods need the dependence 'independent': the messages \
                               that contain a parent are counted in the whole stream";
                return Err(input_error(py, message));
            }
            neighbourhood.check(&inner).map_err(|error| raise(py, error))?;
        }
        Ok(Scoring { inner: Arc::new(inner), hidden, neighbourhood })
    }

    fn __deepcopy__<'py>(slf: PyRef<'py, Self>, _memo: &Bound<'py, PyAny>) -> PyRef<'py, Self> {
        slf
    }
}

impl Scoring {
    /// Whether each word must stand in a bag once: hidden parents pair the words.
    fn needs_distinct(&self) -> bool {
        self.hidden.is_some() || self.neighbourhood.is_some() || self.inner.needs_distinct()
    }

    /// Scores the bag of the scratch, whose terms are prepared.
    fn score(&self, store: &Store, scratch: &mut Scratch) {
        let Scratch { bag, hidden, packaged, one_dependence, nearest, terms, scores, .. } = scratch;
        let inner = &self.inner;
        inner.weigh_bag(store, bag);
        if let Some(neighbourhood) = self.neighbourhood {
            return inner.neighbourhood_scores(store, neighbourhood, bag, nearest, terms, scores);
        }
        match self.hidden {
            None => inner.scores(store, terms, bag, scores),
            Some(Hidden::Probabilities) => {
                inner.hidden_scores(store, terms, bag, hidden, scores, None);
            }
            Some(Hidden::Ratios) => inner.ratio_scores(store, terms, bag, hidden, scores, None),
            Some(Hidden::Packaged) => {
                let threshold = [store.bags.threshold];
                inner.packaged_scores(store, terms, bag, packaged, &threshold, scores, None);
            }
            Some(Hidden::Estimators) => {
                inner.one_dependence_scores(store, terms, bag, one_dependence, scores);
            }
        }
        if self.has_ratios_left(store, bag) {
            inner.add_chi_square(store, terms, bag, scores);
        }
    }

    /// Whether the ratios of words and classes are not in a score yet: all words have parents.
    fn has_ratios_left(&self, store: &Store, bag: &Bag) -> bool {
        self.inner.has_ratios()
            && match self.hidden {
                None => false,
                Some(Hidden::Estimators) => scorer::Scoring::has_estimators(store, bag),
                Some(_) => true,
            }
    }
}

// ---------------------------------------------------------------------------------------------
// The store

/// Counts learned from a stream of messages.
#[pyclass(frozen, module = "streamnb._core")]
struct CountStore {
    store: RwLock<Store>,
    tokenizer: Py<NativeTokenizer>,
}

impl CountStore {
    fn read<R: Send>(&self, py: Python<'_>, work: impl FnOnce(&Store) -> R + Send) -> R {
        match self.store.try_read() {
            Ok(store) => work(&store),
            Err(TryLockError::Poisoned(poisoned)) => work(&poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => py.detach(|| self.read_detached(work)),
        }
    }

    fn read_detached<R>(&self, work: impl FnOnce(&Store) -> R) -> R {
        work(&self.store.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn write<R: Send>(&self, py: Python<'_>, work: impl FnOnce(&mut Store) -> R + Send) -> R {
        match self.store.try_write() {
            Ok(mut store) => work(&mut store),
            Err(TryLockError::Poisoned(poisoned)) => work(&mut poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => py.detach(|| self.write_detached(work)),
        }
    }

    fn write_detached<R>(&self, work: impl FnOnce(&mut Store) -> R) -> R {
        work(&mut self.store.write().unwrap_or_else(PoisonError::into_inner))
    }

    /// Calls `work` with the one message `x` is.
    fn with_message<R>(
        &self,
        x: &Bound<'_, PyAny>,
        mut work: impl FnMut(&Message<'_>) -> Result<R, NotReady>,
    ) -> PyResult<R> {
        let py = x.py();
        match x.cast::<PyString>() {
            Ok(text) => self.tokenizer.get().with_text(py, text, work),
            Err(_) => {
                let counts = read_counts(x)?;
                work(&Message::Counts(&counts)).map_err(|e| input_error(py, e.to_string()))
            }
        }
    }

    /// Scores the one message `x` is and makes something of the scores.
    fn with_scores<R: Send>(
        &self,
        x: &Bound<'_, PyAny>,
        scoring: &Scoring,
        finish: impl Fn(&Store, &[f64]) -> R + Sync,
    ) -> PyResult<R> {
        let tokenizer = &self.tokenizer.get().inner;
        self.with_message(x, |message| {
            self.read(x.py(), |store| {
                SCRATCH.with_borrow_mut(|scratch| {
                    let Scratch { tokens, bag, terms, .. } = scratch;
                    message.look_up(store, tokenizer, tokens, bag, scoring.needs_distinct())?;
                    scoring.inner.prepare(store, terms);
                    scoring.score(store, scratch);
                    Ok(finish(store, &scratch.scores))
                })
            })
        })
    }

    /// Scores a batch and makes something of each message's scores, without the GIL.
    fn with_batch_scores<R: Send>(
        &self,
        py: Python<'_>,
        batch: &Batch,
        scoring: &Scoring,
        finish: impl Fn(&Store, &[f64], &mut Vec<R>) + Sync,
    ) -> PyResult<Vec<R>> {
        let tokenizer = &self.tokenizer.get().inner;
        let results = py.detach(|| {
            self.read_detached(|store| {
                let mut results = Vec::with_capacity(batch.__len__());
                SCRATCH.with_borrow_mut(|s| scoring.inner.prepare(store, &mut s.terms));
                batch.look_up_each(store, tokenizer, scoring.needs_distinct(), |scratch| {
                    scoring.score(store, scratch);
                    finish(store, &scratch.scores, &mut results);
                })?;
                Ok(results)
            })
        });
        results.map_err(|error: NotReady| input_error(py, error.to_string()))
    }
}

fn push_best(store: &Store, scores: &[f64], results: &mut Vec<Option<ClassId>>) {
    results.push(decision::best(store, scores));
}

fn push_scores(_: &Store, scores: &[f64], results: &mut Vec<f64>) {
    results.extend_from_slice(scores);
}

#[pymethods]
impl CountStore {
    #[new]
    #[expect(clippy::too_many_arguments, reason = "keyword arguments of Python")]
    #[pyo3(signature = (tokenizer, *, max_words, max_documents, max_pairs, frequencies, columns, own_pairs, form="counts", weighed=false))]
    fn new(
        py: Python<'_>,
        tokenizer: Py<NativeTokenizer>,
        max_words: usize,
        max_documents: usize,
        max_pairs: usize,
        frequencies: bool,
        columns: bool,
        own_pairs: bool,
        form: &str,
        weighed: bool,
    ) -> PyResult<Self> {
        let form = Form::named(form).ok_or_else(|| {
            input_error(py, format!("form must be {}, not {form:?}", Form::names()))
        })?;
        let settings = Settings {
            max_words,
            max_documents,
            max_pairs,
            frequencies,
            columns,
            own_pairs,
            weighed,
            form,
        };
        Ok(CountStore { store: RwLock::new(Store::new(settings)), tokenizer })
    }

    /// A store from the bytes of `snapshot`.
    #[staticmethod]
    fn restore(py: Python<'_>, tokenizer: Py<NativeTokenizer>, snapshot: &[u8]) -> PyResult<Self> {
        let store = Store::restore(snapshot).map_err(|error| raise(py, error))?;
        Ok(CountStore { store: RwLock::new(store), tokenizer })
    }

    /// Weighs messages as they are learned from now on, by how probable their class is by this
    /// scoring. The store is one of messages that are weighed.
    fn weigh(&self, py: Python<'_>, scoring: &Scoring) -> PyResult<()> {
        let inner = scoring.inner.clone();
        py.detach(|| self.write_detached(|store| store.weigh(inner)))
            .map_err(|error| raise(py, error))
    }

    /// Learns one message.
    fn learn(
        &self,
        x: &Bound<'_, PyAny>,
        class_id: ClassId,
        weight: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let py = x.py();
        let weight = read_weight(weight)?;
        let tokenizer = &self.tokenizer.get().inner;
        self.with_message(x, |message| {
            self.write(py, |store| learn(store, tokenizer, message, class_id, weight))
        })?
        .map_err(|error| raise(py, error))
    }

    /// Learns the messages of a batch from `start` to before `stop`, each with the class id that
    /// stands at its place.
    fn learn_many(
        &self,
        py: Python<'_>,
        batch: &Batch,
        class_ids: &Bound<'_, PyList>,
        weight: &Bound<'_, PyAny>,
        start: usize,
        stop: usize,
    ) -> PyResult<()> {
        let weight = read_weight(weight)?;
        // Item by item, which for a list is several times as fast as extracting a sequence.
        let class_ids =
            class_ids.iter().map(|id| id.extract()).collect::<PyResult<Vec<ClassId>>>()?;
        let messages = batch.__len__();
        if class_ids.len() != messages || start > stop || stop > messages {
            let labels = class_ids.len();
            return Err(input_error(
                py,
                format!("{messages} messages and {labels} labels: give one label for each message"),
            ));
        }
        let tokenizer = &self.tokenizer.get().inner;
        let learned = py.detach(|| {
            self.write_detached(|store| {
                if let Err(error) = store.check_room() {
                    return Ok(Err(error));
                }
                batch.learn_each(store, tokenizer, start..stop, &class_ids, weight)
            })
        });
        learned
            .map_err(|error: NotReady| input_error(py, error.to_string()))?
            .map_err(|error| raise(py, error))
    }

    /// Unlearns one message; returns whether its class still has documents.
    fn unlearn(
        &self,
        x: &Bound<'_, PyAny>,
        class_id: ClassId,
        weight: &Bound<'_, PyAny>,
    ) -> PyResult<bool> {
        let py = x.py();
        let weight = read_weight(weight)?;
        let tokenizer = &self.tokenizer.get().inner;
        self.with_message(x, |message| {
            self.write(py, |store| {
                SCRATCH.with_borrow_mut(|scratch| {
                    let Scratch { tokens, bag, .. } = scratch;
                    message.look_up(store, tokenizer, tokens, bag, true)?;
                    let done = store.unlearn(bag, class_id, weight);
                    let classes = store.classes();
                    Ok(done.map(|()| classes.get(class_id as usize).is_some_and(|c| c.exists())))
                })
            })
        })?
        .map_err(|error| raise(py, error))
    }

    /// Adds all that another store learned; `class_ids` maps its classes to this store's.
    fn merge(&self, py: Python<'_>, other: &CountStore, class_ids: Vec<ClassId>) -> PyResult<()> {
        py.detach(|| {
            // A copy: two stores that merge each other must not wait for each other's lock.
            let other = other.read_detached(Store::clone);
            self.write_detached(|store| store.merge(&other, &class_ids))
        })
        .map_err(|error| raise(py, error))
    }

    /// Takes back all that another store learned.
    fn subtract(
        &self,
        py: Python<'_>,
        other: &CountStore,
        class_ids: Vec<ClassId>,
    ) -> PyResult<()> {
        py.detach(|| {
            let other = other.read_detached(Store::clone);
            self.write_detached(|store| store.subtract(&other, &class_ids))
        })
        .map_err(|error| raise(py, error))
    }

    /// Forgets all but the `keep` words with the highest document frequency.
    fn prune(&self, py: Python<'_>, keep: usize) {
        py.detach(|| self.write_detached(|store| store.prune(keep)));
    }

    /// The class with the highest score; None before anything was learned.
    fn predict(&self, x: &Bound<'_, PyAny>, scoring: &Scoring) -> PyResult<Option<ClassId>> {
        self.with_scores(x, scoring, decision::best)
    }

    /// The joint log-likelihood of each class, by class id.
    fn scores(&self, x: &Bound<'_, PyAny>, scoring: &Scoring) -> PyResult<Vec<f64>> {
        self.with_scores(x, scoring, |_, scores| scores.to_vec())
    }

    /// The probability of each class, by class id.
    fn probabilities(&self, x: &Bound<'_, PyAny>, scoring: &Scoring) -> PyResult<Vec<f64>> {
        self.with_scores(x, scoring, decision::probabilities)
    }

    /// The class with the highest score in each of several ways to score.
    fn decisions(
        &self,
        x: &Bound<'_, PyAny>,
        scorings: Vec<Py<Scoring>>,
    ) -> PyResult<Vec<Option<ClassId>>> {
        let tokenizer = &self.tokenizer.get().inner;
        self.with_message(x, |message| {
            self.read(x.py(), |store| {
                SCRATCH.with_borrow_mut(|scratch| {
                    let Scratch { tokens, bag, .. } = scratch;
                    message.look_up(store, tokenizer, tokens, bag, true)?;
                    let decide = |scoring: &Py<Scoring>| {
                        let scoring = scoring.get();
                        scoring.inner.prepare(store, &mut scratch.terms);
                        scoring.score(store, scratch);
                        decision::best(store, &scratch.scores)
                    };
                    Ok(scorings.iter().map(decide).collect())
                })
            })
        })
    }

    /// The label of each message of a batch: its class id, looked up in `labels`.
    fn predict_many<'py>(
        &self,
        batch: &Batch,
        scoring: &Scoring,
        labels: &Bound<'py, PyList>,
    ) -> PyResult<Bound<'py, PyList>> {
        let classes = self.with_batch_scores(labels.py(), batch, scoring, push_best)?;
        let objects: Vec<Bound<'py, PyAny>> = labels.iter().collect();
        let found = classes.into_iter().map(|class| class.and_then(|id| objects.get(id as usize)));
        PyList::new(labels.py(), found.collect::<Vec<_>>())
    }

    /// The joint log-likelihoods of a batch, float64 `messages × class ids`, as bytes.
    fn scores_many<'py>(
        &self,
        py: Python<'py>,
        batch: &Batch,
        scoring: &Scoring,
    ) -> PyResult<Bound<'py, PyBytes>> {
        Ok(bytes_of(py, &self.with_batch_scores(py, batch, scoring, push_scores)?))
    }

    /// The scores taken apart: baseline by class, and (word, contributions by class) pairs.
    #[expect(clippy::type_complexity, reason = "a tuple for Python")]
    fn explain(
        &self,
        x: &Bound<'_, PyDict>,
        scoring: &Scoring,
    ) -> PyResult<(Vec<f64>, Vec<(String, Vec<f64>)>)> {
        let counts = read_counts(x.as_any())?;
        let tokenizer = &self.tokenizer.get().inner;
        Ok(self.read(x.py(), |store| {
            SCRATCH.with_borrow_mut(|scratch| {
                let Scratch {
                    tokens, bag, hidden, packaged, one_dependence, nearest, terms, ..
                } = scratch;
                scoring.inner.prepare(store, terms);
                // Counts need no tokenising, so they are always ready.
                let _ready = Message::Counts(&counts).look_up(store, tokenizer, tokens, bag, true);
                let inner = &scoring.inner;
                inner.weigh_bag(store, bag);
                let mut explanation = match (scoring.hidden, scoring.neighbourhood) {
                    (None, Some(near)) => {
                        inner.explain_neighbourhood(store, near, bag, nearest, terms)
                    }
                    (None, None) => inner.explain(store, terms, bag),
                    (Some(Hidden::Probabilities), _) => {
                        inner.explain_hidden(store, terms, bag, hidden)
                    }
                    (Some(Hidden::Ratios), _) => inner.explain_ratios(store, terms, bag, hidden),
                    (Some(Hidden::Packaged), _) => {
                        inner.explain_packaged(store, terms, bag, packaged)
                    }
                    (Some(Hidden::Estimators), _) => {
                        inner.explain_one_dependence(store, terms, bag, one_dependence)
                    }
                };
                if scoring.has_ratios_left(store, bag) {
                    inner.explain_chi_square(store, terms, bag, &mut explanation);
                }
                let vocabulary = store.vocabulary();
                let name = |word: &[u8]| String::from_utf8_lossy(word).into_owned();
                let known = explanation.words.into_iter();
                let known = known.map(|(id, terms)| (name(vocabulary.word(id)), terms));
                let unknown = counts
                    .iter()
                    .filter(|(word, _)| vocabulary.find(&vocabulary.token(word)).is_none())
                    .map(|(word, _)| name(word))
                    .zip(explanation.unseen);
                (explanation.baseline, known.chain(unknown).collect())
            })
        }))
    }

    /// The order of the labels, as one rank for each class id: it breaks ties and orders
    /// snapshots.
    fn set_ranks(&self, py: Python<'_>, ranks: Vec<u32>) {
        self.write(py, |store| store.ranks = ranks);
    }

    /// The state as canonical bytes; classes with documents, in the order of their ranks.
    /// Without `parents` they are a function of what was learned and nothing else.
    fn snapshot<'py>(&self, py: Python<'py>, parents: bool) -> PyResult<Bound<'py, PyBytes>> {
        let bytes =
            py.detach(|| self.read_detached(|store| store.snapshot(&store.class_order(), parents)));
        Ok(PyBytes::new(py, &bytes.map_err(|error| raise(py, error))?))
    }

    /// The counts as arrays, in bytes: (layout, version, documents and tokens by class id; then
    /// the sparse words × classes matrix: indptr, class ids, tokens, documents, lengths).
    fn counts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let counts = py.detach(|| {
            self.read_detached(|store| (store.layout(), store.version(), store.export()))
        });
        counts_for_python(py, counts)
    }

    /// The word of each id; empty for an id that is not in use.
    fn words(&self, py: Python<'_>) -> Vec<String> {
        self.read(py, |store| {
            let vocabulary = store.vocabulary();
            let ids = 0..vocabulary.slots() as u32;
            ids.map(|id| String::from_utf8_lossy(vocabulary.word(id)).into_owned()).collect()
        })
    }

    /// Sets the weight of each word as a parent, float64 by id. False, with nothing changed, if
    /// ids changed their meaning since `layout`.
    fn set_parents(&self, py: Python<'_>, layout: u64, weights: PyBuffer<f64>) -> PyResult<bool> {
        let weights = weights.to_vec(py)?;
        Ok(self.write(py, |store| store.set_parents(weights, layout)))
    }

    /// The indexed documents with the counts of the same moment, as arrays, in bytes: what `counts`
    /// returns; class ids and weights of the documents, oldest first; the sparse documents × words
    /// matrix of counts: indptr, word ids, counts; the ids of all words in the order of their
    /// bytes, none unless `ordered`; the ids of classes in the order of their ranks; and the id of
    /// each word as an attribute, -1 for words not in use.
    fn documents<'py>(&self, py: Python<'py>, ordered: bool) -> PyResult<Bound<'py, PyAny>> {
        let (counts, documents, words, classes) = py.detach(|| {
            self.read_detached(|store| {
                let counts = (store.layout(), store.version(), store.export());
                let words = if ordered { store.vocabulary().sorted_ids() } else { Vec::new() };
                (counts, store.export_documents(), words, store.class_order())
            })
        });
        let ids = |ids: Vec<u32>| ids.into_iter().map(i64::from).collect::<Vec<_>>();
        let documents = (
            counts_for_python(py, counts)?,
            bytes_of(py, &documents.classes),
            bytes_of(py, &documents.weights),
            bytes_of(py, &documents.indptr),
            bytes_of(py, &documents.words),
            bytes_of(py, &documents.counts),
            bytes_of(py, &ids(words)),
            bytes_of(py, &ids(classes)),
            bytes_of(py, &documents.attributes),
        );
        Ok(documents.into_pyobject(py)?.into_any())
    }

    /// Sets the bags: pairs of attributes, the first below the second, with their information.
    /// False, with nothing changed, if ids changed their meaning since `layout`.
    fn set_bags(
        &self,
        py: Python<'_>,
        layout: u64,
        first: PyBuffer<i64>,
        second: PyBuffer<i64>,
        information: PyBuffer<f64>,
        threshold: f64,
    ) -> PyResult<bool> {
        let (first, second) = (first.to_vec(py)?, second.to_vec(py)?);
        let information = information.to_vec(py)?;
        let bags = py.detach(|| {
            let id = |id: i64| AttributeId::try_from(id).unwrap_or(attributes::NONE);
            let pairs = first.into_iter().zip(second).zip(information);
            let member =
                |((one, other), information)| Member { low: id(one), high: id(other), information };
            Bags::new(pairs.map(member), threshold)
        });
        let bags = bags.map_err(|error| raise(py, error))?;
        Ok(self.write(py, |store| store.set_bags(bags, layout)))
    }

    /// Leaves out members of bags with less information than this.
    fn set_bag_threshold(&self, py: Python<'_>, threshold: f64) {
        self.write(py, |store| store.set_bag_threshold(threshold));
    }

    /// What the bags in use hold: (attribute, attribute, information), once for each pair.
    fn bags(&self, py: Python<'_>) -> Vec<(u32, u32, f64)> {
        let members = self.read(py, |store| store.bags.members(|id| id));
        members.into_iter().map(|member| (member.low, member.high, member.information)).collect()
    }

    /// −ln P(class | message) at each of these ascending thresholds of the bags.
    fn packaged_losses(
        &self,
        x: &Bound<'_, PyAny>,
        scoring: &Scoring,
        class_id: ClassId,
        thresholds: Vec<f64>,
    ) -> PyResult<Vec<f64>> {
        let tokenizer = &self.tokenizer.get().inner;
        self.with_message(x, |message| {
            self.read(x.py(), |store| {
                SCRATCH.with_borrow_mut(|scratch| {
                    let Scratch { tokens, bag, packaged, terms, scores, .. } = scratch;
                    message.look_up(store, tokenizer, tokens, bag, true)?;
                    scoring.inner.prepare(store, terms);
                    let inner = &scoring.inner;
                    inner.weigh_bag(store, bag);
                    inner.packaged_scores(store, terms, bag, packaged, &thresholds, scores, None);
                    if inner.has_ratios() {
                        for scores in scores.chunks_exact_mut(terms.len().max(1)) {
                            inner.add_chi_square(store, terms, bag, scores);
                        }
                    }
                    let classes = scores.chunks_exact(terms.len().max(1));
                    Ok(classes.map(|scores| decision::loss(store, scores, class_id)).collect())
                })
            })
        })
    }

    /// Says how many values attributes have, learned or not.
    fn declare(&self, py: Python<'_>, values: HashMap<String, u32>) {
        self.write(py, |store| {
            values.iter().for_each(|(name, &count)| store.declare(name.as_bytes(), count));
        });
    }

    /// Renames words, which never stand in the same document if they get the same name.
    fn rename(&self, py: Python<'_>, names: HashMap<String, String>) {
        let names = names.into_iter().map(|(old, new)| (old.into_bytes(), new.into_bytes()));
        let names = names.collect();
        py.detach(|| self.write_detached(|store| store.rename(&names)));
    }

    /// Sets the effective counts, smoothed with `alpha`: totals by class id, and the sparse words ×
    /// classes matrix. False, with nothing changed, if ids changed their meaning since `layout`.
    #[expect(clippy::too_many_arguments, reason = "arrays of a sparse matrix")]
    fn set_effective(
        &self,
        py: Python<'_>,
        layout: u64,
        alpha: f64,
        totals: PyBuffer<f64>,
        indptr: PyBuffer<i64>,
        class_ids: PyBuffer<i64>,
        counts: PyBuffer<f64>,
    ) -> PyResult<bool> {
        let arrays = EffectiveArrays {
            totals: totals.to_vec(py)?,
            indptr: indptr.to_vec(py)?,
            classes: class_ids.to_vec(py)?,
            counts: counts.to_vec(py)?,
        };
        let table =
            py.detach(|| Effective::new(&arrays, alpha)).map_err(|error| raise(py, error))?;
        Ok(self.write(py, |store| store.set_effective(table, layout)))
    }

    /// The effective counts in use as arrays, in bytes: totals, indptr, class ids, counts. Words
    /// and classes are numbered as in a store restored from the snapshot.
    fn effective<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let arrays = py.detach(|| self.read_detached(Store::export_effective));
        let arrays = (
            bytes_of(py, &arrays.totals),
            bytes_of(py, &arrays.indptr),
            bytes_of(py, &arrays.classes),
            bytes_of(py, &arrays.counts),
        );
        Ok(arrays.into_pyobject(py)?.into_any())
    }

    /// Sets the weights: of words, float64 by id, and of those never learned; and what indexed
    /// documents count for beyond their own weight, by class id and as a sparse words × classes
    /// matrix of tokens. False, with nothing changed, if ids changed their meaning since `layout`.
    #[expect(clippy::too_many_arguments, reason = "arrays of a sparse matrix")]
    fn set_weights(
        &self,
        py: Python<'_>,
        layout: u64,
        words: PyBuffer<f64>,
        unseen: f64,
        documents: PyBuffer<f64>,
        indptr: PyBuffer<i64>,
        class_ids: PyBuffer<i64>,
        tokens: PyBuffer<f64>,
    ) -> PyResult<bool> {
        let arrays = WeightArrays {
            words: words.to_vec(py)?,
            unseen,
            documents: documents.to_vec(py)?,
            indptr: indptr.to_vec(py)?,
            classes: class_ids.to_vec(py)?,
            tokens: tokens.to_vec(py)?,
        };
        // The totals are summed up under the read lock: predictions go on meanwhile.
        py.detach(|| {
            let summed = self.read_detached(|store| {
                if store.layout() != layout {
                    return Ok(None);
                }
                Ok(Some((Weights::new(&arrays, store)?, store.version())))
            })?;
            Ok(summed.is_some_and(|(weights, version)| {
                self.write_detached(|store| {
                    store.set_weights(weights, &arrays.documents, layout, version)
                })
            }))
        })
        .map_err(|error| raise(py, error))
    }

    /// The weights in use as arrays, in bytes, as `set_weights` takes them; None where there are
    /// none. Words and classes are numbered as in a store restored from the snapshot.
    fn weights<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let Some(arrays) = py.detach(|| self.read_detached(Store::export_weights)) else {
            return Ok(None);
        };
        let arrays = (
            bytes_of(py, &arrays.words),
            arrays.unseen,
            bytes_of(py, &arrays.documents),
            bytes_of(py, &arrays.indptr),
            bytes_of(py, &arrays.classes),
            bytes_of(py, &arrays.tokens),
        );
        Ok(Some(arrays.into_pyobject(py)?.into_any()))
    }

    /// Sets the exponents of words in the score, float64 by id, and what they and the prior are
    /// multiplied by. False, with nothing changed, if ids changed their meaning since `layout`.
    fn set_exponents(
        &self,
        py: Python<'_>,
        layout: u64,
        words: PyBuffer<f64>,
        scale: f64,
    ) -> PyResult<bool> {
        let exponents =
            Exponents::new(words.to_vec(py)?, scale).map_err(|error| raise(py, error))?;
        Ok(self.write(py, |store| store.set_exponents(exponents, layout)))
    }

    /// The exponents in use, words numbered as in a store restored from the snapshot, and what
    /// they are multiplied by; None where there are none.
    fn exponents<'py>(&self, py: Python<'py>) -> Option<(Bound<'py, PyBytes>, f64)> {
        let (words, scale) = py.detach(|| self.read_detached(Store::export_exponents))?;
        Some((bytes_of(py, &words), scale))
    }

    /// Begins to keep a tree: of the arrays that `tree` returns. With `online`, which is δ, τ and the
    /// grace period, it grows by itself.
    fn plant(
        &self,
        py: Python<'_>,
        array: PyBuffer<i64>,
        waited: PyBuffer<f64>,
        max_depth: usize,
        min_samples_leaf: f64,
        online: Option<(f64, f64, f64)>,
    ) -> PyResult<()> {
        let (array, waited) = (array.to_vec(py)?, waited.to_vec(py)?);
        let growth = hoeffding(Limits { max_depth, min_samples_leaf }, online);
        py.detach(|| self.write_detached(|store| store.plant(&array, &waited, growth)));
        Ok(())
    }

    /// Grows a tree over the indexed documents, aside, and puts it in the place of the one in use.
    /// False, with nothing changed, if ids changed their meaning meanwhile.
    fn grow_tree(
        &self,
        py: Python<'_>,
        max_depth: usize,
        min_samples_leaf: f64,
        online: Option<(f64, f64, f64)>,
    ) -> bool {
        let limits = Limits { max_depth, min_samples_leaf };
        py.detach(|| {
            let (layout, version, documents, words, slots, frequencies) =
                self.read_detached(|store| {
                    let vocabulary = store.vocabulary();
                    (
                        store.layout(),
                        store.version(),
                        store.index().documents().cloned().collect::<Vec<_>>(),
                        vocabulary.sorted_ids(),
                        vocabulary.slots(),
                        store.settings().frequencies,
                    )
                });
            let mut places = vec![u32::MAX; slots];
            for (place, word) in words.into_iter().enumerate() {
                places[word as usize] = place as u32;
            }
            let mut tree = match hoeffding(limits, online) {
                None => grow::grow(&documents, &places, limits, frequencies),
                Some(growth) => Tree::replay(&documents, &places, growth, frequencies),
            };
            self.write_detached(|store| store.set_tree(&mut tree, layout, version))
        })
    }

    /// The tree in use as arrays, in bytes: the word of each split, then the side of documents that
    /// contain it, then the other, -1 for a leaf; and the weight of documents since each leaf was
    /// looked at. Words are numbered as in a store restored from the snapshot. None where there is
    /// no tree.
    fn tree<'py>(&self, py: Python<'py>) -> Option<(Bound<'py, PyBytes>, Bound<'py, PyBytes>)> {
        let arrays = py.detach(|| self.read_detached(Store::export_tree));
        arrays.map(|(array, waited)| (bytes_of(py, &array), bytes_of(py, &waited)))
    }

    fn __deepcopy__(&self, py: Python<'_>, _memo: &Bound<'_, PyAny>) -> Self {
        let store = py.detach(|| self.read_detached(Store::clone));
        CountStore { store: RwLock::new(store), tokenizer: self.tokenizer.clone_ref(py) }
    }

    /// Changes whenever an id may come to mean another word or class.
    #[getter]
    fn layout(&self, py: Python<'_>) -> u64 {
        self.read(py, Store::layout)
    }

    /// Grows with every change of the counts.
    #[getter]
    fn version(&self, py: Python<'_>) -> u64 {
        self.read(py, Store::version)
    }

    /// Weight of all documents.
    #[getter]
    fn n_documents(&self, py: Python<'_>) -> f64 {
        self.read(py, Store::documents)
    }

    /// Different words.
    #[getter]
    fn n_words(&self, py: Python<'_>) -> usize {
        self.read(py, |store| store.vocabulary().len())
    }

    /// Nonzero (word, class) cells.
    #[getter]
    fn n_cells(&self, py: Python<'_>) -> usize {
        self.read(py, Store::cells)
    }

    /// Documents in the index.
    #[getter]
    fn n_indexed(&self, py: Python<'_>) -> usize {
        self.read(py, |store| store.index().len())
    }

    /// The form of documents.
    #[getter]
    fn form(&self, py: Python<'_>) -> &'static str {
        self.read(py, |store| store.settings().form.name())
    }

    /// (pair, class) cells in the pair table.
    #[getter]
    fn n_pairs(&self, py: Python<'_>) -> usize {
        self.read(py, |store| store.pairs().len())
    }

    fn __sizeof__(&self, py: Python<'_>) -> usize {
        self.read(py, Store::size) + size_of::<Self>()
    }
}

fn learn(
    store: &mut Store,
    tokenizer: &tokenizer::Tokenizer,
    message: &Message<'_>,
    class: ClassId,
    weight: f64,
) -> Result<Result<(), Error>, NotReady> {
    if weight == 0.0 {
        return Ok(Ok(()));
    }
    if let Err(error) = store.check_room() {
        return Ok(Err(error));
    }
    SCRATCH.with_borrow_mut(|scratch| {
        let Scratch { tokens, bag, terms, scores, .. } = scratch;
        let extra = if store.weighs() {
            message.look_up(store, tokenizer, tokens, bag, false)?;
            store.extra_weight(bag, class, terms, scores)
        } else {
            0.0
        };
        message.intern(store, tokenizer, tokens, bag)?;
        Ok(store.learn_weighed(bag, class, weight, extra))
    })
}

fn counts_for_python<'py>(
    py: Python<'py>,
    (layout, version, export): (u64, u64, Counts),
) -> PyResult<Bound<'py, PyAny>> {
    let counts = (
        layout,
        version,
        bytes_of(py, &export.class_documents),
        bytes_of(py, &export.class_tokens),
        bytes_of(py, &export.indptr),
        bytes_of(py, &export.classes),
        bytes_of(py, &export.tokens),
        bytes_of(py, &export.documents),
        bytes_of(py, &export.lengths),
    );
    Ok(counts.into_pyobject(py)?.into_any())
}

fn hoeffding(limits: Limits, online: Option<(f64, f64, f64)>) -> Option<Hoeffding> {
    online.map(|(delta, tau, grace_period)| Hoeffding { limits, delta, tau, grace_period })
}

fn bytes_of<'py, T: Number>(py: Python<'py>, values: &[T]) -> Bound<'py, PyBytes> {
    let mut bytes = Vec::with_capacity(size_of_val(values));
    for value in values {
        value.append(&mut bytes);
    }
    PyBytes::new(py, &bytes)
}

/// A number that numpy can read from its native bytes.
trait Number: Copy {
    fn append(self, bytes: &mut Vec<u8>);
}

macro_rules! number {
    ($type:ty) => {
        impl Number for $type {
            fn append(self, bytes: &mut Vec<u8>) {
                bytes.extend_from_slice(&self.to_ne_bytes());
            }
        }
    };
}
number!(f64);
number!(i64);

/// Tokenises and hashes the texts of a batch and does nothing else: the limit that learning and
/// predicting are measured against. Returns the sum of the hashes.
#[pyfunction]
fn tokenize_and_hash(py: Python<'_>, tokenizer: &NativeTokenizer, batch: &Batch) -> PyResult<u64> {
    let sum = py.detach(|| {
        let mut sum = 0u64;
        if let Messages::Items(items) = &batch.messages {
            for item in items {
                tokenizer.cut(&item.message(), |token| sum = sum.wrapping_add(token.hash))?;
            }
        }
        Ok(sum)
    });
    sum.map_err(|error: NotReady| input_error(py, error.to_string()))
}

/// For each word, the sum of the squared weights of documents it shares with each other word, as
/// bytes; the documents are a sparse documents × words matrix of ascending word ids.
#[pyfunction]
fn cooccurrence_squares<'py>(
    py: Python<'py>,
    indptr: PyBuffer<i64>,
    word_ids: PyBuffer<i64>,
    weights: PyBuffer<f64>,
    n_words: usize,
) -> PyResult<Bound<'py, PyBytes>> {
    let (indptr, ids, weights) = (indptr.to_vec(py)?, word_ids.to_vec(py)?, weights.to_vec(py)?);
    let sums = py
        .detach(|| cooccurrence::squares(&indptr, &ids, &weights, n_words))
        .map_err(|error| raise(py, error))?;
    Ok(bytes_of(py, &sums))
}

/// For each word, the least depth at which the tree that documents grow is split on it, that of the
/// root being 1, and 0 where it is on none: int64, as bytes. The documents are a sparse documents ×
/// words matrix of ascending word ids; `word_order` has the words in the order of their bytes.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "arrays of a sparse matrix")]
fn split_depths<'py>(
    py: Python<'py>,
    indptr: PyBuffer<i64>,
    word_ids: PyBuffer<i64>,
    class_ids: PyBuffer<i64>,
    weights: PyBuffer<f64>,
    word_order: PyBuffer<i64>,
    n_words: usize,
    n_classes: usize,
    max_depth: usize,
    min_samples_leaf: f64,
) -> PyResult<Bound<'py, PyBytes>> {
    let (indptr, ids, classes) = (indptr.to_vec(py)?, word_ids.to_vec(py)?, class_ids.to_vec(py)?);
    let (weights, order) = (weights.to_vec(py)?, word_order.to_vec(py)?);
    let depths = py.detach(|| {
        let (indptr, ids, classes, weights) = (&*indptr, &*ids, &*classes, &*weights);
        let rows = grow::DocumentRows { indptr, ids, classes, weights, n_classes };
        grow::depths(&rows, &order, Limits { max_depth, min_samples_leaf }, n_words)
    });
    Ok(bytes_of(py, &depths.map_err(|error| raise(py, error))?))
}

#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<NativeTokenizer>()?;
    module.add_class::<Batch>()?;
    module.add_class::<Scoring>()?;
    module.add_class::<CountStore>()?;
    module.add_function(wrap_pyfunction!(cooccurrence_squares, module)?)?;
    module.add_function(wrap_pyfunction!(split_depths, module)?)?;
    module.add_function(wrap_pyfunction!(tokenize_and_hash, module)?)
}
