"""Decisions in small batches: requests that arrive together are computed together and logged together."""

import asyncio
from collections.abc import Sequence

from graphbandit.errors import GraphBanditError
from graphbandit.service.link import LogLink
from graphbandit.service.metrics import Metrics
from graphbandit.service.protocol import Answer, Decide, Refusal
from graphbandit.service.request_decider import Prepared, RequestDecider

Waiting = tuple[Sequence[Prepared], "asyncio.Future[list[bytes] | Refusal]"]
LARGEST = 64
"""Decisions computed before the event loop may do something else."""


class Batcher:
    """Collects prepared requests while more of them come, decides them, and submits them to the log.

    A batch of one costs more than twice as much a decision as a batch of eight. So the event loop looks at its sockets
    once more before it decides, and again as long as that brings another request. A single request waits for one look,
    which takes microseconds.
    """

    def __init__(self, decider: RequestDecider, log: LogLink, metrics: Metrics) -> None:
        self._decider, self._log, self._metrics = decider, log, metrics
        self._waiting: dict[str, list[Waiting]] = {}
        self._scheduled = False
        self._count = 0  # decisions that wait

    async def decide(self, bandit: str, prepared: Sequence[Prepared]) -> Answer:
        """Decide these, all or none, and log them."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[list[bytes] | Refusal] = loop.create_future()
        self._waiting.setdefault(bandit, []).append((prepared, future))
        self._count += len(prepared)
        if not self._scheduled:
            self._scheduled = True
            loop.call_soon(self._look, 0)
        bodies = await future
        if isinstance(bodies, Refusal):
            return bodies
        operations = [Decide(bandit, one.asked.key, body) for one, body in zip(prepared, bodies, strict=True)]
        return await self._log.submit(operations)

    def _look(self, before: int) -> None:
        """Decide, unless more requests have come since the last look and there is room for others."""
        if before < self._count < LARGEST:
            asyncio.get_running_loop().call_soon(self._look, self._count)
        else:
            self._flush()

    def _flush(self) -> None:
        """Decide some of the waiting requests, and schedule the rest."""
        self._scheduled = False
        for bandit in list(self._waiting):
            waiting = self._waiting.pop(bandit)
            taken, count = 0, 0
            while taken < len(waiting) and (count == 0 or count + len(waiting[taken][0]) <= LARGEST):
                count += len(waiting[taken][0])
                taken += 1
            if waiting[taken:]:
                self._waiting[bandit] = waiting[taken:]
            self._count -= count
            self._decide(bandit, waiting[:taken], count)
        if self._waiting:
            self._scheduled = True
            asyncio.get_running_loop().call_soon(self._flush)

    def _decide(self, bandit: str, waiting: Sequence[Waiting], count: int) -> None:
        everything = [one for prepared, _ in waiting for one in prepared]
        try:
            made = self._decider.decide(bandit, everything)
        except Exception as error:  # a defect must not leave anybody waiting
            for _, future in waiting:
                if not future.done():
                    future.set_exception(error)
            return
        self._metrics.batch.inc()
        self._metrics.decided.labels(bandit).inc(count)
        start = 0
        for prepared, future in waiting:
            mine = made[start : start + len(prepared)]
            start += len(prepared)
            if future.done():
                continue
            wrong = next(((i, body) for i, body in enumerate(mine) if isinstance(body, GraphBanditError)), None)
            if wrong is not None:
                future.set_result(Refusal(422, str(wrong[1]), "context", wrong[0]))
            else:
                future.set_result([body for body in mine if isinstance(body, bytes)])
