"""Through kills, each question is asked, answered and learned once, within the daily budget.

Confident decisions on other messages are learned at most once, too.
"""

from __future__ import annotations

import json
import random
import threading
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest

from streamnb_consumers.kafka.python_client.client import kafka
from support.broker import Broker
from support.clients import until
from support.scenes.scene import Message, Scene, sms
from support.scenes.standing import standing

MNB = "MNB(alpha=0.1, oov='skip')"
DAY = 86_400_000
DAYS, PER_DAY, PARTITIONS = 3, 100, 2


class Answerer(threading.Thread):
    """A user who answers each committed question immediately, in the time of the messages.

    Labels are merged with the messages by time. With the time of this machine, which is after that
    of all messages, a worker that catches up would learn them at the end.
    """

    def __init__(self, scene: Scene, messages: Sequence[Message], times: Sequence[int]) -> None:
        super().__init__(daemon=True)
        self._scene = scene
        self._times = {name: at for (name, *_), at in zip(messages, times, strict=True)}
        self._labels = {name: label for name, _, label in messages}
        self.done = threading.Event()
        self.answered: list[str] = []

    def run(self) -> None:
        bootstrap, topics = self._scene.broker.bootstrap, self._scene.topics
        reader = kafka.KafkaConsumer(
            topics.questions,
            bootstrap_servers=bootstrap,
            isolation_level="read_committed",
            auto_offset_reset="earliest",
        )
        producer = kafka.KafkaProducer(bootstrap_servers=bootstrap)
        while not self.done.is_set():
            for records in reader.poll(timeout_ms=200).values():
                for record in records:
                    name = json.loads(record.value)["id"]
                    producer.send(
                        topics.feedback,
                        json.dumps({"id": name, "label": self._labels[name]}).encode(),
                        name.encode(),
                        headers=[("labelled-by", b"ann")],
                        timestamp_ms=self._times[name] + 1000,
                    )
                    self.answered.append(name)
            producer.flush()
        reader.close()
        producer.close()


def send(scene: Scene, messages: Sequence[Message], times: Sequence[int], seconds: float) -> None:
    """Send messages with their timestamps over this number of seconds."""
    producer = kafka.KafkaProducer(bootstrap_servers=scene.broker.bootstrap, linger_ms=5)
    for at in range(0, len(messages), 50):
        for (name, text, _), moment in zip(messages[at : at + 50], times[at:], strict=False):
            value = json.dumps({"id": name, "text": text}).encode()
            producer.send(scene.topics.messages, value, name.encode(), timestamp_ms=moment)
        producer.flush()
        time.sleep(50 * seconds / len(messages))
    producer.close()


def learned(scene: Scene, own: bool) -> list[tuple[str, str, str | None]]:
    """Return the training events with the filter's own labels, or with those of users."""
    return [
        (each["id"], each["learn"], each["unlearn"])
        for each in scene.training()
        if (each["weight"] != 1.0) is own
    ]


def run_kills(broker: Broker, folder: Path, client: str, kills: int, n: int) -> None:
    generator = random.Random(6)
    messages = sms(n)
    begin = (int(time.time() * 1000) - DAYS * DAY) // DAY * DAY
    times = [begin + at * DAYS * DAY // n for at in range(n)]
    settings = {"client": client, "model": MNB, "ask_per_day": PER_DAY, "self_training": True}
    with Scene(broker, folder, partitions=PARTITIONS, **settings) as scene:
        workers = [scene.worker(name) for name in "ab"]
        answerer = Answerer(scene, messages, times)
        answerer.start()
        sender = threading.Thread(
            target=send, args=(scene, messages, times, 3.0 * kills), daemon=True
        )
        sender.start()
        for at in range(kills):
            workers[at % 2].wait_until_ready()
            time.sleep(generator.uniform(0.0, 2.0))
            workers[at % 2].kill()
            workers[at % 2] = scene.worker("ab"[at % 2])
        sender.join(120)
        scene.wait_until_done(n, 0, seconds=300)
        decisions = [json.loads(each.value) for each in broker.read_all(scene.topics.decisions)]
        asked = [each["id"] for each in decisions if each.get("ask")]
        try:
            until(lambda: len(learned(scene, own=False)) >= len(asked), seconds=120)
        except AssertionError as error:
            given = {name for name, *_ in learned(scene, own=False)}
            missing, silent = {*asked} - given, {*asked} - {*answerer.answered}
            raise AssertionError(
                f"{len(missing)} of {len(asked)} are not learned, {len(silent)} were not answered, "
                f"the answerer is {'alive' if answerer.is_alive() else 'dead'}\n{standing(scene)}"
            ) from error
        answerer.done.set()
        answerer.join(30)
        for worker in workers:
            worker.wait_until_ready()  # the other one may have done the rest before its start
            assert worker.stop() == 0, worker.text()[-3000:]
        assert set(scene.decisions().values()) == {1}
        questions = [json.loads(each.value) for each in broker.read_all(scene.topics.questions)]
        texts = {name: text for name, text, _ in messages}
        assert {each["id"]: each["features"] for each in questions} == {
            name: texts[name] for name in asked
        }
        assert sorted(answerer.answered) == sorted(asked) == sorted({*asked})
        labels = {name: label for name, _, label in messages}
        given = learned(scene, own=False)
        assert sorted(given) == sorted((name, labels[name], None) for name in asked)
        own = [name for name, *_ in learned(scene, own=True)]
        assert len(own) == len({*own} - {*asked})
        assert len(own) > n / 10 or n < 10_000  # a short stream has labels late
        assert not broker.read_all(scene.topics.dead_letters)
        moments = {name: moment for (name, *_), moment in zip(messages, times, strict=True)}
        counts = Counter((moments[name] - begin) // DAY for name in asked)
        unspent = max(2 * PARTITIONS, PER_DAY // 10)
        assert max(counts.values()) <= PER_DAY + unspent, counts
        assert 0.9 * DAYS * PER_DAY - unspent <= len(asked) <= DAYS * PER_DAY + unspent, counts


@pytest.mark.broker_long
@pytest.mark.parametrize(("kills", "n"), [(2, 1_500), (8, 12_000)])
def test_questions_through_kills(
    broker: Broker, tmp_path: Path, client: str, kills: int, n: int
) -> None:
    run_kills(broker, tmp_path, client, kills=kills, n=n)
