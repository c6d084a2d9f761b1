//! Replace look-alikes of Latin letters by these letters.
//!
//! Senders who want to pass a filter write words that readers recognise and programs do not:
//! full-width letters, letters of other scripts, invisible characters between letters, digits and
//! currency signs instead of letters. Three steps undo this:
//!
//! 1. Compatibility characters are decomposed (NFKC), so that `ｆｒｅｅ` and `𝐟𝐫𝐞𝐞` become `free`, and
//!    invisible characters are dropped.
//! 2. In a word with an ASCII letter, letters of other scripts that look like a Latin letter become
//!    that letter: `frее` with Cyrillic `е`. Words of another script alone do not change. Latin small
//!    capitals and letters in black boxes become Latin letters everywhere.
//! 3. Digits and symbols inside a word become the letter they stand for: up to three digits or `|`
//!    between two letters (`v1agra`); `€`, `$`, `£` or `¥` after a letter and not before a digit
//!    (`fr€€`, not `US$5`); `@` between two letters if no `.` follows within the next 64 characters
//!    of the same run of text (`c@sh`, not an address). A replaced character counts as a letter for
//!    the next one.

use std::borrow::Cow;

use unicode_normalization::UnicodeNormalization;

use crate::text::unicode::is_ignorable;

/// Longest run of digits between letters that stands for letters; the limit keeps the work linear.
const DIGITS_IN_A_ROW: usize = 3;
/// Number of characters after an `@` that are searched for the `.` of an address.
const ADDRESS: usize = 64;

/// Letters of other scripts, and the Latin letters they look like.
const LOOK_ALIKES: [(&str, &str); 6] = [
    // Cyrillic.
    ("авекмнорстухѕіјһԁԛԝѵгпьуӏ", "abekmhopctyxsijhdqwvrnbyl"),
    ("АВЕКМНОРСТУХЅІЈҺԀԚԜѴҮӀ", "ABEKMHOPCTYXSIJHDQWVYI"),
    // Greek.
    ("αβγεηικνορτυχωμ", "abyenikvoptuxwu"),
    ("ΑΒΕΖΗΙΚΜΝΟΡΤΥΧ", "ABEZHIKMNOPTYX"),
    // Armenian.
    ("օսոհցզ", "ounhgq"),
    ("ՕՍԼ", "OUL"),
];

/// Small capitals and other shapes of Latin letters.
const SMALL_CAPITALS: (&str, &str) = ("ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘʀꜱᴛᴜᴠᴡʏᴢıɑɡ", "abcdefghijklmnoprstuvwyziag");

/// Replace all look-alikes; borrow the text if nothing changes.
pub(super) fn deobfuscate(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        return match spell(text) {
            Some(spelt) => Cow::Owned(spelt),
            None => Cow::Borrowed(text),
        };
    }
    let plain: String = text.nfkc().filter(|&c| !is_ignorable(c)).collect();
    let latin = fold_look_alikes(&plain);
    Cow::Owned(spell(&latin).unwrap_or(latin))
}

/// Step 2: replace letters of other scripts.
fn fold_look_alikes(text: &str) -> String {
    let mut folded = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let inside = is_word_part(first);
        let end = rest.find(|c| is_word_part(c) != inside).unwrap_or(rest.len());
        let (run, after) = rest.split_at(end);
        let latin = run.contains(|c: char| c.is_ascii_alphabetic());
        folded.extend(run.chars().map(|c| look_alike(c, latin)));
        rest = after;
    }
    folded
}

/// Whether a character continues a word.
fn is_word_part(character: char) -> bool {
    character.is_alphanumeric() || unicode_normalization::char::is_combining_mark(character)
}

fn look_alike(character: char, among_latin: bool) -> char {
    if character.is_ascii() {
        return character;
    }
    let in_box = match u32::from(character) {
        code @ 0x1f150..=0x1f169 => char::from_u32(code - 0x1f150 + u32::from(b'A')),
        code @ 0x1f170..=0x1f189 => char::from_u32(code - 0x1f170 + u32::from(b'A')),
        _ => None,
    };
    let of = |(from, to): (&str, &str)| {
        let place = from.chars().position(|known| known == character)?;
        to.chars().nth(place)
    };
    let others = || LOOK_ALIKES.into_iter().find_map(of);
    // A quick check that excludes most characters.
    let small = matches!(
        character,
        '\u{131}' | '\u{250}'..='\u{2af}' | '\u{1d00}'..='\u{1d7f}' | '\u{a730}'..='\u{a7ff}'
    );
    in_box
        .or_else(|| small.then(|| of(SMALL_CAPITALS)).flatten())
        .or_else(|| among_latin.then(others).flatten())
        .unwrap_or(character)
}

/// Step 3: replace digits and symbols; None if nothing changes.
fn spell(text: &str) -> Option<String> {
    let stands_for_letter =
        |b: u8| matches!(b, b'0'..=b'5' | b'7' | b'|' | b'$' | b'@' | 0xc2 | 0xe2);
    let bytes = text.as_bytes();
    let candidate = |pair: &[u8]| is_letter_byte(pair[0]) && stands_for_letter(pair[1]);
    if !bytes.windows(2).any(candidate) {
        return None;
    }
    let mut spelt = String::with_capacity(text.len());
    let mut before = ' ';
    let mut rest = text.chars();
    while let Some(character) = rest.next() {
        let after = rest.as_str();
        let next = after.chars().next().unwrap_or(' ');
        let letter = if before.is_alphabetic() { letter(character, next, after) } else { None };
        before = letter.unwrap_or(character);
        spelt.push(before);
    }
    Some(spelt)
}

/// Whether a byte is an ASCII letter or part of a non-ASCII character.
fn is_letter_byte(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte >= 0x80
}

/// The letter that a character after a letter stands for.
fn letter(character: char, next: char, after: &str) -> Option<char> {
    // The next letter may be written as a digit, too.
    let among_letters = || {
        let mut disguised = 0;
        let mut follows = after.chars().skip_while(|&c| {
            disguised += 1;
            disguised < DIGITS_IN_A_ROW && digit_letter(c).is_some()
        });
        follows.next().is_some_and(char::is_alphabetic)
    };
    match character {
        '€' | '$' | '£' | '¥' if next.is_ascii_digit() => None,
        '€' => Some('e'),
        '$' => Some('s'),
        '£' => Some('l'),
        '¥' => Some('y'),
        '@' => {
            let mut run = after.chars().take_while(|c| !c.is_whitespace()).take(ADDRESS);
            (next.is_alphabetic() && !run.any(|c| c == '.')).then_some('a')
        }
        _ => digit_letter(character).filter(|_| among_letters()),
    }
}

/// The letter that a digit or bar stands for.
fn digit_letter(character: char) -> Option<char> {
    Some(match character {
        '0' => 'o',
        '1' => 'i',
        '2' => 'z',
        '3' => 'e',
        '4' => 'a',
        '5' => 's',
        '7' => 't',
        '|' => 'l',
        _ => return None,
    })
}
