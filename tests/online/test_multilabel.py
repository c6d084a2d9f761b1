"""Several labels for each message: scores, unlearning, merging, files, and forms of labels."""

from __future__ import annotations

import copy
import pickle
import random
import re
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import streamnb
from references.multilabel import MultiLabelReference
from streamnb import InputError, ModelFileError, MultiLabelNB, NotLearnedError, OnlineNB, Tokenizer

TOLERANCE = 1e-9
VOCABULARY = [f"w{i}" for i in range(30)]
FAVOURITES = {"a": VOCABULARY[:10], "b": VOCABULARY[5:18], "c": VOCABULARY[12:24], "late": ["w29"]}
Message = tuple[str, frozenset[str], float]


def stream(number: int, weighted: bool = False, seed: int = 3) -> list[Message]:
    """Texts with none to three labels; the last label comes late."""
    rng = random.Random(seed)
    found = []
    for place in range(number):
        known = "abc" if place < number // 2 else ["a", "b", "c", "late"]
        labels = frozenset(rng.sample(list(known), rng.choice([0, 1, 1, 1, 2, 3])))
        words = [word for label in sorted(labels) for word in rng.choices(FAVOURITES[label], k=3)]
        words += rng.choices(VOCABULARY, k=rng.randrange(4))
        weight = rng.choice([0.25, 0.5, 1.0, 2.0]) if weighted else 1.0
        found.append((" ".join(words), labels, weight))
    return found


def make(**parameters: Any) -> MultiLabelNB:
    """A model of single words that takes steps early: streams here are short."""
    rates = {"warm_up": 1, "learning_rate": 8.0, "rate_decay": 64.0, "max_df": 1.0}
    return MultiLabelNB(**{**rates, "tokenizer": Tokenizer(), **parameters})


def learned(messages: list[Message], **parameters: Any) -> MultiLabelNB:
    model = make(**parameters)
    for text, labels, weight in messages:
        model.learn_one(text, labels, weight)
    return model


def assert_close(got: dict[Any, float], expected: dict[Any, float], where: object = "") -> None:
    assert got.keys() == expected.keys(), where
    for label, value in expected.items():
        assert abs(got[label] - value) <= TOLERANCE, (where, label, got[label], value)


# --- scores ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("parameters", "of_reference", "weighted"),
    [
        ({}, {}, False),
        ({}, {}, True),
        ({"half_life": 20.0}, {"half_life": 20.0}, False),
        (
            {"alpha": 1.0, "nb_weight": 2.0, "learning_rate": 3.0, "rate_decay": 4.0, "damping": 0},
            {"alpha": 1.0, "scale": 2.0, "rate": 3.0, "decay": 4.0, "damping": 0.0},
            True,
        ),
        ({"max_df": 0.3}, {"max_df": 0.3}, False),
        (
            {"bias_rate": 4.0, "margin": 0.3, "warm_up": 4, "forgetting_factor": 0.9},
            {"bias_rate": 4.0, "margin": 0.3, "warm_up": 4, "forgetting_factor": 0.9},
            False,
        ),
    ],
)
def test_scores_equal_the_reference_after_each_message(
    parameters: dict[str, Any], of_reference: dict[str, Any], weighted: bool
) -> None:
    model = make(**parameters)
    reference = MultiLabelReference(**{"warm_up": 1, **of_reference})
    messages = stream(90 if "max_df" in parameters else 60, weighted)
    for place, (text, labels, weight) in enumerate(messages):
        words = text.split()
        assert_close(model.joint_log_likelihood_one(text), reference.scores(words), place)
        probable = model._odds(text, probable=True)
        assert_close(probable, reference.log_odds(words), place)
        predicted = {label for label, odds in probable.items() if odds > 0}
        assert model.predict_one(text) == predicted
        model.learn_one(text, labels, weight)
        reference.learn(words, labels, weight)
    assert model.classes_ == ["a", "b", "c", "late"]
    new = "w1 w29 new w1"
    assert_close(model.joint_log_likelihood_one(new), reference.scores(new.split()))


def test_explanations_add_up_to_the_score_of_each_label() -> None:
    messages = stream(60)
    model = learned(messages, tokenizer=OnlineNB.default_tokenizer, max_df=0.3)
    for text, _, _ in [*messages[:5], ("w1 w29 new words", frozenset(), 1.0)]:
        scores = model.joint_log_likelihood_one(text)
        explanation = model.explain_one(text)
        assert_close(explanation.scores(), scores)
        assert_close(explanation.in_words().scores(), scores)
    top = explanation.top("late", 50)
    assert dict(top) == {word: terms["late"] for word, terms in explanation.words.items()}
    reference = MultiLabelReference(warm_up=1)
    model = learned(messages)
    for text, labels, _ in messages:
        reference.learn(text.split(), labels)
    explanation = model.explain_one("w1 w29 new")
    for label in model.classes_:
        parts = reference.parts(["w1", "w29", "new"], label)
        assert abs(explanation.baseline[label] - parts.pop(None)) <= TOLERANCE
        assert_close({w: t[label] for w, t in explanation.words.items()}, parts, label)


def test_one_tokenisation_and_one_count_store_serve_all_labels() -> None:
    """A word has one cell for all messages, and one for each label of its messages."""
    model = make()
    model.learn_one("wheat corn", {f"label {place}" for place in range(20)})
    model.learn_one("wheat", set())
    assert (model.n_words, model._store.n_cells, model.n_documents) == (2, 42, 2.0)
    calls = []

    def tokenizer(text: str) -> list[str]:
        calls.append(text)
        return text.split()

    counted = MultiLabelNB(tokenizer=tokenizer)
    counted.learn_one("wheat corn", {"a", "b", "c"})
    assert calls == ["wheat corn"]


# --- the same in every way ------------------------------------------------------------------------


@pytest.mark.parametrize("parameters", [{}, {"half_life": 30.0}, {"n_jobs": 2}])
def test_batches_equal_single_messages(parameters: dict[str, Any]) -> None:
    messages = stream(80)
    one, many = learned(messages, **parameters), make(**parameters)
    texts, labels, _ = zip(*messages, strict=True)
    many.learn_many(list(texts[:30]), [set(each) for each in labels[:30]])
    many.learn_many(
        pd.Series(texts[30:]),
        pd.DataFrame(
            [
                {label: label in each for label in "abc"} | {"late": "late" in each}
                for each in labels[30:]
            ]
        ),
    )
    assert many.to_bytes() == one.to_bytes()
    assert many.predict_many(list(texts)) == [one.predict_one(text) for text in texts]
    assert many.predict_proba_many(list(texts)) == [one.predict_proba_one(text) for text in texts]
    frame = many.predict_proba_many(pd.Series(texts, index=range(5, 85)))
    assert frame.index[0] == 5
    assert frame.iloc[0].to_dict() == one.predict_proba_one(texts[0])
    assert make(**parameters).predict_many(list(texts[:2])) == [set(), set()]


def test_predicting_first_changes_nothing() -> None:
    """The text that was predicted last is not tokenised again, with the same result."""
    messages = stream(60)
    model = make()
    for text, labels, weight in messages:
        model.predict_one(text)
        model.learn_one(text, labels, weight)
    assert model.to_bytes() == learned(messages).to_bytes()


def test_copies_and_files_are_equal_and_remain_equal(tmp_path: Path) -> None:
    messages = stream(60)
    model = learned(messages[:40], output="dicts")
    model.learn_one("w1", {"a": True, "never": False})
    model.save(tmp_path / "model.snb")
    copies = [
        streamnb.load(tmp_path / "model.snb"),
        MultiLabelNB.load(tmp_path / "model.snb"),
        MultiLabelNB.from_bytes(model.to_bytes()),
        pickle.loads(pickle.dumps(model)),
        copy.deepcopy(model),
    ]
    for text, labels, weight in messages[40:]:
        for each in (model, *copies):
            each.learn_one(text, labels, weight)
    model.unlearn_one(*messages[39])
    for each in copies:
        assert isinstance(each, MultiLabelNB)
        each.unlearn_one(*messages[39])
        assert each.to_bytes() == model.to_bytes()
        assert each.predict_proba_one("w1 w29") == model.predict_proba_one("w1 w29")
    assert "never" in copies[0].predict_one("w1")
    empty = MultiLabelNB.from_bytes(MultiLabelNB().to_bytes())
    assert empty.predict_one("w1") == set()
    assert empty.classes_ == []
    with pytest.raises(ModelFileError, match="a model of class MultiLabelNB, not OnlineNB"):
        OnlineNB.from_bytes(model.to_bytes())


def test_forged_counts_are_refused() -> None:
    """A label cannot have more messages than there are."""
    model = make()
    model.learn_one("w1", {"a"})
    data = model._store.snapshot(True)
    # The messages of the class of all messages become fewer than those of the label.
    changed = 0
    for place in range(len(data)):
        forged = bytearray(data)
        forged[place] ^= 3
        try:
            restored = streamnb._core.CountStore.restore(Tokenizer().native(), bytes(forged))
        except ModelFileError:
            changed += 1
        else:
            scores = restored.scores("w1 w2", model._scoring, True) if restored else []
            assert not np.isnan(scores).any()
    assert changed


# --- unlearning, merging --------------------------------------------------------------------------


def test_unlearning_is_the_inverse_of_learning() -> None:
    messages = stream(60)
    model = learned(messages[:50], calibrated=False)
    before, classes = model.to_bytes(), model.classes_
    for text, labels, weight in messages[50:]:
        model.learn_one(text, labels, weight)
    model.learn_one("w1 only", {"new label", "a"})
    model.unlearn_one("w1 only", ["a", "new label"])
    for text, labels, weight in reversed(messages[50:]):
        model.unlearn_one(text, labels, weight)
    assert model.classes_ == classes
    assert model.to_bytes() == before
    for text, labels, weight in messages[:50]:
        model.unlearn_one(text, labels, weight)
    assert (model.n_documents, model.n_words, model.classes_) == (0.0, 0, [])
    assert model.to_bytes() == make(calibrated=False).to_bytes()


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ({"a"}, "with other labels"),
        ({"b"}, "no message was learned with label 'b'"),
        ({"a", "c", "d"}, "no message was learned|fewer|other labels"),
        (set(), "another label has every message|with other labels"),
    ],
)
def test_unlearning_with_other_labels_changes_nothing(labels: set[str], message: str) -> None:
    model = make()
    model.learn_one("w1 w2", {"a", "c"})
    model.learn_one("w5", {"d"})
    before = model.to_bytes()
    with pytest.raises(NotLearnedError, match=message):
        model.unlearn_one("w1 w2", labels)
    assert model.to_bytes() == before


def test_decayed_messages_are_unlearned_in_any_order() -> None:
    half_life, messages = 7.3, stream(60)
    model = learned(messages, half_life=half_life)
    order = list(enumerate(messages, 1))
    random.Random(2).shuffle(order)
    for place, (text, labels, _) in order:
        model.unlearn_one(text, labels, 2 ** (-(len(messages) - place) / half_life))
    assert (model.n_documents, model.n_words, model.classes_) == (0.0, 0, [])


def test_other_threads_predict_while_labels_come_and_go() -> None:
    model, rng, failures = make(), random.Random(4), list[BaseException]()
    done = threading.Event()

    def predict() -> None:
        try:
            while not done.is_set():
                assert None not in model.predict_one("w1 w2 w29")
                assert None not in model.predict_proba_one("w1 w2")
                model.predict_many(["w1", "w29"])
                model.to_bytes()
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=predict) for _ in range(2)]
    for thread in threads:
        thread.start()
    for place in range(600):
        text = " ".join(rng.choices(VOCABULARY, k=4))
        labels = {f"new {place // 3}", rng.choice("abc")}
        model.learn_one(text, labels)
        if place % 3:
            model.unlearn_one(text, labels)
    done.set()
    for thread in threads:
        thread.join()
    assert not failures
    assert len(model.classes_) == 203


def test_merged_counts_are_those_of_both_streams() -> None:
    messages = stream(60)
    parameters = {"learning_rate": 0, "bias_rate": 0, "calibrated": False, "undo_size": 0}
    whole = learned(messages, **parameters)
    first, second = learned(messages[:25], **parameters), learned(messages[25:], **parameters)
    first.merge(second)
    assert first.class_count_ == whole.class_count_
    for text, _, _ in messages:
        assert_close(first.joint_log_likelihood_one(text), whole.joint_log_likelihood_one(text))
    one, other = learned(messages[:30]), learned(messages[30:])
    one.merge(other)
    both = learned(messages)
    assert one.class_count_ == both.class_count_
    with pytest.raises(InputError, match="takes another MultiLabelNB"):
        one.merge(OnlineNB())


def test_a_bounded_vocabulary_prunes_whole_words() -> None:
    """After pruning, each word still has the messages of all its labels."""
    rng = random.Random(5)
    model = make(max_features=300, warm_up=0)
    messages = [
        (" ".join(f"x{rng.randrange(3000)}" for _ in range(12)), {rng.choice("abc"), "d"})
        for _ in range(200)
    ]
    for text, labels in messages:
        model.learn_one(text, labels)
    assert model.n_words <= 300
    for text, labels in messages[:50]:
        model.unlearn_one(text, labels)
    assert MultiLabelNB.from_bytes(model.to_bytes()).to_bytes() == model.to_bytes()
    assert all(
        np.isfinite(list(model.joint_log_likelihood_one(text).values())).all()
        for text, _ in messages
    )


# --- forms of labels ------------------------------------------------------------------------------


def test_sets_lists_tuples_and_mappings_teach_the_same() -> None:
    models = [make() for _ in range(6)]
    for text, labels, _ in stream(30):
        forms: list[Any] = [
            set(labels),
            sorted(labels) * 2,
            tuple(labels),
            labels,
            dict.fromkeys(labels, True),
            np.array(sorted(labels), dtype=object),
        ]
        for model, form in zip(models, forms, strict=True):
            model.learn_one(text, form)
    assert len({model.to_bytes() for model in models}) == 1


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ("spam", "a single label is {'spam'}"),
        (None, "not NoneType: None"),
        (7, "a single label is {7}"),
        ({"a": "yes"}, "the label 'a' must be True or False, not 'yes'"),
        ([None], "means 'no label'"),
        ([["a"]], "a label must be hashable"),
    ],
)
def test_invalid_labels_change_nothing(y: Any, message: str) -> None:
    model = make()
    model.learn_one("w1", {"a"})
    before = model.to_bytes()
    with pytest.raises(InputError, match=re.escape(message)):
        model.learn_one("w1", y)
    with pytest.raises(InputError, match=re.escape(message)):
        model.learn_many(["w1"], [y])
    with pytest.raises(InputError, match="1 messages and 2 sets of labels"):
        model.learn_many(["w1"], [{"a"}, {"b"}])
    with pytest.raises(InputError, match="the labels of a batch must be a list"):
        model.learn_many(["w1"], "a")
    with pytest.raises(InputError, match="weight of a message"):
        model.learn_one("w1", {"new"}, -1)
    model.learn_one("w2", {"new"}, 0)
    model.learn_many(["w2"], [{"new"}], 0)
    assert model.to_bytes() == before


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"threshold": 1}, "threshold must be a probability between 0 and 1, not 1"),
        ({"threshold": "auto"}, "threshold must be"),
        ({"output": "set"}, "output must be one of 'sets', 'dicts', not 'set'"),
        ({"alpha": 0}, "alpha must be"),
        ({"warm_up": -1}, "warm_up must be"),
        ({"loss": "hinge"}, "loss must be one of"),
        ({"max_df": 2}, "max_df must be"),
        ({"half_life": "a month"}, "half_life must be"),
    ],
)
def test_invalid_parameters(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        MultiLabelNB(**parameters)


def test_a_lower_threshold_gives_more_labels() -> None:
    messages = stream(60)
    low, high = (learned(messages, threshold=each) for each in (0.2, 0.8))
    pairs = [(low.predict_one(text), high.predict_one(text)) for text, _, _ in messages]
    assert all(more >= less for more, less in pairs)
    assert any(more > less for more, less in pairs)
    probabilities = low.predict_proba_one("w1 w2")
    assert low.predict_one("w1 w2") == {k for k, p in probabilities.items() if p > 0.2}
