"""The models, a file for each family: each model names its parts and its equations."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from streamnb.lazy import attribute

if TYPE_CHECKING:
    from streamnb.models.attribute_weights import *  # noqa: F403
    from streamnb.models.chi_square import *  # noqa: F403
    from streamnb.models.composed import *  # noqa: F403
    from streamnb.models.correlation import *  # noqa: F403
    from streamnb.models.correlation_based import *  # noqa: F403
    from streamnb.models.document_weights import *  # noqa: F403
    from streamnb.models.fitted_weights import *  # noqa: F403
    from streamnb.models.gain_ratio import *  # noqa: F403
    from streamnb.models.hidden import *  # noqa: F403
    from streamnb.models.higher_order import *  # noqa: F403
    from streamnb.models.independent import *  # noqa: F403
    from streamnb.models.nearest import *  # noqa: F403
    from streamnb.models.normalised import *  # noqa: F403
    from streamnb.models.one_dependence import *  # noqa: F403
    from streamnb.models.online_weights import *  # noqa: F403
    from streamnb.models.packaged import *  # noqa: F403
    from streamnb.models.selection import *  # noqa: F403
    from streamnb.models.tree import *  # noqa: F403
    from streamnb.models.tree_depth import *  # noqa: F403

# A file and its models, imported when one of them is first asked for: all take as long as numpy.
_FAMILIES = {
    "online_weights": ("OnlineNB",),
    "independent": ("BNB", "CNB", "MNB", "OVA"),
    "normalised": ("TWCNB",),
    "hidden": ("HCNB", "HMNB", "HOVA"),
    "one_dependence": ("SECNB", "SEMNB", "SEOVA"),
    "packaged": ("HNB", "PHNB"),
    "higher_order": ("HONB",),
    "correlation": ("NBCF",),
    "chi_square": ("RwcCNB", "RwcMNB", "RwcOVA"),
    "gain_ratio": ("GRWCNB", "GRWMNB", "GRWOVA"),
    "selection": ("GRSCNB", "GRSMNB", "GRSOVA"),
    "correlation_based": ("DFWCNB", "DFWMNB", "DFWOVA"),
    "tree_depth": ("DTWCNB", "DTWMNB", "DTWOVA"),
    "document_weights": ("DWCNB", "DWMNB", "DWOVA"),
    "tree": ("CNBTree", "MNBTree", "OVATree"),
    "nearest": ("LWWCNB", "LWWMNB", "LWWOVA"),
    "fitted_weights": ("DNB", "ENB", "GDNB", "LNB", "MSENB"),
    "attribute_weights": ("CBFWNB", "DFWNB", "KLNB", "SBC", "TreeNB"),
    "composed": ("ComposedNB",),
}
_OF_COLUMNS = {"attribute_weights", "fitted_weights"}
_HOMES = {name: f".{family}" for family, names in _FAMILIES.items() for name in names}
OF_TEXTS = tuple(name for name, home in _HOMES.items() if home[1:] not in _OF_COLUMNS)
"""Names of the models that read texts; the others read attributes of columns."""

__all__ = tuple(_HOMES)


def __getattr__(name: str) -> object:
    # Every model needs it. Where imports are nested as deep as in a model's, its own take half as
    # long again: their calls then cross from one piece of Python's stack of frames to the next.
    importlib.import_module("numpy")
    return attribute(globals(), _HOMES, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
