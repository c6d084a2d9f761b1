//! Packaged hidden parents: Equations 8–10 of the packaged hidden naive Bayes paper.
//!
//! Each word i of a message mixes those other words j of the message that are in its package, by
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

use crate::counts::attributes::{AttributeId, NONE};
use crate::counts::bag::Bag;
use crate::counts::rows::ClassId;
use crate::counts::store::Store;
use crate::counts::vocabulary::WordId;
use crate::scoring::hidden::Side;
use crate::scoring::parameters::{Event, Parameters};
use crate::scoring::terms::ClassTerms;

/// A word of the message, or a value not learned of an attribute that is known.
struct Child {
    attribute: AttributeId,
    word: Option<WordId>,
    count: f64,
}

/// Two of them that are in each other's package.
#[derive(Clone, Copy)]
struct Link {
    first: usize,
    /// Always a word.
    second: usize,
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
    /// ln P(w_i | c) and b_ic, `children × classes`.
    own: Vec<f64>,
    backs: Vec<f64>,
    /// Σ_j W_ij P(w_i | w_j, c) by the level of the link, `children × levels × classes`.
    sums: Vec<f64>,
    /// Σ_j W_ij by the level of the link, `children × levels`.
    weights: Vec<f64>,
    /// The link of the child in hand to each word, or `usize::MAX`.
    link_to: Vec<usize>,
}

impl Parameters {
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

    /// ln P(w_i | c), or ln P(w_i | c̄), of each child, and b_ic.
    fn fill_own(
        &self,
        store: &Store,
        terms: &[ClassTerms],
        scratch: &mut PackagedScratch,
        side: Side,
        sigma: f64,
    ) {
        let classes = terms.len();
        let PackagedScratch { children, own, backs, .. } = scratch;
        own.clear();
        backs.clear();
        for child in children.iter() {
            if self.event == Event::Attributes {
                let share = self.alpha / store.attributes.values(child.attribute);
                let start = own.len();
                backs.resize(start + classes, share);
                own.extend(terms.iter().map(|class| share.ln() - class.documents));
                for cell in child.word.iter().flat_map(|&word| store.rows.cells(word)) {
                    let class = cell.class as usize;
                    own[start + class] = (cell.documents + share).ln() - terms[class].documents;
                }
            } else {
                let logs = self.log_word(store, terms, child.word, side == Side::Complement);
                backs.extend(logs.iter().map(|log| sigma * log.exp()));
                own.extend(logs);
            }
        }
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
        self.fill_own(store, terms, scratch, side, sigma);
        let PackagedScratch { children, links, rates, sums, weights, link_to, backs, .. } = scratch;
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
        let words = bag.words.len();
        for link in links.iter() {
            let directions = [(link.first, link.second), (link.second, link.first)];
            for (child, parent) in directions.into_iter().filter(|&(_, parent)| parent < words) {
                let row = child * levels + link.level;
                weights[row] += link.information;
                let rates = &rates[parent * classes..(parent + 1) * classes];
                let backs = &backs[child * classes..(child + 1) * classes];
                let sums = &mut sums[row * classes..(row + 1) * classes];
                for ((sum, rate), back) in sums.iter_mut().zip(rates).zip(backs) {
                    *sum += link.information * back * rate;
                }
            }
        }
        // What was counted. What one class has, the complements of all others have.
        let mut add = |child: usize, parent: usize, link: &Link, class: ClassId, count: f64| {
            let row = (child * levels + link.level) * classes;
            let rates = &rates[parent * classes..(parent + 1) * classes];
            let mut add = |c: usize| sums[row + c] += link.information * count * rates[c];
            match side {
                Side::Class => add(class as usize),
                Side::Complement => (0..classes).filter(|&c| c != class as usize).for_each(add),
            }
        };
        if store.pairs.is_complete() {
            let known = links.iter().filter(|link| link.first < words);
            let known = known.map(|link| (link, bag.words[link.first].0, bag.words[link.second].0));
            known.clone().for_each(|(_, first, second)| store.pairs.touch(first, second));
            for (link, first, second) in known {
                for pair in store.pairs.pairs(first, second) {
                    add(link.first, link.second, link, pair.class, pair.first);
                    add(link.second, link.first, link, pair.class, pair.second);
                }
            }
            return;
        }
        link_to.clear();
        link_to.resize(words, usize::MAX);
        for (child, &(word, _)) in bag.words.iter().enumerate() {
            let mut some = false;
            for (place, link) in links.iter().enumerate() {
                let other = if link.first == child { link.second } else { link.first };
                if (link.first == child || link.second == child) && other < words {
                    link_to[other] = place;
                    some = true;
                }
            }
            if !some {
                continue;
            }
            for posting in store.index.postings(word) {
                let Some(document) = store.index.document(posting.slot) else { continue };
                for &(other, _) in &document.words {
                    let Some(parent) = bag.position(other) else { continue };
                    if let Some(link) = links.get(link_to[parent]) {
                        let count = document.weight * posting.count;
                        add(child, parent, link, document.class, count);
                    }
                }
            }
            link_to.fill(usize::MAX);
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
        let PackagedScratch { children, own, sums, weights, .. } = scratch;
        let mut mixed = vec![0.0; classes];
        for (place, child) in children.iter().enumerate() {
            let own = &own[place * classes..(place + 1) * classes];
            let mut weight = 0.0;
            mixed.fill(0.0);
            // From the highest threshold down, each takes over what the one above it has.
            for level in (0..levels).rev() {
                let row = place * levels + level;
                weight += weights[row];
                for (sum, more) in mixed.iter_mut().zip(&sums[row * classes..(row + 1) * classes]) {
                    *sum += more;
                }
                for class in 0..classes {
                    let log = if weight > 0.0 { (mixed[class] / weight).ln() } else { own[class] };
                    add(level, place, class, child.count * log);
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

/// Finds the pairs of children that are in each other's package.
fn collect_links(store: &Store, bag: &Bag, thresholds: &[f64], scratch: &mut PackagedScratch) {
    let PackagedScratch { children, links, .. } = scratch;
    links.clear();
    let packages = store.packages();
    if packages.is_empty() {
        return;
    }
    for (second, parent) in children[..bag.words.len()].iter().enumerate() {
        // Words before it, and the values that are no words, which are nobody's parents.
        let others = (0..second).chain(bag.words.len()..children.len());
        for first in others.clone() {
            packages.touch(children[first].attribute, parent.attribute);
        }
        for first in others {
            let information = packages.information(children[first].attribute, parent.attribute);
            if information > 0.0 {
                let reached = thresholds.iter().take_while(|&&least| information >= least).count();
                if reached > 0 {
                    links.push(Link { first, second, information, level: reached - 1 });
                }
            }
        }
    }
}
