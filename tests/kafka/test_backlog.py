"""A backlog of any length teaches the labels that the same stream teaches from a file."""

from __future__ import annotations

import json
import random
import re
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from streamnb_consumers.kafka.python_client.client import kafka
from support.backlogs import Backlog, events_of
from support.broker import Broker
from support.profiles import one_client
from support.scenes.scene import Scene
from support.stepped import Stage, SteppedWorker, until

WINDOW = 200  # messages
SETTINGS: dict[str, Any] = {"model": "MNB()", "join_window_count": WINDOW}
SESSION = 20.0  # seconds: on a busy machine a step of a worker takes long


def training(stage: Stage) -> list[dict[str, Any]]:
    return [json.loads(each.value) for each in stage.broker.read_all(stage.topics.training)]


def caught_up(worker: SteppedWorker) -> bool:
    """Return whether the worker has no unread record, also in the training log."""
    lags = worker.loop.source.lag()
    return len(lags) >= 3 and not any(lags.values())


def catch_up(worker: SteppedWorker, seconds: float = 120.0) -> None:
    until(lambda: caught_up(worker), lambda: [worker.step(0.05) for _ in range(5)], seconds=seconds)


@pytest.fixture
def small(broker: Broker, client: str) -> Any:
    """Topics of one partition, and workers with a small join window."""
    made = Stage(broker, partitions=1, client=client, session=SESSION, **SETTINGS)
    yield made
    made.close()


LENGTHS = [  # in windows
    0.1,
    5,
    *(pytest.param(length, marks=pytest.mark.broker_long) for length in (1, 2, 30)),
]


@pytest.mark.parametrize("length", LENGTHS)
def test_a_backlog_teaches_the_labels_of_a_file(small: Stage, length: float) -> None:
    backlog = Backlog(count=round(length * WINDOW), delay=WINDOW - 1)
    backlog.send(small.broker.bootstrap, small.topics)
    catch_up(small.worker("a"))
    assert list(events_of(training(small))) == backlog.expected(join_window_count=WINDOW)
    assert len(small.decisions()) == backlog.count
    assert not small.twice()


def test_labels_that_were_sent_after_all_messages_are_learned(small: Stage) -> None:
    """Their timestamps say that their messages have left the window, but they were there."""
    backlog = Backlog(count=10 * WINDOW, delay=WINDOW - 1)
    backlog.send(small.broker.bootstrap, small.topics, labels_last=True)
    catch_up(small.worker("a"))
    assert list(events_of(training(small))) == backlog.expected(join_window_count=WINDOW)


def test_late_labels_push_no_other_label_out(small: Stage) -> None:
    """Labels that come after the window may be learned, but never instead of others."""
    backlog = Backlog(count=10 * WINDOW, delay=WINDOW - 1, late=0.3)
    backlog.send(small.broker.bootstrap, small.topics)
    catch_up(small.worker("a"))
    found = Counter(name for name, _, _ in events_of(training(small)))
    wanted = Counter(name for name, _, _ in backlog.expected(join_window_count=WINDOW))
    assert wanted.keys() <= found.keys()


@pytest.mark.parametrize("partitions", [2, pytest.param(6, marks=pytest.mark.broker_long)])
def test_partitions_catch_up_together(broker: Broker, client: str, partitions: int) -> None:
    stage = Stage(broker, partitions, client, session=SESSION, **SETTINGS)
    try:
        wanted: Counter[Any] = Counter()
        for number in range(partitions):
            backlog = Backlog(count=(number + 1) * WINDOW, delay=WINDOW - 1, seed=number)
            lines = [{**line, "id": f"{number}-{line['id']}"} for line in backlog.lines()]
            backlog.send(broker.bootstrap, stage.topics, partition=number, lines=lines)
            wanted += Counter(
                (f"{number}-{name}", *rest)
                for name, *rest in backlog.expected(join_window_count=WINDOW)
            )
        workers = [stage.worker("a"), stage.worker("b")]
        steps = [worker.step for worker in workers]
        until(
            lambda: (
                sum(len(each.loop.source.lag()) for each in workers) == 2 * partitions + 2
                and all(map(caught_up, workers))
            ),
            lambda: [step(0.02) for step in steps for _ in range(3)],
            seconds=120,
        )
        assert Counter(events_of(training(stage))) == wanted
        assert not stage.twice()
    finally:
        stage.close()


def test_lags_come_from_the_ends_of_the_logs(small: Stage) -> None:
    """They equal those of another client at each moment, while labels wait for messages."""
    backlog = Backlog(count=10 * WINDOW, delay=WINDOW - 1)
    backlog.send(small.broker.bootstrap, small.topics)
    worker, seen = small.worker("a", batch=10), []
    until(lambda: worker.runs(), lambda: worker.step(0.05), seconds=120)
    for _ in range(20):
        worker.step(0.05)
        source = worker.loop.source
        source._ask = 0.0  # type: ignore[attr-defined]
        source._check_cluster()  # type: ignore[attr-defined]
        lags = source.lag()
        for topic in (small.topics.messages, small.topics.feedback):
            place = kafka.TopicPartition(topic, 0)
            other = independent_lag(small, place)
            if other is not None:
                assert lags[(place.topic, 0)] == other
                seen.append(other)
    assert max(seen) > WINDOW
    assert len(set(seen)) >= 4


def independent_lag(stage: Stage, place: Any) -> int | None:
    """Return the end of a log less the committed offset, as the tools of Kafka do."""
    reader = kafka.KafkaConsumer(bootstrap_servers=stage.broker.bootstrap, group_id=stage.group)
    try:
        committed = reader.committed(place)
        return None if committed is None else reader.end_offsets([place])[place] - committed
    finally:
        reader.close()


def run_worker(
    broker: Broker, folder: Path, client: str, backlog: Backlog, kills: int, seed: int = 1
) -> None:
    """Kill a worker again and again while it catches up, and compare the training events."""
    generator = random.Random(seed)
    settings = {"client": client, "model": "MNB()", "join_window_count": WINDOW, "batch": 50}
    with Scene(broker, folder, **settings) as scene:
        backlog.send(broker.bootstrap, scene.topics)
        wanted = backlog.expected(join_window_count=WINDOW)
        for _ in range(kills):
            worker = scene.worker("a")
            worker.wait_until_ready()
            time.sleep(generator.uniform(0.0, 0.5))
            worker.kill()
        scene.worker("a")
        scene.wait_until_done(backlog.count, len(wanted), seconds=240)
        assert list(events_of(scene.training())) == wanted
        assert Counter(scene.decisions().values()) == {1: backlog.count}


@one_client
def test_kills_during_a_backlog(broker: Broker, tmp_path: Path, client: str) -> None:
    run_worker(broker, tmp_path, client, Backlog(20 * WINDOW, WINDOW - 1), kills=2)


@pytest.mark.broker_long
def test_many_kills_during_a_backlog(broker: Broker, tmp_path: Path, client: str) -> None:
    run_worker(broker, tmp_path, client, Backlog(50 * WINDOW, WINDOW - 1), kills=6, seed=3)


@pytest.mark.broker_long
def test_more_load_than_the_worker_handles(broker: Broker, tmp_path: Path, client: str) -> None:
    """The stream is sent as fast as possible while the worker runs.

    A fast worker has read all labels that have arrived, and batches of the two topics arrive in any
    order. So labels are sent well within the window, and no batch of messages is as long as it.
    """
    backlog = Backlog(50 * WINDOW, WINDOW // 4)
    settings = {"client": client, "model": "MNB()", "join_window_count": WINDOW}
    with Scene(broker, tmp_path, **settings) as scene:
        scene.worker("a").wait_until_ready()
        sender = threading.Thread(
            target=lambda: backlog.send(broker.bootstrap, scene.topics, together=WINDOW // 4)
        )
        sender.start()
        wanted = backlog.expected(join_window_count=WINDOW)
        sender.join()
        scene.wait_until_done(backlog.count, len(wanted), seconds=240)
        found = list(events_of(scene.training()))
        assert not Counter(wanted) - Counter(found)
        assert not Counter(found) - Counter(wanted)


def test_kept_messages_survive_a_restart(small: Stage) -> None:
    """The next owner keeps the messages whose labels are not due, like the previous one."""
    backlog = Backlog(count=10 * WINDOW, delay=WINDOW - 1)
    backlog.send(small.broker.bootstrap, small.topics, labels_last=True)
    worker = small.worker("a")
    until(
        lambda: worker.loop.metrics.decisions >= 5 * WINDOW, lambda: worker.step(0.05), seconds=120
    )
    kept = len(worker.loop.worker.join.window(0).kept)
    assert kept > 0
    worker.close()
    catch_up(small.worker("b"))
    assert list(events_of(training(small))) == backlog.expected(join_window_count=WINDOW)


@one_client
def test_owners_start_from_their_snapshots(broker: Broker, tmp_path: Path, client: str) -> None:
    """Workers take turns. Each continues from its own old snapshot and the changes since then."""
    backlog, settings = Backlog(8 * WINDOW, WINDOW - 1), {"join_window_count": WINDOW}
    lines, done = backlog.lines(), 0
    with Scene(broker, tmp_path, client=client, model="MNB()", **settings) as scene:
        for at, name in enumerate("abab"):
            part = lines[done : (at + 1) * len(lines) // 4]
            done += len(part)
            backlog.send(broker.bootstrap, scene.topics, lines=part)
            worker = scene.worker(name)
            messages = sum("text" in line for line in lines[:done])
            wanted = backlog.expected(lines[:done], **settings)
            scene.wait_until_done(messages, len(wanted), seconds=120)
            if name == "a":
                assert worker.stop() == 0, worker.text()[-3000:]
            else:
                time.sleep(1.0)  # it has a snapshot by then, see `snapshot_seconds`
                worker.kill()
        assert list(events_of(scene.training())) == wanted
        assert Counter(scene.decisions().values()) == {1: messages}
        starts = [
            re.findall(r"join window from offset (\d+)", each.text()) for each in scene.workers
        ]
        assert starts[0][0] == "0"
        assert int(starts[0][1]) > WINDOW
