//! The event models: the joint log-likelihood of a bag of independent words.
//!
//! Equations 1–7 are in the paper on hidden multinomial naive Bayes (HMNB). The traits of an event
//! model choose its formula, so that it scores in each composition by the formula of its traits.

use crate::counts::attributes::NONE;
use crate::counts::rows::Small;
use crate::counts::{AttributeId, Bag, Cell, Cells, ClassId, Store, WordId};
use crate::online::noise::LabelNoise;
use crate::scoring::composition::{Form, Sum, Traits};
use crate::scoring::{ClassTerms, EventModel, Prior, Query};
use std::hint::select_unpredictable;

/// Words whose cells are read together: enough to overlap their cache misses.
pub(crate) const TOGETHER: usize = 32;

impl EventModel {
    /// Add the joint log-likelihood of the bag, from these counts.
    #[inline]
    pub(crate) fn add_words(&self, query: Query<'_>, counts: &impl Cells, out: &mut [f64]) {
        let Traits { own, complement, form, sum } = self.traits;
        match sum {
            Sum::Message => match form {
                Form::Values => self.add_attributes(query, out),
                Form::Numbers => self.add_categories(query, out),
                Form::Counts | Form::Presence => match (own, complement) {
                    (true, true) => {
                        self.add_both::<false>(query, counts, out, None, |_| {}, |_, _, _| {});
                    }
                    (true, false) => self.add_multinomial(query, counts, out),
                    (false, _) => self.add_complement(query, counts, out),
                },
            },
            Sum::Vocabulary => {
                let cells = |word| counts.cells(word).map(|cell| (cell.class, cell.documents));
                self.add_bernoulli(query, cells, out);
            }
            Sum::Normalised => self.add_normalised(query, counts, out),
        }
    }

    /// Number of tokens in the score: those of unseen words only if they are smoothed.
    fn tokens(&self, bag: &Bag) -> f64 {
        bag.tokens() + if self.is_smooth() { bag.unseen_tokens() } else { 0.0 }
    }

    /// Equations 1, 4 and 6: ln P(c) + Σ_i f_i ln P(w_i | c).
    fn add_multinomial(&self, query: Query<'_>, counts: &impl Cells, out: &mut [f64]) {
        let Query { terms, bag, .. } = query;
        let tokens = self.tokens(bag);
        for (score, class) in out.iter_mut().zip(terms) {
            *score += class.prior + tokens * (self.log_alpha - class.tokens);
        }
        // Words that a class does not have contribute ln α, so only nonzero cells are visited.
        for &(word, count) in &bag.words {
            counts.cells(word).for_each(|cell| {
                out[cell.class as usize] += count * (self.log_plus(cell.tokens) - self.log_alpha);
            });
        }
    }

    /// Equations 2, 5 and 7: −ln P(c̄) − Σ_i f_i ln P(w_i | c̄). A word that a class does not have adds 0
    /// to its score, so two classes need no branch.
    pub(crate) fn add_complement(&self, query: Query<'_>, counts: &impl Cells, out: &mut [f64]) {
        let Query { terms, bag, .. } = query;
        let tokens = self.tokens(bag);
        // The complement of a class without the word has the total; only the other classes differ.
        let mut shared = self.log_alpha * (tokens - bag.tokens());
        for &(word, count) in &bag.words {
            if let [one, other] = &mut *out {
                let [first, second] = counts.two(word).map(|cell| cell.tokens);
                let total = first + second;
                let log_total = self.log_plus(total);
                shared += count * log_total;
                *one += count * (log_total - self.log_plus(total - first));
                *other += count * (log_total - self.log_plus(total - second));
            } else {
                let cells = counts.cells(word);
                let total: f64 = cells.clone().map(|cell| cell.tokens).sum();
                let log_total = self.log_plus(total);
                shared += count * log_total;
                cells.for_each(|cell| {
                    out[cell.class as usize] +=
                        count * (log_total - self.log_plus(total - cell.tokens));
                });
            }
        }
        for (score, class) in out.iter_mut().zip(terms) {
            *score += tokens * class.tokens_complement - shared - class.prior_complement;
        }
    }

    /// Equation 3 as [ln P(c) ∏ P(w_i|c)^f_i] − [ln P(c̄) ∏ P(w_i|c̄)^f_i], visiting the cells of each
    /// word once. `noise` corrects the tokens of a class. `ahead` receives the words that are visited
    /// next; `visit` receives them with their documents and, if `LOGS` and both of two classes have small
    /// counts without noise, ln(n + α) of both.
    #[inline]
    pub(crate) fn add_both<const LOGS: bool>(
        &self,
        query: Query<'_>,
        counts: &impl Cells,
        out: &mut [f64],
        noise: Option<&LabelNoise>,
        ahead: impl Fn(&[(WordId, f64)]),
        mut visit: impl FnMut(&[(WordId, f64)], &[f64], &[[f64; 2]]),
    ) {
        let Query { terms, bag, .. } = query;
        let mut logs = [[0.0; 2]; TOGETHER];
        let unseen = if self.is_smooth() { bag.unseen_tokens() } else { 0.0 };
        let (mut known, mut shared) = (0.0, self.log_alpha * unseen);
        // The difference of a cell to a class without the word.
        let difference = |cell: &Cell, total: f64, log_total: f64| {
            let own = cell.tokens;
            let own = noise.map_or(own, |noise| noise.of(cell.class).true_count(own, total));
            let odds = self.log_plus(own) - self.log_plus(total - own);
            odds + (log_total - self.log_alpha)
        };
        for words in bag.words.chunks(TOGETHER) {
            ahead(words);
            let mut documents = [0.0; TOGETHER];
            let documents = &mut documents[..words.len()];
            let mut with_logs = 0;
            if let [one, other] = &mut *out {
                // No branch depends on the number of cells, which is unpredictable. All cells are
                // read first, so that no read waits for the sums.
                let mut small = [[Small::default(); 2]; TOGETHER];
                let mut read = words.iter().zip(&mut small);
                let is_small = noise.is_none()
                    && read.all(|(&(word, _), cells)| counts.read_small(word, cells));
                if is_small {
                    let sums = [known, shared, *one, *other];
                    let counts = (&small[..], &mut *documents, &mut logs[..]);
                    [known, shared, *one, *other] = self.add_small::<LOGS>(words, counts, sums);
                    with_logs = if LOGS { words.len() } else { 0 };
                } else {
                    for (&(word, count), documents) in words.iter().zip(&mut *documents) {
                        let [first, second] = counts.two(word);
                        let total = first.tokens + second.tokens;
                        let log_total = self.log_plus(total);
                        let parts = [first, second].map(|cell| {
                            let part = count * difference(&cell, total, log_total);
                            select_unpredictable(cell.documents > 0.0, part, 0.0)
                        });
                        known += count;
                        shared += count * log_total;
                        *one += parts[0];
                        *other += parts[1];
                        *documents = first.documents + second.documents;
                    }
                }
            } else {
                for (&(word, count), documents) in words.iter().zip(&mut *documents) {
                    let mut total = 0.0;
                    let cells = counts.cells(word);
                    cells.clone().for_each(|cell| {
                        total += cell.tokens;
                        *documents += cell.documents;
                    });
                    let log_total = self.log_plus(total);
                    known += count;
                    shared += count * log_total;
                    cells.for_each(|cell| {
                        out[cell.class as usize] += count * difference(&cell, total, log_total);
                    });
                }
            }
            visit(words, documents, &logs[..with_logs]);
        }
        let tokens = known + unseen;
        let shared = tokens * self.log_alpha - shared;
        for (score, class) in out.iter_mut().zip(terms) {
            let prior = class.prior - class.prior_complement;
            *score += prior + tokens * (class.tokens_complement - class.tokens) + shared;
        }
    }

    /// The loop of [`add_both`](Self::add_both) for small counts of two classes: add to the known
    /// words, the shared sum and both scores. Not inlined, so that the sums stay in registers.
    #[inline(never)]
    fn add_small<const LOGS: bool>(
        &self,
        words: &[(WordId, f64)],
        (counts, documents, logs): (&[[Small; 2]], &mut [f64], &mut [[f64; 2]]),
        [mut known, mut shared, mut one, mut other]: [f64; 4],
    ) -> [f64; 4] {
        let found = documents.iter_mut().zip(logs);
        for ((&(_, count), [first, second]), (documents, logs)) in
            words.iter().zip(counts).zip(found)
        {
            let log_total = self.log_plus_small(first.tokens + second.tokens);
            let both = [first, second].map(|small| self.log_plus_small(small.tokens));
            if LOGS {
                *logs = both;
            }
            let odds = both[0] - both[1];
            known += count;
            shared += count * log_total;
            // Without documents of the class this is exactly 0.
            one += count * (odds + (log_total - self.log_alpha));
            other += count * (-odds + (log_total - self.log_alpha));
            *documents = f64::from(first.documents + second.documents);
        }
        [known, shared, one, other]
    }

    /// ln P(c) + Σ_present ln p_wc + Σ_absent ln(1 − p_wc), p_wc = (df_wc + α)/(n_c + 2α).
    /// `documents` returns the classes of a word, and its (effective) documents in them.
    fn add_bernoulli<I: Iterator<Item = (ClassId, f64)>>(
        &self,
        query: Query<'_>,
        documents: impl Fn(WordId) -> I,
        out: &mut [f64],
    ) {
        let Query { store, terms, bag, .. } = query;
        let unseen = if self.is_smooth() { bag.unseen_counts().len() as f64 } else { 0.0 };
        let present = bag.words.len() as f64;
        // Unknown words of a fixed vocabulary are absent, except those of this message.
        let known = store.vocabulary.len() as f64 + unseen;
        let words = self.vocabulary_size.unwrap_or(0.0).max(known);
        for (score, class) in out.iter_mut().zip(terms) {
            let absent = words - class.words - unseen;
            *score += class.prior + class.absences + absent * class.absent
                - words * class.documents
                + unseen * self.log_alpha
                // As if this class had none of the words of the message; corrected below.
                + present * (self.log_alpha - class.absent);
        }
        let mut add = |class: ClassId, count: f64| {
            let terms = &terms[class as usize];
            out[class as usize] += self.log_plus(count) - self.log_alpha + terms.absent
                - self.log_plus(terms.total - count);
        };
        for &(word, _) in &bag.words {
            documents(word).for_each(|(class, count)| add(class, count));
        }
    }

    /// ln P(c) + Σ_i ln (n_ic + α/v_i)/(n_c + α), v_i the number of values of attribute i.
    fn add_attributes(&self, query: Query<'_>, out: &mut [f64]) {
        let Query { store, terms, bag, .. } = query;
        let mut known = bag.words.len() as f64;
        let mut shared = 0.0;
        for &(word, _) in &bag.words {
            let share = self.alpha / store.attributes.values(store.attributes.of(word));
            shared += share.ln();
            for cell in store.rows.cells(word) {
                out[cell.class as usize] += (cell.documents / share).ln_1p();
            }
        }
        if self.is_smooth() {
            let unseen = bag.unseen.iter().map(|unseen| unseen.hash as AttributeId);
            for attribute in unseen.filter(|&attribute| attribute != NONE) {
                shared += (self.alpha / store.attributes.values(attribute)).ln();
                known += 1.0;
            }
        }
        for (score, class) in out.iter_mut().zip(terms) {
            *score += class.prior + shared - known * class.documents;
        }
    }

    /// ln P(c) + Σ_i ln (n_ic + α)/(n_c + α v_i), v_i the number of values of attribute i:
    /// Equation 4 of the paper on loss-minimised weights.
    fn add_categories(&self, query: Query<'_>, out: &mut [f64]) {
        let Query { store, terms, bag, .. } = query;
        let values = bag.words.iter().map(|&(word, _)| store.attributes.of(word));
        let unseen = bag.unseen.iter().map(|unseen| unseen.hash as AttributeId);
        let unseen = unseen.filter(|&attribute| self.is_smooth() && attribute != NONE);
        for attribute in values.chain(unseen) {
            let smoothing = self.alpha * store.attributes.values(attribute);
            for (score, class) in out.iter_mut().zip(&store.classes) {
                *score += self.log_alpha - (class.documents + smoothing).ln();
            }
        }
        for &(word, _) in &bag.words {
            for cell in store.rows.cells(word) {
                out[cell.class as usize] += self.log_plus(cell.documents) - self.log_alpha;
            }
        }
        for (score, class) in out.iter_mut().zip(terms) {
            *score += class.prior;
        }
    }

    /// Compute the terms of the classes from effective counts.
    pub fn prepare_effective(&self, store: &Store, terms: &mut Vec<ClassTerms>) {
        let totals = |class: ClassId| store.effective().class(class);
        let ids = || 0..store.classes.len() as ClassId;
        let exists = |&class: &ClassId| store.classes[class as usize].exists();
        // A class without effective counts would have P(c) = 0, so the empirical prior counts each
        // class as at least 1.
        let floor = if self.prior == Prior::Empirical { 1.0 } else { 0.0 };
        let all: f64 = ids().filter(exists).map(|class| totals(class).total.max(floor)).sum();
        let classes = store.existing_classes() as f64;
        terms.clear();
        terms.extend(ids().map(|class| {
            let totals = totals(class);
            ClassTerms {
                prior: self.log_prior(totals.total.max(floor), all, classes),
                total: totals.total,
                documents: (totals.total + 2.0 * self.alpha).ln(),
                absent: self.log_plus(totals.total),
                words: totals.words,
                absences: totals.absences.value(),
                ..ClassTerms::default()
            }
        }));
    }

    /// Add the Bernoulli score from effective counts.
    pub fn add_effective(&self, query: Query<'_>, out: &mut [f64]) {
        let effective = query.store.effective();
        self.add_bernoulli(query, |word| effective.cells(word), out);
    }

    /// Return ln P(w | c) by Equation 6, or ln P(w | c̄) by Equation 7, for each class.
    pub(crate) fn log_word(
        &self,
        query: Query<'_>,
        word: Option<WordId>,
        complement: bool,
    ) -> Vec<f64> {
        let Query { store, terms, .. } = query;
        let tokens_in = |class| {
            word.and_then(|word| store.rows.cell(word, class)).map_or(0.0, |cell| cell.tokens)
        };
        let total: f64 = (0..terms.len() as ClassId).map(tokens_in).sum();
        let log = |(class, terms): (usize, &ClassTerms)| {
            let own = tokens_in(class as ClassId);
            if complement {
                self.log_plus(total - own) - terms.tokens_complement
            } else {
                self.log_plus(own) - terms.tokens
            }
        };
        terms.iter().enumerate().map(log).collect()
    }
}
