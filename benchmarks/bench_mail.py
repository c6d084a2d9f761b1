"""The processor time of a mail of the SpamAssassin corpus: reading it, and predicting it.

`--text` (in `make bench`) measures a mail as text: the reader, Python's `email`, the crate
`mail-parser` alone, and the whole filter on standard input.

Each mail is read once, in order of size, as by a daemon, whose cache holds headers of earlier
mails. Models with word pairs predict the mails after learning 3,000, with and without a bound on
parents. Each mail is predicted twice, and the faster time counts.

    python benchmarks/bench_mail.py --mails 2000
"""

from __future__ import annotations

import argparse
import email
import email.policy
import itertools
import json
import resource
import shutil
import statistics
import struct
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from rounds import Target, one_thread, table

import streamnb
from streamnb import datasets
from streamnb.datasets import data_folder
from streamnb.datasets.lines import read_lines
from streamnb.mail.content import mail_text, mail_words

SIZES = ((0, 2_000), (2_000, 4_000), (4_000, 6_000), (6_000, 10_000), (10_000, 2**40))
AIM = (4_000, 6_000)  # bytes: mails of about 5 kB
WANTED = 1.0  # milliseconds
LEARNED, PREDICTED = 3_000, 300  # mails
SLOW = {  # milliseconds a prediction is to take at most, whatever the bound
    "HMNB": 0.5,
    "HCNB": 0.5,
    "HOVA": 0.5,
    "SEMNB": 1.0,
    "SECNB": 1.0,
    "SEOVA": 1.0,
    "HNB": 5.0,
    "PHNB": 5.0,
}
BOUNDS = (None, 32)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mails", type=int, default=2_000)
    parser.add_argument("--text", action="store_true", help="a mail as text, and the whole filter")
    options = parser.parse_args()
    print(one_thread())
    if options.text:
        as_text(options.mails)
        return
    read(options.mails)
    predict()


def spamassassin(number: int) -> list[tuple[bytes, bytes]]:
    """Return the first mails as JSON lines, and decoded from them."""
    lines = read_lines(data_folder() / "text/spamassassin.jsonl.xz")
    return [
        (line.raw, json.loads(line.text)["text"].encode())
        for line in itertools.islice(lines, number)
    ]


def as_text(number: int) -> None:
    """Print the microseconds from a mail to its text, and of the whole filter."""
    lines, mails = zip(*spamassassin(number), strict=True)

    def timed(read: Callable[[bytes], object]) -> float:
        times = []
        for _ in range(5):
            began = time.process_time()
            for raw in mails:
                read(raw)
            times.append(time.process_time() - began)
        return 1e6 * min(times) / len(mails)

    def filtered(some: tuple[bytes, ...]) -> float:
        """Return the processor time of a filter that decides on these lines and learns them."""
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        code = "from streamnb_consumers.daemon.command import run_spam; run_spam([])"
        data = b"".join(line + b"\n" for line in some)
        subprocess.run([sys.executable, "-c", code], input=data, stdout=subprocess.PIPE, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    rows = [("streamnb, mail to text", f"{(own := timed(mail_text)):.0f}")]
    rows.append(("Python's email, mail to text", f"{timed(by_python):.0f}"))
    if shutil.which("cargo"):
        manifest = Path(__file__).parents[1] / "core" / "Cargo.toml"
        command = ["cargo", "run", "--quiet", "--release", "--example", "mail_time"]
        data = b"".join(struct.pack("<I", len(raw)) + raw for raw in mails)
        run = [*command, "--manifest-path", str(manifest)]
        done = subprocess.run(run, input=data, stdout=subprocess.PIPE, check=True)
        rows.append(("crate mail-parser alone, by the clock", done.stdout.split()[0].decode()))
    whole = 1e6 * (filtered(lines) - filtered(lines[:1])) / (len(lines) - 1)
    rows.append(("streamnb-spam on standard input, with learning", f"{whole:.0f}"))
    print(table(("SpamAssassin", "microseconds a mail"), rows))
    print(Target("a mail as text", own, 100, at_most=True, unit=" microseconds").line())
    print(
        Target("a mail in the whole filter", whole, 600, at_most=True, unit=" microseconds").line()
    )


def by_python(raw: bytes) -> str:
    """Return the headers and texts of a mail, as the standard library decodes them."""
    message = email.message_from_bytes(raw, policy=email.policy.compat32)
    lines = [f"{name}: {value}" for name, value in message.items()]
    for part in message.walk():
        if part.get_content_maintype() == "text":
            payload = part.get_payload(decode=True)
            lines.append(payload.decode("latin-1"))
    return "\n".join(lines)


def read(number: int) -> None:
    """Print the time for reading this number of mails."""
    mails = [raw for _, raw in spamassassin(number)]
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


def predict() -> None:
    """Print the prediction times of models with word pairs."""
    messages = list(datasets.stream("spamassassin", limit=LEARNED + PREDICTED))
    learned, asked = messages[:LEARNED], messages[LEARNED:]
    rows = []
    for name, wanted in SLOW.items():
        for bound in BOUNDS:
            model = getattr(streamnb, name)(max_parents=bound)
            model.learn_many([text for text, _ in learned], [label for _, label in learned])
            times, right = [], 0
            for text, label in asked:
                spent = []
                for _ in range(2):
                    began = time.process_time()
                    found = model.predict_one(text)
                    spent.append(1000 * (time.process_time() - began))
                times.append(min(spent))
                right += found == label
            mean, accuracy = statistics.mean(times), right / len(asked)
            rows.append((name, str(bound), f"{mean:.2f}", f"{max(times):.1f}", f"{accuracy:.3f}"))
            text = f"{name}, max_parents={bound}"
            print(Target(text, mean, wanted, at_most=True, unit=" ms").line(), flush=True)
    print(table(("model", "max_parents", "mean ms", "longest ms", "right"), rows))


if __name__ == "__main__":
    main()
