"""What saved models weigh: their bytes, their file, and the same bytes at higher levels of zstd.

Each model learns one pass over a collection. Seconds are the processor's.

    python benchmarks/persistence/bench_files.py --levels 9 19 sms spamassassin
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from typing import Any

import streamnb
from streamnb.datasets import stream
from streamnb.model.compression import compressed, decompressed

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

MODELS = {"MNB": streamnb.MNB, "OnlineNB": streamnb.OnlineNB}


def timed(action: Callable[[], Any]) -> tuple[Any, float]:
    """Return what an action gives, and the seconds that it took."""
    start = time.process_time()
    return action(), time.process_time() - start


def row(collection: str, name: str, levels: list[int]) -> str:
    """Return the line of a model of a collection."""
    model = MODELS[name]()
    for message in stream(collection).messages():
        model.learn_one(message.text, message.label)
    data, writing = timed(model.to_bytes)
    file, packing = timed(lambda: compressed(data))
    again, unpacking = timed(lambda: decompressed(file))
    loaded, reading = timed(lambda: type(model).from_bytes(again))
    if loaded.to_bytes() != data:
        raise SystemExit(f"{name} of {collection} is not the same when it is read again")
    higher = [f"{len(zstd.compress(data, level)):,}" for level in levels]
    seconds = [f"{each:.2f}" for each in (writing, packing, reading, unpacking)]
    cells = [f"{collection}, {name}", f"{len(data):,}", f"{len(file):,}", *higher, *seconds]
    return "| " + " | ".join(cells) + " |"


def main() -> None:
    """Print a row for each model of each collection."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("collections", nargs="*", default=["sms", "spamassassin"])
    parser.add_argument("--levels", type=int, nargs="*", default=[9, 19], help="of zstd, besides")
    options = parser.parse_args()
    higher = [f"zstd -{level}" for level in options.levels]
    times = ["`to_bytes`, s", "compress, s", "`from_bytes`, s", "decompress, s"]
    heads = ["model", "bytes", "file", *higher, *times]
    print("| " + " | ".join(heads) + " |")
    print("| --- " * len(heads) + "|")
    for collection in options.collections:
        for name in MODELS:
            print(row(collection, name, options.levels), flush=True)


if __name__ == "__main__":
    main()
