"""The log of a join window rebuilds the window."""

from __future__ import annotations

import random

import pytest

from streamnb_consumers.pipeline.window_log import WindowLog


@pytest.mark.parametrize("seed", range(20))
def test_log_rebuilds_the_window(seed: int) -> None:
    rng = random.Random(seed)
    log = WindowLog(enabled=True)
    window: dict[str, float] = {}
    read: dict[bytes, float] = {}
    for _ in range(300):
        name = rng.choice("abcd")
        if name in window and rng.random() < 0.6:
            del window[name]
            log.note(b"s:", name, None)
        else:
            new = name not in window
            window[name] = rng.random()
            log.note(b"s:", name, window[name], new=new)
        if rng.random() < 0.3:
            for key, value in log.take():
                if value is None:
                    assert key in read  # nothing is deleted that the log never had
                    del read[key]
                else:
                    read[key] = float(value)
            assert read == {b"s:" + name.encode(): value for name, value in window.items()}


def test_readded_key_is_deleted_from_the_log() -> None:
    log = WindowLog(enabled=True)
    log.note(b"s:", "ann", 1.5, new=True)
    assert log.take() == [(b"s:ann", b"1.5")]
    log.note(b"s:", "ann", None)
    log.note(b"s:", "ann", 2.5, new=True)
    log.note(b"s:", "ann", None)
    assert log.take() == [(b"s:ann", None)]


def test_disabled_log_records_nothing() -> None:
    log = WindowLog(enabled=False)
    log.note(b"s:", "ann", 1.5, new=True)
    assert log.take() == []
