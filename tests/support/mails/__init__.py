"""Mails with one spam text, and a model that knows its words."""

from __future__ import annotations

import random

from streamnb import OnlineNB, Tokenizer
from streamnb.mail.content import MAIL_FIELDS, mail_text

SPAM = "claim your prize cash now winner lottery transfer bank cheap casino bonus free urgent"
HEAD = "From: x@new.example\nTo: bob@rcpt.example\nSubject: hello\nMIME-Version: 1.0\n"
HAM_WORDS = (
    "meeting", "agenda", "minutes", "project", "report", "review", "schedule", "server", "patch",
    "lunch", "team", "monday", "budget", "notes", "attached", "thanks", "regards", "draft",
    "release", "branch",
)  # fmt: skip


def ham(length: int, seed: int = 1) -> str:
    generator = random.Random(seed)
    text = ""
    while len(text) < length:
        text += generator.choice(HAM_WORDS) + " "
    return text


def split_words(mark: str) -> str:
    """The text with a mark within each word."""
    return " ".join(f"{word[:2]}{mark}{word[2:]}" for word in SPAM.split())


def html(body: str, kind: str = "text/html", more: str = "") -> str:
    return f"{HEAD}Content-Type: {kind}\n{more}\n{body}\n"


def plain(body: str, more: str = "Content-Type: text/plain\n") -> str:
    return f"{HEAD}{more}\n{body}\n"


def parts(*inner: str, kind: str = "mixed", end: str = "--b--\n") -> str:
    body = "".join(f"--b\n{each}\n" for each in inner)
    return f'{HEAD}Content-Type: multipart/{kind}; boundary="b"\n\n{body}{end}'


def part(body: str, kind: str = "text/plain", more: str = "") -> str:
    return f"Content-Type: {kind}\n{more}\n{body}"


def wrapping_model() -> OnlineNB:
    """Return a model of mails with the words of `HAM_WORDS` or of `SPAM`."""
    tokenizer = Tokenizer(words=(1, 2), boundaries="unicode", subject=True, texts=MAIL_FIELDS)
    model = OnlineNB(tokenizer=tokenizer)
    generator = random.Random(1)
    for number in range(300):
        words, label = (HAM_WORDS, "ham") if number % 2 else (SPAM.split(), "spam")
        text = " ".join(generator.choices(words, k=generator.randint(10, 60)))
        kind = generator.choice(("text/plain", "text/html"))
        raw = f"From: a{number}@x.example\nSubject: hello\nContent-Type: {kind}\n\n{text}\n"
        if number % 5 == 0:
            raw = parts(part(text), part(f"<p>{text}</p>", "text/html"), kind="alternative")
        model.learn_one(mail_text(raw.encode()), label)
    return model
