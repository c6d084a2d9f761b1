"""A half-life in time: models equal their slow references at every prefix."""

from __future__ import annotations

import datetime
import itertools
import pickle
import random
from typing import Any

import pytest

import streamnb
from references.forgetting import Forgetting
from streamnb import MNB, InputError
from streamnb.model import persistence
from streamnb.model_specs import build, model_spec
from support.models import family, make_model, make_reference
from support.profiles import also_in_soak
from support.streams import assert_same_scores, sms_stream, synthetic_stream

MODELS = (*family("independent", "correlation", "chi-square"), "OnlineNB")
QUERY = {"w1": 2.0, "w12": 1.0, "w20": 1.0, "w40": 1.0, "never learned": 2.5}
BEGIN = 1_700_000_000.0


def times(count: int, seed: int = 3) -> list[float | None]:
    """Return times that go on, stand, are missing, run back, and leap ahead."""
    draw, now, drawn = random.Random(seed), BEGIN, []
    for _ in range(count):
        now += draw.choice([0.0, 0.25, 30.0, 600.0, 3600.0])
        leap = draw.random()
        backwards, far = now - draw.uniform(0, 1e6), now + 1e9
        drawn.append(
            None if leap < 0.1 else backwards if leap < 0.2 else far if leap > 0.99 else now
        )
    return drawn


def timed(name: str, half_life: str, seconds: float) -> tuple[Any, Forgetting]:
    """Return a model and its slow reference."""
    reference = Forgetting(make_reference(name), half_life=seconds, timed=True)
    return make_model(name, half_life=half_life), reference


@pytest.mark.parametrize(("half_life", "seconds"), [("2h", 7200.0), ("90s", 90.0), ("4w", 2419200)])
@pytest.mark.parametrize("name", MODELS)
def test_equals_the_reference_at_every_prefix(name: str, half_life: str, seconds: float) -> None:
    model, reference = timed(name, half_life, seconds)
    stream = synthetic_stream(weighted=name != "OnlineNB")[:90]
    for (counts, label, weight), time in zip(stream, times(len(stream)), strict=True):
        for x in (counts, QUERY):
            scores = model.joint_log_likelihood_one(x)
            assert_same_scores(scores, reference.joint_log_likelihood(x), len(reference.stream))
        model.learn_one(counts, label, weight, time=time)
        reference.learn(counts, label, weight, time)


@pytest.mark.parametrize("name", also_in_soak(["MNB"], ["BNB", "OnlineNB"]))
def test_equals_the_reference_where_all_counts_are_divided(name: str) -> None:
    """A half-life passes with each message: all counts are divided after 256."""
    model, reference = timed(name, "1s", 1.0)
    for n, (counts, label, weight) in enumerate(sms_stream()[:270]):
        model.learn_one(counts, label, weight, time=BEGIN + n)
        reference.learn(counts, label, weight, BEGIN + n)
        if n % 16 < 2:
            scores = model.joint_log_likelihood_one(counts)
            assert_same_scores(scores, reference.joint_log_likelihood(counts), n)


@pytest.mark.parametrize("name", ["MNB", "BNB", "OnlineNB"])
def test_batches_copies_and_files_go_on_as_the_model(name: str) -> None:
    stream, when = sms_stream()[:120], times(120)
    one, many = (make_model(name, half_life="15min") for _ in range(2))
    for start in range(0, 120, 40):
        part = stream[start : start + 40]
        for (counts, label, _), time in zip(part, when[start:], strict=False):
            one.learn_one(counts, label, time=time)
        texts, labels = [counts for counts, _, _ in part], [label for _, label, _ in part]
        many.learn_many(texts, labels, time=when[start : start + 40])
        assert one.to_bytes() == many.to_bytes()
        many = pickle.loads(pickle.dumps(many))
        one = streamnb.NaiveBayes.from_bytes(one.to_bytes())
    assert one.half_life == many.clone().half_life == "15min"


def test_a_message_without_a_time_or_an_older_one_is_of_now() -> None:
    def left(*learned: tuple[str, float | None]) -> tuple[float, float]:
        model = MNB(half_life="1h")
        for label, time in learned:
            model.learn_one("word", label, time=time)
        counts = model.counts()
        return tuple(counts.class_documents.tolist())

    hour = BEGIN + 3600
    assert left(("a", BEGIN), ("b", hour)) == (0.5, 1.0)
    assert left(("a", BEGIN), ("b", None)) == (1.0, 1.0)
    assert left(("a", None), ("b", BEGIN)) == (1.0, 1.0)
    assert left(("a", hour), ("b", BEGIN)) == (1.0, 1.0)
    # The clock advances by at most one half-life.
    assert left(("a", BEGIN), ("b", BEGIN * 1000)) == (0.5, 1.0)
    assert left(("a", BEGIN), ("b", float("nan"))) == (1.0, 1.0)


def test_what_could_not_be_learned_leaves_the_clock() -> None:
    model = MNB(half_life="1h")
    model.learn_one("word", "a", time=BEGIN)
    before = model.to_bytes()
    for x, label, weight in (("word", None, 1.0), ({"word": -1}, "a", 1.0), ("word", "a", -1.0)):
        with pytest.raises(InputError):
            model.learn_one(x, label, weight, time=BEGIN + 3600)
    with pytest.raises(InputError, match="2 messages and 1 times"):
        model.learn_many(["x", "y"], ["a", "a"], time=[BEGIN])
    model.learn_one("word", "a", 0.0, time=BEGIN + 3600)
    assert model.to_bytes() == before
    model.learn_one("word", "a")
    assert model.n_documents == 2.0


def test_merging_goes_on_to_the_later_clock_in_any_order() -> None:
    stream = synthetic_stream(weighted=True)[:90]
    when = [BEGIN + 500.0 * n for n in range(90)]
    slices = [slice(0, 20), slice(20, 33), slice(33, 90)]

    def models() -> list[Any]:
        made = []
        for part in slices:
            model = MNB(half_life="20min")
            for (counts, label, weight), time in zip(stream[part], when[part], strict=True):
                model.learn_one(counts, label, weight, time=time)
            made.append(model)
        return made

    whole = MNB(half_life="20min")
    for (counts, label, weight), time in zip(stream, when, strict=True):
        whole.learn_one(counts, label, weight, time=time)
    for order in itertools.permutations(range(3)):
        first, second, third = (models()[place] for place in order)
        first.merge(second)
        first.merge(third)
        assert first.n_documents == pytest.approx(whole.n_documents, rel=1e-12)
        for counts, _, _ in stream[::9]:
            scores = first.joint_log_likelihood_one(counts)
            assert scores == pytest.approx(whole.joint_log_likelihood_one(counts), abs=1e-9)


def test_merging_with_one_long_ago_leaves_its_words_known() -> None:
    for swapped in (False, True):
        old, new = MNB(half_life="1s"), MNB(half_life="1s")
        old.learn_one("before", "a", time=BEGIN)
        new.learn_one("after", "b", time=BEGIN + 1e8)
        merged, other = (new, old) if swapped else (old, new)
        merged.merge(other)
        assert (merged.n_words, merged.n_documents) == (2, 1.0)
        assert streamnb.NaiveBayes.from_bytes(merged.to_bytes()).to_bytes() == merged.to_bytes()


def test_times_are_seconds_or_datetimes() -> None:
    when = datetime.datetime(2026, 5, 1, 12, tzinfo=datetime.UTC)
    models = [MNB(half_life="1d") for _ in range(3)]
    for hours in (0, 5, 9):
        moment = when + datetime.timedelta(hours=hours)
        models[0].learn_one(f"w{hours}", "a", time=moment)
        models[1].learn_one(f"w{hours}", "a", time=moment.timestamp())
        models[2].learn_many([f"w{hours}"], ["a"], time=moment)
    assert len({model.to_bytes() for model in models}) == 1
    for time in ("noon", float("inf"), True, 10**400):
        with pytest.raises(InputError, match="time"):
            models[0].learn_one("word", "a", time=time)
    # Where nothing goes by time it is not looked at.
    MNB().learn_one("word", "a", time="noon")  # type: ignore[arg-type]
    MNB().learn_many(["word"], ["a"], time="noon")


@pytest.mark.parametrize(
    "half_life", ["", "30", "d", "0d", "0.5s", "-1d", "1 d", "1y", "9" * 400 + "d"]
)
def test_times_that_are_none_are_refused(half_life: str) -> None:
    with pytest.raises(InputError, match="half_life must be"):
        MNB(half_life=half_life)


def test_models_that_forget_in_another_way_are_not_merged_nor_restored() -> None:
    model = MNB(half_life="1h")
    model.learn_one("word", "a", time=BEGIN)
    for other in (MNB(half_life=3600), MNB(half_life="2h"), MNB()):
        with pytest.raises(InputError, match="another half_life"):
            other.merge(model)
        header, counts = persistence.unpacked(model.to_bytes())
        header["parameters"]["half_life"] = other.half_life
        data = persistence.packed(header, counts)
        with pytest.raises(streamnb.ModelFileError, match="forget differently"):
            MNB.from_bytes(data)


def test_a_tuned_threshold_learns_batches_in_time() -> None:
    stream, when = sms_stream()[:60], times(60)
    one, many = (MNB(half_life="1h", threshold="auto", pos_label="spam") for _ in range(2))
    for (counts, label, _), time in zip(stream, when, strict=True):
        one.learn_one(counts, label, time=time)
    many.learn_many([x for x, _, _ in stream], [y for _, y, _ in stream], time=when)
    assert one.to_bytes() == many.to_bytes()


def test_a_specification_may_forget_in_time() -> None:
    assert build(model_spec("MNB(half_life='30d')")).half_life == "30d"
