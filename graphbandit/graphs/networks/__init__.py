"""Social networks of up to millions of nodes, and the feedback graphs cut from them."""

from graphbandit.graphs.networks.files import read_network
from graphbandit.graphs.networks.network import Network
from graphbandit.graphs.networks.social_network import social_network
from graphbandit.graphs.networks.source import NetworkSource
from graphbandit.graphs.networks.subgraphs import sample_subgraphs

__all__ = ["Network", "NetworkSource", "read_network", "sample_subgraphs", "social_network"]
