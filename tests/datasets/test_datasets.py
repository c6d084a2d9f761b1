"""The data folder's collections, the named streams and the synthetic one."""

from __future__ import annotations

import hashlib
import itertools
import json
from collections import Counter

import pytest
import requests
from river import evaluate, feature_extraction, metrics, naive_bayes

from streamnb import datasets
from streamnb.datasets import SyntheticSMS
from streamnb.errors import DataError, InputError
from support.data import require_data
from support.profiles import also_in_soak

# Messages, classes, smallest and largest class, characters, timed messages.
TEXT = {
    "sms_spam": (5574, 2, 747, 4827, 448_586, 0),
    "spamassassin": (6046, 2, 1896, 4150, 32_505_961, 6046),
    "enron_spam": (16_541, 2, 4496, 12_045, 28_480_195, 16_541),
    "20news_bydate": (18_846, 20, 628, 999, 35_854_868, 0),
    "r8": (7674, 8, 51, 3923, 4_502_926, 0),
}
# Named streams that take longer to read; their collections are counted as well.
LARGE = ("20news", "spamassassin", "enron", "r8", "reuters")

# Digest of the first 10,000 messages with seed 42; it changes with the templates.
DIGEST = "bc31c3c7b99ff205cacc40679b2ec92b91494769c584d8edea4002586548f615"


@pytest.fixture
def no_data(monkeypatch, tmp_path):
    """A machine without a data folder, downloads and network."""

    def refuse(*arguments, **options):
        raise requests.ConnectionError("no network in tests")

    monkeypatch.setenv("STREAMNB_DATA", str(tmp_path / "absent"))
    monkeypatch.setenv("STREAMNB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("requests.get", refuse)


@pytest.mark.parametrize("name", TEXT)
def test_text_has_the_published_figures(name):
    require_data(f"text/{name}.jsonl.xz")
    labels: Counter[str] = Counter()
    characters = timed = 0
    for message in datasets.read_text(name):
        labels[message.label] += 1
        characters += len(message.text)
        timed += message.time is not None
    sizes = labels.values()
    found = (labels.total(), len(labels), min(sizes), max(sizes), characters, timed)
    assert found == TEXT[name]


def test_reuters_has_several_topics_or_none_and_the_split_in_the_id():
    path = require_data("text/reuters21578.jsonl.xz")
    labels, splits, timed = [], Counter(), 0
    for message in datasets.read_text(path):
        labels.append(message.label)
        splits[message.id.split("/", 1)[1]] += 1
        timed += message.time is not None
    assert len(labels) == 21_578
    assert labels.count("") == 10_211
    assert sum(bool(label) and "|" not in label for label in labels) == 9494
    assert len({topic for label in labels for topic in label.split("|") if topic}) == 120
    assert (splits["TRAIN/YES"], splits["TEST/YES"], timed) == (9603, 3299, 21_574)


def test_a_bad_line_in_a_text_collection_is_fatal(tmp_path):
    path = tmp_path / "bad.jsonl"
    path.write_text(json.dumps({"text": "x", "label": ""}) + "\n{}\n")
    with pytest.raises(DataError, match=r"bad\.jsonl, line 2: no field 'text'"):
        list(datasets.read_text(path))


def test_without_a_data_folder(no_data):
    with pytest.raises(DataError, match=r"STREAMNB_DATA=.*absent is not a data folder"):
        datasets.data_folder()
    assert not datasets.available("sms_spam")
    with pytest.raises(DataError, match="STREAMNB_DATA"):
        datasets.read_text("sms_spam")
    with pytest.raises(DataError, match=r"cannot download .*no network.*synthetic-sms"):
        list(datasets.stream("sms"))
    stream, sentence = datasets.demo_stream(limit=5)
    assert (stream.name, len(list(stream))) == ("synthetic-sms", 5)
    assert sentence.startswith("Stream synthetic-sms: made-up messages")


def test_a_default_data_folder_beside_the_current_one(monkeypatch, tmp_path):
    (tmp_path / "shared" / "data" / "text").mkdir(parents=True)
    (tmp_path / "work").mkdir()
    monkeypatch.delenv("STREAMNB_DATA", raising=False)
    monkeypatch.setenv("STREAMNB_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path / "work")
    assert datasets.data_folder() == tmp_path / "shared" / "data"
    with pytest.raises(DataError, match=r"no collection sms_spam in .*text, which holds nothing"):
        datasets.read_text("sms_spam")


def test_names_and_paths(monkeypatch, tmp_path):
    (tmp_path / "text").mkdir()
    path = tmp_path / "text" / "mine.jsonl"
    path.write_text(json.dumps({"text": "x", "label": "ham"}) + "\n")
    monkeypatch.setenv("STREAMNB_DATA", str(tmp_path))
    monkeypatch.setenv("STREAMNB_CACHE", str(tmp_path / "cache"))
    assert datasets.available("mine")
    assert datasets.available("text/mine")
    assert not datasets.available("counts/mine")
    assert list(datasets.read_text("mine")) == list(datasets.read_text(path))
    with pytest.raises(DataError, match="no such file"):
        datasets.read_text(tmp_path / "other.jsonl")


# Of the topics of Reuters, these are sets.
CLASSES = {
    "20news": 20,
    "r8": 8,
    "reuters": 66,
    "smishing": 3,
    "banking77": 77,
    "reuters-topics": 468,
}


@pytest.mark.parametrize(
    "name", also_in_soak([name for name in datasets.stream_names() if name not in LARGE], LARGE)
)
def test_named_streams(name):
    stream = datasets.stream(name)
    if name != "synthetic-sms":
        require_data()
    pairs = list(stream)
    assert f"{len(pairs):,}" in stream.description
    classes = len({label for _, label in pairs})
    assert classes == CLASSES.get(name, 2)
    short = datasets.stream(name, limit=7)
    assert list(short) == pairs[:7]
    assert [m.text for m in short.messages()] == [text for text, _ in pairs[:7]]
    other = list(datasets.stream(name, limit=7, seed=1))
    assert (other != pairs[:7]) == (name in ("synthetic-sms", "20news", "r8", "banking77"))
    if name in ("20news", "r8"):
        assert len({label for _, label in pairs[:500]}) == classes


def test_wrong_streams():
    with pytest.raises(InputError, match="no stream 'smss'; known are sms, "):
        datasets.stream("smss")
    with pytest.raises(InputError, match="limit"):
        datasets.stream("sms", limit=-1)
    with pytest.raises(InputError, match=r"n must be .* from 0 on, not -1"):
        SyntheticSMS(n=-1)


def test_the_synthetic_stream_is_the_same_everywhere():
    digest = hashlib.sha256()
    for text, label in SyntheticSMS(n=10_000, seed=42):
        digest.update(f"{label}\t{text}\n".encode())
    assert digest.hexdigest() == DIGEST


def test_prefixes_and_seeds():
    long = list(SyntheticSMS(n=1000, seed=3))
    assert list(SyntheticSMS(n=300, seed=3)) == long[:300]
    assert list(itertools.islice(SyntheticSMS(n=None, seed=3), 1000)) == long
    assert list(SyntheticSMS(n=1000, seed=4)) != long
    stream = SyntheticSMS(n=1000, seed=3)
    assert list(stream) == list(stream) == long
    assert [(m.text, m.label) for m in stream.messages()] == long
    assert list(SyntheticSMS(n=0)) == []


def test_no_slot_is_left_open_and_all_groups_occur():
    groups = Counter()
    for message in SyntheticSMS(n=10_000, seed=1).messages():
        assert "{" not in message.text
        assert message.text.strip()
        groups[message.label, message.id.split("/")[1]] += 1
    assert len(groups) == 22
    assert min(groups.values()) > 20


@pytest.mark.soak
@pytest.mark.parametrize("seed", [1, 42])
def test_the_synthetic_stream_is_about_as_hard_as_the_real_one(seed):
    model = feature_extraction.BagOfWords() | naive_bayes.MultinomialNB()
    stream = SyntheticSMS(n=5000, seed=seed)
    accuracy = evaluate.progressive_val_score(stream, model, metrics.Accuracy())
    assert 0.95 <= accuracy.get() <= 0.985


def test_share_of_spam_and_growth_of_the_vocabulary():
    bag = feature_extraction.BagOfWords()
    words: set[str] = set()
    sizes, spam = [], 0
    for number, (text, label) in enumerate(SyntheticSMS(n=5000, seed=42), 1):
        words.update(bag.transform_one(text))
        spam += label == "spam"
        if number % 1000 == 0:
            sizes.append(len(words))
    assert 0.11 <= spam / 5000 <= 0.15
    assert all(later - earlier > 200 for earlier, later in itertools.pairwise(sizes))


def test_drift_happens_where_it_is_said_to():
    stream = SyntheticSMS(n=10_000, seed=42)
    groups = [(m.label, m.id.split("/")[1]) for m in stream.messages()]

    def share(group, start, end):
        spam = [name for label, name in groups[start:end] if label == "spam"]
        return spam.count(group) / len(spam)

    assert share("ringtones", 0, 1200) > 0.15
    assert share("ringtones", 1900, 5000) == 0
    assert share("loans", 0, 1200) == 0
    assert share("delivery fee", 0, 1500) == 0
    assert share("delivery fee", 1500, 1700) > 0.2
    assert share("prizes", 0, 2400) > 0.2
    assert share("prizes", 3200, 5000) == 0
    assert share("crypto", 2000, 2400) == 0
    assert share("crypto", 2400, 2800) < share("crypto", 3200, 3600)
    assert share("bank alerts", 0, 3600) == 0
    assert share("bank alerts", 3600, 4000) > 0.15
    assert share("ringtones", 5000, 6200) > 0.15
    assert share("bank alerts", 5000, 8600) == 0


def test_the_description_of_a_dataset():
    assert datasets.stream("sms").description.startswith("SMS Spam Collection")
    assert all(datasets.stream_names().values())
