"""Term weighting: every model on weighted counts equals its reference on weighted counts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from river import base, feature_extraction
from scipy import sparse

import streamnb
from references.documents import Documents
from references.term_weighting import STEP, TERM_WEIGHTINGS, weigh, weigh_stream
from streamnb.errors import InputError, NotLearnedError
from streamnb.model import composition
from streamnb.model_specs import build, model_spec
from streamnb_consumers.daemon.assembly import make_filter
from streamnb_consumers.daemon.settings import Settings
from support.drawn.messages import refreshed_bytes
from support.estimators import river_checks
from support.models import COUNTING, make_model, make_reference, structures
from support.profiles import examples
from support.streams import assert_same_scores, sms_stream, synthetic_stream

if TYPE_CHECKING:
    from collections.abc import Callable

    from references.documents import Document


OTHERS = tuple(term_weighting for term_weighting in TERM_WEIGHTINGS if term_weighting != "counts")
each_weighting = pytest.mark.parametrize("term_weighting", OTHERS)
each_model = structures(COUNTING)


def follow(name: str, term_weighting: str, stream: list[Document], **parameters: Any) -> None:
    """Score the next message and a fixed one at every prefix of a stream, then learn."""
    model = make_model(name, refresh_every=1, term_weighting=term_weighting, **parameters)
    reference = make_reference(name, **parameters)
    past = Documents.from_list(weigh_stream(stream, term_weighting))
    words = list(past.words)
    fixed = {word: 1 + i % 3 for i, word in enumerate(words[2:60:7])}
    fixed |= {"never learned": 2.5, words[1]: 0}
    for n, (counts, label, weight) in enumerate([*stream, ({}, None, 1.0)]):
        for x in (counts, fixed):
            expected = reference.joint_log_likelihood(past.first(n), weigh(x, term_weighting))
            assert_same_scores(model.joint_log_likelihood_one(x), expected, n)
        if n < len(stream):
            model.learn_one(counts, label, weight)


# Some references take long for a message.
soak = pytest.mark.soak
MESSAGES = {"MNB": 150, "CNB": 150, "OVA": 150, "NBCF": 150, "HMNB": 100, "SEMNB": 40}


@pytest.mark.parametrize(
    ("name", "term_weighting"),
    [
        pytest.param(name, each, marks=[] if name == "MNB" or each == "log-unit" else soak)
        for name in MESSAGES
        for each in OTHERS
    ],
)
def test_equals_reference_at_every_prefix_of_sms(name: str, term_weighting: str) -> None:
    follow(name, term_weighting, sms_stream()[: MESSAGES[name]])


@each_model
def test_equals_reference_at_every_prefix_of_three_classes(name: str) -> None:
    follow(name, "log-unit", synthetic_stream(80, weighted=True)[30:])


@each_weighting
def test_equals_reference_with_other_parameters(term_weighting: str) -> None:
    stream = synthetic_stream(80)[20:]
    follow(
        "CNB", term_weighting, stream, alpha=0.5, prior="uniform", oov="skip", vocabulary_size=90
    )
    follow("HMNB", term_weighting, stream, alpha=0.25, oov="skip")


@pytest.mark.parametrize("term_weighting", ["presence", "log", "unit"])
@each_model
def test_text_mapping_and_matrix_give_the_same_values(name: str, term_weighting: str) -> None:
    texts = ["win cash cash now", "see you you you at noon", "win win a phone", "at home", ""]
    labels = ["spam", "ham", "spam", "ham", "ham"]
    query = "new win new cash you NEW see other"
    bag = feature_extraction.BagOfWords()
    counts = [bag.transform_one(text) for text in texts]
    words = sorted({word for one in (*counts, bag.transform_one(query)) for word in one})
    by_text, by_counts, by_texts, by_rows = (
        make_model(name, term_weighting=term_weighting, refresh_every=1) for _ in range(4)
    )

    def rows(messages: list[Any]) -> sparse.csr_matrix:
        return sparse.csr_matrix([[one.get(word, 0) for word in words] for one in messages])

    for text, one, label in zip(texts, counts, labels, strict=True):
        by_text.learn_one(text, label)
        by_counts.learn_one(one, label)
    by_texts.learn_many(texts, labels)
    by_rows.learn_many(rows(counts), labels, vocabulary=words)
    models = (by_text, by_counts, by_texts, by_rows)
    assert len({model.to_bytes() for model in models}) == 1
    expected = list(by_text.joint_log_likelihood_one(query).values())
    counted = bag.transform_one(query)
    for model in models:
        for got in (
            list(model.joint_log_likelihood_one(counted).values()),
            model.joint_log_likelihood_many([query])[0],
            model.joint_log_likelihood_many(rows([counted]), words)[0],
        ):
            assert got == pytest.approx(expected, abs=1e-9)
    assert model.predict_many([query]) == [by_text.predict_one(query)]
    by_text.unlearn_one(counts[2], labels[2])
    by_counts.unlearn_one(texts[2], labels[2])
    assert by_text.to_bytes() == by_counts.to_bytes() != by_texts.to_bytes()


@pytest.mark.parametrize("term_weighting", ["presence", "log-unit"])
@each_model
def test_batches_equal_one_by_one(name: str, term_weighting: str) -> None:
    stream = synthetic_stream(90)
    many, one = (
        make_model(name, term_weighting=term_weighting),
        make_model(name, term_weighting=term_weighting),
    )
    for start in range(0, 90, 30):
        part = stream[start : start + 30]
        many.learn_many([counts for counts, _, _ in part], [label for _, label, _ in part])
        for counts, label, weight in part:
            one.learn_one(counts, label, weight)
        scores = many.joint_log_likelihood_many([counts for counts, _, _ in part])
        for (counts, _, _), row in zip(part, scores, strict=True):
            assert row == pytest.approx(list(one.joint_log_likelihood_one(counts).values()))
    assert many.to_bytes() == one.to_bytes()


# --- exactness ------------------------------------------------------------------------------------

WORDS = ("a", "b", "c", "d", "é", ("a", "b"))
LABELS = ("ham", "spam", "other")
counts_of_words = st.one_of(st.integers(1, 5), st.sampled_from([0.1, 0.3, 1e-9, 7.7, 2**53]))
messages = st.dictionaries(st.sampled_from(WORDS), counts_of_words, max_size=6)
documents = st.tuples(messages, st.sampled_from(LABELS), st.integers(1, 3).map(float))
streams = st.lists(documents, max_size=10)
exact_models = pytest.mark.parametrize(
    ("name", "term_weighting"),
    [("MNB", "log"), ("MNB", "unit"), ("CNB", "presence-unit"), ("HOVA", "log")]
    + [(name, "log-unit") for name in ("HCNB", "SEMNB", "PHNB")],
)
few = examples(40)


def built(name: str, term_weighting: str, stream: list[Any]) -> Any:
    model = make_model(name, term_weighting=term_weighting)
    for x, y, w in stream:
        model.learn_one(x, y, w)
    return model


@exact_models
@few
@given(stream=streams, extra=documents, order=st.randoms(use_true_random=False))
def test_unlearning_is_exact(
    name: str, term_weighting: str, stream: list[Any], extra: Any, order: Any
) -> None:
    """Fractions that no binary number is are learned and taken back to the last bit."""
    model = built(name, term_weighting, stream)
    before = refreshed_bytes(model)
    model.learn_one(*extra)
    x, y, w = extra
    model.unlearn_one({word: x[word] for word in order.sample(list(x), len(x))}, y, w)
    assert refreshed_bytes(model) == before
    for x, y, w in order.sample(stream, len(stream)):
        model.unlearn_one(x, y, w)
    assert refreshed_bytes(model) == refreshed_bytes(built(name, term_weighting, []))
    assert (model.n_words, model.n_cells, model.n_documents) == (0, 0, 0)


@exact_models
@few
@given(first=streams, second=streams)
def test_merging_is_learning_both_and_subtracting_undoes_it(
    name: str, term_weighting: str, first: list[Any], second: list[Any]
) -> None:
    model, other = built(name, term_weighting, first), built(name, term_weighting, second)
    before = refreshed_bytes(model)
    model.merge(other)
    together = built(name, term_weighting, first + second)
    assert model.to_bytes() == refreshed_bytes(together)
    model.subtract(other)
    assert model.to_bytes() == before


@each_weighting
@pytest.mark.parametrize("name", ["MNB"])
@few
@given(stream=streams, order=st.randoms(use_true_random=False))
def test_bytes_do_not_depend_on_any_order(
    name: str, term_weighting: str, stream: list[Any], order: Any
) -> None:
    shuffled = [
        ({word: x[word] for word in order.sample(list(x), len(x))}, y, w)
        for x, y, w in order.sample(stream, len(stream))
    ]
    assert (
        built(name, term_weighting, shuffled).to_bytes()
        == built(name, term_weighting, stream).to_bytes()
    )


@each_weighting
@few
@given(counts=st.dictionaries(st.sampled_from(WORDS), counts_of_words, min_size=1))
@example(counts={"a": 5e-324})
@example(counts={"a": 5e-324, "b": 2**53, "c": 1})
@example(counts={str(i): i % 7 + 0.1 for i in range(300)})
def test_learned_values_are_those_of_the_weighting(
    term_weighting: str, counts: dict[Any, float]
) -> None:
    model = built("MNB", term_weighting, [(counts, "ham", 1.0)])
    found = model.counts()
    values = dict(zip(model._store.words(), found.tokens.toarray()[:, 0], strict=True))
    expected = {
        " ".join(word) if isinstance(word, tuple) else word: value
        for word, value in weigh(counts, term_weighting).items()
    }
    assert values.keys() == expected.keys()
    for word, value in values.items():
        assert value > 0
        assert (value / STEP).is_integer()
        # Rounding may fall to either side where a value lies in the middle.
        assert abs(value - expected[word]) <= STEP
    assert found.class_tokens[0] == sum(values.values())


@pytest.mark.parametrize("term_weighting", ["log", "unit", "log-unit"])
def test_a_long_stream_comes_and_goes_exactly(term_weighting: str) -> None:
    """A window over a stream: what is left after each step is what the window holds."""
    stream = sms_stream(200)
    model = make_model("OVA", term_weighting=term_weighting)
    for n, (x, y, w) in enumerate(stream):
        model.learn_one(x, y, w)
        if n >= 40:
            model.unlearn_one(*stream[n - 40])
    assert model.to_bytes() == built("OVA", term_weighting, stream[-40:]).to_bytes()


@each_weighting
def test_what_was_not_learned_is_refused(term_weighting: str) -> None:
    model = built("MNB", term_weighting, [({"a": 2, "b": 1}, "ham", 1.0), ({"a": 1}, "spam", 2.0)])
    before = model.to_bytes()
    for never in [({"a": 1, "c": 1}, "ham"), ({"a": 1}, "ham"), ({"a": 1, "b": 3, "c": 2}, "ham")]:
        with pytest.raises(NotLearnedError):
            model.unlearn_one(*never)
        assert model.to_bytes() == before


@pytest.mark.parametrize("one", TERM_WEIGHTINGS)
def test_models_of_different_weightings_do_not_merge(one: str) -> None:
    model = built("MNB", one, synthetic_stream(20))
    for term_weighting in TERM_WEIGHTINGS:
        other = built("MNB", term_weighting, synthetic_stream(20))
        for change in (model.merge, model.subtract):
            if term_weighting != one:
                with pytest.raises(InputError, match="term_weighting"):
                    change(other)
            else:
                change(other)


WEIGHTED = {
    "MNB log-unit": streamnb.MNB(term_weighting="log-unit"),
    "HMNB log": streamnb.HMNB(term_weighting="log"),
    "ComposedNB unit": streamnb.ComposedNB(event="complement", term_weighting="unit"),
}


@pytest.mark.parametrize(
    ("model", "check"),
    river_checks(WEIGHTED, lambda name: pytest.mark.matrix if name == "HMNB log" else soak),
)
def test_river_check(model: base.Estimator, check: Callable[[base.Estimator], None]) -> None:
    check(model.clone())


# --- parameters -----------------------------------------------------------------------------------


def test_names_are_those_of_the_core() -> None:
    assert composition.TERM_WEIGHTINGS == TERM_WEIGHTINGS
    for term_weighting in TERM_WEIGHTINGS:
        assert built("MNB", term_weighting, [({"a": 1}, "ham", 1.0)]).counts().tokens.sum() > 0


@pytest.mark.parametrize("term_weighting", ["idf", "", None, 1, ["log"]])
def test_unknown_weightings_are_refused(term_weighting: Any) -> None:
    for name in ("MNB", "BNB"):
        with pytest.raises(InputError, match="term_weighting must be one of 'counts', 'presence'"):
            make_model(name, term_weighting=term_weighting)


@each_weighting
@pytest.mark.parametrize(
    "make",
    [
        streamnb.BNB,
        streamnb.HONB,
        lambda term_weighting: streamnb.PHNB(columns=True, term_weighting=term_weighting),
        lambda term_weighting: streamnb.ComposedNB(
            event="bernoulli", term_weighting=term_weighting
        ),
    ],
)
def test_weightings_that_change_nothing_are_refused(
    make: Callable[..., Any], term_weighting: str
) -> None:
    with pytest.raises(InputError, match="has no effect"):
        make(term_weighting=term_weighting)
    assert make(term_weighting="counts").term_weighting == "counts"


def test_specifications_take_weightings() -> None:
    spec = model_spec("ComposedNB(event='one-versus-all', term_weighting='log-unit')")
    model: Any = build(spec)
    assert model.term_weighting == "log-unit"
    assert (
        make_filter("sms", Settings(model="MNB(term_weighting='log')")).learner.model.term_weighting
        == "log"
    )
    with pytest.raises(InputError, match="term_weighting must be one of"):
        build(model_spec("MNB(term_weighting='logs')"))


@each_weighting
def test_explanations_add_up(term_weighting: str) -> None:
    model = built("MNB", term_weighting, synthetic_stream(60))
    x = {"w1": 3, "w2": 1, "new": 2, "newer": 1}
    explanation = model.explain_one(x)
    assert set(explanation.words) == set(x)
    for label, score in model.joint_log_likelihood_one(x).items():
        parts = sum(terms[label] for terms in explanation.words.values())
        assert explanation.baseline[label] + parts == pytest.approx(score)


def test_rounding_keeps_decisions_and_lets_all_be_unlearned() -> None:
    """Beside a model that learns the values as they are: what rounding costs and what it is for."""
    term_weighting = "log-unit"
    stream = [(x, weigh(x, term_weighting, step=0.0), y) for x, y, _ in sms_stream(5574)]
    rounded, plain = make_model("MNB", term_weighting=term_weighting), make_model("MNB")
    for n, (x, values, y) in enumerate(stream):
        if n:
            scores, expected = (
                rounded.joint_log_likelihood_one(x),
                plain.joint_log_likelihood_one(values),
            )
            assert scores == pytest.approx(expected, rel=1e-5, abs=1e-5)
            assert rounded.predict_one(x) == plain.predict_one(values)
        rounded.learn_one(x, y)
        plain.learn_one(values, y)
    refused = 0
    for x, values, y in reversed(stream):
        rounded.unlearn_one(x, y)
        try:
            plain.unlearn_one(values, y)
        except NotLearnedError:
            refused += 1
    assert (rounded.n_words, rounded.n_cells) == (0, 0)
    assert plain.n_words > 1500
    assert refused > 100
