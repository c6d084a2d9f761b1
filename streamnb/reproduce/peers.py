"""OnlineNB and MNB beside filters of others, on the same streams: one page, made by a command."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping, Sequence

from streamnb import datasets
from streamnb.errors import MissingDependencyError
from streamnb.model_specs import build, model_spec
from streamnb.reproduce.results import Figures, Run

__all__ = ["STREAMS", "absent", "make_runs", "page"]

STREAMS = {
    "sms": "SMS",
    "sms-de": "SMS, German",
    "sms-hi": "SMS, Hindi",
    "spamassassin": "SpamAssassin",
    "enron": "Enron-Spam",
    "20news": "20 newsgroups",
    "r8": "Reuters R8",
}
"""Name of each stream → its heading; those without an order of their own are shuffled once."""

WORDS = "OnlineNB(tokenizer=Tokenizer(words=(1, 2), boundaries='unicode', subject=True))"
OURS = ("OnlineNB", WORDS, "MNB")
OF_TWO = ("peer:VowpalWabbit", "peer:Bogofilter")
OF_MANY = ("peer:VowpalWabbit(classes=20)",)
OF_ANY = ("river:MultinomialNB", "peer:CharacterLogistic")

# A program is started twice for each message, and a message of 20 classes asks 20 tables.
LIMITS = {
    ("peer:Bogofilter", "sms"): 2000,
    ("peer:Bogofilter", "sms-de"): 2000,
    ("peer:Bogofilter", "sms-hi"): 2000,
    ("peer:Bogofilter", "spamassassin"): 2000,
    ("peer:Bogofilter", "enron"): 2000,
    ("peer:CharacterLogistic", "20news"): 2000,
    ("peer:CharacterLogistic", "r8"): 3000,
}
"""Peer and stream → greatest number of messages, where all would take an hour."""


def absent(names: Sequence[str] = (*OF_TWO, *OF_MANY)) -> dict[str, str]:
    """Return the peers that are not installed, each with what to do."""
    found = {}
    for name in names:
        try:
            build(model_spec(name))
        except MissingDependencyError as error:
            found[name] = str(error)
    return found


def make_runs(streams: Sequence[str], without: Mapping[str, str], limit: int | None) -> list[Run]:
    """Return the runs of the page.

    Parameters
    ----------
    streams
        Some of `STREAMS`.
    without
        Peers that are not installed.
    limit
        Greatest number of messages; None for all.
    """
    runs = []
    for stream in streams:
        two = datasets.stream(stream).n_classes == 2
        for name in (*OURS, *OF_ANY, *(OF_TWO if two else OF_MANY)):
            if name not in without:
                most = LIMITS.get((name, stream), limit)
                runs.append(Run(name, stream, 1, most if limit is None else limit))
    return runs


_HEAD = """\
# Beside filters of others

`OnlineNB` with its default tokens and with words and pairs of words, `MNB()`, and filters of
others with their defaults, prequentially on the same streams: each message is predicted, then
learned. Written by `make peers` (`streamnb results --peers`). Accuracy and (1 − AUC) are in
percent; the latter over all messages, and from the first after both classes were known. ECE is the
expected calibration error after the first 500 messages. µs is the time of one message, predicted
and learned.

"""

_PEERS = """\
- `peer:VowpalWabbit`: logistic regression on single words with adaptive rates, its defaults; of
  many classes one against all. `peer:CharacterLogistic`: online logistic regression on binary
  character 4-grams of the first 3,000 bytes. `peer:Bogofilter`: the program, started for each
  message, its defaults; unsure counts as ham."""


def page(runs: Sequence[Run], figures: Mapping[Run, Figures], without: Mapping[str, str]) -> str:
    """Return the page, in Markdown.

    Parameters
    ----------
    runs
        In the order wanted.
    figures
        What `run_streams` returned.
    without
        Peers that are not installed, each with what to do.
    """
    rows = [
        "| stream | filter | accuracy | (1 − AUC)%, all | both known | ECE | µs |",
        "| --- | --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    for run in runs:
        found = figures[run]
        short = f" (first {run.limit:,})" if run.limit is not None else ""
        cells = [
            STREAMS[run.stream],
            f"`{run.model}`{short}",
            f"{found.accuracy:.2f}",
            _shown(found.auc_loss, ".3f"),
            _shown(found.known_auc_loss, ".3f"),
            _shown(found.calibration_error, ".4f"),
            f"{found.learn + found.predict:,.0f}",
        ]
        rows.append(f"| {' | '.join(cells)} |")
    names = datasets.stream_names()
    notes = [
        f"- **{STREAMS[stream]}**: {names[stream]}."
        for stream in dict.fromkeys(run.stream for run in runs)
    ]
    notes += [f"- `{name}` was not measured: {why}." for name, why in without.items()]
    notes.append(_PEERS)
    notes.append(
        f"- Times: {platform.machine()}, Python {platform.python_version()}; on the clock, "
        f"whatever else the\n  machine did meanwhile: a load of {os.getloadavg()[0]:.0f} on "
        f"{os.cpu_count()} processors when this was written."
    )
    return f"{_HEAD}{chr(10).join(rows)}\n\n{chr(10).join(notes)}\n"


def _shown(value: float, term_weighting: str) -> str:
    return format(value, term_weighting) if value == value else ""  # NaN is not itself
