"""The content of a mail: one text for a tokenizer, or a bag of words with their kinds."""

from __future__ import annotations

import re
from collections import Counter

from streamnb import _core

MAIL_FIELDS = ("alternative", "hidden")  # texts that a tokenizer can keep apart
_MAX_HEADER_TEXT = 8_192  # characters of all header lines
MAX_BODY_TEXT = 8_192  # characters of all texts: spam is recognised by its first page
MAX_TEXT = 2**18  # characters of text of which words are taken
_MAX_WORD = 40
_MAX_HEADERS = 200
_MAX_PARTS = 100
_MAX_URLS = 500

_WORD = re.compile(r"[\w$€£!%][\w$€£!%'.@-]*")
# https?://, ftp:// or www. in any case; the character set in front makes the search fast.
_URL = re.compile(r"[HFWhfw](?i:(?<=h)ttps?://|(?<=f)tp://|(?<=w)ww\.)[^\s<>\"']{1,500}")
_URL_WORD = re.compile(r"[^\W_]{2,}")
_HOST = re.compile(r"[\w-]+(?:\.[\w-]+)+")
# These differ in each mail: only their presence and the host of an id are useful.
_NUMBERED = frozenset({"date", "message-id", "in-reply-to", "references", "delivery-date"})


def mail_text(raw: bytes, room: int = MAX_BODY_TEXT) -> str:
    r"""Return a mail as one text for a tokenizer; never raises.

    Each header is a line with its encoded words decoded. Texts are decoded from their transfer
    encoding and charset, and HTML is rendered to the text that a person sees. Other parts
    contribute their headers, which name types and attachments. Then follow the addresses of links
    and the names of HTML tags, lines of alternatives that most programs do not show, and hidden
    text. The last two are fields for a `Tokenizer(texts=MAIL_FIELDS)`; other tokenizers read them
    as text.

    Parameters
    ----------
    raw
        The mail in the format of RFC 5322 and MIME, however damaged.
    room
        Maximum number of characters of all texts, 1 or more.

    Examples
    --------
    >>> html = b"Content-Type: text/html\n\nF<b>re</b>e<p hidden>x</p> <a href='http://y'>now</a>"
    >>> mail_text(b"Subject: =?utf-8?q?caf=C3=A9?=\n" + html)
    'Subject: café\nContent-Type: text/html\nFree now\x1e\x1fhttp://y\nb\np\na\x1ehidden\x1fx'
    """
    return texts_and_senders([raw], room)[0][0]


def texts_and_senders(
    mails: list[bytes], room: int = MAX_BODY_TEXT, threads: int = 1
) -> list[tuple[str, list[str]]]:
    r"""Return the text of each mail as by `mail_text`, and the addresses in all `From` headers.

    Examples
    --------
    >>> texts_and_senders([b"From: Ann <Ann@Shop.example>\n\nhello"])
    [('From: Ann <Ann@Shop.example>\nhello', ['ann@shop.example'])]
    """
    return _core.mail_texts(mails, room=room, header_room=_MAX_HEADER_TEXT, threads=threads)


def mail_words(raw: bytes, room: int = MAX_TEXT) -> Counter[str]:
    r"""Return the words of a mail with their counts; never raises.

    Words of headers, links, attachments and HTML tags have a prefix that names their kind.

    Parameters
    ----------
    raw
        The mail in the format of RFC 5322 and MIME, however damaged.
    room
        Maximum number of characters of all texts, 1 or more.

    Examples
    --------
    >>> words = mail_words(b"From: Ann <ann@shop.example>\nSubject: Free!\n\nSee you")
    >>> sorted(word for word in words if word.startswith(("from:", "subject:")))
    ['from:Ann', 'from:ann@shop.example', 'from:shop.example', 'subject:Free!']
    """
    return words_and_senders(raw, room)[0]


def words_and_senders(raw: bytes, room: int = MAX_TEXT) -> tuple[Counter[str], list[str]]:
    """Return the words of a mail as by `mail_words`, and the addresses in all `From` headers."""
    headers, senders, kinds, parts = _core.read_mail(raw, room=room)
    words = [f"mime:{kind[:_MAX_WORD]}" for kind in kinds]
    if len(kinds) == _MAX_PARTS:
        words.append("mime:many")
    if len(headers) == _MAX_HEADERS:
        words.append("header:many")
    for name, text in headers:
        name = name.lower()[:_MAX_WORD]
        words.append(f"header:{name}")
        _add_header(words, name, text)
    left = room
    for _, charset, file_name, _, content in parts:
        if file_name:
            words += [f"attached:{word.lower()}" for word in _URL_WORD.findall(file_name[:200])]
            words.append(f"extension:{file_name.rpartition('.')[2].lower()[:10]}")
        if content is not None:
            words.append(f"charset:{(charset or 'utf-8').lower()[:_MAX_WORD]}")
            text, hidden, urls, tags, comments = content
            words += [f"html:{tag}" for tag, count in tags for _ in range(count)]
            words += ["html:comment"] * comments
            for url in urls[:_MAX_URLS]:
                _add_url(words, url)
            _add_content(words, text)
            _add_content(words, hidden, "hidden:")
            left -= len(text) + 1  # a line end separates it from the next part
    if left <= 0:
        words.append("mime:long")
    return Counter(words), senders


def _add_header(words: list[str], name: str, text: str) -> None:
    if name in _NUMBERED:
        words += [f"{name}:{host.lower()}" for host in _HOST.findall(text.rpartition("@")[2])]
        return
    found: list[str] = _WORD.findall(text)
    words += [f"{name}:{word}" for word in found if len(word) <= _MAX_WORD]
    hosts = [word.rpartition("@")[2] for word in found if "@" in word]
    words += [f"{name}:{host[:_MAX_WORD]}" for host in hosts]


def _add_content(words: list[str], text: str, prefix: str = "") -> None:
    urls: list[str] = _URL.findall(text)
    for url in urls[:_MAX_URLS]:
        _add_url(words, url)
    found: list[str] = _WORD.findall(_URL.sub(" ", text) if urls else text)
    words += [prefix + (word if len(word) <= _MAX_WORD else "word:long") for word in found]


def _add_url(words: list[str], url: str) -> None:
    scheme, colon, rest = url[:1000].partition(":")
    words.append(f"url:{scheme.lower()[:10]}:" if colon else "url:relative")
    host, _, path = (rest if colon else scheme).lstrip("/").partition("/")
    labels = host.rpartition("@")[2].partition(":")[0].lower().split(".")
    # The host and its parent domains: example.com of mail7.example.com.
    starts = range(max(len(labels) - 4, 0), max(len(labels) - 1, 1))
    words += [f"host:{'.'.join(labels[start:])[:_MAX_WORD]}" for start in starts]
    words += [f"url:{word.lower()[:_MAX_WORD]}" for word in _URL_WORD.findall(path)]
