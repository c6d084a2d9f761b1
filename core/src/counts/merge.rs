//! Adding a whole store to another one, and subtracting it.

use crate::counts::index::Document;
use crate::counts::rows::{Cell, Class, ClassId, FLOOR, take};
use crate::counts::store::Store;
use crate::counts::unlearn::not_learned;
use crate::counts::vocabulary::WordId;
use crate::error::{Error, Result};
use std::collections::HashMap;

impl Store {
    /// Adds everything that another store learned. `class_of` maps its classes to the classes of
    /// this store.
    ///
    /// Counts add up in any order of merging. The other store's documents count as younger: they
    /// are appended to the index, and the oldest documents leave at its bound. The result is the
    /// index of a store that learned first this stream and then the other.
    ///
    /// With a half-life in messages, the last messages of both stores are assumed to be
    /// simultaneous, as in two parts of a stream that were learned side by side. With a half-life
    /// in time, the later clock applies to both, and each message keeps its decayed weight at that
    /// time.
    pub fn merge(&mut self, other: &Store, class_of: &[ClassId]) -> Result<()> {
        self.check_room()?;
        let units = self.units_of(other);
        let here = |count: f64| if units == 1.0 { count } else { (units * count).max(FLOOR) };
        for (theirs, totals) in other.classes.iter().enumerate() {
            if !totals.exists() {
                continue;
            }
            let class = class_of[theirs] as usize;
            if class >= self.classes.len() {
                self.classes.resize_with(class + 1, Class::default);
            }
            self.classes[class].documents += here(totals.documents);
            self.classes[class].tokens += here(totals.tokens);
        }
        let mut word_of = vec![0; other.vocabulary.slots()];
        for theirs in other.vocabulary.sorted_ids() {
            let bytes = other.vocabulary.word(theirs);
            let word = self.intern(&self.vocabulary.token(bytes));
            word_of[theirs as usize] = word;
            let class = |cell: &Cell| class_of[cell.class as usize];
            let ours = |cell: Cell| (class(&cell), here(cell.tokens), here(cell.documents));
            self.add_cells(word, other.rows.cells(theirs).map(ours));
        }
        if self.settings.index_size > 0 {
            for document in other.index.documents() {
                self.index_document(translate(document, class_of, &word_of));
            }
        }
        if !self.pruned {
            self.prune_cursor = other.prune_cursor % self.vocabulary.groups();
        }
        self.pruned |= other.pruned;
        let (statistics, counted) = self.parts();
        for statistic in statistics.iter_mut() {
            statistic.merge(&other.statistics, &word_of, class_of);
            statistic.recount(&counted);
        }
        self.version += 1;
        self.prune_to_bound();
        Ok(())
    }

    /// Adds tokens and documents to existing cells of a word.
    pub(crate) fn add_cells(
        &mut self,
        word: WordId,
        cells: impl Iterator<Item = (ClassId, f64, f64)>,
    ) {
        for (class, tokens, documents) in cells {
            let (documents, before) = self.rows.add(word, class, tokens, documents);
            let totals = &mut self.classes[class as usize];
            if self.settings.frequencies {
                totals.move_frequency(before, documents);
            }
            totals.most_documents = totals.most_documents.max(documents);
        }
    }

    /// Subtracts everything that another store learned: the inverse of [`merge`](Self::merge)
    /// unless a document was evicted since. Fails without a change if a count would become
    /// negative.
    pub fn subtract(&mut self, other: &Store, class_of: &[ClassId]) -> Result<()> {
        if self.settings.half_life.is_some() {
            return Err(Error::Invalid(
                "what was learned with a half-life counts for less by now, and is not subtracted: \
                 unlearn messages by the weight that is left of them"
                    .into(),
            ));
        }
        for (theirs, totals) in other.classes.iter().enumerate() {
            let class = class_of[theirs];
            let ours = self.classes.get(class as usize).map_or(0.0, |ours| ours.documents);
            if totals.exists() && take(ours, totals.documents).is_none() {
                return Err(not_learned("a class has fewer documents"));
            }
        }
        let mut word_of = vec![WordId::MAX; other.vocabulary.slots()];
        let mut changes = Vec::with_capacity(other.cells());
        for theirs in other.vocabulary.sorted_ids() {
            let bytes = other.vocabulary.word(theirs);
            let Some(word) = self.vocabulary.find(&self.vocabulary.token(bytes)) else {
                return Err(not_learned("it has words that were never learned"));
            };
            word_of[theirs as usize] = word;
            for cell in other.rows.cells(theirs) {
                let class = class_of[cell.class as usize];
                let left = self.rows.cell(word, class).and_then(|ours| {
                    Some((take(ours.tokens, cell.tokens)?, take(ours.documents, cell.documents)?))
                });
                let left =
                    left.filter(|&(tokens, documents)| (tokens == 0.0) == (documents == 0.0));
                let Some((tokens, documents)) = left else {
                    return Err(not_learned("a word was seen less often in that class"));
                };
                changes.push((word, class, tokens, documents));
            }
        }
        self.check_left(other, class_of, &changes)?;
        // The index first: its lengths and pairs are looked up through the cells.
        let theirs: Vec<Document> = other
            .index
            .documents()
            .rev()
            .map(|document| translate(document, class_of, &word_of))
            .collect();
        let before = self.clone();
        for document in theirs {
            self.unindex(&document);
        }
        if !self.covers_index(other, class_of, &changes) {
            *self = before;
            return Err(not_learned("recent documents would be left without their counts"));
        }
        for (word, class, tokens, documents) in changes {
            self.set_cell(word, class, tokens, documents);
        }
        for (theirs, totals) in other.classes.iter().enumerate() {
            if totals.exists() {
                let ours = &mut self.classes[class_of[theirs] as usize];
                ours.documents = take(ours.documents, totals.documents).unwrap_or(0.0);
                ours.tokens = take(ours.tokens, totals.tokens).unwrap_or(0.0);
                if !ours.exists() {
                    ours.tokens = 0.0;
                }
                self.forget_empty_class(class_of[theirs]);
            }
        }
        self.version += 1;
        Ok(())
    }
}

impl Store {
    /// Whether the documents in the index would keep their counts.
    fn covers_index(
        &self,
        other: &Store,
        class_of: &[ClassId],
        changes: &[(WordId, ClassId, f64, f64)],
    ) -> bool {
        if self.index.is_empty() {
            return true;
        }
        let mut classes = vec![0.0; self.classes.len()];
        let mut cells: HashMap<(WordId, ClassId), (f64, f64)> = HashMap::new();
        for document in self.index.documents() {
            classes[document.class as usize] += document.weight;
            for &(word, count) in &document.words {
                let (tokens, documents) = cells.entry((word, document.class)).or_default();
                *tokens += document.weight * count;
                *documents += document.weight;
            }
        }
        let enough = |left: f64, indexed: f64| indexed <= left * (1.0 + 1e-12);
        let of_classes = other.classes.iter().enumerate().all(|(theirs, totals)| {
            let class = class_of[theirs] as usize;
            !totals.exists()
                || take(self.classes[class].documents, totals.documents)
                    .is_some_and(|left| enough(left, classes[class]))
        });
        of_classes
            && changes.iter().all(|&(word, class, tokens, documents)| {
                let indexed = cells.get(&(word, class)).copied().unwrap_or_default();
                enough(tokens, indexed.0) && enough(documents, indexed.1)
            })
    }

    /// Whether no word would be in more documents than its class has left.
    fn check_left(
        &self,
        other: &Store,
        class_of: &[ClassId],
        changes: &[(WordId, ClassId, f64, f64)],
    ) -> Result<()> {
        let mut left: Vec<f64> = self.classes.iter().map(|class| class.documents).collect();
        for (theirs, totals) in other.classes.iter().enumerate() {
            if totals.exists() {
                let class = class_of[theirs] as usize;
                left[class] = take(left[class], totals.documents).unwrap_or(0.0);
            }
        }
        let changed: HashMap<(WordId, ClassId), f64> =
            changes.iter().map(|&(word, class, _, documents)| ((word, class), documents)).collect();
        for word in 0..self.rows.slots() as WordId {
            for cell in self.rows.cells(word) {
                let documents = changed.get(&(word, cell.class)).copied().unwrap_or(cell.documents);
                if documents > left[cell.class as usize] * (1.0 + 1e-12) {
                    return Err(not_learned("a word would be left without its documents"));
                }
            }
        }
        Ok(())
    }
}

fn translate(document: &Document, class_of: &[ClassId], word_of: &[WordId]) -> Document {
    let mut words: Vec<(WordId, f64)> =
        document.words.iter().map(|&(word, count)| (word_of[word as usize], count)).collect();
    words.sort_unstable_by_key(|&(word, _)| word);
    Document {
        class: class_of[document.class as usize],
        weight: document.weight,
        instance_weight: document.instance_weight,
        words: words.into_boxed_slice(),
    }
}
