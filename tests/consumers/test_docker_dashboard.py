"""What Prometheus and Grafana of `docker/` are told: whom to ask, and for which metrics."""

from __future__ import annotations

import importlib
import json
import re
import shutil
import subprocess
from typing import Any

import pytest
import yaml

from streamnb_consumers.daemon.metrics import METRICS, Metric
from support.docker_files import (
    DOCKER,
    ROOT,
    compose,
    dashboard,
    filters,
    image_environment,
    instructions,
    queries,
)

SERVICES = compose()["services"]


def test_prometheus_asks_every_filter() -> None:
    settings = yaml.safe_load((DOCKER / "prometheus.yml").read_text(encoding="utf-8"))
    assert set(settings) == {"global", "rule_files", "scrape_configs"}
    asked = {}
    for job in settings["scrape_configs"]:
        assert set(job) <= {"job_name", "honor_labels", "static_configs", "metrics_path"}
        for group in job["static_configs"]:
            asked |= dict.fromkeys(group["targets"], group["labels"]["filter"])
    port = image_environment()["STREAMNB_HTTP_PORT"]
    assert asked == {f"{name}:{port}": name for name in filters()}
    assert instructions("EXPOSE") == [port]
    mounted = SERVICES["prometheus"]["volumes"][0].split(":")[1]
    assert f"--config.file={mounted}" in SERVICES["prometheus"]["command"]


def test_grafana_finds_its_source_and_its_dashboard() -> None:
    folder = DOCKER / "grafana" / "provisioning"
    source = yaml.safe_load((folder / "datasources" / "prometheus.yaml").read_text())
    found = source["datasources"][0]
    assert found["url"] == "http://prometheus:9090"
    assert found["uid"] == found["type"] == "prometheus"
    assert set(re.findall(r'"uid": "(\w+)"', json.dumps(dashboard()["panels"]))) == {found["uid"]}
    provider = yaml.safe_load((folder / "dashboards" / "streamnb.yaml").read_text())
    path = provider["providers"][0]["options"]["path"]
    assert f"./grafana/dashboards:{path}:ro" in SERVICES["grafana"]["volumes"]
    home = SERVICES["grafana"]["environment"]["GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH"]
    assert home == f"{path}/streamnb.json"


def asked_names() -> dict[str, tuple[str, ...]]:
    """The metrics that there are, by the names to ask for, with their labels."""
    suffixes = {"histogram": "_bucket", "counter": "_total", "gauge": ""}
    return {f"streamnb_{each.name}{suffixes[each.type]}": each.labels for each in METRICS}


def test_the_dashboard_shows_every_metric_and_no_other() -> None:
    used = {name for query in queries() for name in re.findall(r"streamnb_\w+", query)}
    assert used == set(asked_names())


def test_the_dashboard_is_generated_and_a_new_metric_has_a_panel(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.syspath_prepend(ROOT / "docs" / "programs")
    program = importlib.import_module("dashboard")
    written = (DOCKER / "grafana" / "dashboards" / "streamnb.json").read_text(encoding="utf-8")
    assert program.dashboard() == written
    new = Metric("coffee_seconds", "histogram", "Time since the last coffee.", buckets=(1.0,))
    monkeypatch.setattr(program, "METRICS", (*METRICS, new))
    panels = json.loads(program.dashboard())["panels"]
    (found,) = [panel for panel in panels if panel["title"] == "Coffee"]
    assert found["description"] == new.description
    assert found["fieldConfig"]["defaults"]["unit"] == "s"
    rates = 'sum by (le, filter) (rate(streamnb_coffee_seconds_bucket{filter=~"$filter"}[5m]))'
    assert [target["expr"] for target in found["targets"]] == [
        f"histogram_quantile({share}, {rates})" for share in (0.5, 0.99)
    ]


@pytest.mark.parametrize("query", sorted(set(queries())))
def test_queries_are_well_formed(query: str) -> None:
    assert query.count("(") == query.count(")")
    assert query.count("{") == query.count("}")
    (name,) = re.findall(r"streamnb_\w+", query)
    known = {*asked_names()[name], "filter"} | ({"le"} if name.endswith("_bucket") else set())
    for labels in re.findall(r"by \((.*?)\)", query):
        assert {label.strip() for label in labels.split(",")} <= known
    if name.endswith("_bucket"):
        assert re.search(r"histogram_quantile\(0\.\d+, sum by \(le,", query)
    if name.endswith(("_bucket", "_total")):
        assert "rate(" in query


# --- alerts -------------------------------------------------------------------------------------

OF_PROMETHEUS = {"up": ("job", "instance")}


def alerts() -> list[dict[str, Any]]:
    (group,) = yaml.safe_load((DOCKER / "alerts.yml").read_text(encoding="utf-8"))["groups"]
    return list(group["rules"])


def test_prometheus_reads_the_alerts() -> None:
    settings = yaml.safe_load((DOCKER / "prometheus.yml").read_text(encoding="utf-8"))
    (rules,) = settings["rule_files"]
    mounts = dict(each.split(":")[:2] for each in SERVICES["prometheus"]["volumes"][:-1])
    folder = mounts["./prometheus.yml"].rpartition("/")[0]
    assert mounts[f"./{rules}"] == f"{folder}/{rules}"


@pytest.mark.parametrize("alert", alerts(), ids=lambda alert: alert["alert"])
def test_alerts_ask_for_metrics_that_there_are(alert: dict[str, Any]) -> None:
    assert set(alert) == {"alert", "expr", "for", "labels", "annotations"}
    assert re.fullmatch(r"Filter[A-Za-z]+", alert["alert"])
    assert re.fullmatch(r"\d+[mh]", alert["for"])
    assert alert["labels"]["severity"] in ("critical", "warning")
    assert set(alert["annotations"]) == {"summary", "description"}
    query = alert["expr"]
    for open_, close in ("()", "{}", "[]"):
        assert query.count(open_) == query.count(close)
    known = asked_names() | OF_PROMETHEUS
    used = set(re.findall(r"streamnb_\w+|\bup\b", query))
    assert used
    assert used <= set(known)
    labels = {"filter"} | {label for name in used for label in known[name]}
    labels |= {"le"} if any(name.endswith("_bucket") for name in used) else set()
    asked = [each for group in re.findall(r"by \((.*?)\)", query) for each in group.split(", ")]
    asked += re.findall(r"(\w+)=~?\"", query)
    assert set(asked) <= labels
    for name in used:
        if name.endswith(("_bucket", "_total")):
            assert re.search(rf"(rate|increase)\({name}(\{{.*?\}})?\[", query), name
    told = set(re.findall(r"\$labels\.(\w+)", str(alert["annotations"])))
    assert told <= {"filter"} | ({"instance"} if used == {"up"} else set(asked))


def test_alerts_have_names_of_their_own_and_prometheus_takes_them() -> None:
    names = [alert["alert"] for alert in alerts()]
    assert len(names) == len(set(names)) > 5
    promtool = shutil.which("promtool")
    if promtool is not None:
        command = [promtool, "check", "rules", str(DOCKER / "alerts.yml")]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stdout + done.stderr


# --- panels -------------------------------------------------------------------------------------


def test_panels_lie_side_by_side() -> None:
    panels = dashboard()["panels"]
    assert len({panel["id"] for panel in panels}) == len(panels)
    taken: set[tuple[int, int]] = set()
    for panel in panels:
        assert panel["title"]
        assert panel["description"]
        at = panel["gridPos"]
        cells = {
            (x, y)
            for x in range(at["x"], at["x"] + at["w"])
            for y in range(at["y"], at["y"] + at["h"])
        }
        assert max(x for x, _ in cells) < 24
        assert not cells & taken, panel["title"]
        taken |= cells
