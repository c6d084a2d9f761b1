//! The last texts: texts that are scored and then learned are tokenised and looked up once, and a
//! single one is scored once.
//!
//! The caller owns the cache of one store. The words of a text stay valid until ids change their
//! meaning; its scores until the store changes.

use crate::counts::bag::Bag;
use crate::counts::message::Message;
use crate::counts::store::Store;
use crate::counts::vocabulary::WordId;
use crate::text::distinct::TokenizedTexts;

/// Longer texts are not cached.
const LONGEST: usize = 1 << 18;

/// Different words of all texts, and their bytes. The cache takes no more texts beyond these numbers: up
/// to 17 MB, and 4 MB for 1,000 short messages.
const MOST_WORDS: usize = 1 << 18;
const MOST_BYTES: usize = 1 << 22;

/// Texts in the order of scoring.
#[derive(Default)]
pub struct LastTexts {
    layout: u64,
    /// The texts, one after the other, and the end of each.
    text: String,
    ends: Vec<usize>,
    /// Known words with the numbers of their tokens, and the end of each text.
    words: Vec<(WordId, u32)>,
    word_ends: Vec<usize>,
    unknown: TokenizedTexts,
    /// The text that is learned next.
    next: usize,
    /// The version of the store when the only text was scored.
    version: Option<u64>,
    pub scores: Vec<f64>,
    /// The words and the unknown words of the only text, with the term weighting.
    weighted: Vec<(WordId, f64)>,
    unseen: Vec<f64>,
    /// x_i of the known words of the only text.
    pub values: Vec<f64>,
}

/// The part of a sequence that ends at this place of `ends`.
fn part(ends: &[usize], place: usize) -> std::ops::Range<usize> {
    (if place == 0 { 0 } else { ends[place - 1] })..ends[place]
}

impl LastTexts {
    /// Whether the cache can hold this message.
    pub fn takes(message: &Message<'_>) -> bool {
        message.text().is_some_and(|text| text.len() <= LONGEST)
    }

    /// Whether the next text is this message, and its words are still valid.
    pub fn is(&self, store: &Store, message: &Message<'_>) -> bool {
        self.next < self.ends.len()
            && self.layout == store.layout()
            && message.text() == Some(&self.text[part(&self.ends, self.next)])
    }

    /// Whether the cache has the scores of this message.
    pub fn has_scores(&self, store: &Store, message: &Message<'_>) -> bool {
        self.version == Some(store.version()) && self.is(store, message)
    }

    /// Begin with no text.
    pub fn clear(&mut self, store: &Store) {
        self.layout = store.layout();
        self.text.clear();
        self.ends.clear();
        self.words.clear();
        self.word_ends.clear();
        self.unknown.clear();
        (self.next, self.version) = (0, None);
    }

    /// Put a text with the bag that [`Message::find_words`] has filled, unless there are too many.
    pub fn push(&mut self, message: &Message<'_>, bag: &Bag) {
        let Some(text) = message.text().filter(|_| Self::takes(message)) else { return };
        let words = self.words.len() + bag.words.len() + self.unknown.number() + bag.unseen.len();
        if words > MOST_WORDS || self.text.len() + text.len() > MOST_BYTES {
            return;
        }
        self.text.push_str(text);
        self.ends.push(self.text.len());
        self.words.extend(bag.words.iter().map(|&(word, count)| (word, count as u32)));
        self.word_ends.push(self.words.len());
        self.unknown.push(&bag.tokens, bag.unknown.iter().map(|&place| place as usize));
    }

    /// Put the bag of the only text with the term weighting, and its scores.
    pub fn put_scores(&mut self, store: &Store, bag: &Bag, scores: &[f64], values: &[f64]) {
        self.weighted.clone_from(&bag.words);
        self.unseen.clear();
        self.unseen.extend(bag.unseen.iter().map(|unseen| unseen.count));
        self.version = Some(store.version());
        self.scores.clear();
        self.scores.extend_from_slice(scores);
        self.values.clear();
        self.values.extend_from_slice(values);
    }

    /// Put the next text, which [is](Self::is) the message, into a bag of interned words.
    pub fn take(&mut self, store: &mut Store, message: &Message<'_>, bag: &mut Bag) {
        let has_scores = self.has_scores(store, message);
        bag.clear(0);
        let unknown = self.unknown.text(self.next);
        if has_scores {
            bag.words.extend_from_slice(&self.weighted);
            // The words are still unknown, since the store has not changed.
            for (place, &value) in self.unseen.iter().enumerate() {
                bag.push(store.add_word(&unknown.token(place)), value);
            }
            bag.scores.extend_from_slice(&self.scores);
            bag.values.extend_from_slice(&self.values);
        } else {
            let words = &self.words[part(&self.word_ends, self.next)];
            bag.words.extend(words.iter().map(|&(word, count)| (word, f64::from(count))));
            // The texts before it may have brought some of these words.
            store.intern_distinct(unknown, bag);
        }
        self.next += 1;
        if self.next == self.ends.len() && self.next > 1 {
            *self = Self::default();
        }
    }

    /// Heap bytes held.
    pub fn size(&self) -> usize {
        self.text.capacity()
            + (self.ends.capacity() + self.word_ends.capacity()) * size_of::<usize>()
            + self.words.capacity() * size_of::<(WordId, u32)>()
            + self.weighted.capacity() * size_of::<(WordId, f64)>()
            + (self.scores.capacity() + self.values.capacity() + self.unseen.capacity())
                * size_of::<f64>()
            + self.unknown.size()
    }
}
