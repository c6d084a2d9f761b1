//! Hashes of parts of a text: sketches find near-duplicates, and samples of words detect a change.

use crate::text::unicode::is_space;

/// CRC-32 of each single byte: IEEE 802.3, as zlib computes it.
const TABLE: [u32; 256] = table();

const fn table() -> [u32; 256] {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let (mut crc, mut bit) = (byte as u32, 0);
        while bit < 8 {
            crc = if crc & 1 == 1 { crc >> 1 ^ 0xEDB8_8320 } else { crc >> 1 };
            bit += 1;
        }
        table[byte] = crc;
        byte += 1;
    }
    table
}

/// Return the CRC-32 of bytes.
pub fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0, |crc, byte| crc >> 8 ^ TABLE[usize::from(crc as u8 ^ byte)])
}

/// Return the first characters of a text.
fn first(text: &str, most: usize) -> &str {
    text.char_indices().nth(most).map_or(text, |(end, _)| &text[..end])
}

/// The smallest distinct hashes of a text.
struct Smallest {
    most: usize,
    /// Larger hashes are not among the smallest.
    bound: u32,
    found: Vec<u32>,
}

impl Smallest {
    fn new(most: usize) -> Self {
        Self { most, bound: u32::MAX, found: Vec::with_capacity(4 * most) }
    }

    fn add(&mut self, hash: u32) {
        if hash <= self.bound {
            if self.found.len() == 4 * self.most {
                self.shrink();
            }
            self.found.push(hash);
        }
    }

    fn shrink(&mut self) {
        self.found.sort_unstable();
        self.found.dedup();
        self.found.truncate(self.most);
        if self.found.len() == self.most {
            self.bound = self.found.last().copied().unwrap_or(u32::MAX);
        }
    }
}

/// Return the smallest distinct hashes of the substrings of a text, in ascending order.
///
/// `length` is the number of characters of a substring; a shorter text is one part. `read` is the
/// number of characters that are read, and `most` the number of hashes.
pub fn sketch(text: &str, length: usize, read: usize, most: usize) -> Vec<u32> {
    let text = first(text, read);
    let mut smallest = Smallest::new(most);
    let starts = text.char_indices().map(|(at, _)| at);
    let ends = starts.clone().skip(length).chain([text.len()]);
    for (start, end) in starts.zip(ends) {
        smallest.add(crc32(&text.as_bytes()[start..end]));
    }
    if text.is_empty() {
        smallest.add(crc32(&[]));
    }
    smallest.shrink();
    smallest.found
}

/// Return, for each row of `orders`, the smallest `hash ^ order` for each order of the row.
pub fn smallest_in_orders<const N: usize>(hashes: &[u32], orders: &[[u32; N]]) -> Vec<[u32; N]> {
    let least = |order| hashes.iter().map(|hash| hash ^ order).min().unwrap_or(order);
    orders.iter().map(|row| row.map(least)).collect()
}

/// A part of a message: a text with words, or a name that counts as one word.
pub enum Part<'a> {
    Text(&'a str),
    Name(&'a str),
}

/// Return the hashes of a sample of `most` words in regular distances.
///
/// `read` is the number of characters that are read of each text.
pub fn word_sample<'a>(
    parts: impl IntoIterator<Item = Part<'a>>,
    read: usize,
    most: usize,
) -> Vec<u32> {
    let mut words = Vec::new();
    for part in parts {
        match part {
            Part::Name(name) => words.push(name),
            Part::Text(text) => {
                words.extend(first(text, read).split(is_space).filter(|word| !word.is_empty()));
            }
        }
    }
    let step = (words.len() / most).max(1);
    words.iter().step_by(step).take(most).map(|word| crc32(word.as_bytes())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crc32_has_the_published_check_value() {
        assert_eq!(crc32(b"123456789"), 0xCBF4_3926);
        assert_eq!(crc32(b""), 0);
    }

    #[test]
    fn a_sketch_has_the_smallest_distinct_hashes() {
        let text = "win cash, wïn cash 💰 now ".repeat(9);
        let chars: Vec<char> = text.chars().collect();
        for read in [0, 1, 3, 4, 5, 100, 1000] {
            let chars = &chars[..read.min(chars.len())];
            let mut all: Vec<u32> = if chars.len() < 4 {
                vec![crc32(chars.iter().collect::<String>().as_bytes())]
            } else {
                chars.windows(4).map(|w| crc32(w.iter().collect::<String>().as_bytes())).collect()
            };
            all.sort_unstable();
            all.dedup();
            all.truncate(5);
            assert_eq!(sketch(&text, 4, read, 5), all, "{read}");
        }
    }

    #[test]
    fn a_sample_takes_words_in_regular_distances() {
        let hashes = |words: &[&str]| words.iter().map(|w| crc32(w.as_bytes())).collect::<Vec<_>>();
        let sample = |text| word_sample([Part::Text(text), Part::Name("a b")], 100, 3);
        assert_eq!(sample(" win\x1ccash\u{a0}"), hashes(&["win", "cash", "a b"]));
        assert_eq!(sample("a b c d e f g h i"), hashes(&["a", "d", "g"]));
        assert_eq!(sample(""), hashes(&["a b"]));
        let text = word_sample([Part::Text("win cash")], 5, 3);
        assert_eq!(text, hashes(&["win", "c"]));
    }

    #[test]
    fn each_order_has_its_smallest_hash() {
        assert_eq!(smallest_in_orders(&[1, 2, 7], &[[0, 7], [2, 3]]), [[1, 0], [0, 1]]);
        assert_eq!(smallest_in_orders(&[], &[[5]]), [[5]]);
    }
}
