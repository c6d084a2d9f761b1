"""The description of the HTTP interface has each route and each field, and no others."""

from __future__ import annotations

import json
from typing import Any

from starlette.routing import Route

from streamnb_consumers.daemon.health import Health
from streamnb_consumers.daemon.listen import http
from streamnb_consumers.records import Decision, Partition

DESCRIPTION = json.loads(http._DESCRIPTION.read_text(encoding="utf-8"))


def test_each_route_is_described_and_each_description_has_a_route() -> None:
    service: Any = None  # is asked by requests only
    app = http.make_app(service, Health(), lambda: b"")
    served = {
        (route.path, method)
        for route in app.routes
        if isinstance(route, Route)
        for method in (route.methods or set()) - {"HEAD"}
    }
    assert len(served) == len(app.routes)
    described = {
        (path, method.upper())
        for path, methods in DESCRIPTION["paths"].items()
        for method in methods
    }
    assert served == described


def test_a_generated_client_has_an_address_and_a_name_for_each_call() -> None:
    assert [server["url"] for server in DESCRIPTION["servers"]] == ["/"]
    operations = [each for methods in DESCRIPTION["paths"].values() for each in methods.values()]
    names = [each["operationId"] for each in operations]
    assert len(set(names)) == len(names)
    assert all(name.isidentifier() for name in names)
    assert all(each["summary"] and each["responses"] for each in operations)


def test_each_field_of_a_decision_is_described_and_each_description_is_a_field() -> None:
    place = Partition("x", 0)
    whole = Decision("1", "a", {}, 0.0, 1, place, 0, (("win", 1.0),), "deny", True).to_json()
    least = Decision("1", "a", {}, 0.0, 1, place, 0).to_json()
    schema = DESCRIPTION["components"]["schemas"]["Decision"]
    several = Decision("1", ("a", "b"), {}, None, 1, place, 0).to_json()
    assert whole.keys() | several.keys() == schema["properties"].keys()
    assert schema["anyOf"] == [{"required": ["label"]}, {"required": ["labels"]}]
    assert least.keys() - {"label"} == several.keys() - {"labels"} == set(schema["required"])
