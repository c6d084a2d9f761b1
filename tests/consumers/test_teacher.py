"""A filter on files asks a real server on loopback, and learns each answer once."""

from __future__ import annotations

import itertools
import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from streamnb.datasets import stream
from streamnb.teachers import FunctionTeacher
from streamnb_consumers.daemon.assembly import make_filter
from streamnb_consumers.daemon.loop import Loop
from streamnb_consumers.daemon.metrics import PrometheusMetrics
from streamnb_consumers.daemon.settings import Settings
from streamnb_consumers.daemon.snapshots.local import content
from streamnb_consumers.daemon.teacher_settings import make_asker
from streamnb_consumers.jsons import canonical
from streamnb_consumers.pipeline import state
from streamnb_consumers.pipeline.asker import Answer, Asker
from streamnb_consumers.pipeline.cascade import Consulting
from streamnb_consumers.pipeline.entries import WindowEntry
from streamnb_consumers.pipeline.window import Bounds, JoinWindow
from streamnb_consumers.records import Decision, Partition, Record
from support.chat_server import CHECKED, KEY, ChatServer
from support.memory import MemoryLog, MemorySink, MemorySource

MAIN = "import sys; from streamnb_consumers.daemon.command import run_sms as main; sys.exit(main())"
MESSAGES = [(f"m{at}", *each) for at, each in enumerate(stream("synthetic-sms", limit=1200))]
LABELS = {text: label for _, text, label in MESSAGES}


def write_input(folder: Path, messages: list[tuple[str, str, str]]) -> Path:
    path = folder / "in.jsonl"
    lines = (json.dumps({"id": name, "text": text}) + "\n" for name, text, _ in messages)
    path.write_text("".join(lines), encoding="utf-8")
    return path


def start(folder: Path, key: str = KEY, **settings: object) -> subprocess.Popen[str]:
    given = {"output": folder / "out.jsonl", "snapshots": folder / "state", **settings}
    environment = {f"STREAMNB_{name.upper()}": str(value) for name, value in given.items()}
    return subprocess.Popen(
        [sys.executable, "-c", MAIN],
        env={**os.environ, **environment, "STREAMNB_TEACHER_KEY": key},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def run(folder: Path, **settings: object) -> tuple[int, str]:
    process = start(folder, **settings)  # type: ignore[arg-type]
    _, errors = process.communicate(timeout=120)
    return process.returncode, errors


def decisions(folder: Path) -> list[dict[str, Any]]:
    lines = (folder / "out.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(each) for each in lines]


def learned(folder: Path) -> int:
    """Return the number of training events in the newest snapshot."""
    worker = make_filter("sms", Settings(teacher_agreement=0.95))
    newest = max((folder / "state").glob("snapshot-*.bin"))
    state.restore(worker, content(newest.read_bytes(), 2**30))
    return worker.learner.learned


def test_messages_at_risk_get_the_answer_of_a_server(tmp_path: Path) -> None:
    path = write_input(tmp_path, MESSAGES)
    config = tmp_path / "filter.toml"
    with ChatServer(LABELS) as server:
        config.write_text(
            f'input = "{path}"\n[teacher]\nagreement = 0.95\nurl = "{server.url}"\n'
            'model = "loopback-1"\nwait_seconds = 20\n',
            encoding="utf-8",
        )
        status, errors = run(tmp_path, config=config)
        assert (status, errors) == (0, "")
        del server.asked[CHECKED]
        found = decisions(tmp_path)
        assert [each["id"] for each in found] == [name for name, *_ in MESSAGES]
        taught = [each for each in found if each["source"] == "teacher"]
        answered = [each for each in taught if each["status"] == "answered"]
        assert {each["reason"] for each in answered} >= {"first", "uncertain", "audit"}
        labels = {name: label for name, _, label in MESSAGES}
        assert all(each["label"] == labels[each["id"]] for each in answered)
        assert all("model_label" in each or each["reason"] == "first" for each in answered)
        assert server.asked.total() == len(answered) == learned(tmp_path)
        assert len(answered) < 0.5 * len(MESSAGES)
        agreed = sum(each["label"] == labels[each["id"]] for each in found)
        assert agreed >= 0.95 * len(MESSAGES)


def test_a_late_answer_is_learned_after_the_decision_of_the_model(tmp_path: Path) -> None:
    path = write_input(tmp_path, MESSAGES[:12])
    with ChatServer(LABELS, delay=lambda: 0.3) as server:
        settings = server.settings(teacher_agreement=0.95, teacher_wait_seconds=0.1)
        status, _ = run(tmp_path, input=path, **settings)
        assert status == 0
        found = decisions(tmp_path)
        assert len(found) == 12
        away = [each for each in found if each["status"] == "away"]
        assert {each["source"] for each in away} == {"model"}
        others = {each["reason"] for each in found if each not in away}
        assert others <= {"duplicate", "confident"}  # late answers are learned in between
        assert away
        del server.asked[CHECKED]
        # `finish` waits for those that were sent, but no longer than `wait_seconds`.
        assert 0 < server.asked.total() <= len(away)
        lines = (tmp_path / "state" / "answers.jsonl").read_text().splitlines()
        assert learned(tmp_path) == len(lines) >= server.asked.total() - 4 > 0
        assert len({json.loads(each)[0] for each in lines}) == len(lines)
        # The next run asks again for the answers that did not come.
        (tmp_path / "next.jsonl").write_text('{"id": "n", "text": "see you at noon"}\n')
        settings |= {"teacher_wait_seconds": 20, "input": tmp_path / "next.jsonl"}
        status, _ = run(tmp_path, output=tmp_path / "next", **settings)
        assert status == 0
        lines = (tmp_path / "state" / "answers.jsonl").read_text().splitlines()
        names = [json.loads(each)[0] for each in lines]
        assert sorted({*names} - {"n"}) == sorted(each["id"] for each in away)
        assert len({*names}) == len(names)
        assert learned(tmp_path) == len(names)


def test_invalid_answers_are_not_learned(tmp_path: Path) -> None:
    path = write_input(tmp_path, MESSAGES[:20])
    with ChatServer(LABELS, status=lambda text: 299) as server:
        status, _ = run(tmp_path, input=path, **server.settings(teacher_agreement=0.95))
        assert status == 0
        assert {each["status"] for each in decisions(tmp_path)} == {"invalid"}
        assert learned(tmp_path) == 0


@pytest.mark.parametrize("output_only", [False, True])
def test_through_kills_no_answer_is_asked_for_again_or_learned_twice(
    tmp_path: Path, output_only: bool
) -> None:
    generator = random.Random(5)
    path = write_input(tmp_path, MESSAGES)
    with ChatServer(LABELS, delay=lambda: 0.01) as server:
        settings = server.settings(
            teacher_agreement=0.95, teacher_wait_seconds=20, batch=50, input=path
        )
        settings["snapshot_seconds"] = 0.3
        if output_only:
            settings["snapshots"] = ""
        kills = 4
        for _ in range(kills):
            process = start(tmp_path, **settings)  # type: ignore[arg-type]
            time.sleep(1.0 + generator.uniform(0.0, 0.8))
            process.send_signal(signal.SIGKILL)
            process.communicate()
        status, errors = run(tmp_path, **settings)
        assert status == 0, errors
        found = decisions(tmp_path)
        assert [each["id"] for each in found] == [name for name, *_ in MESSAGES]
        del server.asked[CHECKED]
        # Only requests that a kill interrupted are repeated: one at a time.
        again = {text: n for text, n in server.asked.items() if n > 1}
        assert sum(again.values()) - len(again) <= kills
        answered = [each["id"] for each in found if each["status"] == "answered"]
        answers = Path(f"{tmp_path / 'out.jsonl'}.answers")
        answers = answers if output_only else tmp_path / "state" / "answers.jsonl"
        journal = Counter(json.loads(each)[0] for each in answers.read_text().splitlines())
        assert set(journal.values()) == {1}
        assert set(answered) <= set(journal)
        if not output_only:
            assert learned(tmp_path) == len(journal)


@pytest.mark.parametrize(
    ("settings", "key", "message"),
    [
        ({}, "sk-wrong", "HTTP 401.*give the right key.*STREAMNB_TEACHER_KEY"),
        ({"teacher_model": "absent"}, KEY, "HTTP 404.*absent does not exist.*teacher_model"),
    ],
)
def test_a_wrong_key_or_model_is_an_error_at_the_start(
    tmp_path: Path, settings: dict[str, object], key: str, message: str
) -> None:
    path = write_input(tmp_path, MESSAGES[:5])
    with ChatServer(LABELS) as server:
        given = server.settings(teacher_agreement=0.95, input=path, **settings)
        process = start(tmp_path, key, **given)  # type: ignore[arg-type]
        _, errors = process.communicate(timeout=60)
    assert process.returncode == 2
    assert re.search(message, errors), errors
    assert not server.asked


def test_an_endpoint_that_is_away_at_the_start_marks_decisions(tmp_path: Path) -> None:
    path = write_input(tmp_path, MESSAGES[:5])
    with ChatServer(LABELS) as server:
        settings = server.settings(teacher_agreement=0.95, teacher_retries=0, input=path)
    status, _ = run(tmp_path, **settings)
    assert status == 0
    assert {each["status"] for each in decisions(tmp_path)} == {"away"}


def test_a_function_is_a_teacher(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "rules.py").write_text(
        "def label(text):\n    return 'spam' if 'win' in text.lower() else 'ham'\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    path = write_input(tmp_path, MESSAGES[:50])
    settings = {"teacher_function": "rules:label", "teacher_agreement": 0.9, "input": path}
    status, errors = run(tmp_path, **settings)
    assert status == 0, errors
    for decision, (_, text, _) in zip(decisions(tmp_path), MESSAGES, strict=False):
        if decision["status"] == "answered":
            assert decision["label"] == ("spam" if "win" in text.lower() else "ham")


def test_a_person_answers_the_questions_in_the_file(tmp_path: Path) -> None:
    lines = []
    for name, text, label in MESSAGES[:20]:
        lines += [{"id": name, "text": text}, {"id": name, "label": label}]
    path = tmp_path / "in.jsonl"
    path.write_text("".join(json.dumps(each) + "\n" for each in lines), encoding="utf-8")
    status, _ = run(tmp_path, teacher_agreement=0.9, input=path)
    assert status == 0
    found = decisions(tmp_path)
    assert len(found) == 20
    assert found[0]["status"] == "waiting"
    assert found[0]["ask"] is True
    assert learned(tmp_path) == 20


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"teacher_url": "http://x/v1"}, "no goal"),
        ({"teacher_agreement": 0.9, "teacher_budget": 0.1}, "2 goals, agreement, budget"),
        ({"teacher_call_price": 1.0}, "are one goal"),
        ({"teacher_agreement": 0.9, "teacher_url": "http://x/v1"}, "name one teacher"),
        ({"teacher_agreement": 0.9, "max_fpr": 0.01}, "max_fpr and the goal"),
        ({"teacher_agreement": 0.9, "ask_per_day": 3.0}, "ask_per_day and the goal"),
        ({"teacher_agreement": 0.9, "bootstrap_servers": "x:1"}, "needs questions_topic"),
    ],
)
def test_wrong_settings_are_named(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Settings(**settings)


# --- state of a partition ---------------------------------------------------------------------


def consulted(window: JoinWindow, messages: list[tuple[str, str, str]]) -> list[str | None]:
    """Decide messages with fixed probabilities, and answer them late; return their status."""
    found = []
    for at, (name, text, label) in enumerate(messages):
        share = 0.5 + at % 50 / 100
        probabilities = {"ham": share, "spam": 1 - share}
        decision = Decision(name, "ham", probabilities, 0.0, at, Partition("sms", 0), at)
        decision = window.consult(decision, text, 1000 * at)
        window.add(name, WindowEntry(canonical(text), "ham", 0.0, 1000 * at, offset=at))
        if decision.status == "waiting":
            window.hold(decision)
            if at % 3:
                window.answer(name, label)
        found.append(decision.status)
    return found


@pytest.mark.parametrize("through", ["log", "pieces", "json"])
def test_a_window_continues_its_cascade_after_a_restart(through: str) -> None:
    bounds = Bounds(consulting=Consulting({"agreement": 0.9, "reuse_answers": False}, wait=60_000))
    before = JoinWindow(bounds, logged=True)
    log: list[tuple[bytes, bytes | None]] = []
    for at in range(0, 600, 20):
        consulted(before, MESSAGES[at : at + 20])
        log += before.take_changes()
    after = JoinWindow(bounds, logged=True)
    if through == "log":
        for key, value in log:
            after.apply(key, value)
        assert after.take_changes() == []  # a window that is restored changes nothing
        latest = dict(log)
        assert len(latest[b"c:"] or b"") < 20_000
    elif through == "pieces":
        after.fill(list(before.pieces(100)))
    else:
        after = JoinWindow.from_json(before.to_json(), bounds)
    assert before.cascade is not None
    assert after.cascade is not None
    assert after.cascade.waiting == before.cascade.waiting != {}
    assert list(after.cascade.waiting) == list(before.cascade.waiting)
    more = [(f"n{name}", f"{text} again", label) for name, text, label in MESSAGES[600:1000]]
    assert consulted(after, more) == consulted(before, more)
    assert after.cascade.cascade.estimates() == before.cascade.cascade.estimates()


def test_decisions_wait_no_longer_than_the_setting_and_outlive_their_message() -> None:
    now = [1000.0]
    bounds = Bounds(count=5, consulting=Consulting({"agreement": 0.9}, wait=10_000))
    window = JoinWindow(bounds, clock=lambda: now[0])
    consulted(window, [(name, text, label) for name, text, label in MESSAGES[:1]])
    for at in range(10):  # the message leaves the window
        window.add(f"other{at}", WindowEntry(b'"x"', "ham", 0.0, 1000 + at, offset=at + 1))
    assert window.get(MESSAGES[0][0]) is None
    now[0] += 9.9
    assert not window.is_due()
    assert window.expire_waits() == []
    now[0] += 0.2
    assert window.is_due()
    (decision,) = window.expire_waits()
    assert (decision.id, decision.source, decision.status) == (MESSAGES[0][0], "model", "away")
    assert not window.is_due()


def test_decisions_wait_although_the_settings_have_no_teacher_any_more() -> None:
    bounds = Bounds(consulting=Consulting({"agreement": 0.9}, wait=1))
    before = JoinWindow(bounds, logged=True)
    consulted(before, MESSAGES[:1])
    after = JoinWindow(Bounds(), logged=True)
    for key, value in before.take_changes():
        after.apply(key, value)
    time.sleep(0.01)
    assert [each.id for each in after.expire_waits()] == [MESSAGES[0][0]]


# --- metrics ----------------------------------------------------------------------------------


def test_metrics_of_a_filter_on_files_have_the_values_of_its_run(tmp_path: Path) -> None:
    """Calls, share, cost, agreement with its interval, and the age of the answers."""
    messages = MESSAGES[:300]
    seconds = 0.03
    now = itertools.count(step=20.0)  # each batch is due for an estimate
    metrics = PrometheusMetrics(clock=lambda: float(next(now)))
    invalid = messages[0][1]
    with ChatServer(
        LABELS,
        delay=lambda: seconds,
        status=lambda text: 299 if text == invalid else 200,
    ) as server:
        settings = Settings(
            **server.settings(teacher_agreement=0.95, teacher_wait_seconds=20.0),
            teacher_input_price=4.0,
            teacher_output_price=8.0,
        )
        worker = make_filter("sms", settings)
        worker.asker = make_asker(settings, {"STREAMNB_TEACHER_KEY": KEY})
        place = Partition("sms", 0)
        log = MemoryLog(
            [
                Record(place, at, json.dumps({"id": name, "text": text}).encode())
                for at, (name, text, _) in enumerate(messages)
            ]
        )
        Loop(MemorySource(log), MemorySink(log), worker, metrics=metrics).run()
    value = metrics.registry.get_sample_value
    (window,) = worker.join.windows.values()
    cascade = window.cascade.cascade if window.cascade else None
    assert cascade is not None
    calls = server.asked.total() - server.asked[CHECKED]
    assert value("streamnb_questions_total") == calls == cascade.n_calls > 20
    assert value("streamnb_teacher_call_share", {"partition": "0"}) == calls / len(messages)
    # 50 tokens in and 2 out for each request, the test message at the start included.
    price = (50 * 4.0 + 2 * 8.0) / 1e6
    assert value("streamnb_teacher_cost") == pytest.approx(server.asked.total() * price)
    found = cascade.agreement_estimate()
    for bound in ("value", "low", "high"):
        labels = {"partition": "0", "bound": bound}
        assert value("streamnb_teacher_agreement", labels) == getattr(found, bound)
    assert found.low < found.value <= found.high
    told = Counter((each.source, each.reason, each.status) for each in log.outputs.decisions)
    assert told["model", "first", "invalid"] == 1
    for (source, reason, status), count in told.items():
        labels = {"source": str(source), "reason": str(reason), "status": str(status)}
        assert value("streamnb_teacher_decisions_total", labels) == count
    answered = calls - 1
    assert value("streamnb_answer_delay_seconds_count") == answered
    delay = value("streamnb_answer_delay_seconds_sum") or 0.0
    assert seconds * answered <= delay < 60.0 * answered
    assert value("streamnb_waiting_decisions") == 0


# --- answers on disk --------------------------------------------------------------------------


def written(path: Path) -> list[str]:
    return [json.loads(each)[0] for each in path.read_text(encoding="utf-8").splitlines()]


def test_the_file_of_answers_keeps_the_latest_ones(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    asked: list[str] = []

    def label(text: str) -> str:
        asked.append(text)
        return "ham"

    asker = Asker(FunctionTeacher(label), 20.0, path, kept=10)
    for at in range(19):
        asker.ask(f"m{at}", f"text {at}")
    assert written(path) == [f"m{at}" for at in range(19)]
    asker.ask("m19", "text 19")
    assert written(path) == [f"m{at}" for at in range(10, 20)]
    asker.ask("m20", "text 20")  # the new file grows
    assert written(path) == [f"m{at}" for at in range(10, 21)]
    assert [each.name for each in tmp_path.iterdir()] == [path.name]
    for again in (asker, Asker(FunctionTeacher(label), 20.0, path, kept=10)):
        asked.clear()
        for at in (10, 15, 20):
            assert again.ask(f"m{at}", f"text {at}") == Answer(f"m{at}", "ham", 0.0)
        assert asked == []
    Asker(FunctionTeacher(label), 20.0, path, kept=3)  # a lower setting applies at the start
    assert written(path) == ["m18", "m19", "m20"]
    asker = Asker(FunctionTeacher(label), 20.0, path, kept=3)
    answer = asker.ask("m10", "text 10")
    assert isinstance(answer, Answer)
    assert (answer.label, asked) == ("ham", ["text 10"])  # asked again


KILLED = """
import sys
from pathlib import Path
from streamnb.teachers import FunctionTeacher
from streamnb_consumers.pipeline.asker import Asker

first = int(sys.argv[2])
asker = Asker(FunctionTeacher(lambda text: "ham"), 20.0, Path(sys.argv[1]), kept=5)
for at in range(first, first + 100_000):
    asker.ask(f"m{at}", "x")
    print(at, flush=True)
"""


def test_through_kills_the_latest_answers_stay_in_the_file(tmp_path: Path) -> None:
    """A kill at any moment, most often while the file is shortened, loses no kept answer."""
    path, generator, used = tmp_path / "answers.jsonl", random.Random(7), -1
    for _ in range(15):
        process = subprocess.Popen(
            [sys.executable, "-c", KILLED, str(path), str(used + 1)],
            stdout=subprocess.PIPE,
            text=True,
        )
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(generator.uniform(0.0, 0.15))
        process.kill()
        lines = process.communicate()[0].split()
        used = max(used + 1, int(lines[-1]) if lines else 0)
        names = [int(each[1:]) for each in written_whole(path)]
        # Each used answer is on disk; the last one may be there although it was not used.
        assert names == list(range(names[0], names[-1] + 1))
        assert used <= names[-1] <= used + 1
        assert 5 <= len(names) <= 10 or names[0] == 0
        used = names[-1]
    assert used > 100


def written_whole(path: Path) -> list[str]:
    """Return the ids in the complete lines of a file of answers."""
    whole = path.read_bytes().rpartition(b"\n")[0]
    return [json.loads(each)[0] for each in whole.splitlines()]
