"""Teachers: functions of all kinds, and a real server with the OpenAI chat protocol on loopback."""

from __future__ import annotations

import asyncio
import base64
import os
import secrets
import shutil
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from streamnb import MNB
from streamnb.cascade import Cascade
from streamnb.chat_teacher import ChatTeacher
from streamnb.datasets import stream
from streamnb.errors import (
    InputError,
    InvalidAnswerError,
    TeacherAwayError,
    TeacherRefusedError,
)
from streamnb.teachers import FunctionTeacher, as_teacher

LABELS = ["ham", "spam"]


# --- functions --------------------------------------------------------------------------------


async def later(text: str) -> str:
    await asyncio.sleep(0.01)
    return text.upper()


class Later:
    async def __call__(self, text: str) -> str:
        return await later(text)


async def later_batch(texts: list[str]) -> list[str]:
    return [await later(each) for each in texts]


@pytest.mark.parametrize(
    "teacher",
    [
        FunctionTeacher(str.upper),
        FunctionTeacher(str.upper, parallel=3),
        FunctionTeacher(later, parallel=8, timeout=5.0),
        FunctionTeacher(Later(), parallel=8),
        FunctionTeacher(later_batch, batch=True),
        FunctionTeacher(lambda texts: [each.upper() for each in texts], batch=True),
    ],
)
def test_functions_of_all_kinds_answer(teacher: FunctionTeacher) -> None:
    teacher.n_calls = 0
    words = ["a", "b", "c"]
    assert teacher.answer_many(words) == ["A", "B", "C"]
    assert teacher.answer_many([]) == []
    assert teacher.n_calls == 3

    async def within_a_loop() -> list[Any]:
        return teacher.answer_many(words)

    assert asyncio.run(within_a_loop()) == ["A", "B", "C"]


def test_async_calls_are_parallel_within_the_bound() -> None:
    running, most = 0, 0

    async def counted(text: str) -> str:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0.01)
        running -= 1
        return text

    FunctionTeacher(counted, parallel=3).answer_many(list("abcdefgh"))
    assert most == 3


def raising(error: Exception) -> Callable[[str], str]:
    def teacher(text: str) -> str:
        raise error

    return teacher


def test_failures_of_functions() -> None:
    for error in (ConnectionError("gone"), TimeoutError("slow")):
        (answer,) = FunctionTeacher(raising(error)).answer_many(["x"])
        assert isinstance(answer, TeacherAwayError)
        assert str(error) in str(answer)
    with pytest.raises(KeyError):  # an error of the function itself
        FunctionTeacher(raising(KeyError("x"))).answer_many(["x"])
    (answer,) = FunctionTeacher(lambda x: None).answer_many(["x"])
    assert isinstance(answer, InvalidAnswerError)

    async def slow(text: str) -> str:
        await asyncio.sleep(5)
        return text

    (answer,) = FunctionTeacher(slow, timeout=0.01).answer_many(["x"])
    assert isinstance(answer, TeacherAwayError)
    with pytest.raises(InputError, match="1 labels for 2 messages"):
        FunctionTeacher(lambda texts: ["a"], batch=True).answer_many(["x", "y"])
    with pytest.raises(InputError, match="async"):
        FunctionTeacher(str.upper, timeout=1.0)
    with pytest.raises(InputError, match="teacher must be"):
        as_teacher("gpt")


# --- a server with the OpenAI protocol ----------------------------------------------------------


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


class Proxy:
    """The proxy of LiteLLM, whose models answer with fixed texts."""

    ANSWERS = (
        ("spam", '{"label": "spam"}'),
        ("plain", "ham"),
        ("unknown", '{"label": "eggs"}'),
        ("chatty", "I think that it is spam."),
    )

    def __init__(self, program: str, folder: Path) -> None:
        models = "".join(
            f"  - model_name: {name}\n    litellm_params:\n      model: openai/{name}\n"
            f"      api_key: none\n      mock_response: '{answer}'\n"
            for name, answer in self.ANSWERS
        )
        self._config = folder / "config.yaml"
        self._config.write_text(f"model_list:\n{models}", encoding="utf-8")
        self._log = folder / "litellm.log"
        self._program, self.port = program, free_port()
        self.key = f"sk-{secrets.token_hex(32)}"  # the proxy refuses to start without a key
        self.url = f"http://127.0.0.1:{self.port}/v1"
        self.start()

    def start(self) -> None:
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                [
                    *(self._program, "--config", str(self._config)),
                    *("--host", "127.0.0.1", "--port", str(self.port)),
                ],
                stdout=log,
                stderr=log,
                env={
                    **os.environ,
                    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
                    "LITELLM_MASTER_KEY": self.key,
                },
            )
        end = time.monotonic() + 180
        while time.monotonic() < end and self._process.poll() is None:
            with socket.socket() as tried:
                if tried.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            time.sleep(0.2)
        pytest.fail(self._log.read_text(encoding="utf-8", errors="replace")[-2000:])

    def teacher(self, model: str, **options: Any) -> ChatTeacher:
        """Return a teacher that asks this proxy."""
        return ChatTeacher(self.url, model, LABELS, key=self.key, **options)

    def stop(self) -> None:
        self._process.kill()
        self._process.wait()


@pytest.fixture(scope="module")
def proxy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Proxy]:
    program = os.environ.get("STREAMNB_LITELLM") or shutil.which("litellm")
    if program is None:
        reason = "no program litellm: pip install 'litellm[proxy]' in an environment of its own, "
        reason += "and set STREAMNB_LITELLM to its path"
        if os.environ.get("STREAMNB_REQUIRE_LITELLM") == "1":
            pytest.fail(reason)
        pytest.skip(reason)
    made = Proxy(program, tmp_path_factory.mktemp("litellm"))
    yield made
    made.stop()


def test_a_server_answers_with_labels(proxy: Proxy) -> None:
    teacher = proxy.teacher("spam", input_price=1.0, output_price=2.0)
    assert teacher.answer_many(["win cash", "win money"]) == ["spam", "spam"]
    assert teacher.n_requests == 2
    assert teacher.input_tokens > 0
    assert teacher.cost == (teacher.input_tokens + 2 * teacher.output_tokens) / 1e6
    plain = proxy.teacher("plain", structured=False)
    assert plain.answer_many(["see you"]) == ["ham"]


@pytest.mark.parametrize("model", ["unknown", "plain", "chatty"])
def test_invalid_answers_of_a_server_are_counted_and_not_learned(proxy: Proxy, model: str) -> None:
    teacher = proxy.teacher(model)
    cascade = Cascade(MNB(), teacher, agreement=0.9)
    assert cascade.decide_one("win cash").status == "invalid"
    assert (teacher.n_invalid, cascade.n_invalid, cascade.n_answers) == (1, 1, 0)
    assert cascade.model.n_documents == 0


def test_without_the_key_the_server_refuses_the_teacher(proxy: Proxy) -> None:
    teacher = ChatTeacher(proxy.url, "spam", LABELS, retries=0)
    for ask in (teacher.check, lambda: teacher.answer_many(["win"])):
        with pytest.raises(TeacherRefusedError, match=r"HTTP 40.*give"):
            ask()


def test_a_model_that_the_server_does_not_have_is_an_error_of_the_check(proxy: Proxy) -> None:
    with pytest.raises(TeacherRefusedError, match=r"absent.*model"):
        proxy.teacher("absent", retries=0).check()
    assert proxy.teacher("spam").check() is None
    assert isinstance(proxy.teacher("chatty").check(), InvalidAnswerError)


def test_the_server_goes_in_the_middle_of_a_stream_and_comes_back(proxy: Proxy) -> None:
    teacher = proxy.teacher("spam", retries=1, backoff=0.01, pause=0.2)
    cascade = Cascade(MNB(), teacher, agreement=0.9, reuse_answers=False)
    texts = [x for x, _ in stream("synthetic-sms", limit=30)]
    found = [cascade.decide_one(x) for x in texts[:10]]
    proxy.stop()
    away = [cascade.decide_one(x) for x in texts[10:20]]
    proxy.start()
    time.sleep(0.3)
    found += [cascade.decide_one(x) for x in texts[20:]]
    assert {each.status for each in found} == {"answered"}
    assert [(each.status, each.source, each.label) for each in away] == [
        ("away", "model", "spam")
    ] * 10
    assert (cascade.n_answers, cascade.n_away, cascade.n_calls) == (20, 10, 30)
    for x, decision in zip(texts[10:20], away, strict=True):  # nothing is lost
        cascade.answer_one(x, decision, "spam")
    assert cascade.model.n_documents == 30


# --- failures that LiteLLM does not produce -------------------------------------------------------


class Script(BaseHTTPRequestHandler):
    """Answers with the statuses of the server's list, then with the label spam."""

    def do_POST(self) -> None:
        self.server.authorization = self.headers["Authorization"]  # type: ignore[attr-defined]
        self.server.bodies.append(self.rfile.read(int(self.headers["Content-Length"])))  # type: ignore[attr-defined]
        statuses = self.server.statuses  # type: ignore[attr-defined]
        status, headers = statuses.pop(0) if statuses else (200, {})
        content = '{"choices": [{"message": {"content": "{\\"label\\": \\"spam\\"}"}}]}'
        body = content.encode() if status == 200 else b"busy"
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments: Any) -> None:
        """Write nothing."""


@pytest.fixture
def script() -> Iterator[ThreadingHTTPServer]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Script) as server:
        server.statuses, server.bodies = [], []  # type: ignore[attr-defined]
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


def taught(server: ThreadingHTTPServer, **options: Any) -> ChatTeacher:
    options = {"backoff": 0.01, "pause": 0.0, **options}
    return ChatTeacher(f"http://127.0.0.1:{server.server_port}/v1/", "m", LABELS, **options)


@pytest.mark.parametrize("status", [429, 500, 503, 408])
def test_a_busy_server_is_asked_again(script: Any, status: int) -> None:
    script.statuses = [(status, {"Retry-After": "0.05"}), (status, {})]
    teacher = taught(script)
    started = time.monotonic()
    assert teacher.answer_many(["win"]) == ["spam"]
    assert time.monotonic() - started >= 0.04  # Retry-After, times at least 0.8
    assert (teacher.n_requests, teacher.n_retries) == (3, 2)


def test_credentials_in_the_url_of_a_teacher_are_not_printed(
    script: Any, caplog: pytest.LogCaptureFixture
) -> None:
    place = f"127.0.0.1:{script.server_port}/v1"
    caplog.set_level("DEBUG")
    teacher = ChatTeacher(f"http://me:hunter2@{place}", "m", LABELS, retries=0, pause=0.0)
    assert teacher.answer_many(["win"]) == ["spam"]
    assert script.authorization == f"Basic {base64.b64encode(b'me:hunter2').decode()}"
    script.statuses = [(500, {})]
    (answer,) = teacher.answer_many(["win"])
    assert f"HTTP 500 of http://{place}" in str(answer)
    script.shutdown()
    script.server_close()
    (answer,) = teacher.answer_many(["win"])
    assert f"of http://{place}" in str(answer)
    with pytest.raises(InputError, match="ftp://") as error:
        ChatTeacher("ftp://me:hunter2@host", "m", LABELS)
    for text in (caplog.text, str(error.value), str(answer), teacher.last_error):
        assert "hunter2" not in str(text)


def test_after_the_last_attempt_the_teacher_is_away_for_a_while(script: Any) -> None:
    script.statuses = [(500, {})] * 2
    teacher = taught(script, retries=1, pause=60.0)
    answers = teacher.answer_many(["win"]) + teacher.answer_many(["cash"])
    assert all(isinstance(each, TeacherAwayError) for each in answers)
    assert teacher.n_requests == 2  # none for the second message
    assert "HTTP 500" in str(answers[1])


@pytest.mark.parametrize("status", [401, 403, 404])
def test_a_wrong_setting_is_an_error_at_the_start_and_later_the_teacher_is_away(
    script: Any, status: int
) -> None:
    for ask in (taught(script).check, lambda: taught(script).answer_many(["win", "cash"])):
        script.statuses = [(status, {})] * 2
        with pytest.raises(TeacherRefusedError, match=f"HTTP {status}.*would not help: give"):
            ask()
    teacher = taught(script)
    script.statuses = []
    assert teacher.check() is None
    script.statuses = [(status, {})]
    (answer,) = teacher.answer_many(["win"])
    assert isinstance(answer, TeacherAwayError)
    assert teacher.n_retries == 0


def test_the_check_of_an_endpoint_that_is_away_is_no_error() -> None:
    teacher = ChatTeacher(f"http://127.0.0.1:{free_port()}/v1", "m", LABELS)
    assert isinstance(teacher.check(), TeacherAwayError)


def test_a_refused_message_is_invalid_and_not_tried_again(script: Any) -> None:
    teacher = taught(script)
    script.statuses = [(400, {})]
    (answer,) = teacher.answer_many(["win"])
    assert isinstance(answer, InvalidAnswerError)
    assert teacher.n_retries == 0


def test_redacted_fields_never_leave(script: Any) -> None:
    message = {"text": "win", "user": "u-secret"}
    taught(script, redact=["user"]).answer_many([message])
    taught(script, redact=lambda x: x["text"].replace("win", "***")).answer_many([message])
    taught(script, longest=2).answer_many(["secret"])
    assert b"win" in script.bodies[0]
    assert not any(b"secret" in body for body in script.bodies)
    assert b"***" in script.bodies[1]
    taught(script).answer_many([message])
    assert b"u-secret" in script.bodies[3]


def test_examples_and_the_schema_are_sent(script: Any) -> None:
    teacher = taught(script, examples=[("see you", "ham")], recent_examples=1)
    teacher.answer_many(["win"])
    teacher.answer_many(["cash"])
    first, second = script.bodies
    assert b"see you" in first
    assert b'"enum":["ham","spam"]' in first.replace(b" ", b"")
    assert b'"win"' in second  # the latest answered message


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"url": "localhost:1"}, "url must begin with"),
        ({"labels": ["a"]}, "labels must be"),
        ({"redact": "user"}, "redact must be"),
        ({"examples": [("x", "eggs")]}, "label of an example"),
        ({"timeout": 0}, "timeout must be"),
        ({"retries": -1}, "retries must be"),
    ],
)
def test_invalid_options_are_named(options: dict[str, Any], message: str) -> None:
    given = {"url": "http://127.0.0.1:1/v1", "model": "m", "labels": LABELS, **options}
    with pytest.raises(InputError, match=message):
        ChatTeacher(**given)
