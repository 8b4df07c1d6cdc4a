"""Social networks of up to millions of nodes, and the feedback graphs cut from them."""

from graphbandit.graphs.networks.files import read_network
from graphbandit.graphs.networks.network import Network
from graphbandit.graphs.networks.source import NetworkSource
from graphbandit.graphs.networks.subgraphs import sample_subgraphs
from graphbandit.graphs.networks.synthetic import social_network

__all__ = ["Network", "NetworkSource", "read_network", "sample_subgraphs", "social_network"]
