"""Other filters with the interface of this package's classifiers.

Each filter keeps its defaults, except for the settings named below.
"""

from __future__ import annotations

import math
import re
import shutil
import subprocess
import tempfile
from typing import Any

import numpy as np
import numpy.typing as npt

from streamnb.errors import InputError, MissingDependencyError

# In Vowpal Wabbit's text format these characters separate fields or lines.
_VW_SEPARATORS = str.maketrans(dict.fromkeys(":|\n\r", " "))
_HEADER = re.compile(r"(?:From |[!-9;-~]+:)")


class VowpalWabbit:
    """Vowpal Wabbit: online logistic regression on single words, with adaptive rates.

    More than two labels use `--oaa` (one against all), which needs their number in advance.

    Parameters
    ----------
    classes
        Number of labels: 2 or more.
    arguments
        More arguments of Vowpal Wabbit, such as `"--ngram 2"`.

    Raises
    ------
    MissingDependencyError
        vowpalwabbit is not installed.
    """

    def __init__(self, classes: int = 2, arguments: str = "") -> None:
        try:
            import vowpalwabbit
        except ImportError as error:
            raise MissingDependencyError(
                "VowpalWabbit needs the package vowpalwabbit: pip install vowpalwabbit"
            ) from error
        if isinstance(classes, bool) or not isinstance(classes, int) or classes < 2:
            raise InputError(f"classes is {classes!r}; it must be an integer of at least 2")
        kind = "--link logistic" if classes == 2 else f"--oaa {classes} --probabilities"
        self._vw: Any = vowpalwabbit.Workspace(
            f"--loss_function logistic {kind} --quiet {arguments}"
        )
        self._classes = classes
        self._labels: list[Any] = []

    def _example(self, x: str) -> str:
        return f"| {x.translate(_VW_SEPARATORS)}"

    def predict_proba_one(self, x: str) -> dict[Any, float]:
        """Return the probability of each learned label."""
        if not self._labels:
            return {}
        answer = self._vw.predict(self._example(x))
        if self._classes > 2:
            return dict(zip(self._labels, answer, strict=False))
        shares = dict(zip(self._labels, (1.0 - answer, answer), strict=False))
        return shares if len(shares) == 2 else dict.fromkeys(shares, 1.0)

    def predict_one(self, x: str) -> Any:
        """Return the most probable label; None before the first message."""
        shares = self.predict_proba_one(x)
        return max(shares, key=shares.__getitem__) if shares else None

    def learn_one(self, x: str, y: Any) -> None:
        """Learn a labelled message."""
        if y not in self._labels:
            if len(self._labels) == self._classes:
                raise InputError(f"{y!r} is one label more than classes={self._classes}")
            self._labels.append(y)
        place = self._labels.index(y)
        given = place + 1 if self._classes > 2 else 2 * place - 1
        self._vw.learn(f"{given} {self._example(x)}")


class CharacterLogistic:
    """Online logistic regression on binary character 4-grams of the first 3,000 bytes.

    These are the features of filters of the TREC spam tracks; a message has unit length. More than
    two labels use one regression for each label, against all others.

    Parameters
    ----------
    rate
        Learning rate, above 0. 10 ranks best of 1, 3 and 10 on the SMS collection.
    first
        Bytes of a message to read, at least 4.
    bits
        Bits of the hash of 4-grams, 8 to 28.
    """

    def __init__(self, rate: float = 10.0, first: int = 3000, bits: int = 20) -> None:
        if not rate > 0 or first < 4 or not 8 <= bits <= 28:
            raise InputError(
                f"{rate=}, {first=}, {bits=}: rate must be above 0, first at least 4, bits 8 to 28"
            )
        self.rate, self.first, self.bits = rate, first, bits
        self._weights: dict[Any, npt.NDArray[np.float32]] = {}

    def _grams(self, x: str) -> npt.NDArray[np.uint32]:
        read = x.encode(errors="replace")[: self.first].ljust(4)
        letters = np.frombuffer(read, dtype=np.uint8).astype(np.uint32)
        grams = letters[:-3] | letters[1:-2] << 8 | letters[2:-1] << 16 | letters[3:] << 24
        hashed = grams * np.uint32(2_654_435_761) >> np.uint32(32 - self.bits)
        return np.unique(hashed)

    def _odds(self, grams: npt.NDArray[np.uint32]) -> dict[Any, float]:
        length = math.sqrt(grams.size)
        odds = {label: float(table[grams].sum()) / length for label, table in self._weights.items()}
        if len(odds) == 2:  # both tables are equal except for the sign
            first, second = odds
            odds[first] = -odds[second]
        return odds

    def predict_proba_one(self, x: str) -> dict[Any, float]:
        """Return the probability of each learned label."""
        odds = self._odds(self._grams(x))
        shares = {label: _sigmoid(value) for label, value in odds.items()}
        total = math.fsum(shares.values()) or 1.0
        return {label: share / total for label, share in shares.items()}

    def joint_log_likelihood_one(self, x: str) -> dict[Any, float]:
        """Return a score of each label: half its log odds, if there are two labels."""
        return {label: value / 2 for label, value in self._odds(self._grams(x)).items()}

    def predict_one(self, x: str) -> Any:
        """Return the most probable label; None before the first message."""
        odds = self._odds(self._grams(x))
        return max(odds, key=odds.__getitem__) if odds else None

    def learn_one(self, x: str, y: Any) -> None:
        """Learn a labelled message."""
        if y not in self._weights:
            self._weights[y] = np.zeros(1 << self.bits, dtype=np.float32)
        grams = self._grams(x)
        step = self.rate / math.sqrt(grams.size)
        for label, value in self._odds(grams).items():
            self._weights[label][grams] += step * ((label == y) - _sigmoid(value))


def _sigmoid(value: float) -> float:
    return 1.0 / (1.0 + math.exp(-value)) if value > -700 else 0.0


class Bogofilter:
    """The program bogofilter, called once to classify a message and once to learn it.

    It takes two labels, of which `spam` is one. An unsure message counts as the other label.

    Raises
    ------
    MissingDependencyError
        The program is not installed.
    """

    def __init__(self, spam: str = "spam") -> None:
        if shutil.which("bogofilter") is None:
            raise MissingDependencyError(
                "Bogofilter needs the program bogofilter: apt-get install bogofilter"
            )
        self._folder = tempfile.TemporaryDirectory(prefix="streamnb-bogofilter-")
        self._spam = spam
        self._labels: set[Any] = set()
        self._last: tuple[str, str, float] = ("", "", 0.0)

    def _run(self, x: str, *arguments: str) -> str:
        # An empty first line marks a text without mail headers.
        mail = x if _HEADER.match(x) else "\n" + x
        done = subprocess.run(
            ["bogofilter", "-d", self._folder.name, *arguments],
            input=mail.encode(errors="replace"),
            capture_output=True,
            check=False,
            timeout=60,
        )
        if done.returncode > 2:
            raise InputError(f"bogofilter failed: {done.stderr.decode(errors='replace')[:200]}")
        return done.stdout.decode()

    def _answer(self, x: str) -> tuple[str, float]:
        if self._last[0] != x:
            kind, share, *_ = self._run(x, "-T").split()
            self._last = x, kind, float(share)
        return self._last[1], self._last[2]

    def predict_proba_one(self, x: str) -> dict[Any, float]:
        """Return the probability of each label, as bogofilter prints it."""
        if len(self._labels) < 2:
            return dict.fromkeys(self._labels, 1.0)
        _, share = self._answer(x)
        return {label: share if label == self._spam else 1 - share for label in self._labels}

    def predict_one(self, x: str) -> Any:
        """Return the label; None before the first message."""
        if len(self._labels) < 2:
            return next(iter(self._labels), None)
        is_spam = self._answer(x)[0] == "S"
        return next(label for label in self._labels if (label == self._spam) == is_spam)

    def learn_one(self, x: str, y: Any) -> None:
        """Learn a labelled message."""
        self._labels.add(y)
        if len(self._labels) > 2 or (len(self._labels) == 2 and self._spam not in self._labels):
            raise InputError(f"{y!r}: bogofilter takes {self._spam!r} and one other label")
        self._run(x, "-s" if y == self._spam else "-n")
        self._last = ("", "", 0.0)
