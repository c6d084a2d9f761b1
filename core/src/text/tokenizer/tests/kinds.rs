//! Each kind of token, and kinds together.

use super::*;

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
fn sparse_bigrams_tell_words_and_distance() {
    let of = |text: &str| tokens_of(sparse(5), text);
    assert_eq!(of("ab"), [""; 0]);
    assert_eq!(of("Ab c cd-e É\u{301}é"), ["ab cd-e", "ab  ee", "cd-e ee"]);
    assert_eq!(
        of("w1 w2 w3 w4 w5 w6"),
        [
            "w1 w2", "w1  w3", "w1   w4", "w1    w5", "w2 w3", "w2  w4", "w2   w5", "w2    w6",
            "w3 w4", "w3  w5", "w3   w6", "w4 w5", "w4  w6", "w5 w6"
        ]
    );
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
    // Of all lengths, about the longest short one.
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
fn the_length_is_told_in_three_steps() {
    let length = TokenizerOptions { length: true, ..NONE };
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
fn the_subject_comes_first_and_among_the_text() {
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
fn disguises_fall_before_all_else() {
    let see = TokenizerOptions { deobfuscate: true, ..TokenizerOptions::default() };
    assert_eq!(tokens_of(see, "Ｆｒ€€ VΙАGRА ca$h"), ["free", "viagra", "cash"]);
    let start = TokenizerOptions { max_bytes: Some(6), ..see };
    assert_eq!(tokens_of(start, "ＦＲＥＥ"), ["fr"]);
    let unicode = TokenizerOptions { boundaries: Boundaries::Unicode, ..see };
    assert_eq!(tokens_of(unicode, "ＯΔΟΣ Fr€€!"), ["oδoς", "free", "!"]);
}

#[test]
fn a_pair_side_by_side_is_given_once() {
    let both = |sizes| TokenizerOptions { sparse_bigrams: Some(3), ..words(sizes) };
    let pairs = ["aa", "bb", "cc", "aa bb", "aa  cc", "bb cc"];
    assert_eq!(tokens_of(both((1, 1)), "aa bb cc"), pairs);
    let pairs = ["aa", "bb", "cc", "aa bb", "bb cc", "aa  cc"];
    assert_eq!(tokens_of(both((1, 2)), "aa bb cc"), pairs);
}

fn unicode(options: TokenizerOptions, text: &str) -> Vec<String> {
    let boundaries = Boundaries::Unicode;
    tokens_of(TokenizerOptions { boundaries, strip_accents: false, ..options }, text)
}

#[test]
fn unicode_words_are_of_every_script() {
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
    let sparse = |sizes| TokenizerOptions { sparse_bigrams: Some(3), ..words(sizes) };
    assert_eq!(unicode(sparse((1, 1)), "日本語"), ["日", "本", "語", "日本", "日  語", "本語"]);
    assert_eq!(unicode(sparse((1, 2)), "日本語"), ["日", "本", "語", "日本", "本語", "日  語"]);
}

#[test]
fn ascii_is_cut_as_the_rules_cut_it() {
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
