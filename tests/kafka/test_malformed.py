"""10,000 malformed records among valid ones: each gets a decision or a dead letter; no worker
stops.
"""

from __future__ import annotations

import base64
import json
import random
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from streamnb.datasets import stream
from streamnb_consumers.kafka.python_client.client import kafka
from support.broker import Broker
from support.scenes.scene import SPAM_MAIN, Scene, Worker

MEBIBYTE = 2**20


def malformed_sms(generator: random.Random, number: int) -> bytes | None:
    """Return a record with one of many faults."""
    name = f"bad{number}"
    text = "win cash now"
    kinds: list[Callable[[], bytes | None]] = [
        lambda: generator.randbytes(generator.randrange(1, 300)),
        lambda: json.dumps(
            {"id": name, "text": generator.choice([1, None, [], {}, True])}
        ).encode(),
        lambda: json.dumps(
            {"id": generator.choice([1.5, [], {}, "", "x" * 999]), "text": text}
        ).encode(),
        lambda: json.dumps({"id": name}).encode(),
        lambda: json.dumps(
            {"id": name, "text": text, "label": generator.choice([1, "no", []])}
        ).encode(),
        lambda: json.dumps(generator.choice([[], 1, "text", None, True])).encode(),
        lambda: json.dumps({"id": name, "text": text}).encode()[: generator.randrange(1, 20)],
        lambda: json.dumps({"id": name, "text": text}).encode("utf-16"),
        lambda: f'{{"id": "{name}", "text": "caf'.encode() + b'\xe9"}',
        lambda: b"[" * 5_000,
        lambda: b"",
        lambda: None,
    ]
    return generator.choice(kinds)()


def malformed_mail(generator: random.Random, number: int) -> bytes | None:
    """Return a mail with one of many faults."""
    head = b"From: a@b.example\nSubject: offer\nMIME-Version: 1.0\n"
    kinds: list[Callable[[], bytes | None]] = [
        lambda: generator.randbytes(generator.randrange(1, 300)),
        lambda: head + b"Content-Type: multipart/mixed; boundary=x\n\n--x\n--x\n\n--x--\n--y",
        lambda: head + b"Content-Type: multipart/mixed\n\nno boundary\n",
        lambda: head + b"Content-Type: text/plain; charset=no-such\n\n\xff\xfe hello",
        lambda: head + b"Content-Type: text/html; charset=utf-16\n\n<p>\xe9t\xe9</b><![CDATA[",
        lambda: head + b"Content-Transfer-Encoding: base64\n\n@@@=not base64",
        lambda: head + b"Content-Transfer-Encoding: quoted-printable\n\n=ZZ=\n=E9",
        lambda: head + b"Content-Type: " + b"a" * 3_000 + b"\n\nhello",
        lambda: b"\x00" * 200,
        lambda: json.dumps({"id": "x", "base64": "no"}).encode(),
        lambda: json.dumps(
            {"id": "x", "base64": base64.b64encode(head).decode(), "label": 7}
        ).encode(),
        lambda: b"\n\n\n",
        lambda: None,
    ]
    return generator.choice(kinds)()


def large(generator: random.Random, kind: str) -> bytes:
    """Return a text of nearly a megabyte."""
    text = " ".join(str(generator.randrange(2_000)) for _ in range(200_000))[: MEBIBYTE - 1_000]
    if kind == "sms":
        return json.dumps({"id": "large", "text": text}).encode()
    return b"Subject: large\n\n" + text.encode()


def records(kind: str, bad: int) -> Iterator[tuple[bytes, bytes | None]]:
    """Return alternating valid and malformed records, 20 of them large."""
    generator = random.Random(5)
    made = malformed_sms if kind == "sms" else malformed_mail
    texts = [text for text, _ in stream("synthetic-sms", limit=500)]
    for number in range(bad):
        text = texts[number % len(texts)]
        good = {"id": f"good{number}", "text": text if kind == "sms" else f"Subject: x\n\n{text}"}
        yield b"good%d" % number, json.dumps(good).encode()
        is_large = number % (bad // 20) == 0
        yield b"bad%d" % number, large(generator, kind) if is_large else made(generator, number)


def resident(worker: Worker) -> int:
    """Return the resident memory of a process, in megabytes."""
    status = Path(f"/proc/{worker.process.pid}/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0]) // 1024


@pytest.mark.broker_long
@pytest.mark.parametrize(("kind", "bad"), [("sms", 7_000), ("spam", 3_000)])
def test_malformed_records(
    broker: Broker, tmp_path: Path, client: str, kind: str, bad: int
) -> None:
    settings = {"client": client, "join_window_bytes": MEBIBYTE, "feedback_topic": "", "batch": 500}
    with Scene(broker, tmp_path, **settings) as scene:
        main = SPAM_MAIN if kind == "spam" else None
        worker = scene.worker("a", **({"main": main} if main else {}))
        worker.wait_until_ready()
        producer = kafka.KafkaProducer(
            bootstrap_servers=broker.bootstrap, linger_ms=5, max_request_size=2 * MEBIBYTE
        )
        sizes, sent, third = [], [], 2 * bad // 3
        for at, (key, value) in enumerate(records(kind, bad)):
            sent.append((key, value))
            producer.send(scene.topics.messages, value, key)
            if at % third == third - 1:
                producer.flush()
                wait_until_handled(scene, sum(value is not None for _, value in sent))
                sizes.append(resident(worker))
        producer.flush()
        wait_until_handled(scene, sum(value is not None for _, value in sent))
        sizes.append(resident(worker))
        assert worker.stop() == 0, worker.text()[-3000:]
        decided = Counter(each.key for each in broker.read_all(scene.topics.decisions))
        dead = broker.read_all(scene.topics.dead_letters)
        places = Counter(dict(each.headers)["offset"] for each in dead)
        assert set(places.values()) <= {1}
        tombstones = sum(value is None for _, value in sent)  # skipped
        assert sum(decided.values()) + len(dead) + tombstones == len(sent) == 2 * bad
        assert all(decided[b"good%d" % number] == 1 for number in range(bad))
        assert len(dead) > bad // 10
        for each in dead:
            headers = dict(each.headers)
            assert headers["topic"].decode() == scene.topics.messages
            assert headers["error"]
            assert (each.key, each.value) == sent[
                int(headers["offset"])
            ]  # the raw bytes, all of them
        # The first third fills buffers and the allocator; then memory stays flat.
        assert sizes[-1] - sizes[0] < 32, sizes


def wait_until_handled(scene: Scene, records: int) -> None:
    deadline = time.monotonic() + 120
    topics = (scene.topics.decisions, scene.topics.dead_letters)
    while sum(scene.count(topic) for topic in topics) < records:
        assert time.monotonic() < deadline
        time.sleep(0.2)
