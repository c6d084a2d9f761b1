"""Workers on a real broker, `streamnb-teacher`, and a real server with the chat protocol.

Through kills of workers and teachers, each message has one final decision, and each question one
answer that is learned once.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from streamnb_consumers.kafka.python_client.client import kafka
from support.broker import Broker
from support.chat_server import CHECKED, KEY, ChatServer
from support.clients import until
from support.scenes.scene import Message, Scene, sms

MAIN = "import sys; from streamnb_consumers.daemon.teacher_command import run_teacher as main; "
MAIN += "sys.exit(main())"
PARTITIONS, PARALLEL = 2, 4


class TeacherProgram:
    """A process of `streamnb-teacher`."""

    def __init__(self, scene: Scene, key: str = KEY) -> None:
        self.log = scene.folder / "teacher.log"
        environment = {f"STREAMNB_{name.upper()}": str(x) for name, x in scene.settings.items()}
        environment["STREAMNB_TEACHER_KEY"] = key
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-c", MAIN, "sms"],
                env={**os.environ, **environment},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )

    def kill(self) -> None:
        self.process.kill()
        self.process.wait(10)

    def stop(self) -> int:
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(45)

    def text(self) -> str:
        return self.log.read_text(errors="replace")


def send(scene: Scene, messages: Sequence[Message], seconds: float) -> None:
    """Send messages over this number of seconds, with the time of this machine."""
    producer = kafka.KafkaProducer(bootstrap_servers=scene.broker.bootstrap, linger_ms=5)
    step = max(1, len(messages) // 200)
    started = time.monotonic()
    for at in range(0, len(messages), step):
        for name, text, _ in messages[at : at + step]:
            value = json.dumps({"id": name, "text": text}).encode()
            producer.send(scene.topics.messages, value, name.encode())
        producer.flush()
        time.sleep(max(0.0, started + seconds * at / len(messages) - time.monotonic()))
    producer.close()


def read(scene: Scene, topic: str) -> list[dict[str, Any]]:
    return [json.loads(each.value) for each in scene.broker.read_all(topic)]


def scene_of(
    broker: Broker, folder: Path, server: ChatServer, client: str, **settings: object
) -> Scene:
    given = {"teacher_agreement": 0.97, "teacher_wait_seconds": 5.0, "client": client}
    given |= {"teacher_parallel": PARALLEL, "teacher_retries": 0, **settings}
    return Scene(broker, folder, partitions=PARTITIONS, **server.settings(**given))


def check(scene: Scene, messages: Sequence[Message], server: ChatServer, kills: int) -> None:
    """Check decisions, questions, answers and training events."""
    del server.asked[CHECKED]
    labels = {name: label for name, _, label in messages}
    decisions = read(scene, scene.topics.decisions)
    assert Counter(each["id"] for each in decisions) == Counter(list(labels))
    questions = Counter(each["id"] for each in read(scene, scene.topics.questions))
    assert set(questions.values()) == {1}
    feedback = scene.broker.read_all(scene.topics.feedback)
    answers = Counter(json.loads(each.value)["id"] for each in feedback)
    assert answers == questions
    assert all(each.key.decode() == json.loads(each.value)["id"] for each in feedback)
    learned = Counter((each["id"], each["learn"], each["unlearn"]) for each in scene.training())
    assert learned == Counter((name, labels[name], None) for name in questions)
    # A decision with a status other than `decided` belongs to a question, and the other way round.
    asked = {each["id"]: each for each in decisions if each["status"] != "decided"}
    assert asked.keys() == questions.keys()
    for name, each in asked.items():
        assert each["status"] in ("answered", "away")
        if each["status"] == "answered":
            assert (each["source"], each["label"]) == ("teacher", labels[name])
    assert not scene.broker.read_all(scene.topics.dead_letters)
    texts = Counter(text for name, text, _ in messages if name in questions)
    asked_again = sum((server.asked - texts).values())
    assert asked_again <= PARALLEL * kills, asked_again


def run_stream(
    broker: Broker, folder: Path, client: str, n: int, kills: int, seconds: float
) -> None:
    generator = random.Random(11)
    messages = sms(n)
    labels = {text: label for _, text, label in messages}
    messages = [(name, text, labels[text]) for name, text, _ in messages]
    delay = random.Random(3)
    with (
        ChatServer(labels, delay=lambda: delay.uniform(0.0, 0.1)) as server,
        scene_of(broker, folder, server, client) as scene,
    ):
        workers = [scene.worker(name) for name in "ab"]
        teacher = TeacherProgram(scene)
        for worker in workers:
            worker.wait_until_ready()
        sender = threading.Thread(target=send, args=(scene, messages, seconds), daemon=True)
        sender.start()
        for at in range(kills):
            time.sleep(generator.uniform(0.5, 1.5) * seconds / (2 * kills))
            teacher.kill()
            teacher = TeacherProgram(scene)
            time.sleep(generator.uniform(0.0, 0.5) * seconds / (2 * kills))
            workers[at % 2].kill()
            workers[at % 2] = scene.worker("ab"[at % 2])
            workers[at % 2].wait_until_ready()
        sender.join(300)
        scene.wait_until_done(n, 0, seconds=300)
        until(
            lambda: len(scene.training()) >= scene.count(scene.topics.questions),
            seconds=120,
        )
        assert teacher.stop() == 0, teacher.text()[-3000:]
        for worker in workers:
            worker.wait_until_ready()
            assert worker.stop() == 0, worker.text()[-3000:]
        check(scene, messages, server, kills)
        found = read(scene, scene.topics.decisions)
        assert any(each["source"] == "teacher" for each in found)
        truth = {name: label for name, _, label in messages}
        right = sum(each["label"] == truth[each["id"]] for each in found)
        assert right >= (0.97 if n > 10_000 else 0.9) * n  # a short stream is mostly a cold start
        late = sum(each["status"] == "away" for each in found)
        print(f"{n} messages, {server.asked.total()} requests, {late} late, {right} right")


@pytest.mark.parametrize("kills", [0, 2])
def test_a_teacher_answers_the_questions_of_workers(
    broker: Broker, tmp_path: Path, kills: int
) -> None:
    run_stream(broker, tmp_path, "kafka-python", n=400, kills=kills, seconds=4.0 + 8.0 * kills)


@pytest.mark.parametrize(
    ("n", "kills"),
    [
        pytest.param(5_000, 3, marks=pytest.mark.broker_long),
        pytest.param(20_000, 8, marks=pytest.mark.soak),
    ],
)
def test_many_messages_through_kills(
    broker: Broker, tmp_path: Path, client: str, n: int, kills: int
) -> None:
    run_stream(broker, tmp_path, client, n=n, kills=kills, seconds=n / 125)


def test_without_a_teacher_the_decision_of_the_model_is_written_and_the_answer_learned_later(
    broker: Broker, tmp_path: Path
) -> None:
    messages = sms(6)
    with (
        ChatServer({text: label for _, text, label in messages}) as server,
        scene_of(broker, tmp_path, server, "kafka-python", teacher_wait_seconds=0.5) as scene,
    ):
        worker = scene.worker("a")
        worker.wait_until_ready()
        send(scene, messages, 0.0)
        scene.wait_until_done(len(messages), 0, seconds=60)  # nothing else arrives meanwhile
        found = read(scene, scene.topics.decisions)
        assert {(each["source"], each["status"]) for each in found} == {("model", "away")}
        assert not server.asked
        # After a kill, they do not wait again.
        worker.kill()
        worker = scene.worker("a")
        teacher = TeacherProgram(scene)
        until(lambda: len(scene.training()) == len(messages), seconds=60)
        worker.wait_until_ready()
        assert (teacher.stop(), worker.stop()) == (0, 0)
        check(scene, messages, server, kills=0)


def test_invalid_answers_are_not_learned_and_the_label_of_a_person_stays(
    broker: Broker, tmp_path: Path
) -> None:
    messages = sms(4)
    invalid = messages[0][1]
    with (
        ChatServer(
            {text: label for _, text, label in messages},
            delay=lambda: 2.0,
            status=lambda text: 299 if text == invalid else 200,
        ) as server,
        scene_of(broker, tmp_path, server, "kafka-python", teacher_wait_seconds=8) as scene,
    ):
        worker, teacher = scene.worker("a"), TeacherProgram(scene)
        worker.wait_until_ready()
        send(scene, messages, 0.0)
        until(lambda: scene.count(scene.topics.questions) == len(messages), seconds=60)
        name, _, label = messages[1]
        other = "ham" if label == "spam" else "spam"
        producer = kafka.KafkaProducer(bootstrap_servers=broker.bootstrap)
        place = next(
            each.partition
            for each in broker.read_all(scene.topics.messages)
            if each.key.decode() == name
        )
        value = json.dumps({"id": name, "label": other}).encode()
        producer.send(scene.topics.feedback, value, name.encode(), partition=place).get(30)
        producer.close()
        scene.wait_until_done(len(messages), len(messages) - 1, seconds=60)
        until(lambda: scene.count(scene.topics.feedback) == len(messages), seconds=60)
        time.sleep(1.0)
        assert (teacher.stop(), worker.stop()) == (0, 0)
        found = {each["id"]: each for each in read(scene, scene.topics.decisions)}
        assert found[messages[0][0]]["status"] == "away"
        assert found[name]["label"] == other  # of the person, who was faster
        learned = {each["id"]: each["learn"] for each in scene.training()}
        assert messages[0][0] not in learned
        assert learned[name] == other
        assert len(scene.training()) == len(messages) - 1
        assert "is invalid" in teacher.text()


def test_a_wrong_key_ends_the_program_with_the_next_step(broker: Broker, tmp_path: Path) -> None:
    with ChatServer({}) as server, scene_of(broker, tmp_path, server, "kafka-python") as scene:
        program = TeacherProgram(scene, key="sk-wrong")
        assert program.process.wait(60) == 2
        assert "give the right key" in program.text()
