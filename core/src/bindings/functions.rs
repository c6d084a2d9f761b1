//! Functions on arrays, labels and texts.

use super::batch::Batch;
use super::detached::detached;
use super::tokenizer::{NativeTokenizer, split};
use super::{Array, Numbers, joined_bytes, watched};
use crate::counts::ClassId;
use crate::mail::{self, Header, Mail, Page};
use crate::statistics::cooccurrence::DocumentRows;
use crate::statistics::split::Limits;
use crate::statistics::{cooccurrence, grow};
use crate::text::{sketch, unicode};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyDict, PyList, PyString};

/// Return bytes one after the other, like `b"".join`, but without the GIL.
#[pyfunction]
pub fn join<'py>(py: Python<'py>, parts: Vec<PyBackedBytes>) -> PyResult<Bound<'py, PyBytes>> {
    let parts: Vec<&[u8]> = parts.iter().map(|part| &**part).collect();
    joined_bytes(py, &parts)
}

/// Return the Unicode versions of the character tables.
#[pyfunction]
pub fn unicode_version() -> String {
    unicode::version()
}

/// Return the smallest distinct hashes of the substrings of a text, in ascending order.
#[pyfunction]
pub fn text_sketch(
    text: &Bound<'_, PyString>,
    length: usize,
    read: usize,
    most: usize,
) -> Vec<u32> {
    sketch::sketch(&text.to_string_lossy(), length, read, most)
}

/// Return, for each row of three orders, the smallest `hash ^ order` for each order.
#[pyfunction]
pub fn smallest_in_orders(hashes: Vec<u32>, orders: Vec<[u32; 3]>) -> Vec<(u32, u32, u32)> {
    let found = sketch::smallest_in_orders(&hashes, &orders);
    found.into_iter().map(Into::into).collect()
}

/// Return the hashes of a sample of words. Each part is a text, or a name that is one word.
#[pyfunction]
pub fn word_sample(parts: Vec<(Bound<'_, PyString>, bool)>, read: usize, most: usize) -> Vec<u32> {
    let parts: Vec<_> = parts.iter().map(|(part, name)| (part.to_string_lossy(), name)).collect();
    let parts = parts.iter().map(|(part, name)| match name {
        true => sketch::Part::Name(part),
        false => sketch::Part::Text(part),
    });
    sketch::word_sample(parts, read, most)
}

/// Tokenise and hash the texts of a batch, read one of so many cache lines for each token, and return
/// a sum of hashes. This is the upper limit of the speed of learning and predicting.
#[pyfunction]
pub fn tokenize_and_hash(
    py: Python<'_>,
    tokenizer: &NativeTokenizer,
    batch: &Batch,
    lines: usize,
) -> PyResult<u64> {
    let batch = batch.with_tokenizer(&tokenizer.inner);
    watched(py, |watch| {
        let table = vec![[1u64; 8]; lines.max(1)];
        let line = |hash: u64| ((u128::from(hash) * table.len() as u128) >> 64) as usize;
        let mut sum = 0u64;
        for message in (0..batch.messages.number()).map(|place| batch.get(place)) {
            if watch.stops(message.size()) {
                break;
            }
            split(&message, |token| {
                sum = sum.wrapping_add(token.hash ^ table[line(token.hash)][0]);
            });
        }
        sum
    })
}

/// Number of label objects whose ids are cached while labels are read.
const CACHED_LABELS: usize = 64;

/// Return the class id of each label, uint32, as bytes.
///
/// The labels of a stream are usually a few objects. The same object has the same id, so most labels
/// need no lookup in the dictionary `ids`.
#[pyfunction]
pub fn class_ids(labels: &Bound<'_, PyList>, ids: &Bound<'_, PyDict>) -> PyResult<Array<ClassId>> {
    // `__missing__` of a subclass of dict may add an id.
    let id_of = |label: &Bound<'_, PyAny>| match ids.get_item(label)? {
        Some(id) => id.extract(),
        None => ids.as_any().get_item(label)?.extract(),
    };
    let mut found: Vec<ClassId> = Vec::with_capacity(labels.len());
    // These references keep the labels alive, so an address identifies a label.
    let labels: Vec<_> = labels.iter().collect();
    let mut known = [(std::ptr::null_mut(), 0); CACHED_LABELS];
    for label in &labels {
        let address = label.as_ptr();
        let (of, id) = &mut known[address as usize / size_of::<u128>() % CACHED_LABELS];
        if *of != address {
            (*of, *id) = (address, id_of(label)?);
        }
        found.push(*id);
    }
    Ok(Array(found))
}

/// Return for each word the sum, over the other words, of the squared weight of the documents that
/// contain both, as bytes. The documents are a sparse documents × words matrix of ascending word ids.
#[pyfunction]
pub fn cooccurrence_squares(
    py: Python<'_>,
    indptr: Numbers<i64>,
    word_ids: Numbers<i64>,
    weights: Numbers<f64>,
    n_words: usize,
    threads: usize,
) -> PyResult<Array<f64>> {
    let sums = watched(py, |watch| {
        cooccurrence::squares(&indptr.0, &word_ids.0, &weights.0, n_words, threads, watch)
    })?;
    Ok(Array(sums?))
}

type PairInformation = (Array<i64>, Array<i64>, Array<f64>, f64);

/// Return the conditional mutual information of at most `most` pairs of words that occur together:
/// the first words and the second words, int64, and the bits, float64, as bytes; and the sum of bits
/// over all pairs of words. The documents are a sparse documents × words matrix of ascending word
/// ids.
#[pyfunction]
pub fn pair_information(
    py: Python<'_>,
    indptr: Numbers<i64>,
    word_ids: Numbers<i64>,
    class_ids: Numbers<i64>,
    weights: Numbers<f64>,
    n_words: usize,
    n_classes: usize,
    most: usize,
    threads: usize,
) -> PyResult<PairInformation> {
    let (indptr, ids, classes) = (&indptr.0, &word_ids.0, &class_ids.0);
    let rows = DocumentRows { indptr, ids, classes, weights: &weights.0, n_classes };
    let found =
        watched(py, |watch| cooccurrence::information(&rows, n_words, most, threads, watch))??;
    let pairs = || found.strongest.iter();
    Ok((
        Array(pairs().map(|pair| i64::from(pair.first)).collect()),
        Array(pairs().map(|pair| i64::from(pair.second)).collect()),
        Array(pairs().map(|pair| pair.bits).collect()),
        found.total,
    ))
}

/// Return for each word the minimum depth of its splits in the tree of the documents, int64, as
/// bytes. The root has depth 1; a word without a split has 0. The documents are a sparse documents ×
/// words matrix of ascending words, which are numbered in the order of their bytes.
#[pyfunction]
pub fn split_depths(
    py: Python<'_>,
    indptr: Numbers<i64>,
    word_ids: Numbers<i64>,
    class_ids: Numbers<i64>,
    weights: Numbers<f64>,
    n_words: usize,
    n_classes: usize,
    max_depth: usize,
    min_samples_leaf: f64,
) -> PyResult<Array<i64>> {
    let (indptr, ids, classes) = (&indptr.0, &word_ids.0, &class_ids.0);
    let rows = DocumentRows { indptr, ids, classes, weights: &weights.0, n_classes };
    let limits = Limits { max_depth, min_samples_leaf };
    Ok(Array(detached(py, || grow::depths(&rows, limits, n_words))?))
}

type ParsedMail = (Vec<Header>, Vec<String>, Vec<String>, Vec<Part>);
type Part = (String, Option<String>, Option<String>, Vec<Header>, Option<ParsedPage>);
type ParsedPage = (String, String, Vec<String>, Vec<(String, usize)>, usize);

fn parsed(page: Page) -> ParsedPage {
    (page.text, page.hidden, page.urls, page.tags, page.comments)
}

/// The content of HTML: its visible and its hidden text, its addresses, its tags with their numbers,
/// and the number of its comments. `room` bounds the characters of each text.
#[pyfunction]
#[pyo3(signature = (html, *, room))]
pub fn read_html(py: Python<'_>, html: &str, room: usize) -> ParsedPage {
    parsed(detached(py, || mail::render(html, room, room)))
}

/// The text of each mail, one line per header, then the texts of its parts; and its senders.
///
/// `room` bounds the characters of the texts, `header_room` those of the header lines.
#[pyfunction]
#[pyo3(signature = (raw, *, room, header_room, threads))]
pub fn mail_texts(
    py: Python<'_>,
    raw: Vec<PyBackedBytes>,
    room: usize,
    header_room: usize,
    threads: usize,
) -> PyResult<Vec<(String, Vec<String>)>> {
    watched(py, |watch| mail::texts(&raw, room, header_room, threads, watch))
}

/// A parsed mail: its headers, its senders, the media types of all parts, and for each part without
/// others its media type, charset, file name, headers and content (as by `read_html`).
#[pyfunction]
#[pyo3(signature = (raw, *, room))]
pub fn read_mail(py: Python<'_>, raw: &[u8], room: usize) -> ParsedMail {
    let mail = detached(py, || Mail::read(raw, room));
    let parts = mail
        .parts
        .into_iter()
        .map(|part| (part.kind, part.charset, part.file_name, part.headers, part.page.map(parsed)));
    (mail.headers, mail.senders, mail.kinds, parts.collect())
}
