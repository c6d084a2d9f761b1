"""Every model, prequentially, on real streams: one page of results, made by a command.

Each finished run is kept in a results file, found again by its model, stream, limit and code.
"""

from __future__ import annotations

import hashlib
import platform
import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from streamnb import datasets, evaluation
from streamnb.errors import InputError
from streamnb.model_specs import MODELS, build, model_spec
from streamnb.reproduce.runner import run_all
from streamnb.reproduce.runs import RunsFile, StoredRun, code_fingerprint, settings_key

__all__ = [
    "STREAMS",
    "VARIANTS",
    "Figures",
    "Run",
    "make_runs",
    "model_names",
    "page",
    "run_streams",
    "write_page",
]

STREAMS = {
    "sms": "SMS",
    "spamassassin": "SpamAssassin",
    "enron": "Enron-Spam",
    "20news": "20 newsgroups",
}
"""Name of each stream → its heading; those that are shuffled are run once for each seed."""

SHUFFLED = ("20news", "r8")

VARIANTS = (
    "NBCF(factor='auto')",
    "NBCF(factor='optimal')",
    "MNB(term_weighting='presence')",
    "MNBTree(grow='hoeffding')",
    "DWMNB(online=True)",
    "ComposedNB(weights='generalised')",
    "ComposedNB(event='one-versus-all', term_weighting='log', weights='generalised')",
    (
        "ComposedNB(event='one-versus-all', term_weighting='log', weights='gain-ratio', "
        "document_weights='discriminative', rounds=2)"
    ),
)
"""Models that the page has besides every class with its defaults."""


# One object, so that figures without it are equal.
_NONE = float("nan")


class Figures(NamedTuple):
    """What a run finds out, in the order of `StoredRun.scores`; runs of before have fewer.

    Attributes
    ----------
    accuracy, auc_loss
        In percent; the latter (1 − AUC), NaN where there are more than two classes.
    learn, predict
        Microseconds a message.
    messages
        How many there were.
    known_auc_loss
        As `auc_loss`, from the first message after both classes were learned.
    calibration_error
        In [0, 1], after the first 500 messages; NaN where the model has no probabilities.
    code
        The version of the code that was measured.
    """

    accuracy: float
    auc_loss: float
    learn: float
    predict: float
    messages: float
    known_auc_loss: float = _NONE
    calibration_error: float = _NONE
    code: str = ""

    @classmethod
    def of(cls, result: StoredRun) -> Figures:
        """Return the figures of a stored run."""
        scores = [_NONE if score != score else score for score in result.scores]
        accuracy, auc_loss, learn, predict, messages, *more = scores
        found = cls(accuracy, auc_loss, learn, predict, messages)
        if len(more) == 2:
            found = found._replace(known_auc_loss=more[0], calibration_error=more[1])
        return found._replace(code=str(result.settings["code"]))


@dataclass(frozen=True)
class Run:
    """One model on one stream.

    Attributes
    ----------
    model
        As on the command line: `"HMNB"`, `"NBCF(factor='auto')"`.
    stream
        Its name, as in `datasets.stream`.
    seed
        Of the shuffle.
    limit
        Greatest number of messages; None for all.
    """

    model: str
    stream: str
    seed: int
    limit: int | None

    def settings(self) -> dict[str, Any]:
        """Return all that the figures depend on."""
        messages = _messages(self.stream, self.seed)[: self.limit]
        return {
            "model": self.model,
            "stream": self.stream,
            "seed": self.seed,
            "messages": len(messages),
            "data": _digest(self.stream, self.seed),
            "code": code_fingerprint(),
        }


def model_names() -> tuple[str, ...]:
    """Return every model of texts with its defaults, in the package's order, and the variants.

    Examples
    --------
    >>> {"MNB", "HMNB", "NBCF(factor='auto')"} <= set(model_names())
    True
    """
    return (*(name for name in MODELS if name != "ComposedNB"), *VARIANTS)


def make_runs(
    names: Sequence[str],
    streams: Sequence[str],
    seeds: int,
    limits: Mapping[tuple[str, str], int],
) -> list[Run]:
    """Return the runs of a page, the quick streams first.

    Parameters
    ----------
    names
        Models.
    streams
        Some of `STREAMS`.
    seeds
        How often a shuffled stream is run, at least 1: seeds 1, 2, ...
    limits
        Model and stream → greatest number of messages, where not all are wanted. An empty name
        stands for all; of several limits that fit, a model's own goes before those for all models.

    Raises
    ------
    InputError
        A name is unknown, or a number below 1.

    Examples
    --------
    >>> runs = make_runs(["MNB", "HNB"], ["sms"], 1, {("HNB", "sms"): 300, ("", ""): 2000})
    >>> [run.limit for run in runs]
    [2000, 300]
    """
    if unknown := [name for name in streams if name not in STREAMS]:
        raise InputError(f"no stream {unknown[0]!r} here; there are {', '.join(STREAMS)}")
    for chosen, known, kind in (0, names, "models"), (1, streams, "streams"):
        if unknown := [key[chosen] for key in limits if key[chosen] not in ("", *known)]:
            raise InputError(f"a limit for {unknown[0]!r}, which is not among the {kind}")
    if min([seeds, *limits.values()]) < 1:
        raise InputError("seeds and limits are at least 1")

    def limit(name: str, stream: str) -> int | None:
        keys = (name, stream), (name, ""), ("", stream), ("", "")
        return next((limits[key] for key in keys if key in limits), None)

    return [
        Run(name, stream, seed, limit(name, stream))
        for stream in streams
        for seed in range(1, (seeds if stream in SHUFFLED else 1) + 1)
        for name in names
    ]


@lru_cache(maxsize=2)
def _messages(stream: str, seed: int) -> list[tuple[str, str]]:
    return list(datasets.stream(stream, seed=seed))


@lru_cache(maxsize=64)
def _digest(stream: str, seed: int) -> str:
    digest = hashlib.sha256()
    for text, label in _messages(stream, seed):
        digest.update(f"{len(text)} {label} {text}".encode(errors="surrogatepass"))
    return digest.hexdigest()[:16]


def _evaluate(task: tuple[str, Run, dict[str, Any]]) -> StoredRun:
    key, run, settings = task
    model = build(model_spec(run.model))
    messages = _messages(run.stream, run.seed)[: run.limit]
    result = evaluation.prequential({run.model: model}, messages)[run.model]
    found, n = result.cumulative, result.n_messages
    two = len(result.labels) <= 2
    figures = Figures(
        accuracy=100 * (found.accuracy or 0.0),
        auc_loss=_or_nan(found.one_minus_auc_percent if two else None),
        learn=1e6 * result.learn_seconds / n,
        predict=1e6 * result.predict_seconds / n,
        messages=n,
        known_auc_loss=_or_nan(found.one_minus_auc_percent_both_known if two else None),
        calibration_error=_or_nan(found.calibration_error),
    )
    return StoredRun(key, settings, figures[:-1], result.learn_seconds + result.predict_seconds)


def _or_nan(value: float | None) -> float:
    return _NONE if value is None else value


def run_streams(
    runs: Sequence[Run],
    results: RunsFile,
    jobs: int = 1,
    fresh: bool = False,
    progress: bool | None = None,
    any_code: bool = False,
) -> dict[Run, Figures]:
    """Run what the results file does not have yet, and return all figures.

    Parameters
    ----------
    runs
        What `make_runs` returned.
    results
        Each finished run is added to it at once, so that an interrupted program goes on where
        it stopped.
    jobs
        Processes; more than one disturb each other's times.
    fresh
        Run everything again.
    progress
        Whether to show a progress bar on standard error; None: if that is a terminal.
    any_code
        Whether what another version of the code has measured is good enough, the last of them.

    Raises
    ------
    DataError
        A collection is absent, or the results file cannot be used.
    """
    settings = {run: run.settings() for run in runs}
    keys = {run: settings_key(settings[run]) for run in runs}
    done: dict[str, StoredRun] = {}
    for run, key in keys.items():
        stored = None if fresh else results.get(key)
        if stored is None and any_code and not fresh:
            stored = results.last_like(settings[run], but="code")
        if stored is not None:
            done[key] = stored
    tasks = [(keys[run], run, settings[run]) for run in runs if keys[run] not in done]
    hide = None if progress is None else not progress
    from tqdm import tqdm

    with tqdm(total=len(runs), initial=len(runs) - len(tasks), unit="run", disable=hide) as bar:
        for result in run_all(_evaluate, tasks, jobs):
            results.add(result)
            done[result.key] = result
            bar.set_postfix_str(f"{result.settings['model']} on {result.settings['stream']}")
            bar.update()
    return {run: Figures.of(done[keys[run]]) for run in runs}


_HEAD = """\
# Results

Models with their defaults, prequentially: each message is predicted, then learned. Written by
`make results` (`streamnb results`), which goes on where it was stopped. Accuracy and (1 − AUC) are
in percent over the whole stream, the latter where there are two classes; the time is that of one
message, predicted and learned one at a time, in microseconds.

"""


def page(runs: Sequence[Run], figures: Mapping[Run, Figures]) -> str:
    """Return the page of results, in Markdown.

    Parameters
    ----------
    runs
        In the order wanted.
    figures
        What `run_streams` returned.
    """
    streams = list(dict.fromkeys(run.stream for run in runs))
    binary = {
        run.stream for run in runs if figures[run].auc_loss == figures[run].auc_loss
    }  # NaN is not itself
    head, under = ["model"], ["---"]
    for stream in streams:
        columns = ["accuracy", *(["(1 − AUC)%"] if stream in binary else []), "µs"]
        head += [f"{STREAMS[stream]}: {column}" for column in columns]
        under += ["---:"] * len(columns)
    rows = [head, under]
    for name in dict.fromkeys(run.model for run in runs):
        row = [f"`{name}`"]
        for stream in streams:
            found = [run for run in runs if (run.model, run.stream) == (name, stream)]
            row += _cells(found, [figures[run] for run in found], stream in binary)
        rows.append(row)
    table = "\n".join(f"| {' | '.join(row)} |" for row in rows)
    notes = "\n".join(_notes(runs, figures, streams))
    return f"{_HEAD}{table}\n\n{notes}\n"


def _cells(runs: Sequence[Run], found: Sequence[Figures], binary: bool) -> Iterator[str]:
    def shown(value: Callable[[Figures], float], spec: str) -> str:
        values = [value(figures) for figures in found]
        if len(values) == 1:
            return format(values[0], spec)
        return f"{statistics.mean(values):{spec}} ± {statistics.stdev(values):{spec}}"

    whole = len(_messages_of(runs[0]))
    short = found[0].messages < whole
    yield shown(lambda figures: figures.accuracy, ".2f") + (
        f" (first {found[0].messages:,.0f})" if short else ""
    )
    if binary:
        yield shown(lambda figures: figures.auc_loss, ".2f")
    yield f"{statistics.mean(figures.learn + figures.predict for figures in found):,.1f}"


def _messages_of(run: Run) -> list[tuple[str, str]]:
    return _messages(run.stream, run.seed)


def _notes(
    runs: Sequence[Run], figures: Mapping[Run, Figures], streams: Sequence[str]
) -> Iterator[str]:
    for stream in streams:
        seeds = {run.seed for run in runs if run.stream == stream}
        text = f"- **{STREAMS[stream]}**: {datasets.stream_names()[stream]}"
        if stream in SHUFFLED:
            spread = f"mean and standard deviation over {len(seeds)} shuffles"
            text += f"; {spread}" if len(seeds) > 1 else "; one shuffle"
        yield text + "."
    if any(run.limit is not None for run in runs):
        yield (
            "- *first N*: a slow model saw the first N messages of the stream only; its figures "
            "are not those\n  of the whole stream."
        )
    if len({figures[run].code for run in runs}) > 1:
        yield (
            "- The models were not all measured with the same version of the code: what did not "
            "change between\n  versions was not run again."
        )
    yield (
        f"- Times: {platform.machine()}, Python {platform.python_version()}; on the clock, "
        "whatever else the\n  machine did meanwhile."
    )


def write_page(path: Path, text: str) -> None:
    """Write the page.

    Raises
    ------
    InputError
        Its folder does not exist.
    """
    if not path.parent.is_dir():
        raise InputError(f"{path}: there is no folder {path.parent}")
    path.write_text(text, encoding="utf-8")
