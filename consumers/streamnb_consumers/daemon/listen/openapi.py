"""The OpenAPI description of the HTTP interface, from the types of its objects."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import UNSET, Struct, UnsetType

from streamnb import __version__

__all__ = ["description"]


class Message(Struct):
    """A message; a mail is `text` or `base64`. A label is learned after the decision."""

    id: str | int | UnsetType = UNSET
    text: str | UnsetType = UNSET
    base64: str | UnsetType = UNSET
    sender: str | UnsetType = UNSET
    label: str | UnsetType = UNSET


class Feedback(Struct):
    """A label with the id of a message, or with the message."""

    label: str
    id: str | int | UnsetType = UNSET
    text: str | UnsetType = UNSET
    base64: str | UnsetType = UNSET


class Word(Struct):
    word: str
    towards: float


class Decision(Struct):
    """See docs/reference/filter-records.md."""

    id: str
    label: str | None
    probabilities: dict[str, float]
    score: float | None
    version: int
    words: list[Word] | UnsetType = UNSET
    listed: str | UnsetType = UNSET
    ask: bool | UnsetType = UNSET


class Learned(Struct):
    """The labels that the model learned and unlearned; with Kafka, whether the group will do so."""

    id: str
    learned: str | UnsetType | None = UNSET
    unlearned: str | UnsetType | None = UNSET
    accepted: bool | UnsetType = UNSET


class Error(Struct):
    error: str


# Summary, request and answer of each action.
_ACTIONS: dict[str, tuple[str, type, type]] = {
    "/classify": ("Decide messages", Message, Decision),
    "/explain": ("Decide messages, and name the words that contribute most", Message, Decision),
    "/learn": ("Learn labels; a different label than before is a correction", Feedback, Learned),
    "/unlearn": ("Unlearn messages", Message, Learned),
}
_PAGES = {
    "/decisions": "The last requests with their answers, for the page; `after` is the last `next`",
    "/healthz": "Whether the process works",
    "/readyz": "Whether messages are decided",
    "/metrics": "Metrics for Prometheus",
    "/openapi.json": "This description",
}


def description() -> dict[str, Any]:
    """Return the description.

    Examples
    --------
    >>> description()["components"]["schemas"]["Error"]["required"]
    ['error']
    """
    types = {kind for _, *kinds in _ACTIONS.values() for kind in kinds} | {Error}
    _, schemas = msgspec.json.schema_components(types, ref_template="#/components/schemas/{name}")

    def json_of(kind: type) -> dict[str, Any]:
        schema = {"$ref": f"#/components/schemas/{kind.__name__}"}
        return {"application/json": {"schema": schema}}

    refused = {"description": "Refused; `error` is the reason.", "content": json_of(Error)}
    paths: dict[str, Any] = {
        path: {"get": {"summary": summary, "responses": {"200": {"description": "OK"}}}}
        for path, summary in _PAGES.items()
    }
    for path, (summary, request, answer) in _ACTIONS.items():
        done = {"description": "The result, or one per line.", "content": json_of(answer)}
        forms = {"application/x-ndjson": {}, "message/rfc822": {}, **json_of(request)}
        paths[path] = {
            "post": {
                "summary": summary,
                "requestBody": {"required": True, "content": forms},
                "responses": {"200": done, "4XX": refused, "503": refused},
            }
        }
    # The query of a raw mail has its label and its fields.
    query = {"name": "label", "in": "query", "schema": {"type": "string"}}
    paths["/learn"]["post"]["parameters"] = [query]
    return {
        "openapi": "3.1.0",
        "info": {"title": "streamnb listen", "version": __version__},
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{}, {"token": []}],
    }
