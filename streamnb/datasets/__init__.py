"""Readers of data sets and message files, and named streams.

`stream` returns a stream by its name, and `fetch` downloads a public collection first.
`read_messages` reads your own file, and `read_text` a collection of the data folder
(`STREAMNB_DATA`, else `../shared/data`). `SyntheticSMS` needs no data.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from streamnb.datasets.catalogue import COLLECTIONS, Collection
from streamnb.datasets.files import FORMATS, read_messages, read_text
from streamnb.datasets.folder import available, cache_folder, data_file, data_folder
from streamnb.datasets.mail import Mail, read_mails
from streamnb.datasets.records import BadLine, Message

if TYPE_CHECKING:
    from streamnb.datasets.streams import Stream, demo_stream, fetch, shuffled, stream, stream_names
    from streamnb.datasets.synthetic import SyntheticSMS

__all__ = [
    "COLLECTIONS",
    "FORMATS",
    "BadLine",
    "Collection",
    "Mail",
    "Message",
    "Stream",
    "SyntheticSMS",
    "available",
    "cache_folder",
    "data_file",
    "data_folder",
    "demo_stream",
    "fetch",
    "read_mails",
    "read_messages",
    "read_text",
    "shuffled",
    "stream",
    "stream_names",
]

# Imported on first use: the streams are river data sets, and `river.datasets` takes seconds to
# import if scikit-learn is installed.
_LAZY = {
    **dict.fromkeys(
        ("Stream", "demo_stream", "fetch", "shuffled", "stream", "stream_names"), "streams"
    ),
    "SyntheticSMS": "synthetic",
}


def __getattr__(name: str) -> object:
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(importlib.import_module(f".{_LAZY[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
