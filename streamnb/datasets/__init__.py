"""Readers of data sets and message files, and named streams.

`stream` returns a stream by its name, and `fetch` downloads a public collection first.
`read_messages` reads your own file, and `read_text` a collection of the data folder
(`STREAMNB_DATA`, else `../shared/data`). `SyntheticSMS` needs no data.
"""

from __future__ import annotations

from streamnb.datasets.catalogue import COLLECTIONS, Collection
from streamnb.datasets.files import FORMATS, read_messages, read_text
from streamnb.datasets.folder import available, cache_folder, data_file, data_folder
from streamnb.datasets.mail import Mail, read_mails
from streamnb.datasets.records import BadLine, Message
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
