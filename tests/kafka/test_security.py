"""TLS and SASL on a real broker: strangers are refused with an exit status, and no secret is
logged.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest

from support.broker import free_ports
from support.brokers.secure import KEY_SECRET, SECRET, SecureBroker, make_secure_broker
from support.stepped import until

pytestmark = pytest.mark.broker_long
pytest.importorskip("trustme")

PROGRAM = "from streamnb_consumers.daemon.command import run_sms; raise SystemExit(run_sms())"
TOPICS = ("MESSAGES", "FEEDBACK", "DECISIONS", "TRAINING", "JOIN_STATE", "DEAD_LETTERS")
WRONG = "a-wrong-password"
# librdkafka reports a refusal to no caller; the pending request must time out first.
SECONDS = 60.0


@contextmanager
def worker(environment: dict[str, str], log: Path | None = None) -> Iterator[subprocess.Popen[str]]:
    """Start a worker; its output is a pipe, or at the default level a file."""
    plain = {name: value for name, value in os.environ.items() if not name.startswith("STREAMNB_")}
    with contextlib.ExitStack() as opened:
        process = subprocess.Popen(
            [
                sys.executable,
                "-W",
                "ignore",
                "-c",
                PROGRAM,
                *([] if log else ["--log-level=DEBUG"]),
            ],
            env=plain | environment,
            stdout=opened.enter_context(log.open("w")) if log else subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        try:
            yield process
        finally:
            process.kill()
            process.communicate(timeout=30)


@pytest.fixture
def place(secure_broker: SecureBroker, client: str) -> dict[str, str]:
    """Return topics, a group and the client for one test."""
    return make_place(secure_broker, client)


def make_place(secure: SecureBroker, client: str) -> dict[str, str]:
    broker = secure.broker
    topics = {f"STREAMNB_{name}_TOPIC": broker.unique(name.lower()) for name in TOPICS}
    broker.create_topics(dict.fromkeys(topics.values(), 1))
    return topics | {"STREAMNB_GROUP": broker.unique("group"), "STREAMNB_CLIENT": client}


def without_secrets(text: str) -> str:
    for secret in (SECRET, KEY_SECRET, WRONG):
        assert secret not in text
    return text


def decides(secure: SecureBroker, place: dict[str, str], environment: dict[str, str]) -> None:
    """Run a worker until it decides the only message, then stop it."""
    topic = place["STREAMNB_DECISIONS_TOPIC"]
    with worker(environment) as process:
        deadline, found = time.monotonic() + SECONDS, []
        while not found and time.monotonic() < deadline and process.poll() is None:
            found = secure.broker.read_all(topic)
            time.sleep(0.2)
        process.terminate()
        output = without_secrets(process.communicate(timeout=60)[0])
    assert [json.loads(each.value)["label"] for each in found] == [None], output
    assert process.returncode == 0, output


def send(secure: SecureBroker, place: dict[str, str]) -> None:
    import kafka

    producer = kafka.KafkaProducer(bootstrap_servers=secure.broker.bootstrap)
    value = json.dumps({"id": "1", "text": "hello", "label": "ham"}).encode()
    producer.send(place["STREAMNB_MESSAGES_TOPIC"], value, key=b"1").get(timeout=30)
    producer.close()


WAYS_IN = {
    "PLAIN": ("SASL_SSL", {"SASL_MECHANISM": "PLAIN"}),
    "SCRAM-SHA-256": ("SASL_SSL", {"SASL_MECHANISM": "SCRAM-SHA-256"}),
    "SCRAM-SHA-512": ("SASL_SSL", {"SASL_MECHANISM": "SCRAM-SHA-512"}),
    "in the clear": ("SASL_PLAINTEXT", {"SASL_MECHANISM": "SCRAM-SHA-512"}),
    "certificate": ("SSL", {}),
}


@pytest.mark.parametrize(("protocol", "more"), WAYS_IN.values(), ids=WAYS_IN)
def test_who_is_known_decides(
    secure_broker: SecureBroker, place: dict[str, str], protocol: str, more: dict[str, str]
) -> None:
    send(secure_broker, place)
    decides(secure_broker, place, place | secure_broker.settings(protocol, **more))


REFUSALS = {
    "PLAIN": ("SASL_SSL", {"SASL_PASSWORD": WRONG, "SASL_MECHANISM": "PLAIN"}, "password"),
    "SCRAM": ("SASL_SSL", {"SASL_PASSWORD": WRONG}, "credentials"),
    "in the clear": ("SASL_PLAINTEXT", {"SASL_PASSWORD": WRONG}, "credentials"),
    "other authority": ("SASL_SSL", {"TLS_CA_FILE": "other"}, "certificate"),
    "unknown certificate": (
        "SSL", {"TLS_CERT_FILE": "unknown", "TLS_KEY_FILE": "unknown"}, "certificate",
    ),
    "no certificate": ("SSL", {"TLS_CERT_FILE": "", "TLS_KEY_FILE": ""}, "certificate"),
    "no rights": ("SASL_SSL", {"SASL_USERNAME": "stranger"}, "uthorization"),
}  # fmt: skip


@pytest.mark.parametrize(("protocol", "more", "why"), REFUSALS.values(), ids=REFUSALS)
def test_who_is_refused_ends_at_once_and_is_told_why(
    secure_broker: SecureBroker,
    place: dict[str, str],
    protocol: str,
    more: dict[str, str],
    why: str,
) -> None:
    files = {
        name: secure_broker.file(each) for name, each in more.items() if each and "TLS" in name
    }
    environment = place | secure_broker.settings(protocol, **more | files)
    with worker({name: value for name, value in environment.items() if value}) as process:
        output = without_secrets(process.communicate(timeout=SECONDS)[0])
    assert process.returncode == 2, output
    *_, last = output.splitlines()
    assert last.startswith("streamnb-sms: error: the cluster refuses this worker: ")
    assert "docs/how-to/secure-kafka.md" in last
    assert why in last
    assert output.count("transaction was aborted") == output.count("does not answer") == 0, output
    assert not secure_broker.broker.read_all(place["STREAMNB_DECISIONS_TOPIC"])


# The rights of docs/how-to/secure-kafka.md, without the transactional id and the group.
RIGHTS = {
    "READ": ("MESSAGES", "FEEDBACK", "TRAINING", "JOIN_STATE"),
    "WRITE": ("DECISIONS", "TRAINING", "JOIN_STATE", "DEAD_LETTERS"),
    "DESCRIBE": TOPICS,
    "DESCRIBE_CONFIGS": TOPICS,
}


def grant(secure: SecureBroker, rights: list[tuple[str, str, str]]) -> None:
    """Grant rights to `stranger`: operation, resource type, name."""
    from kafka.admin import ACL, ACLOperation, ACLPermissionType, ResourcePattern, ResourceType

    import kafka

    admin = kafka.KafkaAdminClient(bootstrap_servers=secure.broker.bootstrap)
    try:
        done = admin.create_acls(
            [
                ACL(
                    "User:stranger",
                    "*",
                    ACLOperation[operation],
                    ACLPermissionType.ALLOW,
                    ResourcePattern(ResourceType[kind], name),
                )
                for operation, kind, name in rights
            ]
        )
        assert not done["failed"]
    finally:
        admin.close()


def test_the_documented_rights_are_needed_and_enough(
    secure_broker: SecureBroker, place: dict[str, str]
) -> None:
    name, group = f"transactions-of-{place['STREAMNB_GROUP']}", place["STREAMNB_GROUP"]
    missing = ("WRITE", "TOPIC", place["STREAMNB_DECISIONS_TOPIC"])
    rights = [
        (operation, "TOPIC", place[f"STREAMNB_{topic}_TOPIC"])
        for operation, topics in RIGHTS.items()
        for topic in topics
    ]
    rights += [(each, "TRANSACTIONAL_ID", name) for each in ("WRITE", "DESCRIBE")]
    rights.append(("READ", "GROUP", group))
    grant(secure_broker, [each for each in rights if each != missing])
    send(secure_broker, place)
    who = {"SASL_USERNAME": "stranger", "TRANSACTIONAL_ID": name}
    environment = place | secure_broker.settings("SASL_SSL", **who)
    with worker(environment) as process:
        output = without_secrets(process.communicate(timeout=SECONDS)[0])
    assert process.returncode == 2, output
    last = output.splitlines()[-1]
    assert "the cluster refuses this worker" in last
    assert "uthorization" in last
    grant(secure_broker, [missing])
    decides(secure_broker, place, environment)


def revoke(secure: SecureBroker, right: tuple[str, str, str]) -> None:
    """Take a right of `stranger` away."""
    from kafka.admin import (
        ACLFilter,
        ACLOperation,
        ACLPermissionType,
        ResourcePattern,
        ResourceType,
    )

    import kafka

    operation, kind, name = right
    admin = kafka.KafkaAdminClient(bootstrap_servers=secure.broker.bootstrap)
    try:
        pattern = ResourcePattern(ResourceType[kind], name)
        who = ("User:stranger", "*", ACLOperation[operation], ACLPermissionType.ALLOW)
        admin.delete_acls([ACLFilter(*who, pattern)])
    finally:
        admin.close()


def test_rights_that_are_taken_away_and_given_back(
    secure_broker: SecureBroker, place: dict[str, str]
) -> None:
    """A refusal after success is an outage: the worker waits, and continues."""
    name, group = f"transactions-of-{place['STREAMNB_GROUP']}", place["STREAMNB_GROUP"]
    rights = [
        (operation, "TOPIC", place[f"STREAMNB_{topic}_TOPIC"])
        for operation, topics in RIGHTS.items()
        for topic in topics
    ]
    rights += [(each, "TRANSACTIONAL_ID", name) for each in ("WRITE", "DESCRIBE")]
    rights.append(("READ", "GROUP", group))
    grant(secure_broker, rights)
    who = {"SASL_USERNAME": "stranger", "TRANSACTIONAL_ID": name}
    decisions = place["STREAMNB_DECISIONS_TOPIC"]
    with worker(place | secure_broker.settings("SASL_SSL", **who)) as process:

        def decided(count: int) -> None:
            deadline = time.monotonic() + 2 * SECONDS
            while len(secure_broker.broker.read_all(decisions)) < count:
                assert process.poll() is None, process.communicate()[0][-3000:]
                assert time.monotonic() < deadline, f"{count} decisions"
                time.sleep(0.2)

        send(secure_broker, place)
        decided(1)
        taken = [
            ("WRITE", "TOPIC", decisions),
            ("WRITE", "TOPIC", place["STREAMNB_JOIN_STATE_TOPIC"]),
            ("READ", "TOPIC", place["STREAMNB_MESSAGES_TOPIC"]),
            ("READ", "TOPIC", place["STREAMNB_TRAINING_TOPIC"]),
            ("READ", "GROUP", group),
            ("WRITE", "TRANSACTIONAL_ID", name),
        ]
        for number, right in enumerate(taken, 2):
            revoke(secure_broker, right)
            send(secure_broker, place)
            time.sleep(2.5)
            grant(secure_broker, [right])
            decided(number)
        process.terminate()
        output = without_secrets(process.communicate(timeout=60)[0])
    assert process.returncode == 0, output


# --- credentials that become invalid while a worker runs ------------------------------------------


@pytest.fixture
def own_secure_broker(tmp_path: Path) -> Iterator[SecureBroker]:
    """Return a broker that the test may restart, so that workers connect again."""
    made = make_secure_broker(tmp_path)
    yield made
    made.broker.close()


@pytest.fixture
def own_place(own_secure_broker: SecureBroker, client: str) -> dict[str, str]:
    """Return topics, a group and the client for one test, on its own broker."""
    return make_place(own_secure_broker, client)


def run_refused(
    secure: SecureBroker,
    place: dict[str, str],
    environment: dict[str, str],
    refuse: Callable[[], None],
    accept: Callable[[], None],
) -> str:
    """Let the broker refuse a worker that it accepted, and accept it again; return the log.

    The worker waits with pauses, says so after 5 s, is not ready, and goes on by itself.
    """
    log, decisions = secure.folder / "worker.log", place["STREAMNB_DECISIONS_TOPIC"]
    (port,) = free_ports(1)
    environment = {**environment, "STREAMNB_HTTP_PORT": str(port)}

    def text() -> str:
        return without_secrets(log.read_text())

    def decided(count: int) -> None:
        def done() -> bool:
            assert process.poll() is None, text()[-3000:]
            return len(secure.broker.read_all(decisions)) >= count

        until(done, seconds=2 * SECONDS)

    with worker(environment, log) as process:
        send(secure, place)
        decided(1)
        until(lambda: status(f"http://127.0.0.1:{port}/readyz") == 200)
        refuse()
        secure.broker.restart()
        send(secure, place)
        until(lambda: "the cluster has refused this worker for" in text(), seconds=2 * SECONDS)
        assert status(f"http://127.0.0.1:{port}/readyz") == 503
        assert process.poll() is None
        accept()
        decided(2)
        until(lambda: "the cluster is back after" in text())
        process.terminate()
        assert process.wait(60) == 0, text()[-3000:]
    found = secure.broker.read_all(decisions)
    assert len(found) == 2
    return text()


def status(url: str) -> int:
    try:
        with urlopen(url, timeout=30) as answer:
            return int(answer.status)
    except HTTPError as error:
        return error.code


def test_a_password_that_is_rotated(
    own_secure_broker: SecureBroker, own_place: dict[str, str]
) -> None:
    secure = own_secure_broker
    environment = own_place | secure.settings("SASL_SSL")
    log = run_refused(
        secure,
        own_place,
        environment,
        refuse=lambda: secure.set_password("worker", WRONG),
        accept=lambda: secure.set_password("worker", SECRET),
    )
    # After `authorization_seconds` it ends.
    assert "the worker ends after 600 s (authorization_seconds)" in log
    path = secure.folder / "again.log"
    environment |= {"STREAMNB_AUTHORIZATION_SECONDS": "8", "STREAMNB_COMMIT_SECONDS": "10"}
    with worker(environment, path) as process:
        send(secure, own_place)
        decisions = own_place["STREAMNB_DECISIONS_TOPIC"]
        until(lambda: len(secure.broker.read_all(decisions)) == 3, seconds=SECONDS)
        secure.set_password("worker", WRONG)
        secure.broker.restart()
        assert process.wait(2 * SECONDS) == 2, path.read_text()[-3000:]
    last = without_secrets(path.read_text()).splitlines()[-1]
    assert last.startswith("streamnb-sms: error: the cluster refuses this worker: ")


LIFETIME = 30.0  # seconds


def test_a_certificate_that_expires_and_is_renewed(
    own_secure_broker: SecureBroker, own_place: dict[str, str]
) -> None:
    """A worker reads the renewed file when it connects again; it needs no restart."""
    secure = own_secure_broker
    secure.write_certificate("mine", LIFETIME)
    end = time.monotonic() + LIFETIME + 1.0  # certificates have whole seconds
    environment = own_place | secure.settings("SSL")
    for name in ("CERT_FILE", "KEY_FILE"):
        environment[f"STREAMNB_TLS_{name}"] = secure.file("mine")
    del environment["STREAMNB_TLS_KEY_PASSWORD"]
    log = run_refused(
        secure,
        own_place,
        environment,
        refuse=lambda: time.sleep(max(0.0, end - time.monotonic())),
        accept=lambda: secure.write_certificate("mine", 3600.0),
    )
    assert "certificate" in log
