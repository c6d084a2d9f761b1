"""Streams by name, for evaluation and the demo."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

from streamnb.datasets.catalogue import COLLECTIONS, DESCRIPTIONS
from streamnb.datasets.fetching import download
from streamnb.datasets.files import read_text
from streamnb.datasets.folder import available, data_file, data_folder
from streamnb.datasets.records import Message
from streamnb.datasets.synthetic import SyntheticSMS
from streamnb.errors import DataError, InputError, MissingDependencyError
from streamnb.parameters import optional, whole

_T = TypeVar("_T")


class Stream:
    """A named stream of messages, which can be iterated repeatedly.

    It yields pairs of a text and a label, as river's `evaluate.progressive_val_score` reads them.
    `messages()` also returns ids and times.

    Parameters
    ----------
    name
        Name of the stream; `stream_names()` lists them.
    limit
        Maximum number of messages, at least 0; None for all.
    seed
        Seed of a synthetic or a shuffled stream; other streams keep their order.
    """

    def __init__(self, name: str, limit: int | None = None, seed: int = 42) -> None:
        if name not in _STREAMS:
            raise InputError(f"no stream {name!r}; known are {', '.join(_STREAMS)}")
        self.name = name
        self.limit: Any = optional(whole(0))("limit", limit)
        self.seed = seed

    @property
    def description(self) -> str:
        """One sentence that describes the stream."""
        return DESCRIPTIONS[self.name]

    def messages(self) -> Iterator[Message]:
        """Yield the messages.

        Raises
        ------
        DataError
            If the collection is missing and cannot be downloaded, or a line is invalid.
        """
        return itertools.islice(_STREAMS[self.name](self.seed), self.limit)

    def __iter__(self) -> Iterator[tuple[str, Any]]:
        """Yield pairs of a message's text and its label, or the set of its labels."""
        for message in self.messages():
            labels = message.labels
            yield message.text, message.label if labels is None else frozenset(labels)


def stream(name: str, limit: int | None = None, seed: int = 42) -> Stream:
    """Return a stream by its name.

    Parameters
    ----------
    name
        One of `stream_names()`.
    limit
        Maximum number of messages, at least 0; None for all.
    seed
        Seed of a synthetic or a shuffled stream; other streams keep their order.

    Raises
    ------
    InputError
        If the name is unknown or the limit is negative.

    Examples
    --------
    >>> from streamnb import datasets
    >>> for text, label in datasets.stream("synthetic-sms", limit=1, seed=42):
    ...     print(label, text)
    ham sorry I missed your call, was in the pub. what's up?
    """
    return Stream(name, limit, seed)


def shuffled(messages: Iterable[_T], seed: int) -> list[_T]:
    """Return messages in random order, the same on every version of Python.

    Parameters
    ----------
    messages
        Messages; all are read first.
    seed
        Any integer.

    Examples
    --------
    >>> shuffled("abcdef", seed=1)
    ['b', 'c', 'f', 'd', 'e', 'a']
    """
    # A Fisher-Yates shuffle with random(), because Python's shuffle has changed.
    kept, rng = list(messages), random.Random(seed)
    for place in range(len(kept) - 1, 0, -1):
        other = int(rng.random() * (place + 1))
        kept[place], kept[other] = kept[other], kept[place]
    return kept


def fetch(name: str, limit: int | None = None, seed: int = 42, again: bool = False) -> Stream:
    """Download a public collection unless it exists, and return its stream.

    It is stored in one file in the cache folder (`STREAMNB_CACHE`). Downloads must have the
    published checksum. `COLLECTIONS` has addresses and licences. Downloads need
    `pip install 'streamnb[datasets]'`.

    Parameters
    ----------
    name
        `"sms"`, `"spamassassin"`, `"enron"` or `"20news"`.
    limit, seed
        As for `stream`.
    again
        Download it even if it exists.

    Raises
    ------
    InputError
        If the name is unknown, or the limit is negative.
    DataError
        If the download fails, has a wrong checksum, or cannot be written.
    MissingDependencyError
        If pooch is not installed.

    Examples
    --------
    >>> from streamnb import datasets
    >>> datasets.COLLECTIONS["sms"].licence
    'CC BY 4.0'
    """
    collection = COLLECTIONS.get(name)
    if again or collection is None or not available(f"text/{collection.file}"):
        download(name)
    return Stream(name, limit, seed)


def stream_names() -> dict[str, str]:
    """Return the names of the streams, each with a description.

    Examples
    --------
    >>> from streamnb import datasets
    >>> list(datasets.stream_names())[:5]
    ['sms', 'synthetic-sms', 'sms-de', 'sms-hi', 'spamassassin']
    """
    return dict(DESCRIPTIONS)


def demo_stream(limit: int | None = None, seed: int = 42) -> tuple[Stream, str]:
    """Return a stream that exists on this machine, and a sentence about it.

    It is the SMS collection if it is in the data folder or was downloaded, else the synthetic
    stream. This function downloads nothing.

    Parameters
    ----------
    limit, seed
        As for `stream`.

    Examples
    --------
    >>> from streamnb import datasets
    >>> messages, sentence = datasets.demo_stream(limit=10)
    >>> messages.name in ("sms", "synthetic-sms") and messages.name in sentence
    True
    """
    if available("text/sms_spam"):
        why = f"the real SMS Spam Collection, found in {data_file('text', 'sms_spam').parents[1]}"
        return Stream("sms", limit, seed), f"Stream sms: {why}."
    try:
        reason = f"{data_folder()} has no text/sms_spam.jsonl.xz"
    except DataError as error:
        reason = str(error)
    return Stream("synthetic-sms", limit, seed), (
        f"Stream synthetic-sms: made-up messages with drift, as the real collection is absent "
        f"({reason})."
    )


def _sms(seed: int) -> Iterator[Message]:
    if available("text/sms_spam"):
        return read_text("sms_spam")
    try:
        return read_text(download("sms"))
    except (DataError, MissingDependencyError) as error:
        raise DataError(
            f"the SMS collection is not in the data folder, and {error}; or set STREAMNB_DATA to a "
            f"folder that holds text/sms_spam.jsonl.xz, or use the stream synthetic-sms"
        ) from error


def _collection(name: str) -> Callable[[int], Iterable[Message]]:
    return lambda seed: read_text(name)


def _shuffled(name: str) -> Callable[[int], Iterable[Message]]:
    return lambda seed: shuffled(read_text(name), seed)


def _single_topic(seed: int) -> Iterator[Message]:
    for message in read_text("reuters21578"):
        if message.label and "|" not in message.label:
            yield message


def _modapte(seed: int) -> Iterator[Message]:
    """Yield the stories of the ModApte split, train before test, with the topics of both parts."""
    parts: dict[str, list[tuple[Message, list[str]]]] = {"TRAIN/YES": [], "TEST/YES": []}
    for message in read_text("reuters21578"):
        part = parts.get(message.id.partition("/")[2])
        if part is not None:
            part.append((message, message.label.split("|")))
    train, test = ({topic for _, given in part for topic in given} for part in parts.values())
    known = (train & test) - {""}
    for message, given in itertools.chain.from_iterable(parts.values()):
        if topics := tuple(topic for topic in given if topic in known):
            yield message._replace(label="", labels=topics)


# Each reads its messages, given a seed.
_STREAMS: dict[str, Callable[[int], Iterable[Message]]] = {
    "sms": _sms,
    "synthetic-sms": lambda seed: SyntheticSMS(5000, seed).messages(),
    "sms-de": _collection("sms_spam_de"),
    "sms-hi": _collection("sms_spam_hi"),
    "spamassassin": _collection("spamassassin"),
    "enron": _collection("enron_spam"),
    "20news": _shuffled("20news_bydate"),
    "r8": _shuffled("r8"),
    "reuters": _single_topic,
    "reuters-topics": _modapte,
    "csdmc2010": _collection("csdmc2010"),
    "exais-sms": _collection("exais_sms"),
    "smishing": _collection("smishing"),
    "banking77": _shuffled("banking77"),
}
