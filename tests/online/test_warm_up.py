"""Messages of a single class take no step."""

from __future__ import annotations

import json
import lzma

from streamnb import OnlineNB
from support.data import require_data


def test_messages_sorted_by_class_do_no_harm() -> None:
    """A stream sorted by class is learned as well as a mixed stream.

    Without a warm-up, the classes that are missing among the recent labels protect the model: ham
    that follows spam takes steps, but short ones.
    """
    with lzma.open(require_data("text/sms_spam.jsonl.xz"), "rt", encoding="utf-8") as lines:
        records = [json.loads(line) for line, _ in zip(lines, range(1400), strict=False)]
    stream = [(record["text"], record["label"]) for record in records]
    taught, asked = stream[:600], stream[600:]
    wrong = {}
    for first in ("ham", "spam"):
        model, careless = OnlineNB(), OnlineNB(warm_up=0, estimate_noise=False)
        for x, y in sorted(taught, key=lambda message: message[1] != first):
            model.learn_one(x, y)
            careless.learn_one(x, y)
        assert model.explain_one("free").corrections["free"] == {"ham": 0.0, "spam": 0.0}
        wrong[first] = [
            sum(one.predict_one(x) != y for x, y in asked) / len(asked) for one in (model, careless)
        ]
    assert max(wrong["ham"]) < 0.03
    assert wrong["spam"][0] < 0.03


def test_what_was_met_is_saved_and_merged() -> None:
    """Two models that met three of each class are one that met six: it takes steps."""
    # A single contradiction may be a wrong label, so the estimate of wrong labels is off.
    parts = [OnlineNB(estimate_noise=False) for _ in range(2)]
    for part in parts:
        for _ in range(4):
            part.learn_one({"a": 1}, "ham")
            part.learn_one({"b": 1}, "spam")
        part.learn_one({"a": 1}, "spam")
        assert not any(part.explain_one({"a": 1}).corrections["a"].values())
    parts[0].merge(OnlineNB.from_bytes(parts[1].to_bytes()))
    parts[0].learn_one({"a": 1}, "spam")
    assert parts[0].explain_one({"a": 1}).corrections["a"]["spam"] > 0
