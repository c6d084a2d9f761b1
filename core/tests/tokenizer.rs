//! Tokens equal those of the patterns and rules, computed by slow code.

mod common;

use _core::text::distinct::{DistinctTokens, TokenizedTexts, Tokens};
use _core::text::token::Token;
use _core::text::tokenizer::{Boundaries, Scratch, Sizes, Tokenizer, TokenizerOptions};
use _core::text::unicode::{Folding, is_space, is_word, version};
use common::BAG_OF_WORDS;
use foldhash::fast::FixedState;
use std::hash::RandomState;

/// Options without a kind of token.
fn none() -> TokenizerOptions {
    TokenizerOptions { words: None, ..BAG_OF_WORDS }
}

fn words(sizes: Sizes) -> TokenizerOptions {
    TokenizerOptions { words: Some(sizes), ..none() }
}

fn characters(sizes: Sizes) -> TokenizerOptions {
    TokenizerOptions { characters: Some(sizes), ..none() }
}

fn within_words(sizes: Sizes) -> TokenizerOptions {
    TokenizerOptions { characters_within_words: Some(sizes), ..none() }
}

/// The tokens; every hash is checked.
fn tokens_of(options: TokenizerOptions, text: &str) -> Vec<String> {
    let tokenizer = Tokenizer::new(options).expect("valid options");
    let hasher = RandomState::new();
    let mut tokens = Vec::new();
    tokenizer.tokenize(text, &mut Scratch::default(), &hasher, |token| {
        let same = Token::new(&hasher, token.bytes);
        assert_eq!((token.key, token.hash), (same.key, same.hash));
        tokens.push(String::from_utf8(token.bytes.to_vec()).expect("UTF-8"));
    });
    tokens
}

fn words_of(text: &str) -> Vec<String> {
    tokens_of(BAG_OF_WORDS, text)
}

/// The matches of `\b\w[\w\-]+\b`, as a backtracking engine finds them.
fn matches(text: &str) -> Vec<String> {
    let characters: Vec<char> = text.chars().collect();
    let word_at = |at: usize| characters.get(at).copied().is_some_and(is_word);
    let continues = |at: usize| word_at(at) || characters.get(at) == Some(&'-');
    let boundary = |at: usize| (at > 0 && word_at(at - 1)) != word_at(at);
    let (mut found, mut at) = (Vec::new(), 0);
    while at < characters.len() {
        let mut end = at + 1;
        while continues(end) {
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

/// Pseudorandom numbers (SplitMix64 of Steele et al.).
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
    let keep = TokenizerOptions { lowercase: false, strip_accents: false, ..BAG_OF_WORDS };
    assert_eq!(tokens_of(keep, "Café DE-Flore é Σ ΣΣ"), ["Café", "DE-Flore", "ΣΣ"]);
    let lower = TokenizerOptions { strip_accents: false, ..BAG_OF_WORDS };
    assert_eq!(tokens_of(lower, "Café ÉTÉ a\u{300}b"), ["café", "été"]);
    assert_eq!(tokens_of(lower, "ΟΔΟΣ İx"), ["οδος"]);
    let strip = TokenizerOptions { lowercase: false, ..BAG_OF_WORDS };
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
fn tokens_of_random_texts_match_the_pattern() {
    let plain: Vec<char> = "aZ09_-- .,\n@[`{\0/:".chars().collect();
    let mixed: Vec<char> = "aZ0_-- .é日…½😀\u{301}\u{fdfa}Σ\u{a0}".chars().collect();
    let keep = TokenizerOptions { lowercase: false, strip_accents: false, ..BAG_OF_WORDS };
    let mut state = 3;
    for round in 0..1000 {
        let alphabet = if round % 2 == 0 { &plain } else { &mixed };
        let len = random(&mut state) % 200;
        // Some long runs cross the edges of blocks and words of bits.
        let mut text = String::new();
        while text.chars().count() < len {
            let character = alphabet[random(&mut state) % alphabet.len()];
            let times =
                1 + random(&mut state) % 70 * usize::from(random(&mut state).is_multiple_of(16));
            text.extend(std::iter::repeat_n(character, times));
        }
        assert_eq!(tokens_of(keep, &text), matches(&text), "{text:?}");
        let folded = Folding { lowercase: true, strip_accents: true }.fold(&text);
        assert_eq!(words_of(&text), matches(&folded), "{text:?}");
    }
}

#[test]
fn limits_hold() {
    let base = BAG_OF_WORDS;
    let short = TokenizerOptions { max_token_length: Some(3), ..base };
    assert_eq!(tokens_of(short, "one three two a-b- long-er"), ["one", "two", "a-b"]);
    assert_eq!(tokens_of(short, "one three two"), ["one", "two"]);
    assert_eq!(tokens_of(short, "日本語 日本語語 éèé"), ["日本語", "eee"]);
    let pairs = TokenizerOptions { words: Some((2, 2)), ..short };
    assert_eq!(tokens_of(pairs, "one three two"), ["one two"]);
    let two = Some(2);
    let few = TokenizerOptions { max_token_length: Some(3), max_tokens: two, ..words((2, 3)) };
    assert_eq!(tokens_of(few, "one three two six ten"), ["one two", "two six"]);
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
    let base = BAG_OF_WORDS;
    let error = |options| Tokenizer::new(options).expect_err("refused").to_string();
    assert!(Tokenizer::new(base).is_ok());
    assert_eq!(error(none()), "the tokenizer has no kind of token");
    for (min, max) in [(0, 1), (2, 1), (1, 256)] {
        let allowed = "must be the shortest and the longest n-gram, 1 ≤ shortest ≤ longest ≤ 255";
        let message = |name| format!("{name} {allowed}, not ({min}, {max})");
        assert_eq!(error(words((min, max))), message("words"));
        assert_eq!(error(characters((min, max))), message("characters"));
        assert_eq!(error(within_words((min, max))), message("characters_within_words"));
    }
    for options in [
        TokenizerOptions { max_token_length: Some(0), ..base },
        TokenizerOptions { max_bytes: Some(0), ..base },
        TokenizerOptions { max_tokens: Some(0), ..base },
    ] {
        assert_eq!(error(options), "a limit must be None or 1 or more, not 0");
    }
    assert_eq!(
        Boundaries::named("river").map_err(|error| error.to_string()),
        Err("boundaries must be 'python' or 'unicode', not \"river\"".into())
    );
}

#[test]
fn word_ngrams_come_shortest_first() {
    let of = |range| tokens_of(words(range), "One two, a three!");
    assert_eq!(of((1, 2)), ["one", "two", "three", "one two", "two three"]);
    assert_eq!(of((2, 3)), ["one two", "two three", "one two three"]);
    assert_eq!(of((4, 5)), [""; 0]);
}

#[test]
fn char_ngrams_reduce_white_space() {
    let of = |range, text: &str| tokens_of(characters(range), text);
    assert_eq!(of((1, 2), "Ab\n c"), ["a", "b", " ", "c", "ab", "b ", " c"]);
    assert_eq!(of((1, 1), "a\nb\u{3000}\u{3000}é"), ["a", "\n", "b", " ", "e"]);
    assert_eq!(of((3, 3), "日本"), [""; 0]);
    assert_eq!(of((2, 2), "日本語"), ["日本", "本語"]);
    let nul = of((1, 2), "\0");
    assert_eq!(nul, ["\0"]);
}

#[test]
fn char_ngrams_within_words_are_padded() {
    let of = |range, text: &str| tokens_of(within_words(range), text);
    assert_eq!(of((2, 3), "ab  c"), [" a", "ab", "b ", " ab", "ab ", " c", "c ", " c "]);
    assert_eq!(of((4, 6), "a 日é\u{301}"), [" a ", " 日e "]);
    assert_eq!(of((2, 2), " \n\t "), [""; 0]);
}

#[test]
fn kinds_together_are_marked() {
    let all = TokenizerOptions {
        characters: Some((2, 3)),
        characters_within_words: Some((3, 3)),
        ..words((1, 2))
    };
    let expected = [
        "ab", "cd", "ab cd", "\tab", "\tb ", "\t c", "\tcd", "\tab ", "\tb c", "\t cd", "\u{b} ab",
        "\u{b}ab ", "\u{b} cd", "\u{b}cd ",
    ];
    assert_eq!(tokens_of(all, "Ab Cd"), expected);
    // All lengths around the limit of short tokens.
    let text = "abcdefghijklmnopqrst";
    let long = TokenizerOptions { characters: Some((1, 20)), ..words((1, 1)) };
    let tokens = tokens_of(long, text);
    let mut expected = vec![text.to_owned()];
    for n in 1..=20 {
        expected.extend((0..=20 - n).map(|at| format!("\t{}", &text[at..at + n])));
    }
    assert_eq!(tokens, expected);
    for max in 1..=expected.len() {
        let few = TokenizerOptions { max_tokens: Some(max as u32), ..long };
        assert_eq!(tokens_of(few, text), expected[..max]);
    }
}

#[test]
fn the_length_is_three_tokens() {
    let length = TokenizerOptions { length: true, ..none() };
    assert_eq!(tokens_of(length, ""), [""; 0]);
    assert_eq!(tokens_of(length, "éé ab"), ["\u{c}1:2", "\u{c}2:5", "\u{c}4:10"]);
    let clipped = TokenizerOptions { max_bytes: Some(3), ..length };
    assert_eq!(tokens_of(clipped, "éé ab"), ["\u{c}1:1", "\u{c}2:2", "\u{c}4:4"]);
    let both = TokenizerOptions { length: true, ..words((1, 1)) };
    assert_eq!(tokens_of(both, "ab"), ["\u{c}1:1", "\u{c}2:3", "\u{c}4:6", "ab"]);
    let few = TokenizerOptions { max_tokens: Some(2), ..both };
    assert_eq!(tokens_of(few, "ab"), ["\u{c}1:1", "\u{c}2:3"]);
}

#[test]
fn fields_name_their_tokens() {
    let fields = TokenizerOptions { fields: true, ..words((1, 2)) };
    let text = "hi there\u{1e}subject\u{1f}win it\u{1e}from\u{1f}Ann\u{1e}to\u{1f}";
    let expected =
        ["hi", "there", "hi there", "subject: win", "subject: it", "subject: win it", "from: ann"];
    assert_eq!(tokens_of(fields, text), expected);
    let few = TokenizerOptions { max_tokens: Some(4), ..fields };
    assert_eq!(tokens_of(few, text), expected[..4]);
    assert_eq!(tokens_of(words((1, 1)), text).len(), 8);
    let kinds = TokenizerOptions { characters: Some((2, 2)), length: true, ..fields };
    assert_eq!(
        tokens_of(kinds, "\u{1e}s\u{1f}ab"),
        ["s: \u{c}1:1", "s: \u{c}2:3", "s: \u{c}4:6", "s: ab", "s: \tab"]
    );
}

#[test]
fn values_are_one_token_and_words_have_copies_for_them() {
    let fields = TokenizerOptions { fields: true, length: true, ..words((1, 2)) };
    let text = "\u{1e}user*=\u{1f}Bob B\u{1e}hour=\u{1f}9\u{1e}\u{1f}win it";
    let length = ["\u{c}1:2", "\u{c}2:5", "\u{c}4:11"];
    let expected = [
        &["user=Bob B", "hour=9"][..],
        &length[..],
        &["win", "it", "win it"],
        &["user=Bob B: win", "user=Bob B: it", "user=Bob B: win it"],
    ]
    .concat();
    assert_eq!(tokens_of(fields, text), expected);
    let characters =
        TokenizerOptions { characters: Some((2, 2)), words: None, length: false, ..fields };
    assert_eq!(
        tokens_of(characters, "\u{1e}u*=\u{1f}a\u{1e}\u{1f}ab"),
        ["u=a", "\tab", "u=a: \tab"]
    );
}

#[test]
fn the_subject_comes_first_and_again_within_the_text() {
    let subject = TokenizerOptions { subject: true, ..words((1, 2)) };
    let text = "To: ann\nSubject: Win it\n\nnow";
    let named = ["subject: win", "subject: it", "subject: win it"];
    let whole = tokens_of(words((1, 2)), text);
    assert_eq!(tokens_of(subject, text), [&named.map(String::from), &whole[..]].concat());
    assert_eq!(tokens_of(TokenizerOptions { max_tokens: Some(2), ..subject }, text), named[..2]);
    assert_eq!(tokens_of(subject, "now: win"), tokens_of(words((1, 2)), "now: win"));
    let fields = TokenizerOptions { fields: true, ..subject };
    let expected = ["subject: win", "subject", "win", "subject win", "from: ann"];
    assert_eq!(tokens_of(fields, "Subject: win\u{1e}from\u{1f}Ann"), expected);
    let clipped = TokenizerOptions { max_bytes: Some(12), ..subject };
    assert_eq!(
        tokens_of(clipped, "Subject: win"),
        ["subject: win", "subject", "win", "subject win"]
    );
}

#[test]
fn look_alikes_are_replaced_before_the_text_is_split() {
    let see = TokenizerOptions { deobfuscate: true, ..BAG_OF_WORDS };
    assert_eq!(tokens_of(see, "Ｆｒ€€ VΙАGRА ca$h"), ["free", "viagra", "cash"]);
    let start = TokenizerOptions { max_bytes: Some(6), ..see };
    assert_eq!(tokens_of(start, "ＦＲＥＥ"), ["fr"]);
    let unicode = TokenizerOptions { boundaries: Boundaries::Unicode, ..see };
    assert_eq!(tokens_of(unicode, "ＯΔΟΣ Fr€€!"), ["oδoς", "free", "!"]);
}

fn unicode(options: TokenizerOptions, text: &str) -> Vec<String> {
    let boundaries = Boundaries::Unicode;
    tokens_of(TokenizerOptions { boundaries, strip_accents: false, ..options }, text)
}

#[test]
fn unicode_words_support_every_script() {
    let of = |text: &str| unicode(words((1, 1)), text);
    assert_eq!(
        of("Can't we-won a.b 3,14 U.S.A. x_1"),
        ["can't", "we", "-", "won", "a.b", "3,14", "u.s.a", ".", "x_1"]
    );
    assert_eq!(of("हिन्दी में"), ["हिन्दी", "में"]);
    assert_eq!(of("café e\u{301}te\u{301} ΟΔΟΣ"), ["café", "e\u{301}te\u{301}", "οδος"]);
    assert_eq!(of("日本 go 中国"), ["日", "本", "go", "中", "国", "日本", "中国"]);
    assert_eq!(of("ไป カナ"), ["ไ", "ป", "カ", "ナ", "ไป", "カナ"]);
    assert_eq!(of("한국어 메일"), ["한국어", "메일"]);
    assert_eq!(of("\u{200b} \u{301} \0 \u{7}x"), ["x"]);
}

#[test]
fn symbols_are_unicode_words() {
    let of = |text: &str| unicode(words((1, 1)), text);
    assert_eq!(
        of("WIN £100!!! @ #1 50% off!!!!!!?!"),
        ["win", "£", "100", "!!!", "@", "#", "1", "50", "%", "off", "!!!", "?", "!"]
    );
    assert_eq!(of("€€ 😀😀😀😀 👨‍👩‍👧👨‍👩‍👧 ok♥️"), ["€€", "😀😀😀", "👨‍👩‍👧👨‍👩‍👧", "ok", "♥️"]);
    let short = TokenizerOptions { max_token_length: Some(2), ..words((1, 1)) };
    assert_eq!(unicode(short, "abc ab !!! éééé"), ["ab"]);
}

#[test]
fn unicode_ngrams_keep_scripts_without_spaces_tight() {
    assert_eq!(unicode(words((2, 2)), "go 日本 x"), ["go 日", "日本", "本 x"]);
    assert_eq!(unicode(words((1, 2)), "日本語"), ["日", "本", "語", "日本", "本語"]);
    assert_eq!(unicode(words((1, 1)), "日本語"), ["日", "本", "語", "日本", "本語"]);
}

#[test]
fn ascii_is_split_as_the_unicode_rules_split_it() {
    use unicode_segmentation::UnicodeSegmentation;
    let alphabet: Vec<char> = "aB09_.,;:'\"-!$ \x01".chars().collect();
    let mut state = 5;
    for _ in 0..2000 {
        let text: String =
            (0..random(&mut state) % 12).map(|_| alphabet[random(&mut state) % 16]).collect();
        let keep = TokenizerOptions { lowercase: false, ..words((1, 1)) };
        let mut expected: Vec<String> = Vec::new();
        for part in text.split(' ') {
            let mut run = 0;
            let mut last = "";
            for segment in part.split_word_bounds() {
                let symbol = !segment.contains(|c: char| c.is_alphanumeric() || c == '_');
                run = if symbol && segment == last { run + 1 } else { 1 };
                last = segment;
                if segment == "\x01" || run > 3 {
                    continue;
                }
                if run > 1 {
                    expected.last_mut().expect("a run").push_str(segment);
                } else {
                    expected.push(segment.into());
                }
            }
        }
        assert_eq!(unicode(keep, &text), expected, "{text:?}");
    }
}

fn counts(tokens: Tokens<'_>) -> Vec<(&[u8], f64)> {
    (0..tokens.number()).map(|place| (tokens.token(place).bytes, tokens.count(place))).collect()
}

#[test]
fn tokens_are_counted_in_order_of_first_appearance() {
    let hasher = FixedState::default();
    let mut tokens = DistinctTokens::default();
    for words in [&["to", "a-word-of-16-byte", "", "to"][..], &["you", "to", "you", "you"]] {
        tokens.clear();
        words.iter().for_each(|word| tokens.add(&Token::new(&hasher, word.as_bytes())));
        tokens.count();
        let mut expected: Vec<(&[u8], f64)> = Vec::new();
        for word in words {
            match expected.iter_mut().find(|(known, _)| *known == word.as_bytes()) {
                Some((_, count)) => *count += 1.0,
                None => expected.push((word.as_bytes(), 1.0)),
            }
        }
        assert_eq!(counts(tokens.all()), expected);
    }
    let token = Token::new(&hasher, b"you");
    let found = tokens.all().token(0);
    assert_eq!((found.key, found.hash, found.is_short()), (token.key, token.hash, true));
}

#[test]
fn tokenized_texts_keep_their_tokens() {
    let hasher = FixedState::default();
    let (mut tokens, mut texts) = (DistinctTokens::default(), TokenizedTexts::default());
    let cut: [&[&str]; 4] =
        [&["to", "a-word-of-16-byte", "to"], &[], &["b-word-of-16-byte", "you"], &["to"]];
    for words in cut {
        tokens.clear();
        words.iter().for_each(|word| tokens.add(&Token::new(&hasher, word.as_bytes())));
        tokens.count();
        texts.push(&tokens);
    }
    let text = |place| counts(texts.text(place));
    assert_eq!(text(2), [(&b"b-word-of-16-byte"[..], 1.0), (b"you", 1.0)]);
    assert_eq!(text(1), []);
    assert_eq!(text(3), [(&b"to"[..], 1.0)]);
}

#[test]
fn tokens_with_equal_hashes_are_distinct_and_memory_is_freed() {
    let mut tokens = DistinctTokens::default();
    let words: Vec<String> = (0..40_000).map(|i| format!("{i}{}", "-".repeat(i % 20))).collect();
    tokens.clear();
    for round in 1..=2 {
        for (i, word) in words.iter().enumerate() {
            let token = Token::new(&FixedState::default(), word.as_bytes());
            tokens.add(&Token { hash: i as u64 / 8, ..token });
        }
        tokens.count();
        assert!(counts(tokens.all()).iter().all(|&(_, count)| count == f64::from(round)));
    }
    let found = counts(tokens.all()).into_iter().map(|(bytes, _)| bytes);
    assert!(found.eq(words.iter().map(String::as_bytes)));
    assert!(tokens.size() > 1 << 20);
    tokens.clear();
    assert_eq!((tokens.size(), tokens.all().number()), (0, 0));
}

#[test]
fn marks_and_circled_letters_are_not_word_characters() {
    assert!(['_', 'a', 'ß', 'ª', '日', '½', '\u{2160}'].into_iter().all(is_word));
    assert!(!['-', 'ि', '\u{345}', 'Ⓐ', '🅰', '😀'].into_iter().any(is_word));
    assert!(['\x1c', '\x1f', ' ', '\u{2028}', '\u{3000}'].into_iter().all(is_space));
    assert!(!is_space('\u{200b}'));
}

#[test]
fn sigma_is_lowered_in_its_context() {
    assert_eq!(
        Folding { lowercase: true, strip_accents: true }.fold("ΟΔΟΣ ΣΑΣ ΟΔΟϹ"),
        "οδος σας οδος"
    );
    assert_eq!(Folding { strip_accents: true, lowercase: false }.fold("Éϒ"), "EΥ");
}

#[test]
fn the_version_names_each_table() {
    assert!(version().starts_with("case ") && version().contains(", segmentation "));
}
