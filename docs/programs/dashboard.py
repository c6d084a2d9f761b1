"""The Grafana dashboard of the filters, from the list of their metrics.

`make docs` writes `docker/grafana/dashboards/streamnb.json`. A new metric has a panel without
further work: its type gives the query, its name the unit, and its description the text. Only what a
person reads first, or side by side, is listed here.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from streamnb_consumers.daemon.metrics import METRICS, Metric

SOURCE = {"type": "prometheus", "uid": "prometheus"}
BY_NAME = {metric.name: metric for metric in METRICS}

# The first row: a number of each filter, and the values from which it is yellow and red.
NUMBERS = {
    "decisions": ("Decisions", None, None),
    "rolling_accuracy": ("Accuracy", 0.95, 0.9),
    "decision_latency_seconds": ("Latency, p99", 2, 10),
    "lag_records": ("Lag", 5_000, 50_000),
    "dead_letters": ("Dead letters", 1, 10),
    "snapshot_age_seconds": ("Snapshot age", 300, 900),
}
# Metrics that are drawn together; each other metric has a panel of its own.
TOGETHER = {
    "Dead letters and aborted transactions": ("dead_letters", "aborted_transactions"),
    "Training events": ("training_events", "corrections"),
    "Model": ("model_training_events", "model_words"),
    "Join window": ("join_window_messages", "pending_labels"),
    "Sizes": ("join_window_bytes", "snapshot_bytes"),
    "Losses": ("missing_records", "unwritten_records", "snapshot_failures", "tombstones"),
    "Questions": ("questions", "self_trained"),
    "Readiness": ("ready", "model_ready"),
    "Contract with the cluster": ("contract_differences", "misplaced_labels"),
    "Share of calls, and agreement": ("teacher_call_share", "teacher_agreement"),
}
# Labels with too many values for a panel.
LEFT_OUT = {"lag_records": ("partition",)}
# Counters of rare events: per hour instead of per second.
RARE = {
    *("drift_alarms", "challengers", "missing_records", "unwritten_records", "snapshot_failures"),
    *("tombstones", "questions", "self_trained"),
}
SHARES = ("_share", "_ratio", "_accuracy", "_agreement", "roc_auc", "ready", "_running")


def queries(metric: Metric) -> Iterator[tuple[str, str]]:
    """Yield the queries of a metric, and what distinguishes their curves."""
    labels = [each for each in metric.labels if each not in LEFT_OUT.get(metric.name, ())]
    name, by = f"streamnb_{metric.name}", ", ".join(("filter", *labels))
    chosen, curve = '{filter=~"$filter"}', " ".join(f"{{{{{each}}}}}" for each in labels)
    if metric.type == "histogram":
        for share, title in ((0.5, "p50"), (0.99, "p99")):
            rates = f"sum by (le, filter) (rate({name}_bucket{chosen}[5m]))"
            yield f"histogram_quantile({share}, {rates})", title
    elif metric.type == "counter":
        hours = ("3600 * ", "1h") if metric.name in RARE else ("", "1m")
        yield f"{hours[0]}sum by ({by}) (rate({name}_total{chosen}[{hours[1]}]))", curve
    elif metric.name.endswith("timestamp_seconds"):
        yield f"time() - max by ({by}) ({name}{chosen})", curve
    else:
        whole = "sum" if metric.name in LEFT_OUT else "min" if "ready" in metric.name else "max"
        yield f"{whole} by ({by}) ({name}{chosen})", curve


def unit(metric: Metric) -> dict[str, Any]:
    """Return unit and range of a metric."""
    if metric.type == "counter":
        return {"unit": "short" if metric.name in RARE else "cps", "min": 0}
    if metric.name.endswith("_seconds"):
        return {"unit": "s", "min": 0}
    if metric.name.endswith("_bytes"):
        return {"unit": "bytes", "min": 0}
    if metric.name.endswith(SHARES):
        return {"unit": "percentunit", "max": 1}
    return {"unit": "short"}


def described(metric: Metric) -> str:
    """Return the description of a metric, with the unit of rare events."""
    return f"{metric.description} Per hour." if metric.name in RARE else metric.description


def panel(title: str, metrics: Iterable[Metric]) -> dict[str, Any]:
    """Return a panel with the curves of metrics."""
    metrics = list(metrics)
    asked = [(query, each, curve) for each in metrics for query, curve in queries(each)]
    targets = []
    for place, (query, metric, curve) in enumerate(asked):
        several = words(metric.name) if len(metrics) > 1 else ""
        legend = " ".join(each for each in ("{{filter}}", several, curve) if each)
        target = {"refId": chr(ord("A") + place), "datasource": SOURCE, "expr": query}
        targets.append(target | {"legendFormat": legend})
    lines = {"drawStyle": "line", "lineWidth": 1, "fillOpacity": 5, "showPoints": "never"}
    return {
        "title": title,
        "description": " ".join(described(metric) for metric in metrics),
        "type": "timeseries",
        "datasource": SOURCE,
        "fieldConfig": {"defaults": {**unit(metrics[0]), "custom": lines}, "overrides": []},
        "options": {
            "legend": {"displayMode": "list", "placement": "bottom", "showLegend": True},
            "tooltip": {"mode": "multi", "sort": "desc"},
        },
        "targets": targets,
    }


def number(metric: Metric, title: str, yellow: float | None, red: float | None) -> dict[str, Any]:
    """Return a panel with the last number of a metric."""
    made = panel(title, [metric])
    steps: list[dict[str, Any]] = [{"color": "text" if yellow is None else "green", "value": None}]
    if yellow is not None and red is not None:
        steps += [{"color": "yellow", "value": yellow}, {"color": "red", "value": red}]
        if red < yellow:  # the lower, the worse
            steps = [
                {"color": color, "value": value}
                for color, value in (("red", None), ("yellow", red), ("green", yellow))
            ]
    made["type"] = "stat"
    made["targets"] = made["targets"][-1:]
    made["options"] = {
        "colorMode": "value",
        "graphMode": "none",
        "textMode": "value_and_name",
        "reduceOptions": {"calcs": ["lastNotNull"], "fields": "", "values": False},
    }
    made["fieldConfig"]["defaults"] = {
        **unit(metric),
        "color": {"mode": "thresholds"},
        "thresholds": {"mode": "absolute", "steps": steps},
    }
    return made


def workers(metric: Metric) -> dict[str, Any]:
    """Return the table of the versions that run."""
    made = panel("Workers", [metric])
    hidden = dict.fromkeys(("Time", "Value", "__name__", "job"), True)
    made |= {"type": "table", "options": {"showHeader": True}}
    made["targets"][0] |= {"format": "table", "instant": True}
    made["fieldConfig"]["defaults"] = {}
    made["transformations"] = [{"id": "organize", "options": {"excludeByName": hidden}}]
    return made


def words(name: str) -> str:
    """Return a name in words, without its unit."""
    for unit_name in ("_timestamp_seconds", "_seconds", "_bytes", "_ratio"):
        name = name.removesuffix(unit_name)
    return name.replace("_", " ").replace("roc auc", "ROC AUC")


def dashboard() -> str:
    """Return the dashboard as JSON."""
    numbers = [number(BY_NAME[name], *chosen) for name, chosen in NUMBERS.items()]
    grouped = {name: title for title, names in TOGETHER.items() for name in names}
    titles: dict[str, list[Metric]] = {}
    for metric in METRICS:
        title = grouped.get(metric.name, words(metric.name))
        titles.setdefault(title[0].upper() + title[1:], []).append(metric)
    table = titles.pop("Build info")
    curves = [panel(title, metrics) for title, metrics in titles.items()]
    for place, one in enumerate(numbers):
        one["gridPos"] = {"h": 4, "w": 4, "x": 4 * place, "y": 0}
    for place, one in enumerate(curves):
        one["gridPos"] = {"h": 8, "w": 8, "x": 8 * (place % 3), "y": 4 + 8 * (place // 3)}
    last = workers(table[0])
    last["gridPos"] = {"h": 6, "w": 24, "x": 0, "y": 4 + 8 * -(-len(curves) // 3)}
    panels = [{"id": place, **one} for place, one in enumerate((*numbers, *curves, last), start=1)]
    variable = {
        "name": "filter",
        "label": "Filter",
        "type": "query",
        "datasource": SOURCE,
        "query": {"query": "label_values(streamnb_model_words, filter)", "refId": "filter"},
        "refresh": 2,
        "includeAll": True,
        "multi": True,
        "allValue": ".*",
        "current": {"text": "All", "value": "$__all"},
    }
    whole = {
        "uid": "streamnb",
        "title": "streamnb: filters of message streams",
        "tags": ["streamnb"],
        "schemaVersion": 39,
        "version": 1,
        "editable": False,
        "time": {"from": "now-15m", "to": "now"},
        "refresh": "5s",
        "timezone": "",
        "annotations": {"list": []},
        "templating": {"list": [variable]},
        "panels": panels,
    }
    return json.dumps(whole, indent=1) + "\n"
