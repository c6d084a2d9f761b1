"""What partitions give is joined without Spark, and a batch that was learned is not asked for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from streamnb import MNB, InputError
from streamnb.spark import Prequential, _joined, _learner

pyarrow = pytest.importorskip("pyarrow")

MESSAGES = [("win cash", "spam"), ("see you", "ham"), ("cash again", "spam"), ("lunch", "work")]


def part(messages: list[tuple[str | None, str | None]]) -> Any:
    """What a partition of these rows, in two batches, gives."""
    batches = [
        pyarrow.RecordBatch.from_arrays(
            [pyarrow.array(column, pyarrow.string()) for column in zip(*rows, strict=True)],
            ["text", "label"],
        )
        for rows in (messages[:1], messages[1:])
        if rows
    ]
    found = list(_learner(MNB().to_bytes(), "text", "label")(batches))
    if not found:
        return None, None
    (batch,) = found
    return batch.column("model")[0].as_py(), batch.column("error")[0].as_py()


def test_partitions_joined_in_any_order_have_learned_all() -> None:
    expected = MNB()
    for text, label in MESSAGES:
        expected.learn_one(text, label)
    for cut in range(len(MESSAGES) + 1):
        one, other = part(list(MESSAGES[:cut])), part(list(MESSAGES[cut:]))
        for joined in (_joined(one, other), _joined(other, one)):
            assert joined == (expected.to_bytes(), None)
    assert _joined((None, None), (None, None)) == (None, None)


@pytest.mark.parametrize("wrong", [[("win", None)], [("win", "spam"), (None, "ham")]])
def test_what_is_wrong_with_a_partition_goes_before_any_model(wrong: Any) -> None:
    good, bad = part(list(MESSAGES)), part(wrong)
    assert bad[0] is None
    for joined in (_joined(good, bad), _joined(bad, good), _joined(bad, (None, None))):
        assert joined == bad
        assert "has nulls" in joined[1]


def test_a_batch_that_was_learned_is_not_asked_for(tmp_path: Path) -> None:
    model = MNB()
    model.learn_one("win cash", "spam")
    (tmp_path / "states").mkdir()
    for number in (2, 10):
        model.save(tmp_path / "states" / f"{number}.model")
    prequential = Prequential(MNB(), tmp_path)
    frame: Any = object()  # whatever is asked of it fails
    for batch in (0, 9, 10):
        prequential(frame, batch)
    assert (prequential.batch, prequential.model.to_bytes()) == (10, model.to_bytes())
    with pytest.raises(AttributeError):
        prequential(frame, 11)
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "states").write_text("a file")
    with pytest.raises(InputError, match="is not a folder"):
        Prequential(MNB(), tmp_path / "taken")
