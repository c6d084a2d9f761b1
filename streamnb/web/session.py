"""State of the page: models side by side on one stream, and the last messages."""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Hashable, Iterable, Iterator, Mapping
from typing import Any

from streamnb.datasets.lines import Message
from streamnb.errors import InputError
from streamnb.evaluation.metrics import largest_label, sorted_labels
from streamnb.model.reprs import token_shown
from streamnb.web.inspection import inspect, nearest
from streamnb.web.measures import Measures

__all__ = ["Seen", "Session"]

_TOP_OVER = 200  # messages whose tokens are shown for each class
_TOP_WORDS = 15


@dataclasses.dataclass
class Answer:
    """Decision of a model before it learned the label."""

    label: Hashable
    probabilities: dict[Hashable, float]


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
    corrected
        Whether its label differs from the label in the stream.
    """

    number: int
    message: Message
    label: Hashable | None
    answers: dict[str, Answer]
    corrected: bool = False

    def shown(self) -> dict[str, Any]:
        """Return the message as the page lists it."""
        return {
            "number": self.number,
            "text": self.message.text[:300],
            "label": None if self.label is None else str(self.label),
            "corrected": self.corrected,
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
        self._measures = {name: Measures() for name in models}
        self._labels: set[Hashable] = {
            label for model in models.values() for label in model.classes_
        }
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
        with self._lock:
            self._n_messages += 1
            label = message.label or None
            seen = Seen(self._n_messages, message, label, self._decide(message.text))
            self._seen[seen.number] = seen
            self._seen.pop(seen.number - self._keep, None)
            if label is not None:
                self._labels.add(label)
                for name, answer in seen.answers.items():
                    if answer.label is not None:
                        self._measures[name].add(label, answer.label, answer.probabilities)
                for model in self._models.values():
                    model.learn_one(message.text, label)

    def _decide(self, text: str) -> dict[str, Answer]:
        return {
            name: Answer(model.predict_one(text), model.predict_proba_one(text))
            for name, model in self._models.items()
        }

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
            If the session has dropped the message.
        """
        with self._lock:
            seen = self._kept(number)
            wanted = label.strip() or None
            if wanted != seen.label:
                for model in self._models.values():
                    if seen.label is not None:
                        model.unlearn_one(seen.message.text, seen.label)
                    if wanted is not None:
                        model.learn_one(seen.message.text, wanted)
                if wanted is not None:
                    self._labels.add(wanted)
                seen.label = wanted
                seen.corrected = wanted != (seen.message.label or None)
            now = {
                name: dataclasses.asdict(one)
                for name, one in self._decide(seen.message.text).items()
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
            others = {n: one.message.text for n, one in self._seen.items() if n != number}
            like = [
                {**self._seen[n].shown(), "likeness": likeness}
                for n, likeness in nearest(seen.message.text, others)
            ]
            return {
                **seen.shown(),
                "text": seen.message.text,
                "looks": {
                    name: inspect(model, seen.message.text) for name, model in self._models.items()
                },
                "like": like,
            }

    def try_out(self, text: str) -> dict[str, Any]:
        """Classify and explain a text without learning it."""
        with self._lock:
            return {"looks": {name: inspect(model, text) for name, model in self._models.items()}}

    def messages(self, after: int = 0) -> list[dict[str, Any]]:
        """Return the kept messages after a number, the oldest first."""
        with self._lock:
            return [one.shown() for number, one in self._seen.items() if number > after]

    def state(self) -> dict[str, Any]:
        """Return the position in the stream and the quality of the models."""
        with self._lock:
            labels = sorted_labels(self._labels)
            pos_label = largest_label(labels) if len(labels) == 2 else None
            return {
                "messages": self._n_messages,
                "ended": self._ended,
                "kept_from": min(self._seen, default=0),
                "labels": [str(label) for label in labels],
                "pos_label": None if pos_label is None else str(pos_label),
                "models": {
                    name: {**one.summary(pos_label), "words": self._models[name].n_words}
                    for name, one in self._measures.items()
                },
            }

    def top_words(self) -> dict[str, dict[str, list[tuple[str, float]]]]:
        """Return the most informative tokens of recent messages for each model and class."""
        with self._lock:
            texts = [one.message.text for one in list(self._seen.values())[-_TOP_OVER:]]
            found: dict[str, dict[str, list[tuple[str, float]]]] = {}
            for name, model in self._models.items():
                strongest: dict[str, dict[str, float]] = {}
                for text in texts:
                    explanation = model.explain_one(text)
                    for label in explanation.baseline:
                        of_label = strongest.setdefault(str(label), {})
                        for word, lead in explanation.top(label, 5):
                            of_label[word] = max(lead, of_label.get(word, lead))
                found[name] = {
                    label: [
                        (token_shown(word), lead)
                        for word, lead in sorted(words.items(), key=lambda one: (-one[1], one[0]))
                    ][:_TOP_WORDS]
                    for label, words in strongest.items()
                }
            return found
