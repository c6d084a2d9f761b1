//! Words and their ids come and go, and are found one by one and together.

use _core::counts::vocabulary::{Vocabulary, WordId};
use _core::text::token::Token;

/// Tokens looked up together.
const TOGETHER: usize = 64;

/// Number of words that are assumed to be cached anyway.
const CACHED: usize = 1 << 15;

fn intern(vocabulary: &mut Vocabulary, word: &str) -> WordId {
    let token = Token::new(&vocabulary.hasher.clone(), word.as_bytes());
    vocabulary.find(&token).unwrap_or_else(|| vocabulary.add(&token))
}

#[test]
fn ids_follow_arrival_and_are_reused() {
    let mut vocabulary = Vocabulary::bounded(usize::MAX);
    assert_eq!(intern(&mut vocabulary, "to"), 0);
    assert_eq!(intern(&mut vocabulary, "you"), 1);
    assert_eq!(intern(&mut vocabulary, "to"), 0);
    vocabulary.remove(0);
    assert_eq!(vocabulary.find(&vocabulary.token(b"to")), None);
    assert_eq!(intern(&mut vocabulary, "win"), 0);
    assert_eq!(vocabulary.word(0), b"win");
    assert_eq!(vocabulary.len(), 2);
    assert_eq!(vocabulary.slots(), 2);
}

#[test]
fn many_are_found_as_one_by_one() {
    let mut vocabulary = Vocabulary::bounded(usize::MAX);
    let words: Vec<String> =
        (0..CACHED + 9).map(|i| format!("{i}{}", "-".repeat(i % 20))).collect();
    for known in [0, 100, CACHED + 1] {
        for word in &words[vocabulary.len()..known] {
            intern(&mut vocabulary, word);
        }
        for count in [0, 1, TOGETHER, TOGETHER + 1, words.len()] {
            let token = |place: usize| vocabulary.token(words[words.len() - 1 - place].as_bytes());
            let key = |place| (token(place).key, token(place).hash);
            let mut found = 0;
            vocabulary.find_many(count, key, token, |place, id| {
                assert_eq!((place, id), (found, vocabulary.find(&token(place))));
                found += 1;
            });
            assert_eq!(found, count);
        }
    }
    assert_eq!(vocabulary.find(&vocabulary.token(words[CACHED].as_bytes())), Some(CACHED as u32));
}

#[test]
fn the_bytes_of_forgotten_words_are_given_back() {
    let mut vocabulary = Vocabulary::bounded(usize::MAX);
    for round in 0..50 {
        let ids: Vec<WordId> = (0..500)
            .map(|i| intern(&mut vocabulary, &format!("a-long-enough-word-{round}-{i}")))
            .collect();
        for id in ids.into_iter().skip(1) {
            vocabulary.remove(id);
        }
    }
    assert_eq!(vocabulary.len(), 50);
    assert!(vocabulary.size() < 60_000, "{}", vocabulary.size());
    for round in 0..50 {
        let word = format!("a-long-enough-word-{round}-0");
        let id = vocabulary.find(&vocabulary.token(word.as_bytes()));
        assert_eq!(vocabulary.word(id.unwrap()), word.as_bytes());
    }
}

#[test]
fn sorted_ids_follow_the_bytes() {
    let mut vocabulary = Vocabulary::bounded(usize::MAX);
    for word in ["b", "a", "ab", "", "a-word-of-16-byte", "a-word-of-15-by"] {
        intern(&mut vocabulary, word);
    }
    let words: Vec<&[u8]> =
        vocabulary.sorted_ids().into_iter().map(|id| vocabulary.word(id)).collect();
    assert_eq!(words, [&b""[..], b"a", b"a-word-of-15-by", b"a-word-of-16-byte", b"ab", b"b"]);
}
