"""The models, one a file: each names its parts and its equations."""

from __future__ import annotations

from streamnb.models.bnb import BNB
from streamnb.models.cbfwnb import CBFWNB
from streamnb.models.cnb import CNB
from streamnb.models.cnbtree import CNBTree
from streamnb.models.composed import ComposedNB
from streamnb.models.dfwcnb import DFWCNB
from streamnb.models.dfwmnb import DFWMNB
from streamnb.models.dfwnb import DFWNB
from streamnb.models.dfwova import DFWOVA
from streamnb.models.dnb import DNB
from streamnb.models.dtwcnb import DTWCNB
from streamnb.models.dtwmnb import DTWMNB
from streamnb.models.dtwova import DTWOVA
from streamnb.models.dwcnb import DWCNB
from streamnb.models.dwmnb import DWMNB
from streamnb.models.dwova import DWOVA
from streamnb.models.enb import ENB
from streamnb.models.gdnb import GDNB
from streamnb.models.grscnb import GRSCNB
from streamnb.models.grsmnb import GRSMNB
from streamnb.models.grsova import GRSOVA
from streamnb.models.grwcnb import GRWCNB
from streamnb.models.grwmnb import GRWMNB
from streamnb.models.grwova import GRWOVA
from streamnb.models.hcnb import HCNB
from streamnb.models.hmnb import HMNB
from streamnb.models.hnb import HNB
from streamnb.models.honb import HONB
from streamnb.models.hova import HOVA
from streamnb.models.klnb import KLNB
from streamnb.models.lnb import LNB
from streamnb.models.lwwcnb import LWWCNB
from streamnb.models.lwwmnb import LWWMNB
from streamnb.models.lwwova import LWWOVA
from streamnb.models.mnb import MNB
from streamnb.models.mnbtree import MNBTree
from streamnb.models.msenb import MSENB
from streamnb.models.nbcf import NBCF
from streamnb.models.ova import OVA
from streamnb.models.ovatree import OVATree
from streamnb.models.phnb import PHNB
from streamnb.models.rwccnb import RwcCNB
from streamnb.models.rwcmnb import RwcMNB
from streamnb.models.rwcova import RwcOVA
from streamnb.models.sbc import SBC
from streamnb.models.secnb import SECNB
from streamnb.models.semnb import SEMNB
from streamnb.models.seova import SEOVA
from streamnb.models.treenb import TreeNB

__all__ = [
    "BNB",
    "CBFWNB",
    "CNB",
    "DFWCNB",
    "DFWMNB",
    "DFWNB",
    "DFWOVA",
    "DNB",
    "DTWCNB",
    "DTWMNB",
    "DTWOVA",
    "DWCNB",
    "DWMNB",
    "DWOVA",
    "ENB",
    "GDNB",
    "GRSCNB",
    "GRSMNB",
    "GRSOVA",
    "GRWCNB",
    "GRWMNB",
    "GRWOVA",
    "HCNB",
    "HMNB",
    "HNB",
    "HONB",
    "HOVA",
    "KLNB",
    "LNB",
    "LWWCNB",
    "LWWMNB",
    "LWWOVA",
    "MNB",
    "MSENB",
    "NBCF",
    "OVA",
    "PHNB",
    "SBC",
    "SECNB",
    "SEMNB",
    "SEOVA",
    "CNBTree",
    "ComposedNB",
    "MNBTree",
    "OVATree",
    "RwcCNB",
    "RwcMNB",
    "RwcOVA",
    "TreeNB",
]
