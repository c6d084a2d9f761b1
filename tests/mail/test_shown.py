"""Texts that a person sees although a filter could miss them, and hidden texts of 9 kB."""

from __future__ import annotations

import base64
import binascii

import pytest

from streamnb import OnlineNB
from streamnb.mail.content import mail_text
from support.mails import HEAD, SPAM, ham, html, part, parts, plain, split_words, wrapping_model

BASE64 = "Content-Transfer-Encoding: base64\n"
SHEET = "<style>{}</style>{}"


def encoded(data: bytes) -> str:
    return base64.encodebytes(data).decode()


def uuencoded(data: bytes, name: str = "a.txt") -> str:
    lines = [binascii.b2a_uu(data[at : at + 45]).decode() for at in range(0, len(data), 45)]
    return f"begin 644 {name}\n{''.join(lines)}`\nend\n"


def signed(content: bytes, piece: int) -> str:
    """A mail within an S/MIME signature, in octet strings of at most `piece` bytes."""

    def field(tag: int, value: bytes) -> bytes:
        size = len(value)
        length = bytes([size]) if size < 128 else bytes([0x82, size >> 8, size & 255])
        return bytes([tag]) + length + value

    pieces = b"".join(field(0x04, content[at : at + piece]) for at in range(0, len(content), piece))
    data = b"\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x07\x01" + field(0xA0, pieces)
    inner = b"\x02\x01\x01" + field(0x31, b"") + field(0x30, data) + field(0x31, b"0\x00")
    whole = b"\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x07\x02" + field(0xA0, field(0x30, inner))
    kind = 'application/pkcs7-mime; smime-type=signed-data; name="smime.p7m"'
    return html(encoded(field(0x30, whole)), kind, BASE64)


def related(start: str) -> str:
    texts = (("<1@x>", ham(9_000)), ("<2@x>", SPAM))
    inner = "".join(
        f"--b\nContent-Type: text/html\nContent-ID: {id_}\n\n{text}\n" for id_, text in texts
    )
    return f"{HEAD}Content-Type: multipart/related; boundary=b; start={start}\n\n{inner}--b--\n"


EVENT = "BEGIN:VCALENDAR\nBEGIN:VEVENT\n{}\nEND:VEVENT\nEND:VCALENDAR"
DESCRIPTION = f"DESCRIPTION:{SPAM}"
FOLDED = "\n ".join(DESCRIPTION[at : at + 17] for at in range(0, len(DESCRIPTION), 17))
UTF_16 = "Content-Type: text/plain; charset={}\n" + BASE64
XML = "<?xml version='1.0'?><html xmlns='http://www.w3.org/1999/xhtml'><p><![CDATA[{}]]></p></html>"
REVERSED = SPAM[::-1]
WHITE = f"<font color=#fff>{SPAM}</font>"

# All of these texts are shown.
SHOWN = {
    # Kinds of parts.
    "related parts with a start": related('"<2@x>"'),
    "message/partial": html(
        f"Subject: x\nContent-Type: text/html\n{BASE64}\n{encoded(SPAM.encode())}",
        "message/partial; id=x; number=1; total=1",
    ),
    "a mail within its signature": signed(
        f"Content-Type: text/plain\r\n\r\n{SPAM}\r\n".encode(), 9_999
    ),
    "a signed mail in pieces": signed(
        f"MIME-Version: 1.0\r\nContent-Type: text/html\r\n\r\n<p>{SPAM}</p>\r\n".encode(), 100
    ),
    "a calendar": html(EVENT.format(FOLDED), "text/calendar; method=REQUEST"),
    "a calendar with escapes": html(EVENT.format(DESCRIPTION.replace(" ", "\\n")), "text/calendar"),
    "a calendar as a file": parts(part(EVENT.format(FOLDED), 'application/ics; name="a.ics"')),
    "a calendar by its name": parts(
        part(EVENT.format(FOLDED), 'application/octet-stream; name="A.ICS"')
    ),
    "a calendar next to a text": parts(
        part("<p>hi", "text/html"),
        part(EVENT.format(DESCRIPTION), "text/calendar"),
        kind="alternative",
    ),
    "format=flowed with delsp": plain(
        SPAM.replace("cash", "ca \nsh").replace("casino", "cas \nino"),
        "Content-Type: text/plain; format=flowed; delsp=yes\n",
    ),
    "x-uuencode": plain(uuencoded(SPAM.encode()), "Content-Transfer-Encoding: x-uuencode\n"),
    "uuencode": html(uuencoded(SPAM.encode()), more="Content-Transfer-Encoding: uuencode\n"),
    "a uuencoded file in a text": plain(f"see\n\n{uuencoded(SPAM.encode())}"),
    "a text that only seems to be uuencoded": plain(f"begin 644 a.txt\n{SPAM}\nend\n"),
    "a page behind a comment": parts(
        part(f"<!-- x --><html><p>{SPAM}", "application/octet-stream")
    ),
    "a drawing": parts(part(f"<svg><text>{SPAM}</text></svg>", "image/svg+xml")),
    "big-endian UTF-16": plain(encoded(SPAM.encode("utf-16-be")), UTF_16.format("utf-16")),
    "big-endian UCS-2": plain(encoded(SPAM.encode("utf-16-be")), UTF_16.format("iso-10646-ucs-2")),
    "little-endian UTF-16": plain(encoded(SPAM.encode("utf-16-le")), UTF_16.format("utf-16")),
    # Elements and attributes.
    "letters from right to left": html(f"<bdo dir=rtl>{REVERSED}</bdo>"),
    "a style from right to left": html(
        f"<span style='unicode-bidi:bidi-override;direction:rtl'>{REVERSED}</span>"
    ),
    "an override of the direction": html(f"&#8238;{REVERSED}&#8236;"),
    "an override in plain text": plain(
        f"\u202e{REVERSED}\u202c", "Content-Type: text/plain; charset=utf-8\n"
    ),
    "an override in the Subject": f"Subject: \u202e{REVERSED}\u202c\n\nhi\n",
    "a field with a value": html(f"<input value='{SPAM}'>"),
    "a field with a placeholder": html(f"<input placeholder='{SPAM}'>"),
    "the label of an option": html(f"<select><option label='{SPAM}'></option></select>"),
    "the label of options": html(f"<select><optgroup label='{SPAM}'></optgroup></select>"),
    "CDATA in a drawing": html(f"<svg><text><![CDATA[{SPAM}]]></text></svg>"),
    "CDATA in XHTML": html(XML.format(SPAM), "application/xhtml+xml"),
    "behind an empty script of a drawing": html(f"<svg><script/></svg>{SPAM}"),
    "behind an empty title of a drawing": html(f"<svg><title/></svg>{SPAM}"),
    "content of a style sheet": html(SHEET.format(f"p:before{{content:'{SPAM}'}}", "<p></p>")),
    **{
        f"{piece} in words": html(split_words(piece))
        for piece in (
            "<style>zz</style>",
            "<script>zz</script>",
            "<template>zz</template>",
            "<title>zz</title>",
            "<input type=hidden value=zz>",
            "<div style=display:none>zz</div>",
            "<p hidden>zz</p>",
            "<br style=display:none>",
            "<div style='display:inline'></div>",
        )
    },
    # Attributes and styles without effect.
    **{
        f"visible: {body[:60]}": html(body.format(SPAM))
        for body in (
            "<p style='color:red' style='display:none'>{}</p>",
            "<font color=red color=white>{}</font>",
            "<p color=white>{}</p>",
            "<div bgcolor=black>{}</div>",
            "<p style='left:-9999px'>{}</p>",
            "<p style='top:-9999px'>{}</p>",
            "<span style='height:0;overflow:hidden'>{}</span>",
            "<b style='max-height:0;overflow:hidden'>{}</b>",
            "<table><tr><td style='height:0;overflow:hidden'>{}</table>",
            "<p hidden style='display:block'>{}</p>",
            "<p style='dis/**/play:none'>{}</p>",
            "<p style='display:none\\9'>{}</p>",
            "<p style='font-family:\";display:none;\"'>{}</p>",
            "<p style='font-size:0x'>{}</p>",
            "<p style='font-size:-1px'>{}</p>",
            "<div style='color:#fff'><a href=x>{}</a></div>",
            "<body text=white link=blue><a href=x>{}</a>",
            "<div style='color:#fff'><button>{}</button></div>",
            "<div style='background-image:url(x);background-color:#fff;color:#fff'>{}</div>",
            "<p style='background:#00e;color:#fff'><a href=x style='color:inherit'>{}</a>",
            "<dialog open>{}</dialog>",
            "<h1 hidden>x</h2>{}",
            "<button hidden>x<button>{}</button>",
            "<nobr hidden>x<nobr>{}",
            "<select><option hidden>x<option>{}</select>",
            "<style>body{{background:black}}</style><font color=white>{}</font>",
            "<style type=text/foo>p{{display:none}}</style><p>{}</p>",
            "<defs>{}</defs>",
        )
    },
    **{
        f"style sheet: {css}": html(SHEET.format(css, body))
        for css, body in (
            ("body{background:black}", f"<body>{WHITE}"),
            (".d{background-color:#003}", f"<div class=d>{WHITE}</div>"),
            ("#d{background:#003}", f"<div id=d>{WHITE}</div>"),
            ("table.d td{background:#003}", f"<table class=d><tr><td>{WHITE}</table>"),
            (".d > p{background:#003}", f"<div class=d><p>{WHITE}</div>"),
            ("h1, p {background:#003}", f"<p>{WHITE}"),
            ("*{background:#003}", f"<p>{WHITE}"),
            ("@media screen{p{background:#003}}", f"<p>{WHITE}"),
            ("p{display:none}", f"<p style='display:block'>{SPAM}"),
            ("@media print{p{display:none}}", f"<p>{SPAM}"),
            ("@media (max-width:480px){p{display:none}}", f"<p>{SPAM}"),
            (".q{display:none} .q{display:block}", f"<p class=q>{SPAM}"),
            ("p.q{display:block} .q{display:none}", f"<p class=q>{SPAM}"),
            ("/* .q{display:none} */", f"<p class=q>{SPAM}"),
            (".q:hover{display:none}", f"<p class=q>{SPAM}"),
            (".q:before{display:none}", f"<p class=q>{SPAM}"),
            (".r .q{display:none}", f"<p class=q>{SPAM}"),
            ("p[title]{display:none}", f"<p>{SPAM}"),
            ("u + .q{display:none}", f"<p class=q>{SPAM}"),
        )
    },
    "a style sheet for print": html(f"<style media=print>p{{display:none}}</style><p>{SPAM}"),
}

# A person does not see the text in these.
PADDINGS = (
    "<style>.h{{display:none}}</style><p class=h>{}</p>",
    "<style>.a{{color:red}} .h , .z{{display:none !important}}</style><p class='b h'>{}</p>",
    "<style>#h{{display:none}}</style><p id=h>{}</p>",
    "<style>h6{{display:none}}</style><h6>{}</h6>",
    "<style>p.h{{font-size:0}}</style><p class=h>{}</p>",
    "<style>.a .h{{visibility:hidden}}</style><div class=a><p class=h>{}</p></div>",
    "<style>.a>.h{{color:#fff}}</style><div class=a><p class=h>{}</p></div>",
    "<style>.h{{position:absolute;left:-9999px}}</style><p class=h>{}</p>",
    "<style>.h{{max-height:0;overflow:hidden}}</style><div class=h>{}</div>",
    "<style><!-- .h{{opacity:0}} --></style><p class=h>{}</p>",
    "<style>/*<![CDATA[*/ .h{{display:none}} /*]]>*/</style><p class=h>{}</p>",
    "<style>@media all{{.h{{display:none}}}}</style><p class=h>{}</p>",
    "<style>@import url(x);@font-face{{src:url(y)}} .h{{display:none}}</style><p class=h>{}</p>",
    "<style>p[class~='h']{{display:none}}</style><p class=h>{}</p>",
    "<style>*.h{{display:none}}</style><p class=h>{}</p>",
    "<p style='display:n\\6f ne'>{}</p>",
    "<span style='font-size:1%'>{}</span>",
    "<span style='font-size:.1em'>{}</span>",
    "<div style='font-size:0'><span style='font-size:2em'>{}</span></div>",
    "<span style='font-size:2px'>{}</span>",
    "<span style='font-size:.1mm'>{}</span>",
    "<span style='font-size:calc(0px)'>{}</span>",
    "<span style='font:400 0px/0 a'>{}</span>",
    "<span style='color:hsl(0,0%,100%)'>{}</span>",
    "<span style='color:honeydew'>{}</span>",
    "<span style='color:transparent'>{}</span>",
    "<span style='color:rgba(0,0,0,0)'>{}</span>",
    "<span style='color:rgb(0 0 0 / 0)'>{}</span>",
    "<span style='color:#00000000'>{}</span>",
    "<span style='-webkit-text-fill-color:transparent'>{}</span>",
    "<font color=white><span style='color:inherit'>{}</span></font>",
    "<div style='background:none;color:#fff'>{}</div>",
    "<div style='background-color:inherit;color:#fff'>{}</div>",
    "<div style='background-image:none;color:#fff'>{}</div>",
    "<div background=x><font color=white>{}</font></div>",
    "<p style='filter:opacity(0)'>{}</p>",
    "<p style='position:absolute;left:-200%'>{}</p>",
    "<p style='margin-top:-99999px'>{}</p>",
    "<p style='margin:0 0 0 -9999px'>{}</p>",
    "<p style='transform:translateX(-9999px)'>{}</p>",
    "<p style='transform:scale(0)'>{}</p>",
    "<p style='position:absolute;clip:rect(0,0,0,0)'>{}</p>",
    "<p style='clip-path:inset(50%)'>{}</p>",
    "<div style='height:1px;overflow:hidden'>{}</div>",
    "<div style='height:0;overflow-y:hidden'>{}</div>",
    "<span style='display:block;max-height:0;overflow:hidden'>{}</span>",
    "<datalist><option>{}</option></datalist>",
    "<dialog>{}</dialog>",
    "<p alt='{}'></p>",
    "<input type=checkbox value='{}'>",
    "<input type=password value='{}'>",
    "<img alt='{}' width=1 height=1>",
    "<img alt='{}' style='width:0;height:0'>",
    "<select><option>x<option>{}</select>",
    "<svg><desc>{}</desc></svg>",
    "<svg><defs><text>{}</text></defs></svg>",
    "<ruby><rp>{}</rp></ruby>",
    "<a href='http://x.example/?{}'></a>",
)


@pytest.fixture(scope="module")
def model() -> OnlineNB:
    return wrapping_model()


def check(raw: str, model: OnlineNB) -> None:
    text = mail_text(raw.encode())
    assert SPAM in " ".join(text.partition("\x1e")[0].split())
    assert model.predict_proba_one(text)["spam"] >= 0.9


@pytest.mark.parametrize("name", SHOWN)
def test_what_programs_show_is_read(name: str, model: OnlineNB) -> None:
    check(SHOWN[name], model)


@pytest.mark.parametrize("padding", PADDINGS)
def test_hidden_text_of_9_kb_hides_nothing(padding: str, model: OnlineNB) -> None:
    hidden = padding.format(ham(9_000))
    check(html(f"{hidden}{SPAM}"), model)
    check(html(f"{SPAM}{hidden}"), model)
