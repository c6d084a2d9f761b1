"""`streamnb-delete` on topics: unlearning, truncation, shared snapshots, and honest remainders."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from streamnb.model.compression import decompressed
from streamnb_consumers.daemon.delete_command import run_delete
from streamnb_consumers.kafka.python_client.client import kafka
from support.broker import Broker
from support.profiles import one_client
from support.scenes.scene import Scene, Worker
from support.stepped import until

SECRET = "xyzzysecret claim your prize"


@pytest.fixture
def scene(broker: Broker, tmp_path: Path, client: str) -> Any:
    shared = {"shared_snapshots": tmp_path / "shared", "shared_snapshot_seconds": 0.1}
    with Scene(
        broker,
        tmp_path,
        client=client,
        model="MNB()",
        join_window_count=4,
        snapshots_kept=2,
        **shared,
    ) as made:
        yield made


def send(scene: Scene, topic: str, name: str | None, value: Any) -> None:
    producer = kafka.KafkaProducer(bootstrap_servers=scene.broker.bootstrap)
    key = None if name is None else name.encode()
    raw = value if isinstance(value, bytes) else json.dumps(value).encode()
    producer.send(topic, raw, key, partition=0)
    producer.flush()
    producer.close()


def teach(scene: Scene, worker: Worker, names: list[str], text: str = "see you at {}") -> None:
    """Send messages and their labels, and wait until the model has learned them."""
    events = len(scene.training())
    for name in names:
        said = {"id": name, "text": text.format(name)}
        send(scene, scene.topics.messages, name, said)
        send(scene, scene.topics.feedback, name, {"id": name, "label": "spam"})
    worker.wait_learned(events + len(names))


def arguments(scene: Scene) -> list[str]:
    names = ("bootstrap_servers", "group", "client", "shared_snapshots")
    topics = [name for name in scene.settings if name.endswith("_topic")]
    flags = [
        f"--{name.replace('_', '-')}={scene.settings[name]}"
        for name in (*names, *topics)
        if name in scene.settings
    ]
    return ["sms", *flags, "--commit-seconds", "20"]


def shared_with(scene: Scene, word: bytes) -> list[str]:
    folder = scene.folder / "shared"
    return [
        path.name
        for path in folder.glob("shared-*.bin")
        if word in decompressed(path.read_bytes(), 2**30)
    ]


@one_client
def test_a_message_leaves_model_topics_and_shared_snapshots(
    scene: Scene, capsys: pytest.CaptureFixture[str]
) -> None:
    worker = scene.worker("a")
    worker.wait_until_ready()
    teach(scene, worker, ["m1", "m2"])
    teach(scene, worker, ["secret"], SECRET)
    teach(scene, worker, ["m3"])
    send(scene, scene.topics.messages, "secret", {"id": "secret", "text": 7, "was": SECRET})
    until(lambda: scene.count(scene.topics.dead_letters) == 1)
    until(lambda: bool(shared_with(scene, b"xyzzysecret")))
    given = [*arguments(scene), "--id", "secret"]
    every = ("messages", "feedback", "decisions", "training", "dead_letters")
    truncating = [f"--truncate={getattr(scene.topics, name)}" for name in every]

    assert run_delete([*given, *truncating]) == 1
    told = capsys.readouterr().out
    assert "model: the workers were asked to unlearn it" in told
    assert "training 0: 1 records left: the workers have not unlearned the message" in told
    assert "join-state 0: " in told
    assert not scene.count(scene.topics.dead_letters)
    assert scene.broker.read_all(scene.topics.decisions)[0].offset > 0
    assert any("xyzzysecret" in json.dumps(each) for each in scene.training())

    until(lambda: scene.training()[-1].get("unlearn") == "spam")
    teach(scene, worker, [f"n{at}" for at in range(6)])
    until(lambda: not shared_with(scene, b"xyzzysecret"))
    deadline = time.monotonic() + 60
    while "asked to unlearn" in told or f"{scene.topics.training} 0: " in told:
        assert time.monotonic() < deadline, told
        assert run_delete([*given, *truncating]) == 1
        told = capsys.readouterr().out
    assert run_delete([*given, *truncating]) == 1
    told = capsys.readouterr().out
    # Only Kafka's compaction deletes from the join state.
    assert told.count("records left") == 1
    assert "join-state 0: " in told
    assert "compaction deletes them" in told
    for name in every:
        records = scene.broker.read_all(getattr(scene.topics, name))
        assert not any(b"xyzzysecret" in (each.value or b"") for each in records), name
        assert not any(each.key == b"secret" for each in records), name
    # Other messages stay in the model, and a new worker starts from the shared snapshots.
    fresh = scene.worker("b")
    fresh.wait_until_ready()
    assert not shared_with(scene, b"xyzzysecret")
    assert worker.stop() == 0
    teach(scene, fresh, ["last"])
    until(lambda: fresh.filter().learner.model.class_count_["spam"] == 10.0)


def test_without_truncate_records_stay_and_are_reported(
    scene: Scene, capsys: pytest.CaptureFixture[str]
) -> None:
    worker = scene.worker("a")
    worker.wait_until_ready()
    teach(scene, worker, ["secret"], SECRET)
    given = [*arguments(scene), "--id", "secret"]
    assert run_delete(given) == 1
    told = capsys.readouterr().out
    assert f"topic {scene.topics.messages} 0: 1 records left: retention.ms is " in told
    assert f"topic {scene.topics.training} 0: 1 records left: they stay" in told
    assert "not reached: snapshots of the workers" in told
    assert scene.count(scene.topics.messages) == 1
    assert run_delete([*arguments(scene), "--id", "never"]) == 1
    assert run_delete([*given, f"--truncate={scene.topics.join_state}"]) == 2
    assert "--truncate must name topics of the filter" in capsys.readouterr().err
