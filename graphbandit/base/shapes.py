"""Array annotations with shapes, such as ``Float[np.ndarray, "rounds arms"]``.

They are documentation to a reader and `numpy.ndarray` to a type checker. At run time they only carry this information,
and `base.declared` checks the arrays of saved files against it. With GRAPHBANDIT_CHECK_SHAPES=1 they are jaxtyping's,
which the tests check at every call.
"""

import os
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing import Annotated as Bool
    from typing import Annotated as Float
    from typing import Annotated as Int
    from typing import Annotated as Int32
    from typing import Annotated as Int64
    from typing import Annotated as Shaped
    from typing import Annotated as UInt8
    from typing import Annotated as UInt64
elif os.environ.get("GRAPHBANDIT_CHECK_SHAPES") == "1":
    from jaxtyping import Bool, Float, Int, Int32, Int64, Shaped, UInt8, UInt64
else:

    class _Unchecked:
        """``Float[type, axes]`` is an empty class of that name, so that `help` shows no more than ``Float[axes]``."""

        def __init__(self, kind: str) -> None:
            self.kind = kind

        def __getitem__(self, item: tuple[type, str]) -> Any:
            return _shown(self.kind, item[1])

    @cache  # functions within functions have annotations, too, and making a class takes as long as a kernel
    def _shown(kind: str, axes: str) -> type:
        return type(f"{kind}[{axes.strip()}]", (), {"__module__": "builtins", "kind": kind, "dim_str": axes})

    _KINDS = ("Bool", "Float", "Int", "Int32", "Int64", "Shaped", "UInt8", "UInt64")
    Bool, Float, Int, Int32, Int64, Shaped, UInt8, UInt64 = map(_Unchecked, _KINDS)

__all__ = ["Bool", "Float", "Int", "Int32", "Int64", "Shaped", "UInt8", "UInt64", "array_shape"]


def array_shape(annotation: Any) -> tuple[str, str] | None:
    """The kind and the axes that an annotation declares; None if it is not one of an array.

    >>> import numpy as np
    >>> array_shape(Float[np.ndarray, "rounds arms"])
    ('Float', 'rounds arms')
    """
    for said in (annotation, *getattr(annotation, "__metadata__", ())):
        axes = getattr(said, "dim_str", None)
        if isinstance(axes, str):
            return str(getattr(said, "kind", None) or said.__name__.split("[")[0]), axes
    return None
