"""`streamnb fetch`: a public collection into the cache folder."""

from __future__ import annotations

import argparse

from streamnb.datasets import COLLECTIONS, data_file, fetch
from streamnb.errors import InputError

DESCRIPTION = (
    "Download public collections, check them against their published checksums, and keep each as "
    "one file in the cache folder (STREAMNB_CACHE). Every command accepts them as named streams."
)
EPILOG = """\
examples:
  streamnb fetch --list
  streamnb fetch sms
  streamnb evaluate sms --model OnlineNB --model MNB
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"one of {', '.join(COLLECTIONS)}")
    parser.add_argument(
        "--list", action="store_true", help="list the collections with their licences, and exit"
    )
    parser.add_argument("--again", action="store_true", help="download existing collections again")


def run(args: argparse.Namespace) -> int:
    """Run the command and return its exit status.

    Raises
    ------
    InputError
        If a name is unknown.
    DataError
        If a download fails, has a wrong checksum, or cannot be written.
    """
    if args.list == bool(args.names):
        args.parser.error("give either names or --list")
    if args.list:
        for name, collection in COLLECTIONS.items():
            print(f"{name:<14} {collection.title}\n{'':14} licence: {collection.licence}")
            print(f"{'':14} {collection.home}")
        return 0
    if unknown := [name for name in args.names if name not in COLLECTIONS]:
        raise InputError(f"no collection {unknown[0]} can be fetched: {', '.join(COLLECTIONS)} can")
    for name in args.names:
        fetch(name, again=args.again)
        collection = COLLECTIONS[name]
        print(f"{name}: {collection.title}")
        print(f"  licence: {collection.licence} ({collection.home})")
        print(f"  in {data_file('text', collection.file)}")
    return 0
