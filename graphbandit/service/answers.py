"""Answers: JSON, and problems as problem+json with the offending field."""

import re
from typing import Any

import msgspec
from starlette.responses import Response

from graphbandit.service.messages import Problem
from graphbandit.service.protocol import Answer, Done, Refusal

TITLES = {
    400: "The request is not JSON",
    401: "A bearer token is needed",
    403: "The token does not allow this",
    404: "Not found",
    405: "The method is not allowed",
    408: "The request came too slowly",
    409: "Another reward was recorded before",
    413: "The request is too large",
    422: "A field is wrong",
    429: "Too many decisions are open",
    500: "The service has failed",
    503: "The service cannot do this now",
}


class RefusedError(Exception):
    """A request that is answered with a problem."""

    def __init__(self, status: int, detail: str, field: str | None = None, index: int | None = None) -> None:
        super().__init__(detail)
        self.status, self.detail, self.field, self.index = status, detail, field, index


def problem(status: int, detail: str, field: str | None = None, index: int | None = None) -> Response:
    """A problem+json answer."""
    body = msgspec.json.encode(Problem(TITLES.get(status, "Refused"), status, detail, field, index))
    headers = {"www-authenticate": "Bearer"} if status == 401 else {"retry-after": "1"} if status in (429, 503) else {}
    return Response(body, status, headers, media_type="application/problem+json")


def json(value: Any, status: int = 200) -> Response:
    """A JSON answer."""
    return Response(msgspec.json.encode(value), status, media_type="application/json")


def checked(answer: Answer, *, batch: bool = False) -> list[Done]:
    """The operations that were done; raises the refusal if there is one, with its place if the request was a batch."""
    if isinstance(answer, Refusal):
        raise RefusedError(answer.status, answer.detail, answer.field, answer.index if batch else None)
    return answer


def decoded(decoder: Any, data: bytes) -> Any:
    """Decode a body; RefusedError says what is wrong with it."""
    try:
        return decoder.decode(data)
    except msgspec.ValidationError as error:
        message, field, index = _misplaced(str(error))
        raise RefusedError(422, message if field is None else f"{field}: {message}", field, index) from None
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        raise RefusedError(400, str(error)) from None


def _misplaced(error: str) -> tuple[str, str | None, int | None]:
    """What msgspec found wrong, the field, and its place in a batch.

    >>> _misplaced("Expected `str`, got `int` - at `$[1].key`")
    ('Expected `str`, got `int`', 'key', 1)
    >>> _misplaced("Object missing required field `id`")
    ('Object missing required field `id`', 'id', None)
    """
    message, _, place = error.partition(" - at `$")
    found = re.match(r"(?:\[(\d+)\])?\.?(.*?)(?:\[\.\.\.\])?`?$", place)
    assert found is not None  # every part of the pattern may be empty
    named = re.match(r"Object (?:missing required|contains unknown) field `(.*)`", message)
    field = ".".join(part for part in (found[2], "" if named is None else named[1]) if part)
    return message, field or None, None if found[1] is None else int(found[1])
