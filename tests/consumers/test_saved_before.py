"""Snapshots and topics of filters of before (version 1 of the format) are read today.

`tests/fixtures/` holds what a filter wrote that was called `consumers` then, of ten invented
records: two messages with labels, three without, three labels by id (one corrects another), one
label whose message never came, and a record that is no JSON.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from streamnb import MNB
from streamnb_consumers.daemon.settings import parser, read_settings
from streamnb_consumers.filter import state
from streamnb_consumers.filter.filtering import Filter
from streamnb_consumers.filter.options import Options
from streamnb_consumers.messages.sms import Sms
from streamnb_consumers.records import Partition, Record
from support.filters import PLACE, handle_all

FIXTURES = Path(__file__).parents[1] / "fixtures"
COUNTED = {"messages": 5, "repeated": 0, "corrected": 1, "dead_letters": 1, "bad_log": 0}


def fresh(shared: bool) -> Filter:
    model = MNB(alpha=0.1, oov="skip")
    return Filter(model, Sms(("ham", "spam")), Options(ham_target=0.05, shared=shared))


def read(name: str) -> bytes:
    return (FIXTURES / name).read_bytes()


def test_a_filter_goes_on_from_its_snapshot() -> None:
    worker = fresh(shared=False)
    state.restore(worker, read("sms-filter-v1.bin"))
    assert state.dump(worker) == read("sms-filter-v1.bin")
    assert (worker.learner.learned, worker.counters) == (5, COUNTED)
    assert worker.offsets == {PLACE: 10}
    assert worker.learner.model.predict_proba_one("win cash at noon")["spam"] == pytest.approx(
        0.6288011367837649, rel=1e-12
    )
    # A label that came before its message, and a message that waits for its label, meet the others.
    outputs = handle_all(
        worker, [{"id": "later", "text": "claim your prize"}, {"id": "e", "label": "spam"}]
    )
    assert [[event.id for event in out.training] for out in outputs] == [["later"], ["e"]]
    assert worker.learner.learned == 7


def test_a_worker_goes_on_from_its_snapshot_and_its_logs() -> None:
    """The logs alone make the state of the snapshot, and the windows that it does not hold."""
    loaded, folded = fresh(shared=True), fresh(shared=True)
    state.restore(loaded, read("sms-worker-v1.bin"))
    offsets = {"sms-lessons": 0, "sms-windows": 0}
    for line in read("sms-logs-v1.jsonl").splitlines():
        fields: dict[str, Any] = json.loads(line)
        topic, value = fields["topic"], fields["value"]
        folded.handle(
            Record(
                Partition(topic, 0),
                offsets[topic],
                None if value is None else value.encode(),
                fields["key"].encode(),
                role="training" if topic == "sms-lessons" else "window",
            )
        )
        offsets[topic] += 1
    assert folded.counters["bad_log"] == 0
    assert folded.learner.learned == loaded.learner.learned == 5
    assert state.dump(folded) == state.dump(loaded) == read("sms-worker-v1.bin")
    window = folded.join.window(0)
    assert (len(window), window.waiting) == (5, 1)
    corrected, alone = window.get("c"), fresh(shared=False)
    state.restore(alone, read("sms-filter-v1.bin"))
    assert corrected is not None
    assert corrected.label == "spam"
    assert window.to_json() == alone.join.window(0).to_json()


@pytest.mark.parametrize("way", ["flag", "variable", "file"])
def test_the_topic_of_training_events_has_its_former_name_too(way: str, tmp_path: Path) -> None:
    flags, environment = [], {}
    if way == "flag":
        flags = ["--lessons-topic", "old"]
    elif way == "variable":
        environment = {"STREAMNB_LESSONS_TOPIC": "old"}
    else:
        (tmp_path / "sms.toml").write_text('lessons_topic = "old"\n')
        flags = ["--config", str(tmp_path / "sms.toml")]
    settings = read_settings(parser("streamnb-sms").parse_args(flags), environment)
    assert settings.training_topic == "old"
    both = environment | {"STREAMNB_TRAINING_TOPIC": "new"}
    if way == "variable":
        assert read_settings(parser("streamnb-sms").parse_args([]), both).training_topic == "new"
