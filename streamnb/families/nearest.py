"""Naive Bayes on the nearest messages: LWWMNB, LWWCNB and LWWOVA."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, ClassVar

from streamnb.families.independent import Multinomial
from streamnb.model.composition import WALKED, Composition, Neighbourhood, parameter
from streamnb.model.texts import TextNaiveBayes
from streamnb.parameters import whole
from streamnb.text.labels import L


@dataclasses.dataclass(frozen=True)
class Nearest(Neighbourhood, name="nearest"):
    """The messages nearest to the message by the cosine of their word counts.

    The weight of a message falls linearly with its distance, 1 − cosine, to 0 at the first message
    that is not near, and is 1 on average. If the nearest messages are as far away as that one, all
    messages at this distance have weight 1. Messages that share no word with this one never count.
    Most classes may have no message among the nearest, so P(c) is Laplace's.

    `NearestNB` documents the parameter.

    References
    ----------
    [^1]: Hidden multinomial naive Bayes (HMNB paper), section 2.4.
    """

    prior: ClassVar[str | None] = "laplace"
    indexed: ClassVar[int] = WALKED

    n_neighbors: int = parameter(50, whole(1))

    def scoring_options(self, composition: Composition) -> Mapping[str, Any]:
        """Return the neighbourhood and its size."""
        return {"neighbourhood": "nearest", "n_neighbors": self.n_neighbors}


@dataclasses.dataclass(eq=False, repr=False)
class NearestNB(TextNaiveBayes[L]):
    """Naive Bayes on the k indexed messages that are nearest to the message.

        P_k(c) = (Σ_j∈c v_j + 1) / (Σ_j v_j + s)
        P_k(w | c) = (Σ_j∈c v_j f_jw + α) / (Σ_w Σ_j∈c v_j f_jw + α m)
        v_j = k (1 − d_j/d) / Σ_j (1 − d_j/d),  d_j = 1 − cos(f, f_j),

    where sums run over the k messages, but s counts all classes and m all words. The weight v_j
    falls linearly with the distance, to 0 at the distance d of the first message that is not near.
    If the nearest messages are at the distance d themselves, all messages at d have weight 1.
    Messages that share no word with this one never count.

    Nothing is computed periodically, and a message counts as soon as it is learned. A prediction
    walks the postings of the message's words. Its cost grows with the index, which `index_size`
    bounds.

    `streamnb.model.base.NaiveBayes` documents the other parameters, methods and errors. With
    `prior="empirical"`, a class without a message among the k counts as one message.

    Parameters
    ----------
    n_neighbors
        k, the number of near messages: 1 or more. The paper has no formula; linear weights and 50
        neighbours are usual for locally weighted naive Bayes.
    index_size
        Number of recent messages that are searched, 0 or more. None is 8,192.
    """

    composition: ClassVar[Composition] = Composition(Multinomial(), neighbourhood=Nearest())

    n_neighbors: int = Nearest.n_neighbors


class LWWMNB(NearestNB[L], event="multinomial", equations="section 2.4; Equations 1, 4 and 6"):
    """Locally weighted multinomial naive Bayes (LWWMNB).

        ln P_k(c) + Σ_i f_i ln P_k(w_i | c)

    with the counts of the k indexed messages that are nearest to the message, each weighted by how
    near it is.
    """


class LWWCNB(NearestNB[L], event="complement", equations="section 2.4; Equations 2, 5 and 7"):
    """Locally weighted complement naive Bayes (LWWCNB).

        −ln P_k(c̄) − Σ_i f_i ln P_k(w_i | c̄)

    with the weighted counts of the k nearest messages, as in `LWWMNB`.
    """


class LWWOVA(NearestNB[L], event="one-versus-all", equations="section 2.4; Equation 3"):
    """Locally weighted one-versus-all naive Bayes (LWWOVA).

        ln P_k(c) + Σ_i f_i ln P_k(w_i | c) − ln P_k(c̄) − Σ_i f_i ln P_k(w_i | c̄)

    with the weighted counts of the k nearest messages, as in `LWWMNB`.
    """
