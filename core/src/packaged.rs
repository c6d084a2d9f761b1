//! Packaged hidden parents: Equations 8–10 of the packaged hidden naive Bayes paper.
//!
//! Each word i of a message mixes those other words j of the message that are in its bag, by
//! their conditional mutual information W_ij: P(w_i | hp_i, c) = Σ_j W_ij P(w_i | w_j, c) / Σ_j
//! W_ij. A word without any is plain naive Bayes, P(w_i | c).
//!
//! P(w_i | w_j, c) = (n_ijc + b_ic) / (L_jc + σ). In texts n_ijc is Σ f_i over documents of class
//! c that contain j, L_jc the length of these, σ = α m and b_ic = σ P(w_i | c). In columns n_ijc
//! counts documents, L_jc is how many have value j, σ = α and b_i = α over the attribute's number
//! of values. Counts come from the pair table, or where that was dropped from the documents.
//!
//! Several thresholds are scored at once: information from an attribute counts for all thresholds
//! that it reaches.

use crate::attributes::{AttributeId, NONE};
use crate::bag::Bag;
use crate::counts::ClassId;
use crate::hidden::Side;
use crate::scoring::{ClassTerms, Event, Scoring};
use crate::store::Store;
use crate::vocabulary::WordId;

/// A word of the message, or a value not learned of an attribute that is known.
struct Child {
    attribute: AttributeId,
    word: Option<WordId>,
    count: f64,
}

/// A word that another one mixes.
#[derive(Clone, Copy)]
struct Link {
    child: usize,
    parent: usize,
    information: f64,
    /// The highest of the thresholds that it reaches.
    level: usize,
}

/// Reused buffers.
#[derive(Default)]
pub struct PackagedScratch {
    children: Vec<Child>,
    links: Vec<Link>,
    /// 1 / (L_jc + σ), `words × classes`.
    rates: Vec<f64>,
    /// Σ_j W_ij P(w_i | w_j, c) by the level of the link, `children × levels × classes`.
    sums: Vec<f64>,
    /// Σ_j W_ij by the level of the link, `children × levels`.
    weights: Vec<f64>,
    /// The link of the child in hand to each word, or `usize::MAX`.
    link_to: Vec<usize>,
}

impl Scoring {
    /// The joint log-likelihood of the bag with packaged hidden parents, for each of the
    /// ascending thresholds and each class, in `out`, `thresholds × classes`.
    ///
    /// `parts`, where given, receives each word's own part for the first threshold, `words ×
    /// classes`, and after them one row for all tokens of unseen words.
    #[expect(clippy::too_many_arguments, reason = "as the other kinds of scores")]
    pub fn packaged_scores(
        &self,
        store: &Store,
        terms: &[ClassTerms],
        bag: &Bag,
        scratch: &mut PackagedScratch,
        thresholds: &[f64],
        out: &mut Vec<f64>,
        mut parts: Option<&mut Vec<f64>>,
    ) {
        let classes = terms.len();
        out.clear();
        out.resize(thresholds.len() * classes, 0.0);
        if let Some(parts) = parts.as_deref_mut() {
            parts.clear();
            parts.resize((bag.words.len() + 1) * classes, 0.0);
        }
        self.collect_children(store, bag, &mut scratch.children);
        collect_links(store, bag, thresholds, scratch);
        for (side, sign) in [(Side::Class, 1.0), (Side::Complement, -1.0)] {
            let (event, inside) = (self.event, side == Side::Class);
            if event != Event::OneVersusAll && (event == Event::Complement) == inside {
                continue;
            }
            for scores in out.chunks_exact_mut(classes.max(1)) {
                for (score, class) in scores.iter_mut().zip(terms) {
                    *score += sign * if inside { class.prior } else { class.prior_complement };
                }
            }
            self.sum_links(store, terms, bag, scratch, side, thresholds.len());
            self.add_children(
                store,
                terms,
                bag,
                scratch,
                side,
                thresholds.len(),
                |t, p, c, log| {
                    out[t * classes + c] += sign * log;
                    if let Some(parts) = parts.as_deref_mut().filter(|_| t == 0) {
                        parts[p.min(bag.words.len()) * classes + c] += sign * log;
                    }
                },
            );
        }
    }

    fn collect_children(&self, store: &Store, bag: &Bag, children: &mut Vec<Child>) {
        let columns = self.event == Event::Attributes;
        children.clear();
        children.extend(bag.words.iter().map(|&(word, count)| Child {
            attribute: if columns { store.attributes.of(word) } else { word },
            word: Some(word),
            count,
        }));
        if columns && self.is_smooth() {
            let unseen = bag.unseen.iter().map(|unseen| unseen.hash as AttributeId);
            let known = unseen.filter(|&attribute| attribute != NONE);
            children.extend(known.map(|attribute| Child { attribute, word: None, count: 1.0 }));
        }
    }

    /// ln P(w_i | c), or ln P(w_i | c̄), of a child without a parent, for each class.
    fn log_child(
        &self,
        store: &Store,
        terms: &[ClassTerms],
        child: &Child,
        side: Side,
    ) -> Vec<f64> {
        if self.event != Event::Attributes {
            return self.log_word(store, terms, child.word, side == Side::Complement);
        }
        let share = self.alpha / store.attributes.values(child.attribute);
        let mut logs: Vec<f64> = terms.iter().map(|class| share.ln() - class.documents).collect();
        for cell in child.word.iter().flat_map(|&word| store.rows.cells(word)) {
            let class = cell.class as usize;
            logs[class] = (cell.documents + share).ln() - terms[class].documents;
        }
        logs
    }

    /// Σ_j W_ij P(w_i | w_j, c) and Σ_j W_ij of each child, apart by level.
    fn sum_links(
        &self,
        store: &Store,
        terms: &[ClassTerms],
        bag: &Bag,
        scratch: &mut PackagedScratch,
        side: Side,
        levels: usize,
    ) {
        let classes = terms.len();
        let columns = self.event == Event::Attributes;
        let sigma = if columns { self.alpha } else { self.alpha * self.words(store) };
        let PackagedScratch { children, links, rates, sums, weights, link_to } = scratch;
        rates.clear();
        for &(word, _) in &bag.words {
            let start = rates.len();
            let total: f64 = match side {
                Side::Class => 0.0,
                Side::Complement => store.rows.cells(word).map(|cell| cell.length).sum(),
            };
            rates.resize(start + classes, 1.0 / (total + sigma));
            for cell in store.rows.cells(word) {
                let length = if side == Side::Class { cell.length } else { total - cell.length };
                rates[start + cell.class as usize] = 1.0 / (length + sigma);
            }
        }
        sums.clear();
        sums.resize(children.len() * levels * classes, 0.0);
        weights.clear();
        weights.resize(children.len() * levels, 0.0);
        // What the smoothing alone gives.
        for group in links.chunk_by(|one, other| one.child == other.child) {
            let child = &children[group[0].child];
            let backs = if columns {
                vec![self.alpha / store.attributes.values(child.attribute); classes]
            } else {
                let logs = self.log_child(store, terms, child, side);
                logs.into_iter().map(|log| sigma * log.exp()).collect()
            };
            for link in group {
                let row = link.child * levels + link.level;
                weights[row] += link.information;
                let rates = &rates[link.parent * classes..(link.parent + 1) * classes];
                let sums = &mut sums[row * classes..(row + 1) * classes];
                for ((sum, rate), back) in sums.iter_mut().zip(rates).zip(&backs) {
                    *sum += link.information * back * rate;
                }
            }
        }
        // What was counted. What one class has, the complements of all others have.
        let mut add = |link: &Link, class: ClassId, count: f64| {
            let row = (link.child * levels + link.level) * classes;
            let rates = &rates[link.parent * classes..(link.parent + 1) * classes];
            let mut add = |c: usize| sums[row + c] += link.information * count * rates[c];
            match side {
                Side::Class => add(class as usize),
                Side::Complement => (0..classes).filter(|&c| c != class as usize).for_each(add),
            }
        };
        if store.pairs.is_complete() {
            for link in links.iter() {
                let Some(word) = children[link.child].word else { continue };
                for pair in store.pairs.pairs(word, bag.words[link.parent].0) {
                    add(link, pair.class, pair.first);
                }
            }
            return;
        }
        link_to.clear();
        link_to.resize(bag.words.len(), usize::MAX);
        for group in links.chunk_by(|one, other| one.child == other.child) {
            let Some(word) = children[group[0].child].word else { continue };
            group.iter().enumerate().for_each(|(place, link)| link_to[link.parent] = place);
            for posting in store.index.postings(word) {
                let Some(document) = store.index.document(posting.slot) else { continue };
                for &(other, _) in &document.words {
                    let place = bag.position(other).map_or(usize::MAX, |parent| link_to[parent]);
                    if let Some(link) = group.get(place) {
                        add(link, document.class, document.weight * posting.count);
                    }
                }
            }
            group.iter().for_each(|link| link_to[link.parent] = usize::MAX);
        }
    }

    /// Gives each child's part of the score, by (threshold, child, class), to `add`.
    #[expect(clippy::too_many_arguments, reason = "what the two sides share")]
    fn add_children(
        &self,
        store: &Store,
        terms: &[ClassTerms],
        bag: &Bag,
        scratch: &PackagedScratch,
        side: Side,
        levels: usize,
        mut add: impl FnMut(usize, usize, usize, f64),
    ) {
        let classes = terms.len();
        let PackagedScratch { children, sums, weights, .. } = scratch;
        let mut mixed = Vec::new();
        for (place, child) in children.iter().enumerate() {
            let mut own = None;
            let mut weight = 0.0;
            mixed.clear();
            mixed.resize(classes, 0.0);
            // From the highest threshold down, each takes over what the one above it has.
            for level in (0..levels).rev() {
                let row = place * levels + level;
                weight += weights[row];
                for (sum, more) in mixed.iter_mut().zip(&sums[row * classes..(row + 1) * classes]) {
                    *sum += more;
                }
                if weight > 0.0 {
                    let logs = mixed.iter().map(|sum| (sum / weight).ln());
                    logs.enumerate().for_each(|(c, log)| add(level, place, c, child.count * log));
                } else {
                    let logs = own.get_or_insert_with(|| self.log_child(store, terms, child, side));
                    let logs = logs.iter().enumerate();
                    logs.for_each(|(c, log)| add(level, place, c, child.count * log));
                }
            }
        }
        let unseen = bag.unseen_tokens();
        if self.event != Event::Attributes && self.is_smooth() && unseen > 0.0 {
            let logs = self.log_word(store, terms, None, side == Side::Complement);
            for level in 0..levels {
                for (class, log) in logs.iter().enumerate() {
                    add(level, children.len(), class, unseen * log);
                }
            }
        }
    }
}

/// Finds the words of each child's bag in the message; ordered by child.
fn collect_links(store: &Store, bag: &Bag, thresholds: &[f64], scratch: &mut PackagedScratch) {
    let PackagedScratch { children, links, .. } = scratch;
    links.clear();
    let mut push = |child: usize, parent: usize, information: f64| {
        let reached = thresholds.iter().take_while(|&&threshold| information >= threshold).count();
        if information > 0.0 && child != parent && reached > 0 {
            links.push(Link { child, parent, information, level: reached - 1 });
        }
    };
    let columns = store.settings.columns;
    for (place, child) in children.iter().enumerate() {
        let members = store.bags.of(child.attribute);
        if !columns && members.len() < 8 * bag.words.len() {
            for &(other, information) in members.iter().filter(|m| store.bags.is_known(m.0)) {
                if let Some(parent) = bag.position(other) {
                    push(place, parent, information);
                }
            }
            continue;
        }
        if members.is_empty() {
            continue;
        }
        for (parent, other) in children[..bag.words.len()].iter().enumerate() {
            push(place, parent, store.bags.information(child.attribute, other.attribute));
        }
    }
}
