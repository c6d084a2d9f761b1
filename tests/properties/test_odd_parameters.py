"""Every parameter value either works or raises an error of this package with the reason."""

from __future__ import annotations

import inspect
import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from streamnb import ENB, HNB, MNB, ComposedNB, InputError, StreamNBError, Tokenizer, families
from streamnb.challenger import Challenger
from streamnb.evaluation import prequential
from streamnb.model.base import NaiveBayes
from streamnb.model.drift import DriftAlarm


class Unspeakable:
    def __repr__(self) -> str:
        raise RuntimeError("no words")


ODD: dict[str, Any] = {
    "10**400": 10**400,
    "-10**400": -(10**400),
    "2**63": 2**63,
    "-1": -1,
    "nan": float("nan"),
    "inf": float("inf"),
    "1e308": 1e308,
    "5e-324": 5e-324,
    "x": "x",
    "a lone surrogate": "\ud800",
    "None": None,
    "True": True,
    "bytes": b"x",
    "an array": np.array([1, 2]),
    "an empty array": np.array([]),
    "an array of no axis": np.array(0.5),
    "a numpy number": np.int64(3),
    "a list": [],
    "a mapping": {"a": 10**400},
    "a pair": (10**400, 10**400),
    "an object": object(),
    "an object without words": Unspeakable(),
    "a class": MNB,
}
# So many are what was asked for: time alone would end it.
SLOW = {"rounds", "n_models", "ridge"}
COMMON = set(inspect.signature(MNB).parameters)


def odd_values(parameter: str) -> list[Any]:
    if parameter == "tokenizer":  # which may be anything that can be called
        return [value for value in ODD.values() if not callable(value)]
    slow = parameter in SLOW
    return [
        value
        for value in ODD.values()
        if not (slow and isinstance(value, (int, float)) and value > 1000)
    ]


def use(model: Any, columns: bool = False) -> None:
    """Learn, predict, explain, copy and save."""
    one: Any = {"a": 1.0, "b": "x"} if columns else "win cash now"
    other: Any = {"a": 3.0, "b": "y"} if columns else "see you at noon"
    for _ in range(2):
        model.learn_one(one, "spam")
        model.learn_one(other, "ham")
    model.predict_one(one)
    model.predict_proba_one(other)
    repr(model)
    if isinstance(model, NaiveBayes):
        model.refresh()
        model.explain_one(one)
        own = model.tokenizer if not isinstance(model.tokenizer, Tokenizer) else None
        type(model).from_bytes(model.to_bytes(), own)
    model.clone()


def works_or_says_why(act: Callable[[], object]) -> None:
    said = ""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of numpy, at the edge of its numbers
        try:
            act()
        except StreamNBError as error:
            said = str(error)
    said.encode()  # its words go into any log


def cases() -> list[Any]:
    return [
        pytest.param(name, parameter, id=f"{name}-{parameter}")
        for name in families.MODELS
        for parameter in inspect.signature(families.MODELS[name]).parameters
        # What all have is tried on the plainest one and on one that reads columns.
        if parameter not in COMMON or name in ("MNB", "OnlineNB", "ENB")
    ]


@pytest.mark.parametrize(("name", "parameter"), cases())
def test_models(name: str, parameter: str) -> None:
    kind = families.MODELS[name]
    columns = kind().reads_columns
    for value in odd_values(parameter):
        given = {parameter: value}
        works_or_says_why(lambda given=given: use(kind(**given), columns))


def test_a_refresh_that_never_comes_is_saved() -> None:
    """The growth times the weight of the stream is beyond all numbers."""
    model = HNB(refresh_every=1e308)
    use(model)
    model.learn_one({"a": 1}, "spam", 100.0)
    model.refresh()
    assert HNB.from_bytes(model.to_bytes()).to_bytes() == model.to_bytes()
    with pytest.raises(InputError, match="refresh_every must be"):
        HNB(refresh_every=math.inf)


WRAPPERS: list[Any] = [Challenger]


@pytest.mark.parametrize(
    ("wrapper", "parameter"),
    [(each, parameter) for each in WRAPPERS for parameter in inspect.signature(each).parameters],
)
def test_wrappers(wrapper: Any, parameter: str) -> None:
    for value in odd_values(parameter):
        given = {"model": MNB(half_life=1000), parameter: value}
        works_or_says_why(lambda given=given: use(wrapper(**given)))


@pytest.mark.parametrize("parameter", inspect.signature(Tokenizer).parameters)
def test_tokenizers(parameter: str) -> None:
    for value in ODD.values():
        given = {parameter: value}
        works_or_says_why(lambda given=given: Tokenizer(**given)("win cash"))


@pytest.mark.parametrize("parameter", inspect.signature(DriftAlarm).parameters)
def test_alarms(parameter: str) -> None:
    for value in ODD.values():
        given = {parameter: value}
        works_or_says_why(lambda given=given: DriftAlarm(**given).update(True))


@pytest.mark.parametrize("method", ["learn_many", "predict_many", "predict_proba_many"])
@pytest.mark.parametrize("kind", [MNB, ENB])
def test_batches(kind: Any, method: str) -> None:
    for value in ODD.values():
        labels = [["spam"]] if method == "learn_many" else []
        arguments = (value, *labels)
        works_or_says_why(lambda given=arguments: getattr(kind(), method)(*given))
    with pytest.raises(StreamNBError, match="labels must be a list"):
        MNB().learn_many(["win"], np.array("spam"))


MEASURED = [*inspect.signature(prequential).parameters][2:]


@pytest.mark.parametrize("parameter", MEASURED)
def test_evaluation(parameter: str) -> None:
    stream = [("win cash", "spam"), ("see you", "ham")] * 3
    for value in ODD.values():
        given = {parameter: value}
        works_or_says_why(lambda given=given: prequential({"MNB": MNB()}, stream, **given))


@pytest.mark.parametrize("value", [10**400, np.array([1, 2]), "\ud800"], ids=str)
def test_values_that_were_not_refused_by_name_are_refused(value: Any) -> None:
    """The first two were OverflowError and ValueError of whatever met them first."""
    with pytest.raises(StreamNBError, match="detector"):
        DriftAlarm(detector=value)
    with pytest.raises(StreamNBError, match="multiclass"):
        ENB(multiclass=value)
    with pytest.raises(StreamNBError, match="bins"):
        ComposedNB(bins=value)
    with pytest.raises(StreamNBError, match="model"):
        Challenger(value)
    with pytest.raises(StreamNBError, match="values"):
        HNB(values=value)


def test_what_is_more_than_any_stream_is_as_much_as_there_is() -> None:
    for model in (MNB(window_size=10**400), MNB(refresh_every=1e308), MNB(refresh_every=10**400)):
        use(model)
        assert model.n_documents == 4
