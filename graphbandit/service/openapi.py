"""OpenAPI, made from the message types, and a page that shows it without fetching anything."""

import json
import re
from functools import cache
from typing import Any

import msgspec
from markupsafe import Markup, escape

from graphbandit.service import messages, personalizer
from graphbandit.service.answers import TITLES

ROUTES: tuple[tuple[str, str, str, Any, Any, tuple[int, ...]], ...] = (
    ("post", "/v1/{bandit}/decide", "Ask for a decision, or for a list of them", messages.DecideRequest,
     messages.DecideAnswer, (400, 401, 403, 404, 408, 413, 422, 429, 503)),
    ("post", "/v1/{bandit}/observe", "Send rewards of a decision, or of a list of them", messages.ObserveRequest,
     messages.ObserveAnswer, (400, 401, 403, 404, 408, 409, 413, 422, 503)),
    ("post", "/v1/{bandit}/activate", "Say that a deferred decision was shown after all", messages.ActivateRequest,
     messages.ActivateAnswer, (400, 401, 403, 404, 408, 413, 422, 503)),
    ("get", "/v1", "All bandits with their settings", None, None, (401, 403)),
    ("get", "/v1/{bandit}", "Settings, rounds, open decisions, delays, an example", None, None, (401, 403, 404)),
    ("get", "/v1/{bandit}/decisions/{id}", "Everything that explains a decision", None, None, (401, 403, 404, 503)),
    ("get", "/v1/{bandit}/events", "What the live page shows, pushed every second (text/event-stream)", None, None,
     (401, 403, 404)),
    ("post", "/personalizer/v1.0/rank", "Rank actions, as Personalizer's clients ask", personalizer.RankRequest, None,
     (400, 401, 403, 404, 408, 413, 422, 429, 503)),
    ("post", "/personalizer/v1.0/events/{id}/reward", "The reward of an event", personalizer.RewardRequest, None,
     (400, 401, 403, 404, 408, 409, 413, 422, 503)),
    ("post", "/personalizer/v1.0/events/{id}/activate", "The event was shown after all", None, None,
     (401, 403, 404, 408, 413, 503)),
    ("get", "/metrics", "Figures for Prometheus", None, None, (401, 403)),
    ("get", "/health", "Whether the process answers", None, None, ()),
    ("get", "/ready", "Whether decisions can be made and logged", None, None, (503,)),
)  # fmt: skip

EXAMPLES: dict[str, Any] = {
    "/v1/{bandit}/decide": {"key": "visit-18", "context": {"country": "DE", "basket": 21.5}},
    "/v1/{bandit}/observe": {"id": "visit-18", "rewards": {"8.99": 8.99}},
    "/v1/{bandit}/activate": {"id": "visit-18"},
    "/personalizer/v1.0/rank": {"eventId": "visit-19", "actions": [{"id": "soup"}, {"id": "salad"}]},
    "/personalizer/v1.0/events/{id}/reward": {"value": 1.0},
}
"""A request to each route that takes one, for the bandits of `serve --new`."""

SUCCESS = {
    "/personalizer/v1.0/rank": "201",
    "/personalizer/v1.0/events/{id}/reward": "204",
    "/personalizer/v1.0/events/{id}/activate": "204",
}
"""The status of an answer where it is not 200."""


@cache
def document() -> dict[str, Any]:
    """The OpenAPI document."""
    from graphbandit import __version__

    kinds = [kind for _, _, _, asked, given, _ in ROUTES for kind in (asked, given) if kind is not None]
    kinds.append(messages.Problem)
    references, components = msgspec.json.schema_components(
        kinds, ref_template="#/components/schemas/{name}", schema_hook=_raw
    )
    by_kind = dict(zip(kinds, references, strict=True))
    paths: dict[str, Any] = {}
    for method, path, summary, asked, given, refusals in ROUTES:
        batches = path.startswith("/v1") and asked is not None
        operation: dict[str, Any] = {
            "summary": summary,
            "parameters": [
                {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
                for name in ("bandit", "id")
                if f"{{{name}}}" in path
            ],
            "responses": {
                SUCCESS.get(path, "200"): {"description": "Done", **_content(by_kind.get(given), batches)},
                **{
                    str(status): {
                        "description": "A problem",
                        "content": {"application/problem+json": {"schema": by_kind[messages.Problem]}},
                    }
                    for status in refusals
                },
            },
        }
        if asked is not None:
            operation["requestBody"] = {"required": True, **_content(by_kind[asked], batches)}
            operation["requestBody"]["content"]["application/json"]["example"] = EXAMPLES[path]
        paths.setdefault(path, {})[method] = operation
    return {
        "openapi": "3.1.0",
        "info": {"title": "graphbandit", "version": __version__, "description": "Decisions over HTTP."},
        "paths": paths,
        "components": {
            "schemas": components,
            "securitySchemes": {"bearer": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{"bearer": []}, {}],
    }


def _raw(kind: type) -> dict[str, Any]:
    """A context is any JSON value."""
    if kind is msgspec.Raw:
        return {"description": "any JSON"}
    raise NotImplementedError(kind)  # msgspec expects this from a hook that does not know a type


def _content(schema: Any, batches: bool) -> dict[str, Any]:
    if schema is None:
        return {}
    whole = {"anyOf": [schema, {"type": "array", "items": schema}]} if batches else schema
    return {"content": {"application/json": {"schema": whole}}}


@cache
def page() -> str:
    """The document as one page for people; the page fetches nothing."""
    from graphbandit.plots.pages.page import templates

    types = [
        (name, _with_code(schema.get("description", "")), json.dumps(schema.get("properties", {}), indent=2))
        for name, schema in document()["components"]["schemas"].items()
    ]
    examples = {path: _curl(path, body) for path, body in EXAMPLES.items()}
    refusals = sorted({status for *_, statuses in ROUTES for status in statuses})
    reasons = [(status, TITLES[status]) for status in refusals]
    return str(templates("graphbandit.service", "interface.html").page(ROUTES, types, examples, reasons))


def _with_code(text: str) -> Markup:
    """Text whose parts in backticks are code."""
    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", str(escape(text))))


def _curl(path: str, body: Any) -> str:
    """A request as a command; $SERVICE stands for the address."""
    place = path.replace("{bandit}", "prices").replace("{id}", "visit-19")
    return f"curl -s $SERVICE{place} -d '{json.dumps(body)}'"
