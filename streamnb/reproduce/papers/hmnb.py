"""Tables 2 to 4 of the paper that introduces HMNB, HCNB and HOVA."""

from __future__ import annotations

from typing import Any

from streamnb.reproduce.experiment import CollectionRecipe, Experiment, ModelRecipe, register

__all__ = ["HMNB_PAPER"]

# Gain ratios are computed once, after a fold is learned.
_SETTINGS: dict[str, Any] = {"alpha": 1.0, "refresh_every": 10**9}
# No document is forgotten.
_HIDDEN_SETTINGS = {**_SETTINGS, "index_size": 10**6}
# Each column's model and what sets it apart. Where equations and published figures disagree, it is
# what the figures come out of, to the last digit.
_MODELS: dict[str, tuple[str, dict[str, Any]]] = {
    "MNB": ("MNB", {**_SETTINGS, "prior": "laplace"}),
    "CNB": ("CNB", {**_SETTINGS, "prior": "laplace"}),
    "OVA": ("OVA", {**_SETTINGS, "prior": "laplace"}),
    "HMNB": ("HMNB", {**_HIDDEN_SETTINGS, "prior": "laplace"}),
    # Equation 15 has the prior of Equation 5.
    "HCNB": ("HCNB", {**_HIDDEN_SETTINGS, "prior": "uniform"}),
    # Equation 16 is a quotient of two hidden means, with priors: that is HOVA-log.
    "HOVA": (
        "ComposedNB",
        {
            **_HIDDEN_SETTINGS,
            "event": "one-versus-all",
            "dependence": "hidden-ratios",
            "prior": "uniform",
        },
    ),
    **{
        f"{weights}{event}": (f"{weights}{event}", {**settings, "prior": "laplace"})
        for weights, settings in (
            ("Rwc", _SETTINGS),
            ("GRS", _HIDDEN_SETTINGS),
            ("DW", _HIDDEN_SETTINGS),
            ("GRW", _SETTINGS),
            ("DTW", _HIDDEN_SETTINGS),
        )
        for event in ("MNB", "CNB", "OVA")
    },
    # The paper has no figures of these. One pass in the order of the collection's documents.
    **{
        f"DW{event}-online": (
            f"DW{event}",
            {**_HIDDEN_SETTINGS, "prior": "laplace", "online": True},
        )
        for event in ("MNB", "CNB", "OVA")
    },
    # Nor of these. Words that the tree does not test weigh nothing.
    **{
        f"DTW{event}-tested": (
            f"DTW{event}",
            {**_HIDDEN_SETTINGS, "prior": "laplace", "untested": 0.0},
        )
        for event in ("MNB", "CNB", "OVA")
    },
    "HOVA-log": ("HOVA", {**_HIDDEN_SETTINGS, "prior": "laplace"}),
    "SEMNB": ("SEMNB", {**_HIDDEN_SETTINGS, "prior": "laplace"}),
    "SECNB": ("SECNB", {**_HIDDEN_SETTINGS, "prior": "laplace"}),
    # Without the priors re0 and re1 come nearer, and the others are about the same.
    "SEOVA": ("SEOVA", {**_HIDDEN_SETTINGS, "prior": "uniform"}),
    **{name: (name, _HIDDEN_SETTINGS) for name in ("MNBTree", "CNBTree", "OVATree")},
    **{name: (name, _HIDDEN_SETTINGS) for name in ("LWWMNB", "LWWCNB", "LWWOVA")},
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
            ModelRecipe(name, f"streamnb:{factory}", parameters)
            for name, (factory, parameters) in _MODELS.items()
        ),
        notes=(
            "la2s, oh10, ohscal and wap are published only: their counts are not available",
            "the paper's marks are those of the corrected t-test, not of the plain one",
            "HCNB is run without a prior: with Equation 5's the published figures do not come out",
            # Checked on oh0, oh5, oh15, re0 and re1, ten runs each: equal to the last digit.
            (
                "HOVA is ComposedNB's 'hidden-ratios' here: a mean over parents of "
                "P(w|t, not c) / P(w|t, c), without priors, reproduces the published figures; the "
                "formula as printed, Equation 16, does not"
            ),
            (
                "HOVA-log is streamnb.HOVA: Equation 16 as the log-ratio of its two sides, about "
                "0.6 above the published HOVA"
            ),
            (
                "the paper describes SEMNB, SECNB and SEOVA in words: every word of the message is "
                "a parent, weighing its gain ratio, and its own child; SEOVA is run without priors"
            ),
        ),
    )
)
