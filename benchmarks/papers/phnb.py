"""Table II of the paper that introduces PHNB."""

from __future__ import annotations

from benchmarks.papers.attribute_tables import NominalTable, TableModel
from benchmarks.papers.experiment import Experiment, ModelRecipe

# Fill the packages once, after a fold is learned, and keep every row.
_SETTINGS = {"columns": True, "refresh_every": 10**9, "index_size": 10**6, "max_pairs": 10**7}

PHNB_PAPER = Experiment(
    name="phnb",
    paper='Y. Ji, S. Yu, Y. Zhang, "A novel Naive Bayes model: Packaged Hidden Naive Bayes"',
    summary="packaged hidden parents, on nominal columns: 10 runs of 10-fold cross-validation",
    tables=("phnb-table2",),
    collections=(
        NominalTable("nursery", "nursery"),
        NominalTable("sick", "sick", dropped=("TBG", "TBG measured")),
        *(
            NominalTable(name, name)
            for name in ("kr_vs_kp", "mfeat_zernike", "optdigits", "mfeat_fourier")
        ),
    ),
    models=(
        ModelRecipe("PHNB", "PHNB", _SETTINGS, TableModel),
        ModelRecipe("HNB", "HNB", _SETTINGS, TableModel),
        ModelRecipe("NB", "PHNB", {"bag_threshold": 1e9, **_SETTINGS}, TableModel),
    ),
    notes=(
        "missing values and numbers are prepared over the whole table, as in the paper",
        "unlike in the pseudo-code, an attribute with a package is not also in the package NB",
        "PHNB optimal, with one threshold for each table, is published only",
    ),
)
