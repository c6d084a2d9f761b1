"""Kills at any time leave one decision per message, each label learned once, and the same model."""

from __future__ import annotations

import random
import signal
import time
from collections.abc import Sequence
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from streamnb.challenger import Challenger
from support.broker import Broker
from support.scenes.deaths import kill_broker
from support.scenes.scene import (
    Message,
    Scene,
    check_outputs,
    expected_model,
    expected_training,
    sms,
    topics,
)

MNB = "MNB(alpha=0.1, oov='skip')"


def run_kills(
    broker: Broker,
    folder: Path,
    client: str,
    model: str,
    kills: int,
    seed: int,
    messages: Sequence[Message],
    **settings: object,
) -> Any:
    """Kill one worker repeatedly during the stream; return its model."""
    generator = random.Random(seed)
    with Scene(broker, folder, client=client, model=model, **settings) as scene:
        worker, senders = scene.worker("a", instance_id="a"), []
        for sender in scene.feed(messages, pieces=kills + 1, seconds=0.5 * kills):
            senders.append(sender)
            if len(senders) > kills:
                break
            if generator.random() < 0.7:  # else it may still be starting
                worker.wait_until_ready()
            time.sleep(generator.uniform(0.0, 1.0))
            worker.kill()
            worker = scene.worker("a", instance_id="a")
        finish(scene, messages, senders)
        worker.wait_learned(len(expected_training(messages)))
        assert worker.stop() == 0, worker.text()[-3000:]
        check_outputs(scene, messages, ordered=True)
        found = worker.filter()
        assert found.learner.learned == len(expected_training(messages))
        made = found.learner.model
        if isinstance(made, Challenger):
            made.alarm.last = None  # of the records' own times, which differ from run to run
        assert made.to_bytes() == expected_model(scene, messages)
        return made


def finish(scene: Scene, messages: Sequence[Message], senders: Sequence[Thread]) -> None:
    """Wait until all messages are sent and processed."""
    for sender in senders:
        sender.join(120)
        assert not sender.is_alive()
    scene.wait_until_done(len(messages), len(expected_training(messages)), seconds=300)


@pytest.mark.parametrize(
    "client", ["confluent", pytest.param("kafka-python", marks=pytest.mark.broker_long)]
)
def test_two_kills(broker: Broker, tmp_path: Path, client: str) -> None:
    run_kills(broker, tmp_path, client, MNB, kills=2, seed=1, messages=sms(3_000))


@pytest.mark.parametrize(
    "client", ["confluent", pytest.param("kafka-python", marks=pytest.mark.broker_long)]
)
def test_kills_with_several_labels(broker: Broker, tmp_path: Path, client: str) -> None:
    """Messages have two to five labels, and some lists of labels are corrected."""
    settings = {"kills": 2, "seed": 6, "labels": ""}
    run_kills(broker, tmp_path, client, "MultiLabelNB()", messages=topics(3_000), **settings)


@pytest.mark.broker_long
def test_kills_on_an_old_broker(old_broker: Broker, tmp_path: Path, client: str) -> None:
    """Kafka before 4.0 has only the classic group protocol."""
    run_kills(old_broker, tmp_path, client, MNB, kills=3, seed=7, messages=sms(6_000))


@pytest.mark.broker_long
@pytest.mark.parametrize("model", [MNB, "HMNB()"])
def test_kill_9(broker: Broker, tmp_path: Path, client: str, model: str) -> None:
    run_kills(broker, tmp_path, client, model, kills=5, seed=1, messages=sms(10_000))


@pytest.mark.broker_long
def test_a_challenger_takes_over_between_kills(broker: Broker, tmp_path: Path, client: str) -> None:
    """Labels swap half way: the alarm, the challenger and the swap survive the kills of all
    workers.
    """
    stream, other = sms(6_000), {"ham": "spam", "spam": "ham"}
    messages = stream[:3_000] + [(name, text, other[label]) for name, text, label in stream[3_000:]]
    model = f"Challenger(model={MNB}, detector='ddm')"
    found = run_kills(broker, tmp_path, client, model, kills=4, seed=5, messages=messages)
    assert found.n_swaps >= 1


@pytest.mark.soak
@pytest.mark.parametrize("model", [MNB, "HMNB()"])
def test_kill_9_again_and_again(broker: Broker, tmp_path: Path, client: str, model: str) -> None:
    run_kills(broker, tmp_path, client, model, kills=50, seed=2, messages=sms(20_000))


@pytest.mark.broker_long
def test_the_broker_dies(own_broker: Broker, tmp_path: Path, client: str) -> None:
    messages, generator = sms(10_000), random.Random(3)
    # A transaction that times out during the outage would end the worker (status 3). On a busy
    # machine an outage takes more than 10 s.
    settings = {"client": client, "model": "HMNB()", "transaction_seconds": 60}
    with Scene(own_broker, tmp_path, **settings) as scene:
        worker, senders = scene.worker("a", instance_id="a"), []
        for sender in scene.feed(messages, pieces=4, seconds=3.0):
            senders.append(sender)
            worker.wait_until_ready()
            if len(senders) < 4:
                time.sleep(generator.uniform(0.0, 1.0))
                kill_broker(own_broker, worker.process)
                own_broker.start()
        finish(scene, messages, senders)
        worker.wait_learned(len(expected_training(messages)))
        assert worker.stop() == 0, worker.text()[-3000:]
        check_outputs(scene, messages, ordered=True)
        assert worker.filter().learner.model.to_bytes() == expected_model(scene, messages)


@pytest.mark.broker_long
@pytest.mark.parametrize(
    "model",
    [
        *(MNB, "HMNB()", "HONB()"),
        *(pytest.param(each, marks=pytest.mark.soak) for each in ("PHNB()", "GRWMNB()")),
    ],
)
def test_workers_join_and_leave(broker: Broker, tmp_path: Path, client: str, model: str) -> None:
    """Three workers share four partitions; two of them join and leave, cleanly or killed.

    Their models are equal, though each wrote and read snapshots at other times.
    """
    messages, generator = sms(10_000 if model == MNB else 6_000), random.Random(4)
    with Scene(broker, tmp_path, partitions=4, client=client, model=model) as scene:
        workers, senders = {"a": scene.worker("a", instance_id="a")}, []
        for name, sender in zip("bcbcbc", scene.feed(messages, pieces=6, seconds=3.0), strict=True):
            senders.append(sender)
            if name in workers:
                worker = workers.pop(name)
                if generator.random() < 0.5:
                    assert worker.stop() == 0, worker.text()[-3000:]
                else:
                    worker.kill()
            else:
                workers[name] = scene.worker(name)
                workers[name].wait_until_ready()
            time.sleep(generator.uniform(0.0, 1.0))
        finish(scene, messages, senders)
        for name in "abc":
            if name not in workers:
                workers[name] = scene.worker(name)
        for worker in workers.values():
            worker.wait_learned(len(expected_training(messages)))
            assert worker.stop() == 0, worker.text()[-3000:]
        check_outputs(scene, messages, ordered=False)
        models = {worker.filter().learner.model.to_bytes() for worker in workers.values()}
        # The partitions take turns in an order of their own, and some models depend on the order.
        events = [(each["id"], each["learn"], each["unlearn"]) for each in scene.training()]
        assert models == {expected_model(scene, messages, events)}


@pytest.mark.broker_long
def test_a_worker_that_stood_still_is_refused(broker: Broker, tmp_path: Path, client: str) -> None:
    """A worker that is stopped past its session has lost its partitions and must not write."""
    messages = sms(12_000)
    settings = {"client": client, "model": MNB, "session_seconds": 3, "transaction_seconds": 4}
    with Scene(broker, tmp_path, partitions=2, **settings) as scene:
        frozen, other, senders = scene.worker("a"), None, []
        for sender in scene.feed(messages, pieces=4, seconds=4.0):
            senders.append(sender)
            if frozen.process.poll() is not None:
                continue
            frozen.wait_until_ready()
            time.sleep(0.3)
            frozen.signal(signal.SIGSTOP)
            other = other or scene.worker("b")
            other.wait_until_ready()
            time.sleep(6.0)  # past its session and its transaction
            frozen.signal(signal.SIGCONT)
            time.sleep(1.0)
        assert other is not None
        finish(scene, messages, senders)
        check_outputs(scene, messages, ordered=False)
        if frozen.process.poll() is None:
            assert frozen.stop() == 0, frozen.text()[-3000:]
        assert frozen.process.returncode in (0, 3)
        other.wait_learned(len(expected_training(messages)))
        assert other.stop() == 0, other.text()[-3000:]
        assert other.filter().learner.model.to_bytes() == expected_model(scene, messages)
