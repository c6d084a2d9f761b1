"""Drift detection equals river's detectors step by step."""

from __future__ import annotations

import json
import random

import pytest
from river import drift

from streamnb.errors import InputError
from streamnb.model.drift import DETECTORS, DriftAlarm

OF_RIVER = {"adwin": drift.ADWIN, "ddm": drift.binary.DDM}


def errors(*parts: tuple[int, float], seed: int = 1) -> list[bool]:
    """Outcomes of parts of a stream, each of a length and a share of errors."""
    rng = random.Random(seed)
    return [rng.random() < share for length, share in parts for _ in range(length)]


UP_AND_DOWN = errors((1500, 0.05), (1500, 0.4), (1500, 0.05), (1500, 0.3))


@pytest.mark.parametrize("name", DETECTORS)
def test_alarms_are_those_of_river_where_errors_rise(name: str) -> None:
    alarm, direct = DriftAlarm(name), OF_RIVER[name]()
    raised, fell = [], []
    for place, wrong in enumerate(UP_AND_DOWN):
        before = getattr(direct, "estimation", 0.0)
        direct.update(int(wrong))
        rose = direct.drift_detected and getattr(direct, "estimation", 1.0) > before
        assert alarm.update(wrong, place) is bool(rose)
        if rose:
            raised.append(place)
            assert alarm.last == place
        elif direct.drift_detected:
            fell.append(place)
    assert (alarm.count, alarm.seen) == (len(raised), len(UP_AND_DOWN))
    # Alarms follow rising errors; ADWIN also detects falling errors, which raise no alarm.
    assert any(1500 <= place < 1700 for place in raised)
    assert name == "ddm" or any(4500 <= place < 4800 for place in raised)
    assert bool(fell) is (name == "adwin")
    assert not any(3000 <= place < 4400 for place in raised)


def test_a_stream_without_drift_hardly_alarms() -> None:
    alarm = DriftAlarm("adwin")
    assert sum(map(alarm.update, errors((20_000, 0.1)))) <= 1


@pytest.mark.parametrize("name", DETECTORS)
def test_a_saved_alarm_goes_on_as_if_it_had_not_been(name: str) -> None:
    whole = DriftAlarm(name, memory=300)
    raised = [whole.update(wrong, place) for place, wrong in enumerate(UP_AND_DOWN)]
    for cut in (0, 1, 7, 8, 299, 300, 599, 600, 601, 1550, 3333, 5999):
        part = DriftAlarm(name, memory=300)
        for place, wrong in enumerate(UP_AND_DOWN[:cut]):
            part.update(wrong, place)
        part = DriftAlarm.from_json(json.loads(json.dumps(part.to_json())))
        rest = [part.update(wrong, cut + n) for n, wrong in enumerate(UP_AND_DOWN[cut:])]
        assert rest == raised[cut:]
        assert part.to_json() == whole.to_json()


def test_it_remembers_what_it_is_told_and_no_more() -> None:
    alarm = DriftAlarm("adwin", memory=100)
    direct = drift.ADWIN()
    stream = errors((950, 0.2))
    for place, wrong in enumerate(stream):
        if place >= 200 and place % 100 == 0:  # a fresh one takes over
            direct = drift.ADWIN()
            for before in stream[place - 100 : place]:
                direct.update(int(before))
        direct.update(int(wrong))
        alarm.update(wrong)
        assert alarm._watching.width == direct.width
        assert alarm._watching.estimation == direct.estimation
        assert len(alarm._outcomes) <= 200
    full = DriftAlarm("adwin")
    for wrong in errors((40_000, 0.1)):
        full.update(wrong)
    assert len(json.dumps(full.to_json())) < 6_000


def test_what_is_no_detector_and_no_state_is_refused() -> None:
    with pytest.raises(InputError, match="must be one of 'adwin', 'ddm', not 'kswin'"):
        DriftAlarm("kswin")
    with pytest.raises(InputError, match="memory must be a whole number from 1 on"):
        DriftAlarm("adwin", memory=0)
    alarm = DriftAlarm("ddm")
    alarm.update(True)
    good = alarm.to_json()
    for wrong in (
        {"detector": "none"},
        {"count": -1},
        {"count": 2},
        {"seen": 0},
        {"length": 9},
        {"length": "1"},
        {"last": "now"},
        {"outcomes": "!"},
        {"outcomes": ""},
        {"memory": 0},
    ):
        with pytest.raises((ValueError, TypeError)):
            DriftAlarm.from_json(good | wrong)
    with pytest.raises(KeyError):
        DriftAlarm.from_json({"detector": "ddm", "memory": 1})
