//! Facts for tests without a host.

use super::{CharacterClass, CharacterFact, CharacterFacts, Folding, PAGE_SIZE};

/// Facts from Rust's own functions and a few hand-written foldings, for tests without a host.
pub(crate) struct StandardFacts;

impl StandardFacts {
    pub(crate) fn class(character: char) -> CharacterClass {
        if character.is_alphanumeric() || character == '_' {
            CharacterClass::Word
        } else if character.is_whitespace() || ('\x1c'..='\x1f').contains(&character) {
            CharacterClass::Space
        } else {
            CharacterClass::Other
        }
    }

    pub(crate) fn stripped(character: char) -> String {
        match character {
            'é' | 'è' => "e".into(),
            'É' => "E".into(),
            '\u{300}'..='\u{36f}' => String::new(),
            '½' => "1\u{2044}2".into(),
            '…' => "...".into(),
            '\u{a0}' | '\u{3000}' => " ".into(),
            '-' => "-".into(),
            'Ϲ' => "Σ".into(),
            '\u{fdfa}' => "صلى الله عليه وسلم".into(),
            other => other.into(),
        }
    }

    pub(crate) fn folded(folding: Folding, text: &str) -> String {
        let mut text = text.to_owned();
        if folding.strip_accents {
            text = text.chars().map(Self::stripped).collect();
        }
        if folding.lowercase { text.to_lowercase() } else { text }
    }
}

impl CharacterFacts for StandardFacts {
    type Error = std::convert::Infallible;

    fn page(&self, folding: Folding, page: usize) -> Result<Vec<CharacterFact>, Self::Error> {
        let codes = page * PAGE_SIZE..(page + 1) * PAGE_SIZE;
        Ok(codes
            .map(|code| {
                let character = char::from_u32(code as u32).unwrap_or(char::REPLACEMENT_CHARACTER);
                let stripped = if folding.strip_accents {
                    Self::stripped(character)
                } else {
                    character.into()
                };
                let folded = if folding.lowercase {
                    stripped.chars().flat_map(char::to_lowercase).collect()
                } else {
                    stripped.clone()
                };
                CharacterFact {
                    folded_classes: folded.chars().map(Self::class).collect(),
                    class: Self::class(character),
                    sigma: stripped.contains('Σ'),
                    folded,
                }
            })
            .collect())
    }
}
