"""The command `streamnb`.

Each command is a module with `DESCRIPTION`, `EPILOG`, `add_arguments(parser)` and
`run(args) -> int`. Exit status: 0 success; 1 the run failed, or no message could be read; 2 wrong
usage; 3 more than 5 % of the input could not be read; 130 interrupted; 141 the reader closed the
output.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import io
import os
import sys
import textwrap
from collections.abc import Sequence

from streamnb import __version__
from streamnb.errors import InputError, StreamNBError, printable

__all__ = ["build_parser", "main"]

COMMANDS = ("evaluate", "learn", "classify", "read", "serve", "fetch")

_EPILOG = """\
exit status:
  0    success
  1    the run failed, or no message could be read
  2    wrong usage
  3    more than 5 % of the input could not be read; the rest was used
  130  interrupted (Ctrl-C)
  141  the reader closed the output
"""


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of the command with all its sub-commands."""
    parser = argparse.ArgumentParser(
        prog="streamnb",
        description="Naive Bayes text classifiers for message streams.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"streamnb {__version__}")
    subparsers = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for name in COMMANDS:
        module = importlib.import_module(f"streamnb.cli.{name}")
        command = subparsers.add_parser(
            name,
            help=module.DESCRIPTION,
            description=textwrap.fill(module.DESCRIPTION, 80),
            epilog=module.EPILOG,  # which keeps its line breaks
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        module.add_arguments(command)
        command.set_defaults(run=module.run, parser=command)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status.

    Parameters
    ----------
    argv
        Arguments without the program's name. The default is the command line of the process.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # A label that the terminal cannot show must not end the run.
            stream.reconfigure(errors="backslashreplace")
    args = build_parser().parse_args(argv)
    try:
        status = int(args.run(args))
        sys.stdout.flush()
    except BrokenPipeError:
        _discard_output()
        return 141
    except KeyboardInterrupt:
        print("streamnb: interrupted", file=sys.stderr)
        return 130
    except (StreamNBError, OSError) as error:
        with contextlib.suppress(BrokenPipeError):
            sys.stdout.flush()
        print(f"streamnb: error: {printable(error)}", file=sys.stderr)
        return 2 if isinstance(error, InputError) else 1
    return status


def _discard_output() -> None:
    """Keep Python from reporting the broken pipe a second time when it flushes at exit."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
