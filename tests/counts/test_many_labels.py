"""Unlimited labels: the cost of a new label does not depend on their number or order."""

from __future__ import annotations

import random
import time
import tracemalloc
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

from streamnb import CNB, MNB
from streamnb.errors import InputError
from streamnb.text.labels import Labels, sort_key

ORDERS: dict[str, Callable[[int], list[str]]] = {
    "ascending": lambda n: [f"{i:07}" for i in range(n)],
    "descending": lambda n: [f"{n - i:07}" for i in range(n)],
    "drawn": lambda n: random.Random(1).sample([f"{i:07}" for i in range(n)], n),
    "between two": lambda n: ["a", "z", *(f"m{i:07}" for i in range(n - 2))],
    "ever closer": lambda n: ["a", "z", *("b" + "a" * (i % 900) + f"{i:07}" for i in range(n - 2))],
    "inwards": lambda n: [f"{'a' if i % 2 else 'z'}{i if i % 2 else n - i:07}" for i in range(n)],
}


@pytest.mark.parametrize("order", ORDERS)
def test_ranks_follow_the_order_and_few_move(order: str) -> None:
    labels, ranks, n, told = Labels(), {}, 4_000, 0
    for i, label in enumerate(ORDERS[order](n)):
        class_id = labels.add(label)
        moved = dict(labels.take_ranks())
        assert class_id in moved
        told += len(moved)
        ranks.update(moved)
        if i % 499 == 0 or i == n - 1:
            ids = [class_id for _, class_id in labels.order]
            assert [label for label, _ in labels.order] == sorted(labels.ids, key=sort_key)
            assert sorted(ids, key=ranks.__getitem__) == ids
            assert len(set(ranks.values())) == len(ids)
    assert max(map(abs, ranks.values())) < 2**62
    # On average each label moves a few others, even in the worst order.
    assert told < 25 * n


@pytest.mark.parametrize("known", [1, 100, 700])
def test_ranks_are_told_before_labels_are_added(known: int) -> None:
    """Ranks of the new labels, and of all labels that must move to make room."""
    draw, labels, ranks = random.Random(known), Labels(), {}
    for n in range(known):
        labels.add(f"known{n:03}")
    ranks.update(labels.take_ranks())
    moving = 0
    for step in range(120):  # the second between two: room is halved, until some move
        new = [f"known{draw.randrange(known):03}{draw.random()}", f"known000 {'y' * step}"]
        coming = labels.ids_of([*new])[1]
        ahead = dict(labels.ranks_ahead(coming))
        assert set(coming.values()) <= set(ahead)
        in_order = sorted([*labels.ids.items(), *coming.items()], key=lambda pair: pair[0])
        told = ranks | ahead
        ids = [class_id for _, class_id in in_order]
        assert sorted(ids, key=told.__getitem__) == ids
        for label in new[: 1 + step % 2]:  # not all come: what moved for them is told anew
            labels.add(label)
        moving += len(ahead) > len(coming)
        ranks = told | dict(labels.take_ranks())
        ids = [class_id for _, class_id in labels.order]
        assert sorted(ids, key=ranks.__getitem__) == ids
    assert moving


def test_telling_ranks_before_labels_are_added_copies_few_of_them() -> None:
    labels = Labels()
    for n in range(50_000):
        labels.add(f"known{n:05}")
    labels.take_ranks()
    coming = labels.ids_of(["known12345.5"])[1]
    tracemalloc.start()
    try:
        labels.ranks_ahead(coming)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < 50_000  # bytes: one block of each column, and not a byte of each label


def test_labels_come_and_go_under_the_lowest_free_ids() -> None:
    draw, labels, ranks = random.Random(3), Labels(), {}
    ids: dict[object, int] = {}
    free: list[int] = []
    for _ in range(3_000):
        if ids and draw.random() < 0.45:
            label = draw.choice(list(ids))
            labels.remove(label)
            free.append(ids.pop(label))
        else:
            label = draw.choice([draw.randrange(400), f"l{draw.randrange(400)}", frozenset([1])])
            if label in ids:
                continue
            expected = min(free) if free else len(ids)
            assert labels.add(label) == expected
            free = [each for each in free if each != expected]
            ids[label] = expected
        ranks.update(labels.take_ranks())
        assert labels.ids == ids
        in_order = [class_id for _, class_id in labels.order]
        assert sorted(ids.values(), key=ranks.__getitem__) == in_order
    # A removed label leaves its handle: no later owner of the id has the same.
    handles = set()
    for _ in range(3):
        labels.add("once more")
        handles.add(labels.handles["once more"])
        labels.remove("once more")
    assert len(handles) == 3


@pytest.mark.parametrize(
    ("model", "count"),
    [
        (MNB, 30_000),
        pytest.param(MNB, 100_000, marks=pytest.mark.soak),
        pytest.param(CNB, 100_000, marks=pytest.mark.soak),
    ],
)
def test_no_label_costs_more_than_those_before(model: type[MNB | CNB], count: int) -> None:
    many = model()
    names = random.Random(2).sample([f"label{i:06}" for i in range(count)], count)
    spent = []
    for part in range(4):
        before = time.process_time()
        for name in names[part * count // 4 : (part + 1) * count // 4]:
            many.learn_one("word of kind" + name[-1], name)
        spent.append(time.process_time() - before)
    assert many.classes_ == sorted(names)
    # With linear cost per label, each quarter would cost more than the one before by the same
    # amount.
    assert spent[3] < 3 * spent[0] + 0.5
    shares = many.predict_proba_one("word of kind7")
    assert list(shares) == sorted(names)
    assert sum(shares.values()) == pytest.approx(1)
    # Of equal scores, the first label wins.
    assert many.predict_one("word of kind7") == min(name for name in names if name.endswith("7"))
    again = model.from_bytes(many.to_bytes())
    assert again.predict_one("word of kind3") == many.predict_one("word of kind3")


def test_a_batch_may_bring_all_of_them() -> None:
    names = [f"label{i}" for i in range(20_000)]
    together, alone = MNB(), MNB()
    together.learn_many(["some words"] * len(names), names)
    for name in names:
        alone.learn_one("some words", name)
    assert together.to_bytes() == alone.to_bytes()


@pytest.mark.parametrize("known", [0, 40, 200])
def test_labels_of_a_batch_are_looked_up_by_value(known: int) -> None:
    """The same objects recur, more than are cached; other objects are equal to them."""
    draw, labels = random.Random(known), Labels()
    for n in range(known):
        labels.add(f"label{n}")
    objects: list[Any] = [f"label{n}" for n in range(200)]
    batch = [draw.choice(objects) for _ in range(3_000)] + [
        "".join(("label", "7")),
        np.str_("label9"),
    ]
    ids, new = labels.ids_of(batch)
    distinct = list(dict.fromkeys(batch))
    assert list(new) == [label for label in distinct if label not in labels.ids]
    assert all(type(label) is str for label in new)
    assert list(ids) == [(labels.ids | new)[label] for label in batch]
    for label, class_id in new.items():
        assert labels.add(label) == class_id
    again, none = labels.ids_of(batch)
    assert (again, none) == (ids, {})
    with pytest.raises(InputError, match="hashable"):
        labels.ids_of([*batch, ["label7"]])


def test_labels_that_python_cannot_compare_are_looked_up_by_their_plain_values() -> None:
    with pytest.raises(TypeError):
        _ = {Decimal(1), np.int64(1)}
    labels = Labels()
    ids, new = labels.ids_of([Decimal(1), np.int64(1), 2])
    assert (list(ids), new) == ([0, 0, 1], {1: 0, 2: 1})
    labels.add(Decimal(1))
    assert labels.ids_of([np.int64(1)])[0] == ids[:1]
