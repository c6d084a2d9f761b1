"""The models, a file for each family: each model names its parts and its equations."""

from __future__ import annotations

from streamnb.models import (
    attribute_weights,
    chi_square,
    composed,
    correlation,
    correlation_based,
    document_weights,
    fitted_weights,
    gain_ratio,
    hidden,
    higher_order,
    independent,
    nearest,
    normalised,
    one_dependence,
    online_weights,
    packaged,
    selection,
    tree,
    tree_depth,
)
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

__all__ = (
    online_weights.__all__
    + independent.__all__
    + normalised.__all__
    + hidden.__all__
    + one_dependence.__all__
    + packaged.__all__
    + higher_order.__all__
    + correlation.__all__
    + chi_square.__all__
    + gain_ratio.__all__
    + selection.__all__
    + correlation_based.__all__
    + tree_depth.__all__
    + document_weights.__all__
    + tree.__all__
    + nearest.__all__
    + fitted_weights.__all__
    + attribute_weights.__all__
    + composed.__all__
)
