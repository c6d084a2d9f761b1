"""A short campaign: kills and freezes of workers and broker lose nothing and double nothing.

`make campaign` runs long ones; see docs/internals/kafka-campaign.md.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from pathlib import Path

import pytest

from support.broker import Broker
from support.scenes.campaign import Campaign, Plan
from support.scenes.operations import AUTHORIZER, OPERATIONS

SMALL = Plan(
    kills=5, freezes=2, broker_kills=1, operations=len(OPERATIONS), messages=3_000, pause=1.0
)


@pytest.mark.broker_long
@pytest.mark.parametrize("own_broker", [AUTHORIZER], indirect=True, ids=["authorizer"])
@pytest.mark.parametrize("plan", [SMALL, pytest.param(Plan(), marks=pytest.mark.soak)])
def test_nothing_is_lost_and_nothing_doubled(
    own_broker: Broker, tmp_path: Path, client: str, plan: Plan
) -> None:
    model = "MNB(alpha=0.1, oov='skip')"
    report = Campaign(own_broker, tmp_path, client, plan, model).run()
    happened = (report.kills, report.freezes, report.broker_kills, report.operations)
    assert happened == (plan.kills, plan.freezes, plan.broker_kills, plan.operations)
    assert report.clean, report
    assert report.models == 1


def test_what_happens_follows_from_the_seed() -> None:
    plan = Plan()
    events = plan.events()
    assert events == plan.events() != dataclasses.replace(plan, seed=2).events()
    kinds = dict.fromkeys(OPERATIONS, 3)
    assert Counter(events) == {"kill": 100, "freeze twice": 10, "broker": 10, **kinds}
