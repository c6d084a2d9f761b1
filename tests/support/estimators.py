"""What river checks: every model of the table, and compositions that are no class."""

from __future__ import annotations

import streamnb
from support.models import COLUMNS, MODELS, make_model, makes

# Of texts. Compositions stand for themselves.
ESTIMATORS = {name: makes(name)() for name in MODELS} | {
    "ComposedNB": make_model("ComposedNB"),
    "ComposedNB hidden": streamnb.ComposedNB(event="one-versus-all", dependence="hidden"),
    "ComposedNB minimised": streamnb.ComposedNB(event="one-versus-all", weights="generalised"),
    "ComposedNB online": streamnb.ComposedNB(
        event="complement", document_weights="discriminative-online"
    ),
    "ComposedNB ratios": streamnb.ComposedNB(event="one-versus-all", dependence="hidden-ratios"),
}
# Messages of columns: all of river's checks, but no texts.
CHECKED = ESTIMATORS | {
    "OnlineNB with its own tokens": streamnb.OnlineNB(),
    "DWMNB online": streamnb.DWMNB(online=True),
    "HNB columns": streamnb.HNB(columns=True),
    "PHNB columns": streamnb.PHNB(columns=True, bag_threshold="auto"),
    **{name: getattr(streamnb, name)() for name in COLUMNS},
    "ComposedNB numbers": streamnb.ComposedNB(event="gaussian"),
    "ComposedNB direct": streamnb.ComposedNB("gaussian", weights="squared", multiclass="direct"),
    "ComposedNB columns": streamnb.ComposedNB(event="attributes"),
}
