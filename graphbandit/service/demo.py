"""Simulated rounds for a service: visitors who see a price and buy or not, and days on which bread sells or not."""

import heapq
import itertools
import random
import time
from collections.abc import Callable

from graphbandit.errors import ServiceError
from graphbandit.service.client import Client

Context = dict[str, object]
Rewards = dict[str, float]


def visitor(rng: random.Random) -> tuple[Context, Rewards]:
    """A context of the template's bandit `prices`, and what each price would earn."""
    country = rng.choice(["DE", "FR", "IT"])
    returning = rng.random() < 0.4
    context = {"country": country, "returning": returning, "basket": round(rng.random(), 2), "hour": rng.randrange(24)}
    worth = rng.gauss({"DE": 9.6, "FR": 8.8, "IT": 8.1}[country] + 0.5 * returning, 0.8)
    return context, {arm: float(arm) if float(arm) <= worth else 0.0 for arm in ("7.99", "8.99", "9.99")}


def day(rng: random.Random) -> tuple[Context, Rewards]:
    """A context of the template's bandit `orders`, and what each order would earn: 2 a loaf sold, -1 a loaf left."""
    weather, weekday, holiday = rng.choice(["sun", "rain", "snow"]), rng.randrange(7), rng.random() < 0.1
    wanted = rng.gauss({"sun": 32.0, "rain": 22.0, "snow": 14.0}[weather] - 8.0 * holiday, 6.0)
    orders = {arm: min(max(wanted, 0.0), float(arm)) for arm in ("10", "20", "30", "40")}
    return (
        {"weather": weather, "weekday": weekday, "holiday": holiday},
        {arm: round(3.0 * sold - float(arm), 2) for arm, sold in orders.items()},
    )


SIMULATED = {"prices": visitor, "orders": day}
"""The bandits of the template, each with the function that draws its rounds."""


def run(
    url: str,
    *,
    rate: float = 20.0,
    visitors: int | None = None,
    token: str | None = None,
    connected: Callable[[], None] = lambda: None,
) -> int:
    """Send rounds to the bandits in turn, `rate` a second, `visitors` in all or without end; return how many.

    The rewards of the arms that a decision revealed come some seconds later. `connected` is called once the service has
    answered.
    """
    rng = random.Random(0)
    late: list[tuple[float, int, str, str, Rewards]] = []
    numbers = itertools.count()
    served = 0
    with Client(url, token) as client:
        remotes = {name: client[name] for name in SIMULATED}
        connected()
        start = time.monotonic()
        while visitors is None or served < visitors:
            now = time.monotonic()
            due: dict[str, list[tuple[str, Rewards]]] = {}
            while late and late[0][0] <= now:
                _, _, name, key, rewards = heapq.heappop(late)
                due.setdefault(name, []).append((key, rewards))
            name = list(SIMULATED)[served % len(SIMULATED)]
            try:
                for other, given in due.items():
                    remotes[other].observe_batch(given)
                context, earned = SIMULATED[name](rng)
                decision = remotes[name].decide(context)
            except ServiceError as error:
                if error.status == 0:
                    time.sleep(1.0)
                continue
            rewards = {arm: earned[arm] for arm in decision.revealed}
            heapq.heappush(late, (now + rng.expovariate(0.5), next(numbers), name, decision.id, rewards))
            served += 1
            time.sleep(max(0.0, start + served / rate - time.monotonic()))
    return served
