"""A listener on Kafka follows the model of its group, and its clients' labels survive kills."""

from __future__ import annotations

import concurrent.futures
import random
import threading
import time
from http.client import HTTPException
from pathlib import Path
from typing import Any

import pytest

from streamnb_consumers.daemon.assembly import make_filter
from streamnb_consumers.daemon.settings import Settings
from streamnb_consumers.daemon.snapshots.local import content
from streamnb_consumers.pipeline import state
from support.broker import Broker
from support.filters import text
from support.listener import Listener, listening
from support.scenes.deaths import kill_broker
from support.scenes.scene import SPAM_MAIN, Scene

pytest.importorskip("uvicorn")
MODEL = "MNB(alpha=0.1)"


def messages(n: int) -> list[dict[str, Any]]:
    generator = random.Random(5)
    labels = [generator.choice(("ham", "spam")) for _ in range(n)]
    return [
        {"id": f"m{at}", "text": text(label, generator), "label": label}
        for at, label in enumerate(labels)
    ]


def listener_of(scene: Scene, name: str) -> Any:
    settings = {f"STREAMNB_{key.upper()}": str(value) for key, value in scene.settings.items()}
    return listening(scene.folder / name, kind="sms", environment=settings)


def learn(listener: Listener, message: dict[str, Any], by_id: bool) -> bool:
    """Send a label, with the message or after it; return whether it was accepted."""
    try:
        if by_id:
            listener.post("/classify", {key: message[key] for key in ("id", "text")})
            message = {key: message[key] for key in ("id", "label")}
        return bool(listener.post("/learn", message)["accepted"])
    except (OSError, HTTPException, AssertionError):  # killed, or 503
        return False


def wait_version(listener: Listener, version: int) -> None:
    """Wait until the model of a listener has learned this number of training events."""
    until = time.monotonic() + 60
    while (found := listener.post("/classify", {"text": "win cash"})["version"]) != version:
        assert found < version
        assert time.monotonic() < until, f"{found} of {version} events"
        time.sleep(0.1)


def model_of(folder: Path) -> bytes:
    """Return the model in the newest snapshot of a folder."""
    found = make_filter("sms", Settings(bootstrap_servers="x:1", model=MODEL))
    newest = max(folder.glob("snapshot-*.bin"))
    state.restore(found, content(newest.read_bytes(), 2**30))
    return bytes(found.learner.model.to_bytes())


@pytest.mark.broker_long
@pytest.mark.parametrize("kills", [2, 10])
def test_labels_survive_kills_of_listener_and_worker(
    broker: Broker, tmp_path: Path, client: str, kills: int
) -> None:
    stream, generator = messages(40 * kills), random.Random(1)
    with Scene(broker, tmp_path, partitions=2, client=client, model=MODEL) as scene:
        worker = scene.worker("a", instance_id="a")
        with listener_of(scene, "listener") as listener:
            worker.wait_until_ready()
            todo = dict(enumerate(stream))
            for _ in range(kills):
                timer = threading.Timer(generator.uniform(0.3, 2.0), listener.kill)
                timer.start()
                with concurrent.futures.ThreadPoolExecutor(4) as pool:
                    part = list(todo.items())[:40]
                    done = pool.map(lambda each: learn(listener, each[1], each[0] % 2 == 0), part)
                    for (at, _), accepted in zip(part, done, strict=True):
                        if accepted:
                            del todo[at]
                timer.join()
                worker.kill()
                worker = scene.worker("a", instance_id="a")
                listener.start()
            assert len(todo) < len(stream)
            for at, message in todo.items():
                assert learn(listener, message, at % 2 == 0)
            wait_version(listener, len(stream))
            events = {each["id"]: each["learn"] for each in scene.training()}
            assert events == {each["id"]: each["label"] for each in stream}
            assert scene.count(scene.topics.training) == len(stream)
            assert listener.post("/explain", {"text": "win cash"})["label"] == "spam"
            worker.wait_learned(len(stream))
            assert (listener.stop(), worker.stop()) == (0, 0)
        assert model_of(tmp_path / "listener") == model_of(worker.snapshots)


@pytest.mark.parametrize(
    "client", ["confluent", pytest.param("kafka-python", marks=pytest.mark.broker_long)]
)
def test_corrections_and_mails_reach_the_group(broker: Broker, tmp_path: Path, client: str) -> None:
    settings = {"client": client, "model": "OnlineNB()", "main": SPAM_MAIN}
    with Scene(broker, tmp_path, **settings) as scene:
        worker = scene.worker("a")
        environment = {
            f"STREAMNB_{key.upper()}": str(value)
            for key, value in scene.settings.items()
            if key != "main"
        }
        with listening(tmp_path / "listener", environment=environment) as listener:
            worker.wait_until_ready()
            raw = b"Message-ID: <1@x.example>\r\nSubject: cash\r\n\r\nwin a prize\r\n"
            assert listener.spamd("CHECK", raw)[1]["Spam"] == "False ; 0.0 / 5.0"
            version = 0
            for headers, changes in (
                ({"Message_class": "spam", "Set": "local"}, 1),
                ({"Message_class": "spam", "Set": "local"}, 0),
                ({"Message_class": "ham", "Set": "local"}, 1),
                ({"Remove": "local"}, 1),
            ):
                # Servers add headers on the way to the mailbox.
                told = listener.spamd("TELL", b"Delivered-To: a@x.example\r\n" + raw, **headers)
                assert told[0] == "SPAMD/1.1 0 EX_OK"
                assert {"DidSet", "DidRemove"} & told[1].keys()
                version += changes
                wait_version(listener, version)
            changes = [(each["learn"], each["unlearn"]) for each in scene.training()]
            assert changes == [("spam", None), ("ham", "spam"), (None, "ham")]
            status, answer = listener.http("POST", "/learn", {"id": "x", "label": "eggs"})
            assert (status, b"not one of" in answer) == (422, True)
            assert not scene.count(scene.topics.dead_letters)


@pytest.mark.broker_long
def test_an_outage_refuses_requests_until_the_broker_returns(
    own_broker: Broker, tmp_path: Path, client: str
) -> None:
    (message,) = messages(1)
    settings = {"client": client, "model": MODEL, "commit_seconds": 10, "transaction_seconds": 60}
    with Scene(own_broker, tmp_path, **settings) as scene, listener_of(scene, "a") as listener:
        assert learn(listener, message, by_id=False)
        kill_broker(own_broker, listener.process)
        status, answer = listener.http("POST", "/learn", message)
        assert (status, b"try again later" in answer) == (503, True)
        own_broker.start()
        until = time.monotonic() + 90
        while not learn(listener, message, by_id=False):
            assert time.monotonic() < until
            time.sleep(0.2)
