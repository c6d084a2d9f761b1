"""The daemon as it is run: topics made, health and metrics over HTTP, SIGTERM, exit statuses."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from support.broker import Broker
from support.commands import get

START_SECONDS = 60.0  # importing and joining take 3 s on an idle machine
STOP_SECONDS = 30.0  # the default of stop_seconds is 10
PROGRAM = "import sys; from streamnb_consumers.daemon.command import run_sms; sys.exit(run_sms())"


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def wait_for(port: int, path: str, text: str, seconds: float = START_SECONDS) -> str:
    deadline = time.monotonic() + seconds
    while True:
        status, answer = get(port, path)
        if status == 200 and re.search(text, answer):
            return answer
        assert time.monotonic() < deadline, f"{path} {status}: {answer[-2000:]}"
        time.sleep(0.1)


@contextmanager
def daemon(flags: list[str], environment: dict[str, str]) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, *flags],
        env=os.environ | environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate(timeout=STOP_SECONDS)


@pytest.fixture
def environment(broker: Broker, tmp_path: Path) -> dict[str, str]:
    names = ("messages", "feedback", "decisions", "training", "join_state", "dead_letters")
    topics = {f"STREAMNB_{name.upper()}_TOPIC": broker.unique(name) for name in names}
    return topics | {
        "STREAMNB_BOOTSTRAP_SERVERS": broker.bootstrap,
        "STREAMNB_GROUP": broker.unique("group"),
        "STREAMNB_SNAPSHOTS": str(tmp_path / "snapshots"),
        "STREAMNB_LOG_LEVEL": "INFO",
    }


def produce(broker: Broker, topic: str, values: list[dict[str, str]]) -> None:
    from streamnb_consumers.kafka.python_client.client import kafka

    producer = kafka.KafkaProducer(bootstrap_servers=broker.bootstrap)
    for value in values:
        producer.send(topic, json.dumps(value).encode(), value["id"].encode())
    producer.flush(timeout=30)
    producer.close()


def test_from_nothing_to_decisions_and_back_again(
    broker: Broker, environment: dict[str, str]
) -> None:
    port = free_port()
    flags = ["--create-topics=2", f"--http-port={port}", "--poll-seconds=0.1"]
    topic = {name: environment[f"STREAMNB_{name}_TOPIC"] for name in ("MESSAGES", "DECISIONS")}
    messages = [{"id": f"{n}", "text": "win cash", "label": "spam"} for n in range(20)]
    with daemon(flags, environment) as process:
        wait_for(port, "/readyz", "ok")
        assert get(port, "/livez") == (200, "ok\n")
        produce(broker, topic["MESSAGES"], [*messages, {"id": "odd", "text": 5}])  # type: ignore[dict-item]
        told = wait_for(port, "/metrics", r'streamnb_model_training_events{filter="sms"} 20\.0')
        assert 'streamnb_dead_letters_total{filter="sms"} 1.0' in told
        assert 'streamnb_decision_latency_seconds_count{filter="sms"} 20.0' in told
        lag = (
            rf'streamnb_lag_records{{filter="sms",partition="\d",topic="{topic["MESSAGES"]}"}} 0\.0'
        )
        told = wait_for(port, "/metrics", lag)
        process.send_signal(signal.SIGTERM)
        errors = process.communicate(timeout=STOP_SECONDS)[1]
        assert process.returncode == 0, errors
    assert all(json.loads(line)["level"] in ("INFO", "WARNING") for line in errors.splitlines())
    with daemon(flags, environment) as process:
        wait_for(port, "/readyz", "ok")
        produce(broker, topic["MESSAGES"], [{"id": "last", "text": "win"}])
        wait_for(port, "/metrics", r'streamnb_decisions_total{filter="sms",label="spam"} 1\.0')
    decided = [json.loads(each.value)["id"] for each in broker.read_all(topic["DECISIONS"])]
    assert sorted(decided) == sorted(["last", *(one["id"] for one in messages)])


def test_a_topic_that_is_missing_is_a_wrong_setting(environment: dict[str, str]) -> None:
    with daemon(["--commit-seconds=2"], environment) as process:
        errors = process.communicate(timeout=START_SECONDS)[1]
    assert process.returncode == 2, errors
    assert "set create_topics" in errors


def test_a_dry_run_writes_and_commits_nothing(broker: Broker, environment: dict[str, str]) -> None:
    flags = ["--create-topics=1", "--poll-seconds=0.1"]
    port = free_port()
    topic = {name: environment[f"STREAMNB_{name}_TOPIC"] for name in ("MESSAGES", "DECISIONS")}
    with daemon([*flags, f"--http-port={port}"], environment):
        wait_for(port, "/readyz", "ok")
    produce(broker, topic["MESSAGES"], [{"id": "a", "text": "hi"}])
    with daemon([*flags, f"--http-port={port}", "--dry-run"], environment) as process:
        wait_for(port, "/metrics", r'streamnb_decisions_total{filter="sms",label=""} 1\.0')
        process.send_signal(signal.SIGTERM)
        errors = process.communicate(timeout=STOP_SECONDS)[1]
        assert process.returncode == 0, errors
    assert "1 decisions" in errors
    assert broker.read_all(topic["DECISIONS"]) == []
