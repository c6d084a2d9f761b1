//! Weights of words and of documents, which multiply the counts.
//!
//! A word of weight W counts W f_i times in a message, and W N_ci times in a class (exponents: in
//! a message alone, and all of them and the prior have a common factor). The extra weight of
//! documents is stored next to the counts. The caller computes the weights on a copy of the counts
//! and swaps them in. The totals of the classes then follow each message, so that counts and totals
//! always agree.

use crate::counts::alloc::{element, heap_size};
use crate::counts::codec::{Reader, corrupt, put_count};
use crate::counts::export::ClassRows;
use crate::counts::rows::SparseRows;
use crate::counts::{
    Cell, Cells, ClassId, Counted, MAX_COUNT, Rows, SavedOrder, Statistic, WordId,
};
use crate::error::{Error, Result};
use crate::statistics::exact::ExactSum;

/// The weight of a word that is unseen, or newer than the weights.
pub const NEW_WORD: f64 = 1.0;

/// The weighted documents and tokens of a class.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Totals {
    pub documents: f64,
    pub tokens: f64,
}

/// The weights as arrays of words and classes in some order. Words without a weight are newer.
/// `documents` is the extra weight of the documents by class, and `tokens` the extra weight of tokens.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WeightArrays {
    pub words: Vec<f64>,
    pub unseen: f64,
    pub scale: f64,
    pub documents: Vec<f64>,
    pub tokens: ClassRows,
}

/// The weights in use.
#[derive(Clone)]
pub struct WordWeights {
    words: Vec<f64>,
    /// The weight of words that no class has seen.
    pub unseen: f64,
    /// The factor of all weights and of the prior, if the weights are exponents; else 1.
    pub scale: f64,
    /// The extra weight of tokens by the documents that contain them.
    instances: SparseRows<f64>,
    classes: Vec<Sums>,
}

/// The sums of a class that [`Totals`] are read from.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    documents: f64,
    tokens: ExactSum,
}

impl WordWeights {
    /// Check the arrays, and sum up the totals of the classes of these counts.
    pub fn new(arrays: &WeightArrays, order: &SavedOrder, counted: &Counted<'_>) -> Result<Self> {
        let mut weights = Self::without_totals(arrays, order)?;
        weights.recount(counted);
        Ok(weights)
    }

    fn without_totals(arrays: &WeightArrays, order: &SavedOrder) -> Result<Self> {
        let fits = |value: &f64| (0.0..=MAX_COUNT).contains(value);
        let all = [&arrays.words, &arrays.documents, &arrays.tokens.values];
        if !all.into_iter().flatten().chain([&arrays.unseen, &arrays.scale]).all(fits) {
            return Err(Error::Invalid("weights must be numbers from 0 to 2**53".into()));
        }
        // Free ids have the weight of a new word, so that a word which takes one inherits nothing.
        let slots = order.words.iter().max().map_or(0, |&word| word as usize + 1);
        let mut words = vec![NEW_WORD; slots];
        for (&word, &weight) in order.words.iter().zip(&arrays.words) {
            words[word as usize] = weight;
        }
        let mut classes = Vec::new();
        for (&class, &documents) in order.classes.iter().zip(&arrays.documents) {
            element::<Sums>(&mut classes, class as usize).documents = documents;
        }
        let instances = arrays.tokens.read("weights", order)?;
        Ok(WordWeights { words, unseen: arrays.unseen, scale: arrays.scale, instances, classes })
    }

    /// The bytes of the weights. The totals follow the messages, so they are written too.
    pub fn put(&self, order: &SavedOrder, bytes: &mut Vec<u8>) {
        let arrays = self.export(order);
        put_count(bytes, arrays.unseen);
        put_count(bytes, arrays.scale);
        arrays.words.iter().for_each(|&weight| put_count(bytes, weight));
        for (&class, &documents) in order.classes.iter().zip(&arrays.documents) {
            put_count(bytes, documents);
            self.sums(class).tokens.put(bytes);
        }
        arrays.tokens.put(bytes);
    }

    pub fn restore(reader: &mut Reader<'_>, order: &SavedOrder) -> Result<Self> {
        let (unseen, scale) = (reader.count()?, reader.count()?);
        let words = order.words.iter().map(|_| reader.count()).collect::<Result<_>>()?;
        let (mut documents, mut tokens) = (Vec::new(), Vec::new());
        for _ in &order.classes {
            documents.push(reader.count()?);
            tokens.push(ExactSum::restore(reader)?);
        }
        let tokens_of_documents = ClassRows::restore(reader, order)?;
        let arrays = WeightArrays { words, unseen, scale, documents, tokens: tokens_of_documents };
        let mut weights = Self::without_totals(&arrays, order)?;
        for (&class, tokens) in order.classes.iter().zip(tokens) {
            if tokens.value() < 0.0 {
                return Err(corrupt("a class has negative weighted tokens"));
            }
            element(&mut weights.classes, class as usize).tokens = tokens;
        }
        Ok(weights)
    }

    fn sums(&self, class: ClassId) -> Sums {
        self.classes.get(class as usize).copied().unwrap_or_default()
    }

    pub fn of_word(&self, word: WordId) -> f64 {
        self.words.get(word as usize).copied().unwrap_or(NEW_WORD)
    }

    /// The weighted tokens of a word in a class.
    #[inline]
    pub fn count(&self, word: WordId, class: ClassId, tokens: f64) -> f64 {
        self.of_word(word) * (tokens + self.extra(word, class))
    }

    fn extra(&self, word: WordId, class: ClassId) -> f64 {
        self.instances.cell(word, class).copied().unwrap_or(0.0)
    }

    /// Remove up to `tokens` of the extra tokens of a word; return the number removed.
    fn take_extra(&mut self, word: WordId, class: ClassId, tokens: f64) -> f64 {
        let extra = self.extra(word, class);
        if extra <= tokens {
            self.instances.remove(word, class);
            return extra;
        }
        *self.instances.entry(word, class) -= tokens;
        tokens
    }

    /// The extra weight of the documents of a class, and all of its weighted tokens.
    pub fn totals(&self, class: ClassId) -> Totals {
        let Sums { documents, tokens } = self.sums(class);
        Totals { documents, tokens: tokens.value() }
    }

    /// The arrays as a restored store would number them.
    pub fn export(&self, order: &SavedOrder) -> WeightArrays {
        let documents = order.classes.iter().map(|&class| self.totals(class).documents);
        WeightArrays {
            words: order.words.iter().map(|&word| self.of_word(word)).collect(),
            unseen: self.unseen,
            scale: self.scale,
            documents: documents.collect(),
            tokens: ClassRows::of(&self.instances, order),
        }
    }
}

/// The weighted counts of words: W_i × (tokens of i in c).
pub struct Weighted<'a> {
    pub rows: &'a Rows,
    pub weights: &'a WordWeights,
}

impl Cells for Weighted<'_> {
    fn cells(&self, word: WordId) -> impl Iterator<Item = Cell> + Clone {
        let tokens = move |cell: &Cell| self.weights.count(word, cell.class, cell.tokens);
        self.rows.cells(word).map(move |cell| Cell { tokens: tokens(&cell), ..cell })
    }
}

impl Statistic for WordWeights {
    fn forget_word(&mut self, word: WordId) {
        if let Some(weight) = self.words.get_mut(word as usize) {
            *weight = NEW_WORD;
        }
        self.instances.clear(word);
    }

    fn forget_class(&mut self, class: ClassId) {
        if let Some(sums) = self.classes.get_mut(class as usize) {
            *sums = Sums::default();
        }
    }

    fn learn(&mut self, words: &[(WordId, f64)], class: ClassId, weight: f64) {
        let mut tokens = self.sums(class).tokens;
        for &(word, count) in words {
            tokens.add(self.of_word(word) * (weight * count));
        }
        element(&mut self.classes, class as usize).tokens = tokens;
    }

    fn take(&mut self, word: WordId, class: ClassId, tokens: f64, gone: bool) {
        let mut taken = tokens;
        if gone {
            taken += self.take_extra(word, class, f64::INFINITY);
        }
        let weight = self.of_word(word);
        if let Some(sums) = self.classes.get_mut(class as usize) {
            sums.tokens.take(weight * taken);
            if sums.tokens.value() < 0.0 {
                sums.tokens = ExactSum::default();
            }
        }
    }

    /// Sum up the totals of the classes.
    fn recount(&mut self, counted: &Counted<'_>) {
        let mut tokens = vec![ExactSum::default(); counted.classes.len()];
        for word in 0..counted.rows.slots() as WordId {
            for cell in counted.rows.cells(word) {
                tokens[cell.class as usize].add(self.count(word, cell.class, cell.tokens));
            }
        }
        for (class, tokens) in tokens.into_iter().enumerate() {
            element(&mut self.classes, class).tokens = tokens;
        }
    }

    fn size(&self) -> usize {
        self.instances.size() + heap_size(&self.words)
    }
}
