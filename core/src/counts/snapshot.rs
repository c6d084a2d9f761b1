//! The bytes of a store: canonical, so that equal states give equal bytes whatever their history.
//!
//! Classes stand in the order the caller gives, words in the order of their bytes, cells by class,
//! indexed documents from the oldest to the youngest. What follows from these (ids, lengths,
//! postings, pairs, frequencies) is not written. Numbers are LEB128; a count is twice itself where
//! it is an integer, else 1 and its eight bytes. Values of another form than counts are written as
//! so many times the smallest of them. The caller adds a checksum over the whole file.

use crate::counts::attributes::AttributeId;
use crate::counts::form::Form;
use crate::counts::index::Document;
use crate::counts::rows::{Class, ClassId};
use crate::counts::store::{Settings, Store};
use crate::counts::vocabulary::WordId;
use crate::error::{Error, Result};
use crate::statistics::bags::{Bags, Member};
use crate::statistics::document_weights::STEPS;

const MAGIC: &[u8; 8] = b"streamnb";
/// Raise with every change of the format. Version 1 had no forms: what it counts are counts.
/// Version 2 had no documents that weigh more than they were learned with.
const VERSION: u64 = 3;
/// How many bits say what is derived; those above them say what form documents have, and the one
/// above these whether they are weighed.
const KINDS: u32 = 3;
const WEIGHED: u32 = 16;
const EXACT: f64 = 9_007_199_254_740_992.0;

impl Store {
    /// The state as bytes. `order` names every class with documents once; `parents` says whether
    /// the weights in use as parents belong to it, which can be computed again from the counts.
    pub fn snapshot(&self, order: &[ClassId], parents: bool) -> Result<Vec<u8>> {
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
        put(&mut bytes, VERSION);
        put(&mut bytes, self.settings.max_words as u64);
        put(&mut bytes, self.settings.max_documents as u64);
        put(&mut bytes, self.settings.max_pairs as u64);
        let Settings { frequencies, columns, own_pairs, form, weighed, .. } = self.settings;
        let kinds = u64::from(frequencies) | u64::from(columns) << 1 | u64::from(own_pairs) << 2;
        put(&mut bytes, kinds | form.number() << KINDS | u64::from(weighed) << WEIGHED);
        let scale = form.scale();
        put(&mut bytes, u64::from(self.pruned));
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
            put_count(&mut bytes, if parents { self.parent_weight(word) } else { 0.0 });
        }
        put(&mut bytes, self.index.len() as u64);
        for document in self.index.documents() {
            put(&mut bytes, ranked(document.class)?);
            put_count(&mut bytes, document.weight);
            if weighed {
                put_count(&mut bytes, document.extra * STEPS);
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
        if parents && !self.bags.is_empty() {
            self.put_bags(&mut bytes, &rank_of_word);
        }
        Ok(bytes)
    }

    /// A store from the bytes of [`snapshot`](Self::snapshot): its classes are numbered in the
    /// order they were given then.
    pub fn restore(bytes: &[u8]) -> Result<Self> {
        let Some(rest) = bytes.strip_prefix(MAGIC) else {
            return Err(corrupt("they don't begin as the counts of streamnb do"));
        };
        let mut reader = Reader { rest };
        let version = reader.number()?;
        if !(1..=VERSION).contains(&version) {
            return Err(Error::Corrupt(format!(
                "the counts have format version {version}; this streamnb reads 1 to {VERSION}"
            )));
        }
        let (max_words, max_documents) = (reader.size()?, reader.size()?);
        let (max_pairs, kinds) = (reader.size()?, reader.number()?);
        let weighed = version > 2 && kinds >> WEIGHED == 1;
        let numbered = Form::numbered((kinds ^ u64::from(weighed) << WEIGHED) >> KINDS);
        let form = numbered.filter(|form| version > 1 || form.is_counts());
        let form = form.ok_or_else(|| corrupt("what it derives is unknown"))?;
        let (frequencies, columns, own_pairs) = (kinds & 1 != 0, kinds & 2 != 0, kinds & 4 != 0);
        let settings = Settings {
            max_words,
            max_documents,
            max_pairs,
            frequencies,
            columns,
            own_pairs,
            weighed,
            form,
        };
        let mut store = Store::new(settings);
        store.pruned = reader.flag()?;
        for _ in 0..reader.number()? {
            store.classes.push(Class::new(reader.positive()?, reader.count()? / form.scale()));
        }
        store.restore_words(&mut reader)?;
        store.restore_index(&mut reader)?;
        if !reader.rest.is_empty() {
            store.restore_bags(&mut reader)?;
        }
        if !reader.rest.is_empty() {
            return Err(corrupt("there is more after their end"));
        }
        Ok(store)
    }

    fn restore_words(&mut self, reader: &mut Reader) -> Result<()> {
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
                let cell = self.rows.entry(id, class);
                cell.tokens = tokens;
                cell.documents = documents;
                let totals = &mut self.classes[class as usize];
                totals.most_documents = totals.most_documents.max(documents);
                if self.settings.frequencies {
                    self.classes[class as usize].move_frequency(0.0, documents);
                }
            }
            if cells == 0 {
                return Err(corrupt("a word has no counts"));
            }
            self.parents.push(reader.count()?);
        }
        Ok(())
    }

    fn restore_index(&mut self, reader: &mut Reader) -> Result<()> {
        let documents = reader.size()?;
        if documents > self.settings.max_documents {
            return Err(corrupt("there are more documents than the index takes"));
        }
        for _ in 0..documents {
            let class = reader.class(self.classes.len())?;
            let weight = reader.positive()?;
            let extra = if self.settings.weighed { reader.count()? / STEPS } else { 0.0 };
            if extra > 1.0 || (extra * STEPS).fract() != 0.0 {
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
            self.index_document(Document { class, weight, extra, words });
        }
        Ok(())
    }
}

impl Store {
    /// The bags in use: attributes in the order of their names, words in that of their bytes.
    fn put_bags(&self, bytes: &mut Vec<u8>, rank_of_word: &[WordId]) {
        let mut rank_of_attribute = vec![0; self.attributes.slots()];
        for (rank, id) in self.attributes.sorted_ids().into_iter().enumerate() {
            rank_of_attribute[id as usize] = rank as AttributeId;
        }
        let ranks = if self.settings.columns { &rank_of_attribute[..] } else { rank_of_word };
        let rank = |id: AttributeId| ranks.get(id as usize).copied().unwrap_or(0);
        let members = self.bags.members(rank);
        bytes.extend_from_slice(&self.bags.threshold.to_le_bytes());
        put(bytes, members.len() as u64);
        for member in members {
            put(bytes, u64::from(member.low));
            put(bytes, u64::from(member.high));
            put_count(bytes, member.information);
        }
    }

    fn restore_bags(&mut self, reader: &mut Reader) -> Result<()> {
        let mut threshold = [0; 8];
        threshold.copy_from_slice(reader.take(8)?);
        // Words are numbered in the order of their bytes; attributes need not be.
        let order = self.attributes.sorted_ids();
        let id = |rank: u64| -> Result<AttributeId> {
            let slots = if self.settings.columns { order.len() } else { self.vocabulary.len() };
            let rank = usize::try_from(rank).ok().filter(|&rank| rank < slots);
            let rank = rank.ok_or_else(|| corrupt("a bag has an unknown attribute"))?;
            Ok(if self.settings.columns { order[rank] } else { rank as AttributeId })
        };
        let mut members = Vec::new();
        for _ in 0..reader.number()? {
            let (a, b) = (id(reader.number()?)?, id(reader.number()?)?);
            let information = reader.positive()?;
            members.push(Member { low: a.min(b), high: a.max(b), information });
        }
        self.bags = Bags::new(members.into_iter(), f64::from_le_bytes(threshold))
            .map_err(|_| corrupt("a bag is none"))?;
        Ok(())
    }
}

fn corrupt(reason: &str) -> Error {
    Error::Corrupt(format!("the counts can't be read: {reason}"))
}

fn put(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

fn put_count(bytes: &mut Vec<u8>, count: f64) {
    if (0.0..=EXACT).contains(&count) && count.fract() == 0.0 {
        put(bytes, (count as u64) << 1);
    } else {
        put(bytes, 1);
        bytes.extend_from_slice(&count.to_le_bytes());
    }
}

struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    fn take(&mut self, length: usize) -> Result<&'a [u8]> {
        let (taken, rest) =
            self.rest.split_at_checked(length).ok_or_else(|| corrupt("they end too soon"))?;
        self.rest = rest;
        Ok(taken)
    }

    fn number(&mut self) -> Result<u64> {
        let mut number: u64 = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.take(1)?[0];
            let part = u64::from(byte & 0x7f);
            if part << shift >> shift != part {
                break;
            }
            number |= part << shift;
            if byte & 0x80 == 0 {
                // One number, one spelling: no trailing zero byte.
                return if byte == 0 && shift > 0 { Err(corrupt("a number")) } else { Ok(number) };
            }
        }
        Err(corrupt("a number is too large"))
    }

    fn size(&mut self) -> Result<usize> {
        usize::try_from(self.number()?).map_err(|_| corrupt("a number is too large"))
    }

    fn flag(&mut self) -> Result<bool> {
        match self.number()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(corrupt("a flag is neither 0 nor 1")),
        }
    }

    fn class(&mut self, classes: usize) -> Result<ClassId> {
        u32::try_from(self.number()?)
            .ok()
            .filter(|&class| (class as usize) < classes)
            .ok_or_else(|| corrupt("a class is unknown"))
    }

    /// A finite number, 0 or more.
    fn count(&mut self) -> Result<f64> {
        let number = self.number()?;
        if number & 1 == 0 {
            return Ok((number >> 1) as f64);
        }
        let mut eight = [0; 8];
        eight.copy_from_slice(self.take(8)?);
        let count = f64::from_le_bytes(eight);
        if number == 1 && count.is_finite() && count > 0.0 {
            Ok(count)
        } else {
            Err(corrupt("a count is out of range"))
        }
    }

    fn positive(&mut self) -> Result<f64> {
        match self.count()? {
            0.0 => Err(corrupt("a count is zero")),
            count => Ok(count),
        }
    }
}
