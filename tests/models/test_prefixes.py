"""Every model equals its slow literal reference after every single message."""

from __future__ import annotations

import json
import lzma
from typing import Any

import pytest

from references.documents import Documents
from support.data import require_data
from support.models import (
    ALL_MODELS,
    INDEPENDENT,
    ROWS,
    every,
    make_model,
    make_reference,
    mark,
    matrix,
)
from support.streams import (
    SETTINGS,
    assert_same_scores,
    follow,
    prefixes,
    sms_stream,
    synthetic_stream,
)

# Every model with its own parameters. With others, those that represent a family; all in the soak.
# These settings have each value of each parameter; only models without parts run the others, too.
EACH_VALUE = ("alpha 0.5, laplace, smooth", "empirical, skip", "uniform, smooth, m fixed")
OTHERS = [
    pytest.param(
        name,
        parameters,
        id=f"{name}: {title}",
        marks=mark(name) if name in INDEPENDENT or title in EACH_VALUE else pytest.mark.soak,
    )
    for name in ALL_MODELS
    for title, parameters in SETTINGS.items()
]


@matrix(ALL_MODELS)
def test_equals_reference_at_every_prefix_of_sms(name: str) -> None:
    n = ROWS[name].messages // 3  # the soak goes on to all of them, with every setting
    follow(name, {}, sms_stream()[:n], prefixes(sms_stream)[: n + 1])


def few(name: str, most: int) -> int:
    """The length of a stream; the reference of fitted words fits at each message."""
    return most // 2 if name in ROWS and ROWS[name].family == "word-fits" else most


@every(ALL_MODELS)
def test_equals_reference_at_every_prefix_of_three_classes(name: str) -> None:
    n = few(name, 80)
    follow(name, {}, synthetic_stream()[:n], prefixes(synthetic_stream)[: n + 1])


@pytest.mark.parametrize(("name", "parameters"), OTHERS)
def test_equals_reference_with_other_parameters(name: str, parameters: dict[str, Any]) -> None:
    n = few(name, 65)
    past = prefixes(synthetic_stream, weighted=True, n=n)
    follow(name, parameters, synthetic_stream(weighted=True, n=n), past)


@pytest.mark.soak
@pytest.mark.parametrize(("name", "parameters"), OTHERS)
def test_equals_reference_with_other_parameters_along_sms(
    name: str, parameters: dict[str, Any]
) -> None:
    n = ROWS[name].messages
    follow(name, parameters, sms_stream()[:n], prefixes(sms_stream)[: n + 1])


@matrix(ALL_MODELS)
def test_text_gives_the_scores_of_its_words(name: str) -> None:
    """The model's own tokeniser on the raw text, the reference on river's words."""
    path = require_data("text/sms_spam.jsonl.xz")
    with lzma.open(path, "rt", encoding="utf-8") as lines:
        records = [json.loads(line) for line, _ in zip(lines, range(100), strict=False)]
    model = make_model(name, refresh_every=1)
    for record in records[:70]:
        model.learn_one(record["text"], record["label"])
    documents = Documents.from_list(sms_stream()[:70])
    reference = make_reference(name)
    for record, (counts, _, _) in zip(records[70:], sms_stream()[70:100], strict=True):
        assert_same_scores(
            model.joint_log_likelihood_one(record["text"]),
            reference.joint_log_likelihood(documents, counts),
            record["id"],
        )
