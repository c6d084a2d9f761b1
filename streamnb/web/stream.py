"""A stream of messages as the feed of the page: models side by side classify and learn it."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from streamnb.datasets.records import Message
from streamnb.errors import InputError
from streamnb.families import TEXT_MODELS
from streamnb.model.readiness import Readiness
from streamnb.text.labels import MessageLabel, label_names, sort_key
from streamnb.web.agreement import PAGE
from streamnb.web.board import Board, Feed, Item, clean
from streamnb.web.inspection import decided, inspect, strongest, strongest_of_each

MOST_RATE = 100_000.0  # messages per second
_MOST_STEPS = 100  # single messages that were requested and not taken yet
_TICK = 0.05  # seconds between two checks of the clock
_LOG = logging.getLogger(__name__)


class Stream(Feed):
    """Models that classify and learn the messages of a stream, at a rate and with corrections.

    `follow` takes messages until the stream ends; it begins paused. All methods are thread-safe.

    Parameters
    ----------
    models
        Name on the page → a text model of streamnb; at least one. All decide on one label, or all
        on sets of labels.
    messages
        The stream. Messages without a label are classified and can be labelled later.
    keep
        Number of latest messages to keep for inspection and correction; at least 1.
    rate
        Messages per second, above 0 and at most 100,000.

    Attributes
    ----------
    error
        The error that ended the stream; empty without one.
    ended
        Whether the stream has no more messages.

    Raises
    ------
    InputError
        If no model is given, a model does not read text, some models decide on one label and others
        on sets of labels, or a parameter is out of range.

    Examples
    --------
    >>> from streamnb import OnlineNB
    >>> messages = [Message("1", "spam", "win cash"), Message("2", "ham", "see you")]
    >>> stream = Stream({"OnlineNB": OnlineNB()}, messages)
    >>> stream.step()
    True
    >>> stream.board.search()[0]["label"]
    'spam'
    """

    def __init__(
        self,
        models: Mapping[str, Any],
        messages: Iterable[Message],
        keep: int = 1000,
        rate: float = 5.0,
    ) -> None:
        if not models:
            raise InputError("no model to show: give at least one")
        for name, model in models.items():
            if getattr(model, "reads_columns", True) or not hasattr(model, "explain_one"):
                raise InputError(
                    f"{name}: the page shows only text models of streamnb: {', '.join(TEXT_MODELS)}"
                )
            if getattr(model, "output", "sets") != "sets":
                raise InputError(f"{name}: leave output at 'sets', not {model.output!r}")
        several = {bool(getattr(model, "label_sets", False)) for model in models.values()}
        if len(several) > 1:
            raise InputError(
                f"{', '.join(models)}: some decide on one label and others on sets of labels; show "
                "each kind on a page of its own"
            )
        self.board: Board = Board(keep, models)
        (self.board.several,) = several
        self.error: str = ""
        self.ended: bool = False
        self._models = dict(models)
        self._messages: Iterator[Message] = iter(messages)
        self._n_messages = 0
        self._texts: dict[str, str] = {}  # of the kept messages
        self._fields: dict[str, Mapping[str, Any]] = {}
        # A model may know the name of a label as a number.
        self._labels: dict[str, Hashable] = {}
        for label in sorted(
            {one for each in models.values() for one in each.classes_}, key=sort_key
        ):
            self._labels.setdefault(str(label), label)
        self.board.know(self._labels)
        self._reading = threading.Lock()
        self._changed = threading.Condition()
        self._playing = self._stopped = False
        self._steps = 0
        self._due = 0.0  # time of the next message, by the monotonic clock
        self.control(rate=rate)

    # --- messages ---------------------------------------------------------------------------------

    def step(self) -> bool:
        """Classify and learn the next message; return False at the end of the stream."""
        # A stream may wait for its next message; other methods do not wait for it.
        with self._reading:
            message = next(self._messages, None)
            if message is None:
                self.ended = True
                return False
            self._take(message)
            return True

    def _take(self, message: Message) -> None:
        text, label = clean(message.text), self._given(message)
        with self.board.lock:
            self._n_messages += 1
            name = clean(message.id) or str(self._n_messages)
            if name in self._texts:
                name = f"{name} ({self._n_messages})"
            self._texts[name] = text
            self._fields[name] = message.fields or {}
            for kept in (self._texts, self._fields):
                if len(kept) > self.board.keep:
                    del kept[next(iter(kept))]
            answers = {
                model: _answer(each, self._read(each, name), label)
                for model, each in self._models.items()
            }
            self.board.message(name, {"text": text}, _milliseconds(message.time), given=label)
            for model, answer in answers.items():
                self.board.decide(name, answer, model)
            self._learn(name, None, label)

    def _given(self, message: Message) -> MessageLabel | None:
        """Return the label or labels of a message as the page shows them."""
        if not self.board.several:
            return clean(message.label or "") or None
        return message.labels and tuple(sorted(set(map(clean, message.labels))))

    def _own(self, label: MessageLabel) -> Any:
        """Return a label, or the set of several, as the models know them."""
        own = [self._labels.setdefault(name, name) for name in label_names(label)]
        return set(own) if isinstance(label, tuple) else own[0]

    def _learn(self, name: str, before: MessageLabel | None, label: MessageLabel | None) -> None:
        """Learn a message with another label than before, and count its decisions with it."""
        for model in self._models.values():
            text = self._read(model, name)
            if before is not None and before != label:
                model.unlearn_one(text, self._own(before))
            if label is not None and before != label:
                model.learn_one(text, self._own(label))
        self.board.learn(name, label)

    def _read(self, model: Any, name: str) -> str:
        """Return a message as a model reads it, with the fields that its tokenizer asks for."""
        text: str = self._texts[name]
        tokenizer: Any = getattr(model, "tokenizer", None)
        if not getattr(tokenizer, "has_fields", False):
            return text
        joined: str = tokenizer.join({**self._fields[name], "text": text})
        return joined

    def text(self, item: Item) -> str:
        """Return the whole text of a message."""
        return self._texts.get(item.id, item.text)

    def fields(self, item: Item) -> Mapping[str, Any]:
        """Return the other fields of the record of a message."""
        return self._fields.get(item.id, {})

    def send(
        self,
        labels: Sequence[tuple[Item, MessageLabel | None]],
        annotator: str,
        source: str = PAGE,
    ) -> None:
        """Learn labels; None unlearns."""
        with self.board.lock:
            for item, label in labels:
                (kept,) = self.board.items([item.id])
                before, now = kept.label, time.time()
                self.board.correct(
                    *(item.id, label, ("page", now, item.id)),
                    source=source,
                    annotator=annotator,
                    time=round(now * 1000),
                    record={**self.fields(item), "text": self.text(item)},
                )
                self._learn(item.id, before, label)

    def inspect(self, item: Item) -> dict[str, Any]:
        """Return the present decision of each model on a message, with its reasons."""
        with self.board.lock:
            if item.id not in self._texts:
                return self.try_out(item.text)
            return {
                "looks": {
                    name: inspect(model, self._read(model, item.id), item.label)
                    for name, model in self._models.items()
                }
            }

    def try_out(self, text: str) -> dict[str, Any]:
        """Classify and explain a text without learning it."""
        text = clean(text)
        with self.board.lock:
            return {"looks": {name: inspect(model, text) for name, model in self._models.items()}}

    # --- rate -------------------------------------------------------------------------------------

    def control(self, action: str | None = None, rate: float | None = None) -> None:
        """Set the rate, and play, pause, or take one message as soon as the stream has one.

        Parameters
        ----------
        action
            `play`, `pause` or `step`; None changes nothing.
        rate
            Messages per second, above 0 and at most 100,000; None changes nothing.

        Raises
        ------
        InputError
            If the action does not exist, or the rate is out of its range.
        """
        if rate is not None:
            if not 0 < rate <= MOST_RATE:
                raise InputError(f"rate is {rate}; it must be above 0 and at most {MOST_RATE:,.0f}")
            self._rate = float(rate)
        if action not in (None, "play", "pause", "step"):
            raise InputError(f"action is {action!r}; it must be play, pause or step")
        with self._changed:
            if action is not None:
                self._playing = action == "play"
                self._steps = min(self._steps + 1, _MOST_STEPS) if action == "step" else 0
            self._changed.notify_all()

    def state(self) -> dict[str, Any]:
        """Return the progress of the stream, and words and readiness of each model."""
        playing = self._playing and not self.ended and not self.error
        with self.board.lock:
            words = {name: model.n_words for name, model in self._models.items()}
            readiness = {
                name: _shown(model.readiness())
                for name, model in self._models.items()
                if hasattr(model, "readiness")
            }
        stream = {"playing": playing, "rate": self._rate, "ended": self.ended, "error": self.error}
        return {"stream": stream, "words": words, "readiness": readiness}

    def follow(self) -> None:
        """Take messages at the rate until the stream ends or `stop` is called."""
        try:
            while self._wait() and self.step():
                pass
        except Exception as error:
            _LOG.exception("the stream stopped")
            self.error = str(error) or type(error).__name__

    def stop(self) -> None:
        """End `follow`, unless it waits for a message."""
        with self._changed:
            self._stopped = True
            self._changed.notify_all()

    def _wait(self) -> bool:
        """Wait until the next message is due; return False at the end."""
        with self._changed:
            while not self._stopped:
                if self._steps:
                    self._steps -= 1
                    return True
                now = time.monotonic()
                if not self._playing:
                    self._changed.wait()
                    self._due = time.monotonic()
                elif now >= self._due:
                    # Do not catch up after a pause or a slow message.
                    self._due = max(self._due + 1 / self._rate, now - 2 * _TICK)
                    return True
                else:
                    self._changed.wait(min(self._due - now, _TICK))
        return False


def _shown(readiness: Readiness) -> dict[str, Any]:
    labels = {str(label): messages for label, messages in readiness.labels.items()}
    return {"labels": labels, "ready": readiness.ready, "reason": readiness.reason}


def _milliseconds(time: str | None) -> int | None:
    """Return a time of ISO 8601, in UTC by default, in milliseconds since 1970.

    Examples
    --------
    >>> _milliseconds("1970-01-01T00:00:01.5"), _milliseconds("yesterday")
    (1500, None)
    """
    try:
        found = datetime.fromisoformat(time or "")
    except ValueError:
        return None
    utc = found.replace(tzinfo=UTC) if found.tzinfo is None else found
    return round(utc.timestamp() * 1000)


def _answer(model: Any, text: str, given: MessageLabel | None) -> dict[str, Any]:
    """Return the decision of a model on a message, as the board keeps it.

    The reasons are of this moment: later the model has learned the message.
    """
    label = decided(model, text)
    shares = model.predict_proba_one(text)
    answer: dict[str, Any] = {"probabilities": {str(each): share for each, share in shares.items()}}
    if isinstance(label, tuple):
        reasons = strongest_of_each(model, text, shares, label, given)
        return {**answer, "label": tuple(map(str, label)), "reasons": reasons}
    unknown: tuple[str | None, list[tuple[str, float]]] = None, []
    right = given if isinstance(given, str) else None
    against, tokens = strongest(model, text, label, right) if shares else unknown
    named = None if label is None else str(label)
    return {**answer, "label": named, "against": against, "tokens": tokens}
