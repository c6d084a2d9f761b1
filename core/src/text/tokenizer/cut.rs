//! From a text to its tokens, kind by kind.

use std::hash::BuildHasher;
use std::ops::ControlFlow;

use super::giving::{CHARACTERS_MARK, Give, LENGTH_MARK, Led, Plain, WITHIN_WORDS_MARK};
use super::{
    Boundaries, NotReady, Scratch, Tokenizer, TokenizerOptions, boundaries, characters, fields,
    length, ngrams, runs, subject,
};
use crate::text::token::Token;
use crate::text::unicode::PageSet;

impl Tokenizer {
    #[inline]
    pub(super) fn run<S: BuildHasher, const FOLDED: bool>(
        &self,
        text: &str,
        scratch: &mut Scratch,
        hasher: &S,
        emit: impl FnMut(Token<'_>),
    ) -> Result<(), NotReady> {
        let left = self.options.max_tokens.map_or(usize::MAX, |max| max as usize);
        // Short of disguises there is nothing to own.
        let undisguised;
        let text = match () {
            () if FOLDED => text,
            () if self.options.deobfuscate => {
                undisguised = self.ready(text);
                &undisguised
            }
            () => self.clip(text),
        };
        let subject = self.options.subject.then(|| subject::subject(self.unnamed(text))).flatten();
        let whole = !self.options.fields && subject.is_none();
        let mut plain = Plain { hasher, emit, left };
        let cut = if self.options.kinds() == 1 && !self.options.length && whole {
            self.cut::<FOLDED>(text, scratch, &mut plain)
        } else {
            let lead = std::mem::take(&mut scratch.lead);
            let led = std::mem::take(&mut scratch.led);
            let marked = self.options.kinds() > 1 || self.options.length;
            let mut giver = Led { plain, marked, lead, field: 0, led };
            let cut = if whole {
                giver.enter("");
                self.cut::<FOLDED>(text, scratch, &mut giver)
            } else {
                self.cut_fields::<S, _, FOLDED>(subject, text, scratch, &mut giver)
            };
            (scratch.lead, scratch.led) = (giver.lead, giver.led);
            cut
        };
        scratch.shrink();
        cut.map(drop)
    }

    /// The part of a text that stands before all fields.
    fn unnamed<'a>(&self, text: &'a str) -> &'a str {
        let first = self.options.fields.then(|| fields::fields(text).next()).flatten();
        first.map_or(text, |(_, text)| text)
    }

    /// Cuts the subject, then each field of a text, or the text as a whole.
    fn cut_fields<S: BuildHasher, E: FnMut(Token<'_>), const FOLDED: bool>(
        &self,
        subject: Option<&str>,
        text: &str,
        scratch: &mut Scratch,
        giver: &mut Led<'_, S, E>,
    ) -> Result<ControlFlow<()>, NotReady> {
        if !text.is_ascii() {
            // A later field must not fail when one before it was given.
            let mut missing = PageSet::default();
            self.missing_pages(text, &mut missing);
            if let Some(page) = missing.iter().next() {
                return Err(NotReady::MissingPage(page));
            }
            if !FOLDED && self.needs_host_fold(text) {
                return Err(NotReady::NeedsHostFold);
            }
        }
        let subject = subject.map(|text| (subject::SUBJECT, text));
        let whole = (!self.options.fields).then_some(("", text));
        let fields = self.options.fields.then(|| fields::fields(text)).into_iter().flatten();
        for (name, text) in subject.into_iter().chain(whole).chain(fields) {
            giver.enter(name);
            if self.cut::<FOLDED>(text, scratch, giver)?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Cuts a text into all kinds of tokens, the words first.
    #[inline]
    fn cut<const FOLDED: bool>(
        &self,
        text: &str,
        scratch: &mut Scratch,
        giver: &mut impl Give,
    ) -> Result<ControlFlow<()>, NotReady> {
        let options = &self.options;
        let longest = options.max_token_length.map_or(usize::MAX, |max| max as usize);
        let python_words = options.has_words() && options.boundaries == Boundaries::Python;
        if python_words {
            let len = self.fold::<FOLDED, false>(text, scratch)?;
            let flow = self.give_length(scratch, len, giver);
            if flow.is_break() || self.give_python_words(scratch, len, longest, giver).is_break() {
                return Ok(ControlFlow::Break(()));
            }
            if !options.has_characters() {
                return Ok(ControlFlow::Continue(()));
            }
        }
        // From here on the scratch's bits tell the white space.
        let len = self.fold::<FOLDED, true>(text, scratch)?;
        if !python_words {
            if self.give_length(scratch, len, giver).is_break() {
                return Ok(ControlFlow::Break(()));
            }
            if options.has_words() {
                boundaries::find_words(scratch, len, longest);
                if self.give_words(scratch, giver).is_break() {
                    return Ok(ControlFlow::Break(()));
                }
            }
        }
        Ok(self.give_characters(scratch, len, longest, giver))
    }

    #[inline(always)]
    fn give_python_words(
        &self,
        scratch: &mut Scratch,
        len: usize,
        longest: usize,
        giver: &mut impl Give,
    ) -> ControlFlow<()> {
        if self.options.words == Some((1, 1)) && self.options.sparse_bigrams.is_none() {
            // The hot path.
            let give = |start, end| giver.give(&scratch.folded, start, end);
            return runs::words(scratch, len, longest, give);
        }
        runs::find_words(scratch, len, longest);
        self.give_words(scratch, giver)
    }

    /// Gives the length of the folded text, if that is wanted.
    #[inline]
    fn give_length(
        &self,
        scratch: &mut Scratch,
        len: usize,
        giver: &mut impl Give,
    ) -> ControlFlow<()> {
        if self.options.length {
            giver.mark(Some(LENGTH_MARK));
            length::give(scratch, len, giver)?;
            giver.mark(None);
        }
        ControlFlow::Continue(())
    }

    /// Gives the n-grams and the sparse bigrams of the scratch's words.
    fn give_words(&self, scratch: &mut Scratch, giver: &mut impl Give) -> ControlFlow<()> {
        let TokenizerOptions { words, sparse_bigrams, .. } = self.options;
        if let Some(sizes) = words {
            let paired = sparse_bigrams.is_some();
            ngrams::of_words(scratch, sizes, paired, |buffer, start, end| {
                giver.give(buffer, start, end)
            })?;
        }
        let Some(window) = sparse_bigrams else { return ControlFlow::Continue(()) };
        let paired = words.is_some_and(|(min, max)| (min..=max).contains(&2));
        ngrams::sparse_bigrams(scratch, window, paired, |buffer, start, end| {
            giver.give(buffer, start, end)
        })
    }

    /// Gives the n-grams of characters; the scratch's bits tell the white space.
    fn give_characters(
        &self,
        scratch: &mut Scratch,
        len: usize,
        longest: usize,
        giver: &mut impl Give,
    ) -> ControlFlow<()> {
        let TokenizerOptions { characters, characters_within_words, .. } = self.options;
        if let Some(sizes) = characters {
            giver.mark(Some(CHARACTERS_MARK));
            characters::across_words(scratch, len, sizes, |buffer, start, end| {
                giver.give(buffer, start, end)
            })?;
        }
        let Some(sizes) = characters_within_words else { return ControlFlow::Continue(()) };
        giver.mark(Some(WITHIN_WORDS_MARK));
        characters::within_words(scratch, len, sizes, longest, |buffer, start, end| {
            giver.give(buffer, start, end)
        })
    }
}
