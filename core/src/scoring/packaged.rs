//! Packaged hidden parents: Equations 8–10 of the packaged hidden naive Bayes paper.
//!
//! Each word i of a message mixes the other words j of the message that are in its package, by their
//! conditional mutual information W_ij: P(w_i | hp_i, c) = Σ_j W_ij P(w_i | w_j, c) / Σ_j W_ij. A
//! word without such words has P(w_i | c). In a long text only the `max_parents` words with the most
//! information about all others are used.
//!
//! P(w_i | w_j, c) = (n_ijc + b_ic) / (L_jc + σ). In texts n_ijc is Σ f_i over documents of class
//! c that contain j, L_jc the length of these, σ = α m and b_ic = σ P(w_i | c). In columns n_ijc
//! counts documents, L_jc is the number of documents with value j, σ = α, and b_i = α divided by the
//! number of values of the attribute. Counts come from the documents.

use crate::counts::attributes::NONE;
use crate::counts::{AttributeId, Bag, ClassId, Store, WordId};
use crate::scoring::composition::Form;
use crate::scoring::cooccurrence::Cooccurrence;
use crate::scoring::hidden::{Side, push_rates};
use crate::scoring::{EventModel, Output, Query};

/// A word of the message, or an unseen value of a known attribute.
struct Child {
    attribute: AttributeId,
    word: Option<WordId>,
    count: f64,
}

/// A child with a parent in its package.
#[derive(Clone, Copy)]
struct Link {
    child: usize,
    /// Always a word.
    parent: usize,
    information: f64,
}

/// Reused buffers.
#[derive(Default)]
pub struct PackagedScratch {
    children: Vec<Child>,
    /// The words that may be parents, ascending.
    parents: Vec<usize>,
    /// By parent, then by child.
    links: Vec<Link>,
    together: Cooccurrence,
    /// 1 / (L_jc + σ), `words × classes`.
    rates: Vec<f64>,
    /// ln P(w_i | c) and b_ic, `children × classes`.
    own: Vec<f64>,
    backs: Vec<f64>,
    /// Σ_j W_ij P(w_i | w_j, c), `children × classes`.
    sums: Vec<f64>,
    /// Σ_j W_ij, by child.
    weights: Vec<f64>,
}

impl EventModel {
    /// Compute the joint log-likelihood of the bag with packaged hidden parents for each class.
    pub(crate) fn packaged_scores(
        &self,
        query: Query<'_>,
        scratch: &mut PackagedScratch,
        out: &mut Output<'_>,
    ) {
        let Query { store, bag, .. } = query;
        out.clear(query);
        self.collect_children(store, bag, &mut scratch.children);
        self.collect_parents_in_packages(store, bag, scratch);
        self.collect_links(query, scratch);
        for side in self.sides() {
            side.add_priors(query, out);
            self.sum_links(query, scratch, side);
            self.add_children(query, scratch, side, out);
        }
    }

    fn collect_children(&self, store: &Store, bag: &Bag, children: &mut Vec<Child>) {
        let columns = self.traits.form == Form::Values;
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

    /// Compute ln P(w_i | c or c̄) and b_ic of each child.
    fn fill_own(&self, query: Query<'_>, scratch: &mut PackagedScratch, side: Side, sigma: f64) {
        let Query { store, terms, .. } = query;
        let classes = terms.len();
        let PackagedScratch { children, own, backs, .. } = scratch;
        own.clear();
        backs.clear();
        for child in children.iter() {
            if self.traits.form == Form::Values {
                let share = self.alpha / store.attributes.values(child.attribute);
                let start = own.len();
                backs.resize(start + classes, share);
                own.extend(terms.iter().map(|class| share.ln() - class.documents));
                for cell in child.word.iter().flat_map(|&word| store.rows.cells(word)) {
                    let class = cell.class as usize;
                    own[start + class] = (cell.documents + share).ln() - terms[class].documents;
                }
            } else {
                let logs = self.log_word(query, child.word, side == Side::Complement);
                backs.extend(logs.iter().map(|log| sigma * log.exp()));
                own.extend(logs);
            }
        }
    }

    /// Find the parents: the words that are in a package, or the `max_parents` words with the most
    /// total information. Columns ignore this limit, since a message has at most one value of each
    /// attribute.
    fn collect_parents_in_packages(&self, store: &Store, bag: &Bag, scratch: &mut PackagedScratch) {
        let PackagedScratch { children, parents, .. } = scratch;
        let packages = store.packages();
        let strength = |position: usize| packages.strength(children[position].attribute);
        parents.clear();
        parents.extend((0..bag.words.len()).filter(|&position| strength(position) > 0.0));
        if self.traits.form != Form::Values {
            self.keep_top_k(store, bag, parents, strength);
        }
    }

    /// Compute Σ_j W_ij P(w_i | w_j, c) and Σ_j W_ij of each child.
    fn sum_links(&self, query: Query<'_>, scratch: &mut PackagedScratch, side: Side) {
        let Query { store, bag, terms, .. } = query;
        let classes = terms.len();
        let columns = self.traits.form == Form::Values;
        let sigma = if columns { self.alpha } else { self.alpha * self.words(store) };
        self.fill_own(query, scratch, side, sigma);
        let PackagedScratch {
            children, parents, links, together, rates, sums, weights, backs, ..
        } = scratch;
        rates.clear();
        for &(word, _) in &bag.words {
            push_rates(query, word, side, (1.0, sigma), rates);
        }
        sums.clear();
        sums.resize(children.len() * classes, 0.0);
        weights.clear();
        weights.resize(children.len(), 0.0);
        // The part of the smoothing.
        for link in links.iter() {
            weights[link.child] += link.information;
            let rates = &rates[link.parent * classes..(link.parent + 1) * classes];
            let backs = &backs[link.child * classes..(link.child + 1) * classes];
            let sums = &mut sums[link.child * classes..(link.child + 1) * classes];
            for ((sum, rate), back) in sums.iter_mut().zip(rates).zip(backs) {
                *sum += link.information * back * rate;
            }
        }
        // The part of the counts. A document of one class is in the complements of all others.
        let mut add = |link: &Link, class: ClassId, count: f64| {
            let row = link.child * classes;
            let rates = &rates[link.parent * classes..(link.parent + 1) * classes];
            let mut add = |c: usize| sums[row + c] += link.information * count * rates[c];
            match side {
                Side::Class => add(class as usize),
                Side::Complement => (0..classes).filter(|&c| c != class as usize).for_each(add),
            }
        };
        together.visit(query, parents, |parent, child, counts| {
            let place = links.binary_search_by_key(&(parent, child), |l| (l.parent, l.child));
            if let Ok(place) = place {
                counts.iter().for_each(|&(class, count)| add(&links[place], class, count));
            }
        });
    }

    /// Add the logarithm of each child, and of the unseen words of a text.
    fn add_children(
        &self,
        query: Query<'_>,
        scratch: &PackagedScratch,
        side: Side,
        out: &mut Output<'_>,
    ) {
        let (classes, words) = (query.terms.len(), query.bag.words.len());
        let mut add = |place: usize, class: usize, part: f64| {
            out.add(class, place.min(words) * classes + class, side.sign() * part);
        };
        let PackagedScratch { children, own, sums, weights, .. } = scratch;
        for (place, child) in children.iter().enumerate() {
            for class in 0..classes {
                let (row, weight) = (place * classes + class, weights[place]);
                let log = if weight > 0.0 { (sums[row] / weight).ln() } else { own[row] };
                add(place, class, child.count * log);
            }
        }
        let unseen = query.bag.unseen_tokens();
        if self.traits.form != Form::Values && self.is_smooth() && unseen > 0.0 {
            let logs = self.log_word(query, None, side == Side::Complement);
            for (class, log) in logs.iter().enumerate() {
                add(words, class, unseen * log);
            }
        }
    }

    /// Find the children that are in the packages of parents.
    fn collect_links(&self, query: Query<'_>, scratch: &mut PackagedScratch) {
        let Query { store, watch, .. } = query;
        let PackagedScratch { children, parents, links, .. } = scratch;
        links.clear();
        let packages = store.packages();
        for &parent in parents.iter() {
            if watch.stops(children.len()) {
                return;
            }
            let attribute = children[parent].attribute;
            children.iter().for_each(|child| packages.touch(child.attribute, attribute));
            for (place, child) in children.iter().enumerate().filter(|&(place, _)| place != parent)
            {
                let information = packages.information(child.attribute, attribute);
                if information > 0.0 && information >= self.bag_threshold {
                    links.push(Link { child: place, parent, information });
                }
            }
        }
    }
}
