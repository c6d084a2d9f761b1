"""Trees that grow while messages are learned, by Hoeffding's bound."""

from __future__ import annotations

import copy
import math
import pickle
from typing import Any

import pytest

import streamnb
from references.documents import Documents
from references.neighbourhood import OnlineTreeReference
from streamnb import InputError
from support.streams import assert_same_scores, sms_stream, synthetic_stream

# Leaves that are sure of little.
ONLINE: dict[str, Any] = {
    "grow": "hoeffding",
    "grace_period": 7.5,
    "delta": 0.5,
    "tau": 0.02,
    "min_samples_leaf": 2.0,
}


def nodes(model: Any) -> list[int]:
    return list(memoryview(model._store.tree()).cast("q"))


@pytest.mark.parametrize("name", ["MNBTree", "CNBTree", "OVATree"])
@pytest.mark.parametrize(
    "changes", [{"tau": 0.2}, {"tau": 1.0, "max_depth": 2}, {"tau": 0.2, "index_size": 40}], ids=str
)
def test_scores_equal_the_reference_at_every_prefix(name: str, changes: dict[str, Any]) -> None:
    parameters = ONLINE | changes
    model = getattr(streamnb, name)(**parameters)
    reference = OnlineTreeReference(name, **parameters)
    for n, (x, label, weight) in enumerate(synthetic_stream(120, weighted=True)):
        expected = reference.scores(x)
        assert_same_scores(model.joint_log_likelihood_one(x), expected, n)
        model.learn_one(x, label, weight)
        reference.learn(x, label, weight)
    assert len(nodes(model)) > 3


def test_trees_grow_message_by_message() -> None:
    model = streamnb.OVATree(**ONLINE)
    sizes = []
    for counts, label, weight in sms_stream():
        model.learn_one(counts, label, weight)
        sizes.append(len(nodes(model)))
    assert sizes == sorted(sizes)
    assert len(set(sizes)) > 2
    batch = streamnb.OVATree(**ONLINE)
    batch.learn_many([x for x, _, _ in sms_stream()], [y for _, y, _ in sms_stream()])
    assert nodes(batch) == nodes(model)
    before = nodes(model)
    model.refresh()
    assert nodes(model) == before


def test_copies_wait_as_long() -> None:
    model = streamnb.MNBTree(**ONLINE)
    for counts, label, weight in sms_stream()[:103]:
        model.learn_one(counts, label, weight)
    copies = [
        copy.deepcopy(model),
        pickle.loads(pickle.dumps(model)),
        streamnb.MNBTree.from_bytes(model.to_bytes()),
    ]
    for counts, label, weight in sms_stream()[103:200]:
        for one in (model, *copies):
            one.learn_one(counts, label, weight)
        # Words have other ids in a copy; the shape and the waiting weights are the same.
        shapes = {tuple(min(node, 0) for node in nodes(one)) for one in (model, *copies)}
        assert len(shapes) == 1
    assert len({one.to_bytes() for one in (model, *copies)}) == 1
    for counts, _, _ in sms_stream()[200:220]:
        expected = model.joint_log_likelihood_one(counts)
        for one in copies:
            assert_same_scores(one.joint_log_likelihood_one(counts), expected, counts)


def test_messages_leave_the_leaves() -> None:
    """The leaves count the window; the splits stay."""
    model = streamnb.CNBTree(**ONLINE, window_size=30)
    for counts, label, weight in sms_stream()[:150]:
        model.learn_one(counts, label, weight)
    documents = Documents.from_list(sms_stream()[120:150])
    assert model.n_documents == 30.0
    assert set(model.classes_) == set(documents.labels)
    assert all(map(math.isfinite, model.joint_log_likelihood_one({"ok": 1.0}).values()))


@pytest.mark.parametrize(
    ("parameters", "problem"),
    [
        ({"grow": "fast"}, "grow must be one of 'periodic', 'hoeffding'"),
        ({"delta": 0}, "delta must be a number above 0"),
        ({"delta": 1}, "delta must be a probability"),
        ({"tau": -1}, "tau must be a number from 0 on"),
        ({"grace_period": 0}, "grace_period must be a number above 0"),
    ],
)
def test_parameters_out_of_range(parameters: dict[str, Any], problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        streamnb.MNBTree(**parameters)
