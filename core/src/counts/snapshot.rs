//! The bytes of a store. They are canonical: equal states give equal bytes, whatever their history.
//!
//! Classes are in the order of their ranks, words in the order of their bytes, cells by class, indexed
//! documents from the oldest to the youngest. Derived state (ids, lengths, postings,
//! frequencies) is not written. Fractional values are written as multiples of the smallest step.
//! The caller adds a checksum over the whole file.

use crate::counts::clock::Clock;
use crate::counts::codec::{Reader, corrupt, put, put_count, put_float, ranks};
use crate::counts::term_weighting::TermWeighting;
use crate::counts::vocabulary::Key;
use crate::counts::{Cells, Class, Document, SavedOrder, Settings, Slice, Store, WordId};
use crate::error::{Error, Result};

/// Relative error of sums of counts: next to heavy messages and fractional weights they are rounded.
const ROUNDING: f64 = 1e-6;

const MAGIC: &[u8; 8] = b"streamnb";
/// Raise with every change of the format.
const VERSION: u64 = 4;

impl Settings {
    fn put(self, bytes: &mut Vec<u8>) {
        for bound in [self.max_features, self.index_size] {
            put(bytes, bound as u64);
        }
        put(bytes, u64::from(self.frequencies));
        put(bytes, u64::from(self.columns));
        // 2 for sets of labels, which need online weights.
        put(bytes, u64::from(self.online_weights) + u64::from(self.label_sets));
        put(bytes, u64::from(self.timed));
        put(bytes, u64::from(self.windowed));
        put(bytes, self.term_weighting as u64);
        put_count(bytes, self.half_life.unwrap_or(0.0));
    }

    fn restore(reader: &mut Reader<'_>) -> Result<Self> {
        let mut settings = Settings {
            max_features: reader.size()?,
            index_size: reader.size()?,
            ..Settings::COUNTS
        };
        (settings.frequencies, settings.columns) = (reader.flag()?, reader.flag()?);
        (settings.online_weights, settings.label_sets) = match reader.number()? {
            0 => (false, false),
            1 => (true, false),
            2 => (true, true),
            _ => return Err(corrupt("unknown kind of online weights")),
        };
        (settings.timed, settings.windowed) = (reader.flag()?, reader.flag()?);
        let weighting = TermWeighting::ALL.get(reader.size()?);
        settings.term_weighting = *weighting.ok_or_else(|| corrupt("unknown term weighting"))?;
        settings.half_life = Some(reader.count()?).filter(|&half_life| half_life > 0.0);
        if settings.max_features == 0 {
            return Err(corrupt("max_features is 0"));
        }
        settings.check_forgetting().map_err(|error| corrupt(&error.to_string()))?;
        Ok(settings)
    }
}

impl Store {
    /// The counts as bytes.
    pub(crate) fn snapshot_counts(&self, order: &SavedOrder) -> Vec<u8> {
        let rank_of_class = ranks(&order.classes, self.classes.len());
        let rank_of_word = ranks(&order.words, self.vocabulary.slots());
        let scale = self.settings.term_weighting.scale();
        let mut bytes = MAGIC.to_vec();
        put(&mut bytes, VERSION);
        self.settings.put(&mut bytes);
        if self.settings.half_life.is_some() {
            let Clock { begun, now, start, .. } = self.clock;
            [begun, now, start].into_iter().for_each(|value| put_float(&mut bytes, value));
        }
        put(&mut bytes, u64::from(self.pruned));
        put(&mut bytes, u64::from(self.key() != Key::default()));
        if self.key() != Key::default() {
            self.key().iter().for_each(|half| bytes.extend_from_slice(&half.to_le_bytes()));
        }
        put(&mut bytes, self.prune_cursor as u64);
        put(&mut bytes, order.classes.len() as u64);
        for &class in &order.classes {
            put_count(&mut bytes, self.classes[class as usize].documents);
            put_count(&mut bytes, self.classes[class as usize].tokens * scale);
        }
        put(&mut bytes, order.words.len() as u64);
        for &word in &order.words {
            put(&mut bytes, self.vocabulary.word(word).len() as u64);
            bytes.extend_from_slice(self.vocabulary.word(word));
            let mut cells: Vec<_> = self.rows.cells(word).collect();
            cells.sort_unstable_by_key(|cell| rank_of_class[cell.class as usize]);
            put(&mut bytes, cells.len() as u64);
            for cell in cells {
                put(&mut bytes, u64::from(rank_of_class[cell.class as usize]));
                put_count(&mut bytes, cell.tokens * scale);
                put_count(&mut bytes, cell.documents);
            }
        }
        put(&mut bytes, self.index.len() as u64);
        for document in self.index.documents() {
            let class = rank_of_class[document.class as usize];
            let Document { class, words, .. } = document.renamed(class, &rank_of_word);
            put(&mut bytes, u64::from(class));
            put_count(&mut bytes, document.weight);
            put(&mut bytes, words.len() as u64);
            for &(word, count) in &*words {
                put(&mut bytes, u64::from(word));
                put_count(&mut bytes, count * scale);
            }
        }
        bytes
    }

    /// A store from the bytes of [`snapshot_counts`](Self::snapshot_counts), with classes numbered
    /// in their order; and the remaining bytes.
    pub(crate) fn restore_counts(bytes: &[u8]) -> Result<(Self, Reader<'_>)> {
        let Some(rest) = bytes.strip_prefix(MAGIC) else {
            return Err(corrupt("not the counts of a streamnb model"));
        };
        let mut reader = Reader::new(rest);
        let version = reader.number()?;
        if version != VERSION {
            return Err(Error::Corrupt(format!(
                "the counts have format version {version}; this streamnb reads version {VERSION}"
            )));
        }
        let mut store = Store::new(Settings::restore(&mut reader)?);
        if let Some(half_life) = store.settings.half_life {
            let (begun, now, start) = (reader.finite()?, reader.finite()?, reader.float()?);
            let clock = Clock::restored(half_life, begun, now, start);
            store.clock = clock.ok_or_else(|| corrupt("invalid clock"))?;
        }
        store.pruned = reader.flag()?;
        if reader.flag()? {
            store.set_key([reader.eight_bytes()?, reader.eight_bytes()?]);
        }
        store.prune_cursor = reader.size()?;
        let known = store.prune_cursor < store.vocabulary.groups();
        if !known || (store.prune_cursor > 0 && !store.pruned) {
            return Err(corrupt("invalid group of words to prune next"));
        }
        for _ in 0..reader.number()? {
            let (documents, tokens) = (reader.positive()?, reader.count()?);
            let tokens = tokens / store.settings.term_weighting.scale();
            store.classes.push(Class::new(documents, tokens));
        }
        store.restore_words(&mut reader)?;
        store.restore_index(&mut reader)?;
        store.check_covered().map_err(|error| corrupt(&error.to_string()))?;
        store.check_window()?;
        Ok((store, reader))
    }

    /// Fails unless the counts of a window are those of its documents: the counts of the others have
    /// left. [`check_covered`](Self::check_covered) ensures that they are not smaller.
    fn check_window(&self) -> Result<()> {
        if !self.settings.windowed {
            return Ok(());
        }
        let mut window = Slice::default();
        for Document { class, words, weight, .. } in self.index.documents() {
            window.add(*class, words, *weight);
        }
        let covers = |part: f64, count: f64| count <= part * (1.0 + ROUNDING);
        let of_word = |word| {
            self.rows.cells(word).all(|cell| {
                let part = window.cells(word).find(|part| part.class == cell.class);
                part.is_some_and(|part| {
                    covers(part.tokens, cell.tokens) && covers(part.documents, cell.documents)
                })
            })
        };
        let mut classes = self.classes.iter().enumerate();
        let of_class = |(id, class): (usize, &Class)| {
            covers(window.classes.get(id).map_or(0.0, |part| part.documents), class.documents)
        };
        if classes.all(of_class) && (0..self.rows.slots() as WordId).all(of_word) {
            return Ok(());
        }
        Err(corrupt("the counts and the documents of the window disagree"))
    }

    /// Fails unless the tokens of the words of each class add up to the tokens of the class.
    fn check_tokens(&self, sums: &[f64]) -> Result<()> {
        let agrees = |(class, &sum): (&Class, &f64)| {
            (class.tokens - sum).abs() <= ROUNDING * class.tokens.max(sum)
        };
        // A half-life keeps the least counts above 0, though their sum is smaller.
        if self.settings.half_life.is_some() || self.classes.iter().zip(sums).all(agrees) {
            return Ok(());
        }
        Err(corrupt("the words and the tokens of a class disagree"))
    }

    fn restore_words(&mut self, reader: &mut Reader<'_>) -> Result<()> {
        let mut sums = vec![0.0; self.classes.len()];
        let mut previous: Option<&[u8]> = None;
        for _ in 0..reader.number()? {
            let length = reader.size()?;
            let word = reader.take(length)?;
            if previous.is_some_and(|previous| previous >= word) {
                return Err(corrupt("words are out of order"));
            }
            previous = Some(word);
            let id = self.intern(&self.vocabulary.token(word));
            let mut next_class = 0;
            let cells = reader.number()?;
            for _ in 0..cells {
                let class = reader.class(self.classes.len())?;
                if class < next_class {
                    return Err(corrupt("the classes of a word are out of order"));
                }
                next_class = class + 1;
                let tokens = reader.positive()? / self.settings.term_weighting.scale();
                let documents = reader.positive()?;
                if documents > self.classes[class as usize].documents * (1.0 + 1e-9) {
                    return Err(corrupt("a word has more documents than its class"));
                }
                sums[class as usize] += tokens;
                self.rows.set(id, class, tokens, documents);
                let totals = &mut self.classes[class as usize];
                if documents > totals.documents / 2.0 {
                    totals.common.push(id);
                }
                if self.settings.frequencies {
                    self.classes[class as usize].move_frequency(0.0, documents);
                }
            }
            if cells == 0 {
                return Err(corrupt("a word has no counts"));
            }
        }
        self.classes.iter_mut().for_each(|totals| totals.spare = totals.documents / 2.0);
        if self.vocabulary.len() > self.settings.max_features {
            return Err(corrupt("more words than max_features"));
        }
        self.check_tokens(&sums)?;
        Ok(())
    }

    fn restore_index(&mut self, reader: &mut Reader<'_>) -> Result<()> {
        let documents = reader.size()?;
        if documents > self.settings.index_size {
            return Err(corrupt("more documents than index_size"));
        }
        for _ in 0..documents {
            let class = reader.class(self.classes.len())?;
            let weight = reader.positive()?;
            let mut words: Vec<(WordId, f64)> = Vec::new();
            for _ in 0..reader.number()? {
                let word = reader.id(self.rows.slots(), "a document has an unknown word")?;
                if words.last().is_some_and(|&(last, _)| last >= word)
                    || self.rows.cell(word, class).is_none()
                {
                    return Err(corrupt("a document disagrees with the counts"));
                }
                words.push((word, reader.positive()? / self.settings.term_weighting.scale()));
            }
            self.index_document(Document { class, weight, words: words.into() });
        }
        Ok(())
    }
}
