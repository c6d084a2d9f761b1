"""Experiments on the text that a model gets: deobfuscation, budgets of a mail, hidden text.

Each message is predicted, then learned. Mails are read by the default model of `streamnb-spam`,
other texts by `OnlineNB()`. (1-AUC)% counts all messages; milliseconds are processor time per
message, for predicting and learning.

    python benchmarks/bench_reading.py deobfuscate
    python benchmarks/bench_reading.py budgets --only spamassassin csdmc2010
    python benchmarks/bench_reading.py hidden
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterable
from typing import Any

from rounds import one_thread

from streamnb import OnlineNB, Tokenizer, _core
from streamnb.datasets import available, read_text, shuffled
from streamnb.evaluation import prequential
from streamnb.mail.content import MAIL_FIELDS
from streamnb.mail.header_block import STATUS_HEADER, without_header

Pairs = list[tuple[str, str]]
MAILS = ("spamassassin", "csdmc2010", "enron_spam")
SHUFFLED = ("20news_bydate", "r8", "banking77")
STREAMS = (
    "sms_spam",
    "sms_spam_de",
    "sms_spam_hi",
    "exais_sms",
    "smishing",
    "r8",
    "banking77",
    "20news_bydate",
    *MAILS,
)
BUDGETS = [(h, b) for h in (1_024, 2_048, 4_096, 8_192) for b in (1_024, 2_048, 4_096, 8_192)]
BUDGETS += [(16_384, 16_384)]


def mails(name: str) -> list[tuple[bytes, str]]:
    """Return the raw mails of a collection with their labels."""
    return [
        (without_header(each.text.encode("utf-8", "replace"), STATUS_HEADER), each.label)
        for each in read_text(name)
    ]


def texts(name: str, header_room: int = 8_192, room: int = 8_192) -> Pairs:
    """Return a collection as texts, and mails within budgets of characters."""
    if name in MAILS:
        return [
            (_core.mail_texts([raw], room=room, header_room=header_room, threads=1)[0][0], label)
            for raw, label in mails(name)
        ]
    pairs = [(each.text, each.label) for each in read_text(name) if each.label]
    return shuffled(pairs, 1) if name in SHUFFLED else pairs


def mail_model(**options: Any) -> OnlineNB:
    named = {"words": (1, 2), "boundaries": "unicode", "subject": True, "texts": MAIL_FIELDS}
    return OnlineNB(tokenizer=Tokenizer(**named | options))


def measured(make: Callable[[], Any], pairs: Pairs) -> tuple[str, str, str]:
    """Return accuracy in percent, (1-AUC)% and milliseconds per message."""
    began = time.process_time()
    (result,) = prequential({"": make()}, pairs).values()
    spent = 1000 * (time.process_time() - began) / len(pairs)
    area = result.cumulative.one_minus_auc_percent
    accuracy = 100 * (result.cumulative.accuracy or 0)
    return f"{accuracy:.2f}", "-" if area is None else f"{area:.4f}", f"{spent:.2f}"


def deobfuscate(names: Iterable[str]) -> None:
    for name in names:
        pairs = texts(name)
        row = [name]
        for on in (False, True):
            if name in MAILS:
                row += measured(lambda on=on: mail_model(deobfuscate=on), pairs)
            else:
                options = vars(OnlineNB.default_tokenizer) | {"deobfuscate": on}
                row += measured(lambda o=options: OnlineNB(tokenizer=Tokenizer(**o)), pairs)
        print("| " + " | ".join(row) + " |", flush=True)


def budgets(names: Iterable[str]) -> None:
    for name in names:
        for header_room, room in BUDGETS:
            row = measured(mail_model, texts(name, header_room, room))
            print(f"| {name} | {header_room:,} | {room:,} | " + " | ".join(row) + " |", flush=True)


def hidden(names: Iterable[str]) -> None:
    for name in names:
        pairs = texts(name)
        found = [label for text, label in pairs if "\x1ehidden\x1f" in text]
        counts = f"{len(found)} ({found.count('spam')} spam)"
        row = [*measured(lambda: mail_model(texts=()), pairs), *measured(mail_model, pairs)]
        print(f"| {name} | {counts} | " + " | ".join(row) + " |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("experiment", choices=("deobfuscate", "budgets", "hidden"))
    parser.add_argument("--only", nargs="+", metavar="FILE", help="collections by their files")
    options = parser.parse_args()
    print(one_thread())
    known = STREAMS if options.experiment == "deobfuscate" else MAILS
    names = [name for name in options.only or known if available(f"text/{name}")]
    {"deobfuscate": deobfuscate, "budgets": budgets, "hidden": hidden}[options.experiment](names)


if __name__ == "__main__":
    main()
