"""Errors of filters on a stream that changes abruptly: the table of docs/internals/drift.md.

python docs/programs/filter_drift.py --model "MNB()" --model "Challenger(model=MNB())"

6,000 posts of 20 newsgroups go through `streamnb-sms` as labelled records. From post 3,000 the
reader wants other groups. Rows contain errors in percent: before the change, then in the next 500,
1,000 and 1,500 posts, without a bound on false positives and with the default bound.
"""

from __future__ import annotations

import argparse
import json

from streamnb import datasets
from streamnb_consumers.daemon.assembly import make_filter
from streamnb_consumers.daemon.settings import Settings
from streamnb_consumers.records import Partition, Record

MODELS = (
    "MNB()",
    "Challenger(model=MNB())",
    "Challenger(model=MNB(half_life=1000))",
    "OnlineNB()",
    "Challenger",
    "Challenger(model=OnlineNB(half_life=1000))",
)
PARTS = ((0, 3000), (3000, 3500), (3500, 4500), (4500, 6000))


def errors(model: str, bound: float | str, posts: list[tuple[str, str]]) -> str:
    """Return the errors of a filter in each part of the stream, in percent."""
    settings = Settings(
        model=model,
        max_fpr=bound,
        max_bytes=2**22,
        labels=("other", "wanted"),
        pos_label="wanted",
        negative="other",
    )
    worker = make_filter("sms", settings)
    wrong = []
    for n, (text, group) in enumerate(posts):
        wanted = group.startswith(("rec", "sci") if n < 3000 else ("comp", "sci"))
        post = {"id": str(n), "text": text, "label": "wanted" if wanted else "other"}
        record = Record(Partition("posts", 0), n, json.dumps(post).encode())
        (decision,) = worker.handle(record).decisions
        wrong.append(decision.label != post["label"])
    return ", ".join(f"{100 * sum(wrong[a:b]) / (b - a):.0f}" for a, b in PARTS)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--model", action="append", help="specification of a model; repeatable")
    posts = list(datasets.stream("20news", limit=6000))
    print("| `model` | no bound | default bound |\n| --- | --- | --- |")
    for model in parser.parse_args().model or MODELS:
        figures = [errors(model, bound, posts) for bound in (0.0, "auto")]
        print(f"| `{model}` | {' | '.join(figures)} |", flush=True)


if __name__ == "__main__":
    main()
