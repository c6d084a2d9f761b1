//! Charsets: the WHATWG Encoding Standard, with the aliases that mail programs write.

use crate::mail::transfer::base64;
use encoding_rs::{Encoding, REPLACEMENT, UTF_8, WINDOWS_1252};
use mail_parser::decoders::charsets::map::charset_decoder;
use std::borrow::Cow;

/// Labels outside the WHATWG standard, after `x-` prefixes are removed.
const ALIASES: [(&str, &str); 16] = [
    ("big5-eten", "big5"),
    ("cp932", "shift_jis"),
    ("cp936", "gbk"),
    ("cp949", "euc-kr"),
    ("cp950", "big5"),
    ("euc-cn", "gb18030"),
    ("eucgb2312-cn", "gb18030"),
    ("gb-2312-80", "gb18030"),
    ("gb2312-80", "gb18030"),
    ("iso-10646", "utf-8"),
    ("mac-cyrillic", "x-mac-cyrillic"),
    ("tis620", "windows-874"),
    ("uhc", "euc-kr"),
    ("unicode-1-1-utf-7", "utf-7"),
    ("utf8mb4", "utf-8"),
    ("windows-936", "gbk"),
];

/// Decodes bytes. Valid UTF-8 is read as UTF-8 under any label; an invalid byte becomes U+FFFD.
pub fn decode<'a>(bytes: &'a [u8], label: Option<&str>) -> Cow<'a, str> {
    let mut label = label.map(clean);
    if let Some(name) = &mut label
        && ["utf-16", "unicode", "ucs-2", "iso-10646-ucs-2"].contains(&name.as_str())
    {
        // Without a byte order mark it is big-endian; Windows writes little-endian.
        let big = bytes.starts_with(b"\0") && !bytes.starts_with(b"\xff\xfe");
        *name = if big { "utf-16be" } else { "utf-16le" }.into();
    }
    if let Some(label) = &label
        && is_stateful(label)
        && shifts(bytes, label)
    {
        return decode_as(bytes, label).unwrap_or_else(|| String::from_utf8_lossy(bytes));
    }
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    if let Ok(text) = std::str::from_utf8(bytes) {
        return Cow::Borrowed(text);
    }
    if let Some(text) = label.as_deref().and_then(|label| decode_as(bytes, label)) {
        return text;
    }
    // No usable label: UTF-8 with damage, or the charset of Western Europe.
    if is_damaged_utf8(bytes) {
        String::from_utf8_lossy(bytes)
    } else {
        WINDOWS_1252.decode_without_bom_handling(bytes).0
    }
}

/// Charsets in which ASCII bytes may stand for other characters.
fn is_stateful(label: &str) -> bool {
    ["iso-2022", "utf-16", "utf-7", "utf-32", "csiso2022", "unicode"]
        .iter()
        .any(|start| label.starts_with(start))
}

/// Whether bytes contain what their stateful charset needs: programs show plain text under such a
/// label as it is.
fn shifts(bytes: &[u8], label: &str) -> bool {
    if label.contains("2022") {
        return bytes.iter().any(|byte| matches!(byte, 0x1b | 0x0e));
    }
    label.contains("utf-7") || bytes.contains(&0) || std::str::from_utf8(bytes).is_err()
}

/// Whether most of the bytes beyond ASCII are UTF-8 sequences.
fn is_damaged_utf8(bytes: &[u8]) -> bool {
    let (mut valid, mut invalid) = (0, 0);
    for chunk in bytes.utf8_chunks() {
        valid += chunk.valid().chars().filter(|character| !character.is_ascii()).count();
        invalid += chunk.invalid().len();
    }
    valid > invalid
}

fn decode_as<'a>(bytes: &'a [u8], label: &str) -> Option<Cow<'a, str>> {
    let encoding = Encoding::for_label(label.as_bytes());
    if let Some(encoding) = encoding {
        if encoding == UTF_8 && !is_damaged_utf8(bytes) {
            return Some(WINDOWS_1252.decode_without_bom_handling(bytes).0);
        }
        if encoding != REPLACEMENT {
            return Some(encoding.decode(bytes).0);
        }
    }
    // Charsets that the WHATWG standard leaves out.
    if label == "utf-7" {
        return Some(Cow::Owned(utf7(bytes)));
    }
    charset_decoder(label.as_bytes())
        .filter(|_| encoding.is_none())
        .map(|decoder| Cow::Owned(decoder(bytes)))
}

/// A label without quotes, comments, `x-` prefixes and the names of other programs.
fn clean(label: &str) -> String {
    let label = label.split(['(', ';', ',']).next().unwrap_or_default();
    let quote = |character: char| {
        character.is_whitespace() || matches!(character, '"' | '\'' | '“' | '”' | '‘' | '’' | '=')
    };
    let mut label = label.trim_matches(quote).to_ascii_lowercase();
    if let Some(end) = label.find(quote) {
        label.truncate(end);
    }
    if Encoding::for_label(label.as_bytes()).is_some() {
        return label;
    }
    let mut bare = label.replace('_', "-");
    while let Some(rest) = bare.strip_prefix("x-") {
        bare = rest.to_owned();
    }
    if let Some((_, name)) = ALIASES.iter().find(|(alias, _)| *alias == bare) {
        return (*name).to_owned();
    }
    // cp-850, cp_1251, win1251 and the like.
    let digits = bare.trim_start_matches(|character: char| !character.is_ascii_digit());
    let family = bare[..bare.len() - digits.len()].trim_end_matches('-');
    match (family, digits) {
        ("cp" | "win" | "windows" | "ms" | "dos" | "ibm" | "", "850" | "437" | "858") => {
            "cp850".into()
        }
        ("cp" | "dos" | "ibm" | "", "866") => "ibm866".into(),
        ("cp" | "win" | "windows" | "ms" | "ansi", digits) if digits.len() == 4 => {
            format!("windows-{digits}")
        }
        ("iso", digits) => format!("iso-{digits}"),
        ("utf", digits) => format!("utf-{digits}"),
        _ => bare,
    }
}

/// UTF-7: `+` begins base64 of UTF-16, which any other character ends.
fn utf7(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some(at) = rest.iter().position(|&byte| byte == b'+') {
        out.push_str(&String::from_utf8_lossy(&rest[..at]));
        rest = &rest[at + 1..];
        let digit = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/');
        let length = rest.iter().take_while(digit).count();
        let units = base64(&rest[..length]).unwrap_or_default();
        let units = units.chunks_exact(2).map(|pair| u16::from_be_bytes([pair[0], pair[1]]));
        out.extend(char::decode_utf16(units).map(|found| found.unwrap_or('\u{fffd}')));
        rest = &rest[length..];
        if let Some(after) = rest.strip_prefix(b"-") {
            if length == 0 {
                out.push('+');
            }
            rest = after;
        }
    }
    out.push_str(&String::from_utf8_lossy(rest));
    out
}
