//! HTML parts: their declared charset, and words that are split by tags.

use std::borrow::Cow;

/// Bytes in which a `<meta charset>` is searched.
const HEAD: usize = 2_048;
/// Elements whose tags separate words; all others are inline.
const BLOCKS: &str = "address article aside blockquote body br caption center dd details dialog dir div dl dt \
    embed fieldset figure footer form frame h1 h2 h3 h4 h5 h6 head header hr html iframe img \
    input li main menu meta nav ol p script select style table tr td th tbody thead tfoot \
    title ul option pre textarea";

/// The charset of a page: the declared one, or that of a `<meta>` if the header says nothing useful.
pub fn charset<'a>(bytes: &[u8], declared: Option<&'a str>) -> Option<Cow<'a, str>> {
    let useless = |name: &str| name.eq_ignore_ascii_case("us-ascii") || name.is_empty();
    if let Some(name) = declared.filter(|name| !useless(name)) {
        return Some(Cow::Borrowed(name));
    }
    let head = String::from_utf8_lossy(&bytes[..bytes.len().min(HEAD)]).to_ascii_lowercase();
    let (_, meta) = head.split_once("charset=")?;
    let meta = meta.trim_start_matches(['"', '\'', ' ']);
    let end = meta.find(['"', '\'', ' ', ';', '>', '/']).unwrap_or(meta.len());
    Some(Cow::Owned(meta[..end].to_owned()))
}

/// The page without inline tags and comments inside of words: `V<b>iag</b>ra` is one word.
pub fn joined(text: String) -> String {
    let mut out: Option<String> = None;
    let mut copied = 0;
    let mut from = 0;
    while let Some(found) = text[from..].find('<') {
        let start = from + found;
        let mut end = start;
        if !text[..start].chars().next_back().is_some_and(char::is_alphanumeric) {
            from = start + 1;
            continue;
        }
        // Several tags may stand in a row.
        while let Some(length) = inline_tag(&text[end..]) {
            end += length;
        }
        if end == start {
            from = start + 1;
            continue;
        }
        if text[end..].chars().next().is_some_and(char::is_alphanumeric) {
            out.get_or_insert_default().push_str(&text[copied..start]);
            copied = end;
        }
        from = end;
    }
    match out {
        Some(mut out) => {
            out.push_str(&text[copied..]);
            out
        }
        None => text,
    }
}

/// Length of the inline tag or comment at the beginning of a text; None for anything else.
fn inline_tag(text: &str) -> Option<usize> {
    let rest = text.strip_prefix('<')?;
    if let Some(comment) = rest.strip_prefix("!--") {
        return comment.find("-->").map(|end| end + 7);
    }
    let name = rest.strip_prefix('/').unwrap_or(rest);
    if !name.starts_with(|first: char| first.is_ascii_alphabetic()) {
        return None;
    }
    let length = name.bytes().take_while(u8::is_ascii_alphanumeric).count();
    let name = &name[..length];
    if BLOCKS.split(' ').any(|block| block.eq_ignore_ascii_case(name)) {
        return None;
    }
    // A tag beyond a thousand bytes is text with a stray bracket.
    let window = rest.as_bytes();
    let end = window[..window.len().min(1_000)].iter().position(|&byte| byte == b'>')?;
    Some(end + 2)
}
