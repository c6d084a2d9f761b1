"""Naive Bayes of scikit-learn and of streamnb on scikit-learn's example of text classification.

The example is "Classification of text documents using sparse features". It uses four of the 20
newsgroups, or all, without headers, footers and quotes, and TF-IDF vectors. Each classifier learns
the training half and predicts the test half, from the vectors or from the texts. Times are
processor times: medians over the rounds after a warm-up.

    python benchmarks/bench_sklearn.py
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

from rounds import Contestant, one_thread, race, table

from streamnb.datasets import read_text

CATEGORIES = ("alt.atheism", "talk.religion.misc", "comp.graphics", "sci.space")
THEIRS = {
    "MultinomialNB(alpha=0.1)": "MNB(alpha=0.1)",
    "ComplementNB(alpha=0.1)": "CNB(alpha=0.1, prior='uniform')",
    "ComplementNB(alpha=0.1, norm=True)": "TWCNB(alpha=0.1)",
    "BernoulliNB(alpha=0.1)": "BNB(alpha=0.1)",
}
VECTORS = "sklearn TfidfVectorizer alone"
OURS_ON_TEXTS = (
    "OnlineNB()",
    "OnlineNB(tokenizer=Tokenizer(words=(1, 2), boundaries='unicode', subject=True))",
    "TWCNB(alpha=0.1, term_weighting='log-unit')",
    "MNB()",
)


class Split(NamedTuple):
    """The training and test halves of the collection."""

    train: list[str]
    train_labels: list[str]
    test: list[str]
    test_labels: list[str]


def split(categories: tuple[str, ...] | None) -> Split:
    """Read the collection as the example does."""
    from sklearn.datasets import _twenty_newsgroups as theirs

    halves = Split([], [], [], [])
    for message in read_text("20news_bydate"):
        if categories is None or message.label in categories:
            text = theirs.strip_newsgroup_header(message.text)
            text = theirs.strip_newsgroup_footer(theirs.strip_newsgroup_quoting(text))
            at = 0 if "train" in message.id else 2
            halves[at].append(text)
            halves[at + 1].append(message.label)
    return halves


class Entry(NamedTuple):
    """A classifier or vectorizer, with its training and test data."""

    make: Callable[[], Any]
    train: Any
    test: Any


def entries(halves: Split) -> dict[str, Entry]:
    """Return the entries by name; classifiers of vectors receive prepared vectors."""
    from sklearn import naive_bayes
    from sklearn.feature_extraction.text import TfidfVectorizer

    from streamnb.sklearn import StreamNBClassifier

    def vectors() -> Any:
        return TfidfVectorizer(sublinear_tf=True, max_df=0.5, min_df=5, stop_words="english")

    def ours(text: str) -> Callable[[], Any]:
        return lambda: StreamNBClassifier(text, random_state=0)

    def theirs(text: str) -> Callable[[], Any]:
        return lambda: eval(text, vars(naive_bayes))

    vectorizer = vectors()
    rows = vectorizer.fit_transform(halves.train), vectorizer.transform(halves.test)
    texts = halves.train, halves.test
    found = {VECTORS: Entry(vectors, *texts)}
    for their, our in THEIRS.items():
        found[f"sklearn {their}, on vectors"] = Entry(theirs(their), *rows)
        found[f"streamnb {our}, on vectors"] = Entry(ours(our), *rows)
    for our in OURS_ON_TEXTS:
        found[f"streamnb {our}, on texts"] = Entry(ours(our), *texts)
    return found


def compare(halves: Split, rounds: int) -> str:
    """Run all entries, and return the table."""
    found = entries(halves)
    # The warm-up run provides the accuracy.
    fitted = {
        name: entry.make().fit(entry.train, halves.train_labels) for name, entry in found.items()
    }
    runs = []
    for name, entry in found.items():
        runs.append(Contestant(f"{name} fit", entry.make, _fits(entry, halves.train_labels)))
        runs.append(Contestant(f"{name} use", lambda name=name: fitted[name], _uses(entry)))
    timings = race(runs, rounds, lambda line: print(line, file=sys.stderr))
    rows = []
    for name, entry in found.items():
        seconds = [timings[f"{name} {what}"] for what in ("fit", "use")]
        rows.append(
            (
                name,
                *_scores(fitted[name], entry, halves.test_labels),
                *(f"{timing.messages / timing.median:.3f}" for timing in seconds),
            )
        )
    return table(("", "accuracy", "macro F1", "fit s", "predict s"), rows)


def _fits(entry: Entry, labels: list[str]) -> Callable[[Any], int]:
    def run(estimator: Any) -> int:
        learn = getattr(estimator, "fit_transform", estimator.fit)
        learn(entry.train, labels)
        return len(labels)

    return run


def _uses(entry: Entry) -> Callable[[Any], int]:
    def run(estimator: Any) -> int:
        use = getattr(estimator, "transform", None) or estimator.predict
        made = use(entry.test)
        return int(made.shape[0])

    return run


def _scores(estimator: Any, entry: Entry, labels: list[str]) -> tuple[str, str]:
    from sklearn.metrics import accuracy_score, f1_score

    if not hasattr(estimator, "predict"):
        return "", ""
    predicted = estimator.predict(entry.test)
    accuracy, f1 = accuracy_score(labels, predicted), f1_score(labels, predicted, average="macro")
    return f"{accuracy:.4f}", f"{f1:.4f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3, help="rounds of timing (default: 3)")
    options = parser.parse_args()
    print(one_thread())
    for title, categories in (("four classes", CATEGORIES), ("twenty classes", None)):
        halves = split(categories)
        print(f"\n{title}: {len(halves.train):,} to learn, {len(halves.test):,} to predict\n")
        print(compare(halves, options.rounds))


if __name__ == "__main__":
    main()
