"""How long calls say how far they are."""

from collections.abc import Callable

OnProgress = Callable[[int, int], None]
"""Is called with how much is done and how much there is: rounds, or bytes of a file."""
