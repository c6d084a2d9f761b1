//! Words renamed all at once: columns whose bins have become coarser.

use crate::counts::attributes::AttributeId;
use crate::counts::index::Document;
use crate::counts::store::Store;
use crate::counts::vocabulary::WordId;
use std::collections::HashMap;

impl Store {
    /// Gives words other names. Words that get the same name become one, with their counts added
    /// up: they must never stand in the same document.
    pub fn rename(&mut self, names: &HashMap<Vec<u8>, Vec<u8>>) {
        let mut renamed = Store::new(self.settings);
        renamed.attributes = self.attributes.emptied();
        let mut word_of: Vec<WordId> = vec![0; self.vocabulary.slots()];
        for word in self.vocabulary.sorted_ids() {
            let bytes = self.vocabulary.word(word);
            let bytes = names.get(bytes).map_or(bytes, Vec::as_slice);
            let new = renamed.intern(&renamed.vocabulary.token(bytes));
            word_of[word as usize] = new;
            for cell in self.rows.cells(word) {
                let length = renamed.rows.cell(new, cell.class).map_or(0.0, |known| known.length);
                renamed.rows.add(new, cell.class, cell.tokens, cell.documents);
                renamed.rows.set_length(new, cell.class, length + cell.length);
            }
        }
        for word in 0..renamed.rows.slots() as WordId {
            for cell in renamed.rows.cells(word) {
                let class = &mut self.classes[cell.class as usize];
                class.most_documents = class.most_documents.max(cell.documents);
            }
        }
        renamed.pairs = self.pairs.renamed(&word_of);
        for document in self.index.documents() {
            let mut words: Vec<(WordId, f64)> =
                document.words.iter().map(|&(word, f)| (word_of[word as usize], f)).collect();
            words.sort_unstable_by_key(|&(word, _)| word);
            renamed.index.push(Document { words: words.into_boxed_slice(), ..*document });
        }
        self.vocabulary = renamed.vocabulary;
        self.rows = renamed.rows;
        self.attributes = renamed.attributes;
        self.pairs = renamed.pairs;
        self.index = renamed.index;
        // Attributes keep their ids.
        self.statistics.forget_word_ids();
        self.version += 1;
        self.layout += 1;
    }

    /// The id that a word has as an attribute: in texts, its own.
    pub fn attribute_of(&self, word: WordId) -> AttributeId {
        if self.settings.columns { self.attributes.of(word) } else { word }
    }
}
