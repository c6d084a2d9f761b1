"""The parser of a command, which all commands share."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    Subparsers: TypeAlias = argparse._SubParsersAction[argparse.ArgumentParser]

__all__ = ["Subparsers", "add_command"]


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
