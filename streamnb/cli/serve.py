"""`streamnb serve`: a web page that explains and corrects the decisions on a stream."""

from __future__ import annotations

import argparse
import contextlib
import getpass
import importlib
import itertools
import secrets
import signal
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from streamnb import model_specs
from streamnb.cli import common
from streamnb.datasets import Message
from streamnb.datasets.catalogue import DESCRIPTIONS
from streamnb.errors import InputError, ModelFileError, needed_for

if TYPE_CHECKING:
    from streamnb.web import Feed

DESCRIPTION = "Serve a web page that shows a live stream, the decisions and their reasons."
EPILOG = """\
The page answers requests from this machine only. With --host, other visitors need the printed
token. The stream starts with Play. The models in memory learn corrections; --output saves the
first model when the command ends (Ctrl-C).

examples:
  streamnb serve
  streamnb serve sms
  streamnb serve --stream mail.jsonl --model OnlineNB --model MNB
  streamnb serve spam.model --stream new.jsonl --output spam.model
  streamnb serve --filter kafka://localhost:9092/sms
  streamnb serve --filter http://localhost:7830
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.add_argument(
        "models_saved",
        nargs="*",
        type=Path,
        metavar="MODELFILE",
        help="a file that streamnb learn saved, or a named stream, as with --stream",
    )
    what = "an untrained model; may be given several times; not needed with a model file"
    common.add_model(parser, what, action="append", dest="models")
    parser.add_argument(
        "--filter",
        metavar="ADDRESS",
        help="show the decisions of a running filter and send it labels: kafka://HOST:PORT/TOPIC, "
        "where TOPIC has its messages, or http://HOST:PORT, the address of a listener",
    )
    parser.add_argument(
        "--annotator",
        metavar="NAME",
        help="name that corrections have, until the page gives another one (default: the user)",
    )
    parser.add_argument(
        "--stream",
        action="append",
        dest="sources",
        metavar="SOURCE",
        help="a file, - for standard input, or a named stream; several are read in this order "
        "(default: the SMS collection if it is available, else a synthetic stream)",
    )
    parser.add_argument("--host", default="127.0.0.1", help="address (default: 127.0.0.1)")
    parser.add_argument(
        "--port", type=int, default=8765, help="port (default: 8765; 0: any free one)"
    )
    what = "number of latest messages to keep for inspection and correction"
    common.add_number(parser, "--keep", common.count, 1000, what)
    parser.add_argument(
        "--output", type=Path, metavar="FILE", help="save the first model at the end"
    )
    common.add_source_arguments(parser)


def run(args: argparse.Namespace) -> int:
    """Run the command and return its exit status."""
    with needed_for("the page", "web"):
        import uvicorn  # noqa: F401 - the first of the packages that may be missing

        from streamnb.web import Stream
    if args.filter is not None:
        _serve(_filter(args), args)
        return 0
    saved, named = _parted(args.models_saved)
    sources = [*named, *(args.sources or [])] or common.demo_source(args)
    if args.output is not None:
        common.check_model_output("--output", args.output)
    models = _models(args, saved)
    several = common.label_sets_of(models)
    reading = common.Reading(args, sources, labelled=False, label_sets=several)
    args.no_progress = True
    stream = Stream(models, _begun(reading), keep=args.keep)
    try:
        _serve(stream, args)
    finally:
        if args.output is not None:
            next(iter(models.values())).save(args.output)
            print(f"saved: {args.output}")
    return 0


def _filter(args: argparse.Namespace) -> Feed:
    """Return a running filter as a feed."""
    if args.models_saved or args.models or args.sources or args.output:
        raise InputError("--filter shows the model of the filter: give no model, stream or output")
    # The filters are a package above this one, which works without it.
    with needed_for("--filter", "consumers,kafka,web"):
        page = importlib.import_module("streamnb_consumers.page")
        feed: Feed = page.open_filter(args.filter, keep=args.keep)
    return feed


def _serve(feed: Feed, args: argparse.Namespace) -> None:
    """Serve the page of a feed on a socket that is open before its address is printed."""
    from streamnb.web import create_app, make_server

    feed.check()
    token = None if args.host in ("127.0.0.1", "localhost", "::1") else secrets.token_urlsafe(24)
    server = make_server(create_app(feed, token, args.annotator or _user()))
    family = socket.AF_INET6 if ":" in args.host else socket.AF_INET
    # Listen before the address is printed, so that early visitors wait instead of being refused.
    listening = socket.create_server((args.host, args.port), family=family)
    # Connections inherit it. Without it, each answer on a kept connection waits 40 ms.
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    host = f"[{args.host}]" if ":" in args.host else args.host
    address = f"http://{host}:{listening.getsockname()[1]}/"
    print(f"open {address}{f'?token={token}' if token else ''} (Ctrl-C ends it)", flush=True)
    # The server raises the signal again when it has stopped; SIGTERM then ends as Ctrl-C does.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    if hasattr(signal, "SIGHUP"):  # a closed terminal

        def end(*_: Any) -> None:
            server.should_exit = True

        signal.signal(signal.SIGHUP, end)
    follower = threading.Thread(target=feed.follow, name="feed", daemon=True)
    follower.start()
    try:
        with listening, contextlib.suppress(KeyboardInterrupt):  # which is how the page ends
            server.run(sockets=[listening])
    finally:
        feed.stop()
        follower.join(1.0)  # it may wait for a message


def _user() -> str:
    """Return the name of the user, or an empty text if this machine has none for it."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a user id without a name, as in containers
        return ""


def _begun(reading: common.Reading) -> Iterator[Message]:
    """Return the messages. Errors of the first read appear here, before the page opens."""
    messages = reading.messages()
    # A pipe may have no message yet; only the page waits for it.
    first = all(map(common.can_be_read_again, reading.sources))
    return itertools.chain(list(itertools.islice(messages, int(first))), messages)


def _parted(paths: list[Path]) -> tuple[list[Path], list[str]]:
    """Separate model files from named streams. An existing file takes precedence."""
    named = [str(path) for path in paths if str(path) in DESCRIPTIONS and not path.is_file()]
    return [path for path in paths if str(path) not in named], named


def _models(args: argparse.Namespace, saved: list[Path]) -> dict[str, Any]:
    models: dict[str, Any] = {}
    for path in saved:
        name = path.name if path.name not in models else str(path)
        try:
            models[name] = common.load_model(path)
        except ModelFileError as error:
            raise ModelFileError(f"{error}; messages are given as --stream {path}") from error
    specs = args.models or ([] if models else [model_specs.model_spec(model_specs.DEFAULT)])
    specs = [
        model_specs.with_fields(spec, args.fields, args.per_field, args.numbers) for spec in specs
    ]
    return models | model_specs.build_all(specs)
