"""The native tokeniser against river's and scikit-learn's, on real and on made-up text."""

from __future__ import annotations

import itertools
import re
import sys
import unicodedata
from unicodedata import category

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from river.feature_extraction import BagOfWords
from sklearn.feature_extraction.text import CountVectorizer

from streamnb import MNB, InputError, Tokenizer, _core
from streamnb.datasets import read_text
from support.data import require_data
from support.profiles import examples

LARGE = ("enron_spam", "20news_bydate", "reuters21578", "spamassassin", "r8")
# Corpora, and the step between messages that are read: 1 is all of them.
CORPORA = [
    *(("sms_spam", 1), ("spamassassin", 5), ("r8", 5)),
    *(pytest.param(corpus, 1, marks=pytest.mark.soak) for corpus in LARGE),
]

any_text = st.text(alphabet=st.characters(exclude_categories=["Cn"]))
wordy_text = st.text(
    alphabet=st.one_of(
        st.sampled_from("aAbZ09_-  \t\n.ÉéßİıſΣσςΟ\u0301\u00ad\u2019\ud800\udfffﬁ①Ⅷ中가ａ"),
        st.characters(categories=["L", "M", "N"]),
    )
)


def river_tokens(text: str, **options: object) -> list[str]:
    return list(BagOfWords(**options).process_text(text))


@pytest.mark.parametrize(("corpus", "step"), CORPORA)
def test_tokens_are_rivers_on_every_message(corpus: str, step: int) -> None:
    path = require_data(f"text/{corpus}.jsonl.xz")
    tokenizer, bag_of_words = Tokenizer(), BagOfWords()
    messages = 0
    for message in itertools.islice(read_text(path), 0, None, step):
        assert tokenizer(message.text) == list(bag_of_words.process_text(message.text)), message.id
        messages += 1
    assert messages > 5_000 / step


@pytest.mark.parametrize("lowercase", [True, False])
@pytest.mark.parametrize("strip_accents", [True, False])
@examples(300)
@given(text=st.one_of(any_text, wordy_text))
@example(text="ΟΔΟΣ ΣΑΣ Σ Σ' ΣΣ-Σ")
@example(text="a\ud800b \udfff\ud800 win\udc00cash")
@example(text="--a-- b--b -c d- e-f- --")
@example(text="İstanbul ŉa ǰo ﬀ ẞß")
def test_tokens_are_rivers_on_any_text(text: str, lowercase: bool, strip_accents: bool) -> None:
    options = {"lowercase": lowercase, "strip_accents": strip_accents}
    # A lone surrogate ends a token like any other character that is no word character.
    expected = river_tokens(re.sub("[\ud800-\udfff]", "\ufffd", text), **options)
    assert Tokenizer(**options)(text) == expected
    assert river_tokens(text, **options) == expected


@pytest.mark.parametrize(
    ("lowercase", "strip_accents"),
    [
        (True, True),
        pytest.param(False, False, marks=pytest.mark.soak),
        pytest.param(True, False, marks=pytest.mark.soak),
        pytest.param(False, True, marks=pytest.mark.soak),
    ],
)
def test_tokens_of_every_assigned_code_point_are_rivers(
    lowercase: bool, strip_accents: bool
) -> None:
    options = {"lowercase": lowercase, "strip_accents": strip_accents}
    tokenizer, bag_of_words = Tokenizer(**options), BagOfWords(**options)
    assigned = [c for c in map(chr, range(sys.maxunicode + 1)) if category(c) not in ("Cn", "Cs")]
    for start in range(0, len(assigned), 512):
        block = assigned[start : start + 512]
        text = " ".join(f"{c}{c} x{c}y {c}b a{c} {context_of_sigma(c)}" for c in block)
        assert tokenizer(text) == list(bag_of_words.process_text(text)), block[0]


def context_of_sigma(character: str) -> str:
    # Unicode 17 changed whether these are cased, which decides on the form of a sigma beside them.
    if character in "\u0295\u02e4\U0001171e":
        return ""
    return f"αΣ{character} αΣ{character}β {character}Σ"


def test_the_core_reports_its_unicode_versions() -> None:
    versions = dict(part.split() for part in _core.unicode_version().split(", "))
    assert versions.keys() == {"case", "decomposition", "segmentation"}
    assert all(tuple(map(int, version.split("."))) >= (14,) for version in versions.values())


@pytest.mark.parametrize("ngram_range", [(1, 2), (2, 2), (1, 3), (3, 4)])
@examples(100)
@given(text=wordy_text)
@example(text="free entry to win a free phone")
@example(text="one")
def test_word_ngrams_are_rivers(text: str, ngram_range: tuple[int, int]) -> None:
    expected = [
        token if isinstance(token, str) else " ".join(token)
        for token in river_tokens(text, ngram_range=ngram_range)
    ]
    assert Tokenizer(ngram_range=ngram_range)(text) == expected


@pytest.mark.parametrize("analyzer", ["char", "char_wb"])
@pytest.mark.parametrize("ngram_range", [(1, 1), (3, 3), (2, 5)])
@examples(100)
@given(text=wordy_text)
@example(text="free   entry\tto win")
@example(text="")
def test_character_ngrams_are_scikit_learns(
    text: str, analyzer: str, ngram_range: tuple[int, int]
) -> None:
    text = re.sub("[\ud800-\udfff]", "\ufffd", text)
    # scikit-learn lowers before it strips accents: give both the text folded.
    folded = "".join(
        character
        for character in unicodedata.normalize("NFKD", text)
        if not unicodedata.combining(character)
    ).lower()
    analyze = CountVectorizer(
        analyzer=analyzer, ngram_range=ngram_range, lowercase=False
    ).build_analyzer()
    ours = Tokenizer(
        analyzer=analyzer, ngram_range=ngram_range, lowercase=False, strip_accents=False
    )
    assert ours(folded) == list(analyze(folded))


def test_bounds_against_whoever_writes_the_messages() -> None:
    text = "short " + "x" * 1_000 + " words " + "again and " * 1_000
    assert Tokenizer(max_token_length=10, max_tokens=3)(text) == ["short", "words", "again"]
    assert len(Tokenizer(max_tokens=50)(text)) == 50
    assert "x" * 1_000 in Tokenizer()(text)
    assert Tokenizer(max_token_length=1_000)(text)[1] == "x" * 1_000


@pytest.mark.parametrize(
    "options",
    [
        {"analyzer": "sentence"},
        {"analyzer": "osb"},
        {"ngram_range": (0, 1)},
        {"ngram_range": (2, 1)},
        {"ngram_range": (1, 1_000)},
        {"ngram_range": 2},
        {"ngram_range": (1, 2, 3)},
        {"ngram_range": (1, 2.5)},
        {"ngram_range": (1, -1)},
        {"max_tokens": 0},
        {"max_tokens": -1},
        {"max_tokens": 2**40},
        {"max_tokens": True},
        {"max_token_length": 0},
        {"max_token_length": "3"},
        {"lowercase": "yes"},
        {"analyzer": None},
    ],
)
def test_bad_options_are_refused(options: dict[str, object]) -> None:
    words = {"ngram_range": "n-gram", "max_tokens": "max_tokens|number of tokens"}
    name = list(options)[-1]
    with pytest.raises(InputError, match=f"{name}|{words.get(name, name)}|longest token"):
        Tokenizer(**options)


def test_any_function_may_replace_it() -> None:
    model = MNB(tokenizer=lambda text: text.split("|"))
    model.learn_one("a b|c", "x")
    assert model.explain_one("a b|c").words.keys() == {"a b", "c"}
