"""Health over HTTP, metrics beside their table, and secrets that nothing shows."""

from __future__ import annotations

import re
import subprocess
import sys
import threading
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from streamnb import __version__
from streamnb_consumers.daemon import assembly
from streamnb_consumers.daemon.assembly import make_loop
from streamnb_consumers.daemon.command import run, set_up_logs
from streamnb_consumers.daemon.health import Health, HealthServer
from streamnb_consumers.daemon.kafka_settings import _TLS_FILES, make_cluster, make_topics
from streamnb_consumers.daemon.loop import Loop
from streamnb_consumers.daemon.metrics import PrometheusMetrics, TeacherMetrics
from streamnb_consumers.daemon.running import serving
from streamnb_consumers.daemon.settings import SECRETS, Settings, read_settings
from streamnb_consumers.daemon.settings_text import parser
from streamnb_consumers.daemon.topic_commands import replay_parser
from streamnb_consumers.errors import SettingsError
from streamnb_consumers.kafka.cluster import Topics
from streamnb_consumers.kafka.encoding import encode
from streamnb_consumers.records import Outputs, Partition, Record, TrainingEvent
from support.commands import get
from support.filters import make_filter, records, stream
from support.memory import MemoryLog, MemorySink, MemorySource

ROOT = Path(__file__).parents[2]
KAFKA = {"bootstrap_servers": "localhost:9092"}


# --- health -------------------------------------------------------------------------------------


def test_health_is_told_over_http() -> None:
    now = [0.0]
    health = Health(limit=60.0, clock=lambda: now[0])
    metrics = PrometheusMetrics()
    server = HealthServer("127.0.0.1", 0, health, metrics.text)
    try:
        assert get(server.port, "/livez") == (200, "ok\n")
        assert get(server.port, "/readyz") == (503, "starting\n")
        health.ready("12 of 40 events replayed")
        assert get(server.port, "/readyz") == (503, "12 of 40 events replayed\n")
        health.ready()
        assert get(server.port, "/readyz") == (200, "ok\n")
        now[0] = 61.0
        assert get(server.port, "/livez") == (503, "the loop has not moved for 61 seconds\n")
        assert get(server.port, "/readyz")[0] == 503
        health.beat()
        assert get(server.port, "/livez?verbose") == (200, "ok\n")
        assert get(server.port, "/livez", "HEAD") == (200, "")
        assert get(server.port, "/livez", "POST")[0] == 405
        assert get(server.port, "/")[0] == 404
        status, text = get(server.port, "/metrics")
        assert status == 200
        assert "streamnb_records_total" in text
    finally:
        server.close()
    status, text = get(server.port, "/livez")
    assert status == 0
    assert "refused" in text


def test_a_port_that_is_taken_is_named() -> None:
    server = HealthServer("127.0.0.1", 0, Health(), PrometheusMetrics().text)
    try:
        with pytest.raises(SettingsError, match=rf"http_port: 127.0.0.1:{server.port}"):
            HealthServer("127.0.0.1", server.port, Health(), PrometheusMetrics().text)
    finally:
        server.close()
    with pytest.raises(SettingsError, match="http_host"):
        HealthServer("no such host.invalid", 0, Health(), PrometheusMetrics().text)


def test_a_client_that_says_nothing_holds_up_nobody() -> None:
    import socket

    server = HealthServer("127.0.0.1", 0, Health(), PrometheusMetrics().text)
    try:
        with socket.create_connection(("127.0.0.1", server.port)):
            assert get(server.port, "/livez")[0] == 200
    finally:
        server.close()


def test_a_filter_serves_its_health_while_it_runs(tmp_path: Path) -> None:
    path = tmp_path / "in.jsonl"
    path.write_text('{"id": "a", "text": "hi"}\n')
    probe = HealthServer("127.0.0.1", 0, Health(), PrometheusMetrics().text)
    probe.close()  # its port is free now
    settings = Settings(input=str(path), output=str(tmp_path / "out.jsonl"), http_port=probe.port)
    loop = make_loop("sms", settings)
    with serving(loop, settings):
        assert get(probe.port, "/readyz")[0] == 503
        thread = threading.Thread(target=loop.run)
        thread.start()
        thread.join(30)
        assert get(probe.port, "/livez")[0] == 200
        assert "streamnb_decisions_total" in get(probe.port, "/metrics")[1]


# --- metrics ------------------------------------------------------------------------------------


def test_every_metric_is_documented_and_has_a_name_by_the_conventions() -> None:
    registries = PrometheusMetrics().registry, TeacherMetrics("sms").registry
    families = {family.name: family for each in registries for family in each.collect()}
    page = (ROOT / "docs" / "reference" / "metrics.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"\| `(streamnb_\w+?)(?:_total)?` \| (\w+) \|", page))
    assert {name: family.type for name, family in families.items()} == rows
    for name, family in families.items():
        assert family.documentation.endswith("."), name
        assert not re.search(r"_(ms|milliseconds|minutes|kilobytes|percent)\b", name)


def test_metrics_tell_what_happened() -> None:
    now = [1_000.0]
    metrics = PrometheusMetrics(clock=lambda: now[0])
    value = metrics.registry.get_sample_value
    assert value("streamnb_rolling_accuracy") != value("streamnb_rolling_accuracy")  # NaN
    tombstone = Record(Partition("sms", 0), 200, None, b"key", timestamp=0)
    log = MemoryLog([*records(stream(100)), tombstone])
    worker = make_filter()
    Loop(MemorySource(log), MemorySink(log), worker, metrics=metrics).run()
    assert value("streamnb_tombstones_total") == 1
    assert value("streamnb_decision_latency_seconds_count") == 100
    assert value("streamnb_model_training_events") == worker.learner.learned
    assert value("streamnb_rolling_accuracy") == worker.learner.accuracy()
    assert value("streamnb_corrections_total") == sum(
        event.unlearn is not None for event in log.outputs.training
    )
    now[0] += 90.0
    assert value("streamnb_snapshot_age_seconds") == 90.0


def test_what_is_told_names_its_filter_and_what_runs() -> None:
    metrics = PrometheusMetrics(kind="spam")
    server = HealthServer("127.0.0.1", 0, Health(), metrics.text)
    try:
        lines = [line for line in get(server.port, "/metrics")[1].splitlines() if line[:1] != "#"]
        assert lines
        assert all('filter="spam"' in line for line in lines)
        (build,) = (line for line in lines if line.startswith("streamnb_build_info"))
        assert f'version="{__version__}"' in build
        assert build.endswith(" 1.0")
    finally:
        server.close()
    assert metrics.registry.get_sample_value("streamnb_model_words") == 0, (
        "the registry is as it was"
    )


def test_delays_of_labels_and_lags() -> None:
    metrics, worker = PrometheusMetrics(), make_filter()
    value = metrics.registry.get_sample_value
    events = [
        TrainingEvent("a", "hi", "ham", delay=30.0),
        TrainingEvent("b", "hi", "ham", "spam", delay=None),
    ]
    metrics.committed([], Outputs(training=events), worker, 0.01)
    assert value("streamnb_label_delay_seconds_bucket", {"le": "10.0"}) == 0
    assert value("streamnb_label_delay_seconds_bucket", {"le": "60.0"}) == 1
    assert value("streamnb_corrections_total") == 1
    metrics.lag({Partition("sms", 0): 7, Partition("sms", 1): 0})
    assert value("streamnb_lag_records", {"topic": "sms", "partition": "0"}) == 7
    metrics.lag({Partition("sms", 1): 3})
    assert value("streamnb_lag_records", {"topic": "sms", "partition": "0"}) is None
    assert value("streamnb_lag_records", {"topic": "sms", "partition": "1"}) == 3


# --- cluster ------------------------------------------------------------------------------------


def test_topics_and_names_follow_the_kind() -> None:
    settings = Settings(**KAFKA, feedback_topic="")  # type: ignore[arg-type]
    assert make_topics("spam", settings) == Topics(
        "spam", "", "spam-decisions", "spam-training", "spam-join-state", "spam-dead-letters"
    )
    cluster = make_cluster("sms", Settings(**KAFKA, instance_id="w1"), {})  # type: ignore[arg-type]
    assert (cluster.group, cluster.instance_id) == ("streamnb-sms", "w1")
    assert cluster.transactional_id == "streamnb-sms-w1"
    names = {make_cluster("sms", Settings(), {}).transactional_id for _ in range(5)}
    assert len(names) == 5


def test_layouts_of_topics() -> None:
    layouts = {each.name: each for each in make_topics("sms", Settings()).layouts(6)}
    assert layouts["sms-join-state"].configs["cleanup.policy"] == "compact"
    assert layouts["sms-training"].configs["retention.ms"] == "-1"
    assert layouts["sms-training"].partitions == 1
    shared = ["sms", "sms-feedback", "sms-join-state"]
    assert {layouts[name].partitions for name in shared} == {6}


SECRET = {
    "STREAMNB_SASL_USERNAME": "somebody",
    "STREAMNB_SASL_PASSWORD": "hunter2-sasl",
    "STREAMNB_TLS_KEY_PASSWORD": "hunter2-tls",
}


def test_secrets_come_from_the_environment_only(tmp_path: Path) -> None:
    for name in SECRETS:
        assert not hasattr(Settings(), name)
        path = tmp_path / "settings.toml"
        path.write_text(f'{name} = "hunter2"\n')
        with pytest.raises(SettingsError, match=f"STREAMNB_{name.upper()}") as caught:
            read_settings(parser("streamnb-sms").parse_args(["--config", str(path)]), {})
        assert "hunter2" not in str(caught.value)
    settings = Settings(**KAFKA, security_protocol="SASL_SSL")  # type: ignore[arg-type]
    with pytest.raises(SettingsError, match="STREAMNB_SASL_PASSWORD in the environment"):
        make_cluster("sms", settings, {"STREAMNB_SASL_USERNAME": "somebody"})
    cluster = make_cluster("sms", settings, SECRET)
    assert cluster.security == {
        "security_protocol": "SASL_SSL",
        "sasl_mechanism": "SCRAM-SHA-512",
        "sasl_plain_username": "somebody",
        "sasl_plain_password": "hunter2-sasl",
        "ssl_password": "hunter2-tls",
    }
    for shown in (repr(cluster), str(cluster), f"{cluster.security}", repr(cluster.security)):
        assert "hunter2" not in shown


def test_check_config_shows_no_secret(monkeypatch: Any, capsys: Any) -> None:
    flags = ["--check-config", "--bootstrap-servers=k:1", "--security-protocol=SASL_PLAINTEXT"]
    assert run("sms", flags) == 2
    assert "STREAMNB_SASL_USERNAME and STREAMNB_SASL_PASSWORD" in capsys.readouterr().err
    for name, text in SECRET.items():
        monkeypatch.setenv(name, text)
    assert run("sms", flags) == 0
    shown = "".join(capsys.readouterr())
    assert 'messages_topic = "sms"' in shown
    assert "# STREAMNB_SASL_PASSWORD is set" in shown
    assert "hunter2" not in shown
    assert "somebody" not in shown


def test_files_of_tls_are_tried(tmp_path: Path) -> None:
    made = tmp_path / "cert.pem"
    key = tmp_path / "key.pem"
    command = "openssl req -x509 -newkey rsa:2048 -subj /CN=x -days 2 -passout pass:hunter2"
    try:
        subprocess.run(
            [*command.split(), "-keyout", key, "-out", made],
            check=True, capture_output=True, timeout=60,
        )  # fmt: skip
    except FileNotFoundError:
        pytest.skip("openssl makes the certificate of this test, and is not installed")
    settings = Settings(
        bootstrap_servers="k:1",
        security_protocol="SSL",
        tls_ca_file=str(made),
        tls_cert_file=str(made),
        tls_key_file=str(key),
    )
    password = {"STREAMNB_TLS_KEY_PASSWORD": "hunter2"}
    assert make_cluster("sms", settings, password).security["ssl_keyfile"] == str(key)
    with pytest.raises(SettingsError, match="STREAMNB_TLS_KEY_PASSWORD must be set"):
        make_cluster("sms", settings, {})  # and nobody is asked at a terminal
    with pytest.raises(SettingsError, match="tls_ca_file"):
        make_cluster("sms", structs.replace(settings, tls_ca_file="/no/file"), password)
    made.write_text("no certificate")
    with pytest.raises(SettingsError, match="tls_ca_file"):
        make_cluster("sms", settings, password)


def test_warnings_of_the_client_are_structured_too(capsys: Any) -> None:
    import json
    import logging

    loggers = [logging.getLogger(name) for name in ("streamnb_consumers", "kafka")]
    before = [(each.handlers[:], each.level, each.propagate) for each in loggers]
    try:
        set_up_logs("DEBUG", "json")
        logging.getLogger("kafka.conn").debug("all that it does")
        logging.getLogger("kafka.conn").warning("node 1 is gone")
    finally:
        for each, (handlers, level, propagate) in zip(loggers, before, strict=True):
            each.handlers[:], each.propagate = handlers, propagate
            each.setLevel(level)
    (line,) = capsys.readouterr().err.splitlines()
    assert json.loads(line)["message"] == "node 1 is gone"


def test_without_the_client_the_extra_is_named() -> None:
    """In a process of its own: modules that are imported again are others than tests know."""
    program = (
        "import sys; sys.modules['kafka'] = None\n"
        "from streamnb_consumers.daemon.command import run\n"
        "sys.exit(run('sms', ['--bootstrap-servers=127.0.0.1:1']))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 1
    assert "pip install 'streamnb[consumers,kafka]'" in done.stderr


# --- documents ----------------------------------------------------------------------------------


def test_the_records_in_the_documents_are_those_that_are_written() -> None:
    settings = Settings(**KAFKA)  # type: ignore[arg-type]
    worker, topics = assembly.make_filter("sms", settings), make_topics("sms", settings)
    arrived = 1_760_000_000_000
    values = [
        b'{"id": "1", "text": "WIN cash now", "label": "spam"}',
        b'{"id": "2", "text": "see you at noon", "label": "ham"}',
        b'{"id": "3", "text": "cash now"}',
        b'{"id": "4", "text": 5}',
    ]
    taken = [
        Record(Partition("sms", 0), n, value, timestamp=arrived) for n, value in enumerate(values)
    ]
    label = b'{"id": "3", "label": "spam"}'
    place = Partition("sms-feedback", 0)
    taken.append(Record(place, 0, label, timestamp=arrived + 60_000, role="feedback"))
    page = (ROOT / "docs" / "reference" / "filter-records.md").read_text(encoding="utf-8")
    rows = [line for line in page.splitlines() if line.startswith("| `sms-")]
    last: dict[str, Any] = {}
    events = 0
    for record in taken:
        for written in encode(worker.handle(record), topics, defaultdict(lambda: 2**20)):
            last[written.topic] = written
            if written.topic == topics.training:
                there = Partition(topics.training, 0)
                worker.handle(Record(there, events, written.value, role="training"))
                events += 1
    assert set(last) == {
        topics.decisions, topics.training, topics.join_state, topics.dead_letters
    }  # fmt: skip
    for topic, written in last.items():
        (row,) = [each for each in rows if each.startswith(f"| `{topic}`")]
        for line in written.value.decode().split("\n"):
            assert f"`{line}`" in row
        for name, value in written.headers:
            assert f"`{name}`: `{value.decode()}`" in row


def test_the_statuses_and_paths_of_the_documents() -> None:
    guides = ("run-on-kafka", "secure-kafka", "replay-dead-letters", "connect-a-mail-server")
    page = "\n".join(
        (ROOT / "docs" / "how-to" / f"{guide}.md").read_text(encoding="utf-8") for guide in guides
    )
    for status in (0, 1, 2, 3, 70, 141):
        assert f"\n| {status} | " in page
    for name in SECRETS:
        assert f"`STREAMNB_{name.upper()}`" in page
    flags = {flag for action in replay_parser()._actions for flag in action.option_strings}
    for flag in ("--error", "--source", "--partition", "--offsets", "--to", "--dry-run"):
        assert flag in flags
        assert f"`{flag}" in page


def test_the_client_knows_all_that_it_is_told_of_security() -> None:
    client_errors = pytest.importorskip("streamnb_consumers.kafka.python_client.client")
    settings = Settings(**KAFKA, security_protocol="SASL_SSL")  # type: ignore[arg-type]
    told = {*make_cluster("sms", settings, SECRET).security, *_TLS_FILES.values()}
    for client in ("KafkaConsumer", "KafkaProducer", "KafkaAdminClient"):
        assert told <= set(getattr(client_errors.kafka, client).DEFAULT_CONFIG), client
