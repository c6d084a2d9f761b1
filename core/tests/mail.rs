//! Mail that deviates from the standards is read as a reader sees it.

use _core::mail::{Mail, texts};
use _core::watch::Watch;

#[test]
fn texts_of_several_threads_are_in_order() {
    let raw: Vec<_> = (0..40).map(|n| format!("From: a{n}@x.example\n\ntext {n}")).collect();
    for threads in [0, 1, 3, 100] {
        let found = texts(&raw, 100, 100, threads, &Watch::default());
        assert_eq!(found.len(), raw.len());
        for (n, (text, senders)) in found.iter().enumerate() {
            assert_eq!(text, &raw[n].replace("\n\n", "\n"));
            assert_eq!(senders, &[format!("a{n}@x.example")]);
        }
    }
    assert!(texts::<&[u8]>(&[], 100, 100, 2, &Watch::default()).is_empty());
}

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
fn many_lines_of_dashes_hide_nothing() {
    let mut raw = b"Content-Type: multipart/mixed; boundary=x\n\n".to_vec();
    raw.extend_from_slice(&b"--\n".repeat(2_000));
    raw.extend_from_slice(b"--x\nContent-Transfer-Encoding: base64\n\nZnJlZSBwcml6ZQ==\n--x--\n");
    assert!(text(&raw).ends_with("free prize"), "{}", text(&raw));
}

#[test]
fn many_parts_have_one_bound() {
    let part = "--x\nContent-Type: text/plain\n\nabc\n".repeat(50);
    let raw = format!("Content-Type: multipart/mixed; boundary=x\n\n{part}--x--\n");
    let mail = Mail::read(raw.as_bytes(), 2);
    let texts = mail.parts.iter().filter_map(|part| part.page.as_ref());
    assert!(texts.clone().count() == 50 && texts.into_iter().all(|page| page.text == "ab"));
}

#[test]
fn inline_tags_do_not_split_words() {
    let raw = b"Content-Type: text/html\n\nV<b>iag</b><!-- x -->ra<br>now <i>a</i> b<p>c 1<2>3";
    assert!(text(raw).contains("Viagra\nnow a b\nc 1<2>3\u{1e}"), "{}", text(raw));
}

#[test]
fn the_beginning_of_each_part_is_read() {
    let mut raw = String::from("Content-Type: multipart/mixed; boundary=x\n\n");
    for number in 0..60 {
        let words = format!("begin{number} {}", "word ".repeat(5_000));
        raw.push_str(&format!("--x\nContent-Type: text/plain\n\n{words}\n"));
    }
    let text = text(raw.as_bytes());
    assert!((0..60).all(|number| text.contains(&format!("begin{number} "))));
    assert!(text.len() < 8_192 + 32 * 1_025 + 60 * 101 + 4_097, "{}", text.len());
}

#[test]
fn what_every_program_shows_of_the_headers_is_read() {
    let filler: String =
        (0..900).map(|number| format!("X-{number}: {}\n", "a ".repeat(40))).collect();
    let raw = format!("{filler}Subject: claim\nFrom: ann@x\n\nprize");
    let text = text(raw.as_bytes());
    assert!(text.ends_with("\nSubject: claim\nFrom: ann@x\nprize"), "{text}");
    assert!(text.len() < 8_192 + 40);
}

#[test]
fn a_body_decides_between_two_encodings() {
    let head = "Content-Transfer-Encoding: base64\nContent-Transfer-Encoding: 7bit\n\n";
    assert!(text(format!("{head}ZnJlZSBwcml6ZQ==").as_bytes()).ends_with("\nfree prize"));
    assert!(text(format!("{head}free prize").as_bytes()).ends_with("\nfree prize"));
}

#[test]
fn text_may_follow_headers_without_an_empty_line() {
    let enron = b"Subject: nom\n( see attached : x )\nfrom : ann\nsee you\nnow: then\nbye";
    assert_eq!(text(enron).as_bytes(), enron);
    assert_eq!(text(b"To: a@x\nhello\n\nbye"), "To: a@x\nhello\n\nbye");
    assert_eq!(text(b"hello there\nnow: then\n\nbye"), "hello there\nnow: then\n\nbye");
    let damaged = b"Subject: a\nb\nTo: c\nContent-Type: text/plain\n\ntext";
    assert!(text(damaged).ends_with("To: c\nContent-Type: text/plain\ntext"));
}

#[test]
fn senders_are_the_addresses_of_all_from_headers() {
    let senders = |raw: &[u8]| Mail::read(raw, 10).senders;
    let raw = b"From: \"boss@good.example\" <Ann@Shop.example>,\n bob@y.example\n\nFrom: a@b";
    assert_eq!(senders(raw), ["ann@shop.example", "bob@y.example"]);
    assert_eq!(senders(b"From: a@x\r\nfrom : B@y\r\n\r\n"), ["a@x", "b@y"]);
    assert_eq!(senders(b"From: =?utf-8?q?a=40good?= <a@x>"), ["a@x"]);
    assert_eq!(senders(b"From: nobody\n\n"), [""; 0]);
    assert_eq!(senders(b"To: a@x\n\nFrom: a@x"), [""; 0]);
    let many = b"From: a@x.example\n".repeat(1_000);
    assert_eq!(senders(&many).len(), 100);
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
        b"9\nSubject: offer\n\nprize",
        b"no header without a colon\nSubject: offer\n\nprize",
    ] {
        assert_eq!(text(raw), "Subject: offer\nprize", "{}", raw.escape_ascii());
    }
    assert_eq!(text(b"free prize"), "free prize");
    assert_eq!(text(b""), "");
}
