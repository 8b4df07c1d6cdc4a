"""OpenAPI, made from the message types, and a page that shows it without fetching anything."""

import html
import json
from functools import cache
from typing import Any

import msgspec

from graphbandit.service import messages, personalizer

ROUTES: tuple[tuple[str, str, str, Any, Any, tuple[int, ...]], ...] = (
    ("post", "/v1/{bandit}/decide", "Ask for a decision, or for a list of them", messages.DecideRequest,
     messages.DecideAnswer, (400, 401, 403, 404, 408, 413, 422, 429, 503)),
    ("post", "/v1/{bandit}/observe", "Hand back rewards of a decision, or of a list of them", messages.ObserveRequest,
     messages.ObserveAnswer, (400, 401, 403, 404, 408, 409, 413, 422, 503)),
    ("post", "/v1/{bandit}/activate", "Have a deferred decision learnt from", messages.ActivateRequest,
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
    raise NotImplementedError(kind)  # what msgspec expects of a hook that does not know a type


def _content(schema: Any, batches: bool) -> dict[str, Any]:
    if schema is None:
        return {}
    whole = {"anyOf": [schema, {"type": "array", "items": schema}]} if batches else schema
    return {"content": {"application/json": {"schema": whole}}}


_STYLE = """:root{color-scheme:light dark}body{font:16px/1.5 system-ui,sans-serif;max-width:52rem;margin:2rem auto;
padding:0 1rem}h2{font-size:1.05rem;margin-bottom:.2rem}pre{overflow:auto;padding:.7rem;border:1px solid #8884;
border-radius:.4rem;font-size:.8rem}"""

_HEAD = f"""<!DOCTYPE html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>graphbandit: the interface</title><style>{_STYLE}</style><h1>The interface</h1>
<p>As <a href="openapi.json">OpenAPI</a>. Requests to <code>/v1/…</code> take one object or a list of them.</p>"""


@cache
def page() -> str:
    """The document for people: one page, nothing fetched."""
    found = document()
    parts = [_HEAD]
    for path, methods in found["paths"].items():
        for method, operation in methods.items():
            body = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")
            answer = operation["responses"].get("200", {}).get("content", {}).get("application/json", {}).get("schema")
            refusals = ", ".join(status for status in operation["responses"] if int(status) >= 400)
            words = f"{operation['summary']}.{f' Refused with {refusals}.' if refusals else ''}"
            parts += [
                f"<section><h2><code>{method.upper()} {html.escape(path)}</code></h2><p>{html.escape(words)}</p>",
                f"{_schema('Request', body)}{_schema('Answer', answer)}</section>",
            ]
    parts.append("<h2>Types</h2>")
    for name, schema in found["components"]["schemas"].items():
        words, fields = schema.get("description", ""), json.dumps(schema.get("properties", {}), indent=2)
        parts += [
            f'<section id="{html.escape(name)}"><h3>{html.escape(name)}</h3><p>{html.escape(words)}</p>',
            f"<pre>{html.escape(fields)}</pre></section>",
        ]
    return "".join([*parts, "</html>"])


def _schema(title: str, schema: Any) -> str:
    if schema is None:
        return ""
    reference = (schema.get("anyOf") or [schema])[0].get("$ref", "").rsplit("/", 1)[-1]
    return f'<p>{title}: <a href="#{html.escape(reference)}">{html.escape(reference)}</a></p>' if reference else ""
