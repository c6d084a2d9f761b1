"""One text in many wrappings that mail programs show: none hides it from a model."""

from __future__ import annotations

import base64
import quopri

import pytest

from streamnb import OnlineNB, Tokenizer
from streamnb.mail.content import MAIL_FIELDS, mail_text
from support.mails import HEAD, SPAM, ham, html, part, parts, plain, split_words, wrapping_model

B64 = base64.encodebytes(SPAM.encode()).decode()
QP = quopri.encodestring(SPAM.encode(), quotetabs=True).decode()
FILLER = "".join(f"X-Filler-{n}: {'zqx ' * 20}\n" for n in range(150))
FONT = "<font color='#ffffff'>"

PLAIN, MIXED = "Content-Type: text/plain\n", "Content-Type: multipart/mixed; boundary=b\n"

WRAPPINGS: dict[str, str] = {
    "plain": plain(SPAM),
    "base64": plain(B64, "Content-Type: text/plain\nContent-Transfer-Encoding: base64\n"),
    "quoted-printable": plain(
        QP, "Content-Type: text/plain\nContent-Transfer-Encoding: quoted-printable\n"
    ),
    "html": html(f"<p>{SPAM}</p>"),
    # Markup before the text.
    "9 kB of style": html(f"<style>{'.a{color:red} ' * 700}</style>{SPAM}"),
    "9 kB of script": html(f"<script>{'var meeting=1; ' * 700}</script>{SPAM}"),
    "9 kB of comment": html(f"<!-- {ham(9_000)} -->{SPAM}"),
    "9 kB of short comments": html("<!--meeting-->" * 700 + SPAM),
    "9 kB of attribute": html(f"<p title='{ham(9_000)}'>{SPAM}</p>"),
    "9 kB of image": html(f"<img src='data:image/png;base64,{'zqx0' * 2_500}'>{SPAM}"),
    "9 kB of tags": html("<div><span class=x></span></div>" * 300 + SPAM),
    "9 kB of blanks": html(" \n" * 4_500 + SPAM),
    "9 kB of nbsp": html("&nbsp;" * 9_000 + SPAM),
    "9 kB of zero-width": html("&#8203;" * 9_000 + SPAM),
    "9 kB of blank lines in plain": plain("\n" * 9_000 + SPAM),
    "9 kB of xml for Outlook": html(f"<!--[if mso]><xml>{ham(9_000)}</xml><![endif]-->{SPAM}"),
    "9 kB of title": html(f"<head><title>{ham(9_000)}</title></head>{SPAM}"),
    "9 kB hidden": html(f"<div style='display:none'>{ham(9_000)}</div>{SPAM}"),
    "9 kB of font size 0": html(f"<span style='font-size:0px'>{ham(9_000)}</span>{SPAM}"),
    "9 kB white on white": html(f"{FONT}{ham(9_000)}</font>{SPAM}"),
    "9 kB invisible": html(f"<p style='visibility: hidden'>{ham(9_000)}</p>{SPAM}"),
    "9 kB out of the page": html(
        f"<p style='position:absolute;left:-9999px'>{ham(9_000)}</p>{SPAM}"
    ),
    "9 kB of no height": html(f"<p style='max-height:0;overflow:hidden'>{ham(9_000)}</p>{SPAM}"),
    "9 kB clear": html(f"<p style='opacity:0'>{ham(9_000)}</p>{SPAM}"),
    "9 kB hidden attribute": html(f"<p hidden>{ham(9_000)}</p>{SPAM}"),
    "9 kB white on white by the body": html(
        f"<body bgcolor=white text=white>{ham(9_000)}<font color=black>{SPAM}</font>"
    ),
    # Headers.
    "12 kB of headers": HEAD + FILLER + "\n" + SPAM,
    "Subject behind 12 kB of headers": f"From: x@new.example\n{FILLER}Subject: {SPAM}\n\nhello\n",
    "Subject behind 300 headers": f"{'X-A: meeting' + chr(10)}" * 300 + f"Subject: {SPAM}\n\nhi\n",
    "encoded Subject": f"Subject: =?utf-8?b?{''.join(B64.split())}?=\n\nhi\n",
    "zero-width characters in the Subject": f"Subject: {split_words(chr(0x200B))}\n\nhi\n",
    "display name": f'From: "{SPAM}" <x@new.example>\nSubject: hello\n\nhi\n',
    "a blank in the empty line": f"{HEAD}Content-Type: text/plain\n \n{SPAM}\n",
    "a tab in the empty line": f"{HEAD}Content-Type: text/plain\n\t\n{SPAM}\n",
    "no empty line": f"{HEAD}{SPAM}\n{SPAM}\n",
    # Types that are not declared as such.
    "Content-Type: html": html(SPAM, "html"),
    "Content-Type: <html>": html(f"<b>{SPAM}</b>", "<html>"),
    "Content-Type: TEXT": html(SPAM, "TEXT"),
    "no type": plain(SPAM, ""),
    "empty type": html(SPAM, ""),
    "type of blanks": html(SPAM, "  "),
    "unknown type": html(SPAM, "foo"),
    "text/foo": html(SPAM, "text/foo"),
    "text/x-html": html(f"<b>{SPAM}</b>", "text/x-html"),
    "quoted type": html(f"<b>{SPAM}</b>", '"text/html"'),
    "type with blanks": html(f"<b>{SPAM}</b>", "text / html"),
    "txt/html": html(f"<b>{SPAM}</b>", "txt/html"),
    "application/xhtml+xml": html(f"<p>{SPAM}</p>", "application/xhtml+xml"),
    "text/xml": html(f"<p>{SPAM}</p>", "text/xml"),
    "text/enriched": html(f"<bold>{SPAM}</bold>", "text/enriched"),
    "page without a type": plain(f"<html><style>{'a' * 9_000}</style>{SPAM}</html>", ""),
    "HTML as octet-stream": parts(
        part(SPAM, 'application/octet-stream; name="a.html"', "Content-Disposition: attachment\n")
    ),
    "HTML as octet-stream by its content": parts(
        part(f"<html>{SPAM}</html>", "application/octet-stream")
    ),
    "base64 HTML as octet-stream": parts(
        part(
            base64.encodebytes(f"<!DOCTYPE html><p>{SPAM}".encode()).decode(),
            "application/octet-stream",
            "Content-Transfer-Encoding: base64\n",
        )
    ),
    "HTML by its file name only": parts(
        part(SPAM, "application/x-foo", 'Content-Disposition: inline; filename="a.HTM"\n')
    ),
    "text file": parts(part(SPAM, 'application/octet-stream; name="a.txt"')),
    "two types, plain first": f"{HEAD}{PLAIN}{MIXED}\n{SPAM}\n\n--b\n\nhi\n--b--\n",
    "two types, multipart first": f"{HEAD}{MIXED}{PLAIN}\n--b\n\n{SPAM}\n--b--\n",
    "two types, image last": f"{HEAD}Content-Type: text/plain\nContent-Type: image/png\n\n{SPAM}\n",
    "two types, image first": f"{HEAD}Content-Type: image/png\nContent-Type: text/html\n\n{SPAM}\n",
    "two encodings, base64 first": plain(
        B64, "Content-Transfer-Encoding: base64\nContent-Transfer-Encoding: 7bit\n"
    ),
    "two encodings, base64 last": plain(
        B64, "Content-Transfer-Encoding: 7bit\nContent-Transfer-Encoding: base64\n"
    ),
    "two encodings, 7bit text": plain(
        SPAM, "Content-Transfer-Encoding: base64\nContent-Transfer-Encoding: 7bit\n"
    ),
    # Parts.
    "boundary within a line": parts(part(f"x --b\n{SPAM}")),
    "boundary with a prefix": parts(part(f"--bar\n{SPAM}")),
    "unclosed": parts(part(SPAM), end=""),
    "only a closing boundary": parts(end=f"--b--\n{SPAM}\n"),
    "wrong boundary": f"{HEAD}Content-Type: multipart/mixed; boundary=x\n\n--b\n\n{SPAM}\n--b--\n",
    "no boundary": f"{HEAD}Content-Type: multipart/mixed\n\n{SPAM}\n",
    "signed": parts(part(SPAM), part("xx", "application/pkcs7-signature"), kind="signed"),
    "unknown multipart": parts(part(SPAM), kind="foo"),
    "digest": parts(f"\nSubject: hi\n\n{SPAM}", kind="digest"),
    "attached mail": parts(part(f"Subject: hi\n\n{SPAM}", "message/rfc822")),
    "attached mail in base64": parts(
        part(
            base64.encodebytes(f"Subject: hi\n\n{SPAM}".encode()).decode(),
            "message/rfc822",
            "Content-Transfer-Encoding: base64\n",
        )
    ),
    "attached .eml": parts(
        part(f"Subject: hi\n\n{SPAM}", 'application/octet-stream; name="a.eml"')
    ),
    "behind 200 empty parts": parts(*[part("", "image/png")] * 200, part(SPAM)),
    "nested 30 deep": HEAD
    + "".join(f"Content-Type: multipart/mixed; boundary=b{n}x\n\n--b{n}x\n" for n in range(30))
    + f"\n{SPAM}\n",
    "ham as the plain alternative": parts(
        part(ham(8_100)), part(f"<p>{SPAM}</p>", "text/html"), kind="alternative"
    ),
    "ham as the first HTML alternative": parts(
        part(ham(8_100), "text/html"), part(f"<p>{SPAM}</p>", "text/html"), kind="alternative"
    ),
    "ham as an alternative that few programs show": parts(
        part(f"<p>{SPAM}</p>", "text/html"), part(ham(8_100), "text/x-amp"), kind="alternative"
    ),
    "ham beside related HTML": parts(
        part(ham(8_100)),
        f"Content-Type: multipart/related; boundary=c\n\n--c\n{part(SPAM, 'text/html')}\n--c--\n",
        kind="alternative",
    ),
    # Charsets.
    **{
        f"UTF-8 labelled {label}": html(f"{SPAM} é", f"text/plain; charset={label}")
        for label in (
            *("iso-2022-jp", "iso-2022-kr", "utf-16", "unicode", "utf-32", "utf-7", "hz-gb-2312"),
            *("replacement", "x-user-defined", "foo", "us-ascii", "cp037", "base64"),
        )
    },
    # Words.
    "soft hyphens as references": html(split_words("&shy;")),
    "soft hyphens": html(split_words("\xad"), "text/html; charset=utf-8"),
    "soft hyphens in plain text": html(split_words("\xad"), "text/plain; charset=utf-8"),
    "zero-width references": html(split_words("&#8203;")),
    "zero-width hexadecimal references": html(split_words("&#x200B;")),
    "named zero-width references": html(split_words("&ZeroWidthSpace;")),
    "word joiners": html(split_words("\u2060"), "text/plain; charset=utf-8"),
    "byte order marks": html(split_words("\ufeff"), "text/plain; charset=utf-8"),
    "direction marks": html(split_words("\u200e"), "text/html; charset=utf-8"),
    "<wbr>": html(split_words("<wbr>")),
    "inline tags": html(split_words("<b></b>")),
    "unknown tags": html(split_words("<zz>")),
    "comments in words": html(split_words("<!-- meeting -->")),
    "hidden letters in words": html(split_words("<span style='display:none'>zz</span>")),
    "tiny letters in words": html(split_words("<font style='font-size:1px'>zz</font>")),
    "pictures in words": html(split_words("<img src=x width=0>")),
    "each letter a reference": html("".join(f"&#{ord(letter)};" for letter in SPAM)),
    # Tricks with syntax.
    "an empty comment": html(f"<!-->{SPAM}<!-- x -->"),
    "a short comment": html(f"<!--->{SPAM}<!-- x -->"),
    "a comment with an exclamation mark": html(f"<!-- x --!>{SPAM}<!-- y -->"),
    "a bracket in an attribute": html(f"<p title='>' alt=\"<!--\">{SPAM}</p>"),
    "a comment in an attribute": html(f"<p title='<!--'>{SPAM}</p>"),
    "for all but Outlook": html(f"<!--[if !mso]><!-->{SPAM}<!--<![endif]-->"),
    "revealed conditional": html(f"<![if !mso]>{SPAM}<![endif]>"),
    "noscript": html(f"<noscript>{SPAM}</noscript>"),
    "alternative text of a picture": html(f"<img src=x alt='{SPAM}'>"),
    "a button": html(f"<input type=submit value='{SPAM}'>"),
    "a text area": html(f"<textarea>{SPAM}</textarea>"),
    "a list of options": html(f"<select><option>{SPAM}</select>"),
    "behind an unclosed hidden element": html(
        f"<div><span style='display:none'>x</div><p>{SPAM}</p>"
    ),
    "behind an unclosed hidden paragraph": html(f"<p style='display:none'>x<p>{SPAM}"),
    "behind an unclosed hidden cell": html(
        f"<table><tr><td style='display:none'>x<td>{SPAM}</table>"
    ),
    "display changed later": html(f"<p style='display:none;display:block'>{SPAM}</p>"),
    "a size changed within": html(
        f"<div style='font-size:0'><span style='font-size:14px'>{SPAM}</span></div>"
    ),
    "a colour changed within": html(f"{FONT}<font color=red>{SPAM}</font></font>"),
    "white on a dark background": html(f"<td bgcolor='#003366'>{FONT}{SPAM}</font></td>"),
    "white on an image": html(f"<td background='x.png'>{FONT}{SPAM}</font></td>"),
    "a closing style tag with a blank": html(f"<style>a</style >{SPAM}"),
    "capital tags": html(f"<STYLE>a</StYlE><SCRIPT>x</sCript>{SPAM}"),
    "an end tag alone": html(f"</div></p></style>{SPAM}"),
    "a stray bracket": html(f"1 < 2 {SPAM}"),
    "1,000 elements deep": html("<div>" * 1_000 + SPAM),
    "NUL characters": html(f"<p>\0{SPAM}</p>"),
}


@pytest.fixture(scope="module")
def model() -> OnlineNB:
    return wrapping_model()


def test_there_are_many_wrappings() -> None:
    assert len(WRAPPINGS) >= 100


@pytest.mark.parametrize("name", WRAPPINGS)
def test_no_wrapping_hides_the_text(name: str, model: OnlineNB) -> None:
    text = mail_text(WRAPPINGS[name].encode())
    shown = " ".join(text.partition("\x1e")[0].split())
    assert SPAM in shown
    assert model.predict_proba_one(text)["spam"] >= 0.9


HIDDEN = {
    "display:none": "<p style='display:none'>{}</p>ok",
    "display:none of all": "<div style='display: NONE !important'><p>{}</p><b></b></div>ok",
    "class": "<p hidden class=x>{}</p>ok",
    "size 0": "<span style='FONT-SIZE: 0'>{}</span>ok",
    "white": "<font color=white>{}</font>ok",
    "nearly white": "<font color=#fefefe>{}</font>ok",
    "on its background": "<p style='color:rgb(1,1,1);background:#000'>{}</p>ok",
    "in a reconstructed format": "<div><font style='display:none'></div>{}</font>ok",
    "behind a comment in a style": "<p style='display:/* x */none'>{}</p>ok",
    "template": "<template>{}</template>ok",
    "title": "<title>{}</title>ok",
    "Outlook": "<!--[if mso]><p>{}</p><![endif]-->ok",
}


@pytest.mark.parametrize("name", HIDDEN)
def test_hidden_text_has_tokens_of_its_own(name: str) -> None:
    text = mail_text(html(HIDDEN[name].format(SPAM)).encode())
    shown, *fields = text.split("\x1e")
    assert shown.endswith("\nok")
    assert f"hidden\x1f{SPAM}" in fields
    tokenizer = Tokenizer(boundaries="unicode", words=(1, 1), texts=MAIL_FIELDS)
    tokens = tokenizer(text)
    assert "hidden: prize" in tokens
    assert "prize" not in tokens


@pytest.mark.parametrize("body", ["<style>{}</style>", "<script>{}</script>", "<!-- {} -->"])
def test_markup_is_not_text(body: str) -> None:
    assert SPAM not in mail_text(html(body.format(SPAM) + "ok").encode())


def test_blocks_separate_words_and_inline_elements_do_not() -> None:
    text = mail_text(html("a<p>b<b>c</b>d<br>e<td>f</td>g<span>h</span>i<li>j").encode())
    assert text.partition("\x1e")[0].endswith("text/html\na\nbcd\ne f ghi\nj")


def test_an_alternative_that_says_the_same_is_left_out() -> None:
    same = parts(
        part("see you at noon"), part("<p>see you at noon</p>", "text/html"), kind="alternative"
    )
    other = parts(part(SPAM), part("<p>see you at noon</p>", "text/html"), kind="alternative")
    assert "alternative\x1f" not in mail_text(same.encode())
    assert f"alternative\x1f{SPAM}" in mail_text(other.encode())


def test_decisions_of_other_filters_are_not_read() -> None:
    names = ("X-Spam-Report", "X-Bogosity", "X-Spam-Flag", "x-spam-level", "X-Rspamd-Score")
    raw = "".join(f"{name}: Yes, casino\n" for name in names) + "Subject: hello\n\nsee you"
    assert mail_text(raw.encode()) == "Subject: hello\nsee you"
