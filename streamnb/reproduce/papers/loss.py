"""Table 2 of the paper on loss-minimised weights: one class of a table against the remainder."""

from __future__ import annotations

from streamnb.reproduce.experiment import Experiment, ModelRecipe, register
from streamnb.reproduce.papers.attribute_tables import BinaryTable

__all__ = ["LOSS_PAPER"]

_OF_TABLE = "streamnb.reproduce.papers.attribute_tables:OfTable"
# Weights are fitted once, after a fold is learned, to all of its rows.
_SETTINGS = {"refresh_every": 10**9, "index_size": 10**6}
_FITTED = {"ridge": 0.0, **_SETTINGS}
_KULLBACK_LEIBLER_RAW = {"event": "gaussian", "weights": "kullback-leibler-raw"}

LOSS_PAPER = register(
    Experiment(
        name="loss",
        paper='T. Kim, J.-S. Lee, "Exponential Loss Minimization for Learning Weighted Naive Bayes'
        ' Classifiers"',
        summary="weights of attributes that minimise a loss, on columns: 10-fold cross-validation",
        tables=("loss-table2",),
        collections=(
            BinaryTable("nursery", "nursery", pos_label="very_recom"),
            BinaryTable("car", "car", pos_label="vgood"),
            BinaryTable("letter", "letter", pos_label="A"),
            BinaryTable("page_blocks", "page_blocks", pos_label="2"),
            BinaryTable("wall_following_4 left", "wall_following_4", pos_label="Slight-Left-Turn"),
            BinaryTable(
                "wall_following_24 left", "wall_following_24", pos_label="Slight-Left-Turn"
            ),
            BinaryTable(
                "krkopt",
                "krkopt",
                pos_label="ten",
                categories=("wk_file", "wr_file", "bk_file"),
            ),
            BinaryTable("steel", "steel_plates_faults", pos_label="Pastry_Fault"),
            BinaryTable("mfeat_karhunen", "mfeat_karhunen", pos_label="1"),
            BinaryTable("mfeat_zernike", "mfeat_zernike", pos_label="1"),
            BinaryTable("segment", "segment", pos_label="brickface"),
            BinaryTable(
                "wall_following_4 right", "wall_following_4", pos_label="Slight-Right-Turn"
            ),
            BinaryTable(
                "wall_following_24 right", "wall_following_24", pos_label="Slight-Right-Turn"
            ),
            BinaryTable("yeast", "yeast", pos_label="1"),
            BinaryTable(
                "wholesale",
                "wholesale_customers",
                pos_label="1",
                label_field="Region",
                dropped=("class",),
            ),
            BinaryTable("winequality_white", "winequality_white", pos_label="7"),
            BinaryTable("cmc", "cmc", pos_label="2"),
            BinaryTable("abalone", "abalone", pos_label="I", label_field="Sex"),
            BinaryTable("glass", "glass", pos_label="build wind float"),
            BinaryTable("tae", "tae", pos_label="2"),
            BinaryTable("qsar_biodeg", "qsar_biodeg", pos_label="minority"),
            BinaryTable("tic_tac_toe", "tic_tac_toe", pos_label="negative"),
            BinaryTable("magic04", "magic04", pos_label="h"),
            BinaryTable("wdbc", "wdbc", pos_label="M"),
        ),
        models=(
            *(
                ModelRecipe(name, _OF_TABLE, {"model": name, **_FITTED})
                for name in ("GDNB", "LNB", "DNB", "ENB")
            ),
            ModelRecipe(
                "NB",
                _OF_TABLE,
                {"model": "ComposedNB", "event": "gaussian", **_SETTINGS},
            ),
            ModelRecipe("MSE", _OF_TABLE, {"model": "MSENB", **_FITTED}),
            *(
                ModelRecipe(name, _OF_TABLE, {"model": model, **how, **_SETTINGS})
                for name, model, how in (
                    # Published of numbers in bins, and of one tenth of the rows.
                    ("CBFWNB", "CBFWNB", {"binned": True}),
                    ("DFWNB", "DFWNB", {"binned": True}),
                    ("TreeNB", "TreeNB", {}),
                    # Published with weights that are not relative to their mean.
                    ("KLNB", "ComposedNB", _KULLBACK_LEIBLER_RAW),
                    ("SBC", "SBC", {}),
                    ("CBFWNB of numbers", "CBFWNB", {}),
                    ("DFWNB of numbers", "DFWNB", {}),
                    ("KLNB relative", "KLNB", {}),
                )
            ),
        ),
        runs=1,
        notes=(
            "weights are fitted to the rows that were counted, as in the paper",
            "four of the paper's tables are not in the data folder as the paper has them",
        ),
    )
)
