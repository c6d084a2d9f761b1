//! The ways in which mail programs show a part.

/// How mail programs show a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Show {
    Multipart,
    Message,
    /// A mail within its signature (S/MIME).
    Signed,
    Html,
    Text,
    /// A meeting or a business card: a text with folded lines and escapes.
    Calendar,
    Attachment,
}

/// The way in which a part is shown, by its media type and its file name.
pub fn show(kind: &str, file_name: Option<&str>) -> Show {
    let ending = file_name.and_then(|name| name.rsplit_once('.')).map(|(_, ending)| ending.trim());
    let ends = |endings: &[&str]| {
        ending.is_some_and(|ending| endings.iter().any(|each| ending.eq_ignore_ascii_case(each)))
    };
    let is_main = |main: &str| kind.strip_prefix(main).is_some_and(|rest| rest.starts_with('/'));
    if is_main("multipart") {
        return Show::Multipart;
    }
    if is_main("message") {
        let inner = ["rfc822", "global", "news", "x-rfc822", "partial"];
        let is_inner = kind.split_once('/').is_some_and(|(_, sub)| inner.contains(&sub));
        return if is_inner { Show::Message } else { Show::Text };
    }
    if kind.ends_with("/pkcs7-mime") || kind.ends_with("/x-pkcs7-mime") {
        return Show::Signed;
    }
    if kind.contains("html") || kind.contains("/htm") || kind == "htm" {
        return Show::Html;
    }
    if ["/calendar", "/ics", "vcard"].iter().any(|end| kind.ends_with(end)) || ends(&["ics", "vcf"])
    {
        return Show::Calendar;
    }
    if is_main("text") {
        let is_markup = ["xml", "enriched", "richtext"].iter().any(|end| kind.ends_with(end));
        return if is_markup { Show::Html } else { Show::Text };
    }
    // The name of a file decides how programs open other types.
    if ends(&["html", "htm", "xhtml", "xht", "shtml", "shtm", "mht", "mhtml", "svg"]) {
        return Show::Html;
    }
    if ends(&["txt", "text", "asc", "log", "md"]) {
        return Show::Text;
    }
    if ends(&["eml"]) {
        return Show::Message;
    }
    if kind.ends_with("/xml") || kind == "image/svg+xml" {
        return Show::Html;
    }
    // Without a slash it is not a media type, and the default is a text.
    if kind.contains('/') { Show::Attachment } else { Show::Text }
}
