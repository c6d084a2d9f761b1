"""Send a stream of SMS and mail to a cluster: messages, late labels and some invalid records.

The messages are synthetic (`streamnb.datasets.SyntheticSMS`): SMS as JSON, and similar texts as
raw mail. The key of each record is the message id, so that a label goes to the partition with the
same number as its message.

Usage: python replay_stream.py [--rate 20] [--limit 1000], with the brokers in
STREAMNB_BOOTSTRAP_SERVERS.
"""

from __future__ import annotations

import argparse
import heapq
import itertools
import json
import os
import random
import signal
import sys
import time
import warnings
from collections.abc import Iterable, Iterator, Sequence
from email.message import EmailMessage
from typing import Any, NamedTuple

from streamnb.datasets import Message, SyntheticSMS

TOPIC_SECONDS = 120.0  # wait for topics: the filters create them when they start
FLUSH_SECONDS = 30.0  # wait for the acknowledgement of sent records
BROKEN = 200  # one in 200 records is invalid
KINDS = ("sms", "spam")


class Sent(NamedTuple):
    """One record to send."""

    topic: str
    key: bytes
    value: bytes


def as_sms(name: str, message: Message) -> bytes:
    """Return a message as `streamnb-sms` reads it."""
    fields = {"id": name, "sender": "+99500000000", "time": message.time, "text": message.text}
    return json.dumps(fields).encode()


def as_mail(name: str, message: Message) -> bytes:
    """Return a message as `streamnb-spam` reads it: RFC 5322, named by its record's key."""
    mail = EmailMessage()
    mail["From"] = f"{message.label}@sender.example"
    mail["To"] = "reader@mail.example"
    # A subject must be a single line.
    mail["Subject"] = " ".join(message.text.split()[:4])
    mail["Message-ID"] = f"<{name}@sender.example>"
    mail.set_content(message.text)
    return mail.as_bytes()


def records(
    kind: str, messages: Iterable[Message], prefix: str, seed: int = 42, delay: int = 200
) -> Iterator[Sent]:
    """Yield messages, their labels up to `delay` messages later, and some invalid records.

    Parameters
    ----------
    kind
        `"sms"` or `"spam"`: topic of the messages. The topic of labels ends with `-feedback`.
    messages
        The messages.
    prefix
        Prefix of all ids. Use a new one for each run, because each id is learned only once.
    seed
        Seed of the delays and of the invalid records.
    delay
        Maximum number of messages between a message and its label.
    """
    rng = random.Random(seed)
    write = as_sms if kind == "sms" else as_mail
    waiting: list[tuple[int, int, Sent]] = []
    for number, message in enumerate(messages):
        name = f"{prefix}-{number}"
        key = name.encode()
        yield Sent(kind, key, write(name, message))
        if rng.random() < 1 / BROKEN:
            yield Sent(kind, b"broken-" + key, b'{"id": "cut o')
        label = Sent(
            f"{kind}-feedback", key, json.dumps({"id": name, "label": message.label}).encode()
        )
        heapq.heappush(waiting, (number + int(rng.random() * delay), number, label))
        while waiting and waiting[0][0] <= number:
            yield heapq.heappop(waiting)[2]
    yield from (label for _, _, label in sorted(waiting))


def both(prefix: str, limit: int | None, seed: int) -> Iterator[Sent]:
    """Yield the records of both streams alternately."""
    streams = [
        records(kind, SyntheticSMS(limit, seed + place).messages(), prefix, seed)
        for place, kind in enumerate(KINDS)
    ]
    for group in itertools.zip_longest(*streams):
        yield from (each for each in group if each is not None)


def wait_for_topics(producer: Any, topics: Sequence[str]) -> None:
    """Wait until all topics exist; the filters create them when they start."""
    end = time.monotonic() + TOPIC_SECONDS
    while missing := [topic for topic in topics if not _exists(producer, topic)]:
        if time.monotonic() > end:
            raise TimeoutError(f"missing topics: {', '.join(missing)}")
        time.sleep(1.0)


def _exists(producer: Any, topic: str) -> bool:
    from kafka.errors import KafkaError

    try:
        return bool(producer.partitions_for(topic))
    except KafkaError:
        return False


def replay(producer: Any, stream: Iterable[Sent], rate: float) -> int:
    """Send records at a rate per second; return their number."""
    sent, began = 0, time.monotonic()
    for record in stream:
        producer.send(record.topic, key=record.key, value=record.value)
        sent += 1
        ahead = began + sent / rate - time.monotonic()
        if ahead > 0:
            time.sleep(ahead)
    return sent


def main(arguments: Sequence[str] | None = None) -> int:
    """Replay until the limit or a signal; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument(
        "--bootstrap-servers",
        default=os.environ.get("STREAMNB_BOOTSTRAP_SERVERS", ""),
        metavar="HOST:PORT",
    )
    parser.add_argument("--rate", type=float, default=20.0, help="records per second (default: 20)")
    parser.add_argument("--limit", type=int, help="messages of each kind (default: unlimited)")
    parser.add_argument("--seed", type=int, default=42)
    flags = parser.parse_args(arguments)
    if not flags.bootstrap_servers:
        parser.error("give --bootstrap-servers, or set STREAMNB_BOOTSTRAP_SERVERS")
    if flags.rate <= 0:
        parser.error(f"--rate must be more than 0, not {flags.rate:g}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        from kafka import KafkaProducer

    def end(*_: object) -> None:
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, end)
    producer = KafkaProducer(
        bootstrap_servers=flags.bootstrap_servers.split(","), acks="all", linger_ms=20
    )
    try:
        wait_for_topics(producer, [f"{kind}{end}" for kind in KINDS for end in ("", "-feedback")])
        stream = both(f"r{int(time.time())}", flags.limit, flags.seed)
        sent = replay(producer, stream, flags.rate)
        producer.flush(timeout=FLUSH_SECONDS)
        print(f"{sent:,} records sent", file=sys.stderr)
    except KeyboardInterrupt:
        pass
    finally:
        producer.close(timeout=FLUSH_SECONDS)
    return 0


if __name__ == "__main__":
    sys.exit(main())
