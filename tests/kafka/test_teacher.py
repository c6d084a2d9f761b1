"""Workers on a real broker, `streamnb-teacher`, and a real server with the chat protocol.

Through kills of workers and teachers, each message has one final decision, and each question one
answer that is learned once.
"""

from __future__ import annotations

import json
import random
import threading
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

from streamnb_consumers.kafka.python_client.client import kafka
from support.broker import Broker, free_ports
from support.chat_server import CHECKED, ChatServer
from support.clients import until
from support.commands import get
from support.profiles import one_client
from support.scenes.scene import Message, Scene, sms
from support.scenes.teacher import TeacherProgram

PARTITIONS, PARALLEL = 2, 4


def of_one_opinion(n: int) -> tuple[list[Message], dict[str, str]]:
    """Return messages in which equal texts have the same label, and the label of each text."""
    messages = sms(n)
    labels = {text: label for _, text, label in messages}
    return [(name, text, labels[text]) for name, text, _ in messages], labels


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
    twice = {n for n, c in Counter(each["id"] for each in decisions).items() if c > 1}
    assert not twice, [each for each in decisions if each["id"] in twice][:12]
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
    messages, labels = of_one_opinion(n)
    delay = random.Random(3)
    with (
        ChatServer(labels, delay=lambda: delay.uniform(0.0, 0.1)) as server,
        # A short stream is mostly a cold start: all its questions come at once, and wait.
        scene_of(
            broker, folder, server, client, teacher_wait_seconds=5.0 if n > 10_000 else 20.0
        ) as scene,
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
        assert right >= (0.97 if n > 10_000 else 0.9) * n
        late = sum(each["status"] == "away" for each in found)
        print(f"{n} messages, {server.asked.total()} requests, {late} late, {right} right")


@pytest.mark.parametrize("kills", [pytest.param(0, marks=pytest.mark.broker_long), 2])
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


@one_client
def test_two_teachers_at_once_give_each_question_one_answer(
    broker: Broker, tmp_path: Path, client: str
) -> None:
    """The newer program takes over in the middle of the stream; the older one ends."""
    messages, labels = of_one_opinion(600)
    with (
        ChatServer(labels, delay=lambda: 0.05) as server,
        scene_of(
            broker, tmp_path, server, client, teacher_audit_share=0.5, teacher_wait_seconds=20
        ) as scene,
    ):
        worker, first = scene.worker("a"), TeacherProgram(scene, name="first")
        worker.wait_until_ready()
        sender = threading.Thread(target=send, args=(scene, messages, 10.0), daemon=True)
        sender.start()
        until(lambda: scene.count(scene.topics.feedback) >= 10, seconds=60)
        second = TeacherProgram(scene, name="second")
        assert first.process.wait(60) == 3
        before = scene.count(scene.topics.feedback)
        sender.join(60)
        scene.wait_until_done(len(messages), 0, seconds=120)
        until(lambda: len(scene.training()) >= scene.count(scene.topics.questions), seconds=120)
        assert scene.count(scene.topics.feedback) > before  # of the second one
        assert (second.stop(), worker.stop()) == (0, 0), second.text()[-3000:]
        # The first one may have been fenced between its requests and their commit, twice at most.
        check(scene, messages, server, kills=2)


def scraped(port: int, kind: str) -> dict[tuple[str, frozenset[tuple[str, str]]], float]:
    """Return the samples of a program over HTTP, without the label of the filter."""
    status, body = get(port, "/metrics")
    assert status == 200, body
    found = {}
    for family in text_string_to_metric_families(body):
        for sample in family.samples:
            labels = {**sample.labels}
            assert labels.pop("filter") == kind
            found[sample.name, frozenset(labels.items())] = sample.value
    return found


@one_client
def test_metrics_of_worker_and_teacher_have_the_values_of_the_topics(
    broker: Broker, tmp_path: Path, client: str
) -> None:
    """Calls, share, cost, agreement with its interval, and the age of the answers."""
    messages, labels = of_one_opinion(300)
    invalid = messages[0][1]
    worker_port, teacher_port = free_ports(2)
    prices = {"teacher_input_price": 4.0, "teacher_output_price": 8.0}
    with (
        ChatServer(
            labels, delay=lambda: 0.2, status=lambda text: 299 if text == invalid else 200
        ) as server,
        scene_of(broker, tmp_path, server, client, teacher_wait_seconds=10, **prices) as scene,
    ):
        worker = scene.worker("a", http_port=worker_port)
        teacher = TeacherProgram(scene, http_port=teacher_port)
        worker.wait_until_ready()
        send(scene, messages, 3.0)
        scene.wait_until_done(len(messages), 0, seconds=120)
        questions = scene.count(scene.topics.questions)
        until(lambda: len(scene.training()) == questions - 1, seconds=60)
        time.sleep(11.0)  # the agreement is estimated every 10 seconds
        more = [("last", "ok, see you at home later", "ham")]
        send(scene, more, 0.0)
        scene.wait_until_done(len(messages) + 1, 0, seconds=60)
        questions = scene.count(scene.topics.questions)
        until(lambda: len(scene.training()) == questions - 1, seconds=60)
        time.sleep(1.0)
        found, of_teacher = scraped(worker_port, "sms"), scraped(teacher_port, "sms")
        assert (teacher.stop(), worker.stop()) == (0, 0), teacher.text()[-3000:]
        del server.asked[CHECKED]

        def value(name: str, **given: str) -> float:
            return found[f"streamnb_{name}", frozenset(given.items())]

        # Calls and their share: of each partition, by its own messages.
        assert value("questions_total") == questions == server.asked.total() > 10
        decisions = read(scene, scene.topics.decisions)
        sources = {each.key.decode(): each for each in broker.read_all(scene.topics.messages)}
        for number in range(PARTITIONS):
            own = [each for each in decisions if sources[each["id"]].partition == number]
            sent = sum(each["status"] != "decided" for each in own)
            share = value("teacher_call_share", partition=str(number))
            assert share == pytest.approx(sent / len(own))
            truth = {name: label for name, _, label in [*messages, *more]}
            agreed = sum(each["label"] == truth[each["id"]] for each in own) / len(own)
            bounds = [
                value("teacher_agreement", partition=str(number), bound=bound)
                for bound in ("low", "value", "high")
            ]
            # Late answers count with the model's label. The invalid answer does not count, and the
            # estimate may be older than the last decision.
            assert bounds == sorted(bounds)
            assert bounds[0] <= agreed + 2 / len(own) <= bounds[2] + 4 / len(own)
        told = Counter((each["source"], each["reason"], each["status"]) for each in decisions)
        for (source, reason, status), count in told.items():
            given = {"source": source, "reason": reason, "status": status}
            assert value("teacher_decisions_total", **given) == count
        assert value("waiting_decisions") == 0
        # Age: from the timestamp of a message to the timestamp of its answer.
        ages = [
            (each.timestamp - sources[each.key.decode()].timestamp) / 1000
            for each in broker.read_all(scene.topics.feedback)
        ]
        assert value("answer_delay_seconds_count") == len(ages) == questions - 1
        assert value("answer_delay_seconds_sum") == pytest.approx(sum(ages), abs=0.01)
        assert min(ages) >= 0.2

        # The test message at the start of the teacher costs as much as a question.
        def result(name: str, **given: str) -> float:
            return of_teacher[f"streamnb_{name}", frozenset(given.items())]

        price = (50 * 4.0 + 2 * 8.0) / 1e6
        assert result("teacher_cost") == pytest.approx((questions + 1) * price)
        assert result("teacher_answers_total", result="label") == questions - 1
        assert result("teacher_answers_total", result="invalid") == 1
        assert result("teacher_written_total") == questions - 1
