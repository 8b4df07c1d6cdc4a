"""Decisions over HTTP: `graphbandit serve bandits.toml`, and the client for it.

>>> from graphbandit.service import Client
"""

from graphbandit.service.client import AsyncClient, Client, RemoteBandit, RemoteDecision

__all__ = ["AsyncClient", "Client", "RemoteBandit", "RemoteDecision"]
