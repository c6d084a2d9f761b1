"""A stream never ends: every structure respects the bound that the user sets."""

from __future__ import annotations

import itertools
import random
import threading
from collections.abc import Iterator

import pytest

import streamnb
from streamnb import CNB, HMNB, MNB, NotLearnedError, Tokenizer
from streamnb.statistics.documents import Documents
from support.drawn.messages import refreshed_bytes
from support.models import INDEXED, structure_mark


def classes(names: tuple[str, ...]) -> pytest.MarkDecorator:
    """Parametrise by the classes of models that keep an index of messages."""
    models = [pytest.param(getattr(streamnb, name), marks=structure_mark(name)) for name in names]
    return pytest.mark.parametrize("model", models)


Document = tuple[str, str]


def documents(n: int, seed: int = 0, new_words: int = 0) -> Iterator[Document]:
    """Messages over a small vocabulary, each with `new` words that never occur again."""
    draw = random.Random(seed)
    fresh = (f"fresh{seed}x{i}" for i in itertools.count())
    for _ in range(n):
        label = draw.choice(["ham", "spam", "work"])
        words = [f"{label}{draw.randrange(12)}" for _ in range(draw.randrange(5))]
        words += [f"any{draw.randrange(20)}" for _ in range(draw.randrange(6))]
        words += [next(fresh) for _ in range(new_words)]
        yield " ".join(words), label


def learn(model: streamnb.NaiveBayes, stream: list[Document]) -> streamnb.NaiveBayes:
    for text, label in stream:
        model.learn_one(text, label)
    return model


@pytest.mark.parametrize("model", [MNB, CNB, HMNB])
def test_vocabulary_keeps_to_its_bound(model: type[streamnb.NaiveBayes]) -> None:
    bounded = model(max_features=500, index_size=50)
    for text, label in documents(1_000, new_words=3):
        bounded.learn_one(text, label)
        assert bounded.n_words <= 500
    # Recurring words are still known, with their counts.
    unbounded = learn(model(index_size=50), list(documents(1_000, new_words=3)))
    kept = bounded.explain_one("any1 ham1 spam1").words
    assert kept.keys() == {"any1", "ham1", "spam1"}
    assert bounded.counts().class_documents.sum() == unbounded.counts().class_documents.sum()
    assert bounded.counts().tokens.max() == unbounded.counts().tokens.max()


def test_pruned_words_are_as_if_never_learned() -> None:
    stream = [*itertools.repeat(("a b", "ham"), 3), ("a c", "ham"), ("d a", "spam"), ("d", "spam")]
    pruned = HMNB(max_features=3, tokenizer=str.split)
    learn(pruned, stream)
    # At the fourth word the rarest is pruned: of c and d, the later by its bytes, and so on.
    assert pruned.n_words == 3
    words = {word for word in pruned._store.words() if word}
    clean = HMNB(tokenizer=lambda text: [word for word in text.split() if word in words])
    learn(clean, stream)
    assert pruned.n_words == clean.n_words
    assert words == {"a", "b", "c"}
    for text in ("a b", "c", "a c"):
        assert pruned.joint_log_likelihood_one(text) == clean.joint_log_likelihood_one(text)


@classes(INDEXED)
def test_index_keeps_the_latest_documents(model: type[streamnb.NaiveBayes]) -> None:
    stream = list(documents(300))
    bounded = learn(model(index_size=40), stream)
    assert len(Documents.of(bounded._store.sample(True)).weights) == 40
    unbounded = learn(model(), stream)
    assert len(Documents.of(unbounded._store.sample(True)).weights) == 300
    # Counts cover the whole stream in both models.
    assert bounded.n_documents == unbounded.n_documents
    assert (bounded.counts().tokens != unbounded.counts().tokens).nnz == 0
    # Lengths cover the latest documents only.
    latest = learn(model(), stream[-40:])
    ours, theirs = bounded.counts(), latest.counts()
    assert ours.lengths.sum() == theirs.lengths.sum()


@classes(INDEXED)
def test_merge_with_eviction_is_learning_one_stream_then_the_other(
    model: type[streamnb.NaiveBayes],
) -> None:
    first, second = list(documents(70, seed=1)), list(documents(25, seed=2))
    for one, two in [(first, second), (second, first)]:
        merged, other = learn(model(index_size=30), one), learn(model(index_size=30), two)
        merged.merge(other)
        together = learn(model(index_size=30), one + two)
        assert merged.to_bytes() == refreshed_bytes(together)


@classes(INDEXED)
def test_unlearn_of_a_document_that_left_the_index(model: type[streamnb.NaiveBayes]) -> None:
    stream = list(documents(60))
    bounded = learn(model(index_size=20), stream)
    text, label = stream[0]
    before = bounded.to_bytes()
    documents_before = bounded.n_documents
    bounded.unlearn_one(text, label)
    assert bounded.n_documents == documents_before - 1
    assert len(Documents.of(bounded._store.sample(True)).weights) == 20
    with pytest.raises(NotLearnedError):
        bounded.unlearn_one("never seen at all", label)
    bounded.learn_one(text, label)
    assert len(Documents.of(bounded._store.sample(True)).weights) == 20
    # It returned as the youngest document, which evicted the oldest of the others.
    assert bounded.to_bytes() != before
    assert (bounded.counts().tokens != learn(model(), stream).counts().tokens).nnz == 0


def test_tokens_of_one_message_are_bounded() -> None:
    model = MNB(tokenizer=Tokenizer(max_tokens=100, max_token_length=20))
    model.learn_one(" ".join(f"word{i}" for i in range(100_000)), "spam")
    model.learn_one("x" * 1_000_000, "spam")
    assert model.n_words == 100


@classes(INDEXED)
def test_predictions_go_on_while_another_thread_learns_and_refreshes(
    model: type[streamnb.NaiveBayes],
) -> None:
    shared = learn(model(refresh_every=5), list(documents(100)))
    queries = [text for text, _ in documents(50, seed=3)]
    failures: list[BaseException] = []
    done = threading.Event()

    def predict() -> None:
        try:
            while not done.is_set():
                for text in queries:
                    assert sum(shared.predict_proba_one(text).values()) == pytest.approx(1)
                shared.predict_many(queries)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=predict) for _ in range(2)]
    for thread in threads:
        thread.start()
    learn(shared, list(documents(400, seed=4)))
    done.set()
    for thread in threads:
        thread.join(timeout=60)
    assert not failures
    alone = learn(model(refresh_every=5), [*documents(100), *documents(400, seed=4)])
    assert refreshed_bytes(shared) == refreshed_bytes(alone)


@pytest.mark.soak
@pytest.mark.parametrize("model", [MNB, HMNB])
def test_memory_is_flat_on_a_long_stream(model: type[streamnb.NaiveBayes]) -> None:
    bounded = model(max_features=5_000, index_size=1_000)
    sizes = []
    for i, (text, label) in enumerate(documents(200_000, new_words=2)):
        bounded.learn_one(text, label)
        if i % 20_000 == 19_999:
            sizes.append(bounded.memory_bytes)
    assert max(sizes[2:]) <= 1.1 * max(sizes[:2])
