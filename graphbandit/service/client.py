"""The client: a bandit behind an address, used like `Bandit`."""

import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from graphbandit.errors import ServiceError
from graphbandit.service import client_calls
from graphbandit.service.client_calls import RemoteDecision


class Client:
    """A service at an address; `client["prices"]` is one of its bandits.

    - `url`: the address, such as "http://127.0.0.1:8765".
    - `token`: a bearer token; None (default): the service asks for none.
    - `timeout`: seconds after which an attempt is given up, 5 by default.
    - `retries`: how often a request is repeated after it failed on the way or the service was away, 8 by default.
    """

    def __init__(self, url: str, token: str | None = None, *, timeout: float = 5.0, retries: int = 8) -> None:
        self._http: Any = client_calls.import_httpx().Client(**client_calls.http_settings(url, token, timeout))
        self._retries = retries

    def __repr__(self) -> str:
        return f"Client({str(self._http.base_url).rstrip('/')!r})"

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __getitem__(self, name: str) -> "RemoteBandit":
        return RemoteBandit(self, name, self.request("GET", f"/v1/{name}")["arms"])

    @property
    def bandits(self) -> list[dict[str, Any]]:
        """All bandits with their settings."""
        found: list[dict[str, Any]] = self.request("GET", "/v1")["bandits"]
        return found

    def request(self, method: str, path: str, body: Any = None) -> Any:
        """Send a request, and repeat it if it fails on the way; every request of this client is safe to repeat.

        - `method`: the method of HTTP, such as "GET".
        - `path`: the path at the service, such as "/v1/prices".
        - `body`: what is sent as JSON; None (default): nothing.
        """
        httpx, content = client_calls.import_httpx(), client_calls.encoded(body)
        for attempt in range(self._retries + 1):
            try:
                response = self._http.request(method, path, content=content)
                if response.status_code not in client_calls.RETRIED or attempt == self._retries:
                    return client_calls.checked(response)
            except httpx.TransportError as error:
                if attempt == self._retries:
                    raise ServiceError(f"{self._http.base_url} cannot be reached: {error}") from error
            time.sleep(client_calls.pause(attempt))
        raise AssertionError("unreachable")

    def close(self) -> None:
        """Close the connections."""
        self._http.close()


class RemoteBandit:
    """A bandit of a service, used like `Bandit`; ``client["prices"]`` makes it.

    - `client`: the connection to the service.
    - `name`: the name of the bandit there.
    - `arms`: the names of its arms.
    """

    def __init__(self, client: Client, name: str, arms: Sequence[str]) -> None:
        self._client, self.name, self.arms = client, name, tuple(arms)
        self._requests = client_calls.Requests(arms)

    def __repr__(self) -> str:
        return f"RemoteBandit({self.name!r})"

    def decide(self, context: Any = None, graph: Any = None, *, key: str | None = None, **more: Any) -> RemoteDecision:
        """Decide; the same key again is the same decision.

        - `context`: what is known about the round, as a dictionary; None (default): nothing.
        - `graph`: the graph of this round: a `FeedbackGraph`, a `ProbabilisticGraph`, or JSON (docs/service.md has the
          forms); None (default): the bandit's own.
        - `key`: the key of the decision; None (default): a new one.
        - `more`: further fields of the request: `available`, `arms`, `active`, `explain`, and in apprentice mode `arm`
          and `probability`; none by default.
        """
        request = self._requests.decide(context, key, graph, **more)
        return self._requests.decision(request, self._post("decide", request))

    def decide_batch(
        self, contexts: Iterable[Any], graph: Any = None, *, keys: Sequence[str] | None = None, **more: Any
    ) -> list[RemoteDecision]:
        """Decide many in one request, all or none.

        - `contexts`: the contexts, one for each decision.
        - `graph`: the graph of all of them, as `decide` takes it; None (default): the bandit's own.
        - `keys`: the keys, one for each decision; None (default): new ones.
        - `more`: further fields of every request, as `decide` takes them; none by default.
        """
        rows = list(contexts)
        names = [None] * len(rows) if keys is None else list(keys)
        requests = [self._requests.decide(row, key, graph, **more) for row, key in zip(rows, names, strict=True)]
        answers = self._post("decide", requests)
        return [self._requests.decision(asked, answer) for asked, answer in zip(requests, answers, strict=True)]

    def observe(self, decision: RemoteDecision | str, rewards: Mapping[Any, float], *, final: bool = False) -> None:
        """Send rewards, all at once or in parts; sending the same ones again changes nothing.

        - `decision`: the decision, or its key.
        - `rewards`: a mapping from arms, by name or number, to their rewards.
        - `final`: whether no more rewards will come; False by default.
        """
        self._post("observe", self._requests.observe(decision, rewards, final))

    def observe_batch(self, rewards: Iterable[tuple[RemoteDecision | str, Mapping[Any, float]]]) -> None:
        """Send rewards of many decisions in one request, all or none."""
        self._post("observe", [self._requests.observe(decision, given, False) for decision, given in rewards])

    def activate(self, decision: RemoteDecision | str) -> None:
        """Say that a decision asked for with `active=False` was shown after all, so that it is learnt from."""
        self._post("activate", {"id": client_calls.id_of(decision)})

    def forget(self, decision: RemoteDecision | str) -> None:
        """Stop waiting for the rewards of a decision."""
        self.observe(decision, {}, final=True)

    def explain(self, decision: RemoteDecision | str) -> dict[str, Any]:
        """Everything that explains a decision."""
        found: dict[str, Any] = self._client.request("GET", client_calls.decision_path(self.name, decision))
        return found

    @property
    def status(self) -> dict[str, Any]:
        """Settings, snapshot, rounds, open decisions, delays."""
        found: dict[str, Any] = self._client.request("GET", f"/v1/{self.name}")
        return found

    @property
    def rounds(self) -> int:
        """The number of rounds that the newest snapshot has learnt from."""
        return int(self.status["rounds"])

    def _post(self, verb: str, body: Any) -> Any:
        return self._client.request("POST", f"/v1/{self.name}/{verb}", body)
