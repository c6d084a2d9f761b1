"""Table II of the paper that introduces PHNB."""

from __future__ import annotations

from benchmarks.papers.attribute_tables import NominalTable, TableModel
from benchmarks.papers.competitors import TABLE_COMPETITORS
from benchmarks.papers.experiment import Experiment, ModelRecipe, read_table

# Fill the packages once, after a fold is learned, and keep every row.
_SETTINGS = {"columns": True, "refresh_every": 10**9, "index_size": 10**6}
# The mean information on sick is 0.0139 bits: the printed 0.138 is read as 0.0138.
_THRESHOLDS = {**read_table("phnb-thresholds").rows, "sick": [0.0138]}

PHNB_PAPER = Experiment(
    name="phnb",
    paper='Y. Ji, S. Yu, Y. Zhang, "A novel Naive Bayes model: Packaged Hidden Naive Bayes"',
    summary="packaged hidden parents, on nominal columns: 10 runs of 10-fold cross-validation",
    tables=("phnb-table2", "phnb-times"),
    collections=tuple(
        # With this choice, the numbers of attributes are those of Table I.
        NominalTable(name, name, without_constants=name in ("sick", "arrhythmia"))
        for name in _THRESHOLDS
    ),
    models=(
        ModelRecipe("PHNB", "PHNB", _SETTINGS, TableModel),
        ModelRecipe("HNB", "HNB", _SETTINGS, TableModel),
        ModelRecipe(
            "PHNB optimal",
            "PHNB",
            _SETTINGS,
            TableModel,
            {name: {"bag_threshold": bits} for name, (bits,) in _THRESHOLDS.items()},
        ),
        ModelRecipe("NB", "PHNB", {"bag_threshold": 1e9, **_SETTINGS}, TableModel),
        *TABLE_COMPETITORS,
    ),
    notes=(
        (
            "PHNB (average): n of Equation 11 counts the class, as Table I does. With the "
            "attributes alone the threshold is (n + 1) / (n - 1) times as large"
        ),
        (
            "PHNB optimal: the printed threshold of each table, in bits. On sick, 0.138 is read as "
            "0.0138: the average is 0.0139, and 0.138 gives 97.30. On mfeat_fourier, thresholds "
            "that print as 0.25 give 79.90 (0.248) to 80.35 (0.252); 0.25 itself differs from the "
            "paper by one row of 2,000"
        ),
        "nursery: the paper seems to have exchanged HNB and PHNB (94.56 and 94.28)",
        (
            "several published figures are equal to one run with seed 1, although the paper "
            "reports ten runs"
        ),
        (
            "missing values and numbers are prepared over the whole table; constant attributes "
            "of sick and arrhythmia are left out, which gives the numbers of attributes of Table I"
        ),
        "unlike in the pseudo-code, an attribute with a package is not also in the package NB",
        (
            "test time: processor seconds of all ten folds on our machine; the paper does not say "
            "which rows it covers"
        ),
    ),
)
