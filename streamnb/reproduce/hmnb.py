"""Tables 2 to 4 of the paper that introduces HMNB, HCNB and HOVA."""

from __future__ import annotations

from typing import Any

from streamnb.reproduce.experiment import CollectionRecipe, Experiment, ModelRecipe, register

__all__ = ["HMNB_PAPER"]

# Gain ratios are computed once, after a fold is learned.
_SETTINGS: dict[str, Any] = {"alpha": 1.0, "refresh_every": 10**9}
# No document is forgotten.
_HIDDEN_SETTINGS = {**_SETTINGS, "max_documents": 10**6}
_PRIORS = {
    "MNB": "laplace",
    "CNB": "laplace",
    "OVA": "laplace",
    "HMNB": "laplace",
    # Equation 15 has the prior of Equation 5, but only without any do the published figures come
    # out to the last digit.
    "HCNB": "uniform",
    "HOVA": "laplace",
}

HMNB_PAPER = register(
    Experiment(
        name="hmnb",
        paper=(
            'S. Gan, S. Shao, L. Chen, L. Yu, L. Jiang, "Adapting Hidden Naive Bayes for Text '
            'Classification", Mathematics 9(19), 2378, 2021'
        ),
        summary="hidden parents for MNB, CNB and OVA: 10 runs of 10-fold cross-validation",
        tables=("hmnb-table2", "hmnb-table3", "hmnb-table4"),
        collections=(
            CollectionRecipe("fbis", "fbis"),
            CollectionRecipe(
                "la1s",
                "la1s",
                min_documents=3,
                note=(
                    "la1s: words in at least 3 documents, which are the 13,195 of WEKA's copy "
                    "(Table 1 says 31,472, but the figures are those of 13,195)"
                ),
            ),
            *(CollectionRecipe(name, name) for name in ("oh0", "oh15", "oh5", "re0", "re1")),
        ),
        models=tuple(
            ModelRecipe(
                name,
                f"streamnb:{name}",
                {**(_HIDDEN_SETTINGS if name.startswith("H") else _SETTINGS), "prior": prior},
            )
            for name, prior in _PRIORS.items()
        ),
        notes=(
            "la2s, oh10, ohscal and wap are published only: their counts are not available",
            "the paper's marks are those of the corrected t-test, not of the plain one",
            "HCNB is run without a prior: with Equation 5's the published figures do not come out",
            # Checked on oh0, oh5 and oh15, ten runs each.
            (
                "HOVA is the log-ratio of the two sides of Equation 16; the published figures are "
                "those of a mean over parents of P(w|t, not c) / P(w|t, c), which is 0.6 lower"
            ),
        ),
    )
)
