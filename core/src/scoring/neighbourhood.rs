//! Scores from some of the indexed documents: those in the message's leaf of a tree, or the nearest.
//!
//! Nearness is the cosine of the two vectors of word counts. It follows from the postings of the
//! message's words, so documents without any of them are never visited.

use crate::counts::bag::Bag;
use crate::counts::index::Slot;
use crate::counts::slice::Slice;
use crate::counts::store::Store;

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
            if product > 0.0 {
                *cosine = (product / (norm * index.norm(*slot))).min(1.0);
            }
        }
        // The squares of tiny counts underflow, and their cosine is 0.
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
            for &(word, count) in &document.words {
                if bag.position(word).is_some() {
                    self.slice.add_word(document.class, word, weight * count, weight);
                }
            }
        }
        &self.slice
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::counts::store::Settings;
    use crate::text::token::Token;

    /// A store of messages, each of its own class, and the bag of another message.
    fn scene(messages: &[&[(&str, f64)]], query: &[(&str, f64)]) -> (Store, Bag) {
        let mut store =
            Store::new(Settings { max_features: 99, index_size: 9, ..Settings::COUNTS });
        let mut bag = Bag::default();
        let hasher = store.vocabulary().hasher().clone();
        for (class, words) in messages.iter().enumerate() {
            bag.clear(store.vocabulary().slots());
            for &(word, count) in *words {
                bag.add(store.intern(&Token::new(&hasher, word.as_bytes())), count);
            }
            store.learn(&mut bag, class as u32, 1.0).unwrap();
        }
        bag.clear(store.vocabulary().slots());
        for &(word, count) in query {
            let token = Token::new(&hasher, word.as_bytes());
            match store.vocabulary().find(&token) {
                Some(id) => bag.add(id, count),
                None => bag.add_unseen(token.hash, count),
            }
        }
        (store, bag)
    }

    #[test]
    fn the_nearest_count_as_much_as_they_are_near() {
        let messages: [&[_]; 4] =
            [&[("a", 3.0), ("b", 4.0)], &[("a", 1.0)], &[("c", 1.0)], &[("b", 2.0)]];
        let (store, bag) = scene(&messages, &[("a", 1.0), ("b", 1.0), ("new", 2.0), ("new", 1.0)]);
        let mut scratch = NearestScratch::default();
        let mut near = |neighbours| {
            let slice = scratch.slice(&store, &bag, neighbours, false);
            slice.classes().iter().map(|class| class.documents).collect::<Vec<f64>>()
        };
        // The cosines are 7/5, 1, 0 and 1, divided by the norm of the message. With three neighbours
        // the next document has cosine 0; with two, the second ties with the next.
        for (got, nearness) in near(3).iter().zip([1.4, 1.0, 0.0, 1.0]) {
            assert!((got - nearness * 3.0 / 3.4).abs() < 1e-14);
        }
        assert_eq!((near(2), near(1)), (vec![1.0], vec![1.0]));
        let alone = scratch.slice(&store, &bag, 1, true);
        assert_eq!((alone.classes()[0].tokens, alone.words().count()), (7.0, 2));
        // If the nearest document ties with the next, all ties count.
        let (store, bag) = scene(&[&[("a", 1.0)], &[("a", 2.0)], &[("b", 1.0)]], &[("a", 5.0)]);
        assert_eq!(scratch.slice(&store, &bag, 1, false).documents(), 2.0);
        assert_eq!(scratch.slice(&store, &Bag::default(), 5, false).documents(), 0.0);
    }
}
