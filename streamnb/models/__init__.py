"""The models, one a file: each names its parts and its equations."""

from __future__ import annotations

from streamnb.models.bnb import BNB
from streamnb.models.cnb import CNB
from streamnb.models.cnbtree import CNBTree
from streamnb.models.composed import ComposedNB
from streamnb.models.hcnb import HCNB
from streamnb.models.hmnb import HMNB
from streamnb.models.hnb import HNB
from streamnb.models.honb import HONB
from streamnb.models.hova import HOVA
from streamnb.models.lwwcnb import LWWCNB
from streamnb.models.lwwmnb import LWWMNB
from streamnb.models.lwwova import LWWOVA
from streamnb.models.mnb import MNB
from streamnb.models.mnbtree import MNBTree
from streamnb.models.nbcf import NBCF
from streamnb.models.ova import OVA
from streamnb.models.ovatree import OVATree
from streamnb.models.phnb import PHNB
from streamnb.models.secnb import SECNB
from streamnb.models.semnb import SEMNB
from streamnb.models.seova import SEOVA

__all__ = [
    "BNB",
    "CNB",
    "HCNB",
    "HMNB",
    "HNB",
    "HONB",
    "HOVA",
    "LWWCNB",
    "LWWMNB",
    "LWWOVA",
    "MNB",
    "NBCF",
    "OVA",
    "PHNB",
    "SECNB",
    "SEMNB",
    "SEOVA",
    "CNBTree",
    "ComposedNB",
    "MNBTree",
    "OVATree",
]
