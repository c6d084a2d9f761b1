"""Readers of data sets and message files, and streams to start with.

`stream` gives a stream by its name, `fetch` downloads a public collection first, `read_messages`
gives the messages of your own file, `read_text`, `read_counts` and `read_tabular` the collections
of the data folder (`STREAMNB_DATA`, else `../shared/data`), and `SyntheticSMS` is a stream that
needs no data at all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from streamnb.lazy import attribute

if TYPE_CHECKING:
    from streamnb.datasets.cache import cache_folder
    from streamnb.datasets.files import FORMATS, read_messages
    from streamnb.datasets.folder import available, collection_names, data_file, data_folder
    from streamnb.datasets.lines import BadLine
    from streamnb.datasets.mail import Mail, read_mails
    from streamnb.datasets.message import Message
    from streamnb.datasets.public import COLLECTIONS, Archive, Collection
    from streamnb.datasets.shuffling import at_share, shuffled
    from streamnb.datasets.streams import Stream, demo_stream, fetch, stream, stream_names
    from streamnb.datasets.synthetic import DriftPoint, SyntheticSMS
    from streamnb.datasets.uniform import Counts, read_counts, read_tabular, read_text

__all__ = [
    "COLLECTIONS",
    "FORMATS",
    "Archive",
    "BadLine",
    "Collection",
    "Counts",
    "DriftPoint",
    "Mail",
    "Message",
    "Stream",
    "SyntheticSMS",
    "at_share",
    "available",
    "cache_folder",
    "collection_names",
    "data_file",
    "data_folder",
    "demo_stream",
    "fetch",
    "read_counts",
    "read_mails",
    "read_messages",
    "read_tabular",
    "read_text",
    "shuffled",
    "stream",
    "stream_names",
]

# Imported when asked for: the streams are river data sets, and `river.datasets` takes seconds to
# import where scikit-learn is installed; and whoever asks for a name waits for no reader.
_HOMES = {
    "COLLECTIONS": ".public",
    "FORMATS": ".files",
    "Archive": ".public",
    "BadLine": ".lines",
    "Collection": ".public",
    "Counts": ".uniform",
    "DriftPoint": ".synthetic",
    "Mail": ".mail",
    "Message": ".message",
    "Stream": ".streams",
    "SyntheticSMS": ".synthetic",
    "at_share": ".shuffling",
    "available": ".folder",
    "cache_folder": ".cache",
    "collection_names": ".folder",
    "data_file": ".folder",
    "data_folder": ".folder",
    "demo_stream": ".streams",
    "fetch": ".streams",
    "read_counts": ".uniform",
    "read_mails": ".mail",
    "read_messages": ".files",
    "read_tabular": ".uniform",
    "read_text": ".uniform",
    "shuffled": ".shuffling",
    "stream": ".streams",
    "stream_names": ".streams",
}


def __getattr__(name: str) -> object:
    return attribute(globals(), _HOMES, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
