//! Mail: its text for a tokenizer, or its parsed parts.

use crate::mail::{Header, Mail};
use pyo3::prelude::*;

type Headers = Vec<(String, String)>;
type Part = (String, Option<String>, Option<String>, Headers, Option<String>);

fn pairs(headers: Vec<Header>) -> Headers {
    headers.into_iter().map(|header| (header.name, header.text)).collect()
}

/// The text of a mail: one line per header, then the texts of its parts.
///
/// `room` bounds the characters of the texts, `header_room` those of the header lines.
#[pyfunction]
#[pyo3(signature = (raw, *, room, header_room))]
pub fn mail_text(py: Python<'_>, raw: &[u8], room: usize, header_room: usize) -> String {
    py.detach(|| Mail::read(raw, room).text(header_room))
}

/// A parsed mail: its headers, the media types of all parts, and for each part without others
/// its media type, charset, file name, headers and text.
#[pyfunction]
#[pyo3(signature = (raw, *, room))]
pub fn read_mail(py: Python<'_>, raw: &[u8], room: usize) -> (Headers, Vec<String>, Vec<Part>) {
    let mail = py.detach(|| Mail::read(raw, room));
    let parts = mail
        .parts
        .into_iter()
        .map(|part| (part.kind, part.charset, part.file_name, pairs(part.headers), part.text));
    (pairs(mail.headers), mail.kinds, parts.collect())
}
