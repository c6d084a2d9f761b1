"""Read messages before the core does: rows of columns, fields, or texts of a user's tokenizer."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from streamnb import _core
from streamnb.columns import reading as columns
from streamnb.text import inputs
from streamnb.text.records import read_each, record_text
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
    hashed
        The tokenizer if it hashes tokens, else None.
    """

    def __init__(
        self,
        columns: columns.Columns | None,
        tokenizer: Tokenizer | Any,
        native_tokenizer: _core.NativeTokenizer,
        tokenize: Callable[[str], Iterable[Any]] | None,
    ) -> None:
        self.columns = columns
        self.hashed: Tokenizer | None = (
            tokenizer if isinstance(tokenizer, Tokenizer) and tokenizer.hashed else None
        )
        self._native_tokenizer = native_tokenizer
        self.read: Callable[[Any], Any] | None = None
        if columns is not None:
            self.read = columns.read
        elif tokenize is not None:
            self.read = functools.partial(inputs.count_tokens, tokenize=tokenize)
        elif self.hashed is not None:
            self.read = self._read_hashed
        elif isinstance(tokenizer, Tokenizer) and tokenizer.has_fields:
            self.read = tokenizer.join

    def count(self, x: Any) -> Mapping[Any, float]:
        """Return the tokens of a message with their counts."""
        read = x if self.read is None else self.read(x)
        text = read if isinstance(read, str) else record_text(read)
        if text is not None:
            return Counter(self._native_tokenizer.tokens(text))
        return read if self.columns is not None else inputs.as_dict(read)

    def tokens(self, x: Any) -> frozenset[str]:
        """Return the distinct tokens of a message."""
        return frozenset(self.names(x).values() or map(inputs.token_name, self.count(x)))

    def _read_hashed(self, x: Any) -> Any:
        """Return a text for the tokenizer, or the hashes of given tokens with their counts."""
        assert self.hashed is not None
        read = self.hashed.join(x)
        if not isinstance(read, Mapping):
            return read
        names = ((self._native_tokenizer.name_of(inputs.token_name(t)), n) for t, n in read.items())
        return dict(names)

    def names(self, x: Any) -> dict[str, str]:
        """Return the tokens of a message by their hashes; empty if tokens are not hashed."""
        if self.hashed is None:
            return {}
        read = self.hashed.join(x)
        if isinstance(read, str):
            return self.hashed.plain(read)
        tokens = map(inputs.token_name, inputs.as_dict(read))
        return {self._native_tokenizer.name_of(token): token for token in tokens}

    def batch(self, X: Any, vocabulary: Sequence[Any] | None) -> tuple[_core.Batch, Any]:
        """Return the messages of a batch, and the index of a frame."""
        if self.columns is None:
            return inputs.read_batch(X, vocabulary, self.read)
        messages, index = columns.messages_of(X, vocabulary)
        return self.columns.batch(read_each(messages, self.columns.read)), index
