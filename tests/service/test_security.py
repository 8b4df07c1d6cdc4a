"""What a hostile client may try; docs/service.md lists the outcomes."""

import socket
import time
from collections.abc import Iterator

import httpx
import pytest

from graphbandit.service.configuration import Token
from graphbandit.service.tokens import Tokens
from tests.helpers.waiting import wait_until
from tests.service.servers import PRICES, Server, serving

LIMITS = """
[service.limits]
body_bytes = 4000
seconds = 1.0
connections = 30
"""


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with serving(PRICES + LIMITS) as running:
        yield running


def raw(server: Server, data: bytes, *, seconds: float = 6.0) -> bytes:
    """Send bytes, and return all that comes back until the server hangs up or time is over."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=seconds) as connection:
        received = b""
        try:
            connection.sendall(data)
            while part := connection.recv(65536):
                received += part
        except TimeoutError:
            return received + b"<still open>"
        except (ConnectionResetError, BrokenPipeError):
            pass
        return received


@pytest.mark.parametrize(
    "key",
    [
        "'; DROP TABLE log; --",
        '" OR 1=1 --',
        "../../etc/passwd",
        "%s%n",
        "{{7*7}}",
        "\u202eabc",
        "key with spaces",
        "é" * 100,
    ],
)
def test_names_are_only_names(server: Server, key: str) -> None:
    decision = server.post("/v1/prices/decide", {"key": key, "context": {}})
    assert decision.json()["id"] == key
    assert server.post("/v1/prices/observe", {"id": key, "rewards": {decision.json()["arm"]: 0.5}}).json()["new"] == 1
    import urllib.parse

    path = f"/v1/prices/decisions/{urllib.parse.quote(key, safe='')}"
    found = server.get(path)
    assert found.json()["id"] == key
    assert server.post("/v1/prices/decide", {"key": "after", "context": {}}).is_success


@pytest.mark.parametrize(
    "path",
    ["/../etc/passwd", "/v1/%2e%2e/%2e%2e/etc/passwd", "/v1//decide", "/v1/prices/decide/", "//v1", "/static/..;/"],
)
def test_paths_lead_nowhere(server: Server, path: str) -> None:
    answer = raw(server, f"GET {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n".encode())
    assert b" 404 " in answer.split(b"\r\n")[0] or b" 405 " in answer.split(b"\r\n")[0]
    assert b"root:" not in answer


def test_oversized_bodies(server: Server) -> None:
    head = b"POST /v1/prices/decide HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n"
    assert b" 413 " in raw(server, head + b"content-length: 999999999\r\n\r\n{").split(b"\r\n")[0]
    chunk = b"1000\r\n" + b"x" * 4096 + b"\r\n"
    assert b" 413 " in raw(server, head + b"transfer-encoding: chunked\r\n\r\n" + chunk * 3).split(b"\r\n")[0]
    assert raw(server, b"GET / HTTP/1.1\r\nhost: localhost\r\nx: " + b"a" * 3_000_000) == b"", "endless headers"
    nested = b'{"context": ' + b"[" * 1900 + b"]" * 1900 + b"}"
    length = f"content-length: {len(nested)}\r\n\r\n".encode()
    assert raw(server, head + length + nested).split(b" ")[1] in (b"400", b"422")


def test_slow_clients_are_hung_up_on(server: Server) -> None:
    began = time.monotonic()
    assert raw(server, b"POST /v1/prices/decide HTTP/1.1\r\nhost: localhost\r\n") == b"", "headers that never end"
    body = b"POST /v1/prices/decide HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-length: 100\r\n\r\n{"
    assert b" 408 " in raw(server, body).split(b"\r\n")[0]
    assert raw(server, b"") == b"", "a client that says nothing"
    assert time.monotonic() - began < 20


def test_too_many_connections_are_refused_and_the_rest_works(server: Server) -> None:
    held = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(60)]
    time.sleep(0.2)
    refused = raw(server, b"GET /health HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n")
    assert b" 503 " in refused.split(b"\r\n")[0] or refused == b""
    for connection in held:
        connection.close()
    wait_until(lambda: healthy(server), "it takes connections again", 10)


def healthy(server: Server) -> bool:
    try:
        return server.get("/health").is_success
    except httpx.HTTPError:
        return False


def test_a_broken_request_leaves_the_connection_of_others_alone(server: Server) -> None:
    assert b" 400 " in raw(server, b"\x16\x03\x01\x02\x00 no HTTP at all\r\n\r\n").split(b"\r\n")[0]
    both = b"content-length: 4\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\nGET /v1"
    raw(server, b"POST /v1/prices/decide HTTP/1.1\r\nhost: localhost\r\n" + both, seconds=2)
    assert server.post("/v1/prices/decide", {"context": {}}).is_success


def test_pages_of_other_sites_cannot_send_anything(server: Server) -> None:
    """A browser lets any page send a POST with text; it says whose page it is."""
    foreign = server.post("/v1/prices/decide", {"context": {}}, origin="https://elsewhere.example")
    assert (foreign.status_code, foreign.headers["content-type"]) == (403, "application/problem+json")
    assert server.post("/v1/prices/decide", {"context": {}}, origin="null").status_code == 403
    assert server.post("/v1/prices/decide", {"context": {}}, origin=server.url).status_code == 200


def test_an_open_address_answers_to_any_name() -> None:
    """Also when the command line, and not the configuration, says where to listen."""
    with serving(PRICES, "--host", "0.0.0.0") as running:
        assert running.get("/v1/prices", host="bandits.example.org").status_code == 200
        assert "there are no tokens" in running.errors.read_text()
        assert running.stop() == 0


def test_names_of_other_sites_that_lead_here_are_refused(server: Server) -> None:
    """A page may have its own name point to this machine, and then read all answers as its own (DNS rebinding)."""
    for host in ("elsewhere.example", "elsewhere.example:8765", "[::2]:8765", "127.0.0.1.elsewhere.example"):
        refused = server.get("/v1/prices", host=host)
        assert (refused.status_code, refused.headers["content-type"]) == (403, "application/problem+json")
        assert "service.names" in refused.json()["detail"]
        assert server.post("/v1/prices/decide", {"context": {}}, host=host).status_code == 403
    for host in ("localhost", "LOCALHOST:1", "127.0.0.1:8765", "[::1]:8765"):
        assert server.get("/v1/prices", host=host).status_code == 200


def test_tokens_are_compared_as_a_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_TOKEN", "environment-token-1")
    tokens = Tokens(
        {
            "plain": Token(token="plain-plain-plain-1", scopes=["decide"]),
            "env": Token(environment="SOME_TOKEN", scopes=["admin"]),
            "hash": Token(sha256="0" * 64, scopes=["read"]),
        }
    )
    assert tokens.allowed("Bearer plain-plain-plain-1", "decide") == 200
    assert tokens.allowed("Bearer plain-plain-plain-1", "observe") == 403
    assert tokens.allowed("bearer environment-token-1", "observe") == 200
    for wrong in (None, "", "Bearer", "Bearer ", "plain-plain-plain-1", "Basic plain-plain-plain-1", "Bearer plain"):
        assert tokens.allowed(wrong, "decide") == 401
