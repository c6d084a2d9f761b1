//! The message that was scored last: to learn it next, or to score it again, needs no second
//! reading.

use crate::counts::bag::Bag;
use crate::counts::message::Message;
use crate::counts::store::Store;
use crate::counts::vocabulary::WordId;
use crate::text::distinct::DistinctTokens;

/// No longer text is kept.
const LONGEST: usize = 1 << 18;

/// What was read of one text, as long as nothing has changed.
#[derive(Default)]
pub struct Recall {
    /// The version and the layout of the store; None where nothing is kept.
    of: Option<(u64, u64)>,
    text: String,
    /// The values of known words, and of unknown ones in the order of `unknown`.
    words: Vec<(WordId, f64)>,
    unseen: Vec<f64>,
    /// Its tokens, and the places of the unknown ones.
    pub tokens: DistinctTokens,
    pub unknown: Vec<u32>,
    scores: Vec<f64>,
    /// What known words are corrected by.
    values: Vec<f64>,
}

fn text_of<'a>(message: &Message<'a>) -> Option<&'a str> {
    match *message {
        Message::Text(text) => Some(text),
        Message::Counts(_) => None,
    }
}

impl Recall {
    /// Whether this message can be kept.
    pub fn takes(message: &Message<'_>) -> bool {
        text_of(message).is_some_and(|text| text.len() <= LONGEST)
    }

    /// Keeps a message that was scored, and its bag, whose unknown words are kept already.
    /// `values` are those that words are corrected by.
    pub fn keep(
        &mut self,
        store: &Store,
        message: &Message<'_>,
        bag: &Bag,
        scores: &[f64],
        values: &[f64],
    ) {
        let Some(text) = text_of(message) else { return };
        self.of = Some((store.version(), store.layout()));
        self.text.clear();
        self.text.push_str(text);
        self.words.clone_from(&bag.words);
        self.unseen.clear();
        self.unseen.extend(bag.unseen.iter().map(|unseen| unseen.count));
        self.scores.clear();
        self.scores.extend_from_slice(scores);
        self.values.clear();
        self.values.extend_from_slice(values);
    }

    /// Whether it is this message that is kept, and the store is as it was.
    pub fn is(&self, store: &Store, message: &Message<'_>) -> bool {
        self.of == Some((store.version(), store.layout())) && text_of(message) == Some(&self.text)
    }

    /// The scores of the message that is kept.
    pub fn scores(&self) -> &[f64] {
        &self.scores
    }

    /// Puts the message that is kept into a bag, its words interned, with its scores.
    pub fn intern(&self, store: &mut Store, bag: &mut Bag) {
        bag.clear(0);
        bag.words.extend_from_slice(&self.words);
        for (&place, &value) in self.unknown.iter().zip(&self.unseen) {
            // Nothing has changed since it was not found.
            bag.push(store.add_word(&self.tokens.token(place as usize)), value);
        }
        bag.scores.extend_from_slice(&self.scores);
        bag.values.extend_from_slice(&self.values);
    }

    /// Keeps nothing any more, but the room for it.
    pub fn forget(&mut self) {
        self.of = None;
    }

    pub fn size(&self) -> usize {
        self.text.capacity()
            + self.words.capacity() * size_of::<(WordId, f64)>()
            + (self.unseen.capacity() + self.scores.capacity() + self.values.capacity())
                * size_of::<f64>()
            + self.unknown.capacity() * size_of::<u32>()
            + self.tokens.size()
    }
}
