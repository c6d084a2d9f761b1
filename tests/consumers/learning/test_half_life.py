"""Models with a half-life in time use the timestamps of the labels."""

from __future__ import annotations

import json
import random
import time

from streamnb import MNB
from streamnb_consumers.pipeline import state
from streamnb_consumers.pipeline.filter import Filter, LocalFilter
from streamnb_consumers.pipeline.options import Options
from streamnb_consumers.pipeline.reading import SmsReader
from streamnb_consumers.records import Record
from support.filters import PLACE, text

HALF_LIFE = "20s"


def forgetful(half_life: str) -> Filter:
    return LocalFilter(MNB(half_life=half_life), SmsReader(labels=("ham", "spam")), Options())


def labelled(n: int) -> list[Record]:
    """Return messages with labels, three seconds apart."""
    draw, records = random.Random(5), []
    for offset in range(n):
        label = draw.choice(["ham", "spam"])
        value = {"id": f"m{offset}", "text": text(label, draw), "label": label}
        records.append(Record(PLACE, offset, json.dumps(value).encode(), timestamp=3_000 * offset))
    return records


def test_weights_follow_the_arrival_of_labels() -> None:
    worker, alone = forgetful(HALF_LIFE), MNB(half_life=HALF_LIFE)
    for record in labelled(60):
        (event,) = worker.handle(record).training
        assert record.timestamp is not None
        alone.learn_one(event.features, event.learn, time=record.timestamp / 1000)
    assert worker.learner.model.to_bytes() == alone.to_bytes()
    # Of the 60 messages so much is left as of a series of powers of 2^(-3/20).
    assert 10.1 < alone.n_documents < 10.2


def test_killed_filter_has_the_same_model() -> None:
    whole, half = (forgetful(HALF_LIFE) for _ in range(2))
    records = labelled(40)
    for n, record in enumerate(records):
        whole.handle(record)
        if n < 20:
            half.handle(record)
    again = forgetful(HALF_LIFE)
    state.restore(again, state.dump(half))
    for record in records[20:]:
        again.handle(record)
    assert again.learner.model.to_bytes() == whole.learner.model.to_bytes()


def test_future_timestamps_are_bounded() -> None:
    worker, now = forgetful("1h"), round(time.time() * 1000)
    records = labelled(3)
    years = now + 10 * 365 * 86_400_000
    for record, at in zip(records, (now, years, None), strict=True):
        worker.handle(record._replace(timestamp=at))
    # A minute is 1/60 of the half-life: all three count for nearly as much.
    assert 2.97 < worker.learner.model.n_documents < 3.0
