"""What the commands share: how a command is announced, and the options of long runs."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    Subparsers: TypeAlias = argparse._SubParsersAction[argparse.ArgumentParser]

__all__ = ["Subparsers", "add_command", "add_run_arguments"]


def add_command(
    subparsers: Subparsers, name: str, summary: str, description: str, epilog: str
) -> argparse.ArgumentParser:
    """Return the parser of a new command, its description and epilog printed as they are.

    Parameters
    ----------
    subparsers
        What `argparse.ArgumentParser.add_subparsers` returned.
    name
        The command.
    summary
        One line for the list of commands.
    description, epilog
        What its help says before and after its options.
    """
    return subparsers.add_parser(
        name,
        help=summary,
        description=description,
        epilog=epilog,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )


def add_run_arguments(parser: argparse.ArgumentParser, file: str, jobs_note: str = "") -> None:
    """Add the options of commands that keep their finished runs in a file.

    Parameters
    ----------
    parser
        The parser of the command.
    file
        The file's name in the user's cache folder.
    jobs_note
        What to know before `--jobs` is more than 1.
    """
    parser.add_argument(
        "--jobs",
        type=int,
        default=1,
        metavar="N",
        help=f"processes to use{jobs_note} (default: 1)",
    )
    parser.add_argument(
        "--results",
        type=Path,
        metavar="FILE",
        help=f"results file (default: streamnb/reproduce/{file} in the user's cache folder)",
    )
    parser.add_argument(
        "--fresh", action="store_true", help="run everything again, whatever the results file has"
    )
