//! From a text to its tokens, kind by kind.

use std::hash::BuildHasher;
use std::ops::ControlFlow;

use super::fold::fold;
use super::giving::{CHARACTERS_MARK, Give, LENGTH_MARK, Led, Plain, WITHIN_WORDS_MARK};
use super::{
    Boundaries, Scratch, Tokenizer, TokenizerOptions, boundaries, characters, disguise, fields,
    length, ngrams, runs, subject,
};
use crate::text::token::Token;

impl Tokenizer {
    /// Folds and cuts a message, and gives each [`Token`] to `emit`.
    #[inline]
    pub fn tokenize<S: BuildHasher>(
        &self,
        text: &str,
        scratch: &mut Scratch,
        hasher: &S,
        emit: impl FnMut(Token<'_>),
    ) {
        let left = self.options.max_tokens.map_or(usize::MAX, |max| max as usize);
        let mut text = self.clip(text);
        let undisguised;
        if self.options.deobfuscate {
            undisguised = disguise::undisguise(text);
            text = &undisguised;
        }
        let subject = self.options.subject.then(|| subject::subject(self.unnamed(text))).flatten();
        let whole = !self.options.fields && subject.is_none();
        let mut plain = Plain { hasher, emit, left };
        if self.options.kinds() == 1 && !self.options.length && whole {
            let _ = self.cut(text, scratch, &mut plain);
        } else {
            let lead = std::mem::take(&mut scratch.lead);
            let led = std::mem::take(&mut scratch.led);
            let marked = self.options.kinds() > 1 || self.options.length;
            let mut giver = Led { plain, marked, lead, field: 0, led };
            let _ = self.cut_fields(subject, text, scratch, &mut giver);
            (scratch.lead, scratch.led) = (giver.lead, giver.led);
        }
        scratch.shrink();
    }

    /// The part of a text that stands before all fields.
    fn unnamed<'a>(&self, text: &'a str) -> &'a str {
        let first = self.options.fields.then(|| fields::fields(text).next()).flatten();
        first.map_or(text, |(_, text)| text)
    }

    /// Cuts the subject, then each field of a text, or the text as a whole.
    fn cut_fields<S: BuildHasher, E: FnMut(Token<'_>)>(
        &self,
        subject: Option<&str>,
        text: &str,
        scratch: &mut Scratch,
        giver: &mut Led<'_, S, E>,
    ) -> ControlFlow<()> {
        let subject = subject.map(|text| (subject::SUBJECT, text));
        let whole = (!self.options.fields).then_some(("", text));
        let fields = self.options.fields.then(|| fields::fields(text)).into_iter().flatten();
        for (name, text) in subject.into_iter().chain(whole).chain(fields) {
            giver.enter(name);
            self.cut(text, scratch, giver)?;
        }
        ControlFlow::Continue(())
    }

    /// Cuts a text into all kinds of tokens, the words first.
    #[inline]
    fn cut(&self, text: &str, scratch: &mut Scratch, giver: &mut impl Give) -> ControlFlow<()> {
        let (options, table) = (&self.options, self.table);
        let longest = options.max_token_length.map_or(usize::MAX, |max| max as usize);
        let python_words = options.has_words() && options.boundaries == Boundaries::Python;
        if python_words {
            let len = fold::<false>(table, text, scratch);
            self.give_length(scratch, len, giver)?;
            self.give_python_words(scratch, len, longest, giver)?;
            if !options.has_characters() {
                return ControlFlow::Continue(());
            }
        }
        // From here on the scratch's bits mark the white space.
        let len = fold::<true>(table, text, scratch);
        if !python_words {
            self.give_length(scratch, len, giver)?;
            if options.has_words() {
                boundaries::find_words(scratch, len, longest);
                self.give_words(scratch, giver)?;
            }
        }
        self.give_characters(scratch, len, longest, giver)
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
