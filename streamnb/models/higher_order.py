"""Higher-order naive Bayes: paths through documents in the place of documents."""

from __future__ import annotations

import dataclasses

from streamnb.naive_bayes import TextNaiveBayes
from streamnb.parts import Bernoulli, Composition, HigherOrderPaths

__all__ = ["HONB"]


@dataclasses.dataclass(eq=False, repr=False)
class _Parameters:
    order: int = 2
    pure: bool = False
    max_path_words: int | None = None


@dataclasses.dataclass(eq=False, repr=False)
class HONB(TextNaiveBayes, _Parameters):
    """Higher-order naive Bayes (HONB).

    The Bernoulli model with paths in the place of documents. A path of second order,
    w_1 ~ d_x ~ w_2 ~ d_y ~ w_3, joins three different words through two different documents of a
    class, so that words which never stand together support one another: it is for few labelled
    documents. With ñ_wc the paths of class c that contain w, and h_c all of them,

        ln P(c) + Σ_{w in d} ln p_wc + Σ_{w not in d} ln(1 − p_wc)      (Equation 11)
        p_wc = (ñ_wc + α) / (h_c + 2α)                                  (Equation 8)
        P(c) = h_c / Σ_c h_c                                            (Equation 10)

    Paths are never enumerated: second order has a closed form (`streamnb.statistics.paths`), orders
    3 and 4 are sums over partitions (`streamnb.statistics.path_sums`). A class without paths counts
    as one with a single path in the empirical prior.

    Paths are those of the indexed documents, counted when statistics are refreshed. Until then
    they are of the messages before: a word or a class that is newer has no path, and is estimated
    from the smoothing alone (a new class has p = 1/2 for every word and is hardly ever
    predicted). With `refresh_every=1` they are of all indexed messages at any time.

    A prediction costs the words of the message. A refresh costs Σ |d|² over the indexed documents d
    for order 2, with memory that does not depend on the pairs of words; pure paths and orders 3
    and 4 have dense matrices, words × words and documents × documents of a class, and are for small
    collections.

    Parameters
    ----------
    order
        Documents of a path: 2, 3 or 4.
    pure
        Whether only paths between words that share no document of the class count; order 2 only.
    max_path_words
        Words that paths go through, 1 or more: those in most indexed documents, ties by their
        bytes; others have no path. None is all words for order 2, and 2,000 for pure paths, 2,000
        and 1,000 for orders 3 and 4.
    index_size
        Recent documents that paths go through, 0 or more. None is 16,384 for order 2, 2,000 and
        1,000 for orders 3 and 4.

    Notes
    -----
    The other parameters, methods and errors are those of `streamnb.naive_bayes.NaiveBayes`.

    Examples
    --------
    >>> from streamnb import HONB
    >>> model = HONB(refresh_every=1, prior="uniform")
    >>> for x, y in [
    ...     ("win cash", "spam"),
    ...     ("cash prize", "spam"),
    ...     ("lunch noon", "ham"),
    ...     ("noon train", "ham"),
    ... ]:
    ...     model.learn_one(x, y)
    >>> model.predict_one("win a prize")      # win ~ cash ~ prize
    'spam'

    References
    ----------
    [^1]: Ganiz, M.C., George, C. and Pottenger, W.M., 2011. Higher order naive Bayes: a novel
          non-IID approach to text classification. IEEE Transactions on Knowledge and Data
          Engineering, 23(7). Equations 8 to 11, Theorems 1 to 3.
    """

    parts = Composition(Bernoulli(), estimate=HigherOrderPaths())
