//! Attributes of tables: the word `name=value` is one value of the attribute `name`.
//!
//! A backslash escapes `=` and `\` in names, so a word belongs to exactly one attribute. Texts have
//! no attributes: each word is its own attribute.

use crate::counts::alloc::element;
use crate::counts::{Vocabulary, WordId};
use std::collections::HashMap;

pub type AttributeId = u32;

/// No attribute.
pub const NONE: AttributeId = AttributeId::MAX;

/// The attributes of a vocabulary, kept as words come and go.
#[derive(Clone)]
pub struct Attributes {
    /// The names, whose ids are the ids of the attributes.
    names: Vocabulary,
    /// Number of distinct values learned, by id.
    learned: Vec<u32>,
    /// Declared number of values, by name.
    declared: HashMap<Box<[u8]>, u32>,
    of_word: Vec<AttributeId>,
}

impl Default for Attributes {
    fn default() -> Self {
        let names = Vocabulary::bounded(usize::MAX);
        Attributes { names, learned: Vec::new(), declared: HashMap::new(), of_word: Vec::new() }
    }
}

impl Attributes {
    /// Declares the number of values of an attribute, learned or not.
    pub fn declare(&mut self, name: &[u8], values: u32) {
        self.declared.insert(name.into(), values);
    }

    /// Registers a word; does nothing if the word is known.
    pub fn add(&mut self, word: WordId, bytes: &[u8]) {
        let index = word as usize;
        if index >= self.of_word.len() {
            self.of_word.resize(index + 1, NONE);
        }
        if self.of_word[index] != NONE {
            return;
        }
        let name = self.names.token(name_of(bytes));
        let id = self.names.find(&name).unwrap_or_else(|| self.names.add(&name));
        *element(&mut self.learned, id as usize) += 1;
        self.of_word[index] = id;
    }

    /// Forgets a word; returns its attribute if that attribute has no value left.
    pub fn remove(&mut self, word: WordId) -> Option<AttributeId> {
        let slot = self.of_word.get_mut(word as usize)?;
        let id = std::mem::replace(slot, NONE);
        let learned = self.learned.get_mut(id as usize)?;
        *learned -= 1;
        if *learned > 0 {
            return None;
        }
        self.names.remove(id);
        Some(id)
    }

    /// The attribute of a word of the vocabulary.
    pub fn of(&self, word: WordId) -> AttributeId {
        self.of_word.get(word as usize).copied().unwrap_or(NONE)
    }

    /// The attribute that these bytes would be a value of.
    pub fn find(&self, bytes: &[u8]) -> AttributeId {
        self.names.find(&self.names.token(name_of(bytes))).unwrap_or(NONE)
    }

    /// Number of values of an attribute: the learned ones, or the declared number if it is larger.
    pub fn values(&self, id: AttributeId) -> f64 {
        let Some(&learned) = self.learned.get(id as usize) else { return 1.0 };
        let declared = self.declared.get(self.names.word(id)).copied().unwrap_or(0);
        f64::from(learned.max(declared).max(1))
    }

    /// One more than the largest id ever used.
    pub fn slots(&self) -> usize {
        self.names.slots()
    }

    /// The attributes in the order of their names.
    pub fn sorted_ids(&self) -> Vec<AttributeId> {
        self.names.sorted_ids()
    }

    /// The same attributes under the same ids, without values.
    pub fn emptied(&self) -> Self {
        let mut emptied = self.clone();
        emptied.learned.fill(0);
        emptied.of_word.clear();
        emptied
    }

    /// Approximate heap size in bytes.
    pub fn size(&self) -> usize {
        let ids = (self.of_word.capacity() + self.learned.capacity()) * size_of::<u32>();
        self.names.size() + ids
    }
}

/// The name of the attribute: the bytes before the first unescaped `=`.
fn name_of(word: &[u8]) -> &[u8] {
    let mut escaped = false;
    for (place, &byte) in word.iter().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'=' => return &word[..place],
            _ => {}
        }
    }
    word
}
