//! What this Python knows of characters.

use crate::text::unicode::{CharacterClass, CharacterFact, CharacterFacts, FoldTable, Folding};
use pyo3::prelude::*;
use pyo3::types::PyString;
use std::sync::{Arc, OnceLock};

/// The tables of character facts, one for each folding, shared by the process.
pub fn fold_table(folding: Folding) -> Arc<FoldTable> {
    static TABLES: [OnceLock<Arc<FoldTable>>; 4] = [const { OnceLock::new() }; 4];
    TABLES[folding.index()].get_or_init(|| Arc::new(FoldTable::new(folding))).clone()
}

/// What this Python knows of characters.
pub struct Host<'py>(pub Python<'py>);

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

impl Host<'_> {
    /// A text folded as Python folds it, where that depends on more than single characters.
    pub fn fold(&self, text: &str, lowercase: bool, strip_accents: bool) -> PyResult<String> {
        self.0
            .import("streamnb.text._unicode")?
            .call_method1("fold", (text, lowercase, strip_accents))?
            .extract()
    }
}

/// Lone surrogates are no text; they separate tokens as U+FFFD does.
pub fn without_surrogates(text: &Bound<'_, PyString>) -> PyResult<String> {
    text.py()
        .import("streamnb.text._unicode")?
        .call_method1("without_surrogates", (text,))?
        .extract()
}
