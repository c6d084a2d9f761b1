"""Readers of the papers' collections in the data folder: word counts, and tables of attributes."""

from __future__ import annotations

import csv
import io
import itertools
import re
from array import array
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from streamnb.datasets.folder import data_file
from streamnb.datasets.lines import open_bytes, read_lines
from streamnb.errors import DataError, InputError

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator
    from pathlib import Path

    from scipy import sparse

Value: TypeAlias = int | float | str | None
_INTEGER = re.compile(r"[+-]?\d+", re.ASCII)
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)


class Counts(NamedTuple):
    """A collection of documents as word counts.

    Attributes
    ----------
    matrix
        scipy CSR array of float64: shape `(documents, words)`.
    labels
        The class of each document.
    vocabulary
        The word of each column; its number from 1 as a string if the words are unknown.
    """

    matrix: sparse.csr_array
    labels: list[str]
    vocabulary: list[str]


def read_counts(name_or_path: str | os.PathLike[str], n_words: int | None = None) -> Counts:
    r"""Read a collection of word counts.

    Parameters
    ----------
    name_or_path
        A name in the folder `counts/` of the data folder, such as `"re0"`, or the path of a file
        of lines `CLASS INDEX:COUNT ...` with ascending indices from 1. If `NAME.words.txt` exists
        in the same folder (compressed or not), it contains the words.
    n_words
        Number of columns; by default the number of words, else the greatest index.

    Raises
    ------
    DataError
        If the collection does not exist, or a line is invalid.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "tiny.svm")
    ...     _ = path.write_text("grain 1:2 3:1\ntrade 2:5\n")
    ...     counts = read_counts(path)
    >>> counts.matrix.toarray().tolist()
    [[2.0, 0.0, 1.0], [0.0, 5.0, 0.0]]
    >>> counts.labels, counts.vocabulary
    (['grain', 'trade'], ['1', '2', '3'])
    """
    path = data_file("counts", name_or_path)
    labels: list[str] = []
    columns, data, starts = array("i"), array("d"), array("q", [0])
    for line in read_lines(path):
        if line.problem is not None:
            raise DataError(f"{path}, line {line.number}: {line.problem}")
        label, *entries = line.text.split(" ")
        last = 0
        for entry in entries:
            index_text, _, count_text = entry.partition(":")
            try:
                index, count = int(index_text), float(count_text)
            except ValueError as error:
                raise DataError(
                    f"{path}, line {line.number}: {entry!r} is not INDEX:COUNT"
                ) from error
            if index <= last or not 0 <= count < float("inf"):
                raise DataError(
                    f"{path}, line {line.number}: {entry!r}: indices should ascend from 1 and "
                    "counts be finite and not negative"
                )
            columns.append(index - 1)
            data.append(count)
            last = index
        labels.append(label)
        starts.append(len(columns))
    words = _words_beside(path)
    greatest = max(columns, default=-1) + 1
    width = n_words if n_words is not None else (len(words) if words is not None else greatest)
    if width < greatest or (words is not None and width != len(words)):
        known = "" if words is None else f", the word list has {len(words):,} words"
        raise DataError(f"{path}: the greatest index is {greatest:,}{known}, columns {width:,}")
    from scipy import sparse

    matrix = sparse.csr_array(
        (np.array(data), np.array(columns, dtype=np.int32), np.array(starts, dtype=np.int32)),
        shape=(len(labels), width),
    )
    return Counts(matrix, labels, words or [str(number) for number in range(1, width + 1)])


def _words_beside(path: Path) -> list[str] | None:
    stem = path.name.partition(".svm")[0]
    for ending in (".xz", ".gz", ".bz2", ""):
        beside = path.with_name(f"{stem}.words.txt{ending}")
        if beside.is_file():
            return [line.text for line in read_lines(beside)]
    return None


def read_tabular(
    name_or_path: str | os.PathLike[str], label_field: str = "class"
) -> Iterator[tuple[dict[str, Value], str]]:
    r"""Read a table of attributes as pairs of a dict and a class.

    A column of numbers has the type int or float, any other column str. A missing value (`?`) is
    None. The file is read twice, for its types and for its rows.

    Parameters
    ----------
    name_or_path
        A name in the folder `tabular/` of the data folder, such as `"sick"`, or the path of a CSV
        file with a header, compressed or not.
    label_field
        Name of the class column.

    Raises
    ------
    InputError
        If the table has no such column.
    DataError
        If the table does not exist, or a row is invalid.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "tiny.csv")
    ...     _ = path.write_text("age,doors,class\n41,2,yes\n?,5more,no\n")
    ...     list(read_tabular(path))
    [({'age': 41, 'doors': '2'}, 'yes'), ({'age': None, 'doors': '5more'}, 'no')]
    """
    path = data_file("tabular", name_or_path)
    rows = _rows(path)
    header = next(rows, [])
    if label_field not in header:
        raise InputError(f"{path} has no column {label_field!r}")
    types: list[type[int] | type[float] | type[str]] = [int] * len(header)
    for row in rows:
        for place, value in enumerate(row):
            known = types[place]
            if known is str or value == "?" or (known is int and _INTEGER.fullmatch(value)):
                continue
            types[place] = float if _NUMBER.fullmatch(value) else str

    kinds = dict(zip(header, types, strict=True))

    def typed() -> Iterator[tuple[dict[str, Value], str]]:
        for row in itertools.islice(_rows(path), 1, None):
            cells = dict(zip(header, row, strict=True))
            label = cells.pop(label_field)
            yield {key: None if x == "?" else kinds[key](x) for key, x in cells.items()}, label

    return typed()


def _rows(path: Path) -> Iterator[list[str]]:
    with open_bytes(path) as file:
        try:
            reader = csv.reader(io.TextIOWrapper(file, "utf-8-sig", newline=""), strict=True)
            header = next(reader, [])
            yield header
            if len(set(header)) != len(header):
                raise DataError(f"{path}: two columns have the same name")
            for row in reader:
                if len(row) != len(header):
                    raise DataError(
                        f"{path}, line {reader.line_num}: {len(row)} fields, where the header "
                        f"has {len(header)}"
                    )
                yield row
        except (csv.Error, UnicodeError) as error:
            raise DataError(f"{path}, line {reader.line_num}: {error}") from error
