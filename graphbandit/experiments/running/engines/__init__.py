"""Engines do tasks: in this process, in several processes of this machine, or on a Dask cluster."""

from graphbandit.experiments.running.engines.base import Engine
from graphbandit.experiments.running.engines.cluster import Cluster
from graphbandit.experiments.running.engines.in_process import InProcess
from graphbandit.experiments.running.engines.processes import Processes

__all__ = ["Cluster", "Engine", "InProcess", "Processes"]
