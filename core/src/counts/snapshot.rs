//! The bytes of a store. They are canonical: equal states give equal bytes, whatever their history.
//!
//! Classes are in the caller's order, words in the order of their bytes, cells by class, indexed
//! documents from the oldest to the youngest. Derived state (ids, lengths, postings, pairs,
//! frequencies) is not written. Fractional values are written as multiples of the smallest step.
//! The caller adds a checksum over the whole file.

use crate::counts::clock::Clock;
use crate::counts::codec::{Reader, corrupt, put, put_count, put_float};
use crate::counts::index::{Document, STEPS};
use crate::counts::rows::{Class, ClassId};
use crate::counts::store::{Settings, Store};
use crate::counts::term_weighting::TermWeighting;
use crate::counts::vocabulary::WordId;
use crate::error::{Error, Result};

const MAGIC: &[u8; 8] = b"streamnb";
/// Raise with every change of the format.
const VERSION: u64 = 1;
/// Number of bits that describe derived state. The bits above hold the term weighting, then whether
/// there are instance weights, then whether there are corrections of words.
const KINDS: u32 = 3;
const INSTANCE_WEIGHTS: u32 = 16;
const ONLINE_WEIGHTS: u32 = 17;
const HALF_LIFE: u32 = 18;
const WINDOWED: u32 = 19;
const TIMED: u32 = 20;

/// Writes the position of a clock: messages since the division, or its times if it has any.
fn put_clock(bytes: &mut Vec<u8>, clock: &Clock, timed: bool) {
    if !timed {
        put(bytes, clock.elapsed() as u64);
    } else if clock.now == Clock::NEVER {
        put(bytes, 0);
        return;
    } else {
        put(bytes, 1);
        put_float(bytes, clock.begun);
        put_float(bytes, clock.now);
    }
    put_float(bytes, clock.start);
}

fn read_clock(reader: &mut Reader<'_>, half_life: f64, timed: bool) -> Result<Option<Clock>> {
    let (begun, now) = if !timed {
        (0.0, reader.number()? as f64)
    } else if reader.flag()? {
        (reader.float()?, reader.float()?)
    } else {
        return Ok(Some(Clock::new(true)));
    };
    Ok(Clock::restored(half_life, begun, now, reader.float()?))
}

impl Store {
    /// The counts as bytes. `order` names every class with documents once; `number_of` returns the
    /// number stored with each word.
    pub(crate) fn snapshot_counts(
        &self,
        order: &[ClassId],
        number_of: impl Fn(WordId) -> f64,
    ) -> Result<Vec<u8>> {
        let mut rank_of_class = vec![None; self.classes.len()];
        for (rank, &class) in order.iter().enumerate() {
            match rank_of_class.get_mut(class as usize) {
                Some(slot) if slot.is_none() => *slot = Some(rank as u64),
                _ => {
                    return Err(Error::Invalid(format!(
                        "class {class} is unknown or repeated in the order"
                    )));
                }
            }
        }
        let ranked = |class: ClassId| {
            rank_of_class[class as usize]
                .ok_or_else(|| Error::Invalid(format!("class {class} is missing in the order")))
        };
        let mut bytes = MAGIC.to_vec();
        put(&mut bytes, VERSION);
        put(&mut bytes, self.settings.max_features as u64);
        put(&mut bytes, self.settings.index_size as u64);
        put(&mut bytes, self.settings.max_pairs as u64);
        let Settings { frequencies, columns, own_pairs, term_weighting, .. } = self.settings;
        let Settings { instance_weights, online_weights, half_life, windowed, .. } = self.settings;
        let timed = self.settings.timed;
        let kinds = u64::from(frequencies) | u64::from(columns) << 1 | u64::from(own_pairs) << 2;
        put(
            &mut bytes,
            kinds
                | term_weighting.number() << KINDS
                | u64::from(instance_weights) << INSTANCE_WEIGHTS
                | u64::from(online_weights) << ONLINE_WEIGHTS
                | u64::from(half_life.is_some()) << HALF_LIFE
                | u64::from(windowed) << WINDOWED
                | u64::from(timed) << TIMED,
        );
        if let Some(half_life) = half_life {
            put_float(&mut bytes, half_life);
            put_clock(&mut bytes, &self.clock, timed);
        }
        let scale = term_weighting.scale();
        put(&mut bytes, u64::from(self.pruned));
        put(&mut bytes, self.prune_cursor as u64);
        put(&mut bytes, order.len() as u64);
        for &class in order {
            put_count(&mut bytes, self.classes[class as usize].documents);
            put_count(&mut bytes, self.classes[class as usize].tokens * scale);
        }
        let words = self.vocabulary.sorted_ids();
        let mut rank_of_word = vec![0; self.vocabulary.slots()];
        put(&mut bytes, words.len() as u64);
        for (rank, &word) in words.iter().enumerate() {
            rank_of_word[word as usize] = rank as WordId;
            put(&mut bytes, self.vocabulary.word(word).len() as u64);
            bytes.extend_from_slice(self.vocabulary.word(word));
            let mut cells = Vec::new();
            for cell in self.rows.cells(word) {
                cells.push((ranked(cell.class)?, cell.tokens, cell.documents));
            }
            cells.sort_unstable_by_key(|&(class, _, _)| class);
            put(&mut bytes, cells.len() as u64);
            for (class, tokens, documents) in cells {
                put(&mut bytes, class);
                put_count(&mut bytes, tokens * scale);
                put_count(&mut bytes, documents);
            }
            put_count(&mut bytes, number_of(word));
        }
        put(&mut bytes, self.index.len() as u64);
        for document in self.index.documents() {
            put(&mut bytes, ranked(document.class)?);
            put_count(&mut bytes, document.weight);
            if instance_weights {
                put_count(&mut bytes, document.instance_weight * STEPS);
            }
            let mut entries: Vec<(WordId, f64)> = document
                .words
                .iter()
                .map(|&(word, count)| (rank_of_word[word as usize], count))
                .collect();
            entries.sort_unstable_by_key(|&(word, _)| word);
            put(&mut bytes, entries.len() as u64);
            for (word, count) in entries {
                put(&mut bytes, u64::from(word));
                put_count(&mut bytes, count * scale);
            }
        }
        Ok(bytes)
    }

    /// A store from the bytes of [`snapshot_counts`](Self::snapshot_counts), with classes numbered
    /// in that order; the number stored with each word; and the remaining bytes.
    pub(crate) fn restore_counts(bytes: &[u8]) -> Result<(Self, Vec<f64>, Reader<'_>)> {
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
        let (max_features, index_size) = (reader.size()?, reader.size()?);
        let (max_pairs, kinds) = (reader.size()?, reader.number()?);
        let has = |bit: u32| kinds >> bit & 1 == 1;
        let instance_weights = has(INSTANCE_WEIGHTS);
        let online_weights = has(ONLINE_WEIGHTS);
        let half_life = has(HALF_LIFE);
        let windowed = has(WINDOWED);
        let timed = has(TIMED);
        let flags = u64::from(instance_weights) << INSTANCE_WEIGHTS
            | u64::from(online_weights) << ONLINE_WEIGHTS
            | u64::from(half_life) << HALF_LIFE
            | u64::from(windowed) << WINDOWED
            | u64::from(timed) << TIMED;
        let term_weighting = TermWeighting::numbered((kinds ^ flags) >> KINDS);
        let term_weighting = term_weighting.ok_or_else(|| corrupt("unknown term weighting"))?;
        let (frequencies, columns, own_pairs) = (kinds & 1 != 0, kinds & 2 != 0, kinds & 4 != 0);
        let half_life = if half_life { Some(reader.float()?) } else { None };
        let settings = Settings {
            max_features,
            index_size,
            max_pairs,
            frequencies,
            columns,
            own_pairs,
            instance_weights,
            online_weights,
            term_weighting,
            half_life,
            timed,
            windowed,
        };
        settings.check_forgetting().map_err(|error| corrupt(&error.to_string()))?;
        let mut store = Store::new(settings);
        if let Some(half_life) = half_life {
            let clock = read_clock(&mut reader, half_life, timed)?;
            store.clock = clock.ok_or_else(|| corrupt("invalid clock"))?;
        }
        store.pruned = reader.flag()?;
        store.prune_cursor = reader.size()?;
        let known = store.prune_cursor < store.vocabulary.groups();
        if !known || (store.prune_cursor > 0 && !store.pruned) {
            return Err(corrupt("invalid group of words to prune next"));
        }
        for _ in 0..reader.number()? {
            store
                .classes
                .push(Class::new(reader.positive()?, reader.count()? / term_weighting.scale()));
        }
        let numbers = store.restore_words(&mut reader)?;
        store.restore_index(&mut reader)?;
        Ok((store, numbers, reader))
    }

    fn restore_words(&mut self, reader: &mut Reader<'_>) -> Result<Vec<f64>> {
        let mut numbers = Vec::new();
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
                self.rows.set(id, class, tokens, documents);
                let totals = &mut self.classes[class as usize];
                totals.most_documents = totals.most_documents.max(documents);
                if self.settings.frequencies {
                    self.classes[class as usize].move_frequency(0.0, documents);
                }
            }
            if cells == 0 {
                return Err(corrupt("a word has no counts"));
            }
            numbers.push(reader.count()?);
        }
        Ok(numbers)
    }

    fn restore_index(&mut self, reader: &mut Reader<'_>) -> Result<()> {
        let documents = reader.size()?;
        if documents > self.settings.index_size {
            return Err(corrupt("more documents than index_size"));
        }
        for _ in 0..documents {
            let class = reader.class(self.classes.len())?;
            let weight = reader.positive()?;
            let instance_weight =
                if self.settings.instance_weights { reader.count()? / STEPS } else { 0.0 };
            if instance_weight > 1.0 || (instance_weight * STEPS).fract() != 0.0 {
                return Err(corrupt("invalid instance weight of a document"));
            }
            let mut words: Vec<(WordId, f64)> = Vec::new();
            for _ in 0..reader.number()? {
                let word = u32::try_from(reader.number()?)
                    .ok()
                    .filter(|&word| (word as usize) < self.rows.slots())
                    .ok_or_else(|| corrupt("a document has an unknown word"))?;
                if words.last().is_some_and(|&(last, _)| last >= word)
                    || self.rows.cell(word, class).is_none()
                {
                    return Err(corrupt("a document disagrees with the counts"));
                }
                words.push((word, reader.positive()? / self.settings.term_weighting.scale()));
            }
            let words = words.into_boxed_slice();
            self.index_document(Document { class, weight, instance_weight, words });
        }
        Ok(())
    }
}
