"""The cost of every model as its stream grows (`make growth`): a table and a plot for the docs.

Learning, predicting, refreshing and memory are measured after 1,000 to 100,000 messages of each
stream. The last measurement is the maximum delay of a prediction by a refresh in another thread.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import platform
import sys
from collections.abc import Sequence
from pathlib import Path

# Set before numpy is imported, because its thread pools read these settings then.
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"

import growth  # noqa: E402
from growth import Row  # noqa: E402
from rounds import Target, table  # noqa: E402

from streamnb.model_specs import build, model_spec  # noqa: E402

MARKS = ("<!-- make growth -->", "<!-- end -->")
PAGE, PLOT = "growth.md", "growth.svg"
WANTED_RATIO = 10

# The colours of Okabe and Ito, which people with colour-blindness can distinguish.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
DASHES = ("-", "--", ":", "-.")
PANELS = {
    "learn_us": "learn_one, us",
    "predict_us": "predict_one, us",
    "refresh_ms": "refresh, ms",
    "memory_mb": "memory, MB",
}


def say(text: str) -> None:
    """Print progress on one line, if standard error is a terminal."""
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)


def figure(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}"


def costs_table(rows: Sequence[Row]) -> str:
    return table(
        (
            *("", "messages", "words", "learn us", "predict us", "mean us", "longest ms"),
            *("refresh ms", "MB"),
        ),
        (
            (
                row.model,
                f"{row.messages:,}",
                f"{row.words:,}",
                *map(figure, (row.learn_us, row.predict_us, row.mean_us, row.pause_ms)),
                *map(figure, (row.refresh_ms, row.memory_mb)),
            )
            for row in rows
        ),
    )


def blocks_table(rows: Sequence[Row]) -> str:
    """Return the table of prediction delays, for models that refresh statistics."""
    return table(
        ("", "median", "longest at rest", "longest beside a refresh", "held up", "x median"),
        (
            (
                row.model,
                *map(figure, (row.predict_us, row.rest_us, row.block_us)),
                *map(figure, (row.held_us, row.held_ratio)),
            )
            for row in rows
            if row.block_us is not None
        ),
    )


def growth_table(rows: Sequence[Row]) -> str:
    """Return the ratios of the costs at the last and the first length; 1 means no growth."""
    by_model: dict[str, list[Row]] = {}
    for row in rows:
        by_model.setdefault(row.model, []).append(row)
    lines = []
    for model, own in by_model.items():
        first, last = own[0], own[-1]
        ratios = (getattr(last, name) / getattr(first, name) for name in ("learn_us", "predict_us"))
        lines.append((model, *(f"{ratio:.1f}" for ratio in ratios)))
    lengths = f"{rows[-1].messages:,} messages beside {rows[0].messages:,}"
    return table((lengths, "learn x", "predict x"), lines)


def drawn(models: Sequence[str]) -> list[str]:
    """Return the models to draw: one per family, and the models with parameters."""
    chosen: dict[str, str] = {}
    for model in models:
        family = model if "(" in model else type(build(model_spec(model))).__module__
        if family not in chosen or ("MNB" in model and "MNB" not in chosen[family]):
            chosen[family] = model
    return list(chosen.values())


def plot(rows: Sequence[Row], path: Path) -> None:
    """Plot a row of panels for each stream, with one line per model."""
    import matplotlib as mpl

    mpl.use("Agg")
    # Keep text as text, and make the file reproducible.
    mpl.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "growth", "font.size": 9})
    from matplotlib import pyplot as plt

    streams = list(dict.fromkeys(row.stream for row in rows))
    models = drawn(list(dict.fromkeys(row.model for row in rows)))
    shape = {"figsize": (13, 3.4 * len(streams) + 0.3 * (len(models) // 6 + 1))}
    figure, axes = plt.subplots(
        len(streams), len(PANELS), squeeze=False, layout="constrained", **shape
    )
    for stream, line in zip(streams, axes, strict=True):
        for (name, title), panel in zip(PANELS.items(), line, strict=True):
            for number, model in enumerate(models):
                own = [row for row in rows if (row.stream, row.model) == (stream, model)]
                points = [(row.messages, getattr(row, name)) for row in own]
                panel.plot(
                    *zip(*((x, y) for x, y in points if y is not None), strict=True)
                    if any(y is not None for _, y in points)
                    else ([], []),
                    color=COLOURS[number % len(COLOURS)],
                    linestyle=DASHES[number // len(COLOURS) % len(DASHES)],
                    label=model,
                )
            panel.set(xscale="log", yscale="log", title=f"{title}\n{stream}", xlabel="messages")
            panel.grid(alpha=0.3)
    handles, names = axes[0][0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=6, frameon=False)
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)


def write_page(folder: Path, text: str) -> None:
    """Write the tables between the markers of the page, or into a new page."""
    path = folder / PAGE
    body = f"{MARKS[0]}\n```text\n{text}\n```\n\n![Costs as the stream grows]({PLOT})\n{MARKS[1]}"
    if not path.exists():
        path.write_text(f"# Cost as the stream grows\n\n{body}\n", encoding="utf-8")
        return
    head, mark, rest = path.read_text(encoding="utf-8").partition(MARKS[0])
    _, end, tail = rest.partition(MARKS[1])
    if not mark or not end:
        raise SystemExit(f"{path} has no line {MARKS[0]} with {MARKS[1]} after it")
    path.write_text(f"{head}{body}{tail}", encoding="utf-8")


def _powers_of_ten(rows: Sequence[Row]) -> list[Row]:
    """Return the rows to print: all rows, or with many lengths only the powers of ten."""
    few = len({row.messages for row in rows}) <= 4
    return [row for row in rows if few or str(row.messages).strip("0") == "1"]


def report(rows: Sequence[Row]) -> str:
    """Return the text to print and to write between the markers."""
    parts = [f"{platform.machine()}, Python {platform.python_version()}, {os.cpu_count()} CPUs"]
    for stream in dict.fromkeys(row.stream for row in rows):
        own = [row for row in rows if row.stream == stream]
        for title, body in (
            ("cost of one operation", costs_table(_powers_of_ten(own))),
            ("growth", growth_table(own)),
            ("the longest predict_one, us", blocks_table(own)),
        ):
            heading = f"{stream}: {title}"
            parts.append(f"\n{heading}\n{'=' * len(heading)}\n{body}")
    ratios = {row: row.held_ratio for row in rows if row.held_ratio is not None}
    if ratios:
        worst = max(ratios, key=lambda row: ratios[row])
        text = f"a refresh holds predict_one up, in medians of predict_one ({worst.model})"
        target = Target(text, ratios[worst], WANTED_RATIO, at_most=True)
        parts.append(f"\n{target.line()}")
    return "\n".join(parts)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--quick", action="store_true", help="to 10,000 messages, into out/")
    parser.add_argument(
        "--lengths", metavar="N,N", help="messages at which to measure (default: 1,000 to 100,000)"
    )
    parser.add_argument(
        "--model",
        action="append",
        metavar="SPEC",
        help='a model with parameters, as in "HMNB(index_size=5000)" (default: every model)',
    )
    parser.add_argument("--stream", help="the only stream, by name (default: each there is)")
    parser.add_argument(
        "--into",
        type=Path,
        metavar="FOLDER",
        help="where page and plot go (default: docs/internals)",
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every figure here too")
    options = parser.parse_args(arguments)
    lengths = growth.QUICK_LENGTHS if options.quick else growth.LENGTHS
    if options.lengths:
        lengths = tuple(int(text.replace("_", "")) for text in options.lengths.split(","))
    folder = options.into or Path("out" if options.quick else "docs/internals")
    rows: list[Row] = []
    for stream, pairs in growth.streams().items():
        if options.stream not in (None, stream):
            continue
        is_long = stream == growth.POSTS
        measured = tuple(n for n in growth.POST_LENGTHS if n <= lengths[-1]) if is_long else lengths
        for model in options.model or (growth.POST_MODELS if is_long else growth.REGISTRY):
            rows += growth.grow(stream, pairs(), model, measured, say)
            gc.collect()
    say("")
    text = report(rows)
    print(text, flush=True)
    folder.mkdir(parents=True, exist_ok=True)
    write_page(folder, text)
    plot(rows, folder / PLOT)
    if options.json:
        options.json.parent.mkdir(parents=True, exist_ok=True)
        options.json.write_text(
            json.dumps([row.as_dict() for row in rows], indent=2) + "\n", encoding="utf-8"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
