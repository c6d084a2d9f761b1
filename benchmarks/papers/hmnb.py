"""Tables 2 to 8 of the paper that introduces HMNB, HCNB and HOVA."""

from __future__ import annotations

from typing import Any

from benchmarks.papers.competitors import TEXT_COMPETITORS
from benchmarks.papers.experiment import CollectionRecipe, Experiment, ModelRecipe

# Compute gain ratios once, after a fold is learned.
_SETTINGS: dict[str, Any] = {"alpha": 1.0, "refresh_every": 10**9}
_LAPLACE = {**_SETTINGS, "prior": "laplace"}
# Keep every document.
_INDEXED = {**_SETTINGS, "index_size": 10**6}
_INDEXED_LAPLACE = {**_INDEXED, "prior": "laplace"}
_EVENTS = ("MNB", "CNB", "OVA")


def _families(*names: str, settings: dict[str, Any]) -> tuple[ModelRecipe, ...]:
    return tuple(
        ModelRecipe(name.format(event), name.format(event), settings)
        for name in names
        for event in _EVENTS
    )


# Where the equations and the published figures disagree, the models are those that reproduce the
# figures to the last digit.
_MODELS = (
    *_families("{}", settings=_LAPLACE),
    ModelRecipe("HMNB", "HMNB", _INDEXED_LAPLACE),
    # Equation 15 has the prior of Equation 5.
    ModelRecipe("HCNB", "HCNB", {**_INDEXED, "prior": "uniform"}),
    # Equation 16 is a quotient of two hidden means, with priors: that is HOVA-log.
    ModelRecipe(
        "HOVA",
        "ComposedNB",
        {
            **_INDEXED,
            "event": "one-versus-all",
            "dependence": "hidden-ratios",
            "prior": "uniform",
        },
    ),
    *_families("Rwc{}", settings=_LAPLACE),
    *_families("GRS{}", "DW{}", settings=_INDEXED_LAPLACE),
    *_families("GRW{}", settings=_LAPLACE),
    *_families("DTW{}", settings=_INDEXED_LAPLACE),
    # Not in the paper: words that the tree does not test have weight 0.
    *(
        ModelRecipe(f"DTW{event}-tested", f"DTW{event}", {**_INDEXED_LAPLACE, "untested": 0.0})
        for event in _EVENTS
    ),
    ModelRecipe("HOVA-log", "HOVA", _INDEXED_LAPLACE),
    ModelRecipe("SEMNB", "SEMNB", _INDEXED_LAPLACE),
    ModelRecipe("SECNB", "SECNB", _INDEXED_LAPLACE),
    # Without the priors re0 and re1 are closer; the other collections are about the same.
    ModelRecipe("SEOVA", "SEOVA", {**_INDEXED, "prior": "uniform"}),
    *_families("{}Tree", "LWW{}", settings=_INDEXED),
    *TEXT_COMPETITORS,
)

HMNB_PAPER = Experiment(
    name="hmnb",
    paper=(
        'S. Gan, S. Shao, L. Chen, L. Yu, L. Jiang, "Adapting Hidden Naive Bayes for Text '
        'Classification", Mathematics 9(19), 2378, 2021'
    ),
    summary="hidden parents for MNB, CNB and OVA: 10 runs of 10-fold cross-validation",
    tables=tuple(f"hmnb-table{number}" for number in range(2, 9)),
    collections=(
        CollectionRecipe("fbis", "fbis"),
        CollectionRecipe(
            "la1s",
            "la1s",
            min_documents=3,
            note=(
                "la1s: words in at least 3 documents, which are the 13,195 of WEKA's copy (Table 1 "
                "says 31,472, but 13,195 reproduce the figures)"
            ),
        ),
        *(CollectionRecipe(name, name) for name in ("oh0", "oh15", "oh5", "re0", "re1")),
    ),
    models=_MODELS,
    notes=(
        "la2s, oh10, ohscal and wap are published only: their counts are not available",
        "the paper's marks are those of the corrected t-test, not of the plain one",
        "HCNB is run without a prior: the prior of Equation 5 does not reproduce the figures",
        # Checked on oh0, oh5, oh15, re0 and re1, ten runs each: equal to the last digit.
        (
            "HOVA is ComposedNB's 'hidden-ratios' here: a mean over parents of "
            "P(w|t, not c) / P(w|t, c), without priors, reproduces the published figures; the "
            "formula as printed, Equation 16, does not"
        ),
        (
            "HOVA-log is streamnb.HOVA: Equation 16 as the log-ratio of its two sides, about 0.6 "
            "above the published HOVA"
        ),
        (
            "the paper describes SEMNB, SECNB and SEOVA in words: every word of the message is a "
            "parent, weighted by its gain ratio, and its own child; SEOVA is run without priors"
        ),
    ),
)
