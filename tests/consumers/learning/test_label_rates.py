"""Label rates of sources: a slow reference, dead letters and logs."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from streamnb import OnlineNB, Tokenizer
from streamnb_consumers.daemon.assembly import make_filter as assembled
from streamnb_consumers.daemon.backoff import Breaker
from streamnb_consumers.daemon.metrics import PrometheusMetrics
from streamnb_consumers.daemon.settings import Settings
from streamnb_consumers.errors import SnapshotError
from streamnb_consumers.pipeline import state
from streamnb_consumers.pipeline.filter import Filter
from streamnb_consumers.pipeline.label_rates import LabelRates
from streamnb_consumers.pipeline.options import Options
from streamnb_consumers.pipeline.reading import SmsReader
from streamnb_consumers.pipeline.window import Bounds, JoinWindow
from streamnb_consumers.records import Outputs, Partition, Record
from support.filters import PLACE, folded, make_filter, new_filter

HOUR = 3_600_000
BY = "labelled-by"


class Slow:
    """Reference bucket: at most `rate` tokens, and `rate` new ones per hour."""

    def __init__(self, rate: int) -> None:
        self.rate = self.tokens = rate * HOUR  # in tokens of 1 / HOUR, which are whole numbers
        self.step, self.at = rate, 0

    def take(self, now: int) -> bool:
        self.tokens = min(self.rate, self.tokens + (now - self.at) * self.step)
        self.at = now
        if self.tokens < HOUR:
            return False
        self.tokens -= HOUR
        return True


@pytest.mark.parametrize("rate", [1, 4, 60, 600])  # a token in whole milliseconds: exact
def test_rate_equals_a_token_bucket(rate: int) -> None:
    rng = random.Random(rate)
    rates, slow, now = LabelRates(rate), Slow(rate), 0
    given = []
    for _ in range(4000):
        if rng.random() < 0.1:
            now += rng.choice([1, HOUR // rate // 2, HOUR // rate, HOUR // 100])
        rates.expire(now)
        given.append(rates.refusal("ann", now) is None)
        assert given[-1] is slow.take(now)
    assert 0 < sum(given) < len(given)


@pytest.mark.parametrize("now", [0, 1_732_000_000_123])
def test_rounding_loses_no_label_of_an_hour(now: int) -> None:
    for rate in range(1, 200):
        rates = LabelRates(rate)
        given = [rates.refusal("ann", now) is None for _ in range(rate + 1)]
        assert given == [True] * rate + [False]


def test_sources_are_bounded_and_full_buckets_expire() -> None:
    rates = LabelRates(2, most=3)
    for source in "abc":
        assert rates.refusal(source, 0) is None
    assert rates.refusal("d", 0) == (
        "source 'd' is refused: 3 other sources gave labels within the hour (labels_per_hour)"
    )
    assert rates.refusal("a", 0) is None
    assert rates.expire(HOUR // 2) == ["b", "c"]
    assert list(rates.full) == ["a"]
    assert rates.refusal("d", HOUR // 2) is None
    for wrong in (b'"1"', b"NaN", b"1e999", b"true", b"[1]"):
        with pytest.raises(SnapshotError, match="invalid change"):
            JoinWindow().apply(b"s:e", wrong)


def labelled(
    offset: int, source: str | None, label: str = "spam", at: int | None = 0, name: str = ""
) -> Record:
    headers = () if source is None else ((BY, source.encode()),)
    value = json.dumps({"id": name or f"m{offset}", "label": label}).encode()
    return Record(Partition("labels", 0), offset, value, None, headers, at, "feedback")


def message(offset: int, at: int = 0) -> Record:
    value = json.dumps({"id": f"m{offset}", "text": f"win cash {offset}"}).encode()
    return Record(PLACE, offset, value, timestamp=at)


def bounded(rate: float = 3, **options: Any) -> Filter:
    return make_filter(bounds=Bounds(labels=rate), label_source_header=BY, **options)


def test_labels_beyond_the_rate_are_dead_letters() -> None:
    worker = bounded()
    for n in range(10):
        worker.handle(message(n))
    outputs = [worker.handle(labelled(n, "mallory")) for n in range(6)]
    assert [len(each.training) for each in outputs] == [1, 1, 1, 0, 0, 0]
    (letter,) = outputs[4].dead_letters
    assert letter.record == labelled(4, "mallory")
    assert letter.error == (
        "source 'mallory' gave more than 3 labels within an hour (labels_per_hour)"
    )
    assert letter.refused
    # Other and unnamed sources may give labels, and the same source later.
    assert worker.handle(labelled(6, "ann")).training
    assert all(worker.handle(labelled(n, None)).training for n in (3, 4, 7, 8))
    assert worker.handle(labelled(5, "mallory", at=HOUR // 3)).training
    assert worker.learner.learned == 9


def test_message_with_refused_label_is_decided_on() -> None:
    worker = bounded(rate=1)
    outputs = []
    for n in range(2):
        value = json.dumps({"id": f"m{n}", "text": "win", "label": "spam"}).encode()
        outputs.append(worker.handle(Record(PLACE, n, value, None, ((BY, b"ann"),), 0)))
    assert [len(each.decisions) for each in outputs] == [1, 1]
    assert [len(each.training) for each in outputs] == [1, 0]
    assert (
        outputs[1]
        .dead_letters[0]
        .error.startswith("not learned: source 'ann' gave more than 1 label")
    )


def test_old_timestamps_do_not_raise_the_rate() -> None:
    worker = bounded(rate=1)
    for n in range(5):
        worker.handle(message(n, at=10 * HOUR))
    given = [worker.handle(labelled(n, "mallory", at=n * HOUR)) for n in range(5)]
    assert [len(each.training) for each in given] == [1, 0, 0, 0, 0]
    # Future timestamps do not raise it either. Records without a timestamp have no rate.
    window = JoinWindow(Bounds(labels=1), clock=lambda: 0.0)
    later = [window.refusal("mallory", labelled(0, None, at=n * HOUR)) for n in range(1, 4)]
    assert [why is None for why in later] == [True, False, False]
    assert window.refusal("mallory", labelled(0, None, at=None)) is None


def test_refused_labels_do_not_stop_a_filter() -> None:
    worker, breaker = bounded(rate=1), Breaker(share=0.5, records=10)
    worker.handle_many([message(n) for n in range(40)], note=breaker.note)
    labels = [labelled(n, "mallory") for n in range(40)]
    outputs = worker.handle_many(labels, note=breaker.note)
    assert not breaker.opened()
    assert len(outputs.dead_letters) == 39


def attack(worker: Filter, first: int, last: int) -> list[Outputs]:
    rng = random.Random(7)
    records = []
    for n in range(300):
        at = 40_000 * n
        records += [
            message(n, at),
            labelled(n, rng.choice("abcdef"), rng.choice(["ham", "spam"]), at),
        ]
    return [worker.handle(record) for record in records[first:last]]


def test_rates_survive_snapshots() -> None:
    whole, worker = bounded(rate=10), bounded(rate=10)
    expected = attack(whole, 0, 600)
    assert any(each.dead_letters for each in expected)
    for start in range(0, 600, 50):
        assert attack(worker, start, start + 50) == expected[start : start + 50]
        data = state.dump(worker)
        worker = bounded(rate=10)
        state.restore(worker, data)
        assert state.dump(worker) == data
    assert state.dump(worker) == state.dump(whole)


@pytest.mark.parametrize("cut", [1, 77, 300, 450])
def test_next_owner_of_a_partition_continues_its_rates(cut: int) -> None:
    whole = bounded(rate=10, shared=True)
    expected = attack(whole, 0, 600)
    after = bounded(rate=10, shared=True)
    changes = [change for each in expected[:cut] for change in each.changes]
    last = {change.key: change for change in changes}  # as compaction leaves them
    for at, (_, key, value) in enumerate(changes):
        if last[key].value == value:
            after.handle(Record(Partition("windows", 0), at, value, key, role="window"))
    for got, wanted in zip(attack(after, cut, 600), expected[cut:], strict=True):
        assert got.dead_letters == wanted.dead_letters
        assert got.training == wanted.training


def test_named_sources_are_limited_by_default() -> None:
    worker = assembled("sms", Settings(model="MNB"))
    assert (worker.options.bounds.labels, worker.options.label_source_header) == (1000.0, BY)
    for n in range(1003):
        worker.handle(message(n))
    outputs = [worker.handle(labelled(n, "mallory")) for n in range(1003)]
    assert sum(len(each.training) for each in outputs) == 1000
    free = assembled("sms", Settings(model="MNB", labels_per_hour=0.0))
    assert free.options.bounds.labels is None


@pytest.mark.parametrize("rate", [1, 2])
def test_a_source_adds_at_most_its_labels_times_the_new_words_of_a_message(rate: int) -> None:
    # The cap of a source. It follows from the training log, so all workers have the same words.
    most = 1_024  # of one message, with a small max_features

    def make(shared: bool = False) -> Filter:
        model = OnlineNB(max_features=16_000, tokenizer=Tokenizer())
        options = Options(bounds=Bounds(labels=rate), label_source_header=BY)
        reader = SmsReader(labels=("ham", "spam"), max_text=20_000)
        return new_filter(model, reader, options, shared)

    stream = []
    for hour in range(3):
        for n in range(5):
            text = " ".join(f"w{hour}x{n}y{place}" for place in range(1_500))
            value = json.dumps({"id": f"m{len(stream) // 2}", "text": text}).encode()
            at = len(stream) // 2
            stream.append(Record(PLACE, at, value, timestamp=hour * HOUR))
            stream.append(labelled(at, "mallory", at=hour * HOUR))
    alone, metrics, known = make(), PrometheusMetrics(), []
    for hour in range(3):
        for record in stream[10 * hour : 10 * (hour + 1)]:
            metrics.committed([record], alone.handle(record), alone, 0.1)
        known.append(alone.learner.model.n_words)
    assert known == [rate * most, 2 * rate * most, 3 * rate * most]
    counted = [
        sample.value
        for each in metrics.registry.collect()
        for sample in each.samples
        if sample.name == "streamnb_left_out_words_total" and sample.labels["reason"] == "refused"
    ]
    assert counted == [3 * rate * (1_500 - most)]
    worker = folded(make(), stream, make)
    assert worker.learner.model.to_bytes() == alone.learner.model.to_bytes()
