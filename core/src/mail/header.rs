//! Header values to text: encoded words, parameters, and raw bytes of any charset.

use crate::mail::charset::decode;
use crate::mail::html::plain;
use crate::mail::lines::joined;
use crate::mail::transfer::{base64, quoted_printable};
use mail_parser::parsers::MessageStream;
use mail_parser::{ContentType, HeaderValue};
use memchr::{memchr, memmem};
use std::borrow::Cow;

/// Bytes of a header that are decoded.
const MAX_VALUE: usize = 16_384;
/// Characters of the text of a header.
const MAX_TEXT: usize = 1_000;

/// The text of the raw value of a header: unfolded, with its encoded words decoded. `charset` is for
/// raw bytes beyond ASCII.
pub fn header_text(name: &str, value: &[u8], charset: Option<&str>) -> String {
    let mut text = words_decoded(value, charset, b' ');
    let has_parameters =
        ["content-type", "content-disposition"].iter().any(|each| name.eq_ignore_ascii_case(each));
    if has_parameters && value.contains(&b'*') {
        // RFC 2231 hides the name of a file from a reader of the source.
        let parameters = Parameters::of(value);
        for name in ["filename", "name"] {
            if let Some(found) = parameters.get(name) {
                text.push(' ');
                text.push_str(&file_name(&found, charset));
            }
        }
    }
    plain(&text, MAX_TEXT)
}

/// The text of a file name. An underscore in an encoded word stays one: few programs escape it.
pub fn file_name(value: &str, charset: Option<&str>) -> String {
    words_decoded(value.as_bytes(), charset, b'_')
}

/// The addresses in a raw `From` header, in lower case.
pub fn addresses(value: &[u8]) -> Vec<String> {
    let mut line = value[..value.len().min(MAX_TEXT)].trim_ascii().to_vec();
    line.push(b'\n');
    let HeaderValue::Address(found) = MessageStream::new(&line).parse_address() else {
        return Vec::new();
    };
    let addresses = found.iter().filter_map(|one| one.address.as_deref());
    addresses.filter(|address| address.contains('@')).map(str::to_lowercase).collect()
}

/// `underscore` replaces an underscore in quoted-printable words.
fn words_decoded(value: &[u8], charset: Option<&str>, underscore: u8) -> String {
    let value = value[..value.len().min(MAX_VALUE)].trim_ascii();
    let unfolded: Cow<'_, [u8]> = match memchr(b'\n', value) {
        Some(_) => Cow::Owned(joined(value, b"\n", b"")),
        None => Cow::Borrowed(value),
    };
    if memmem::find(&unfolded, b"=?").is_none() {
        return decode(&unfolded, charset).into_owned();
    }
    let mut out = String::with_capacity(unfolded.len());
    let mut words = EncodedWord::default();
    let mut rest = unfolded.as_ref();
    while let Some(at) = memmem::find(rest, b"=?") {
        let Some((word, length)) = EncodedWord::parse(&rest[at..], underscore) else {
            words.flush(&mut out);
            out.push_str(&decode(&rest[..at + 2], charset));
            rest = &rest[at + 2..];
            continue;
        };
        // Blanks between two encoded words are not part of the text.
        if !rest[..at].trim_ascii().is_empty() || words.bytes.is_empty() {
            words.flush(&mut out);
            out.push_str(&decode(&rest[..at], charset));
        }
        words.push(word, &mut out);
        rest = &rest[at + length..];
    }
    words.flush(&mut out);
    out.push_str(&decode(rest, charset));
    out
}

/// `=?charset?encoding?text?=` of RFC 2047.
#[derive(Default)]
struct EncodedWord {
    charset: String,
    bytes: Vec<u8>,
}

impl EncodedWord {
    /// The word at the beginning of some bytes, and its length.
    fn parse(bytes: &[u8], underscore: u8) -> Option<(Self, usize)> {
        let mut fields = bytes[2..].splitn(3, |&byte| byte == b'?');
        let (charset, encoding, rest) = (fields.next()?, fields.next()?, fields.next()?);
        if charset.len() > 60 || encoding.len() != 1 {
            return None;
        }
        let end = memmem::find(rest, b"?=")?;
        let text = &rest[..end];
        let decoded = match encoding[0].to_ascii_lowercase() {
            b'b' => base64(text).unwrap_or_default(),
            b'q' => {
                let blank = |&byte: &u8| if byte == b'_' { underscore } else { byte };
                let text: Vec<u8> = text.iter().map(blank).collect();
                quoted_printable(&text).into_owned()
            }
            _ => return None,
        };
        // `=?charset?encoding?text?=`
        let length = 2 + charset.len() + 3 + end + 2;
        let charset = String::from_utf8_lossy(charset);
        // RFC 2231 adds a language.
        let charset = charset.split('*').next().unwrap_or_default().to_owned();
        Some((EncodedWord { charset, bytes: decoded }, length))
    }

    /// Join a word of the same charset: some programs split a character between two words. Words of
    /// another charset are first written.
    fn push(&mut self, word: EncodedWord, out: &mut String) {
        if !word.charset.eq_ignore_ascii_case(&self.charset) {
            self.flush(out);
            self.charset = word.charset;
        }
        self.bytes.extend(word.bytes);
    }

    fn flush(&mut self, out: &mut String) {
        out.push_str(&decode(&self.bytes, Some(&self.charset)));
        self.bytes.clear();
    }
}

/// The media type and the parameters of a Content-Type or Content-Disposition header.
pub struct Parameters<'a> {
    pub kind: String,
    /// Whether the header contains a media type.
    pub is_valid: bool,
    raw: &'a [u8],
    parsed: Option<ContentType<'static>>,
}

impl<'a> Parameters<'a> {
    pub fn of(raw: &'a [u8]) -> Self {
        let mut line = raw[..raw.len().min(MAX_VALUE)].trim_ascii().to_vec();
        line.push(b'\n');
        let parsed = match MessageStream::new(&line).parse_content_type().into_owned() {
            HeaderValue::ContentType(content) => Some(content),
            _ => None,
        };
        let kind = parsed.as_ref().map(|content| {
            let subtype = content.subtype().unwrap_or_default();
            let subtype = subtype.split_ascii_whitespace().next().unwrap_or_default();
            let kind = content.ctype();
            match (kind, subtype) {
                // Some programs write the main type only.
                ("text", "") => "text/plain".to_owned(),
                (_, "") => kind.to_owned(),
                _ => format!("{kind}/{subtype}"),
            }
        });
        let kind = kind.filter(|kind| !kind.is_empty()).unwrap_or_else(|| "text/plain".into());
        let is_valid = parsed.as_ref().is_some_and(|content| content.subtype().is_some());
        Parameters { kind: kind.to_ascii_lowercase(), is_valid, raw, parsed }
    }

    /// The value of a parameter, also where its semicolon is missing.
    pub fn get(&self, name: &str) -> Option<Cow<'_, str>> {
        let found = self.parsed.as_ref().and_then(|content| content.attribute(name));
        if let Some(value) = found.filter(|value| !value.is_empty()) {
            return Some(Cow::Borrowed(value));
        }
        let text = String::from_utf8_lossy(self.raw);
        let lower = text.to_ascii_lowercase();
        let at = lower.find(&format!("{name}="))?;
        let before = lower[..at].chars().next_back();
        if before.is_some_and(|character| character.is_ascii_alphanumeric() || character == '*') {
            return None;
        }
        let value = text[at + name.len() + 1..].trim_start();
        let end = value.find([';', '\n', ' ', '\t']).unwrap_or(value.len());
        let value = value[..end].trim_matches('"');
        (!value.is_empty()).then(|| Cow::Owned(value.to_owned()))
    }
}
