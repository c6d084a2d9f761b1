//! The indexed documents that are nearest to a message, as a slice of the counts.
//!
//! Nearness is the cosine of the two vectors of word counts, found through the postings of the
//! message's words: documents that share no word with it are never looked at.

use crate::bag::Bag;
use crate::index::Slot;
use crate::slice::Slice;
use crate::store::Store;

/// Cosines that are nearer than this are the same but for rounding.
const TIE: f64 = 1e-12;

/// Buffers of one thread.
#[derive(Default)]
pub struct NearestScratch {
    /// Σ of products of counts, by slot.
    products: Vec<f64>,
    /// The documents that share a word with the message, with their cosine.
    found: Vec<(Slot, f64)>,
    cosines: Vec<f64>,
    slice: Slice,
}

impl NearestScratch {
    /// The slice of the `neighbours` nearest documents, and of those that are as near as the last
    /// of them; a document counts as much as its cosine. With `whole` it has all their words, else
    /// those of the message.
    pub fn slice(&mut self, store: &Store, bag: &Bag, neighbours: usize, whole: bool) -> &Slice {
        let index = store.index();
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
        let known: f64 = bag.words.iter().map(|&(_, count)| count * count).sum();
        let norm = (known + bag.unseen_squares()).sqrt();
        for (slot, cosine) in &mut self.found {
            let product = std::mem::take(&mut self.products[*slot as usize]);
            *cosine = product / (norm * index.norm(*slot));
        }
        self.cosines.clear();
        self.cosines.extend(self.found.iter().map(|&(_, cosine)| cosine));
        let least = if neighbours < self.cosines.len() {
            let last = self.cosines.len() - neighbours;
            *self.cosines.select_nth_unstable_by(last, f64::total_cmp).1
        } else {
            0.0
        };
        for &(slot, cosine) in &self.found {
            let Some(document) = index.document(slot) else { continue };
            if cosine < least - TIE {
                continue;
            }
            let weight = cosine * document.weight;
            if whole {
                self.slice.add(document.class, &document.words, weight);
                continue;
            }
            let totals = self.slice.totals(document.class);
            totals.documents += weight;
            totals.tokens += weight * document.length();
            for &(word, count) in &document.words {
                if bag.position(word).is_some() {
                    self.slice.add_word(document.class, word, weight * count, weight);
                }
            }
        }
        &self.slice
    }
}
