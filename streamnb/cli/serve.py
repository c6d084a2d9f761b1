"""`streamnb serve`: a page that shows a stream and why it is decided so, and corrects it."""

from __future__ import annotations

import argparse
import contextlib
import itertools
from pathlib import Path
from typing import TYPE_CHECKING, Any

from streamnb import model_specs
from streamnb.cli.commands import add_command, load_model
from streamnb.cli.sources import Reading, add_source_arguments, can_be_read_again, count
from streamnb.datasets.catalogue import DESCRIPTIONS
from streamnb.errors import MissingDependencyError, ModelFileError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from streamnb.cli.commands import Subparsers
    from streamnb.datasets import Message

__all__ = ["add_parser", "run"]

_EPILOG = """\
The page answers to this machine only; with --host, to whoever has the token that is printed. It
takes no message before Play is pressed. What is corrected is learned by the models in memory; with
--output the first of them is saved when the page ends (Ctrl-C).

examples:
  streamnb serve
  streamnb serve sms
  streamnb serve --stream mail.jsonl --model OnlineNB --model MNB
  streamnb serve spam.model --stream new.jsonl --output spam.model
  streamnb serve --stream 'kafka://localhost:9092/sms?follow'
"""


def add_parser(subparsers: Subparsers) -> None:
    """Add the command's options."""
    parser = add_command(
        subparsers,
        "serve",
        "show a stream, its decisions and the reasons on a page, and correct them",
        "A page that shows a stream as it comes, its decisions and why they were made.",
        _EPILOG,
    )
    parser.add_argument(
        "models_saved",
        nargs="*",
        type=Path,
        metavar="MODELFILE",
        help="what learn saved; or a named stream, as with --stream",
    )
    parser.add_argument(
        "-m",
        "--model",
        action="append",
        type=model_specs.model_spec,
        dest="models",
        metavar="MODEL",
        help="a model that begins with nothing; may be given several times, as for evaluate "
        f"(default: {model_specs.DEFAULT}, unless a model file is given)",
    )
    parser.add_argument(
        "--stream",
        action="append",
        dest="sources",
        metavar="SOURCE",
        help="a file, - for standard input, a named stream, or a topic, kafka://HOST:PORT/TOPIC, "
        "with ?follow behind it to wait for more; several are read one after another "
        "(default: the SMS collection where it is, else a synthetic stream)",
    )
    parser.add_argument("--host", default="127.0.0.1", help="address (default: 127.0.0.1)")
    parser.add_argument(
        "--port", type=int, default=8765, help="port (default: 8765; 0: any free one)"
    )
    parser.add_argument(
        "--keep",
        type=count,
        default=1000,
        metavar="N",
        help="messages that can be looked at and corrected, the last ones (default: 1000)",
    )
    parser.add_argument(
        "--output", type=Path, metavar="FILE", help="save the first model at the end"
    )
    add_source_arguments(parser)
    parser.set_defaults(parser=parser)


def run(args: argparse.Namespace) -> int:
    """Run the command and return its exit status."""
    import secrets

    try:
        import uvicorn

        from streamnb.web import Replay, Session, create_app
    except ModuleNotFoundError as error:
        raise MissingDependencyError(
            f"the page needs {error.name}: pip install 'streamnb[web]'"
        ) from error
    saved, named = _parted(args.models_saved)
    sources = [*named, *(args.sources or [])] or _demo_source(args)
    reading = Reading(args, sources, labelled=False)
    reading.check()
    models = _models(args, saved)
    args.no_progress = True
    replay = Replay(session := Session(models, _begun(reading), keep=args.keep))
    token = None if args.host in ("127.0.0.1", "localhost", "::1") else secrets.token_urlsafe(24)
    server = uvicorn.Server(
        uvicorn.Config(
            create_app(session, replay, token),
            host=args.host,
            port=args.port,
            log_level="warning",
            server_header=False,
            timeout_graceful_shutdown=2,
        )
    )
    replay.start()
    try:
        with contextlib.suppress(KeyboardInterrupt):  # which is how the page ends
            _serve(server, args, token)
    finally:
        replay.stop()
        if args.output is not None:
            next(iter(models.values())).save(args.output)
            print(f"saved: {args.output}")
    return 0


def _serve(server: Any, args: argparse.Namespace, token: str | None) -> None:
    """Run the server on a socket that is open before its address is printed."""
    import socket

    family = socket.AF_INET6 if ":" in args.host else socket.AF_INET
    # It listens before its address is told: who follows at once waits, and is not refused.
    listening = socket.create_server((args.host, args.port), family=family)
    host = f"[{args.host}]" if ":" in args.host else args.host
    address = f"http://{host}:{listening.getsockname()[1]}/"
    print(f"open {address}{f'?token={token}' if token else ''} (Ctrl-C ends it)", flush=True)
    try:
        server.run(sockets=[listening])
    finally:
        listening.close()


def _begun(reading: Reading) -> Iterator[Message]:
    """Return the messages; what cannot be read or fetched is told here, not behind the page."""
    messages = reading.messages()
    # Of what may have to be waited for, the page itself waits.
    first = all(map(can_be_read_again, reading.sources))
    return itertools.chain(list(itertools.islice(messages, int(first))), messages)


def _parted(paths: list[Path]) -> tuple[list[Path], list[str]]:
    """Tell files of models from named streams; no file of this name is in the way of a stream."""
    named = [str(path) for path in paths if str(path) in DESCRIPTIONS and not path.is_file()]
    return [path for path in paths if str(path) not in named], named


def _models(args: argparse.Namespace, saved: list[Path]) -> dict[str, Any]:
    models: dict[str, Any] = {}
    for path in saved:
        name = path.name if path.name not in models else str(path)
        try:
            models[name] = load_model(path)
        except ModelFileError as error:
            raise ModelFileError(f"{error}; messages are given as --stream {path}") from error
    specs = args.models or ([] if models else [model_specs.model_spec(model_specs.DEFAULT)])
    return {**models, **model_specs.build_all(specs)}


def _demo_source(args: argparse.Namespace) -> list[str]:
    from streamnb.datasets import demo_stream

    stream, sentence = demo_stream(args.limit, args.seed)
    print(sentence, flush=True)
    return [stream.name]
