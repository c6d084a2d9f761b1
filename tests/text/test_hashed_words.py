"""Models of keyed hashes: they contain no words, and decide and explain as models of words."""

from __future__ import annotations

import copy
import dataclasses
import hashlib
import pickle
from pathlib import Path
from typing import Any

import pytest

import streamnb
from references.bounds import siphash
from streamnb import MNB, InputError, MultiLabelNB, NaiveBayes, OnlineNB, Tokenizer
from streamnb.errors import StreamNBError
from streamnb_consumers.daemon.assembly import make_filter
from streamnb_consumers.daemon.settings import Settings

STREAM = [
    ("Subject: claim your xyzzy prize", "spam"),
    ("lunch at noon with xyzzy", "ham"),
    ("prize money now!!!", "spam"),
    ("see you at home, ann", "ham"),
] * 6
QUERY = "claim lunch with ann at noon, unknown"
KINDS = [
    Tokenizer(),
    Tokenizer(words=(1, 2)),
    OnlineNB.default_tokenizer,
    Tokenizer(analyzer="char", ngram_range=(2, 3)),
    Tokenizer(fields=("user",), texts=("title",), per_field="user", subject=True, length=True),
]


@pytest.fixture(autouse=True)
def secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STREAMNB_WORD_KEY", "a secret of many characters")


def trained(model: Any) -> Any:
    for x, y in STREAM:
        model.learn_one(x, y)
    return model


@pytest.mark.parametrize("tokenizer", KINDS, ids=range(len(KINDS)))
@pytest.mark.parametrize("model", [MNB, OnlineNB])
def test_scores_and_explanations_are_those_of_words(model: Any, tokenizer: Tokenizer) -> None:
    words = trained(model(tokenizer=tokenizer))
    hashes = trained(model(tokenizer=dataclasses.replace(tokenizer, hashed=True)))
    assert hashes.joint_log_likelihood_one(QUERY) == pytest.approx(
        words.joint_log_likelihood_one(QUERY), abs=1e-9
    )
    expected, found = words.explain_one(QUERY), hashes.explain_one(QUERY)
    assert found.words.keys() == expected.words.keys()
    for word, terms in expected.words.items():
        assert found.words[word] == pytest.approx(terms, abs=1e-9)
    assert hashes.tokens_one(QUERY) == words.tokens_one(QUERY)
    assert hashes.n_words == words.n_words


@pytest.mark.parametrize("tokenizer", KINDS, ids=range(len(KINDS)))
def test_no_word_is_in_a_file(tokenizer: Tokenizer) -> None:
    model = trained(OnlineNB(tokenizer=dataclasses.replace(tokenizer, hashed=True)))
    model.learn_one({"plugh": 2.0}, "spam")  # given tokens are hashed, too
    names = set(model._counts.words())
    assert len(names) == model.n_words
    for raw in (model.to_bytes(), pickle.dumps(model), repr(sorted(names)).encode()):
        for word in (b"xyzzy", b"prize", b"plugh", b"claim", b"ann "):
            assert word not in raw


def test_a_hash_is_siphash_of_the_token() -> None:
    tokenizer = Tokenizer(words=(1, 1), characters=(3, 3), hashed=True)
    plain = dataclasses.replace(tokenizer, hashed=False)
    digits = "abcdefghijklmnopqrstuvwxyz234567"
    key = hashlib.sha256(b"streamnb words a secret of many characters").digest()[:16]
    for found, token in zip(tokenizer(QUERY), plain(QUERY), strict=True):
        number = siphash(key, token.encode())
        name = "".join(digits[number >> 5 * place & 31] for place in range(13))
        assert found == ("\t" if token.startswith("\t") else "") + name


def test_copies_and_files_need_the_same_key(monkeypatch: pytest.MonkeyPatch) -> None:
    model = trained(OnlineNB(tokenizer=Tokenizer(hashed=True)))
    raw, pickled = model.to_bytes(), pickle.dumps(model)
    for same in (NaiveBayes.from_bytes(raw), pickle.loads(pickled), copy.deepcopy(model)):
        assert same.predict_proba_one(QUERY) == model.predict_proba_one(QUERY)
    monkeypatch.setenv("STREAMNB_WORD_KEY", "another secret of many characters")
    for read in (lambda: NaiveBayes.from_bytes(raw), lambda: pickle.loads(pickled)):
        with pytest.raises(StreamNBError, match="set the secret of the model"):
            read()
    monkeypatch.delenv("STREAMNB_WORD_KEY")
    for read in (lambda: NaiveBayes.from_bytes(raw), lambda: Tokenizer(hashed=True)):
        with pytest.raises(StreamNBError, match="set STREAMNB_WORD_KEY to 16 characters"):
            read()


@pytest.mark.parametrize("hashed", [1, None, "secret", "0123456789ABCDEF", ("a",)])
def test_other_values_are_refused(hashed: Any) -> None:
    with pytest.raises(InputError, match="hashed must be True, False or the fingerprint"):
        Tokenizer(hashed=hashed)


def test_batches_matrices_and_several_labels_are_hashed() -> None:
    tokenizer = Tokenizer(hashed=True)
    model = MNB(tokenizer=tokenizer)
    model.learn_many([x for x, _ in STREAM], [y for _, y in STREAM])
    assert model.to_bytes() == trained(MNB(tokenizer=tokenizer)).to_bytes()
    model.learn_many([{"plugh": 1}, {"plugh": 2}], ["ham", "spam"])
    assert model.joint_log_likelihood_one("plugh") == model.joint_log_likelihood_one({"plugh": 1})
    several = MultiLabelNB(tokenizer=tokenizer)
    several.learn_one("xyzzy wheat", {"grain"})
    assert b"xyzzy" not in several.to_bytes()
    assert set(several.explain_one("xyzzy").words) == {"xyzzy"}


def test_a_word_is_forgotten_by_its_hash() -> None:
    model = trained(MNB(tokenizer=Tokenizer(hashed=True)))
    n_words = model.n_words
    assert model.forget_word("xyzzy") == 1
    assert model.n_words == n_words - 1
    assert model.forget_word("xyzzy") == 0


def test_a_filter_with_hashed_words(tmp_path: Path) -> None:
    worker = make_filter("sms", Settings(hashed_words=True))
    model = worker.learner.model
    assert isinstance(model, streamnb.OnlineNB)
    assert model.tokenizer is not None
    assert dataclasses.replace(model.tokenizer, hashed=False) == OnlineNB.default_tokenizer
    model.learn_one("claim your xyzzy prize", "spam")
    assert b"xyzzy" not in model.to_bytes()
