"""The values of parameters that choose among names, for type checkers.

The checks at run time have the same names; a test compares them.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

Prior: TypeAlias = Literal["empirical", "laplace", "uniform", "m-estimate"]
Oov: TypeAlias = Literal["smooth", "skip"]
TermWeighting: TypeAlias = Literal["counts", "presence", "log", "unit", "presence-unit", "log-unit"]
Threshold: TypeAlias = float | Literal["auto"]
OnlineLoss: TypeAlias = Literal["logistic", "deviance", "exponential", "squared"]
Correction: TypeAlias = Literal["additive", "multiplicative"]
Output: TypeAlias = Literal["sets", "dicts"]
Heads: TypeAlias = Literal["one", "two", "three"]
FittedLoss: TypeAlias = Literal["exponential", "deviance", "likelihood", "generalised", "squared"]
Multiclass: TypeAlias = Literal["pairs", "direct"]
Grow: TypeAlias = Literal["periodic", "hoeffding"]
Factor: TypeAlias = float | Literal["auto", "optimal"]
PackageThreshold: TypeAlias = float | Literal["average", "auto"]
