"""Several floats at once, for loops too short for the compiler's own vectors.

Numba does not know which arrays overlap, and LLVM makes loops of 32 numbers a turn where a row has 20. Here a kernel
says which numbers go together: `pair` and `octet` take 2 or 8 neighbours out of an array, ``+``, ``-``, ``*`` and
``/`` work on each of them (a number stands for as many equal ones), and `put` writes them back. Every operation
rounds like that on single numbers, on all machines: where registers are smaller, LLVM takes several. `plus_product`
takes half the time of a product and a sum.

Arrays are seen as flat, and indices are not checked: an octet that begins inside may end outside, so arrays where that
can happen have room for it.
"""

import operator
from collections.abc import Callable
from functools import partial, wraps
from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, lower_builtin, models, register_model, type_callable

ALIGNMENT = 8
"""Bytes to which numbers lie aligned."""


def in_code(signature_of: Callable[..., Any]) -> Callable[[Callable[..., Any]], Any]:
    """Decorator of functions that write the code of an operation, given LLVM's builder and the values.

    Only kernels may call what comes of it, with the values alone.

    - `signature_of`: the operation's signature, given the types of the values.
    """

    def decorate(write: Callable[..., Any]) -> Any:
        @wraps(write)  # its signature, in which `builder` stands for Numba's typing context
        def operation(_: Any, *kinds: Any) -> Any:
            def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
                return write(builder, *values)

            return signature_of(*kinds), generate

        return intrinsic(operation)

    return decorate


class Lanes(types.Type):
    """The type of `width` floats at once."""

    def __init__(self, width: int) -> None:
        self.width = width
        super().__init__(name=f"Lanes({width})")


@register_model(Lanes)
class _LanesModel(models.PrimitiveModel):
    def __init__(self, manager: Any, lanes: Lanes) -> None:
        super().__init__(manager, lanes, ir.VectorType(ir.DoubleType(), lanes.width))


def _place(context: Any, builder: Any, array_type: Any, array: Any, index: Any, width: int) -> Any:
    """The address of this many neighbours."""
    data = context.make_array(array_type)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [index]), ir.VectorType(ir.DoubleType(), width).as_pointer())


def _taker(width: int) -> Any:
    def take(typing_context: Any, array: Any, index: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            place = _place(context, builder, signature.args[0], values[0], values[1], width)
            return builder.load(place, align=ALIGNMENT)

        return Lanes(width)(array, types.int64), generate

    return intrinsic(take)


pair: Any = _taker(2)
"""`pair(array, i)`: the numbers i and i + 1 of a float array, seen as flat."""
octet: Any = _taker(8)
"""`octet(array, i)`: the numbers i to i + 7."""


def _put(typing_context: Any, array: Any, index: Any, lanes: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        place = _place(context, builder, signature.args[0], values[0], values[1], signature.args[2].width)
        builder.store(values[2], place, align=ALIGNMENT)
        return context.get_dummy_value()

    return types.void(array, types.int64, lanes), generate


put: Any = intrinsic(_put)
"""`put(array, i, lanes)`: write them to i and after."""


@in_code(lambda lanes, k: types.float64(lanes, types.int64))
def lane(builder: Any, lanes: Any, k: Any) -> Any:
    """The number in lane k."""
    return builder.extract_element(lanes, k)


@in_code(lambda first, second: Lanes(2)(types.float64, types.float64))
def joined(builder: Any, first: Any, second: Any) -> Any:
    """The pair of two numbers."""
    lanes = ir.Constant(ir.VectorType(ir.DoubleType(), 2), ir.Undefined)
    for place, value in enumerate((first, second)):
        lanes = builder.insert_element(lanes, value, ir.Constant(ir.IntType(32), place))
    return lanes


@in_code(lambda lanes, least: lanes(lanes, types.float64))
def chopped(builder: Any, lanes: Any, least: Any) -> Any:
    """The lanes, with 0 in place of numbers of size at most `least`."""
    width = lanes.type.count
    limits = (_spread(builder, value, width) for value in (builder.fneg(least), least))
    inside = (builder.fcmp_ordered(sign, lanes, limit) for sign, limit in zip((">=", "<="), limits, strict=True))
    return builder.select(builder.and_(*inside), ir.Constant(lanes.type, [0.0] * width), lanes)


def _halves(builder: Any, lanes: Any, width: int) -> Any:
    """The first and the last `width` of twice as many lanes."""
    return (
        builder.shuffle_vector(lanes, lanes, ir.Constant(ir.VectorType(ir.IntType(32), width), list(part)))
        for part in (range(width), range(width, 2 * width))
    )


def _folded(builder: Any, lanes: Any, join: Callable[[Any, Any], Any]) -> Any:
    """Join the halves, lane by lane, until one number is left."""
    while lanes.type.count > 1:
        lanes = join(*_halves(builder, lanes, lanes.type.count // 2))
    return builder.extract_element(lanes, ir.Constant(ir.IntType(32), 0))


@in_code(lambda lanes: types.float64(lanes))
def total_of(builder: Any, lanes: Any) -> Any:
    """The sum of all lanes."""
    return _folded(builder, lanes, builder.fadd)


def _larger(builder: Any, one: Any, other: Any) -> Any:
    """The larger of two numbers in each lane."""
    return builder.select(builder.fcmp_ordered(">", one, other), one, other)


larger: Any = in_code(lambda one, other: one(one, other))(_larger)


@in_code(lambda lanes: types.float64(lanes))
def largest_of(builder: Any, lanes: Any) -> Any:
    """The largest of all lanes."""
    return _folded(builder, lanes, partial(_larger, builder))


def _comparer(sign: str) -> Any:
    def compare(builder: Any, lanes: Any, x: Any) -> Any:
        width = lanes.type.count
        found = builder.fcmp_ordered(sign, lanes, _spread(builder, x, width))
        return builder.zext(builder.bitcast(found, ir.IntType(width)), ir.IntType(64))

    return in_code(lambda lanes, x: types.uint64(lanes, types.float64))(compare)


equal_to: Any = _comparer("==")
"""`equal_to(lanes, x)`: which lanes are equal to a number, one bit each."""
at_least: Any = _comparer(">=")
"""`at_least(lanes, x)`: which lanes are as large as a number, or larger."""


@in_code(lambda total, lanes, x: total(total, lanes, types.float64))
def plus_product(builder: Any, total: Any, lanes: Any, x: Any) -> Any:
    """total + lanes * x, rounded once, and not after the product as well."""
    kind = total.type
    signature = ir.FunctionType(kind, [kind] * 3)
    fused = cgutils.get_or_insert_function(builder.module, signature, f"llvm.fma.v{kind.count}f64")
    return builder.call(fused, (lanes, _spread(builder, x, kind.count), total))


@in_code(lambda x: Lanes(8)(types.float64))
def eight(builder: Any, x: Any) -> Any:
    """An octet with one number in all lanes."""
    return _spread(builder, x, 8)


def _spread(builder: Any, value: Any, width: int) -> Any:
    """Lanes, `width` of them, all with one number."""
    vector = ir.VectorType(ir.DoubleType(), width)
    one = builder.insert_element(ir.Constant(vector, ir.Undefined), value, ir.Constant(ir.IntType(32), 0))
    zeros = ir.Constant(ir.VectorType(ir.IntType(32), width), [0] * width)
    return builder.shuffle_vector(one, ir.Constant(vector, ir.Undefined), zeros)


def _define(symbol: Callable[[Any, Any], Any], instruction: str) -> None:
    """Teach kernels one operation: on lanes and lanes, lanes and a number, a number and lanes."""

    @type_callable(symbol)
    def _(_: Any) -> Any:
        def result(left: Any, right: Any) -> Any:
            return left if isinstance(left, Lanes) else right if isinstance(right, Lanes) else None

        return result

    def work(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        lanes = (
            value if isinstance(kind, Lanes) else _spread(builder, value, signature.return_type.width)
            for kind, value in zip(signature.args, values, strict=True)
        )
        return getattr(builder, instruction)(*lanes)

    for kinds in ((Lanes, Lanes), (Lanes, types.float64), (types.float64, Lanes)):
        lower_builtin(symbol, *kinds)(work)


_define(operator.add, "fadd")
_define(operator.sub, "fsub")
_define(operator.mul, "fmul")
_define(operator.truediv, "fdiv")
