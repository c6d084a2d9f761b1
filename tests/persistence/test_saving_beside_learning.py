"""Models are saved while they learn: each file is the model of one moment, and learning goes on."""

from __future__ import annotations

import threading
import time
from typing import Any

import pytest

from streamnb import BNB, CNB, HMNB, MNB, OnlineNB
from streamnb.challenger import Challenger

LABELS = ("spam", "ham", "news")
MODELS: dict[str, Any] = {
    "MNB": MNB,
    "MNB of few words": lambda: MNB(max_features=150),
    "MNB that forgets": lambda: MNB(half_life=20.0),
    "BNB": BNB,
    "CNB": CNB,
    "HMNB": lambda: HMNB(index_size=60),
    "OnlineNB": OnlineNB,
    "OnlineNB of few words": lambda: OnlineNB(max_features=300),
    "Challenger": lambda: Challenger(OnlineNB()),
}


def message(number: int) -> tuple[str, str]:
    """A message with words that return and words that are new, some of them long."""
    words = [f"w{number * k % 97}" for k in (1, 3, 7, 11)]
    return " ".join([*words, f"new{number}", f"a-word-of-many-bytes-{number}"]), LABELS[number % 3]


def learn(model: Any, numbers: range, pause: float = 0.0) -> None:
    for number in numbers:
        model.learn_one(*message(number))
        if pause:
            time.sleep(pause)


@pytest.mark.parametrize("name", MODELS)
def test_a_file_is_the_model_of_its_beginning(name: str) -> None:
    model = MODELS[name]()
    learn(model, range(200))
    before = model.to_bytes()
    complete = model.begin_bytes()
    learn(model, range(200, 230))
    model.learn_one("a fourth label", "other")
    model.unlearn_one("a fourth label", "other")
    found = complete()
    # None says that the copy was abandoned: then nothing else is wrong either.
    assert found == before or (found is None and "few words" in name)
    twin = MODELS[name]()
    learn(twin, range(230))
    twin.learn_one("a fourth label", "other")
    twin.unlearn_one("a fourth label", "other")
    assert model.to_bytes() == twin.to_bytes()


def test_a_second_beginning_abandons_the_first() -> None:
    model = OnlineNB()
    learn(model, range(50))
    first, second = model.begin_bytes(), model.begin_bytes()
    assert first() is None
    assert second() == model.to_bytes()
    assert second() is None  # it is complete


@pytest.mark.parametrize("name", ["MNB", "OnlineNB", "OnlineNB of few words"])
def test_files_that_are_saved_beside_learning_are_models_of_the_stream(name: str) -> None:
    twin, states = MODELS[name](), set()
    for number in range(250):
        learn(twin, range(number, number + 1))
        states.add(twin.to_bytes())
    model, found = MODELS[name](), []
    learn(model, range(1))
    learner = threading.Thread(target=learn, args=(model, range(1, 250), 0.001))
    learner.start()
    while learner.is_alive():
        found.append(model.to_bytes())
    learner.join()
    assert model.to_bytes() == twin.to_bytes()
    assert found
    assert set(found) <= states


def longest_wait(model: OnlineNB, first: int) -> float:
    """Return the longest wait of a learner beside one `to_bytes`, in durations of that call."""
    took: list[float] = []

    def save() -> None:
        begun = time.perf_counter()
        model.to_bytes()
        took.append(time.perf_counter() - begun)

    saver = threading.Thread(target=save)
    waits = []
    saver.start()
    while saver.is_alive():
        begun = time.perf_counter()
        model.learn_one(*message(first))
        waits.append(time.perf_counter() - begun)
        first += 1
        time.sleep(0.0002)
    saver.join()
    return max(waits) / took[0]


def test_a_learner_waits_for_a_small_part_of_the_time_of_saving() -> None:
    model = OnlineNB()
    texts = [message(number) for number in range(12_000)]
    model.learn_many([text for text, _ in texts], [label for _, label in texts])
    # A busy machine may stop any thread, so the best of several counts. A lock during the call
    # would make it about 1 each time.
    assert min(longest_wait(model, 20_000 + 1_000 * k) for k in range(5)) < 0.3
