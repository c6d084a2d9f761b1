//! Weights of words and of documents: statistics in use, which change what the counts count for.
//!
//! A word of weight W counts W f_i times in a message, and W N_ci times in a class; what a
//! document counts for beyond its own weight stands beside the counts. They are computed outside,
//! aside, on a copy of the counts, and swapped in whole; the totals of the classes then follow
//! every message, so that an estimate is never of other counts than its total.

use crate::counts::bag::Bag;
use crate::counts::rows::ClassId;
use crate::counts::store::{MAX_COUNT, Store};
use crate::counts::vocabulary::WordId;
use crate::error::{Error, Result};
use crate::scoring::scorer::{ClassTerms, Event, Scoring};

/// What a word counts for that is newer than the weights: as much as where none has any.
pub(crate) const NEW_WORD: f64 = 1.0;

/// What documents count for beyond their own weight, by word: (class, tokens).
pub(crate) type Extra = Vec<Box<[(ClassId, f64)]>>;

/// What a class counts for, its documents and its tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Totals {
    pub documents: f64,
    pub tokens: f64,
}

/// The weights as arrays. Words without a weight are newer than they are; what documents count
/// for besides is a sparse words × classes matrix in compressed rows, and by class.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WeightArrays {
    pub words: Vec<f64>,
    pub unseen: f64,
    pub documents: Vec<f64>,
    pub indptr: Vec<i64>,
    pub classes: Vec<i64>,
    pub tokens: Vec<f64>,
}

/// Weights in use.
#[derive(Clone, Default)]
pub struct Weights {
    pub(crate) words: Vec<f64>,
    pub(crate) unseen: f64,
    pub(crate) extra: Extra,
    pub(crate) totals: Vec<Totals>,
}

impl Weights {
    /// Checks the arrays, and sums up what the classes of a store then count for.
    pub fn new(arrays: &WeightArrays, store: &Store) -> Result<Self> {
        let fits = |value: &f64| (0.0..=MAX_COUNT).contains(value);
        let invalid = |what: &str| Err(Error::Invalid(format!("weights: {what}")));
        let all = [&arrays.words, &arrays.documents, &arrays.tokens];
        if !all.into_iter().flatten().chain([&arrays.unseen]).all(fits) {
            return invalid("each is a number from 0 to 2**53");
        }
        if arrays.classes.len() != arrays.tokens.len() {
            return invalid("one class for each count");
        }
        let mut extra = Vec::with_capacity(arrays.indptr.len().saturating_sub(1));
        for bounds in arrays.indptr.windows(2) {
            let range = match (usize::try_from(bounds[0]), usize::try_from(bounds[1])) {
                (Ok(start), Ok(end)) if start <= end && end <= arrays.tokens.len() => start..end,
                _ => return invalid("row bounds out of order"),
            };
            let cells = arrays.classes[range.clone()].iter().zip(&arrays.tokens[range]);
            let cells = cells.map(|(&class, &tokens)| match ClassId::try_from(class) {
                Ok(class) if (class as usize) < store.classes.len() => Ok((class, tokens)),
                _ => Err(Error::Invalid("weights: an unknown class".into())),
            });
            extra.push(cells.collect::<Result<_>>()?);
        }
        let mut weights = Weights {
            words: arrays.words.clone(),
            unseen: arrays.unseen,
            extra,
            totals: Vec::new(),
        };
        weights.sum_up_with_extra(store, &arrays.documents);
        Ok(weights)
    }

    /// What the classes count for, from the counts; `extra` documents besides.
    pub(crate) fn sum_up(&mut self, store: &Store, extra: &[f64]) {
        let documents = |class| extra.get(class).copied().unwrap_or(0.0);
        let mut counts = vec![Vec::new(); store.classes.len()];
        for word in 0..store.rows.slots() as WordId {
            for cell in store.rows.cells(word) {
                counts[cell.class as usize].push(self.count(word, cell.class, cell.tokens));
            }
        }
        let sum = |(class, mut counts): (usize, Vec<f64>)| {
            // By size, so that equal counts have equal sums, whatever the ids of their words.
            counts.sort_unstable_by(f64::total_cmp);
            Totals { documents: documents(class), tokens: counts.iter().sum() }
        };
        self.totals = counts.into_iter().enumerate().map(sum).collect();
    }

    #[inline]
    pub fn of_word(&self, word: WordId) -> f64 {
        self.words.get(word as usize).copied().unwrap_or(NEW_WORD)
    }

    #[inline]
    fn extra(&self, word: WordId, class: ClassId) -> f64 {
        let cells = self.extra.get(word as usize).map_or(&[][..], |cells| cells);
        cells.iter().find(|cell| cell.0 == class).map_or(0.0, |cell| cell.1)
    }

    /// What the tokens of a word in a class count for.
    #[inline]
    fn count(&self, word: WordId, class: ClassId, tokens: f64) -> f64 {
        self.of_word(word) * (tokens + self.extra(word, class))
    }

    /// What a class counts for: documents beyond its own, and all tokens.
    fn totals(&self, class: ClassId) -> Totals {
        self.totals.get(class as usize).copied().unwrap_or_default()
    }

    /// Follows a message that is learned.
    #[inline]
    pub(crate) fn learn(&mut self, word: WordId, class: ClassId, tokens: f64) {
        if self.totals.len() <= class as usize {
            self.totals.resize(class as usize + 1, Totals::default());
        }
        self.totals[class as usize].tokens += self.of_word(word) * tokens;
    }

    /// Follows tokens that are taken away; a cell that is no more has no extra tokens either.
    pub(crate) fn take(&mut self, word: WordId, class: ClassId, tokens: f64, gone: bool) {
        let mut taken = tokens;
        if gone
            && let Some(cells) = self.extra.get_mut(word as usize)
            && let Some(cell) = cells.iter_mut().find(|cell| cell.0 == class)
        {
            taken += std::mem::take(&mut cell.1);
        }
        let weight = self.of_word(word);
        if let Some(totals) = self.totals.get_mut(class as usize) {
            totals.tokens = (totals.tokens - weight * taken).max(0.0);
        }
    }

    /// A word that is no more: its id may come to mean another one.
    pub(crate) fn forget_word(&mut self, word: WordId) {
        if let Some(weight) = self.words.get_mut(word as usize) {
            *weight = NEW_WORD;
        }
        if let Some(cells) = self.extra.get_mut(word as usize) {
            *cells = Box::default();
        }
    }

    /// A class that is no more: its id may come to mean another one.
    pub(crate) fn forget_class(&mut self, class: ClassId) {
        if let Some(totals) = self.totals.get_mut(class as usize) {
            *totals = Totals::default();
        }
    }

    pub fn size(&self) -> usize {
        let extra: usize = self.extra.iter().map(|cells| size_of_val(&**cells)).sum();
        extra
            + self.words.capacity() * size_of::<f64>()
            + self.extra.capacity() * size_of::<Box<[(ClassId, f64)]>>()
            + self.totals.capacity() * size_of::<Totals>()
    }
}

impl Store {
    /// Takes weights that were summed up when the store had this version; false, with nothing
    /// changed, if ids have changed their meaning since `layout`.
    pub fn set_weights(
        &mut self,
        mut weights: Weights,
        documents: &[f64],
        layout: u64,
        version: u64,
    ) -> bool {
        if layout != self.layout {
            return false;
        }
        if version != self.version {
            weights.sum_up_with_extra(self, documents);
        }
        self.weights = Some(Box::new(weights));
        true
    }

    pub fn weights(&self) -> Option<&Weights> {
        self.weights.as_deref()
    }

    /// Sums the totals up again, after whole stores were added.
    pub(crate) fn recount_weights(&mut self) {
        if let Some(mut weights) = self.weights.take() {
            let documents: Vec<f64> =
                weights.totals.iter().map(|totals| totals.documents).collect();
            weights.sum_up(self, &documents);
            self.weights = Some(weights);
        }
    }

    /// The weights in use; words and classes numbered as in a store restored from a snapshot.
    pub fn export_weights(&self) -> Option<WeightArrays> {
        let weights = self.weights()?;
        let order = self.class_order();
        let words = self.vocabulary.sorted_ids();
        let mut arrays = WeightArrays {
            words: words.iter().map(|&word| weights.of_word(word)).collect(),
            unseen: weights.unseen,
            documents: order.iter().map(|&class| weights.totals(class).documents).collect(),
            indptr: vec![0],
            ..WeightArrays::default()
        };
        for &word in &words {
            for (place, &class) in order.iter().enumerate() {
                let extra = weights.extra(word, class);
                if extra > 0.0 {
                    arrays.classes.push(place as i64);
                    arrays.tokens.push(extra);
                }
            }
            arrays.indptr.push(arrays.tokens.len() as i64);
        }
        Some(arrays)
    }
}

/// What a word's ratio to its independence of the class adds to a score: Equation and paper are in
/// `streamnb/parts/weights.py`.
fn log_ratio(documents: f64, of_word: f64, of_class: f64, all: f64) -> f64 {
    if documents * all > of_word * of_class {
        (documents * all / (of_word * of_class)).ln()
    } else {
        0.0
    }
}

impl Scoring {
    /// What the classes of a store count for, by class.
    pub(crate) fn totals(&self, store: &Store, class: ClassId) -> Totals {
        let plain = &store.classes[class as usize];
        match store.weights() {
            Some(weights) if self.weighted => {
                let Totals { documents, tokens } = weights.totals(class);
                Totals { documents: plain.documents + documents, tokens }
            }
            _ => Totals { documents: plain.documents, tokens: plain.tokens },
        }
    }

    /// The multinomial, complement or one-versus-all score where words or documents have weights:
    /// with N_ci = W_i times what i counts in c, ± ln P ± Σ_i W_i f_i ln P(w_i | c or c̄).
    pub(crate) fn add_weighted(
        &self,
        store: &Store,
        weights: &Weights,
        terms: &[ClassTerms],
        bag: &Bag,
        out: &mut [f64],
    ) {
        let own = self.event != Event::Complement;
        let complement = self.event != Event::Multinomial;
        let unseen = if self.is_smooth() { weights.unseen * bag.unseen_tokens() } else { 0.0 };
        let (mut tokens, mut shared) = (unseen, unseen * self.log_alpha);
        for &(word, count) in &bag.words {
            let weight = weights.of_word(word);
            if weight == 0.0 {
                continue;
            }
            let count = weight * count;
            tokens += count;
            let cells = || {
                store.rows.cells(word).map(|cell| {
                    (cell.class, weight * (cell.tokens + weights.extra(word, cell.class)))
                })
            };
            let total: f64 = if complement { cells().map(|(_, tokens)| tokens).sum() } else { 0.0 };
            let log_total = self.log_plus(total);
            shared += count * log_total;
            // A class without the word has ln α, and the total in its complement.
            for (class, of_class) in cells() {
                let mut change = 0.0;
                if own {
                    change += self.log_plus(of_class) - self.log_alpha;
                }
                if complement {
                    change += log_total - self.log_plus((total - of_class).max(0.0));
                }
                out[class as usize] += count * change;
            }
        }
        for (score, class) in out.iter_mut().zip(terms) {
            if own {
                *score += class.prior + tokens * (self.log_alpha - class.tokens);
            }
            if complement {
                *score += tokens * class.tokens_complement - shared - class.prior_complement;
            }
        }
    }

    /// Whether P(w|c) is multiplied by R_wc.
    pub fn has_ratios(&self) -> bool {
        self.chi_square
    }

    /// Weighs the tokens of a message where weights are exponents: each word's term of the score
    /// then has its weight. A word of weight 0 is no parent either.
    pub fn weigh_bag(&self, store: &Store, bag: &mut Bag) {
        self.raise_bag(store, bag);
        if let Some(weights) = store.weights().filter(|_| self.exponents) {
            bag.weigh(|word| weights.of_word(word));
            bag.unseen.iter_mut().for_each(|word| word.count *= weights.unseen);
        }
    }

    /// Multiplies P(w|c), and P(w|c̄), by how much more often than by chance the word stands in
    /// documents of the class, or outside it, where that is more than 1.
    pub fn add_chi_square(&self, store: &Store, terms: &[ClassTerms], bag: &Bag, out: &mut [f64]) {
        let all = store.documents();
        let documents = |class: ClassId| store.classes[class as usize].documents;
        let (own, complement) = (self.event != Event::Complement, self.event != Event::Multinomial);
        let mut tokens = 0.0;
        for &(word, count) in &bag.words {
            tokens += count;
            let of_word: f64 = store.rows.cells(word).map(|cell| cell.documents).sum();
            for cell in store.rows.cells(word) {
                let of_class = documents(cell.class);
                let mut change = 0.0;
                if own {
                    change += log_ratio(cell.documents, of_word, of_class, all);
                }
                if complement {
                    let rest = (of_word - cell.documents).max(0.0);
                    change += terms[cell.class as usize].outside
                        - log_ratio(rest, of_word, all - of_class, all);
                }
                out[cell.class as usize] += count * change;
            }
        }
        // As if no class had the words: then all of their documents are outside it.
        if complement {
            for (score, class) in out.iter_mut().zip(terms) {
                *score -= tokens * class.outside;
            }
        }
    }
}
