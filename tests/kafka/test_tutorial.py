"""The commands of the tutorial on Kafka filters run on a real broker."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from support.broker import Broker

RUN_SECONDS = 150.0  # five seconds on an idle machine
TUTORIAL = Path(__file__).parents[2] / "docs" / "tutorials" / "kafka-filter.md"

# The jars of the tests lack Apache Kafka's console tools; these replace the ones used, by flags.
PRODUCER = """\
import argparse, sys, time
import kafka
parser = argparse.ArgumentParser()
for flag in ("--bootstrap-server", "--topic"):
    parser.add_argument(flag, required=True)
parser.add_argument("--property", action="append", default=[])
flags = parser.parse_args()
properties = dict(each.split("=", 1) for each in flags.property)
assert properties.pop("parse.key") == "true"
producer = kafka.KafkaProducer(bootstrap_servers=flags.bootstrap_server)
end = time.monotonic() + 30
while time.monotonic() < end:
    try:
        if producer.partitions_for(flags.topic):
            break
    except kafka.errors.KafkaError:
        time.sleep(0.2)
for line in sys.stdin.buffer.read().splitlines():
    key, _, value = line.partition(properties["key.separator"].encode())
    producer.send(flags.topic, value, key).get(30)
producer.close()
"""
CONSUMER = """\
import argparse
import kafka
from streamnb_consumers.kafka.python_client.workarounds import fix_lost_topics
fix_lost_topics()
parser = argparse.ArgumentParser()
for flag in ("--bootstrap-server", "--topic", "--isolation-level"):
    parser.add_argument(flag, required=True)
parser.add_argument("--from-beginning", action="store_true")
parser.add_argument("--max-messages", type=int)
flags = parser.parse_args()
consumer = kafka.KafkaConsumer(
    flags.topic,
    bootstrap_servers=flags.bootstrap_server,
    isolation_level=flags.isolation_level,
    auto_offset_reset="earliest" if flags.from_beginning else "latest",
    consumer_timeout_ms=30_000,
)
for number, record in enumerate(consumer, 1):
    print(record.value.decode(), flush=True)
    if number == flags.max_messages:
        break
"""


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    """Return a folder of programs for the path."""
    for name, source in (("producer", PRODUCER), ("consumer", CONSUMER)):
        (tmp_path / f"{name}.py").write_text(source, encoding="utf-8")
        path = tmp_path / f"kafka-console-{name}.sh"
        command = f'exec "{sys.executable}" -W ignore "{tmp_path / name}.py" "$@"'
        path.write_text(f"#!/bin/sh\n{command}\n", encoding="utf-8")
        path.chmod(0o755)
    return tmp_path


@pytest.mark.broker_long
def test_the_commands_of_the_tutorial_run(own_broker: Broker, tools: Path) -> None:
    text = TUTORIAL.read_text(encoding="utf-8")
    (block,) = re.findall(r"^```sh\n([^`]*BOOTSTRAP_SERVERS.*?)^```", text, re.M | re.S)
    lines = block.replace("localhost:9092", own_broker.bootstrap).splitlines()
    assert "venv" in lines[0]
    assert lines[1] == "pip install '.[consumers,kafka]'"
    # Later commands use the file that the text describes.
    shown = "\n".join(lines[4:])
    more = [
        shown.replace('1|{"id": "1"', f'{number}|{{"id": "{number}"')
        .replace("messages 1", f"messages {number}")
        .replace(*other)
        for number, other in (
            (2, ('"WIN cash now", "label": "spam"', '"see you at noon", "label": "ham"')),
            (3, ('"WIN cash now", "label": "spam"', '"win cash"')),
        )
    ]
    script = "\n".join([*lines[2:], *more, "kill -TERM $!", "wait $!", "echo status $?"])
    path = os.pathsep.join([str(tools), sysconfig.get_path("scripts"), os.environ["PATH"]])
    clean = {name: value for name, value in os.environ.items() if "STREAMNB_" not in name}
    process = subprocess.Popen(
        ["bash", "-c", script],
        cwd=tools,
        env=clean | {"PATH": path},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        said, errors = process.communicate(timeout=RUN_SECONDS)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)  # whatever is left of the lines
    *decisions, status = said.splitlines()
    assert status == "status 0", errors
    found = [json.loads(line) for line in decisions]
    assert [each["id"] for each in found] == ["1", "1", "2", "1", "2", "3"]
    assert found[0]["label"] is None
    assert found[-1]["label"] == "spam"
    assert found[-1]["version"] == 2
    assert list((tools / "sms-snapshots").iterdir())
