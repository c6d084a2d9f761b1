"""The same mails give the same decisions and model through spamc, HTTP, files and a broker."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from streamnb.datasets.lines import read_lines
from streamnb.model.readiness import READY_AFTER
from streamnb_consumers.daemon.assembly import make_filter, make_loop
from streamnb_consumers.daemon.listen.service import content_id, points
from streamnb_consumers.daemon.settings import Settings
from streamnb_consumers.daemon.state_folder import load
from streamnb_consumers.kafka.python_client.client import kafka
from streamnb_consumers.records import Decision, Partition
from support.broker import Broker
from support.data import require_data
from support.listener import listening
from support.scenes.scene import SPAM_MAIN
from support.stepped import until

pytest.importorskip("uvicorn")
LARGEST = 400_000  # bytes: spamc and Kafka have limits
# All four wait for evidence, as a listener does by default, and learn nothing but labels.
READY: dict[str, Any] = {"ready_after": READY_AFTER, "min_evidence": 2.8, "assume_after": "0"}
FLAGS = [f"--{name.replace('_', '-')}={value}" for name, value in READY.items()]
Mail = tuple[str, bytes]  # label and content
Found = tuple[list[Any], bytes]  # decisions, and the model


def mails(n: int) -> list[Mail]:
    """Return n mails of SpamAssassin from its whole time."""
    lines = list(read_lines(require_data("text/spamassassin.jsonl.xz")))
    found = [json.loads(line.text) for line in lines[:: len(lines) // n]][:n]
    return [(each["label"], each["text"].encode()) for each in found if len(each["text"]) < LARGEST]


def blocks(stream: list[Mail], blocks: int = 5) -> Iterator[list[Mail]]:
    """Yield parts of a stream: all mails of a part are decided, and then learned."""
    size = -(-len(stream) // blocks)
    return (stream[at : at + size] for at in range(0, len(stream), size))


def rounded(decisions: Iterable[dict[str, Any]]) -> list[tuple[str, float]]:
    """Return labels and points as spamc shows them: what is unsure is not spam."""
    return [
        (
            "spam" if each["label"] == "spam" else "ham",
            points(Decision(**each, partition=Partition("", 0), offset=0), "spam"),
        )
        for each in decisions
    ]


def model_in(folder: Path) -> bytes:
    worker = make_filter("spam", Settings())
    load(worker, folder, 2**33)
    return bytes(worker.learner.model.to_bytes())


def by_spamc(stream: list[Mail], folder: Path) -> Found:
    decisions: list[Any] = []
    with listening(folder, flags=("--stop-seconds", "60", *FLAGS)) as listener:

        def spamc(raw: bytes, *flags: str) -> subprocess.CompletedProcess[bytes]:
            command = ["spamc", "-p", str(listener.port), "-x", "-s", "10000000", *flags]
            return subprocess.run(command, input=raw, capture_output=True, timeout=60)

        for part in blocks(stream):
            for _, raw in part:
                done = spamc(raw, "-c")
                score = float(done.stdout.partition(b"/")[0])
                decisions.append((("ham", "spam")[done.returncode], score))
            for label, raw in part:
                assert spamc(raw, "-L", label).returncode == 0
        assert listener.stop() == 0
    return decisions, model_in(folder)


def by_http(stream: list[Mail], folder: Path) -> Found:
    decisions: list[Any] = []
    with listening(folder, flags=("--stop-seconds", "60", *FLAGS)) as listener:

        def post(path: str, raw: bytes) -> Any:
            status, body = listener.http("POST", path, raw, "message/rfc822")
            assert status == 200
            return json.loads(body)

        for part in blocks(stream):
            decisions += [post("/classify", raw) for _, raw in part]
            for label, raw in part:
                post(f"/learn?label={label}", raw)
        assert listener.stop() == 0
    return decisions, model_in(folder)


def by_standard_input(stream: list[Mail], folder: Path) -> Found:
    lines: list[dict[str, str]] = []
    for part in blocks(stream):
        lines += [{"id": content_id(raw), "text": raw.decode()} for _, raw in part]
        lines += [{"id": content_id(raw), "label": label} for label, raw in part]
    done = subprocess.run(
        [sys.executable, "-c", SPAM_MAIN, "--format", "jsonl", "--snapshots", str(folder), *FLAGS],
        input="".join(json.dumps(line) + "\n" for line in lines).encode(),
        capture_output=True,
        timeout=600,
        check=True,
    )
    return [json.loads(line) for line in done.stdout.splitlines()], model_in(folder)


def by_broker(stream: list[Mail], broker: Broker) -> Found:
    name = broker.unique("ways")
    parts = ("feedback", "decisions", "training", "join_state", "dead_letters")
    topics = {f"{part}_topic": f"{name}-{part}" for part in parts}
    loop = make_loop(
        "spam",
        Settings(
            bootstrap_servers=broker.bootstrap, messages_topic=name, group=name, create_topics=1,
            poll_seconds=0.05, **READY, **topics,  # type: ignore[arg-type]
        ),
        environment={},
    )  # fmt: skip
    producer = kafka.KafkaProducer(bootstrap_servers=broker.bootstrap)
    known: dict[str, str] = {}
    try:
        loop._start()
        until(lambda: not loop.health.problem_of_readiness(), loop._step)
        done = 0
        for part in blocks(stream):
            for _, raw in part:
                producer.send(name, raw, content_id(raw).encode())
            producer.flush()
            done += len(part)
            until(lambda done=done: loop.metrics.decisions == done, loop._step, seconds=300)
            for label, raw in part:
                value = json.dumps({"id": content_id(raw), "label": label}).encode()
                producer.send(topics["feedback_topic"], value, content_id(raw).encode())
                known[content_id(raw)] = label
            producer.flush()
            until(lambda: loop.worker.learner.learned == len(known), loop._step, seconds=300)
        records = broker.read_all(topics["decisions_topic"])
        model = loop.worker.learner.model.to_bytes()
    finally:
        producer.close()
        loop._close()
    return [json.loads(record.value) for record in records], bytes(model)


@pytest.mark.parametrize("n", [100, pytest.param(1000, marks=pytest.mark.broker_long)])
def test_four_ways_give_the_same_decisions_and_model(
    broker: Broker, tmp_path: Path, n: int
) -> None:
    if shutil.which("spamc") is None:
        pytest.skip("spamc is not installed")
    stream = mails(n)
    # Opposite labels of equal mails would be corrections, which the count of events misses.
    assert len({(content_id(raw), label) for label, raw in stream}) == len(
        {content_id(raw) for _, raw in stream}
    )
    expected, model = by_standard_input(stream, tmp_path / "files")
    assert len(expected) == len(stream)
    assert expected[0]["label"] == "unsure"
    assert {each["label"] for each in expected[n // 5 :]} >= {"ham", "spam"}
    for decisions, other in (by_http(stream, tmp_path / "http"), by_broker(stream, broker)):
        assert decisions == expected
        assert other == model
    assert by_spamc(stream, tmp_path / "spamc") == (
        rounded(expected),
        model,
    )
