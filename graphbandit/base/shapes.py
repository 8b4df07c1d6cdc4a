"""Array annotations with shapes, as ``Float[np.ndarray, "rounds arms"]``.

They are documentation to a reader, `numpy.ndarray` to a type checker, and nothing at run time, so they cost nothing.
With GRAPHBANDIT_CHECK_SHAPES=1 they are jaxtyping's, which the tests check at every call.
"""

import os
from typing import TYPE_CHECKING

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
        """``_Unchecked[type, shape]`` is the type alone."""

        def __class_getitem__(cls, item: tuple[type, str]) -> type:
            return item[0]

    Bool = Float = Int = Int32 = Int64 = Shaped = UInt8 = UInt64 = _Unchecked

__all__ = ["Bool", "Float", "Int", "Int32", "Int64", "Shaped", "UInt8", "UInt64"]
