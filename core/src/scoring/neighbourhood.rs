//! Scores from some of the indexed documents: those in the message's leaf of a tree, or the nearest.
//!
//! Nearness is the cosine of the two vectors of word counts. It follows from the postings of the
//! message's words, so documents without any of them are never visited.

use crate::counts::index::{Slot, length};
use crate::counts::{Bag, Slice, Store};

/// Cosines that differ by less are equal up to rounding.
const TIE: f64 = 1e-12;

/// Reused buffers.
#[derive(Default)]
pub struct NearestScratch {
    /// Σ of products of counts, by slot.
    products: Vec<f64>,
    /// The documents that share a word with the message, and their cosines.
    found: Vec<(Slot, f64)>,
    cosines: Vec<f64>,
    slice: Slice,
}

impl NearestScratch {
    /// Return the slice of the `neighbours` nearest documents. The weight of a document falls
    /// linearly with its distance 1 − cosine, to 0 at the first document that is not a neighbour. The
    /// mean weight is 1. Documents that tie with the first non-neighbour have weight 0, but if the
    /// nearest document ties with it, all ties have weight 1. With `whole`, the slice contains all
    /// words of the documents, else those of the message.
    pub fn slice(&mut self, store: &Store, bag: &Bag, neighbours: usize, whole: bool) -> &Slice {
        let index = &store.index;
        self.slice = Slice::new(whole);
        self.found.clear();
        self.products.resize(index.slots(), 0.0);
        for &(word, count) in &bag.words {
            for posting in index.postings(word) {
                let product = &mut self.products[posting.slot as usize];
                if *product == 0.0 {
                    self.found.push((posting.slot, 0.0));
                }
                *product += count * posting.count;
            }
        }
        let known = bag.words.iter().map(|&(_, count)| count);
        let unseen = bag.unseen_counts();
        let norm = length(known.chain(unseen.iter().copied()));
        for (slot, cosine) in &mut self.found {
            let product = std::mem::take(&mut self.products[*slot as usize]);
            if product > 0.0 {
                *cosine = (product / (norm * index.norm(*slot))).min(1.0);
            }
        }
        // Products of tiny counts may underflow, and their cosine is 0.
        self.found.retain(|&(_, cosine)| cosine > 0.0);
        self.cosines.clear();
        self.cosines.extend(self.found.iter().map(|&(_, cosine)| cosine));
        let next = match self.cosines.len().checked_sub(neighbours.saturating_add(1)) {
            Some(place) => *self.cosines.select_nth_unstable_by(place, f64::total_cmp).1,
            None => 0.0,
        };
        // 1 − d/d_next is (cosine − next) / (1 − next).
        let nearer: Vec<f64> =
            self.cosines.iter().map(|cosine| cosine - next).filter(|&by| by > TIE).collect();
        let average = nearer.iter().sum::<f64>() / nearer.len() as f64;
        for &(slot, cosine) in &self.found {
            let Some(document) = index.document(slot) else { continue };
            let nearness = match cosine - next {
                by if by > TIE => by / average,
                by if nearer.is_empty() && by >= -TIE => 1.0,
                _ => continue,
            };
            let weight = nearness * document.weight;
            if whole {
                self.slice.add(document.class, &document.words, weight);
                continue;
            }
            let totals = self.slice.totals(document.class);
            totals.documents += weight;
            totals.tokens += weight * document.length();
            for &(word, count) in &*document.words {
                if bag.position(word).is_some() {
                    self.slice.add_word(document.class, word, weight * count, weight);
                }
            }
        }
        &self.slice
    }
}
