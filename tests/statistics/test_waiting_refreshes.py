"""Refreshes that take effect later: their statistics, their moment, and batches."""

from __future__ import annotations

import pickle
import threading
from typing import Any

import pytest

import streamnb
from streamnb.model import persistence, refreshing
from support.models import every, make_model
from support.streams import sms_stream

PERIODIC = (
    *("HMNB", "SEMNB", "PHNB", "HONB", "MNBTree"),
    *("GRWMNB", "GRSMNB", "DFWMNB", "DTWMNB", "DWMNB"),
)
EVERY = 40  # messages between refreshes, which take effect 20 messages later


@pytest.fixture
def waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(refreshing, "SMALL", 0)


def scores(model: Any) -> Any:
    return [model.joint_log_likelihood_one(x) for x, _, _ in sms_stream()[150:160]]


@every(PERIODIC)
def test_statistics_of_a_moment_take_effect_half_an_interval_later(
    name: str, waiting: None
) -> None:
    """Between its refreshes a model scores like one that refreshes at the moment of each copy."""
    model = make_model(name, refresh_every=EVERY)
    reference = make_model(name, refresh_every=10**9)
    reference.refresh()
    copies = {}
    for at, (x, y, w) in enumerate(sms_stream()[:150], start=1):
        model.learn_one(x, y, w)
        reference.learn_one(x, y, w)
        if at % EVERY == 0:
            copies[at] = pickle.dumps(reference)
            before = scores(model)
        if at > EVERY and at % EVERY == EVERY // 2 - 1:
            # Nothing is used before its time.
            assert model._refreshes._pending is not None
        if at > EVERY and at % EVERY == EVERY // 2:
            assert model._refreshes._pending is None
            expected = pickle.loads(copies[at - EVERY // 2])
            expected.refresh()
            for message in sms_stream()[at - EVERY // 2 : at]:
                expected.learn_one(*message)
            found = scores(model)
            assert found != before
            for ours, theirs in zip(found, scores(expected), strict=True):
                assert ours == pytest.approx(theirs, rel=1e-9, abs=1e-9)


@every(PERIODIC)
@pytest.mark.parametrize("share", [1, 7, EVERY, 0.2])
def test_batches_equal_single_messages(name: str, share: float, waiting: None) -> None:
    one, many = (make_model(name, refresh_every=share) for _ in range(2))
    start = 0
    for size in (1, 30, 3, 100, 8, 60, 17):
        part = [(x, y) for x, y, _ in sms_stream()[start : start + size]]
        start += size
        for x, y in part:
            one.learn_one(x, y)
        many.learn_many([x for x, _ in part], [y for _, y in part])
        assert many.to_bytes() == one.to_bytes()
        assert scores(many) == scores(one)


def test_a_refresh_of_each_message_never_waits(waiting: None) -> None:
    model, expected = (make_model("HMNB", refresh_every=n) for n in (1, 10**9))
    for x, y, w in sms_stream()[:30]:
        model.learn_one(x, y, w)
        expected.learn_one(x, y, w)
        expected.refresh()
        assert model._refreshes._pending is None
        assert scores(model) == scores(expected)


def test_refresh_ends_a_refresh_that_waits(waiting: None) -> None:
    model = make_model("HMNB", refresh_every=EVERY)
    for x, y, w in sms_stream()[: EVERY + 5]:
        model.learn_one(x, y, w)
    assert model._refreshes._pending is not None
    model.refresh()
    assert model._refreshes._pending is None
    fresh = make_model("HMNB", refresh_every=10**9)
    for x, y, w in sms_stream()[: EVERY + 5]:
        fresh.learn_one(x, y, w)
    fresh.refresh()
    assert scores(model) == scores(fresh)


def test_small_models_do_not_wait() -> None:
    model = make_model("HMNB", refresh_every=EVERY)
    for x, y, w in sms_stream()[:EVERY]:
        model.learn_one(x, y, w)
        assert model._refreshes._pending is None


def test_an_error_of_a_refresh_is_raised_when_it_is_used(
    waiting: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = make_model("HMNB", refresh_every=EVERY)
    statistic = type(model._statistics[0])
    monkeypatch.setattr(statistic, "compute", lambda self, sample: 1 / 0)
    for x, y, w in sms_stream()[: EVERY + EVERY // 2 - 1]:
        model.learn_one(x, y, w)
    with pytest.raises(ZeroDivisionError):
        model.learn_one("hello there", "ham")


def test_a_child_of_a_fork_computes_what_its_parent_began(waiting: None) -> None:
    model = make_model("HMNB", refresh_every=EVERY)
    for x, y, w in sms_stream()[:EVERY]:
        model.learn_one(x, y, w)
    pending = model._refreshes._pending
    assert pending is not None
    pending.complete()
    # As in a child: the thread has not got as far as this.
    pending._work = [model._statistics[0]]
    pending._copy = model._store.begin_refresh(False)
    for x, y, w in sms_stream()[EVERY : EVERY + EVERY // 2]:
        model.learn_one(x, y, w)
    whole = make_model("HMNB", refresh_every=EVERY)
    for x, y, w in sms_stream()[: EVERY + EVERY // 2]:
        whole.learn_one(x, y, w)
    assert model.to_bytes() == whole.to_bytes()


def test_a_fast_stream_waits_evenly_for_a_slow_refresh(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each message waits for its share of the time that the refresh before took, and not longer."""
    now, waits = 100.0, []

    class SlowThread:
        def is_alive(self) -> bool:
            return True

        def join(self, timeout: float) -> None:
            nonlocal now
            waits.append(timeout)
            now += timeout

    monkeypatch.setattr(refreshing.time, "monotonic", lambda: now)
    # 10 messages, in which the refresh probably takes 20 ms.
    pending = refreshing.Pending((), None, until=10.0, left=20.0, expected=0.02)
    pending._thread = SlowThread()  # type: ignore[assignment]
    pending.keep_pace(19.0)
    pending.keep_pace(18.0)
    now += 0.003  # a slow message
    pending.keep_pace(17.0)
    pending.keep_pace(16.0)
    pending.keep_pace(11.0)
    assert waits == pytest.approx([0.002, 0.002, 0.001, refreshing.LONGEST_WAIT])
    unknown = refreshing.Pending((), None, until=10.0, left=20.0)
    unknown._thread = pending._thread
    unknown.keep_pace(11.0)
    assert len(waits) == 4


def test_the_next_refresh_is_expected_to_take_a_little_longer(waiting: None) -> None:
    model = make_model("HMNB", refresh_every=EVERY)
    for x, y, w in sms_stream()[: 2 * EVERY]:
        model.learn_one(x, y, w)
    first = model._refreshes._seconds
    pending = model._refreshes._pending
    assert first > 0
    assert pending is not None
    assert pending._expected == refreshing.LONGER * first


def test_merging_ends_a_refresh_and_its_copy(waiting: None) -> None:
    """The arrays of the model are others then, and the thread stops."""
    model, other = (make_model("HMNB", refresh_every=EVERY) for _ in range(2))
    expected = make_model("HMNB", refresh_every=10**9)
    for x, y, w in sms_stream()[:EVERY]:
        model.learn_one(x, y, w)
        expected.learn_one(x, y, w)
    other.learn_one(*sms_stream()[0])
    pending = model._refreshes._pending
    assert pending is not None
    model.subtract(other)
    expected.unlearn_one(*sms_stream()[0])
    expected.refresh()
    assert model._refreshes._pending is None
    pending.complete()
    assert scores(model) == scores(expected)


def test_a_refused_subtraction_leaves_a_refresh_that_waits(waiting: None) -> None:
    model, whole, other = (make_model("HMNB", refresh_every=EVERY) for _ in range(3))
    for x, y, w in sms_stream()[: EVERY + EVERY // 2]:
        whole.learn_one(x, y, w)
    for x, y, w in sms_stream()[:EVERY]:
        model.learn_one(x, y, w)
    other.learn_one("words that nobody has learned", sms_stream()[0][1])
    with pytest.raises(streamnb.NotLearnedError):
        model.subtract(other)
    for x, y, w in sms_stream()[EVERY : EVERY + EVERY // 2]:
        model.learn_one(x, y, w)
    assert model.to_bytes() == whole.to_bytes()


def test_a_file_with_an_invalid_end_is_refused(waiting: None) -> None:
    model = make_model("HMNB", refresh_every=EVERY)
    for x, y, w in sms_stream()[: EVERY + 3]:
        model.learn_one(x, y, w)
    header, counts = persistence.unpacked(model.to_bytes())
    assert header["pending"]
    for bad in ("-0x1p+0", "0x1p+20", "nan", "?"):
        data = persistence.packed({**header, "pending": bad}, counts)
        with pytest.raises(streamnb.ModelFileError):
            type(model).from_bytes(data)


def test_other_threads_predict_and_save_while_a_refresh_waits(waiting: None) -> None:
    model, quiet = (make_model("MNBTree", refresh_every=EVERY) for _ in range(2))
    ended = threading.Event()
    saved: list[bytes] = []

    def read() -> None:
        while not ended.is_set():
            model.predict_one("free cash")
            saved.append(model.to_bytes())

    thread = threading.Thread(target=read)
    thread.start()
    for x, y, w in sms_stream()[:200]:
        model.learn_one(x, y, w)
        quiet.learn_one(x, y, w)
    ended.set()
    thread.join()
    assert saved
    assert model.to_bytes() == quiet.to_bytes()
