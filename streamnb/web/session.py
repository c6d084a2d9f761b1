"""State of the page: models side by side on one stream, and the last messages."""

from __future__ import annotations

import dataclasses
import secrets
import threading
from collections.abc import Hashable, Iterable, Iterator, Mapping
from typing import Any

from streamnb.datasets.lines import Message
from streamnb.errors import InputError
from streamnb.evaluation.metrics import largest_label
from streamnb.text.labels import sort_key
from streamnb.web.inspection import inspect, nearest, strongest, word_set
from streamnb.web.measures import Measures

_TOP_OVER = 200  # messages whose tokens are shown for each class
_TOP_WORDS = 15
_MOST_SHOWN = 300  # characters of a text in the list
_MOST_LABEL = 100  # characters of a new label
_MOST_LABELS = 200  # labels that the page offers


def clean(text: str) -> str:
    r"""Return a text with its lone surrogates replaced, which models refuse.

    Examples
    --------
    >>> clean("win \ud800 cash")
    'win ? cash'
    """
    return text.encode("utf-8", "replace").decode()


@dataclasses.dataclass
class Answer:
    """Decision of a model before it learned the label.

    `tokens` are the tokens that contributed most to `label` against `against`.
    """

    label: Hashable
    probabilities: dict[Hashable, float]
    against: str | None
    tokens: list[tuple[str, float]]

    def shown(self) -> dict[str, Any]:
        """Return the decision as the page shows it beside the present one."""
        return {
            "label": None if self.label is None else str(self.label),
            "against": self.against,
            "probabilities": {str(label): share for label, share in self.probabilities.items()},
            "tokens": self.tokens,
        }


@dataclasses.dataclass
class Seen:
    """A message of the stream.

    Attributes
    ----------
    number
        Its position in the stream, from 1.
    message
        Its text, and the label that the stream has for it, if any.
    label
        The label that the models learned; None if they have not learned the message.
    answers
        Name of a model → its decision.
    words
        Its words, to find similar messages.
    given
        The label in the stream; None without one.
    revision
        Number of the change that arrived or corrected it, from 1.
    """

    number: int
    message: Message
    label: Hashable | None
    answers: dict[str, Answer]
    words: frozenset[str]
    given: Hashable | None = None
    revision: int = 0

    def shown(self) -> dict[str, Any]:
        """Return the message as the page lists it."""
        return {
            "number": self.number,
            "revision": self.revision,
            "text": self.message.text[:_MOST_SHOWN],
            "label": None if self.label is None else str(self.label),
            "corrected": self.label != self.given,
            "answers": {
                name: {
                    "label": None if answer.label is None else str(answer.label),
                    "probability": answer.probabilities.get(answer.label),
                }
                for name, answer in self.answers.items()
            },
        }


class Session:
    """Models that classify and learn a stream of messages, with corrections.

    All methods are thread-safe.

    Parameters
    ----------
    models
        Name on the page → a text model of streamnb; at least one.
    messages
        The stream. Messages without a label are classified and can be labelled later.
    keep
        Number of latest messages to keep for inspection and correction; at least 1.

    Raises
    ------
    InputError
        If no model is given, a model does not read text, or a parameter is out of range.

    Examples
    --------
    >>> from streamnb import OnlineNB
    >>> from streamnb.datasets import Message
    >>> stream = [Message("1", "spam", "win cash"), Message("2", "ham", "see you")]
    >>> session = Session({"OnlineNB": OnlineNB()}, stream)
    >>> session.step()
    True
    >>> session.messages()[0]["label"]
    'spam'
    """

    def __init__(
        self, models: Mapping[str, Any], messages: Iterable[Message], keep: int = 1000
    ) -> None:
        if not models:
            raise InputError("no model to show: give at least one")
        for name, model in models.items():
            if getattr(model, "reads_columns", True) or not hasattr(model, "explain_one"):
                raise InputError(f"{name}: the page shows only text models of streamnb")
        if keep < 1:
            raise InputError(f"keep is {keep}; it must be at least 1")
        self._models = dict(models)
        self._stream: Iterator[Message] = iter(messages)
        self._keep = keep
        self._seen: dict[int, Seen] = {}
        self._n_messages = 0
        self._ended = False
        self._run = secrets.token_hex(8)
        self._revision = 0
        self._measures = {name: Measures(keep=keep) for name in models}
        # Names of labels on the page, in the order of their first appearance: keys stay the same.
        self._labels: dict[str, Hashable] = {}
        for label in sorted(
            {one for each in models.values() for one in each.classes_}, key=sort_key
        ):
            self._labels.setdefault(str(label), label)
        self._lock = threading.RLock()
        self._reading = threading.Lock()

    @property
    def ended(self) -> bool:
        """Whether the stream has no more messages."""
        return self._ended

    def step(self) -> bool:
        """Classify and learn the next message; return False at the end of the stream."""
        # A stream may wait for its next message; other methods do not wait for it.
        with self._reading:
            message = next(self._stream, None)
            if message is None:
                self._ended = True
                return False
            self._take(message)
            return True

    def _take(self, message: Message) -> None:
        message = message._replace(text=clean(message.text), label=clean(message.label or ""))
        with self._lock:
            self._n_messages += 1
            answers = {name: _answer(model, message.text) for name, model in self._models.items()}
            label = self._label(message.label)
            number = self._n_messages
            seen = Seen(number, message, None, answers, word_set(message.text), label)
            self._seen[number] = seen
            self._seen.pop(number - self._keep, None)
            self._relabel(seen, label)

    def _label(self, name: str) -> Hashable | None:
        """Return the label with this name, which a model may know as a number; None if empty."""
        return self._labels.setdefault(name, name) if name else None

    def _relabel(self, seen: Seen, label: Hashable | None) -> None:
        """Learn another label of a message, and count its decisions with it."""
        for name, model in self._models.items():
            if seen.label != label and seen.label is not None:
                model.unlearn_one(seen.message.text, seen.label)
            if seen.label != label and label is not None:
                model.learn_one(seen.message.text, label)
            answer = seen.answers[name]
            if answer.label is not None:
                self._measures[name].count(seen.number, label, answer.label, answer.probabilities)
        self._revision += 1
        seen.label, seen.revision = label, self._revision

    def correct(self, number: int, label: str) -> dict[str, Any]:
        """Change the label of a message, and classify it again.

        Parameters
        ----------
        number
            Number of a kept message.
        label
            The new label; empty unlearns the message.

        Returns
        -------
        The message as listed, and under `now` the new decisions of the models.

        Raises
        ------
        InputError
            If the session has dropped the message, or the label is too long.
        """
        name = clean(label).strip()
        if len(name) > _MOST_LABEL:
            raise InputError(f"a label has {len(name)} characters; it may have {_MOST_LABEL}")
        with self._lock:
            seen = self._kept(number)
            wanted = self._label(name)
            if wanted != seen.label:
                self._relabel(seen, wanted)
            now = {
                name: _answer(model, seen.message.text).shown()
                for name, model in self._models.items()
            }
            return {**seen.shown(), "now": now}

    def _kept(self, number: int) -> Seen:
        if number not in self._seen:
            raise InputError(
                f"message {number} is not kept; only the last {self._keep} messages are"
            )
        return self._seen[number]

    def open(self, number: int) -> dict[str, Any]:
        """Return a message with its explanation by each model, and similar messages.

        Raises
        ------
        InputError
            If the session has dropped the message.
        """
        with self._lock:
            seen = self._kept(number)
            others = {n: one.words for n, one in self._seen.items() if n != number}
            like = [
                {**self._seen[n].shown(), "likeness": likeness}
                for n, likeness in nearest(seen.words, others)
            ]
            return {
                **seen.shown(),
                "text": seen.message.text,
                "arrival": {name: answer.shown() for name, answer in seen.answers.items()},
                "looks": {
                    name: inspect(model, seen.message.text) for name, model in self._models.items()
                },
                "like": like,
            }

    def try_out(self, text: str) -> dict[str, Any]:
        """Classify and explain a text without learning it."""
        text = clean(text)
        with self._lock:
            return {"looks": {name: inspect(model, text) for name, model in self._models.items()}}

    def messages(self, after: int = 0) -> list[dict[str, Any]]:
        """Return the kept messages that arrived or were corrected after a revision, by number."""
        with self._lock:
            return [one.shown() for one in self._seen.values() if one.revision > after]

    def state(self, pos_label: str | None = None) -> dict[str, Any]:
        """Return the position in the stream and the quality of the models.

        Parameters
        ----------
        pos_label
            Name of the label that the threshold decides for; None for the last one in sorted order.
        """
        with self._lock:
            if pos_label not in self._labels:
                pos_label = str(largest_label(self._labels.values())) if self._labels else None
            positive = None if pos_label is None else self._labels[pos_label]
            return {
                "run": self._run,
                "revision": self._revision,
                "messages": self._n_messages,
                "ended": self._ended,
                "kept_from": min(self._seen, default=0),
                "labels": list(self._labels)[:_MOST_LABELS],
                "pos_label": pos_label,
                "models": {
                    name: {**one.summary(positive), "words": self._models[name].n_words}
                    for name, one in self._measures.items()
                },
            }

    def top_words(self) -> dict[str, dict[str, list[tuple[str, float]]]]:
        """Return the most informative tokens of recent messages for each model and class.

        The contributions are those at the arrival of the messages.
        """
        found: dict[str, dict[str, dict[str, float]]] = {name: {} for name in self._models}
        with self._lock:
            for seen in list(self._seen.values())[-_TOP_OVER:]:
                for name, answer in seen.answers.items():
                    for token, adds in answer.tokens:
                        label = str(answer.label) if adds > 0 else str(answer.against)
                        tokens = found[name].setdefault(label, {})
                        tokens[token] = max(abs(adds), tokens.get(token, 0.0))
        return {
            name: {
                label: sorted(tokens.items(), key=lambda one: (-one[1], one[0]))[:_TOP_WORDS]
                for label, tokens in sorted(classes.items())
            }
            for name, classes in found.items()
        }


def _answer(model: Any, text: str) -> Answer:
    label = model.predict_one(text)
    shares = model.predict_proba_one(text)
    return Answer(label, shares, *(strongest(model, text, label) if shares else (None, [])))
