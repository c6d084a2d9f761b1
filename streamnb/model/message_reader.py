"""Read messages before the core does: rows of columns, fields, or texts of a user's tokenizer."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from streamnb import _core
from streamnb.columns import reading as columns
from streamnb.text import frames, inputs
from streamnb.text.tokenizer import Tokenizer


class MessageReader:
    """The reader of a model's messages.

    Parameters
    ----------
    columns
        The columns of a model of rows; None for texts.
    tokenizer
        The tokenizer of the core.
    tokenize
        A user's function from a str to its tokens, instead of the tokenizer.

    Attributes
    ----------
    read
        Reads a message for the core; None if the core reads it itself.
    """

    def __init__(
        self,
        columns: columns.Columns | None,
        tokenizer: Tokenizer | Any,
        native_tokenizer: _core.NativeTokenizer,
        tokenize: Callable[[str], Iterable[Any]] | None,
    ) -> None:
        self.columns = columns
        self._native_tokenizer = native_tokenizer
        has_fields = isinstance(tokenizer, Tokenizer) and tokenizer.has_fields
        self._has_fields = has_fields
        self.read: Callable[[Any], Any] | None = None
        if columns is not None:
            self.read = columns.read
        elif tokenize is not None:
            self.read = functools.partial(inputs.count_tokens, tokenize=tokenize)
        elif has_fields:
            self.read = tokenizer.join

    def count(self, x: Any) -> Mapping[Any, float]:
        """Return the tokens of a message with their counts."""
        read = x if self.read is None else self.read(x)
        if isinstance(read, str):
            return Counter(self._native_tokenizer.tokens(read))
        return read if self.columns is not None else inputs.as_dict(read)

    def batch(self, X: Any, vocabulary: Sequence[Any] | None) -> tuple[_core.Batch, Any]:
        """Return the messages of a batch, and the index of a frame."""
        if self.columns is None and not self.has_fields(X):
            return inputs.read_batch(X, vocabulary, self.read)
        messages, index = columns.messages_of(X, vocabulary)
        if self.columns is None:
            return inputs.read_batch(messages, None, self.read)[0], index
        return self.columns.batch([self.columns.read(x) for x in messages]), index

    def has_fields(self, X: Any) -> bool:
        """Return whether a frame has a column of texts and columns of fields."""
        named: Any = frames.frame_names(X) or getattr(X, "columns", ())
        return self._has_fields and "text" in named
