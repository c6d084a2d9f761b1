"""No crash at the end of a process, and no hanging child, while threads are inside batches."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROGRAMS = ROOT / "tests" / "support" / "processes"


def run(*arguments: object, seconds: float = 120) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-W", "error", "-W", "ignore::DeprecationWarning"]
    return subprocess.run(
        [*command, *map(str, arguments)], capture_output=True, text=True, timeout=seconds
    )


@pytest.mark.parametrize("runs", [3, pytest.param(100, marks=pytest.mark.soak)])
def test_a_process_ends_while_threads_are_inside_batches(runs: int) -> None:
    for seed in range(runs):
        done = run(PROGRAMS / "end_in_batch.py", seed)
        assert (done.returncode, done.stdout, done.stderr) == (0, "ends\n", ""), seed


@pytest.mark.parametrize("children", [8, pytest.param(100, marks=pytest.mark.soak)])
def test_children_of_a_fork_learn_and_predict(children: int) -> None:
    done = run(PROGRAMS / "fork_in_batch.py", 1, children, seconds=60 + 32 * children)
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"0 of {children} children failed\n"


SERVER = """
    import signal, sys, threading
    from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
    from streamnb import OnlineNB

    texts = [f"w{i % 977} w{i % 1013} w{i % 89}" for i in range(20_000)]
    model = OnlineNB()
    model.learn_many(texts[:2_000], ["ham", "spam"] * 1_000)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            while True:
                model.predict_many(texts)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    print(server.server_port, flush=True)
    server.serve_forever()
"""


@pytest.mark.parametrize("runs", [1, pytest.param(100, marks=pytest.mark.soak)])
def test_a_threading_server_ends_by_a_signal(runs: int) -> None:
    for _ in range(runs):
        server = subprocess.Popen(
            [sys.executable, "-c", textwrap.dedent(SERVER)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert server.stdout is not None
        port = int(server.stdout.readline())
        client = (
            f"import socket; s = socket.create_connection(('127.0.0.1', {port})); "
            "s.sendall(b'GET / HTTP/1.0\\r\\n\\r\\n'); print(flush=True); s.recv(1)"
        )
        clients = [
            subprocess.Popen(
                [
                    sys.executable,
                    "-c",
                    client,
                ],
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
            for _ in range(2)
        ]
        for each in clients:
            assert each.stdout is not None
            each.stdout.readline()
        time.sleep(0.3)
        server.send_signal(signal.SIGTERM)
        _, errors = server.communicate(timeout=60)
        for each in clients:
            each.communicate(timeout=60)
        assert (server.returncode, errors) == (0, "")


def test_an_event_loop_ends_while_a_thread_works() -> None:
    done = run(
        "-c",
        textwrap.dedent(
            """
            import asyncio, os, threading
            from streamnb import MNB
            model = MNB()
            model.learn_many(["win cash", "see you"], ["spam", "ham"])
            texts = ["win cash and see you"] * 50_000

            async def main():
                found = await asyncio.to_thread(model.predict_many, texts)
                child = os.fork()
                if child == 0:
                    model.predict_many(texts[:10])
                    os._exit(7)
                status = await asyncio.to_thread(os.waitpid, child, 0)
                print(len(found), os.waitstatus_to_exitcode(status[1]))

            asyncio.run(main())
            """
        ),
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "50000 7\n", "")


def test_a_handler_of_a_signal_may_fork_within_a_batch() -> None:
    done = run(
        "-c",
        textwrap.dedent(
            """
            import os, signal
            from streamnb import OnlineNB
            model = OnlineNB()
            model.learn_many(["win cash", "see you"] * 50, ["spam", "ham"] * 50)
            children = []

            def fork(*_):
                child = os.fork()
                if child == 0:
                    os._exit(0)
                children.append(os.waitpid(child, 0)[1])
                # A timer that repeats by itself interrupts this handler if a fork takes longer.
                if len(children) < 3:
                    signal.setitimer(signal.ITIMER_REAL, 0.05)

            signal.signal(signal.SIGALRM, fork)
            signal.setitimer(signal.ITIMER_REAL, 0.05)
            while len(children) < 3:
                model.predict_many(["win cash and see you"] * 100_000)
            print(children)
            """
        ),
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "[0, 0, 0]\n", "")


def test_a_fork_within_a_fork_does_not_wait_for_itself() -> None:
    done = run(
        "-c",
        textwrap.dedent(
            """
            import os
            ended = []

            def fork():
                child = os.fork()
                if child == 0:
                    os._exit(0)
                ended.append(os.waitpid(child, 0)[1])

            nested = []

            def fork_once():
                if not nested:
                    nested.append(True)
                    fork()

            # Handlers that are registered first run last: the locks of models are already taken.
            os.register_at_fork(before=fork_once)
            from streamnb import OnlineNB
            model = OnlineNB()
            model.learn_many(["win cash", "see you"] * 50, ["spam", "ham"] * 50)
            fork()
            fork()
            print(ended, model.predict_one("win cash"))
            """
        ),
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "[0, 0, 0] spam\n", "")


def test_handlers_at_the_end_may_use_models() -> None:
    done = run(
        "-c",
        textwrap.dedent(
            """
            import atexit
            atexit.register(lambda: print(model.predict_many(["win"] * 1_000)[-1]))
            from streamnb import MNB
            model = MNB()
            model.learn_many(["win cash", "see you"] * 2_000, ["spam", "ham"] * 2_000)
            """
        ),
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "spam\n", "")


def test_only_one_file_takes_and_releases_the_gil() -> None:
    found = {}
    for path in sorted((ROOT / "core" / "src" / "bindings").glob("*.rs")):
        uses = re.findall(r"\.detach\(|Python::attach", path.read_text(encoding="utf-8"))
        if path.name != "detached.rs" and uses:
            found[path.name] = len(uses)
    # An error is converted while the GIL is held.
    assert found == {"mod.rs": 1}
    assert hasattr(os, "register_at_fork")
