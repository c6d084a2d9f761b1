"""Hidden naive Bayes: each attribute has a parent, mixed from those in its package."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from streamnb.errors import InputError
from streamnb.naive_bayes import NaiveBayes, TextNaiveBayes
from streamnb.parameters import check_bound, check_flag
from streamnb.parts import Attributes, Composition, Multinomial, Packaged

__all__ = ["HNB", "PHNB"]


@dataclasses.dataclass(eq=False, repr=False)
class _Columns:
    columns: bool = False
    bins: int = Attributes.bins
    values: Mapping[str, int] | None = None


@dataclasses.dataclass(eq=False, repr=False)
class _Links(NaiveBayes):
    max_links: int = Packaged.max_links
    max_parents: int | None = Packaged.max_parents


@dataclasses.dataclass(eq=False, repr=False)
class PackagedNB(TextNaiveBayes, _Links, _Columns):
    """Base of the models whose attributes have packages.

    Parameters are those of `HNB`.
    """

    def _composition(self) -> Composition:
        columns = check_flag("columns", self.columns)
        check_bound("bins", self.bins, least=2)
        if self.values is not None and not columns:
            raise InputError("values= is of messages of columns: leave it, or say columns=True")
        event = Attributes() if columns else self.parts.event
        return dataclasses.replace(self.parts, event=event).given(self._parameters())


@dataclasses.dataclass(eq=False, repr=False)
class _Threshold:
    bag_threshold: float | str = Packaged.bag_threshold


class HNB(PackagedNB):
    """Hidden naive Bayes (HNB).

    Each attribute has one hidden parent, mixed from all other attributes of the message:

        ln P(c) + Σ_i f_i ln P(a_i | a_hpi, c)
        P(a_i | a_hpi, c) = Σ_j W_ij P(a_i | a_j, c),    W_ij = I_ij / Σ_j I_ij
        I_ij = I(A_i; A_j | C) = Σ P(a_i, a_j, c) log₂ [P(a_i, a_j | c) / (P(a_i|c) P(a_j|c))]

    where j runs over the attributes j ≠ i of the message. An attribute without any that informs
    about it is plain naive Bayes.

    Text or columns
    ---------------
    By default a message is a text or a mapping of tokens to counts, as with all models. Each word
    is an attribute, present or absent, and those present count:

        P(w_i | w_j, c) = (Σ_d f_di + α m P(w_i|c)) / (Σ_d |d| + α m)

    over the past documents d of class c that contain w_j, with P(w_i|c) that of `MNB`; packages
    take words that have met. Past documents are those of the index (`index_size`).

    With `columns=True` a message maps attributes to values: a str, a bool or an int is a category,
    a float is a number, None and NaN are missing and take no part. As in WEKA's HNB, with n_ijc
    documents of c that have both values, v_i values of attribute i and s classes,

        P(a_i | a_j, c) = (n_ijc + α/v_i) / (n_jc + α),    P(c) = (n_c + 1/s) / (n + 1)

    Numbers fall into at most `bins` bins of equal width over the range of those learned, and
    beyond it into the outermost one. (The paper has ten such bins over the range of the whole
    collection. A stream's range grows: the width here is a power of two, so that bins join
    exactly when it does. Unlearning does not narrow the range again.)

    Information is refreshed as `refresh_every` says.

    Parameters
    ----------
    columns
        Whether a message maps attributes to values.
    bins
        The most bins of a number, 2 or more.
    values
        Attribute → how many values it has, where that is known beforehand; else those learned.
    max_links
        Bound of the pairs in packages, 0 or more: past it, those with the least information are
        left out.
    max_parents
        How many words of a text may be parents, 1 or more: those with the most information about
        all others together. It bounds what a long text costs. None is any number, as in the paper;
        with columns no bound is needed, and there is none.

    Notes
    -----
    The other parameters, methods and errors are those of `streamnb.naive_bayes.NaiveBayes`.

    Examples
    --------
    >>> from streamnb import HNB
    >>> model = HNB()
    >>> for x, y in [
    ...     ("Free entry: WIN cash now", "spam"),
    ...     ("see you at noon", "ham"),
    ...     ("win a free phone now", "spam"),
    ...     ("are you free for lunch at noon?", "ham"),
    ... ]:
    ...     model.learn_one(x, y)
    >>> model.predict_one("free cash, call now")
    'spam'
    >>> weather = HNB(columns=True)
    >>> for x, y in [
    ...     ({"sky": "sunny", "windy": False, "heat": 29.5}, "play"),
    ...     ({"sky": "rainy", "windy": True, "heat": 18.0}, "stay"),
    ...     ({"sky": "sunny", "windy": True, "heat": 24.0}, "play"),
    ... ]:
    ...     weather.learn_one(x, y)
    >>> weather.predict_one({"sky": "rainy", "windy": True, "heat": 17.0})
    'stay'

    References
    ----------
    [^1]: Packaged hidden naive Bayes (Ji, Yu, Zhang), Equations 4 to 7.
    [^2]: Jiang, L., Zhang, H. and Cai, Z., 2009. A novel Bayes model: hidden naive Bayes. IEEE
          Transactions on Knowledge and Data Engineering 21(10).
    """

    parts = Composition(Multinomial(), dependence=Packaged(bag_threshold=0.0))


@dataclasses.dataclass(eq=False, repr=False)
class PHNB(PackagedNB, _Threshold):
    """Packaged hidden naive Bayes (PHNB).

    Each attribute has one hidden parent, mixed from the other attributes in its package:

        ln P(c) + Σ_i f_i ln P(a_i | a_hpi, c)
        P(a_i | a_hpi, c) = Σ_j W_ij P(a_i | a_j, c),    W_ij = I_ij / Σ_j I_ij,    j in package i
        I_ij = I(A_i; A_j | C) = Σ P(a_i, a_j, c) log₂ [P(a_i, a_j | c) / (P(a_i|c) P(a_j|c))]

    The package of i holds each attribute j whose I_ij reaches the threshold. An attribute with no
    member of its package in the message is plain naive Bayes: an infinite threshold gives `MNB`, or
    naive Bayes on columns, and a threshold of 0 gives `HNB`.

    Texts and columns are those of `HNB`.

    Packages are refreshed as `refresh_every` says.

    Parameters
    ----------
    bag_threshold
        `"average"`: the mean information of all pairs of attributes, Equation 11. A number: so
        many bits. `"auto"`: that multiple of the average (0, 1/2, 1, 2, 4, 16, 64 or infinity) that
        would have had the least log loss so far, each message scored before it was learned; so
        learning costs a prediction more.

    Notes
    -----
    The other parameters, methods and errors are those of `HNB`.

    Examples
    --------
    >>> from streamnb import PHNB
    >>> model = PHNB()
    >>> model.learn_one("win cash now", "spam")
    >>> model.learn_one("see you at noon", "ham")
    >>> model.predict_one("cash, now")
    'spam'

    References
    ----------
    [^1]: Ji, Y., Yu, S. and Zhang, Y.: A novel Naive Bayes model: Packaged Hidden Naive Bayes,
          Equations 6 and 8 to 11.
    """

    parts = Composition(Multinomial(), dependence=Packaged())
