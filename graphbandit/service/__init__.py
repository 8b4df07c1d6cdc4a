"""Decisions over HTTP: `graphbandit serve bandits.toml`, and the client for it.

>>> from graphbandit.service import Client
"""

from graphbandit.base.public_names import listing
from graphbandit.service.async_client import AsyncClient
from graphbandit.service.client import Client, RemoteBandit
from graphbandit.service.client_calls import RemoteDecision

__all__ = ["AsyncClient", "Client", "RemoteBandit", "RemoteDecision"]

__dir__ = listing(globals())
