//! Unlearning: the exact inverse of learning, or nothing at all.

use crate::counts::rows::{Cell, take};
use crate::counts::store::check_weight;
use crate::counts::{Bag, ClassId, Document, Store, WordId};
use crate::error::{Error, Result};

/// The share of a class by which its spare documents must exceed a message.
const ROUNDING: f64 = 1e-9;

/// The tokens and documents that a class keeps of each word of a message, and its documents.
pub(crate) type Left = (Vec<(f64, f64)>, f64);

impl Store {
    /// Unlearns one message: the exact inverse of learning it.
    ///
    /// The document also leaves the index if it is still there. If the index has evicted it, only
    /// the counts change, and documents that it displaced do not return. After pruning, only the
    /// remaining words of the message are removed. With a half-life, `weight` is the current
    /// weight: 2^(−s / half-life) of the weight of a message learned s messages ago.
    pub fn unlearn(&mut self, bag: &mut Bag, class: ClassId, weight: f64) -> Result<()> {
        check_weight(weight)?;
        if weight == 0.0 {
            return Ok(());
        }
        let given = weight;
        let weight = weight * self.unit();
        self.check_known(bag)?;
        bag.words.sort_unstable_by_key(|&(word, _)| word);
        let (removals, left) = self.plan_removals(class, &bag.words, weight);
        if left > 1e-12 * weight {
            self.check_outside(class, &bag.words, left)?;
        }
        let mut amounts = Vec::with_capacity(bag.words.len());
        for &(word, count) in &bag.words {
            let cell = self.rows.cell(word, class);
            let (tokens, documents) = cell.map_or((0.0, 0.0), |cell| (cell.tokens, cell.documents));
            match (self.less(tokens, weight * count), self.less(documents, weight)) {
                (Some(tokens), Some(documents)) if (tokens == 0.0) == (documents == 0.0) => {
                    amounts.push((tokens, documents));
                }
                _ if self.pruned => amounts.push((0.0, 0.0)),
                _ => {
                    return Err(not_learned(
                        "a word was learned less or more often with that label",
                    ));
                }
            }
        }
        let learned = self.classes.get(class as usize).map_or(0.0, |totals| totals.documents);
        let Some(documents) = self.less(learned, weight) else {
            return Err(not_learned("the class has fewer documents"));
        };
        self.check_indexed(class, &bag.words, &amounts, documents, &removals)?;
        self.check_frequencies(class, &bag.words, documents)?;
        // No failure is possible from here on.
        if let Some(rule) = self.rule.clone() {
            rule.undo(self, bag, class, given);
        }
        for (slot, removed) in removals {
            self.remove_indexed(slot, removed);
        }
        self.take_out(class, &bag.words, &amounts, documents);
        Ok(())
    }

    /// Fails if a message has words that no message had.
    fn check_known(&self, bag: &Bag) -> Result<()> {
        if !bag.unseen.is_empty() && !self.pruned {
            return Err(not_learned("it has words that were never learned"));
        }
        Ok(())
    }

    /// The tokens and documents of each word of a message, and the documents, that each of these classes
    /// keeps if the message is removed from all of them. The last class has the messages of all classes.
    ///
    /// After pruning, words whose counts do not contain the message keep their counts.
    pub(crate) fn left_of_classes(
        &mut self,
        bag: &mut Bag,
        classes: &[ClassId],
        weight: f64,
    ) -> Result<Vec<Left>> {
        self.check_known(bag)?;
        bag.words.sort_unstable_by_key(|&(word, _)| word);
        let mut left: Vec<Left> = Vec::with_capacity(classes.len());
        for &class in classes {
            let learned = self.classes.get(class as usize).map_or(0.0, |totals| totals.documents);
            let documents = self.less(learned, weight);
            left.push((
                Vec::with_capacity(bag.words.len()),
                documents.ok_or_else(|| not_learned("a label has fewer messages"))?,
            ));
        }
        let all = left.last().map_or(0.0, |(_, documents)| *documents);
        let covered = |count: f64, part: f64| part <= count * (1.0 + 1e-12);
        let others = |class: ClassId| !classes.contains(&class);
        let totals = (0..).zip(&self.classes).filter(|&(class, _)| others(class));
        if !totals.into_iter().all(|(_, totals)| covered(all, totals.documents)) {
            return Err(not_learned("another label has every message"));
        }
        for &(word, count) in &bag.words {
            let counts = |class: ClassId| {
                let cell = self.rows.cell(word, class);
                cell.map_or((0.0, 0.0), |cell| (cell.tokens, cell.documents))
            };
            let after = |&class: &ClassId| {
                let (tokens, documents) = counts(class);
                let after = (self.less(tokens, weight * count)?, self.less(documents, weight)?);
                ((after.0 == 0.0) == (after.1 == 0.0)).then_some(after)
            };
            let after: Option<Vec<_>> = classes.iter().map(after).collect();
            let after = after.filter(|after| {
                let all = after.last().map_or(0.0, |&(_, documents)| documents);
                let mut cells = self.rows.cells(word).filter(|cell| others(cell.class));
                cells.all(|cell| covered(all, cell.documents))
            });
            let after = match after {
                Some(after) => after,
                None if self.pruned => classes.iter().map(|&class| counts(class)).collect(),
                None => return Err(not_learned("a word was learned with other labels")),
            };
            left.iter_mut().zip(after).for_each(|((amounts, _), after)| amounts.push(after));
        }
        for (&class, &(_, documents)) in classes.iter().zip(&left) {
            self.check_frequencies(class, &bag.words, documents)?;
        }
        Ok(left)
    }

    /// Removes documents from a class, and tokens and documents from these words.
    pub(crate) fn take_out(
        &mut self,
        class: ClassId,
        words: &[(WordId, f64)],
        left: &[(f64, f64)],
        documents: f64,
    ) {
        let mut tokens = 0.0;
        for (&(word, _), &(left_tokens, left_documents)) in words.iter().zip(left) {
            tokens += self.set_cell(word, class, left_tokens, left_documents);
        }
        let totals = &mut self.classes[class as usize];
        totals.spare -= totals.documents - documents;
        totals.documents = documents;
        totals.tokens =
            if documents == 0.0 { 0.0 } else { take(totals.tokens, tokens).unwrap_or(0.0) };
        self.forget_empty_class(class);
        self.version += 1;
    }

    /// Whether every word outside the message fits into the `documents` that its class keeps. Only
    /// common words can be in more.
    fn check_frequencies(
        &mut self,
        class: ClassId,
        words: &[(WordId, f64)],
        documents: f64,
    ) -> Result<()> {
        let totals = &self.classes[class as usize];
        if totals.spare < totals.documents - documents + ROUNDING * totals.documents {
            self.find_common(class, documents);
        }
        let is_left_over = |&word: &WordId| {
            words.binary_search_by_key(&word, |&(word, _)| word).is_err()
                && self
                    .rows
                    .cell(word, class)
                    .is_some_and(|cell| cell.documents > documents * (1.0 + 1e-12))
        };
        if self.classes[class as usize].common.iter().any(is_left_over) {
            return Err(not_learned("another word is in every document of that class"));
        }
        Ok(())
    }

    /// Finds the words that are in most documents of a class, or in more than `documents`. It visits
    /// the vocabulary, and then not again until half of the documents were unlearned.
    fn find_common(&mut self, class: ClassId, documents: f64) {
        let all = self.classes[class as usize].documents;
        let most = (documents - ROUNDING * all).min(all / 2.0).max(0.0);
        let cell = |word| self.rows.cell(word, class);
        let is_common = |&word: &WordId| cell(word).is_some_and(|cell: Cell| cell.documents > most);
        let common = (0..self.rows.slots() as WordId).filter(is_common).collect();
        let totals = &mut self.classes[class as usize];
        (totals.common, totals.spare) = (common, all - most);
    }

    /// The indexed documents that an unlearned message removes, newest first, with the weight of
    /// each; and the weight that is left.
    fn plan_removals(
        &self,
        class: ClassId,
        words: &[(WordId, f64)],
        weight: f64,
    ) -> (Vec<(u32, f64)>, f64) {
        let matches = self.index.matches(class, words);
        let weight_of = |slot| self.index.document(slot).map_or(0.0, |d| d.weight);
        if let Some(&exact) = matches.iter().find(|&&slot| weight_of(slot) == weight) {
            return (vec![(exact, weight)], 0.0);
        }
        let (mut removals, mut left) = (Vec::new(), weight);
        for slot in matches {
            if left <= 0.0 {
                break;
            }
            let removed = left.min(weight_of(slot));
            removals.push((slot, removed));
            left -= removed;
        }
        (removals, left)
    }

    /// Whether `weight` of this message can lie outside the index: no indexed document may lose its
    /// counts.
    fn check_outside(&self, class: ClassId, words: &[(WordId, f64)], weight: f64) -> Result<()> {
        if self.index.is_empty() {
            return Ok(());
        }
        let of_class = self.index.documents().filter(|document| document.class == class);
        let indexed: f64 = of_class.map(|document| document.weight).sum();
        let learned = self.classes.get(class as usize).map_or(0.0, |totals| totals.documents);
        let outside = |&(word, count): &(WordId, f64)| {
            let (tokens, documents) = self.indexed(class, word);
            let cell = self.rows.cell(word, class)?;
            take(cell.documents - documents, weight)?;
            take(cell.tokens - tokens, weight * count)
        };
        if take(learned - indexed, weight).is_some() && words.iter().all(|w| outside(w).is_some()) {
            return Ok(());
        }
        Err(not_learned("no such message is among the recent documents"))
    }

    /// Tokens and documents of a cell that are in the index.
    pub(crate) fn indexed(&self, class: ClassId, word: WordId) -> (f64, f64) {
        let (mut tokens, mut documents) = (0.0, 0.0);
        for posting in self.index.postings(word) {
            if let Some(document) = self.index.document(posting.slot)
                && document.class == class
            {
                tokens += document.weight * posting.count;
                documents += document.weight;
            }
        }
        (tokens, documents)
    }

    /// Rejects a change that would leave indexed documents without counts: next to a weight of
    /// 10^15 times theirs they are lost in rounding.
    fn check_indexed(
        &self,
        class: ClassId,
        words: &[(WordId, f64)],
        left: &[(f64, f64)],
        documents: f64,
        removals: &[(u32, f64)],
    ) -> Result<()> {
        let of_class = |d: &&Document| d.class == class;
        let gone = |&&(slot, removed): &&(u32, f64)| {
            self.index.document(slot).is_some_and(|d| take(d.weight, removed) == Some(0.0))
        };
        let gone = removals.iter().filter(gone).count();
        let stays = |&(&(word, _), left): &(&(WordId, f64), &(f64, f64))| {
            let having = self.index.postings(word).filter_map(|p| self.index.document(p.slot));
            left.1 == 0.0 && having.filter(of_class).count() > gone
        };
        if documents == 0.0 && self.index.documents().filter(of_class).count() > gone
            || words.iter().zip(left).any(|pair| stays(&pair))
        {
            return Err(not_learned(
                "next to so large a weight, the counts of other messages were lost in rounding",
            ));
        }
        Ok(())
    }

    /// Removes a document from the index, wherever it is.
    pub(crate) fn unindex(&mut self, document: &Document) {
        let plan = self.plan_removals(document.class, &document.words, document.weight);
        for (slot, removed) in plan.0 {
            self.remove_indexed(slot, removed);
        }
    }

    fn remove_indexed(&mut self, slot: u32, removed: f64) {
        let Some(document) = self.index.document(slot).cloned() else { return };
        self.leave_index(&document, removed);
        match take(document.weight, removed) {
            Some(left) if left > 0.0 => self.index.set_weight(slot, left),
            _ => {
                self.index.remove(slot);
            }
        }
    }
}

pub(crate) fn not_learned(reason: &str) -> Error {
    Error::NotLearned(format!("this message was not learned with that label: {reason}"))
}
