"""Who may do what: bearer tokens with scopes, compared in constant time."""

import hashlib
import hmac
import os
from collections.abc import Mapping

from graphbandit.errors import ConfigurationError
from graphbandit.service.configuration import Token


class Tokens:
    """The tokens of a service; without any, everybody may do everything."""

    def __init__(self, tokens: Mapping[str, Token]) -> None:
        self._known = [(_digest(name, token), frozenset(token.scopes)) for name, token in tokens.items()]

    def __bool__(self) -> bool:
        return bool(self._known)

    def allowed(self, header: str | None, scope: str) -> int:
        """200 if the Authorization header has a token with this scope (or admin), else 401 or 403.

        Every token is compared, even after a match, so that the time reveals nothing.
        """
        if not self._known:
            return 200
        kind, _, text = (header or "").partition(" ")
        given = hashlib.sha256(text.strip().encode()).digest()
        status = 401
        for digest, scopes in self._known:
            same = hmac.compare_digest(digest, given) and kind.lower() == "bearer"
            if same:
                status = 200 if scope in scopes or "admin" in scopes else 403
        return status


def _digest(name: str, token: Token) -> bytes:
    if token.sha256 is not None:
        return bytes.fromhex(token.sha256)
    text = token.token
    if token.environment is not None:
        text = os.environ.get(token.environment)
        if not text or len(text) < 16:
            raise ConfigurationError(
                f"tokens.{name}.environment",
                f"names {token.environment}; expected a variable of at least 16 characters",
            )
    assert text is not None
    return hashlib.sha256(text.encode()).digest()
