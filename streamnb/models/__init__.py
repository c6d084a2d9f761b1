"""The models, one a file: each names its parts and its equations."""

from __future__ import annotations

from streamnb.models.bnb import BNB
from streamnb.models.cnb import CNB
from streamnb.models.composed import ComposedNB
from streamnb.models.dnb import DNB
from streamnb.models.enb import ENB
from streamnb.models.gdnb import GDNB
from streamnb.models.hcnb import HCNB
from streamnb.models.hmnb import HMNB
from streamnb.models.hnb import HNB
from streamnb.models.honb import HONB
from streamnb.models.hova import HOVA
from streamnb.models.lnb import LNB
from streamnb.models.mnb import MNB
from streamnb.models.msenb import MSENB
from streamnb.models.nbcf import NBCF
from streamnb.models.ova import OVA
from streamnb.models.phnb import PHNB
from streamnb.models.secnb import SECNB
from streamnb.models.semnb import SEMNB
from streamnb.models.seova import SEOVA

__all__ = [
    "BNB",
    "CNB",
    "DNB",
    "ENB",
    "GDNB",
    "HCNB",
    "HMNB",
    "HNB",
    "HONB",
    "HOVA",
    "LNB",
    "MNB",
    "MSENB",
    "NBCF",
    "OVA",
    "PHNB",
    "SECNB",
    "SEMNB",
    "SEOVA",
    "ComposedNB",
]
