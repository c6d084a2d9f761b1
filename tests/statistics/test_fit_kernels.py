"""Fits end in the same weights on every processor, in any order, and wherever they begin."""

from __future__ import annotations

import functools
import json
import os
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from streamnb.statistics.losses import (
    DEVIANCE,
    EXPONENTIAL,
    GENERALISED,
    LIKELIHOOD,
    SQUARED,
    DenseSlopes,
    Loss,
    Objective,
)
from streamnb.statistics.newton import dense_step, least
from support import fit_scores
from support.fit_scores import models, scores
from support.profiles import also_in_soak

# Kernels of OpenBLAS, with the processor features that they need.
KERNELS = {
    "PRESCOTT": {"sse2"},
    "NEHALEM": {"sse4_2"},
    "SANDYBRIDGE": {"avx"},
    "HASWELL": {"avx2", "fma"},
    "ZEN": {"avx2", "fma"},
    "SKYLAKEX": {"avx512f", "avx512dq", "avx512bw", "avx512vl"},
}
TOLERANCE = 1e-8
FEW_KERNELS = ("SANDYBRIDGE", "HASWELL")
MORE_KERNELS = [kernel for kernel in KERNELS if kernel not in FEW_KERNELS]
each_fit = pytest.mark.parametrize("name", models())


def flags() -> set[str]:
    """Return the features of this processor."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    return {flag for line in lines if line.startswith("flags") for flag in line.split()}


def runnable() -> list[str]:
    return [kernel for kernel, needed in KERNELS.items() if needed <= flags()]


@functools.cache
def scores_with(kernel: str) -> dict[str, Any]:
    """Return the scores of a process whose BLAS has this kernel."""
    environment = os.environ | {"OPENBLAS_CORETYPE": kernel, "OPENBLAS_NUM_THREADS": "1"}
    run = subprocess.run(
        [sys.executable, fit_scores.__file__],
        env=environment,
        capture_output=True,
        check=True,
        text=True,
    )
    found: dict[str, Any] = json.loads(run.stdout)
    return found


def test_at_least_three_kernels_run_here() -> None:
    if not flags():
        pytest.skip("no /proc/cpuinfo says what this processor can run")
    assert len(runnable()) >= 3


@pytest.mark.parametrize("kernel", also_in_soak(FEW_KERNELS, MORE_KERNELS))
def test_every_kernel_ends_in_the_same_scores(kernel: str) -> None:
    if kernel not in runnable():
        pytest.skip(f"this processor lacks {sorted(KERNELS[kernel] - flags())}")
    here, there = scores_with(runnable()[0]), scores_with(kernel)
    assert here.keys() == there.keys() == models().keys()
    for name, expected in here.items():
        # Fits of words call no BLAS.
        atol = 0 if name.endswith("of texts") else TOLERANCE
        np.testing.assert_allclose(there[name], expected, rtol=0, atol=atol, err_msg=name)


def test_kernels_do_add_up_differently() -> None:
    """Without that the test above would show nothing."""
    code = (
        "import numpy as np; r = np.random.default_rng(1).normal(size=(200, 200)); "
        "print((r @ r).tobytes().hex())"
    )
    found = {
        subprocess.run(
            [sys.executable, "-c", code],
            env=os.environ | {"OPENBLAS_CORETYPE": kernel, "OPENBLAS_NUM_THREADS": "1"},
            capture_output=True,
            check=True,
        ).stdout
        for kernel in runnable()
    }
    if not runnable():
        pytest.skip("no /proc/cpuinfo says what this processor can run")
    assert len(found) > 1


@each_fit
def test_any_order_of_messages_ends_in_the_same_scores(name: str) -> None:
    (one, messages), (other, _) = models()[name], models()[name]
    for x, y in messages:
        one.learn_one(x, y)
    shuffled = messages.copy()
    random.Random(3).shuffle(shuffled)
    for x, y in shuffled:
        other.learn_one(x, y)
    one.refresh()
    other.refresh()
    found = scores(other, messages)
    labels = other.classes_
    for x, got, expected in zip(messages, found, scores(one, messages), strict=True):
        assert list(other.joint_log_likelihood_one(x[0])) == labels
        np.testing.assert_allclose(got, expected, rtol=0, atol=TOLERANCE)


@each_fit
def test_batches_and_many_refits_end_in_the_same_scores(name: str) -> None:
    """However often weights were fitted before, and to however few messages."""
    (one, messages), (many, _) = models()[name], models()[name]
    one.refresh_every = many.refresh_every = 17
    one, many = one.clone(), many.clone()
    for x, y in messages:
        one.learn_one(x, y)
    for start in range(0, len(messages), 30):
        part = messages[start : start + 30]
        many.learn_many([x for x, _ in part], [y for _, y in part])
    np.testing.assert_allclose(
        scores(many, messages), scores(one, messages), rtol=0, atol=TOLERANCE
    )


# --- the minimiser --------------------------------------------------------------------------------


@pytest.mark.parametrize("loss", [EXPONENTIAL, DEVIANCE, LIKELIHOOD, GENERALISED])
@pytest.mark.parametrize("ridge", [1e-6, 0.01, 10.0])
def test_a_convex_loss_is_least_in_one_place_wherever_the_fit_begins(
    loss: Loss, ridge: float
) -> None:
    rng = np.random.default_rng(4)
    slopes = rng.normal(0.3, 1.0, size=(80, 2, 6))
    slopes[:, :, 5] = 2 * slopes[:, :, 4]
    objective = Objective(
        loss, rng.normal(size=(80, 2)), DenseSlopes(slopes), rng.uniform(0.5, 2, 80), ridge
    )
    ends = [
        least(objective, start, dense_step)
        for start in (np.zeros(6), np.ones(6), rng.uniform(0, 3, 6), np.full(6, 20.0))
    ]
    for end in ends[1:]:
        np.testing.assert_allclose(
            objective.at(end).margins, objective.at(ends[0]).margins, atol=TOLERANCE
        )
    gradient = objective.at(ends[0]).gradient
    assert (gradient > -1e-10).all()
    assert np.abs(gradient[ends[0] > 0]).max() < 1e-10


@pytest.mark.parametrize("loss", [EXPONENTIAL, DEVIANCE, LIKELIHOOD, SQUARED])
@pytest.mark.parametrize("classes", [2, 4])
def test_second_derivatives_are_those_of_the_loss(loss: Loss, classes: int) -> None:
    rng = np.random.default_rng(8)
    slopes = rng.normal(size=(30, classes - 1, 5))
    weights = rng.uniform(0.5, 2.0, size=30)
    offsets, at = rng.normal(size=(30, classes - 1)), rng.uniform(0, 2, size=5)

    def margins(w: Any) -> Any:
        return offsets + np.einsum("nbj,j->nb", slopes, w)

    def gradient(w: Any) -> Any:
        return np.einsum("nb,nbj->j", loss.value(margins(w), weights)[1], slopes)

    whole = loss.value(margins(at), weights)[0] if loss is EXPONENTIAL else weights.sum()
    table = DenseSlopes(slopes)
    point = Objective(loss, offsets, table, weights, ridge=0.0).at(at)
    found = whole * table.matrix(point.curvature())
    for j in range(5):
        step = np.eye(5)[j] * 1e-6
        expected = (gradient(at + step) - gradient(at - step)) / 2e-6
        np.testing.assert_allclose(found[:, j], expected, rtol=1e-5, atol=1e-5)


def test_a_bowl_is_convex_where_the_loss_is_not() -> None:
    rng = np.random.default_rng(9)
    slopes, margins = rng.normal(size=(30, 2, 5)), rng.normal(-2.0, 1.0, size=(30, 2))
    table = DenseSlopes(slopes)
    point = Objective(SQUARED, margins, table, np.ones(30), ridge=0.0).at(np.zeros(5))
    plain, bowl = (
        np.linalg.eigvalsh(table.matrix(point.curvature(bowl))) for bowl in (False, True)
    )
    assert plain.min() < 0 <= bowl.min()
