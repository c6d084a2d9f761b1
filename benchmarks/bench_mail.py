"""The processor time of reading a mail, over the first mails of the SpamAssassin corpus, by size.

Each mail is read once, as a daemon reads it: what it remembers are headers of the mails before.

    python benchmarks/bench_mail.py --mails 2000
"""

from __future__ import annotations

import argparse
import itertools
import json
import statistics
import time

from rounds import Target, one_thread, table

from streamnb.datasets import data_folder
from streamnb.datasets.lines import read_lines
from streamnb.mail.words import mail_words

SIZES = ((0, 2_000), (2_000, 4_000), (4_000, 6_000), (6_000, 10_000), (10_000, 2**40))
AIM = (4_000, 6_000)  # bytes: mails of about 5 kB
WANTED = 1.0  # milliseconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mails", type=int, default=2_000)
    options = parser.parse_args()
    print(one_thread())
    lines = read_lines(data_folder() / "text/spamassassin.jsonl.xz")
    mails = [
        json.loads(line.text)["text"].encode() for line in itertools.islice(lines, options.mails)
    ]
    times: list[tuple[int, float]] = []  # bytes, milliseconds
    for raw in mails:
        began = time.process_time()
        mail_words(raw)
        times.append((len(raw), 1000 * (time.process_time() - began)))
    rows = []
    for low, high in (*SIZES, (0, 2**40)):
        taken = [spent for size, spent in times if low <= size < high]
        if not taken:
            continue
        name = f"{low:,} to {high:,} bytes" if high < 2**40 else f"{low:,} bytes and more"
        mean, median = statistics.mean(taken), statistics.median(taken)
        rows.append((name, f"{len(taken):,}", f"{mean:.2f}", f"{median:.2f}"))
        if (low, high) == AIM:
            target = Target("a mail of 5 kB", mean, WANTED, at_most=True, unit=" ms")
    print(table(("", "mails", "mean ms", "median ms"), rows))
    print(target.line())


if __name__ == "__main__":
    main()
