"""Learn, unlearn, merge, save and load in any order, against a plain list of documents."""

from __future__ import annotations

import copy
import math
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

import streamnb
from references.documents import Documents
from streamnb.errors import NotLearnedError, StreamNBError
from support.drawn.messages import (
    LABELS,
    Stream,
    build,
    documents,
    messages,
    queries,
    refreshed_bytes,
    streams,
)
from support.models import EXACT, make_reference, structures
from support.profiles import examples

# --- the models against a plain list of documents -------------------------------------------------


class AgainstPlainList(RuleBasedStateMachine):
    """Learn, unlearn, merge, save and load in any order, against a list of documents."""

    name: str

    @initialize(alpha=st.sampled_from([1.0, 0.5]))
    def start(self, alpha: float) -> None:
        self.parameters = {"alpha": alpha}
        self.model = self.build([])
        self.list: Stream = []

    def build(self, stream: Stream) -> Any:
        return build(self.name, stream, refresh_every=1, **self.parameters)

    @rule(document=documents)
    def learn(self, document: tuple[dict[Any, Any], Any, float]) -> None:
        self.model.learn_one(*document)
        self.list.append(document)

    @rule(batch=streams.filter(len))
    def learn_batch(self, batch: Stream) -> None:
        self.model.learn_many([x for x, _, _ in batch], [y for _, y, _ in batch])
        self.list += [(x, y, 1.0) for x, y, _ in batch]

    @precondition(lambda self: self.list)
    @rule(data=st.data())
    def unlearn(self, data: st.DataObject) -> None:
        document = data.draw(st.sampled_from(self.list))
        self.model.unlearn_one(*document)
        # Of equal messages the latest is removed: this makes unlearn the inverse of learn.
        latest = len(self.list) - 1 - self.list[::-1].index(document)
        del self.list[latest]

    @rule(stream=streams)
    def merge(self, stream: Stream) -> None:
        self.model.merge(self.build(stream))
        self.list += stream

    @rule(x=messages, y=st.sampled_from(LABELS), bad=st.sampled_from([-1, math.nan, "many", None]))
    def learn_nonsense(self, x: dict[Any, Any], y: str, bad: Any) -> None:
        with pytest.raises(StreamNBError):
            self.model.learn_one(x | {"bad": bad}, y)
        with pytest.raises(StreamNBError):
            self.model.learn_many([x, x | {"bad": bad}], [y, y])

    @rule(y=st.sampled_from(LABELS), x=messages)
    def unlearn_what_nobody_learned(self, x: dict[Any, Any], y: str) -> None:
        with pytest.raises(NotLearnedError):
            self.model.unlearn_one(x | {"nobody learned this": 1}, y)

    @rule()
    def save_and_load(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model"
            self.model.save(path)
            self.model = streamnb.load(path)

    @rule()
    def copy(self) -> None:
        self.model = copy.deepcopy(self.model)

    @rule()
    def refresh(self) -> None:
        self.model.refresh()

    @invariant()
    def equals_the_list(self) -> None:
        assert self.model.n_documents == sum(w for _, _, w in self.list)
        assert self.model.classes_ == sorted({y for _, y, _ in self.list})
        assert self.model.n_words == len({word for x, _, _ in self.list for word in x})
        self.model.refresh()
        anew = self.build(self.list)
        assert refreshed_bytes(anew) == self.model.to_bytes()

    # Numbers below 1e-290, and cosines of them, lose precision.
    @rule(x=queries.filter(lambda x: all(c == 0 or 1e-290 < c < 100 for c in x.values())))
    def score(self, x: dict[Any, Any]) -> None:
        self.model.refresh()
        expected = make_reference(self.name, **self.parameters).joint_log_likelihood(
            Documents.from_list(self.list), x
        )
        assert self.model.joint_log_likelihood_one(x) == pytest.approx(expected, abs=1e-9)


@structures(EXACT)
def test_equals_a_plain_list_of_documents(name: str) -> None:
    case = type(f"{name}AgainstPlainList", (AgainstPlainList,), {"name": name})
    run_state_machine_as_test(case, settings=examples(20, stateful_step_count=16))
