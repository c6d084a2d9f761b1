"""Models by the names of their parts are the named ones, and parts that do not compose say why."""

from __future__ import annotations

import pytest

import streamnb
from support.streams import synthetic_stream


@pytest.mark.parametrize(
    ("parts", "name"),
    [
        (("bernoulli", "independent"), "BNB"),
        (("multinomial", "independent"), "MNB"),
        (("complement", "independent"), "CNB"),
        (("one-versus-all", "independent"), "OVA"),
        (("multinomial", "hidden"), "HMNB"),
        (("complement", "hidden"), "HCNB"),
        (("one-versus-all", "hidden"), "HOVA"),
        (("multinomial", "one-dependence"), "SEMNB"),
        (("complement", "one-dependence"), "SECNB"),
        (("one-versus-all", "one-dependence"), "SEOVA"),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_composed_model_equals_the_named_one(parts: tuple[str, str], name: str) -> None:
    event, dependence = parts
    composed = streamnb.ComposedNB(event=event, dependence=dependence, refresh_every=1)
    named = getattr(streamnb, name)(refresh_every=1)
    for counts, label, weight in synthetic_stream(60):
        assert composed.joint_log_likelihood_one(counts) == named.joint_log_likelihood_one(counts)
        composed.learn_one(counts, label, weight)
        named.learn_one(counts, label, weight)
