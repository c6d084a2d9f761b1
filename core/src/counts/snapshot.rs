//! The bytes of a store: canonical, so that equal states give equal bytes whatever their history.
//!
//! Classes stand in the order the caller gives, words in the order of their bytes, cells by class,
//! indexed documents from the oldest to the youngest. What follows from these (ids, lengths,
//! postings, pairs, frequencies) is not written. Values of another form than counts are written as
//! so many times the smallest of them. The caller adds a checksum over the whole file.

use crate::counts::clock::Clock;
use crate::counts::codec::{Reader, corrupt, put, put_count, put_float};
use crate::counts::form::Form;
use crate::counts::index::{Document, STEPS};
use crate::counts::rows::{Class, ClassId};
use crate::counts::store::{Settings, Store};
use crate::counts::vocabulary::WordId;
use crate::error::{Error, Result};

const MAGIC: &[u8; 8] = b"streamnb";
/// Raise with every change of the format. Version 1 had no forms: what it counts are counts.
/// Version 2 had no documents that weigh more than they were learned with, version 3 no corrections
/// of words: stores without any are written as that one, to the same bytes as before.
/// Version 5 says which group of words is pruned next: only stores that pruned are of it.
/// Version 6 has a clock, or a window: only stores that forget are of it.
/// Version 7 has a clock of times: only stores whose half-life is in time are of it.
const VERSION: u64 = 7;
/// How many bits say what is derived; those above them say what form documents have, and the one
/// above these whether they have instance weights, then whether words have corrections.
const KINDS: u32 = 3;
const INSTANCE_WEIGHTS: u32 = 16;
const ONLINE_WEIGHTS: u32 = 17;
const HALF_LIFE: u32 = 18;
const WINDOWED: u32 = 19;
const TIMED: u32 = 20;

/// Writes where a clock stands: messages since the division, or its times once there are any.
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
    /// The counts as bytes. `order` names every class with documents once; `number_of` gives the
    /// number that stands beside each word.
    pub(crate) fn snapshot_counts(
        &self,
        order: &[ClassId],
        number_of: impl Fn(WordId) -> f64,
    ) -> Result<Vec<u8>> {
        let mut rank_of_class = vec![None; self.classes.len()];
        for (rank, &class) in order.iter().enumerate() {
            match rank_of_class.get_mut(class as usize) {
                Some(slot) if slot.is_none() => *slot = Some(rank as u64),
                _ => return Err(Error::Invalid(format!("class {class} can't stand in the order"))),
            }
        }
        let ranked = |class: ClassId| {
            rank_of_class[class as usize]
                .ok_or_else(|| Error::Invalid(format!("class {class} is missing in the order")))
        };
        let mut bytes = MAGIC.to_vec();
        put(
            &mut bytes,
            match self.settings.online_weights {
                _ if self.settings.timed => VERSION,
                _ if self.settings.forgets() => 6,
                _ if self.hand > 0 => 5,
                true => 4,
                false => 3,
            },
        );
        put(&mut bytes, self.settings.max_features as u64);
        put(&mut bytes, self.settings.index_size as u64);
        put(&mut bytes, self.settings.max_pairs as u64);
        let Settings { frequencies, columns, own_pairs, form, .. } = self.settings;
        let Settings { instance_weights, online_weights, half_life, windowed, .. } = self.settings;
        let timed = self.settings.timed;
        let kinds = u64::from(frequencies) | u64::from(columns) << 1 | u64::from(own_pairs) << 2;
        put(
            &mut bytes,
            kinds
                | form.number() << KINDS
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
        let scale = form.scale();
        put(&mut bytes, u64::from(self.pruned));
        if self.hand > 0 || self.settings.forgets() {
            put(&mut bytes, self.hand as u64);
        }
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

    /// A store from the bytes of [`snapshot_counts`](Self::snapshot_counts), its classes numbered in
    /// the order they were given then; the number beside each word; and what bytes follow.
    pub(crate) fn restore_counts(bytes: &[u8]) -> Result<(Self, Vec<f64>, Reader<'_>)> {
        let Some(rest) = bytes.strip_prefix(MAGIC) else {
            return Err(corrupt("they don't begin as the counts of streamnb do"));
        };
        let mut reader = Reader::new(rest);
        let version = reader.number()?;
        if !(1..=VERSION).contains(&version) {
            return Err(Error::Corrupt(format!(
                "the counts have format version {version}; this streamnb reads 1 to {VERSION}"
            )));
        }
        let (max_features, index_size) = (reader.size()?, reader.size()?);
        let (max_pairs, kinds) = (reader.size()?, reader.number()?);
        let instance_weights = version > 2 && kinds >> INSTANCE_WEIGHTS & 1 == 1;
        let online_weights = version > 3 && kinds >> ONLINE_WEIGHTS & 1 == 1;
        if version == 4 && !online_weights {
            // One state has one snapshot: without corrections it is of version 3.
            return Err(corrupt("they have format version 4 and no corrections"));
        }
        let half_life = version > 5 && kinds >> HALF_LIFE & 1 == 1;
        let windowed = version > 5 && kinds >> WINDOWED & 1 == 1;
        let timed = version > 6 && kinds >> TIMED & 1 == 1;
        if version == 7 && !timed {
            return Err(corrupt("they have format version 7 and no times"));
        }
        if version == 6 && !half_life && !windowed {
            return Err(corrupt("they have format version 6 and forget nothing"));
        }
        let flags = u64::from(instance_weights) << INSTANCE_WEIGHTS
            | u64::from(online_weights) << ONLINE_WEIGHTS
            | u64::from(half_life) << HALF_LIFE
            | u64::from(windowed) << WINDOWED
            | u64::from(timed) << TIMED;
        let numbered = Form::numbered((kinds ^ flags) >> KINDS);
        let form = numbered.filter(|form| version > 1 || form.is_counts());
        let form = form.ok_or_else(|| corrupt("what it derives is unknown"))?;
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
            form,
            half_life,
            timed,
            windowed,
        };
        settings.check_forgetting().map_err(|error| corrupt(&error.to_string()))?;
        let mut store = Store::new(settings);
        if let Some(half_life) = half_life {
            let clock = read_clock(&mut reader, half_life, timed)?;
            store.clock = clock.ok_or_else(|| corrupt("their clock is none"))?;
        }
        store.pruned = reader.flag()?;
        if version > 4 {
            store.hand = reader.size()?;
            let least = if version == 5 { 1 } else { 0 };
            let known = (least..store.vocabulary.groups()).contains(&store.hand);
            if !known || (store.hand > 0 && !store.pruned) {
                let text = "they have another format version, or prune no group next";
                return Err(corrupt(text));
            }
        }
        for _ in 0..reader.number()? {
            store.classes.push(Class::new(reader.positive()?, reader.count()? / form.scale()));
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
                let tokens = reader.positive()? / self.settings.form.scale();
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
            return Err(corrupt("there are more documents than the index takes"));
        }
        for _ in 0..documents {
            let class = reader.class(self.classes.len())?;
            let weight = reader.positive()?;
            let instance_weight =
                if self.settings.instance_weights { reader.count()? / STEPS } else { 0.0 };
            if instance_weight > 1.0 || (instance_weight * STEPS).fract() != 0.0 {
                return Err(corrupt("a document weighs what none can"));
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
                words.push((word, reader.positive()? / self.settings.form.scale()));
            }
            let words = words.into_boxed_slice();
            self.index_document(Document { class, weight, instance_weight, words });
        }
        Ok(())
    }
}
