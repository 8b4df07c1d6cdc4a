"""Simulated visitors for a service: they come, see a price, and buy or not, after a while."""

import heapq
import itertools
import random
import threading
import time

from graphbandit.errors import ServiceError
from graphbandit.service.client import Client

PRICES = {"7.99": 7.99, "8.99": 8.99, "9.99": 9.99}


def visitor(rng: random.Random) -> tuple[dict[str, object], float]:
    """A context of the template's bandit `prices`, and the most this visitor would pay."""
    country = rng.choice(["DE", "FR", "IT"])
    returning = rng.random() < 0.4
    context = {"country": country, "returning": returning, "basket": round(rng.random(), 2), "hour": rng.randrange(24)}
    worth = rng.gauss({"DE": 9.6, "FR": 8.8, "IT": 8.1}[country] + 0.5 * returning, 0.8)
    return context, worth


def run(url: str, *, bandit: str = "prices", rate: float = 20.0, stop: threading.Event | None = None,
        visitors: int | None = None, seed: int = 0, token: str | None = None) -> int:  # fmt: skip
    """Send visitors, `rate` a second, until `stop` or that many; how many were served.

    Whoever buys at the price shown would have bought at every lower one. The rewards, price / 10 or 0, of all arms that
    the decision revealed come some seconds later.
    """
    rng, stop = random.Random(seed), threading.Event() if stop is None else stop
    late: list[tuple[float, int, str, dict[str, float]]] = []
    numbers = itertools.count()
    served = 0
    with Client(url, token) as client:
        remote = client[bandit]
        start = time.monotonic()
        while not stop.is_set() and (visitors is None or served < visitors):
            now = time.monotonic()
            due = []
            while late and late[0][0] <= now:
                _, _, key, rewards = heapq.heappop(late)
                due.append((key, rewards))
            try:
                if due:
                    remote.observe_batch(due)
                context, worth = visitor(rng)
                decision = remote.decide(context)
            except ServiceError as error:
                if error.status == 0 and stop.wait(1.0):
                    break
                continue
            rewards = {arm: PRICES[arm] / 10 if PRICES[arm] <= worth else 0.0 for arm in decision.revealed}
            heapq.heappush(late, (now + rng.expovariate(0.5), next(numbers), decision.id, rewards))
            served += 1
            stop.wait(max(0.0, start + served / rate - time.monotonic()))
    return served
