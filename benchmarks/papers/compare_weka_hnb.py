"""Compare HNB with WEKA's on nominal tables, row by row, on the same folds.

WEKA's HNB is in the Debian package `weka` (3.6). A Java development kit is needed too:

    python -m benchmarks.papers.compare_weka_hnb --weka /usr/share/java/weka.jar nursery kr_vs_kp

Without root, `apt-get download weka` and `dpkg -x` extract the jar. The tables are read from the
data folder (STREAMNB_DATA). The comparison fails if a prediction differs although its two best
classes are more than 10⁻⁹ apart.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.papers.readers import read_tabular
from benchmarks.papers.splits import weka_folds
from streamnb import HNB

TIE = 1e-9


def write_arff(path: Path, rows: list[tuple[dict[str, Any], str]], domains: dict[str, Any]) -> None:
    """Write a table in WEKA's format, with the row's number as the first attribute."""
    classes = sorted({label for _, label in rows})
    with path.open("w", encoding="utf-8") as file:
        file.write("@relation table\n@attribute row numeric\n")
        for number, domain in enumerate(domains.values()):
            file.write(
                f"@attribute a{number} {{{','.join(f'v{v}' for v in range(len(domain)))}}}\n"
            )
        file.write(f"@attribute class {{{','.join(classes)}}}\n@data\n")
        for number, (row, label) in enumerate(rows):
            values = ",".join(f"v{domain.index(row[name])}" for name, domain in domains.items())
            file.write(f"{number},{values},{label}\n")


def weka(jar: str, arff: Path, folds: int, seed: int) -> dict[int, tuple[str, list[float]]]:
    """Return WEKA's class and probabilities of each row."""
    source = Path(__file__).with_name("WekaHNB.java")
    subprocess.run(["javac", "-cp", jar, "-d", arff.parent, source], check=True)
    output = subprocess.run(
        ["java", "-cp", f"{jar}:{arff.parent}", "WekaHNB", arff, str(folds), str(seed)],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    ).stdout
    found = {}
    for line in output.splitlines():
        row, label, *shares = line.split()
        found[int(row)] = label, [float(share) for share in shares]
    return found


def compare(name: str, jar: str, folds: int, seed: int) -> bool:
    """Print how the two compare on one table; return whether they agree."""
    rows = [
        ({key: str(value) for key, value in row.items()}, label)
        for row, label in read_tabular(name)
    ]
    domains = {key: sorted({row[key] for row, _ in rows}) for key in rows[0][0]}
    with tempfile.TemporaryDirectory() as folder:
        arff = Path(folder) / "table.arff"
        write_arff(arff, rows, domains)
        theirs = weka(jar, arff, folds, seed)
    values = {key: len(domain) for key, domain in domains.items()}
    labels = [label for _, label in rows]
    right, their_right, same, ties, largest = 0, 0, 0, 0, 0.0
    for learned, tested in weka_folds(labels, folds, seed):
        model = HNB(columns=True, values=values, refresh_every=10**9, index_size=10**7)
        model.learn_many([rows[i][0] for i in learned], [labels[i] for i in learned])
        model.refresh()
        for i, shares in zip(
            tested, model.predict_proba_many([rows[i][0] for i in tested]), strict=True
        ):
            expected, their_shares = theirs[i]
            got = max(sorted(shares), key=shares.__getitem__)
            right += got == labels[i]
            their_right += expected == labels[i]
            same += got == expected
            best = sorted(their_shares)[-2:]
            ties += got != expected and best[1] - best[0] < TIE
            for label, share in zip(sorted(set(labels)), their_shares, strict=True):
                largest = max(largest, abs(share - shares.get(label, 0.0)))
    print(
        f"{name}: {len(rows)} rows, {folds} folds: HNB {100 * right / len(rows):.4f} %, WEKA "
        f"{100 * their_right / len(rows):.4f} %; {len(rows) - same} predictions differ ({ties} of "
        f"equal classes); largest difference of a probability {largest:.1e}",
        flush=True,
    )
    return same + ties == len(rows)


def main() -> int:
    """Run the comparison and return its exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tables", nargs="*", default=["nursery", "kr_vs_kp"])
    parser.add_argument("--weka", default="/usr/share/java/weka.jar", metavar="JAR")
    parser.add_argument("--folds", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    agree = [compare(name, args.weka, args.folds, args.seed) for name in args.tables]
    return 0 if all(agree) else 1


if __name__ == "__main__":
    sys.exit(main())
