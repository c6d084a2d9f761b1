mod kinds;

use super::*;
use crate::text::token::Token;
use crate::text::unicode::is_word;
use std::hash::RandomState;

const NONE: TokenizerOptions = TokenizerOptions {
    lowercase: true,
    strip_accents: true,
    deobfuscate: false,
    boundaries: Boundaries::Python,
    words: None,
    sparse_bigrams: None,
    characters: None,
    characters_within_words: None,
    length: false,
    fields: false,
    subject: false,
    max_token_length: None,
    max_tokens: None,
    max_bytes: None,
};

fn words(sizes: Sizes) -> TokenizerOptions {
    TokenizerOptions { words: Some(sizes), ..NONE }
}

fn sparse(window: u32) -> TokenizerOptions {
    TokenizerOptions { sparse_bigrams: Some(window), ..NONE }
}

fn characters(sizes: Sizes) -> TokenizerOptions {
    TokenizerOptions { characters: Some(sizes), ..NONE }
}

fn within_words(sizes: Sizes) -> TokenizerOptions {
    TokenizerOptions { characters_within_words: Some(sizes), ..NONE }
}

/// The tokens; every hash is checked.
fn tokens_of(options: TokenizerOptions, text: &str) -> Vec<String> {
    let tokenizer = Tokenizer::new(options).expect("valid options");
    let hasher = RandomState::new();
    let mut tokens = Vec::new();
    tokenizer.tokenize(text, &mut Scratch::new(), &hasher, |token| {
        let same = Token::new(&hasher, token.bytes);
        assert_eq!((token.key, token.hash), (same.key, same.hash));
        tokens.push(String::from_utf8(token.bytes.to_vec()).expect("UTF-8"));
    });
    tokens
}

fn words_of(text: &str) -> Vec<String> {
    tokens_of(TokenizerOptions::default(), text)
}

/// `\b\w[\w\-]+\b` as a backtracking engine takes it.
fn matches(text: &str) -> Vec<String> {
    let characters: Vec<char> = text.chars().collect();
    let word_at = |at: usize| characters.get(at).copied().is_some_and(is_word);
    let goes_on = |at: usize| word_at(at) || characters.get(at) == Some(&'-');
    let boundary = |at: usize| (at > 0 && word_at(at - 1)) != word_at(at);
    let (mut found, mut at) = (Vec::new(), 0);
    while at < characters.len() {
        let mut end = at + 1;
        while goes_on(end) {
            end += 1;
        }
        while end > at + 1 && !boundary(end) {
            end -= 1;
        }
        if boundary(at) && word_at(at) && end > at + 1 {
            found.push(characters[at..end].iter().collect());
            at = end;
        } else {
            at += 1;
        }
    }
    found
}

/// Numbers that look random (Steele and others' SplitMix64).
fn random(state: &mut u64) -> usize {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (z >> 33) as usize
}

#[test]
fn words_are_folded_and_trimmed() {
    assert_eq!(words_of("Hello WORLD"), ["hello", "world"]);
    assert_eq!(words_of(""), [""; 0]);
    assert_eq!(words_of("a i - -- x- -y _ 1"), [""; 0]);
    assert_eq!(words_of("--well-known-- __ a-b 4-ever-"), ["well-known", "__", "a-b", "4-ever"]);
    assert_eq!(words_of("@[`{/:az AZ 09^~"), ["az", "az", "09"]);
    assert_eq!(words_of("nul\0led \x7f"), ["nul", "led"]);
    assert_eq!(words_of("Café É é\u{301}é wa\u{300}s…not ½x"), ["cafe", "ee", "was", "not", "2x"]);
    assert_eq!(words_of("日 日本 日- 日-日 é-"), ["日本", "日-日"]);
    assert_eq!(words_of("x\u{fdfa}"), ["xصلى", "الله", "عليه", "وسلم"]);
}

#[test]
fn folding_is_optional() {
    let keep = TokenizerOptions { lowercase: false, strip_accents: false, ..Default::default() };
    assert_eq!(tokens_of(keep, "Café DE-Flore é Σ ΣΣ"), ["Café", "DE-Flore", "ΣΣ"]);
    let lower = TokenizerOptions { strip_accents: false, ..Default::default() };
    assert_eq!(tokens_of(lower, "Café ÉTÉ a\u{300}b"), ["café", "été"]);
    assert_eq!(tokens_of(lower, "ΟΔΟΣ İx"), ["οδος"]);
    let strip = TokenizerOptions { lowercase: false, ..Default::default() };
    assert_eq!(tokens_of(strip, "Café ÉTÉΣ"), ["Cafe", "ETEΣ"]);
}

#[test]
fn a_capital_sigma_is_lowered_by_its_place_in_the_word() {
    assert_eq!(words_of("ΟΔΟΣ ΣΑΣ"), ["οδος", "σας"]);
    // The capital lunate sigma decomposes to a capital sigma.
    assert_eq!(words_of("ΟΔΟϹ"), ["οδος"]);
    let fields = TokenizerOptions { fields: true, ..words((1, 1)) };
    assert_eq!(tokens_of(fields, "\u{1e}Σ\u{1f}ΣΑΣ"), ["Σ: σας"]);
}

#[test]
fn random_texts_give_what_the_pattern_matches() {
    let plain: Vec<char> = "aZ09_-- .,\n@[`{\0/:".chars().collect();
    let mixed: Vec<char> = "aZ0_-- .é日…½😀\u{301}\u{fdfa}Σ\u{a0}".chars().collect();
    let keep = TokenizerOptions { lowercase: false, strip_accents: false, ..Default::default() };
    let mut state = 3;
    for round in 0..1000 {
        let alphabet = if round % 2 == 0 { &plain } else { &mixed };
        let len = random(&mut state) % 200;
        // Long runs of one kind now and then, over the edges of blocks and words of bits.
        let mut text = String::new();
        while text.chars().count() < len {
            let character = alphabet[random(&mut state) % alphabet.len()];
            let times =
                1 + random(&mut state) % 70 * usize::from(random(&mut state).is_multiple_of(16));
            text.extend(std::iter::repeat_n(character, times));
        }
        assert_eq!(tokens_of(keep, &text), matches(&text), "{text:?}");
        let folded = TokenizerOptions::default().folding().fold(&text);
        assert_eq!(words_of(&text), matches(&folded), "{text:?}");
    }
}

#[test]
fn limits_hold() {
    let base = TokenizerOptions::default();
    let short = TokenizerOptions { max_token_length: Some(3), ..base };
    assert_eq!(tokens_of(short, "one three two a-b- long-er"), ["one", "two", "a-b"]);
    assert_eq!(tokens_of(short, "one three two"), ["one", "two"]);
    assert_eq!(tokens_of(short, "日本語 日本語語 éèé"), ["日本語", "eee"]);
    let pairs = TokenizerOptions { words: Some((2, 2)), ..short };
    assert_eq!(tokens_of(pairs, "one three two"), ["one two"]);
    let two = Some(2);
    let few = TokenizerOptions { max_token_length: Some(3), max_tokens: two, ..sparse(5) };
    assert_eq!(tokens_of(few, "one three two six ten"), ["one two", "one  six"]);
    let within = TokenizerOptions { max_token_length: Some(3), ..within_words((2, 2)) };
    assert_eq!(tokens_of(within, "ab long"), [" a", "ab", "b "]);
    for sizes in [(1, 1), (1, 3)] {
        for (options, tokens) in [
            (words(sizes), ["aa", "bb"]),
            (characters(sizes), ["a", "a"]),
            (within_words(sizes), [" ", "a"]),
        ] {
            let few = TokenizerOptions { max_tokens: two, ..options };
            assert_eq!(tokens_of(few, "aa bb cc dd"), tokens);
        }
    }
    for (max, tokens) in [
        (1, &[][..]),
        (2, &["aa"]),
        (5, &["aa", "bb"]),
        (9, &["aa", "bb"]),
        (10, &["aa", "bb", "ee"]),
    ] {
        let start = TokenizerOptions { max_bytes: Some(max), ..base };
        assert_eq!(tokens_of(start, "aa bb éé"), tokens, "{max}");
    }
}

#[test]
fn bad_options_are_refused() {
    let base = TokenizerOptions::default();
    let check = |options: TokenizerOptions| options.validate();
    assert_eq!(check(base), Ok(()));
    assert_eq!(check(NONE), Err(OptionsError::NoKind));
    for (min, max) in [(0, 1), (2, 1), (1, 256)] {
        let sizes = |name| Err(OptionsError::Sizes { name, min, max });
        assert_eq!(check(words((min, max))), sizes("words"));
        assert_eq!(check(characters((min, max))), sizes("characters"));
        assert_eq!(check(within_words((min, max))), sizes("characters_within_words"));
    }
    for window in [0, 1, 256] {
        assert_eq!(check(sparse(window)), Err(OptionsError::Window(window)));
    }
    let none = TokenizerOptions { max_token_length: Some(0), ..base };
    assert_eq!(check(none), Err(OptionsError::Zero("max_token_length")));
    let none = TokenizerOptions { max_bytes: Some(0), ..base };
    assert_eq!(check(none), Err(OptionsError::Zero("max_bytes")));
    let none = TokenizerOptions { max_tokens: Some(0), ..base };
    assert_eq!(Tokenizer::new(none).err(), Some(OptionsError::Zero("max_tokens")));
    assert_eq!(
        OptionsError::Sizes { name: "words", min: 2, max: 1 }.to_string(),
        "words must be the shortest and the longest n-gram, 1 ≤ shortest ≤ longest ≤ 255, not (2, 1)"
    );
    assert_eq!(
        Boundaries::named("river").map_err(|error| error.to_string()),
        Err("boundaries must be 'python' or 'unicode', not \"river\"".into())
    );
}

#[test]
fn a_huge_message_leaves_no_huge_buffers() {
    let tokenizer = Tokenizer::new(TokenizerOptions::default()).expect("valid options");
    let (mut scratch, hasher) = (Scratch::new(), RandomState::new());
    let mut count = 0;
    let text = "word ".repeat(1 << 18);
    tokenizer.tokenize(&text, &mut scratch, &hasher, |_| count += 1);
    assert_eq!(count, 1 << 18);
    assert_eq!(scratch.folded.capacity(), 0);
    tokenizer.tokenize("two words", &mut scratch, &hasher, |_| count += 1);
    assert_eq!(count, (1 << 18) + 2);
}
