//! One message as the store sees it: known words with their counts, and unknown words.

use crate::counts::WordId;
use crate::counts::alloc::make_room;

/// A word the store has never learned.
#[derive(Clone, Copy)]
pub struct Unseen {
    pub hash: u64,
    pub count: f64,
    /// Whether it is a word or a run of words.
    pub is_word: bool,
}

/// Position of a word in the bag: the epoch in the upper half, the position in the lower half.
/// Plain zeros, so the allocator can hand out zeroed pages without writing them.
type Mark = u64;

fn mark(epoch: u32, position: usize) -> Mark {
    u64::from(epoch) << 32 | position as u64
}

/// A bag of words, reused from message to message so that counting allocates nothing.
#[derive(Default)]
pub struct Bag {
    /// Known words in order of first appearance, each once.
    pub words: Vec<(WordId, f64)>,
    /// Unknown words; a word may occur more than once.
    pub unseen: Vec<Unseen>,
    /// Whether each unknown word is known to occur once.
    pub distinct: bool,
    /// The scores of the message by class if they are already known; otherwise empty.
    pub scores: Vec<f64>,
    /// The scores of each head, if there are several and they are already known.
    pub heads: Vec<f64>,
    /// Corrections of the first words, if they are already known.
    pub values: Vec<f64>,
    marks: Vec<Mark>,
    epoch: u32,
}

impl Bag {
    /// Starts a new message over a vocabulary with `slots` ids.
    pub fn clear(&mut self, slots: usize) {
        self.words.clear();
        self.unseen.clear();
        self.scores.clear();
        self.heads.clear();
        self.values.clear();
        self.distinct = false;
        self.epoch = self.epoch.wrapping_add(1);
        if self.epoch == 0 {
            self.marks.fill(0);
            self.epoch = 1;
        }
        if self.marks.len() < slots {
            self.reach(slots);
        }
    }

    /// Extends the marks to `slots` words and some spare.
    #[cold]
    fn reach(&mut self, slots: usize) {
        let slots = slots + 1024;
        if self.marks.is_empty() {
            self.marks = vec![0; slots];
            return;
        }
        make_room(&mut self.marks, slots);
        self.marks.resize(slots, 0);
    }

    /// Adds a token without searching for its word: a word may then occur more than once.
    pub fn push(&mut self, word: WordId, count: f64) {
        self.words.push((word, count));
    }

    #[inline]
    pub fn add(&mut self, word: WordId, count: f64) {
        let index = word as usize;
        if index >= self.marks.len() {
            self.reach(index + 1);
        }
        let place = &mut self.marks[index];
        if (*place >> 32) as u32 == self.epoch {
            self.words[*place as u32 as usize].1 += count;
        } else {
            *place = mark(self.epoch, self.words.len());
            self.words.push((word, count));
        }
    }

    /// Multiplies the tokens of known and unknown words; known words of weight 0 are removed.
    pub fn weigh(&mut self, weight: impl Fn(WordId) -> f64, unseen: f64) {
        self.unseen.iter_mut().for_each(|word| word.count *= unseen);
        self.words.iter_mut().for_each(|(word, count)| *count *= weight(*word));
        self.words.retain(|&(_, count)| count > 0.0);
        for (position, &(word, _)) in self.words.iter().enumerate() {
            if let Some(place) = self.marks.get_mut(word as usize) {
                *place = mark((*place >> 32) as u32, position);
            }
        }
    }

    /// Position of a word in `words`.
    pub fn position(&self, word: WordId) -> Option<usize> {
        let place = self.marks.get(word as usize);
        let position = *place.filter(|&&place| (place >> 32) as u32 == self.epoch)? as u32 as usize;
        // Learning reorders `words`: report "not found" rather than a wrong word.
        self.words.get(position).is_some_and(|&(other, _)| other == word).then_some(position)
    }

    pub fn add_unseen(&mut self, hash: u64, count: f64, is_word: bool) {
        self.unseen.push(Unseen { hash, count, is_word });
    }

    /// Tokens of known words.
    pub fn tokens(&self) -> f64 {
        self.words.iter().map(|&(_, count)| count).sum()
    }

    /// Tokens of unknown words.
    pub fn unseen_tokens(&self) -> f64 {
        self.unseen.iter().map(|unseen| unseen.count).sum()
    }

    /// Moves all tokens of an unknown word to its first entry and sets its other entries to zero.
    pub fn sum_up_unseen(&mut self) {
        if self.distinct || self.unseen.len() < 2 {
            return;
        }
        let mut places: Vec<usize> = (0..self.unseen.len()).collect();
        places.sort_by_key(|&place| self.unseen[place].hash);
        let mut first = places[0];
        for &place in &places[1..] {
            if self.unseen[place].hash == self.unseen[first].hash {
                self.unseen[first].count += std::mem::take(&mut self.unseen[place].count);
            } else {
                first = place;
            }
        }
    }

    /// The positive counts of all words, known and unknown.
    pub fn counts_mut(&mut self) -> impl Iterator<Item = &mut f64> {
        let known = self.words.iter_mut().map(|(_, count)| count);
        let unseen = self.unseen.iter_mut().map(|unseen| &mut unseen.count);
        known.chain(unseen).filter(|count| **count > 0.0)
    }

    /// The counts of distinct unknown words (told apart by their 64-bit hashes).
    pub fn unseen_counts(&self) -> Vec<f64> {
        let mut unseen = self.unseen.clone();
        unseen.sort_unstable_by_key(|unseen| unseen.hash);
        let words = unseen.chunk_by(|one, other| one.hash == other.hash);
        words.map(|tokens| tokens.iter().map(|token| token.count).sum()).collect()
    }
}
