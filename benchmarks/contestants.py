"""Contestants: streamnb, river, scikit-learn and Vowpal Wabbit, with single messages and batches.

All choices favour the other libraries. Vowpal Wabbit's input lines are prepared in advance and not
timed, and its file run writes no predictions. scikit-learn's batch is vectorised once for
predicting and learning.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Protocol, TypeVar

import vowpalwabbit
from river import feature_extraction
from river import linear_model as river_linear
from river import naive_bayes as river_bayes
from rounds import Contestant
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.naive_bayes import MultinomialNB as SklearnMultinomialNB

import streamnb
from streamnb import _core

T = TypeVar("T")
BATCH = 1000
VW_ARGUMENTS = "--loss_function logistic --link logistic --quiet"
# In Vowpal Wabbit's text format these characters separate fields or lines.
VW_SEPARATORS = str.maketrans(dict.fromkeys(":|\n\r", " "))


class OneByOne(Protocol):
    """Interface of streamnb's and river's classifiers and pipelines."""

    def predict_one(self, x: Any) -> Any: ...
    def learn_one(self, x: Any, y: Any) -> Any: ...


def batches(items: Sequence[T], size: int = BATCH) -> Iterator[Sequence[T]]:
    for start in range(0, len(items), size):
        yield items[start : start + size]


def vw_lines(texts: Sequence[str], labels: Sequence[str]) -> list[str]:
    pos_label = max(labels)
    return [
        f"{1 if label == pos_label else -1} | {text.translate(VW_SEPARATORS)}"
        for text, label in zip(texts, labels, strict=True)
    ]


def pairs(
    name: str, make: Callable[[], OneByOne], stream: Sequence[tuple[Any, str]], passes: int
) -> Contestant:
    """`predict_one`, then `learn_one`, on every message; each pass starts with an empty model."""

    def run(models: list[OneByOne]) -> int:
        for model in models:
            predict, learn = model.predict_one, model.learn_one
            for x, y in stream:
                predict(x)
                learn(x, y)
        return len(models) * len(stream)

    return Contestant(name, lambda: [make() for _ in range(passes)], run)


def vw_pairs(
    lines: Sequence[str], passes: int, way: str, arguments: str = "", name: str = ""
) -> Contestant:
    """Vowpal Wabbit from Python, one message at a time, in one of three ways.

    `"parsed once"` predicts and then learns the parsed message, like `predict_one` and `learn_one`.
    `"parsed twice"` passes the line to both. `"learn alone"` uses the prediction that learning
    returns. This is faster, but works only if the label arrives with the message.
    """

    def parsed_once(model: Any) -> None:
        parse, predict, learn, finish = (
            model.parse,
            model.predict,
            model.learn,
            model.finish_example,
        )
        for line in lines:
            example = parse(line)
            predict(example)
            learn(example)
            finish(example)

    def parsed_twice(model: Any) -> None:
        predict, learn = model.predict, model.learn
        for line in lines:
            predict(line.partition(" ")[2])
            learn(line)

    def learn_alone(model: Any) -> None:
        make, learn, finish = model.example, model.learn, model.finish_example
        for line in lines:
            example = make(line)
            learn(example)
            example.get_simplelabel_prediction()
            finish(example)

    ways = {
        "parsed once": parsed_once,
        "parsed twice": parsed_twice,
        "learn alone": learn_alone,
    }

    def prepare() -> list[Any]:
        return [vowpalwabbit.Workspace(f"{VW_ARGUMENTS} {arguments}") for _ in range(passes)]

    def run(models: list[Any]) -> int:
        for model in models:
            ways[way](model)
        return len(models) * len(lines)

    return Contestant(name or f"Vowpal Wabbit, {way}", prepare, run)


def one_by_one(texts: Sequence[str], labels: Sequence[str]) -> list[Contestant]:
    """Pairs of `predict_one` and `learn_one`, from the empty model to the end of the stream.

    river's BernoulliNB and ComplementNB visit their whole vocabulary for each prediction. They get
    only the beginning of the stream, where they are fastest.
    """
    stream = list(zip(texts, labels, strict=True))
    bag = feature_extraction.BagOfWords()
    counted = [(bag.transform_one(text), label) for text, label in stream]
    lines = vw_lines(texts, labels)

    def river(make: Callable[[], Any]) -> Callable[[], Any]:
        return lambda: feature_extraction.BagOfWords() | make()

    multinomial, complement, bernoulli = (
        river_bayes.MultinomialNB,
        river_bayes.ComplementNB,
        river_bayes.BernoulliNB,
    )
    return [
        pairs("streamnb MNB", streamnb.MNB, stream, 10),
        pairs("streamnb CNB", streamnb.CNB, stream, 10),
        pairs("streamnb BNB", streamnb.BNB, stream, 10),
        pairs("streamnb MNB, ready-made dicts", streamnb.MNB, counted, 5),
        pairs("river MultinomialNB", river(multinomial), stream, 1),
        pairs("river ComplementNB", river(complement), stream[:1000], 1),
        pairs("river BernoulliNB", river(bernoulli), stream[:500], 1),
        pairs("river MultinomialNB, dicts", multinomial, counted, 1),
        pairs("river ComplementNB, dicts", complement, counted[:1000], 1),
        pairs("river BernoulliNB, dicts", bernoulli, counted[:500], 1),
        vw_pairs(lines, 2, "parsed once"),
        vw_pairs(lines, 2, "parsed twice"),
        vw_pairs(lines, 2, "learn alone"),
    ]


def corrected(texts: Sequence[str], labels: Sequence[str]) -> list[Contestant]:
    """Return `OnlineNB` and others with the same tokens, message by message, from an empty model.

    river's models get the presence of tokens from streamnb's tokenizer, which is faster than
    river's. Vowpal Wabbit makes words and word pairs itself, with `--ngram 2`. The limit tokenises,
    hashes, and reads one cache line for each token, of as many lines as the model has words.
    """
    stream = list(zip(texts, labels, strict=True))
    lines = vw_lines(texts, labels)
    pos_label = max(labels)
    outcomes = [(text, label == pos_label) for text, label in stream]
    tokenizers = {
        "default": streamnb.OnlineNB.default_tokenizer,
        "pairs": streamnb.Tokenizer(words=(1, 2), boundaries="unicode"),
        "words": streamnb.Tokenizer(),
    }

    def own(tokenizer: Any) -> Callable[[], Any]:
        return lambda: streamnb.OnlineNB(tokenizer=tokenizer)

    def river(make: Callable[[], Any], tokenizer: Any) -> Callable[[], Any]:
        return lambda: feature_extraction.BagOfWords(tokenizer=tokenizer) | make()

    learned = streamnb.OnlineNB()
    learned.learn_many(texts, labels)
    native = tokenizers["default"].native()

    def limit(_: None) -> int:
        _core.tokenize_and_hash(native, _core.Batch(list(texts)), learned.n_words)
        return len(texts)

    entrants = [
        pairs("streamnb MNB, words", streamnb.MNB, stream, 5),
        Contestant("limit of OnlineNB, default", lambda: None, limit),
        prequential_batches(
            "streamnb OnlineNB, default, batches", streamnb.OnlineNB, texts, labels
        ),
    ]
    for heads in ("two", "three"):
        make = partial(streamnb.OnlineNB, heads=heads)
        entrants += [
            pairs(f"streamnb OnlineNB, default, {heads} heads", make, stream, 2),
            prequential_batches(
                f"streamnb OnlineNB, default, {heads} heads, batches", make, texts, labels
            ),
        ]
    for name, tokenizer in tokenizers.items():
        logistic = river(river_linear.LogisticRegression, tokenizer)
        bayes = river(river_bayes.MultinomialNB, tokenizer)
        entrants += [
            pairs(f"streamnb OnlineNB, {name}", own(tokenizer), stream, 2),
            pairs(f"river LogisticRegression, {name}", logistic, outcomes, 1),
            pairs(f"river MultinomialNB, {name}", bayes, stream, 1),
        ]
    for name, arguments in {"words": "", "pairs": "--ngram 2"}.items():
        entrants.append(
            vw_pairs(lines, 2, "parsed once", arguments, f"Vowpal Wabbit, {name}, parsed once")
        )
    return entrants


def prequential_batches(
    name: str, make: Callable[[], Any], texts: Sequence[str], labels: Sequence[str]
) -> Contestant:
    """Predict a batch, then learn it."""

    def run(model: Any) -> int:
        for x, y in zip(batches(texts), batches(labels), strict=True):
            model.predict_many(x)
            model.learn_many(x, y)
        return len(texts)

    return Contestant(name, make, run)


def sklearn_batches(texts: Sequence[str], labels: Sequence[str]) -> Contestant:
    classes = sorted(set(labels))

    def run(model: SklearnMultinomialNB) -> int:
        vectorizer = HashingVectorizer(alternate_sign=False)
        for number, (x, y) in enumerate(zip(batches(texts), batches(labels), strict=True)):
            matrix = vectorizer.transform(x)
            if number:
                model.predict(matrix)
            model.partial_fit(matrix, y, classes=classes)
        return len(texts)

    return Contestant("scikit-learn, batches", SklearnMultinomialNB, run)


def vw_file(path: Path, messages: int) -> Contestant:
    def run(_: None) -> int:
        vowpalwabbit.Workspace(f"{VW_ARGUMENTS} -d {path}").finish()
        return messages

    return Contestant("Vowpal Wabbit, file", lambda: None, run)


def in_batches(
    texts: Sequence[str], labels: Sequence[str], once: int, folder: Path
) -> list[Contestant]:
    """Batches of 1,000 on the repeated stream; scikit-learn gets its first `once` messages."""
    path = folder / "stream.vw"
    path.write_text("\n".join(vw_lines(texts, labels)) + "\n", encoding="utf-8")
    learned = streamnb.MNB()
    learned.learn_many(texts, labels)

    native = streamnb.Tokenizer().native()

    def tokenise(_: None) -> int:
        for x in batches(texts):
            _core.tokenize_and_hash(native, _core.Batch(list(x)), 1)
        return len(texts)

    def learn(model: Any) -> int:
        for x, y in zip(batches(texts), batches(labels), strict=True):
            model.learn_many(x, y)
        return len(texts)

    def predict(model: Any) -> int:
        for x in batches(texts):
            model.predict_many(x)
        return len(texts)

    return [
        Contestant("tokenise and hash only", lambda: None, tokenise),
        Contestant("streamnb MNB learn_many", streamnb.MNB, learn),
        Contestant("streamnb MNB predict_many", lambda: learned, predict),
        prequential_batches("streamnb MNB, both", streamnb.MNB, texts, labels),
        prequential_batches("streamnb CNB, both", streamnb.CNB, texts, labels),
        sklearn_batches(texts[:once], labels[:once]),
        vw_file(path, len(texts)),
    ]


def hidden(texts: Sequence[str], labels: Sequence[str], learned: int) -> list[Contestant]:
    """`predict_one` of a hidden-parents model and of its plain one, on messages not learned."""
    asked = texts[learned:]

    def contestant(name: str, make: Callable[[], Any], passes: int) -> Contestant:
        model = make()
        model.learn_many(texts[:learned], labels[:learned])
        model.refresh()

        def run(_: None) -> int:
            predict = model.predict_one
            for _pass in range(passes):
                for text in asked:
                    predict(text)
            return passes * len(asked)

        return Contestant(name, lambda: None, run)

    return [
        contestant("streamnb MNB predict_one", streamnb.MNB, 50),
        contestant("streamnb HMNB predict_one", streamnb.HMNB, 10),
        contestant("streamnb HCNB predict_one", streamnb.HCNB, 10),
    ]
