"""Figures for Prometheus. With several processes they are added up in a folder that all of them map into memory."""

import os
from typing import Any

FOLDER = "PROMETHEUS_MULTIPROC_DIR"
"""The variable that tells prometheus-client the folder; it must be set before the first import."""


class Metrics:
    """What one process counts."""

    def __init__(self) -> None:
        from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

        self._registry = CollectorRegistry()
        buckets = (0.001, 0.002, 0.003, 0.005, 0.0075, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
        own: dict[str, Any] = {"registry": self._registry}
        self.requests = Histogram(
            "graphbandit_request_seconds", "Time to answer", ["route", "status"], buckets=buckets, **own
        )
        self.batch = Counter("graphbandit_decide_batches", "Batches in which decisions were computed", **own)
        self.decided = Counter("graphbandit_decided", "Decisions computed, retries included", ["bandit"], **own)
        self.rows = Counter("graphbandit_log_rows", "Rows committed to the log", ["bandit", "kind"], **own)
        self.groups = Counter("graphbandit_commits", "Transactions committed to the log", **own)
        self.commit_seconds = Counter("graphbandit_commit_seconds", "Time spent in transactions", **own)
        self.failures = Counter("graphbandit_commit_failures", "Transactions that the database refused", **own)
        self.snapshots = Counter(
            "graphbandit_snapshots_taken", "New snapshots taken up by a decider", ["bandit"], **own
        )
        gauge: dict[str, Any] = {**own, "multiprocess_mode": "mostrecent"}
        self.open = Gauge("graphbandit_open_decisions", "Decisions that await rewards", ["bandit"], **gauge)
        columns = ["bandit", "feature"]
        self.unknown = Gauge(
            "graphbandit_unknown_categories", "Categories in the log that are not declared", columns, **gauge
        )
        self.missing = Gauge("graphbandit_missing_values", "Values in the log that were missing", columns, **gauge)
        self.learning = Gauge("graphbandit_learning", "1 if a learner is at work, else 0", **gauge)
        self.snapshot_age = Gauge("graphbandit_snapshot_age_seconds", "Age of the newest snapshot", ["bandit"], **gauge)

    def text(self) -> bytes:
        """What `GET /metrics` answers."""
        from prometheus_client import CollectorRegistry, generate_latest
        from prometheus_client.multiprocess import MultiProcessCollector

        if os.environ.get(FOLDER):
            everything = CollectorRegistry()
            MultiProcessCollector(everything)  # type: ignore[no-untyped-call]
            return bytes(generate_latest(everything))
        return bytes(generate_latest(self._registry))
