"""Values on real data whose truth is known: the Open Bandit sample, and classification sets turned into logs."""

from __future__ import annotations

import csv
import io
import zipfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.evaluation.problems import drawn_arms
from graphbandit.base.printed_table import Table
from graphbandit.base.seeds import stream
from graphbandit.base.shapes import Float, Int
from graphbandit.errors import InputError
from graphbandit.evaluation import EvaluationTable, evaluate
from graphbandit.evaluation.intervals import asymptotic
from graphbandit.graphs import FeedbackGraph, FeedbackGraphs, clique_group
from graphbandit.logs import Log

POSITIONS = 3
UNIFORM_SHARE = 0.3
"""The share of uniform play in the logging policy of a classification set."""


@dataclass(frozen=True, kw_only=True, eq=False)
class OpenBandit:
    """One campaign under one policy: the items shown, their positions and probabilities, and the clicks."""

    items: Int[np.ndarray, " n"]
    positions: Int[np.ndarray, " n"]
    clicks: Float[np.ndarray, " n"]
    probability: Float[np.ndarray, " n"]
    contexts: Float[np.ndarray, "n d"]
    n_items: int

    def log(self) -> Log:
        """The campaign as a log, in which only the item shown is revealed.

        For a policy that is not uniform, only the probability of the item shown is known.
        """
        uniform = bool(np.allclose(self.probability, 1.0 / self.n_items, rtol=1e-3))
        everything = np.full((len(self.items), self.n_items), 1.0 / self.n_items)
        return Log.from_arrays(
            contexts=self.contexts,
            actions=self.items,
            probabilities=everything if uniform else self.probability,
            rewards=self.clicks,
            n_arms=self.n_items,
            columns={"position": self.positions},
        )

    def shares(self) -> Float[np.ndarray, "positions items"]:
        """The share of each item at each position: the average policy, with one draw of uniform play added."""
        counts = np.full((POSITIONS, self.n_items), 1.0 / self.n_items)
        np.add.at(counts, (self.positions, self.items), 1.0)
        return np.asarray(counts / counts.sum(axis=1, keepdims=True))

    def on_policy(self) -> tuple[float, float, float]:
        """The click rate that the policy itself had, with its 95 % interval."""
        mean = float(self.clicks.mean())
        error = float(self.clicks.std(ddof=1)) / np.sqrt(len(self.clicks))
        return mean, *asymptotic(mean, error, 0.95)


def read_open_bandit(archive: Path, policy: str, campaign: str) -> OpenBandit:
    """Read obd/POLICY/CAMPAIGN/CAMPAIGN.csv of the archive: policy random or bts; campaign all, men or women."""
    try:
        with zipfile.ZipFile(archive) as files:
            text = files.read(f"obd/{policy}/{campaign}/{campaign}.csv").decode()
            n_items = files.read(f"obd/{policy}/{campaign}/item_context.csv").decode().strip().count("\n")
    except (OSError, KeyError, zipfile.BadZipFile) as error:
        raise InputError(f"{archive} is not the Open Bandit sample: {error}") from None
    rows = list(csv.DictReader(io.StringIO(text)))
    users = [[row[f"user_feature_{i}"] for row in rows] for i in range(4)]
    positions = np.array([int(row["position"]) - 1 for row in rows])
    columns = [np.eye(POSITIONS)[positions]]
    for column in users:
        labels, place, counts = np.unique(np.array(column), return_inverse=True, return_counts=True)
        common = np.flatnonzero(counts > 0.02 * len(rows))
        columns.append(
            (place[:, None] == common[None, :-1]).astype(np.float64) if len(labels) > 1 else np.empty((len(rows), 0))
        )
    return OpenBandit(
        items=np.array([int(row["item_id"]) for row in rows]),
        positions=positions,
        clicks=np.array([float(row["click"]) for row in rows]),
        probability=np.array([float(row["propensity_score"]) for row in rows]),
        contexts=np.concatenate(columns, axis=1),
        n_items=n_items,
    )


@dataclass(frozen=True, kw_only=True)
class Against:
    """The value of a policy estimated from the log of another one, and the click rate it had itself."""

    policy: str
    log_of: str
    value: float
    low: float
    high: float
    on_policy: tuple[float, float, float]

    @property
    def agrees(self) -> bool:
        """Whether the two intervals overlap."""
        return self.low <= self.on_policy[2] and self.on_policy[1] <= self.high


def open_bandit(archive: Path, campaign: str, *, method: str = "graph-dr", interval: str = "betting") -> list[Against]:
    """Evaluate both policies of a campaign, each on the other's log; for bts, its average policy is evaluated."""
    logs = {policy: read_open_bandit(archive, policy, campaign) for policy in ("random", "bts")}
    average = logs["bts"].shares()
    wanted = {"random": ("bts", None), "bts": ("random", average)}
    found = []
    for policy, (source, shares) in wanted.items():
        data = logs[source]
        target = "uniform" if shares is None else shares[data.positions]
        table = evaluate(data.log(), {policy: target}, method=method, interval=interval, reward_range=(0, 1))  # type: ignore[arg-type]
        value = table[policy]
        found.append(
            Against(
                policy=policy,
                log_of=source,
                value=value.value,
                low=value.low,
                high=value.high,
                on_policy=logs[policy].on_policy(),
            )
        )
    return found


def classification_log(
    features: Float[np.ndarray, "n d"], labels: Int[np.ndarray, " n"], graph: FeedbackGraph
) -> tuple[Log, Float[np.ndarray, "n arms"], Float[np.ndarray, "n arms"]]:
    """Turn a classification set into a log: arms are classes, and the reward is 1 for the right class.

    Half of the rows train the target policy, and a tenth of that half the logging policy; the other half becomes the
    log. Returns the log, the target's probabilities, and all rewards, which tell the target's true value.
    """
    rng = stream(0, "evaluation", "classification")
    n, k = len(features), graph.n_arms
    order = rng.permutation(n)
    spread = features.std(axis=0)
    x = (features - features.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    half, tenth = order[: n // 2], order[: n // 20]
    rest = order[n // 2 :]
    right = np.eye(k)[labels]

    def softmax(train: Int[np.ndarray, " m"], sharpness: float) -> Float[np.ndarray, "r arms"]:
        design = np.column_stack([x[train], np.ones(len(train))])
        weights = np.linalg.solve(design.T @ design + 10.0 * np.eye(design.shape[1]), design.T @ right[train])
        scores = np.exp(sharpness * np.column_stack([x[rest], np.ones(len(rest))]) @ weights)
        return np.asarray(scores / scores.sum(axis=1, keepdims=True))

    p = UNIFORM_SHARE / k + (1 - UNIFORM_SHARE) * softmax(tenth, 4.0)
    target = softmax(half, 10.0)
    actions = drawn_arms(p, rng.random((len(rest), 1)))
    rewards = right[rest]
    revealed = np.where(FeedbackGraphs.repeat(graph, len(rest)).revealed(actions), rewards, np.nan)
    log = Log.from_arrays(contexts=x[rest], graphs=graph, actions=actions, probabilities=p, rewards=revealed)
    return log, target, rewards


def classification(
    features: Float[np.ndarray, "n d"], labels: Int[np.ndarray, " n"], graph: FeedbackGraph, **settings: str
) -> tuple[EvaluationTable, dict[str, float]]:
    """Evaluate the target and uniform play on the log of a classification set; also return their true values."""
    log, target, rewards = classification_log(features, labels, graph)
    table = evaluate(log, {"target": target, "uniform": "uniform"}, **settings)  # type: ignore[arg-type]
    return table, {"target": float((target * rewards).sum(axis=1).mean()), "uniform": float(rewards.mean())}


def markdown(data: Path) -> str:
    """The tables of both kinds of data, read from the folder `data`."""
    archive, keel = data / "open_bandit_small" / "obd_small.zip", data / "classification_small" / "keel.npz"
    campaigns, sets = _campaigns(archive), _sets(keel)
    return "\n\n".join(text for table in (campaigns, sets) for text in (table.caption, table.to_markdown())) + "\n"


def _campaigns(archive: Path) -> Table:
    """The campaigns of the Open Bandit sample."""
    rows = []
    for campaign in ("all", "men", "women"):
        for method in ("ips", "snips", "graph-dr"):
            interval = "asymptotic" if method == "snips" else "betting"
            for row in open_bandit(archive, campaign, method=method, interval=interval):
                values = [_with_interval(row.value, row.low, row.high), _with_interval(*row.on_policy)]
                rows.append([campaign, row.policy, method, row.log_of, *values, "yes" if row.agrees else "no"])
    heads = ["campaign", "policy", "method", "from the log of", "value [95 %]", "on-policy [95 %]", "agree"]
    return Table("Click rates of the Open Bandit sample: each policy from the other's log, and as it was.", heads, rows)


def _sets(keel: Path) -> Table:
    """Two classification sets."""
    rows = []
    with np.load(keel) as arrays:
        for name in ("penbased", "letter"):
            labels = np.unique(arrays[f"{name}_y"].astype(np.int64), return_inverse=True)[1]
            k = int(labels.max()) + 1
            graph = clique_group(k, max(k // 3, 1))
            for method in ("ips", "graph-ips", "graph-dr"):
                table, truth = classification(arrays[f"{name}_X"].astype(np.float64), labels, graph, method=method)
                for policy in table:
                    value = table[policy]
                    worth = "" if np.isnan(value.worth) else f"{value.worth:.2f}x"
                    found = _with_interval(value.value, value.low, value.high)
                    rows.append([name, policy, method, found, f"{truth[policy]:.4f}", worth])
    heads = ["set", "policy", "method", "value [95 %]", "truth", "worth of side observations"]
    return Table("Classification sets as logs, cliques of classes: values, and the truth.", heads, rows)


def _with_interval(value: float, low: float, high: float) -> str:
    return f"{value:.4f} [{low:.4f}, {high:.4f}]"
