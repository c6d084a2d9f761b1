"""The papers' tables, measured again and printed beside the published ones.

`streamnb reproduce NAME` is the command; this package is what it does. An `Experiment` holds
what a paper did, `run_plan` cross-validates, `make_report` compares, `FORMATS` prints.
"""

from __future__ import annotations

from streamnb.reproduce.comparison import Report, check_request, make_report
from streamnb.reproduce.experiment import (
    Collection,
    CollectionRecipe,
    Experiment,
    ModelRecipe,
    accuracy,
    experiments,
    find_experiment,
    register,
)
from streamnb.reproduce.folds import CrossValidation, RandomSamples, weka_folds
from streamnb.reproduce.papers.compositions import COMPOSITIONS
from streamnb.reproduce.papers.hmnb import HMNB_PAPER
from streamnb.reproduce.papers.honb import HONB_PAPER
from streamnb.reproduce.papers.loss import LOSS_PAPER
from streamnb.reproduce.papers.loss_multiclass import LOSS_PAPER_5
from streamnb.reproduce.papers.nbcf import NBCF_PAPER, NBCF_PAPER_90
from streamnb.reproduce.papers.phnb import PHNB_PAPER
from streamnb.reproduce.papers.robustness import FIGURES, Figure
from streamnb.reproduce.render import FORMATS, published_text
from streamnb.reproduce.runner import Plan, Scores, run_plan
from streamnb.reproduce.runs import RunsFile, default_runs_path
from streamnb.reproduce.significance import TTest, Wilcoxon, paired_t_test, wilcoxon
from streamnb.reproduce.tables import PublishedTable, read_table

__all__ = [
    "COMPOSITIONS",
    "FIGURES",
    "FORMATS",
    "HMNB_PAPER",
    "HONB_PAPER",
    "LOSS_PAPER",
    "LOSS_PAPER_5",
    "NBCF_PAPER",
    "NBCF_PAPER_90",
    "PHNB_PAPER",
    "Collection",
    "CollectionRecipe",
    "CrossValidation",
    "Experiment",
    "Figure",
    "ModelRecipe",
    "Plan",
    "PublishedTable",
    "RandomSamples",
    "Report",
    "RunsFile",
    "Scores",
    "TTest",
    "Wilcoxon",
    "accuracy",
    "check_request",
    "default_runs_path",
    "experiments",
    "find_experiment",
    "make_report",
    "paired_t_test",
    "published_text",
    "read_table",
    "register",
    "run_plan",
    "weka_folds",
    "wilcoxon",
]
