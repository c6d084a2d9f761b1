"""Threads that learn the same model lose nothing, and concurrent predictions are right."""

from __future__ import annotations

import functools
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import streamnb
from streamnb import BNB, HMNB, MNB, NaiveBayes, OnlineNB

WAIT = 30.0


class Stepped:
    """A store whose next call of one method blocks until it is released."""

    def __init__(self, model: NaiveBayes, method: str, after: bool = False) -> None:
        self.store, self.method, self.after = model._store, method, after
        self.entered, self.go = threading.Event(), threading.Event()
        model._store = model._counts = model._labelled.store = self  # type: ignore[assignment]

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.store, name)
        return self._step(found) if name == self.method and not self.entered.is_set() else found

    def _step(self, call: Callable[..., Any]) -> Callable[..., Any]:
        def stepped(*arguments: Any) -> Any:
            result = call(*arguments) if self.after else None
            self.entered.set()
            assert self.go.wait(WAIT)
            return result if self.after else call(*arguments)

        return stepped


def start(call: Callable[..., Any], *arguments: Any) -> threading.Thread:
    thread = threading.Thread(target=call, args=arguments, daemon=True)
    thread.start()
    return thread


def end(*threads: threading.Thread) -> None:
    for thread in threads:
        thread.join(WAIT)
        assert not thread.is_alive()


def learned(*stream: tuple[str, str]) -> MNB:
    model = MNB()
    for text, label in stream:
        model.learn_one(text, label)
    return model


@pytest.mark.parametrize("after", [False, True])
def test_two_new_labels_get_two_ids(after: bool) -> None:
    model = MNB()
    step = Stepped(model, "learn", after)
    one = start(model.learn_one, "win cash", "spam")
    assert step.entered.wait(WAIT)
    # The second thread waits only for the first; without a lock it would finish immediately.
    two = start(model.learn_one, "see you", "ham")
    two.join(0.2)
    step.go.set()
    end(one, two)
    assert model.classes_ == ["ham", "spam"]
    assert model.predict_one("win cash") == "spam"
    model._store = model._counts = model._labelled.store = step.store
    assert model.to_bytes() == learned(("win cash", "spam"), ("see you", "ham")).to_bytes()


def test_a_label_that_went_is_not_learned_under_its_successors_id() -> None:
    model = learned(("win cash", "spam"), ("see you", "ham"))
    step = Stepped(model, "learn_known")
    # This thread knows the label's id, but has not learned yet …
    one = start(model.learn_one, "win more", "spam")
    assert step.entered.wait(WAIT)
    # … while the label disappears, and another label gets its id.
    model.unlearn_one("win cash", "spam")
    model.learn_one("buy this", "news")
    assert model._labels.ids["news"] == 0
    step.go.set()
    end(one)
    model._store = model._counts = model._labelled.store = step.store
    expected = learned(("see you", "ham"), ("buy this", "news"), ("win more", "spam"))
    assert model.to_bytes() == expected.to_bytes()


def test_a_label_may_go_and_come_while_it_is_learned() -> None:
    model = learned(("win cash", "spam"), ("see you", "ham"))
    step = Stepped(model, "unlearn", after=True)
    # The class is empty in the core, and its label still exists.
    one = start(model.unlearn_one, "win cash", "spam")
    assert step.entered.wait(WAIT)
    two = start(model.learn_one, "win more", "spam")
    two.join(0.2)
    step.go.set()
    end(one, two)
    model._store = model._counts = model._labelled.store = step.store
    assert model.to_bytes() == learned(("see you", "ham"), ("win more", "spam")).to_bytes()


@pytest.mark.parametrize(
    "ask",
    [
        lambda model: model.predict_one("buy this"),
        lambda model: list(model.predict_proba_one("buy this")),
        lambda model: list(model.joint_log_likelihood_one("buy this")),
        lambda model: model.predict_many(["buy this"]),
        lambda model: [list(shares) for shares in model.predict_proba_many(["buy this"])],
        lambda model: list(model.explain_one("buy this").baseline),
    ],
)
def test_predictions_see_a_new_label_whole_or_not_at_all(ask: Callable[[MNB], Any]) -> None:
    model = learned(("win cash", "spam"), ("see you", "ham"))
    before = ask(model)
    step = Stepped(model, "learn", after=True)
    # The core knows the new class, and its label is in no list yet.
    one = start(model.learn_one, "buy this this this", "news")
    assert step.entered.wait(WAIT)
    answers: list[Any] = []
    two = start(lambda: answers.append(ask(model)))
    two.join(0.1)
    step.go.set()
    end(one, two)
    assert answers[0] in (before, ask(model))
    assert before != ask(model)


def test_two_models_merge_one_another() -> None:
    one, two = learned(("win cash", "spam")), learned(("see you", "ham"))
    threads = [start(one.merge, two), start(two.merge, one)]
    end(*threads)
    assert {one.n_documents, two.n_documents} in ({2.0, 3.0}, {3.0, 2.0})
    assert one.classes_ == two.classes_ == ["ham", "spam"]


@pytest.fixture
def busy_switching() -> Iterator[None]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def work(model: NaiveBayes, number: int, rounds: int, failures: list[BaseException]) -> None:
    """Learn own and shared labels, unlearn some, and predict in between."""
    try:
        for i in range(rounds):
            own = f"label{number}-{i % 7}"
            model.learn_one(f"own{number} w{i % 9}", own)
            model.learn_one(f"all w{i % 5}", f"common{i % 3}")
            model.learn_many([f"batch{number}", "all"], [own, f"common{i % 4}"])
            if i % 3 == 0:
                model.unlearn_one(f"own{number} w{i % 9}", own)
                model.unlearn_one(f"batch{number}", own)
            assert sum(model.predict_proba_one(f"own{number} w1").values()) == pytest.approx(1)
            assert model.predict_one("all w1") is not None
    except BaseException as error:
        failures.append(error)


@pytest.mark.usefixtures("busy_switching")
@pytest.mark.parametrize("name", ["MNB", "BNB", "HMNB", "RwcMNB"])
@pytest.mark.parametrize("rounds", [60, pytest.param(5_000, marks=pytest.mark.soak)])
def test_nothing_is_lost_between_threads(name: str, rounds: int) -> None:
    make = getattr(streamnb, name)
    shared, failures = make(), []
    threads = [start(work, shared, number, rounds, failures) for number in range(3)]
    for thread in threads:
        thread.join(60 * WAIT)
    assert not failures
    alone = make()
    for number in range(3):
        work(alone, number, rounds, failures)
    assert shared.classes_ == alone.classes_
    assert shared.n_documents == alone.n_documents
    if isinstance(shared, (MNB, BNB)) and not isinstance(shared, HMNB):
        assert shared.to_bytes() == alone.to_bytes()


LONG = [" ".join(f"w{number}x{place % 2_000}" for place in range(4_000)) for number in range(6)]
FORMS = [MNB, functools.partial(MNB, window_size=50), OnlineNB]


@pytest.mark.parametrize("make", FORMS)
def test_long_messages_are_read_ahead_with_the_same_result(make: Callable[..., Any]) -> None:
    # A long message is read before the lock is taken; those of a batch are read under the lock.
    short = [("win cash w1x5", "spam"), ("see you at home w2x7", "ham")] * 8
    ahead, batch = make(), make()
    for model in (ahead, batch):
        model.learn_many([x for x, _ in short], [y for _, y in short])
    before, n_words = ahead.to_bytes(), ahead.n_words
    for number, x in enumerate(LONG):
        ahead.learn_one(x, ("ham", "spam")[number % 2])
    batch.learn_many(LONG, ["ham", "spam"] * 3)
    assert ahead.to_bytes() == batch.to_bytes() != before
    assert ahead.predict_proba_one(LONG[0]) == batch.predict_proba_one(LONG[0])
    for number, x in reversed([*enumerate(LONG)]):
        ahead.unlearn_one(x, ("ham", "spam")[number % 2])
    assert (ahead.n_documents, ahead.n_words) == (len(short), n_words)


@pytest.mark.parametrize("make", [MNB, OnlineNB])
def test_long_messages_beside_other_threads_lose_nothing(make: Callable[..., Any]) -> None:
    # The model changes between the reading of a long message and its change.
    model, short = make(), [(f"see you w{i % 6}x{i}", ("ham", "spam")[i % 2]) for i in range(600)]
    model.learn_many(["win cash", "see you"], ["spam", "ham"])

    def correct() -> None:
        for x in LONG:
            model.learn_one(x, "ham")
            model.unlearn_one(x, "ham")
            model.learn_one(x, "spam")

    def learn() -> None:
        for x, y in short:
            model.learn_one(x, y)
            model.predict_one(x)

    end(start(correct), start(learn))
    assert model.n_documents == 2 + len(short) + len(LONG)
    if make is MNB:
        alone = make()
        alone.learn_many(["win cash", "see you"], ["spam", "ham"])
        alone.learn_many([x for x, _ in short] + LONG, [y for _, y in short] + ["spam"] * 6)
        assert model.to_bytes() == alone.to_bytes()
    for x, y in [("win cash", "spam"), ("see you", "ham"), *short, *((x, "spam") for x in LONG)]:
        model.unlearn_one(x, y)
    assert (model.n_documents, model.n_words, model.classes_) == (0, 0, [])
