//! Attributes of tables: the word `name=value` is one value of the attribute `name`.
//!
//! A backslash escapes `=` and `\` in names, so a word belongs to exactly one attribute. Texts have
//! no attributes: each word is its own attribute.

use crate::counts::WordId;
use std::collections::HashMap;

pub type AttributeId = u32;

/// No attribute.
pub const NONE: AttributeId = AttributeId::MAX;

/// The attributes of a vocabulary, kept as words come and go.
#[derive(Clone, Default)]
pub struct Attributes {
    ids: HashMap<Box<[u8]>, AttributeId>,
    /// Names by id; empty for free ids.
    names: Vec<Box<[u8]>>,
    /// Number of distinct values learned, by id.
    learned: Vec<u32>,
    /// Declared number of values, by name.
    declared: HashMap<Box<[u8]>, u32>,
    free: Vec<AttributeId>,
    of_word: Vec<AttributeId>,
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
        let id = self.id_of(name_of(bytes));
        self.learned[id as usize] += 1;
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
        self.ids.remove(&std::mem::take(&mut self.names[id as usize]));
        self.free.push(id);
        Some(id)
    }

    /// The attribute of a word of the vocabulary.
    pub fn of(&self, word: WordId) -> AttributeId {
        self.of_word.get(word as usize).copied().unwrap_or(NONE)
    }

    /// The attribute that these bytes would be a value of.
    pub fn find(&self, bytes: &[u8]) -> AttributeId {
        self.ids.get(name_of(bytes)).copied().unwrap_or(NONE)
    }

    /// Number of values of an attribute: the learned ones, or the declared number if it is larger.
    pub fn values(&self, id: AttributeId) -> f64 {
        let index = id as usize;
        let declared = self.names.get(index).and_then(|name| self.declared.get(name)).copied();
        let learned = self.learned.get(index).copied().unwrap_or(0);
        f64::from(learned.max(declared.unwrap_or(0)).max(1))
    }

    /// One more than the largest id ever used.
    pub fn slots(&self) -> usize {
        self.names.len()
    }

    /// The attributes in the order of their names.
    pub fn sorted_ids(&self) -> Vec<AttributeId> {
        let mut ids: Vec<AttributeId> = self.ids.values().copied().collect();
        ids.sort_unstable_by(|&a, &b| self.names[a as usize].cmp(&self.names[b as usize]));
        ids
    }

    /// The same attributes under the same ids, without values.
    pub fn emptied(&self) -> Self {
        let mut emptied = self.clone();
        emptied.learned.fill(0);
        emptied.of_word.clear();
        emptied
    }

    fn id_of(&mut self, name: &[u8]) -> AttributeId {
        if let Some(&id) = self.ids.get(name) {
            return id;
        }
        let id = self.free.pop().unwrap_or(self.names.len() as AttributeId);
        if id as usize == self.names.len() {
            self.names.push(Box::default());
            self.learned.push(0);
        }
        self.names[id as usize] = name.into();
        self.ids.insert(name.into(), id);
        id
    }

    /// Approximate heap size in bytes.
    pub fn size(&self) -> usize {
        let names: usize = self.names.iter().map(|name| name.len() * 2 + 64).sum();
        let declared: usize = self.declared.keys().map(|name| name.len() + 32).sum();
        names + declared + (self.of_word.capacity() + self.learned.capacity()) * size_of::<u32>()
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
