"""What a transformer was fitted to, as digests by name: two transformers with the same ones encode alike."""

import hashlib
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

_OUT_OF_ORDER = (set, frozenset)


def fitted_digests(transformer: Any) -> dict[str, str]:
    """A digest of the numbers and texts in each part of a transformer, by the path to it.

    Of scikit-learn's estimators these are their settings and what fitting them has set, and those of their parts;
    underscored attributes and random states are left out. Of other objects it is all they hold.

    >>> from sklearn.preprocessing import StandardScaler
    >>> one, two = (StandardScaler().fit([[0.0], [last]]) for last in (1.0, 2.0))
    >>> sorted(path for path, digest in fitted_digests(one).items() if digest != fitted_digests(two)[path])
    ['mean_', 'scale_', 'var_']
    """
    digests: dict[str, Any] = {}
    for path, value in _leaves(transformer, "", (transformer,)):
        digest = digests.setdefault(path or "itself", hashlib.blake2b(digest_size=8))
        digest.update(value + b"\0")
    return {path: digest.hexdigest() for path, digest in sorted(digests.items())}


def _leaves(value: Any, path: str, above: tuple[Any, ...]) -> Iterator[tuple[str, bytes]]:
    """Every value in an object as bytes, with the path to it; in the same order for equal objects."""
    if isinstance(value, np.ndarray) and value.dtype != object:
        yield path, f"{value.dtype.kind}{value.shape}".encode() + np.ascontiguousarray(value).tobytes()
    elif isinstance(value, np.ndarray | np.generic):
        yield from _leaves(value.tolist(), path, above)
    elif value is None or isinstance(value, bool | int | float | complex | str | bytes):
        yield path, f"{type(value).__name__} {value!r}".encode()
    elif isinstance(value, Mapping):
        for name in sorted(value, key=repr):
            yield from _leaves(value[name], f"{path}.{name}".lstrip("."), above)
    elif isinstance(value, list | tuple | set | frozenset):
        for item in sorted(value, key=repr) if isinstance(value, _OUT_OF_ORDER) else value:
            yield from _leaves(item, path, above)
    elif hasattr(value, "__qualname__"):
        yield path, f"{value.__module__}:{value.__qualname__}".encode()
    elif not any(value is one for one in above[:-1]):  # an object that is inside of itself was seen
        yield path, type(value).__qualname__.encode()
        yield from _leaves(_held(value), path, (*above, value))


def _held(value: Any) -> Mapping[str, Any]:
    """What an object holds, by name."""
    held = getattr(value, "__dict__", None)
    if not held:
        state = value.__getstate__()
        return state if isinstance(state, Mapping) else {"state": repr(state)}
    if not hasattr(value, "get_params"):
        return dict(held)
    return {name: one for name, one in held.items() if not name.startswith("_") and name != "random_state"}
