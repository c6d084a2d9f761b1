"""The alerts on recorded series: each fault raises its alert, and a healthy filter raises none."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

from streamnb_consumers.io.partition_table import BLOCKED, Reason
from support.docker_files import DOCKER

TESTS = Path(__file__).parents[1]
EVENTS = DOCKER.parent / "docs" / "reference" / "kafka-events.md"
PROMTOOL = shutil.which("promtool")
SPAN = 60  # minutes of the recorded series


class Case(NamedTuple):
    """Series of a fault, as promtool writes values, the labels of its alert, and when it fires."""

    alert: str
    series: dict[str, str]
    labels: dict[str, str]
    minutes: int = SPAN


OF = 'filter="sms",instance="a:9100",job="streamnb"'
PLACE = f'{OF},topic="sms",partition="0"'
PLACE_LABELS = {"topic": "sms", "partition": "0"}


def _waiting(reason: Reason) -> Case:
    """Return the case of a partition that does not advance for a reason."""
    alert = "FilterPartitionBlocked" if reason.state == BLOCKED else "FilterPartitionWaits"
    name = f'{PLACE},state="{reason.state}",reason="{reason.label}"'
    series = {f"streamnb_partition_waiting_seconds{{{name}}}": f"0+60x{SPAN}"}
    return Case(alert, series, {**PLACE_LABELS, "reason": reason.label})


CASES = [
    *map(_waiting, Reason),
    Case(
        "FilterTrainingIsBehind",
        {f'streamnb_lag_records{{{OF},topic="sms-training",partition="0"}}': f"5x{SPAN}"},
        {},
    ),
    Case(
        "FilterLabelsWait",
        {
            f"streamnb_pending_labels{{{OF}}}": f"0+100x{SPAN}",
            f'streamnb_training_events_total{{{OF},label="spam"}}': f"7x{SPAN}",
        },
        {},
    ),
    Case("FilterLabelsMisplaced", {f"streamnb_misplaced_labels{{{OF}}}": f"3x{SPAN}"}, {}),
    Case(
        "FilterRestarts",
        {f"streamnb_start_timestamp_seconds{{{OF}}}": f"0+60x{SPAN}"},
        {},
    ),
    Case("FilterContract", {f"streamnb_contract_differences{{{OF}}}": f"2x{SPAN}"}, {}),
    Case("FilterNotReady", {f"streamnb_ready{{{OF}}}": f"0x{SPAN}"}, {}),
    Case(
        "FilterMissesRecords",
        {f"streamnb_missing_records_total{{{OF}}}": f"0x50 5x{SPAN}"},
        {},
    ),
    Case(
        "FilterTransactionsAbort",
        {f"streamnb_aborted_transactions_total{{{OF}}}": f"0+10x{SPAN}"},
        {},
    ),
    Case("FilterDown", {f"up{{{OF}}}": f"0x{SPAN}"}, {"instance": "a:9100"}),
    Case(
        "FilterDecidesNothing",
        {
            f'streamnb_decisions_total{{{OF},label="spam"}}': f"7x{SPAN}",
            f"streamnb_lag_records{{{PLACE}}}": f"3x{SPAN}",
        },
        {},
    ),
    Case("FilterIsBehind", {f"streamnb_lag_records{{{PLACE}}}": f"20000x{SPAN}"}, {}),
    Case(
        "FilterIsSlow",
        {
            f'streamnb_decision_latency_seconds_bucket{{{OF},le="{le}"}}': f"0+{step}x{SPAN}"
            for le, step in (("1", 60), ("10", 600), ("+Inf", 600))
        },
        {},
    ),
    Case(
        "FilterDeadLetters",
        {
            f"streamnb_dead_letters_total{{{OF}}}": f"0+6x{SPAN}",
            f'streamnb_records_total{{{OF},role="message"}}': f"0+60x{SPAN}",
        },
        {},
    ),
    Case("FilterLeavesOutRecords", {f"streamnb_unwritten_records_total{{{OF}}}": "0x50 1x10"}, {}),
    Case(
        "FilterSnapshotOld",
        {
            f"streamnb_snapshot_age_seconds{{{OF}}}": f"0+60x{SPAN}",
            f'streamnb_records_total{{{OF},role="message"}}': f"0+60x{SPAN}",
        },
        {},
    ),
    Case("FilterSnapshotFails", {f"streamnb_snapshot_failures_total{{{OF}}}": f"0+1x{SPAN}"}, {}),
    Case("FilterAccuracyFell", {f"streamnb_rolling_accuracy{{{OF}}}": "0.98x29 0.8x31"}, {}),
    Case("FilterDrifts", {f"streamnb_drift_timestamp_seconds{{{OF}}}": f"3000x{SPAN}"}, {}),
    Case(
        "FilterVersionsDiffer",
        {
            f'streamnb_build_info{{{OF},version="{version}"}}': f"1x{2 * SPAN}"
            for version in ("1.0", "1.1")
        },
        {},
        minutes=2 * SPAN,
    ),
]

HEALTHY = {
    f"up{{{OF}}}": f"1x{SPAN}",
    f"streamnb_ready{{{OF}}}": f"1x{SPAN}",
    f'streamnb_partition_waiting_seconds{{{PLACE},state="running",reason=""}}': f"0x{SPAN}",
    f"streamnb_lag_records{{{PLACE}}}": f"3x{SPAN}",
    f'streamnb_lag_records{{{OF},topic="sms-training",partition="0"}}': f"0 4 0 0x{SPAN}",
    f'streamnb_decisions_total{{{OF},label="spam"}}': f"0+600x{SPAN}",
    f"streamnb_missing_records_total{{{OF}}}": f"0x{SPAN}",
    f"streamnb_aborted_transactions_total{{{OF}}}": f"0 1 1 2x{SPAN}",
    f'streamnb_training_events_total{{{OF},label="spam"}}': f"0+60x{SPAN}",
    f"streamnb_pending_labels{{{OF}}}": f"150x{SPAN}",
    f"streamnb_misplaced_labels{{{OF}}}": f"0x{SPAN}",
    f"streamnb_contract_differences{{{OF}}}": f"0x{SPAN}",
    f"streamnb_start_timestamp_seconds{{{OF}}}": f"5x30 9x{SPAN}",
}


def run(tests: list[dict[str, Any]], folder: Path) -> None:
    """Let promtool evaluate the rules on series."""
    if PROMTOOL is None:
        if os.environ.get("STREAMNB_REQUIRE_DATA") == "1":
            pytest.fail("promtool is not installed (apt-get install prometheus)")
        pytest.skip("promtool is not installed (apt-get install prometheus)")
    file = folder / "test.yml"
    rules = {"rule_files": [str(DOCKER / "alerts.yml")], "evaluation_interval": "1m"}
    file.write_text(yaml.safe_dump(rules | {"tests": tests}))
    done = subprocess.run(
        [PROMTOOL, "test", "rules", str(file)], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stdout + done.stderr


def rule(alert: str) -> dict[str, Any]:
    groups = yaml.safe_load((DOCKER / "alerts.yml").read_text(encoding="utf-8"))["groups"]
    return next(each for each in groups[0]["rules"] if each["alert"] == alert)


def test_each_alert_has_a_recorded_fault() -> None:
    groups = yaml.safe_load((DOCKER / "alerts.yml").read_text(encoding="utf-8"))["groups"]
    assert {rule["alert"] for rule in groups[0]["rules"]} == {case.alert for case in CASES}


def test_alerts_of_the_documentation_exist() -> None:
    named = set(re.findall(r"`(Filter[A-Z]\w+)`", EVENTS.read_text(encoding="utf-8")))
    assert len(named) > 5
    assert named <= {case.alert for case in CASES}


def test_each_event_of_the_documentation_has_its_tests_and_its_alert() -> None:
    rows = [
        [cell.strip() for cell in line.split("|")[1:-1]]
        for line in EVENTS.read_text(encoding="utf-8").splitlines()
        if line.startswith("| ")
    ]
    known = {path.name for path in TESTS.rglob("test_*.py")}
    for event, behaviour, line, alert, action, test in rows[2:]:
        named = set(re.findall(r"`(test_\w+\.py)`", test))
        assert named, event
        assert named <= known, event
        assert behaviour, event
        assert action, event
        # An alert needs a line that explains it.
        assert line or not alert, event
        # A process that ends at its start is rarely scraped: only its absence is certain.
        if "ends with status" in behaviour:
            assert "`FilterDown`" in alert, event


def firing(case: Case) -> str:
    """Return a query that is 1 if the alert fires with the labels of the case."""
    labels = {"alertname": case.alert, "alertstate": "firing", "filter": "sms", **case.labels}
    chosen = ",".join(f'{name}="{value}"' for name, value in labels.items())
    return f"count(ALERTS{{{chosen}}})"


def test_a_healthy_filter_raises_no_alert(tmp_path: Path) -> None:
    series = [{"series": name, "values": values} for name, values in HEALTHY.items()]
    expected = [{"expr": "count(ALERTS) or vector(0)", "eval_time": f"{SPAN}m"}]
    expected[0]["exp_samples"] = [{"labels": "{}", "value": 0}]  # type: ignore[assignment]
    run([{"interval": "1m", "input_series": series, "promql_expr_test": expected}], tmp_path)


@pytest.mark.parametrize(
    "case", CASES, ids=lambda case: f"{case.alert} {case.labels.get('reason', '')}".strip()
)
def test_a_fault_raises_its_alert(case: Case, tmp_path: Path) -> None:
    assert rule(case.alert)["annotations"]["description"]
    series = [{"series": name, "values": values} for name, values in case.series.items()]
    expected = {
        "expr": firing(case),
        "eval_time": f"{case.minutes}m",
        "exp_samples": [{"labels": "{}", "value": 1}],
    }
    run([{"interval": "1m", "input_series": series, "promql_expr_test": [expected]}], tmp_path)
