"""The correlation factor that a stream teaches."""

from __future__ import annotations

import copy
import pickle

import pytest

import streamnb
from references.correlation import GRID, CorrelationReference
from references.documents import Document, Documents
from streamnb import NBCF, ComposedNB
from streamnb.errors import InputError
from streamnb.families.correlation import LearnedFactor
from support.models import EVENTS
from support.streams import learned, synthetic_stream

# --- the learned factor ---------------------------------------------------------------------------


def literal_errors(stream: list[Document]) -> list[float]:
    """Errors of each factor of the grid, each message decided by the documents before it."""
    docs = Documents.from_list(stream)
    errors = [0.0] * len(GRID)
    for n, (x, y, w) in enumerate(stream):
        past = docs.first(n)
        if y not in past.classes or len(past.classes) < 2:
            continue
        for place, factor in enumerate(GRID):
            scores = CorrelationReference("NBCF", factor=factor).joint_log_likelihood(past, x)
            best = max(sorted(scores), key=lambda label: scores[label])
            errors[place] += w * (best != y)
    return errors


def test_auto_takes_the_factor_with_the_fewest_errors() -> None:
    stream = synthetic_stream(120, weighted=True)
    model = NBCF(factor="auto")
    assert isinstance(model._scorer, LearnedFactor)
    assert model._scorer.factor == 0.1
    learned(model, stream)
    errors = literal_errors(stream)
    assert model._scorer.costs == pytest.approx(errors)
    assert len(set(errors)) > 2
    place = GRID.index(model._scorer.factor)
    assert errors[place] == min(errors)
    fixed = learned(NBCF(factor=GRID[place]), stream)
    for x, _, _ in stream[:20]:
        assert model.joint_log_likelihood_one(x) == fixed.joint_log_likelihood_one(x)


@pytest.mark.parametrize("event", EVENTS.values())
def test_auto_batches_files_and_copies_keep_the_record(event: str) -> None:
    stream = synthetic_stream(150)
    one, many = (ComposedNB(event, estimate="correlation", factor="auto") for _ in range(2))
    learned(one, stream)
    many.learn_many([x for x, _, _ in stream], [y for _, y, _ in stream])
    assert one.to_bytes() == many.to_bytes()
    assert one._scorer.costs != [0.0] * len(GRID)
    x = {"w1": 1, "w5": 2}
    for copied in (
        copy.deepcopy(one),
        pickle.loads(pickle.dumps(one)),
        ComposedNB.from_bytes(one.to_bytes()),
    ):
        assert copied._scorer.costs == one._scorer.costs
        assert copied.joint_log_likelihood_one(x) == one.joint_log_likelihood_one(x)


def test_auto_merges_add_records_and_unlearning_keeps_them() -> None:
    stream = synthetic_stream(150)
    first, second = (learned(NBCF(factor="auto"), part) for part in (stream[:80], stream[80:]))
    errors = [sum(pair) for pair in zip(first._scorer.costs, second._scorer.costs, strict=True)]
    first.merge(second)
    assert first._scorer.costs == errors
    assert first._scoring is first._scorer.scoring
    first.unlearn_one(*stream[0])
    assert first._scorer.costs == errors


def test_auto_refused_messages_change_nothing() -> None:
    model = learned(NBCF(factor="auto"), synthetic_stream(50))
    before, errors = model.to_bytes(), list(model._scorer.costs)
    for x, y, w in [({"a": -1}, "a", 1.0), ({"a": 1}, "a", -1.0), ({"a": 1}, None, 1.0)]:
        with pytest.raises(InputError):
            model.learn_one(x, y, w)
    model.learn_one({"w1": 1}, "a", 0.0)
    assert (model.to_bytes(), model._scorer.costs) == (before, errors)


def test_a_record_of_another_grid_is_no_model() -> None:
    model = learned(NBCF(factor="auto"), synthetic_stream(20))
    with pytest.raises(ValueError, match="invalid costs of factor"):
        model._scorer.restore(["0x1p+0"])


def test_auto_beside_an_automatic_threshold() -> None:
    stream = [(x, y, w) for x, y, w in synthetic_stream(150) if y != "c"]
    model = learned(NBCF(factor="auto", threshold="auto"), stream)
    alone = learned(NBCF(factor="auto"), stream)
    assert model._scorer.costs == alone._scorer.costs
    assert model._threshold.scores.sum() > 0
    assert streamnb.NaiveBayes.from_bytes(model.to_bytes()).to_bytes() == model.to_bytes()
