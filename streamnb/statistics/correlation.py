"""The correlation factor t of NBCF that the counts give."""

from __future__ import annotations

import numpy as np

from streamnb.statistics.counts import Counts, Floats

PAPER_FACTOR = 0.1
"""The factor of the paper's experiments (section 6.1)."""


def optimal_factors(counts: Counts) -> Floats:
    """Return the optimal correlation factor of each class, and of its complement.

    Theorem 5.1 (c₁ = c₂ = 1) with what was counted in place of what is true. By itself the formula
    has a factor for each word, which is 0 for a word that the class does not have, and may be
    negative. So the loss is summed over all words of a class before it is minimised, which sums
    numerator and denominator:

        t_c = (1 − p_c) Σ_j θ_cj (1 − θ_cj) / Σ_j [A_j − θ_cj (1 − θ_cj) + N_·· (θ_·j − θ_cj)²]
        A_j = Σ_l p_l θ_lj (1 − θ_lj)

    with θ_cj = N_cj / N_c·, θ_·j = N_·j / N_··, and p_c = N_c· / N_··: where documents differ in
    length, a class's share of the tokens takes the place of its share of documents. It is kept
    between 1/|S| and 1, as Proposition 6.1 has it; 1 where the denominator is not positive, since
    the loss then only falls. For its complement, a class and the rest are the two classes.

    Parameters
    ----------
    counts
        Counts of any number of documents.

    Returns
    -------
    Factors, shape `(classes, 2)`: of the class, of its complement.

    References
    ----------
    [^1]: Naive Bayes with correlation factor (NBCF paper), Equation 5.2 and Theorem 5.1.

    Examples
    --------
    >>> from streamnb import MNB
    >>> model = MNB()
    >>> for x, y in [("win cash now", "spam"), ("see you at noon now", "ham")]:
    ...     model.learn_one(x, y)
    >>> optimal_factors(model.counts()).round(3)
    array([[0.5 , 0.75],
           [0.75, 0.5 ]])
    """
    tokens, all_tokens = counts.class_tokens, counts.class_tokens.sum()
    n_classes = len(tokens)
    if all_tokens == 0:
        return np.full((n_classes, 2), PAPER_FACTOR)
    cells = counts.tokens
    rows = np.repeat(np.arange(cells.shape[0]), np.diff(cells.indptr))
    totals = np.bincount(rows, cells.data, minlength=cells.shape[0])
    # Σ_j N_cj², Σ_j N_cj N_·j and Σ_j N_·j²: all that the sums over words are made of.
    squares, products = (
        np.bincount(cells.indices, cells.data * other, minlength=n_classes).astype(np.float64)
        for other in (cells.data, totals[rows])
    )
    square = float(totals @ totals)
    p = tokens / all_tokens
    least = min(1.0, 1.0 / counts.class_documents.sum())

    def spread(squares: Floats, tokens: Floats) -> Floats:
        """Return Σ_j θ_j (1 − θ_j); 0 for a side without tokens."""
        concentration: Floats = np.divide(
            squares, tokens**2, out=np.ones(n_classes), where=tokens > 0
        )
        return 1 - concentration

    def factors(p: Floats, own: Floats, mean: Floats, bias: Floats) -> Floats:
        numerator, denominator = (1 - p) * own, mean - own + all_tokens * bias
        ratio = np.divide(numerator, denominator, out=np.ones(n_classes), where=denominator > 0)
        kept: Floats = np.clip(ratio, least, 1.0)
        return kept

    def bias(squares: Floats, products: Floats, tokens: Floats) -> Floats:
        """Return Σ_j (θ_·j − θ_j)²; 0 for a side without tokens."""
        some = np.where(tokens > 0, tokens, 1.0)
        away = square / all_tokens**2 - 2 * products / (all_tokens * some) + squares / some**2
        distance: Floats = np.where(tokens > 0, away, 0.0)
        return distance

    rest = all_tokens - tokens
    rest_squares, rest_products = square - 2 * products + squares, square - products
    own, own_rest = spread(squares, tokens), spread(rest_squares, rest)
    of_class = factors(p, own, np.full(n_classes, p @ own), bias(squares, products, tokens))
    of_rest = factors(
        1 - p, own_rest, p * own + (1 - p) * own_rest, bias(rest_squares, rest_products, rest)
    )
    return np.column_stack([of_class, of_rest])
