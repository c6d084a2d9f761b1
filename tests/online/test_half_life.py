"""Models with a half-life equal their slow references at every prefix; copies, files and bounds."""

from __future__ import annotations

import copy
import itertools
import pickle
from typing import Any

import numpy as np
import pytest

import streamnb
from references.forgetting import Forgetting
from streamnb import MNB, InputError, NotLearnedError
from streamnb.model import persistence
from streamnb.model_specs import build, model_spec
from support.models import ALL_MODELS, COLUMNS, family, make_model, make_reference
from support.streams import TOLERANCE, assert_same_scores, learned, sms_stream, synthetic_stream

MODELS = (*family("independent", "correlation", "chi-square"), "OnlineNB")
QUERY = {"w1": 2.0, "w12": 1.0, "w20": 1.0, "w40": 1.0, "never learned": 2.5}


def forgetful(name: str, **parameters: Any) -> tuple[Any, Forgetting]:
    """Return a model and its slow reference."""
    others = {key: value for key, value in parameters.items() if key != "half_life"}
    reference = Forgetting(make_reference(name, **others), half_life=parameters["half_life"])
    return make_model(name, **parameters), reference


@pytest.mark.parametrize(
    "parameters",
    [
        {"half_life": 7},
        {"half_life": 2.5, "alpha": 0.5, "prior": "laplace", "oov": "smooth"},
        {"half_life": 900.0, "prior": "empirical", "oov": "skip"},
    ],
    ids=str,
)
@pytest.mark.parametrize("name", MODELS)
def test_equals_the_reference_at_every_prefix(name: str, parameters: dict[str, Any]) -> None:
    model, reference = forgetful(name, **parameters)
    stream = synthetic_stream(weighted=name != "OnlineNB")
    for counts, label, weight in stream:
        for x in (counts, QUERY):
            scores = model.joint_log_likelihood_one(x)
            assert_same_scores(scores, reference.joint_log_likelihood(x), len(reference.stream))
        model.learn_one(counts, label, weight)
        reference.learn(counts, label, weight)


@pytest.mark.parametrize("name", ["MNB", "BNB", "OVA", "OnlineNB"])
def test_equals_the_reference_where_all_counts_are_divided(name: str) -> None:
    """Half a message: 300 messages are 600 half-lives, and counts are divided each 256."""
    model, reference = forgetful(name, half_life=0.5)
    for counts, label, weight in sms_stream()[:300]:
        model.learn_one(counts, label, weight)
        reference.learn(counts, label, weight)
        if len(reference.stream) % 16 < 3:
            scores = model.joint_log_likelihood_one(counts)
            assert_same_scores(
                scores, reference.joint_log_likelihood(counts), len(reference.stream)
            )
    assert model.n_words == len({word for counts, _, _ in reference.stream for word in counts})


@pytest.mark.parametrize("name", ["MNB", "CNB", "BNB", "NBCF", "OnlineNB"])
def test_what_was_divided_and_what_is_yet_to_be_count_as_one(name: str) -> None:
    """Words are divided when they come again: a file's, which all were, are no different."""
    stream = sms_stream()[:150]
    model = make_model(name, half_life=0.4)
    for start in range(0, 150, 10):
        # 250 half-lives are 100 messages: from the 103rd on all counts are divided once.
        saved = streamnb.NaiveBayes.from_bytes(model.to_bytes())
        for message in stream[start : start + 10]:
            model.learn_one(*message)
            saved.learn_one(*message)
            for query, _, _ in stream[:start:7]:
                scores = model.joint_log_likelihood_one(query)
                assert scores == saved.joint_log_likelihood_one(query)
        assert saved.to_bytes() == model.to_bytes()


def test_counts_are_what_is_left_of_them() -> None:
    model, reference = forgetful("MNB", half_life=20)
    for document in synthetic_stream():
        model.learn_one(*document)
        reference.learn(*document)
    left = reference.counting()
    assert model.n_documents == pytest.approx(sum(w for _, _, w in left), rel=1e-12)
    tokens = sum(w * sum(counts.values()) for counts, _, w in left)
    assert model.counts().tokens.sum() == pytest.approx(tokens, rel=1e-12)


def test_no_count_becomes_nothing_and_no_score_infinite() -> None:
    """A class and a word that came long ago are still known, however short the half-life is."""
    for name in ("MNB", "CNB", "OVA", "BNB", "NBCF", "RwcMNB", "RwcOVA", "OnlineNB"):
        model = make_model(name, half_life=1e-9)
        model.learn_one({"old": 2, "both": 1}, "before")
        for _ in range(50):
            model.learn_one({"new": 1, "both": 1}, "after")
        assert model.classes_ == ["after", "before"], name
        assert (model.n_words, model.n_documents) == (3, 1.0)
        for x in ({"old": 1}, {"new": 1}, {"both": 3}, {"unknown": 1}):
            scores = list(model.joint_log_likelihood_one(x).values())
            assert np.isfinite(scores).all(), (name, x, scores)
        assert streamnb.NaiveBayes.from_bytes(model.to_bytes()).to_bytes() == model.to_bytes()


@pytest.mark.parametrize("name", ["MNB", "BNB", "RwcCNB", "OnlineNB"])
def test_batches_learn_as_one_by_one(name: str) -> None:
    stream = sms_stream()[:120]
    one = make_model(name, half_life=0.4)
    many = make_model(name, half_life=0.4)
    for counts, label, _ in stream:
        one.learn_one(counts, label)
    for start in range(0, 120, 40):
        part = stream[start : start + 40]
        many.learn_many([counts for counts, _, _ in part], [label for _, label, _ in part])
    assert one.to_bytes() == many.to_bytes()
    queries = [counts for counts, _, _ in stream[:10]]
    rows = one.joint_log_likelihood_many(queries)
    for row, query in zip(rows.tolist(), queries, strict=True):
        assert row == list(one.joint_log_likelihood_one(query).values())


@pytest.mark.parametrize("name", ["MNB", "BNB", "NBCF", "OnlineNB"])
def test_copies_and_files_go_on_as_the_model(name: str) -> None:
    stream = sms_stream()[:90]
    model = learned(make_model(name, half_life=0.3), stream[:60])
    copies = [
        pickle.loads(pickle.dumps(model)),
        copy.deepcopy(model),
        streamnb.NaiveBayes.from_bytes(model.to_bytes()),
    ]
    for other in (model, *copies):
        learned(other, stream[60:])
        assert other.half_life == 0.3
        assert other.to_bytes() == model.to_bytes()
    assert model.clone().half_life == 0.3


def test_a_file_whose_counts_forget_otherwise_is_refused() -> None:
    saved = learned(MNB(half_life=5), sms_stream()[:20]).to_bytes()
    header, counts = persistence.unpacked(saved)
    for half_life in (None, 6.0):
        header["parameters"]["half_life"] = half_life
        data = persistence.packed(header, counts)
        with pytest.raises(streamnb.ModelFileError, match="forget differently"):
            MNB.from_bytes(data)


def test_explanations_add_up_to_the_scores() -> None:
    for name in ("MNB", "BNB", "OVA", "NBCF", "OnlineNB"):
        model = learned(make_model(name, half_life=6), sms_stream()[:80])
        query = sms_stream()[90][0]
        explained = model.explain_one(query)
        for label, score in model.joint_log_likelihood_one(query).items():
            parts = sum(terms[label] for terms in explained.words.values())
            assert explained.baseline[label] + parts == pytest.approx(score, abs=1e-9), name


def test_merging_adds_what_is_left_in_any_order() -> None:
    """The last messages of two merged models count as simultaneous."""
    stream = synthetic_stream(weighted=True)
    parts = [stream[:20], stream[20:33], stream[33:90]]

    def models() -> list[Any]:
        return [learned(MNB(half_life=3.5), part) for part in parts]

    def counted(model: Any) -> dict[Any, float]:
        counts = model.counts()
        rows, columns = counts.tokens.nonzero()
        words, labels = model._store.words(), model._labels.names
        found = {
            (words[row], labels[column]): counts.tokens[row, column]
            for row, column in zip(rows.tolist(), columns.tolist(), strict=True)
        }
        return found | {"documents": counts.class_documents.sum()}

    expected: dict[Any, float] = {}
    for model in models():
        for key, value in counted(model).items():
            expected[key] = expected.get(key, 0.0) + value
    for first, second, third in itertools.permutations(range(3)):
        left = models()
        left[first].merge(left[second])
        left[first].merge(left[third])
        right = models()
        right[second].merge(right[third])
        right[first].merge(right[second])
        for merged in (left[first], right[first]):
            assert counted(merged) == pytest.approx(expected, rel=1e-12)
    empty = MNB(half_life=3.5)
    empty.merge(models()[1])
    assert empty.to_bytes() == models()[1].to_bytes()


def test_unlearning_takes_what_is_left_of_a_message() -> None:
    stream = sms_stream()[:40]
    model = learned(MNB(half_life=4), stream[:-1])
    before = model.n_documents
    counts, label, _ = stream[-1]
    model.learn_one(counts, label)
    model.unlearn_one(counts, label)
    # The clock went on: of all messages a little less is left.
    assert model.n_documents == pytest.approx(before * 2 ** (-1 / 4), rel=1e-12)
    # One that was learned 30 messages ago, by the weight that is left of it: its words are gone.
    counts, label, _ = stream[10]
    alone = set(counts) - {word for i, (x, _, _) in enumerate(stream) if i != 10 for word in x}
    assert alone
    words = model.n_words
    model.unlearn_one(counts, label, 2 ** (-29 / 4))
    assert model.n_words == words - len(alone)
    with pytest.raises(NotLearnedError):
        model.unlearn_one(stream[0][0], stream[0][1], 1.0)
    with pytest.raises(InputError, match="cannot be subtracted"):
        model.subtract(learned(MNB(half_life=4), stream[20:]))


def test_pruning_drops_the_words_that_count_least_now() -> None:
    """A word of many old messages goes before one of few new ones; without a half-life it stays."""
    stream = [({"old": 1, f"a{i % 30}": 1}, "ham", 1.0) for i in range(120)]
    stream += [({f"b{i % 60}": 1}, "spam", 1.0) for i in range(240)]
    kept, faded = (learned(MNB(max_features=60, half_life=h), stream) for h in (None, 5))
    assert "old" in kept._store.words()
    assert "old" not in faded._store.words()
    assert max(kept.n_words, faded.n_words) <= 60


@pytest.mark.parametrize("half_life", [0, -1, float("nan"), float("inf"), "5", True])
def test_half_lives_that_are_none_are_refused(half_life: Any) -> None:
    with pytest.raises(InputError, match="half_life must be"):
        MNB(half_life=half_life)


def test_models_that_do_not_forget_so_say_what_does() -> None:
    for name in set(ALL_MODELS) - set(MODELS):
        with pytest.raises(InputError, match="use window_size= instead"):
            make_model(name, half_life=100)
    for name in COLUMNS:
        with pytest.raises(InputError, match="model of texts"):
            make_model(name, half_life=100)
    with pytest.raises(InputError, match="keeps no messages"):
        MNB(half_life=100, index_size=10)
    with pytest.raises(InputError, match="not both"):
        MNB(half_life=100, window_size=10)
    with pytest.raises(InputError, match="another half_life"):
        MNB(half_life=100).merge(MNB())


def test_a_shift_is_followed_sooner() -> None:
    """Words change sides: the model that forgets is right again soon, the other is not."""
    stream = [({"a": 1}, "ham"), ({"b": 1}, "spam")] * 500
    stream += [({"b": 1}, "ham"), ({"a": 1}, "spam")] * 60
    errors = {}
    for half_life in (None, 10):
        model = MNB(half_life=half_life)
        wrong = []
        for x, y in stream:
            wrong.append(model.predict_one(x) != y)
            model.learn_one(x, y)
        errors[half_life] = sum(wrong[1000:])
    assert errors[10] < 15 < 110 < errors[None]


def test_scores_stay_when_a_shift_of_the_clock_alone_divides() -> None:
    """Divisions are by powers of two, so scores change by rounding only."""
    long, short = MNB(half_life=1.0), MNB(half_life=1.0)
    stream = sms_stream()[:60]
    # 240 half-lives before, so that the last messages fall on both sides of a division.
    for _ in range(240):
        long.learn_one({"before": 1}, "ham")
    short.learn_one({"before": 1}, "ham")
    for counts, label, _ in stream:
        long.learn_one(counts, label)
        short.learn_one(counts, label)
    for counts, _, _ in stream[-20:]:
        scores, expected = (m.joint_log_likelihood_one(counts) for m in (long, short))
        assert scores == pytest.approx(expected, abs=TOLERANCE)


def test_a_specification_may_forget() -> None:
    model, windowed = (
        build(model_spec(f"MNB({how})")) for how in ("half_life=5000", "window_size=9")
    )
    assert isinstance(model, MNB)
    assert isinstance(windowed, MNB)
    assert (model.half_life, windowed.window_size) == (5000, 9)
