//! Mail that deviates from the standards.

use super::Mail;

fn text(raw: &[u8]) -> String {
    Mail::read(raw, 8_192).text(8_192)
}

#[test]
fn an_invalid_byte_does_not_change_other_text() {
    let mut raw = b"Content-Type: text/plain; charset=utf-8\n\n".to_vec();
    raw.extend_from_slice("Срочный ".as_bytes());
    raw.push(0xff);
    raw.extend_from_slice(" перевод".as_bytes());
    assert!(text(&raw).ends_with("Срочный \u{fffd} перевод"));
}

#[test]
fn inline_tags_do_not_split_words() {
    let raw = b"Content-Type: text/html\n\nV<b>iag</b><!-- x -->ra<br>now <i>a</i> b<p>c 1<2>3";
    assert!(text(raw).ends_with("Viagra<br>now <i>a</i> b<p>c 1<2>3"), "{}", text(raw));
}

#[test]
fn any_line_end_and_wrapper_is_read() {
    for raw in [
        &b"Subject: offer\r\n\r\nprize"[..],
        b"Subject: offer\r\r\n\r\r\nprize",
        b"Subject: offer\r\rprize",
        b"\xef\xbb\xbf\n\nSubject: offer\n\nprize",
        b"From ann@x Mon Jan 1 00:00:00 2026\nSubject: offer\n\nprize",
        b"21\nSubject: offer\n\nprize<?xml version=\"1.0\"?>",
        b"no header without a colon\nSubject: offer\n\nprize",
    ] {
        assert_eq!(text(raw), "Subject: offer\nprize", "{}", raw.escape_ascii());
    }
    assert_eq!(text(b"free prize"), "free prize");
    assert_eq!(text(b""), "");
}
