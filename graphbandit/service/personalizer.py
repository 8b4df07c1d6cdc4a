"""Routes that clients written for Azure Personalizer know: rank, reward, activate.

The bandit called "personalizer" answers them: its arms come with each request, and its window, default reward and
aggregation are Personalizer's wait time, default reward and reward aggregation.
"""

from typing import TYPE_CHECKING, Annotated, Any

import msgspec
import numpy as np
from msgspec import Meta, Struct
from starlette.requests import Request
from starlette.responses import Response

from graphbandit.service.answers import RefusedError, checked, decoded, json
from graphbandit.service.messages import ArmFeatures, DecideRequest, Name, PersonalizerError, Problem
from graphbandit.service.protocol import Activate, Observe
from graphbandit.service.rows import unpack

if TYPE_CHECKING:
    from graphbandit.service.application import Service

BANDIT = "personalizer"
FIELDS = {"arms": "actions", "context": "contextFeatures", "available": "excludedActions", "key": "eventId"}
"""What Personalizer calls the fields of a request."""


class Action(Struct, frozen=True):
    """One of the actions to rank."""

    id: Name
    features: list[Any] = []


class RankRequest(Struct, frozen=True):
    """A rank request of Personalizer; unknown fields are ignored, as Personalizer does."""

    actions: Annotated[list[Action], Meta(min_length=1)]
    contextFeatures: list[Any] = []  # noqa: N815
    excludedActions: list[str] = []  # noqa: N815
    eventId: Name | None = None  # noqa: N815
    deferActivation: bool = False  # noqa: N815


class RewardRequest(Struct, frozen=True):
    """A reward request of Personalizer."""

    value: Annotated[float, Meta(ge=-1e6, le=1e6)]


_rank = msgspec.json.Decoder(RankRequest)
_reward = msgspec.json.Decoder(RewardRequest)


def as_there(answer: Response) -> Response:
    """A problem that also says what is wrong in the form that Personalizer's clients expect."""
    found = msgspec.json.decode(answer.body, type=Problem)
    codes = {401: "Unauthorized", 404: "ResourceNotFound", 413: "RequestTooLarge"}
    code = codes.get(found.status, "BadArgument" if found.status < 500 else "InternalServerError")
    body = msgspec.json.encode(msgspec.structs.replace(found, error=PersonalizerError(code, found.detail)))
    headers = {name: value for name, value in answer.headers.items() if name in ("www-authenticate", "retry-after")}
    return Response(body, answer.status_code, headers, media_type=answer.media_type)


class Personalizer:
    """The three routes."""

    def __init__(self, service: "Service") -> None:
        self._service = service

    def _check(self) -> None:
        core = self._service.decider.cores.get(BANDIT)
        if core is None or not core.settings.own_arms:
            raise RefusedError(404, f'no bandit is called {BANDIT!r} with arms = "request"; add [bandits.{BANDIT}]')

    async def rank(self, request: Request) -> Response:
        """POST /personalizer/v1.0/rank."""
        self._check()
        service = self._service
        asked = decoded(_rank, await service.body(request))
        ids = [action.id for action in asked.actions]
        unknown = sorted(set(asked.excludedActions) - set(ids))
        if unknown:
            raise RefusedError(422, f"excludedActions has {unknown[0]!r}, which is not an action", "excludedActions")
        decision = DecideRequest(
            context=msgspec.Raw(msgspec.json.encode(asked.contextFeatures)),
            key=asked.eventId,
            arms=[ArmFeatures(action.id, action.features) for action in asked.actions],
            available=[name for name in ids if name not in asked.excludedActions] if asked.excludedActions else None,
            active=not asked.deferActivation,
        )
        try:
            prepared = service.prepared(BANDIT, [decision])
        except RefusedError as refused:
            if refused.field is None:
                raise
            field = FIELDS.get(refused.field, refused.field)
            detail = refused.detail.removeprefix(f"{refused.field}: ")
            raise RefusedError(refused.status, f"{field}: {detail}", field) from None
        done = checked(await service.batcher.decide(BANDIT, prepared))[0]
        answer = service.decider.answer(BANDIT, done.key, done.body, False)
        body = unpack(done.body)
        pairs = sorted(
            zip(body.arms or ids, np.frombuffer(body.p).tolist(), strict=True),
            key=lambda pair: (pair[0] != answer.arm, -pair[1]),
        )
        return json(
            {
                "ranking": [{"id": name, "probability": probability} for name, probability in pairs],
                "eventId": done.key,
                "rewardActionId": answer.arm,
            },
            201,
        )

    async def reward(self, request: Request) -> Response:
        """POST /personalizer/v1.0/events/{id}/reward."""
        self._check()
        service, key = self._service, str(request.path_params["id"])
        value = decoded(_reward, await service.body(request)).value
        arm = await service.reader.run(lambda: service.reader.played(BANDIT, key)) or ""
        aggregation = service.decider.cores[BANDIT].settings.aggregation
        checked(await service.log.submit([Observe(BANDIT, key, {arm: value}, False, aggregation)]))
        return Response(status_code=204)

    async def activate(self, request: Request) -> Response:
        """POST /personalizer/v1.0/events/{id}/activate."""
        self._check()
        await self._service.body(request)
        checked(await self._service.log.submit([Activate(BANDIT, str(request.path_params["id"]))]))
        return Response(status_code=204)
