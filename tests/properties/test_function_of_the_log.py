"""A model is a function of its log: reading, saving and restoring it change nothing."""

from __future__ import annotations

import contextlib
import copy
import pickle
import random
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import streamnb
from streamnb.errors import NotLearnedError
from streamnb.model import refreshing
from support.drawn.messages import refreshed_bytes
from support.models import ALL_MODELS, COLUMNS, ROWS, make_model, matrix
from support.profiles import examples
from support.rows import stream as table_rows

# Variants with a state of their own.
VARIANTS: dict[str, tuple[str, dict[str, Any]]] = {
    "PHNB auto": ("PHNB", {"bag_threshold": "auto"}),
    "OVATree online": (
        "OVATree",
        {"grow": "hoeffding", "grace_period": 5.0, "tau": 0.4, "min_samples_leaf": 2.0},
    ),
}
LABELS = ("ham", "spam", "other", "none")
Event = Callable[[Any], None]


def text(draw: random.Random, at: int) -> str:
    """Return a message whose words are forgotten soon: most belong to its part of the stream."""
    old = [f"w{draw.randrange(12)}" for _ in range(draw.randrange(1, 5))]
    new = [f"part{at // 15}n{draw.randrange(10)}" for _ in range(draw.randrange(4))]
    return " ".join(old + new)


def learn(model: Any, x: Any, y: str, w: float) -> None:
    model.learn_one(x, y, w)


def learn_many(model: Any, messages: list[Any], labels: list[str]) -> None:
    model.learn_many(messages, labels)


def unlearn(model: Any, x: Any, y: str, w: float) -> None:
    # Refused if pruning has taken its words from the index; then every copy refuses it.
    with contextlib.suppress(NotLearnedError):
        model.unlearn_one(x, y, w)


def log_of(draw: random.Random, columns: bool, forgets: bool) -> list[Event]:
    """Return a log: messages alone and in batches, some of them unlearned again."""
    rows = table_rows(70, "abc", weighted=False, seed=draw.randrange(100))
    events: list[Event] = []
    learned: list[tuple[Any, str, float]] = []

    def message(at: int) -> tuple[Any, str]:
        if columns:
            return rows[at % len(rows)][:2]
        # Classes come and go, so that labels take over ids.
        return text(draw, at), draw.choice(LABELS[:2] if at % 40 < 25 else LABELS)

    for at in range(45):
        kind = draw.random()
        if kind < 0.1:
            batch = [message(at + more) for more in range(draw.randrange(2, 9))]
            messages, labels = [x for x, _ in batch], [y for _, y in batch]
            events.append(partial(learn_many, messages=messages, labels=labels))
            learned += [(x, y, 1.0) for x, y in batch]
        elif kind < 0.3 and learned and not forgets:
            x, y, w = learned.pop(draw.randrange(len(learned)))
            events.append(partial(unlearn, x=x, y=y, w=w))
        else:
            (x, y), w = message(at), draw.choice([1.0, 1.0, 2.0, 0.5])
            events.append(partial(learn, x=x, y=y, w=w))
            learned.append((x, y, w))
    return events


def read(model: Any, draw: random.Random, x: Any) -> None:
    """Read a model in one way."""
    reads: list[Callable[[], Any]] = [
        model.to_bytes,
        lambda: pickle.dumps(model),
        lambda: copy.deepcopy(model),
        lambda: repr(model),
        lambda: model.weights_,
        model.counts,
        lambda: model.predict_one(x),
        lambda: model.explain_one(x) if model.classes_ else None,
        lambda: (model.n_words, model.n_cells, model.memory_bytes, model.class_count_),
    ]
    draw.choice(reads)()


def restored(model: Any, draw: random.Random) -> Any:
    """Return a model from a file, a pickle or a copy of it."""
    copies: list[Callable[[], Any]] = [
        lambda: streamnb.NaiveBayes.from_bytes(model.to_bytes()),
        lambda: pickle.loads(pickle.dumps(model)),
        lambda: copy.deepcopy(model),
    ]
    return draw.choice(copies)()


def both(name: str, seed: int, restores: bool, **parameters: Any) -> tuple[Any, Any]:
    """Return two copies that learned one log; the second was read, and restored if `restores`."""
    draw = random.Random(seed)
    name, own = VARIANTS.get(name, (name, {}))
    parameters = own | parameters
    columns = ROWS[name].columns
    events = log_of(draw, columns, "window_size" in parameters)
    quiet, watched = make_model(name, **parameters), make_model(name, **parameters)
    queries = [row for row, _, _ in table_rows(5)] if columns else ["w1 w2 part0n1", "w3 part3n2"]
    for event in events:
        event(quiet)
        event(watched)
        if draw.random() < 0.4:
            read(watched, draw, draw.choice(queries))
        if restores and draw.random() < 0.2:
            watched = restored(watched, draw)
        for x in queries[:2]:
            expected = quiet.joint_log_likelihood_one(x)
            if restores:  # classes have other ids: scores add over them in another order
                expected = pytest.approx(expected, rel=1e-12, abs=1e-12)
            assert watched.joint_log_likelihood_one(x) == expected
    return quiet, watched


PARAMETERS: tuple[dict[str, Any], ...] = (
    {},
    {"refresh_every": 3},
    {"refresh_every": 0.5},
    {"max_features": 12},
    {"window_size": 15},
    {"index_size": 8},
)


@pytest.mark.parametrize("restores", [False, True], ids=["read", "restored"])
@matrix((*ALL_MODELS, *COLUMNS, *VARIANTS))
@given(seed=st.integers(0, 2**32), parameters=st.sampled_from(PARAMETERS))
@examples(8)
def test_two_copies_of_a_model_are_equal_whatever_is_read(
    name: str, restores: bool, seed: int, parameters: dict[str, Any]
) -> None:
    given_parameters = dict(parameters)
    if name in COLUMNS and "window_size" in parameters:
        given_parameters = {"index_size": 15}
    quiet, watched = both(name, seed, restores, **given_parameters)
    assert watched.to_bytes() == quiet.to_bytes()
    assert watched.weights_ == quiet.weights_
    assert refreshed_bytes(watched) == refreshed_bytes(quiet)


@pytest.mark.parametrize("restores", [False, True], ids=["read", "restored"])
@matrix((*ALL_MODELS, *COLUMNS, *VARIANTS))
@given(
    seed=st.integers(0, 2**32),
    parameters=st.sampled_from((*PARAMETERS, {"refresh_every": 12}, {"refresh_every": 0.8})),
)
@examples(8)
def test_two_copies_are_equal_while_refreshes_wait(
    name: str, restores: bool, seed: int, parameters: dict[str, Any]
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(refreshing, "SMALL", 0)
        given_parameters = dict(parameters)
        if name in COLUMNS and "window_size" in parameters:
            given_parameters = {"index_size": 15}
        quiet, watched = both(name, seed, restores, **given_parameters)
        assert watched.to_bytes() == quiet.to_bytes()
        assert watched.weights_ == quiet.weights_
        assert refreshed_bytes(watched) == refreshed_bytes(quiet)
