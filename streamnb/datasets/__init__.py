"""Readers of data sets and message files, and streams to start with.

`stream` gives a stream by its name, `read_messages` the messages of your own file, `read_text`,
`read_counts` and `read_tabular` the collections of the data folder (`STREAMNB_DATA`, else
`../shared/data`), and `SyntheticSMS` a stream that needs no data at all.
"""

from __future__ import annotations

from streamnb.datasets.files import FORMATS, read_messages
from streamnb.datasets.folder import available, collection_names, data_file, data_folder
from streamnb.datasets.lines import BadLine
from streamnb.datasets.message import Message
from streamnb.datasets.streams import Stream, demo_stream, stream, stream_names
from streamnb.datasets.synthetic import DriftPoint, SyntheticSMS
from streamnb.datasets.uniform import Counts, read_counts, read_tabular, read_text

__all__ = [
    "FORMATS",
    "BadLine",
    "Counts",
    "DriftPoint",
    "Message",
    "Stream",
    "SyntheticSMS",
    "available",
    "collection_names",
    "data_file",
    "data_folder",
    "demo_stream",
    "read_counts",
    "read_messages",
    "read_tabular",
    "read_text",
    "stream",
    "stream_names",
]
