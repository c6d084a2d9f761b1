//! Counts and documents as arrays.

use crate::bindings::arrays::bytes_of;
use crate::bindings::store::CountStore;
use crate::counts::export::Counts;
use pyo3::prelude::*;

#[pymethods]
impl CountStore {
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
