//! Adding a whole store to another one, and subtracting it.

use crate::counts::alloc::element;
use crate::counts::rows::{FLOOR, take};
use crate::counts::unlearn::not_learned;
use crate::counts::vocabulary::Key;
use crate::counts::{Cell, ClassId, Document, Slice, Store, WordId};
use crate::error::{Error, Result};

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
        for (&class, totals) in class_of.iter().zip(&other.classes) {
            if totals.exists() {
                let ours = element(&mut self.classes, class as usize);
                ours.documents += here(totals.documents);
                ours.tokens += here(totals.tokens);
            }
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
                let class = class_of[document.class as usize];
                self.index_document(document.renamed(class, &word_of));
            }
        }
        if self.key() == Key::default() {
            self.set_key(other.key());
        }
        if !self.pruned {
            self.prune_cursor = other.prune_cursor % self.vocabulary.groups();
        }
        self.pruned |= other.pruned;
        let (statistics, counted) = self.parts();
        for statistic in statistics.iter_mut() {
            statistic.merge(&other.statistics, &word_of, class_of, units);
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
            if self.settings.frequencies {
                self.classes[class as usize].move_frequency(before, documents);
            }
        }
    }

    /// Subtracts everything that another store learned: the inverse of [`merge`](Self::merge)
    /// unless a document was evicted since. Fails without a change if a count would become
    /// negative.
    pub fn subtract(&mut self, other: &Store, class_of: &[ClassId]) -> Result<()> {
        if self.settings.half_life.is_some() {
            return Err(Error::Invalid(
                "a model with a half-life cannot be subtracted, because its counts have decayed: \
                 unlearn each message with its decayed weight"
                    .into(),
            ));
        }
        // If it fails, copies in progress of this store go on.
        let mut changed = self.clone();
        changed.subtract_counts(other, class_of)?;
        changed.check_covered()?;
        *self = changed;
        Ok(())
    }

    fn subtract_counts(&mut self, other: &Store, class_of: &[ClassId]) -> Result<()> {
        let classes = || class_of.iter().zip(&other.classes).filter(|(_, totals)| totals.exists());
        for (&class, totals) in classes() {
            let ours = self.classes.get_mut(class as usize);
            let left = ours.and_then(|ours| Some((take(ours.documents, totals.documents)?, ours)));
            let Some((documents, ours)) = left else {
                return Err(not_learned("a class has fewer documents"));
            };
            let tokens = take(ours.tokens, totals.tokens).unwrap_or(0.0);
            ours.spare = 0.0;
            (ours.documents, ours.tokens) =
                (documents, if documents == 0.0 { 0.0 } else { tokens });
        }
        let words = other.vocabulary.sorted_ids();
        let mut word_of = vec![WordId::MAX; other.vocabulary.slots()];
        for &theirs in &words {
            let token = self.vocabulary.token(other.vocabulary.word(theirs));
            let ours = self.vocabulary.find(&token);
            word_of[theirs as usize] =
                ours.ok_or_else(|| not_learned("it has words that were never learned"))?;
        }
        // The index first: its lengths and pairs are looked up through the cells.
        for document in other.index.documents().rev() {
            self.unindex(&document.renamed(class_of[document.class as usize], &word_of));
        }
        for theirs in words {
            let word = word_of[theirs as usize];
            for cell in other.rows.cells(theirs) {
                let class = class_of[cell.class as usize];
                let left = self.rows.cell(word, class).and_then(|ours| {
                    Some((take(ours.tokens, cell.tokens)?, take(ours.documents, cell.documents)?))
                });
                let Some((tokens, documents)) =
                    left.filter(|&left| (left.0 == 0.0) == (left.1 == 0.0))
                else {
                    return Err(not_learned("a word was learned less often with that label"));
                };
                self.set_cell(word, class, tokens, documents);
            }
        }
        classes().for_each(|(&class, _)| self.forget_empty_class(class));
        self.version += 1;
        Ok(())
    }

    /// Fails if a word is in more documents than its class has, or if indexed documents have lost
    /// their counts.
    pub(crate) fn check_covered(&self) -> Result<()> {
        let covers = |count: f64, part: f64| part <= count * (1.0 + 1e-9);
        for word in 0..self.rows.slots() as WordId {
            let documents = |cell: &Cell| self.classes[cell.class as usize].documents;
            if !self.rows.cells(word).all(|cell| covers(documents(&cell), cell.documents)) {
                return Err(not_learned("a word would be left without its documents"));
            }
        }
        let mut indexed = Slice::default();
        for Document { class, words, weight, .. } in self.index.documents() {
            indexed.add(*class, words, *weight);
        }
        let covers_cell = |word, part: Cell| {
            self.rows.cell(word, part.class).is_some_and(|cell| {
                covers(cell.tokens, part.tokens) && covers(cell.documents, part.documents)
            })
        };
        let mut classes = indexed.classes.iter().zip(&self.classes);
        if classes.all(|(part, class)| covers(class.documents, part.documents))
            && indexed.words().all(|(word, mut cells)| cells.all(|part| covers_cell(word, part)))
        {
            return Ok(());
        }
        Err(not_learned("recent documents would be left without their counts"))
    }
}
