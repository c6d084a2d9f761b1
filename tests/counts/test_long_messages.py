"""Long messages and batches: Ctrl-C ends them, other threads continue, parents are bounded."""

from __future__ import annotations

import random
import subprocess
import sys
import threading
import time
from typing import Any

import pytest

from streamnb import HMNB, HNB, MNB, SEMNB
from streamnb.errors import InputError
from support.models import RATIOS, make_model
from support.streams import follow, prefixes, synthetic_stream

PARENTS = ["HMNB", "HCNB", "SEMNB", "SEOVA", RATIOS, "HNB"]


def long_text(words: int, seed: int = 1) -> str:
    rng = random.Random(seed)
    return " ".join(f"w{rng.randrange(3_000)}" for _ in range(words))


def slow_model() -> SEMNB:
    model = SEMNB(max_parents=None, refresh_every=10**9)
    texts = [long_text(300, seed) for seed in range(300)]
    model.learn_many(texts, ["ham", "spam"] * 150)
    model.refresh()
    return model


@pytest.mark.parametrize("most", [1, 3])
@pytest.mark.parametrize("name", PARENTS)
def test_bounded_parents_equal_the_reference(name: str, most: int) -> None:
    stream = synthetic_stream(40)
    follow(name, {"max_parents": most}, stream, prefixes(synthetic_stream, n=40))


@pytest.mark.parametrize("name", PARENTS)
def test_neither_order_nor_ids_choose_the_parents(name: str) -> None:
    stream = synthetic_stream(60)
    model = make_model(name, max_parents=2)
    turned = make_model(name, max_parents=2)
    for x, y, w in stream:
        model.learn_one(x, y, w)
    for x, y, w in stream:
        turned.learn_one(dict(reversed(x.items())), y, w)
    for one in (model, turned):
        one.refresh()
    for x, _, _ in stream:
        expected = model.joint_log_likelihood_one(x)
        found = turned.joint_log_likelihood_one(dict(reversed(x.items())))
        assert found == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("name", PARENTS)
def test_the_bound_is_a_parameter_of_scores_alone(name: str) -> None:
    stream = synthetic_stream(40)
    bounded, free = make_model(name, max_parents=2), make_model(name, max_parents=None)
    for x, y, w in stream:
        bounded.learn_one(x, y, w)
        free.learn_one(x, y, w)
    bounded.merge(free)
    again = type(bounded).from_bytes(bounded.to_bytes())
    assert again.max_parents == 2
    x = stream[0][0]
    assert again.joint_log_likelihood_one(x) == pytest.approx(bounded.joint_log_likelihood_one(x))


def test_columns_have_no_bound() -> None:
    rows = [({f"a{i}": (i * j) % 3 for i in range(40)}, "yn"[j % 2]) for j in range(30)]
    models = [HNB(columns=True, max_parents=most) for most in (1, None)]
    for model in models:
        for row, label in rows:
            model.learn_one(row, label)
        model.refresh()
    one, other = (model.joint_log_likelihood_one(rows[3][0]) for model in models)
    assert one == other


@pytest.mark.parametrize("bad", [0, -1, 1.5, True, "all"])
def test_what_is_no_bound_is_refused(bad: Any) -> None:
    for model in (HMNB, SEMNB, HNB):
        with pytest.raises(InputError, match="max_parents must be None or a whole number from 1"):
            model(max_parents=bad)


def test_another_thread_goes_on_while_one_predicts() -> None:
    """If the GIL were held, this thread could take one step before and one after."""
    model, text = slow_model(), long_text(3_000)
    began = threading.Event()

    def predict() -> None:
        began.set()
        model.predict_one(text)

    model.predict_one(text)  # pages and buffers are there
    steps = 0
    thread = threading.Thread(target=predict)
    thread.start()
    assert began.wait(30)
    while thread.is_alive():
        time.sleep(0.0005)
        steps += 1
    thread.join()
    assert steps > 10


# None of this work would end within the time limit of the test.
INTERRUPTED = """
import os, signal, sys, threading
sys.path.insert(0, {tests!r})
from counts.test_long_messages import long_text, slow_model
from streamnb import HNB, MNB, OnlineNB, _core
from streamnb.families import packaged as packages

# Ctrl-C is pressed again and again. The second in a row that finds Python at the call of the core
# ends its work, which asks between its steps. One that comes before the work has begun, as on a
# busy machine, would end nothing that is tested here.
def pressed(number, frame):
    global place
    before, place = place, (frame, frame.f_lasti)
    if within and place == before and frame.f_code.co_name in ("begun", "learn_many"):
        raise KeyboardInterrupt

def press():
    while not done.wait(0.02):
        os.kill(os.getpid(), signal.SIGINT)

signal.signal(signal.SIGINT, pressed)
within, place, done = False, None, threading.Event()
threading.Thread(target=press, daemon=True).start()

def interrupted(begin, work):
    global within
    def begun(*arguments, **named):
        global within, place
        within, place = True, None
        return begin(*arguments, **named)
    try:
        work(begun)
    except KeyboardInterrupt:
        return True
    finally:
        within = False

class Begun:
    def __init__(self, real, **begun):
        self.real = real
        self.__dict__.update(begun)
    def __getattr__(self, name):
        return getattr(self.real, name)

slow, text = slow_model(), long_text(3_000)
store = slow._store
for threads in (1, 3):
    slow._threads = threads
    def predict(begun):
        slow._store = slow._labelled.store = Begun(store, predict_many=begun)
        slow.predict_many([text] * 20_000)
    assert interrupted(store.predict_many, predict)
    slow._store = slow._labelled.store = store
    for make in (MNB, OnlineNB):
        model = make(n_jobs=threads)
        def learn(begun):
            model._labelled.learn_many = begun
            model.learn_many([text] * 200_000, ["ham", "spam"] * 100_000)
        assert interrupted(model._labelled.learn_many, learn)
        assert model.classes_ == ["ham", "spam"]
        assert 1 < model.n_documents < 200_000
        del model._labelled.learn_many
        model.learn_one("w1 more", "ham")
        assert model.predict_one("more") == slow.predict_one("w1 w2") == "ham"
words = {{f"w{{i}}": 1 for i in range(3_000)}}
for threads in (1, 3):
    model = HNB(n_jobs=threads, refresh_every=10**9)
    model.learn_many([words] * 600, ["ham", "spam"] * 300)
    count = _core.pair_information
    def refresh(begun):
        packages._core = Begun(_core, pair_information=begun)
        model.refresh()
    assert interrupted(count, refresh)
    packages._core = _core
    assert model._store.packages() == []
done.set()
print("done")
"""


def test_ctrl_c_ends_long_work(request: pytest.FixtureRequest) -> None:
    program = INTERRUPTED.format(tests=str(request.config.rootpath / "tests"))
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=100, check=False
    )
    assert done.stdout == "done\n", done.stderr


def test_what_is_learned_before_an_error_has_its_label() -> None:
    class StopError(Exception):
        pass

    model = MNB()
    learn = model._store.learn_many

    class Store:
        def __getattr__(self, name: str) -> Any:
            return getattr(store, name)

        def learn_many(
            self, batch: Any, ids: Any, w: Any, start: int, stop: int, threads: int
        ) -> None:
            learn(batch, ids, w, start, min(stop, 2), threads)
            raise StopError

    store = model._store
    model._store = model._labelled.store = Store()  # type: ignore[assignment]
    with pytest.raises(StopError):
        model.learn_many(["win cash", "see you", "the goal"], ["spam", "ham", "news"])
    model._store = model._labelled.store = store
    whole = MNB()
    whole.learn_many(["win cash", "see you"], ["spam", "ham"])
    assert model.classes_ == ["ham", "spam"]
    assert model.to_bytes() == whole.to_bytes()
    model.learn_one("the goal", "news")
    assert model.predict_one("goal") == "news"
