"""Feedback graphs cut from a social network: the paper's Flixster experiment, with any network."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import lru_cache
from typing import get_args

import numpy as np

from graphbandit.base.checks import setting_choice, setting_integer
from graphbandit.base.choices import Sampler
from graphbandit.base.seeds import stream
from graphbandit.errors import NetworkFileError, SettingError
from graphbandit.graphs.batch import FeedbackGraphs
from graphbandit.graphs.checked_input import checked_n_arms
from graphbandit.graphs.networks.files import edge_format, read_network
from graphbandit.graphs.networks.network import Network
from graphbandit.graphs.networks.social_network import social_network
from graphbandit.graphs.networks.subgraphs import sample_subgraphs


@dataclass(frozen=True, kw_only=True)
class NetworkSource:
    """Each round one of a pool of connected subgraphs of a network, drawn uniformly.

    The pool is a function of the network and the settings alone. It is made when it is first needed, once in a process.

    - `n_arms`: the number of nodes of a subgraph.
    - `file`: the network, in a form that `read_network` reads; None (default): a generated network that stands in for
      Flixster (`social_network`). `description` says which it is.
    - `count`: the size of the pool, 100 by default.
    - `sampler`: as in `sample_subgraphs`; "union-find" by default.
    - `pool_seed`: of the pool, 0 by default.

    >>> source = NetworkSource(n_arms=10, count=5)
    >>> source.stand_in
    True
    >>> source.draw(np.random.default_rng(0), 1000)
    FeedbackGraphs(1000 rounds, n_arms=10, 5 stored)
    """

    n_arms: int
    file: str | None = None
    count: int = 100
    sampler: Sampler = "union-find"
    pool_seed: int = 0

    def __post_init__(self) -> None:
        checked_n_arms(self.n_arms)
        setting_integer("count", self.count, at_least=1)
        setting_choice("sampler", self.sampler, get_args(Sampler))
        setting_integer("pool_seed", self.pool_seed, at_least=0)
        if self.file is not None:
            if not isinstance(self.file, str):
                raise SettingError(f"file is {self.file!r}; expected the name of a file as text, or None")
            _check_format(self.file, *_version(self.file))  # refuses a file that is missing or has no edges

    @property
    def stand_in(self) -> bool:
        """Whether the network is generated because no file was given."""
        return self.file is None

    @property
    def network(self) -> Network:
        """The network; the last few that were read are kept, and are the same object each time."""
        return stand_in_network() if self.file is None else _read(self.file, *_version(self.file))

    @property
    def pool(self) -> FeedbackGraphs:
        """The graphs that are drawn from."""
        return _pool(self, _version(self.file) if self.file is not None else (0, 0))

    @property
    def description(self) -> str:
        """Where the graphs come from, in words, for reports."""
        network = self.network
        origin = "a generated stand-in for Flixster" if self.file is None else os.path.basename(self.file)
        size = f"{network.n_nodes:,} nodes, {network.n_edges:,} edges"
        return f"{self.count} connected subgraphs of {self.n_arms} nodes of {origin} ({size}), by {self.sampler}"

    def draw(self, rng: np.random.Generator, n: int) -> FeedbackGraphs:
        """The graphs of some rounds; the pool is not copied.

        - `rng`: draws them.
        - `n`: how many rounds.
        """
        pool = self.pool
        return pool[rng.integers(len(pool), size=n)]


@lru_cache(maxsize=1)
def stand_in_network() -> Network:
    """The generated network that stands in for Flixster: always the same one."""
    return social_network(rng=stream(0, "network", "stand-in"))


def _version(file: str) -> tuple[int, int]:
    """The time and size of a file, which change when the file does."""
    try:
        status = os.stat(file)
    except OSError as error:
        raise NetworkFileError(f"file is {file!r}: {error.strerror}; expected a file of edges") from None
    return status.st_mtime_ns, status.st_size


@lru_cache(maxsize=64)
def _check_format(file: str, changed: int, size: int) -> None:
    edge_format(file)


@lru_cache(maxsize=2)
def _read(file: str, changed: int, size: int) -> Network:
    return read_network(file)


@lru_cache(maxsize=8)
def _pool(source: NetworkSource, version: tuple[int, int]) -> FeedbackGraphs:
    rng = stream(source.pool_seed, "network", "pool")
    return sample_subgraphs(source.network, source.n_arms, source.count, sampler=source.sampler, rng=rng)
