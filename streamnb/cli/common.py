"""Parts that all commands share: their parser, model files, and the messages that they read."""

from __future__ import annotations

import argparse
import dataclasses
import functools
import itertools
import math
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, TextIO, TypeVar

import streamnb
from streamnb import families, model_specs
from streamnb.datasets import BadLine, Message, demo_stream, read_messages, shuffled, stream
from streamnb.datasets.catalogue import DESCRIPTIONS
from streamnb.datasets.files import TABLES, as_mail, format_of
from streamnb.datasets.lines import no_such_file, source_name, with_advice
from streamnb.errors import DataError, InputError, ModelFileError, printable

Number = TypeVar("Number", int, float)

# Options that are parameters of `read_messages`.
_FORWARDED = (
    *("format", "text_field", "label_field", "id_field", "encoding", "on_bad", "delimiter"),
    *("mails", "categories", "follow_links"),
)
_MOST_LISTED = 1000
_TOLERATED = 0.05  # share of the input that may be unreadable
INCOMPLETE = 3  # exit status above this share
_OF_FILES = ("jsonl", "csv", "tsv", "sms", "mail", "mbox")  # formats that no folder has


def load_model(path: Path) -> Any:
    """Load a model that the command line names.

    Parameters
    ----------
    path
        A file that `streamnb learn --output` wrote.

    Raises
    ------
    InputError
        If the file does not exist.
    ModelFileError
        If the file is not a model.
    """
    if not path.is_file():
        what = "is a stream of messages" if str(path) in DESCRIPTIONS else "does not exist"
        raise InputError(
            f"{path} {what}; give a model file: "
            "streamnb learn MESSAGES --output MODELFILE writes one"
        )
    try:
        return streamnb.load(path)
    except ModelFileError as error:
        raise ModelFileError(f"{path}: {error}") from error


def rows_of(models: Mapping[str, Any]) -> str | None:
    """Return the name of a model of tables if all models read rows; None if all read texts.

    Raises
    ------
    InputError
        If some models read rows and others read texts.
    """
    rows = [name for name, model in models.items() if getattr(model, "reads_columns", False)]
    texts = [name for name in models if name not in rows]
    if rows and texts:
        raise InputError(
            f"{rows[0]} reads rows of attributes and {texts[0]} reads texts: run the command for "
            f"each kind. Models of tables are {', '.join(model_specs.TABLE_MODELS)}"
        )
    return rows[0] if rows else None


def label_sets_of(models: Mapping[str, Any]) -> bool:
    """Return whether all models learn sets of labels; False if all learn one label.

    Raises
    ------
    InputError
        If some models learn sets of labels and others one label.
    """
    sets = [name for name, model in models.items() if getattr(model, "label_sets", False)]
    others = [name for name in models if name not in sets]
    if sets and others:
        raise InputError(
            f"{sets[0]} learns sets of labels and {others[0]} one label for each message: run the "
            f"command for each kind"
        )
    return bool(sets)


def _within(kind: type[Number], name: str, least: int, most: float) -> Callable[[str], Number]:
    """Return the parser of a number from `least` to `most`, for argparse."""

    def parsed(text: str) -> Number:
        value = kind(text)
        if not least <= value <= most:
            raise ValueError
        return value

    parsed.__name__ = name  # argparse reports it: invalid number (1 or more) value: '0'
    return parsed


count: Callable[[str], int] = _within(int, "number (1 or more)", 1, math.inf)
non_negative: Callable[[str], int] = _within(int, "number (0 or more)", 0, math.inf)
probability: Callable[[str], float] = _within(float, "probability (0 to 1)", 0, 1)
price: Callable[[str], float] = _within(float, "price (0 or more)", 0, sys.float_info.max)


def add_number(
    parser: argparse._ActionsContainer, option: str, kind: Any, default: int | None, what: str
) -> None:
    """Add an option for a number; its help ends with the default, where None is no limit."""
    shown = "no limit" if default is None else f"{default:,}"
    parser.add_argument(
        option,
        type=kind,
        default=default,
        metavar="N" if kind in (int, count, non_negative) else "P",
        help=f"{what} (default: {shown})",
    )


def say(text: object, file: TextIO | None = None) -> None:
    """Print lines that may contain texts of others, whose control characters are escaped.

    Line feeds are kept: escape them in the parts, by `streamnb.errors.printable`.
    """
    print(printable(text, keep="\n\t"), file=file, flush=True)


def plural(number: int, noun: str) -> str:
    """Return a number with its noun: `1 message`, `5,574 messages`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def can_be_read_again(source: str) -> bool:
    """Return True for files and named streams, False for standard input and pipes."""
    return source != "-" and (Path(source).is_file() or not Path(source).exists())


def check_output(option: str, path: Path) -> None:
    """Raise an `InputError` if an option names a place where no file can be written."""
    if not path.parent.is_dir() or path.is_dir():
        raise InputError(f"{option} {path}: not a file in a folder that exists")


def check_model_output(option: str, path: Path) -> None:
    """Raise an `InputError` if a model can't be written there, or would replace another file."""
    check_output(option, path)
    if path.is_file() and path.stat().st_size:
        try:
            load_model(path)
        except ModelFileError as error:
            raise InputError(
                f"{option} {path}: the file exists and is not a model, so it is not replaced; "
                f"give another name ({error})"
            ) from error


def demo_source(args: argparse.Namespace, file: TextIO | None = None) -> list[str]:
    """Return the stream of a demo, and print its name and the reason."""
    found, sentence = demo_stream(args.limit, args.seed)
    say(sentence, file)
    return [found.name]


def add_model(parser: argparse._ActionsContainer, what: str, **more: Any) -> None:
    """Add the option for a model, of which `what` is the help; `more` is for argparse."""
    options = {"type": model_specs.model_spec} | more
    what = f"{what} (default: {model_specs.DEFAULT})"
    parser.add_argument("-m", "--model", metavar="MODEL", help=what, **options)


def add_sources(parser: argparse.ArgumentParser, nargs: str) -> None:
    """Add the argument for the messages of a command."""
    parser.add_argument(
        "sources",
        nargs=nargs,
        metavar="SOURCE",
        help="a file or folder, - for standard input, or a named stream (--list-streams); several "
        "are read in this order",
    )


def add_source_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options for reading messages."""
    group = parser.add_argument_group("reading")
    named = functools.partial(group.add_argument, metavar="NAME")
    named(
        "--format",
        help="format of the files: jsonl, csv or tsv (with a header), sms (label, tab, text), "
        "mail, mbox, maildir, or eml (a folder of mails, whose sub-folders are labels); the "
        "default follows the file's extension or beginning, and is jsonl for standard input",
    )
    named("--label", help="label of messages without a label, as in an mbox")
    group.add_argument(
        "--mails",
        action="store_true",
        help="the texts are complete mails with headers: decode them as in mbox and other mail "
        "formats",
    )
    group.add_argument(
        "--follow-links",
        action="store_true",
        help="also read files outside of a folder of mail that links in it name",
    )
    named("--text-field", help="default: text, or a usual name such as message")
    named("--label-field", help="default: label, or a usual name such as class")
    named("--id-field", help="default: id, if the field exists")
    group.add_argument(
        "--fields",
        type=_names,
        default=(),
        metavar="NAME,NAME",
        help="fields whose values the model reads as well, as in user,country",
    )
    group.add_argument(
        "--numbers",
        type=_names,
        default=(),
        metavar="NAME,NAME",
        help="those of --fields whose values are quantities, as in price",
    )
    group.add_argument(
        "--categories",
        type=_names,
        default=(),
        metavar="NAME,NAME",
        help="for models of tables: attributes whose numbers are names, as in postcode",
    )
    named("--per-field", help="one of --fields: learn the words also for each of its values")
    group.add_argument(
        "--delimiter",
        metavar="CHARACTER",
        help="delimiter of csv and tsv (default: comma, semicolon, tab or bar, by the header) and "
        "of sms (default: tab)",
    )
    named("--encoding", default="utf-8", help="default: utf-8")
    group.add_argument(
        "--on-bad",
        choices=("report", "fail"),
        default="report",
        help="report: print invalid lines on standard error and skip them (default); fail: end "
        "the run",
    )
    group.add_argument("--limit", type=count, metavar="N", help="read at most N messages")
    what = "seed of a synthetic or a shuffled stream, and of wrong labels"
    add_number(group, "--seed", int, 42, what)
    streams = (f"{name:<14} {what}" for name, what in DESCRIPTIONS.items())
    group.add_argument(
        "--list-streams",
        action="version",  # which prints a text and exits
        version="\n".join(textwrap.fill(each, 80, subsequent_indent=15 * " ") for each in streams),
        help="list the named streams and exit",
    )
    group.add_argument("--no-progress", action="store_true", help="show no progress bar")


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(","))


@dataclasses.dataclass
class Reading:
    """One pass over the sources that a command line names.

    Parameters
    ----------
    args
        The parsed options of `add_source_arguments`.
    sources
        Files, `-` for standard input, or named streams, read in this order.
    labelled
        Whether a message needs a label.
    shuffle
        Seed for shuffling the messages; None keeps their order.
    quiet
        Whether to print neither invalid lines nor progress.
    join
        Function that joins the fields of a message in one text, such as `Tokenizer.join`.
    rows
        Name of a model of tables, which reads the fields of a message as attributes; None for
        models of texts.
    label_sets
        Whether a message has any number of labels.

    Raises
    ------
    InputError
        If a source is neither a file nor a named stream, or does not contain rows for `rows`.
    """

    args: argparse.Namespace
    sources: list[str]
    labelled: bool = True
    shuffle: int | None = None
    quiet: bool = False
    join: Callable[[Any], Any] | None = None
    rows: str | None = None
    label_sets: bool = False
    n_messages: int = 0
    n_bad: int = 0
    n_unlabelled: int = 0
    n_wrongly_encoded: int = 0
    bad_lines: list[dict[str, Any]] = dataclasses.field(default_factory=list)
    _labels: dict[str, str] = dataclasses.field(default_factory=dict)  # by their folded forms

    def __post_init__(self) -> None:
        # Commands check their sources before they import anything slow.
        if self.sources.count("-") > 1:
            raise InputError("standard input (-) can be read only once")
        for source in self.sources:
            path = Path(source)
            if self.rows is not None:
                self._check_rows(source)
            if source == "-" or source in DESCRIPTIONS:
                continue
            if not path.exists():
                if "://" in source:
                    raise InputError(no_such_file(source))
                streams = ", ".join(DESCRIPTIONS)
                raise InputError(f"{source} is neither a file nor a stream (streams: {streams})")
            if path.is_dir() and self.args.format in _OF_FILES:
                raise InputError(f"{source} is a folder, not a file")

    def _check_rows(self, source: str) -> None:
        """Refuse a source of texts for a model of tables."""
        kind = "texts" if source in DESCRIPTIONS and not Path(source).is_file() else None
        if kind is None and (source == "-" or Path(source).exists()):
            kind = self.args.format or format_of(source)
        if self.args.mails or kind not in (None, *TABLES):
            raise InputError(
                f"{source} contains {'mails' if self.args.mails else kind}, and {self.rows} reads "
                f"rows of attributes ({', '.join(TABLES)}); models that read texts: "
                f"{', '.join(families.TEXT_MODELS)}"
            )

    def messages(self) -> Iterator[Message]:
        """Yield the messages of all sources up to the limit, with a progress bar on a terminal."""
        from tqdm import tqdm

        every = itertools.chain.from_iterable(self._one(source) for source in self.sources)
        good = self._good(every)
        if self.shuffle is not None:
            good = iter(shuffled(good, self.shuffle))
        with tqdm(
            itertools.islice(good, self.args.limit),
            total=self.args.limit,
            unit=" messages",
            disable=self.quiet or self.args.no_progress or not sys.stderr.isatty(),
            leave=False,
            dynamic_ncols=True,
        ) as bar:
            for message in bar:
                self.n_messages += 1
                if self.join is not None and message.fields:
                    text = self.join({**message.fields, "text": message.text})
                    message = message._replace(text=text)
                yield message

    def _one(self, source: str) -> Iterator[Message]:
        args, path = self.args, Path(source)
        if source in DESCRIPTIONS and (path.is_dir() or not path.exists()):
            named = stream(source, seed=args.seed).messages()
            return map(as_mail, named) if args.mails else named
        return read_messages(
            source,
            **{name: getattr(args, name) for name in _FORWARDED},
            label_required=self.labelled,
            default_label=args.label,
            rows=self.rows is not None,
            label_sets=self.label_sets,
            report=lambda bad: self._report(source, bad),
        )

    def _good(self, messages: Iterable[Message]) -> Iterator[Message]:
        check_label = functools.cache(self._check_label)  # once for each label
        for message in messages:
            if self.label_sets and message.labels is None and message.label:
                message = message._replace(labels=(message.label,))
            if message.labels is not None and not self.label_sets:
                raise InputError(
                    "the messages have sets of labels: use the model MultiLabelNB (--model "
                    "MultiLabelNB)"
                )
            labels = (message.label,) if message.labels is None else message.labels
            if self.labelled and message.labels is None and not message.label:
                self.n_unlabelled += 1
                continue
            for label in labels:
                check_label(label)
            yield message

    def _check_label(self, label: str) -> None:
        """Report a label that is probably a misspelling of another one."""
        folded = label.strip().casefold()
        first = self._labels.setdefault(folded, folded if folded in ("ham", "spam") else label)
        if first != label:
            self._print(f"label {label!r} is used as written; it is not the label {first!r}")

    def _report(self, source: str, bad: BadLine) -> None:
        name = source_name(source)
        if not bad.is_message:
            self._print(f"{name}: {bad.reason}")
            return
        self.n_bad += 1
        encoded = not bad.reason.startswith("not utf-8")
        self.n_wrongly_encoded += not encoded
        if self.n_bad <= _MOST_LISTED:
            self.bad_lines.append({"source": name, "line": bad.number, "reason": bad.reason})
        if encoded or self.n_wrongly_encoded == 1:  # the first one stands for all
            self._print(f"{name}, line {bad.number}: {with_advice(bad.reason)}; skipped")

    def _print(self, text: str) -> None:
        if not self.quiet:
            from tqdm import tqdm

            tqdm.write(printable(text), file=sys.stderr)  # keeps the progress bar intact

    def skipped(self) -> str:
        """Return a summary of the skipped messages; empty if none were skipped."""
        parts = []
        if self.n_bad:
            share = self.n_bad / (self.n_bad + self.n_unlabelled + self.n_messages)
            parts.append(f"{plural(self.n_bad, 'bad line')} ({share:.1%} of the input)")
        if self.n_unlabelled:
            parts.append(plural(self.n_unlabelled, "message") + " without a label")
        return f"{' and '.join(parts)} skipped" if parts else ""

    def require_messages(self) -> None:
        """Raise a `DataError` if no message could be read."""
        if not self.n_messages:
            raise DataError(f"no message could be read{self._advice()}")

    def finish(self, done: str) -> int:
        """Report the number of messages and what was done with them; return the exit status.

        Raises
        ------
        DataError
            If no message could be read.
        """
        self.require_messages()
        skipped = f"; {self.skipped()}" if self.skipped() else ""
        say(f"{plural(self.n_messages, 'message')} {done}{skipped}", sys.stderr)
        return self.status()

    def status(self) -> int:
        """Return the exit status: 3 if too many messages could not be read, else 0."""
        total = self.n_bad + self.n_unlabelled + self.n_messages
        if self.n_bad <= _TOLERATED * total:
            return 0
        say(
            f"streamnb: error: {self.n_bad / total:.1%} of the input could not be read"
            f"{self._advice()}",
            sys.stderr,
        )
        return INCOMPLETE

    def _advice(self) -> str:
        if not self.n_wrongly_encoded:
            return ""
        return "; " + with_advice(f"not utf-8: {plural(self.n_wrongly_encoded, 'line')}")
