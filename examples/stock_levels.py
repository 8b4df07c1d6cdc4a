"""How many loaves to bake? Past orders as a frame, weekdays and weather as text, sales that are known at closing time.

Baking x loaves shows how many would have been sold of every smaller batch: min(batch, demand). So an edge leads from
each batch to the smaller ones, whatever is sold. Demand beyond the batch stays unknown.
"""

import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

import graphbandit as gb

BATCHES = [20, 30, 40, 50, 60]
NAMES = [f"{batch} loaves" for batch in BATCHES]
PRICE, COST = 3.0, 1.2
rng = np.random.default_rng(0)


def days(n: int) -> pd.DataFrame:
    """Days as the shop's own table has them; the weather was not always noted down."""
    weekday = rng.choice(["Mon", "Tue", "Wed", "Thu", "Fri", "Sat"], size=n)
    weather = rng.choice(["sun", "rain", None], size=n, p=[0.6, 0.35, 0.05])
    temperature = rng.normal(15, 6, size=n).round(1)
    return pd.DataFrame({"weekday": weekday, "weather": weather, "temperature": temperature})


def demand(day: pd.Series) -> float:
    """What nobody knows: Saturdays are busy, rain keeps people at home."""
    mean = 34 + 16 * (day["weekday"] == "Sat") - 8 * (day["weather"] == "rain") - 0.3 * (day["temperature"] - 15)
    return float(rng.normal(mean, 6))


def profit(batch: int, wanted: float) -> float:
    """In units of 100."""
    return (PRICE * min(batch, max(wanted, 0.0)) - COST * batch) / 100


# what one batch reveals: itself, and all smaller ones
graph = gb.FeedbackGraph.from_edges([(x, y) for i, x in enumerate(NAMES) for y in NAMES[: i + 1]], arms=NAMES)
past = days(60)
problem = gb.Problem(
    arms=NAMES,
    features=gb.Features.from_frame(past),
    function_class="linear",
)
bandit = gb.Bandit(gb.IDSG(), problem, graph=graph, seed=0)

# warm start: for two months the baker made 30 or 40, by habit; one number a day is known
habit = rng.choice(["30 loaves", "40 loaves"], size=len(past))
earned = [profit(int(arm.split()[0]), demand(day)) for arm, (_, day) in zip(habit, past.iterrows(), strict=True)]
bandit.learn(contexts=past, actions=habit, rewards=earned)

saved = Path(tempfile.mkdtemp()) / "bakery.gb"
year, total, earnings, open_days = days(300), 0.0, [], []
for morning, day in year.iterrows():
    decision = bandit.decide(day, key=f"day {morning}")  # asked twice, it is the same decision
    wanted = demand(day)
    total += profit(BATCHES[decision.action], wanted)
    earnings.append([profit(batch, wanted) for batch in BATCHES])
    open_days.append((f"day {morning}", {arm: profit(BATCHES[arm], wanted) for arm in decision.revealed.tolist()}))
    if len(open_days) > 2:  # the till is read two days later
        key, rewards = open_days.pop(0)
        bandit.observe(key, rewards)
    if int(str(morning)) % 24 == 0:
        bandit.save(saved)
        bandit = gb.Bandit.load(saved)  # as after a restart

print(decision.explain())
fixed, reached = 100 * np.mean(earnings, axis=0).max(), 100 * total / len(year)
print(f"profit a day: {reached:.1f}; with the best batch of all, every day: {fixed:.1f}")
print(f"contexts with unknown or missing values: {bandit.tally}")
