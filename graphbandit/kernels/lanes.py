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
from functools import partial
from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, lower_builtin, models, register_model, type_callable

in_code: Any = intrinsic
"""Decorator of functions that write their own code; only kernels may call them."""

ALIGNMENT = 8
"""Bytes to which numbers lie aligned."""


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

    return in_code(take)


pair: Any = _taker(2)
"""`pair(array, i)`: the numbers i and i + 1 of a float array, seen as flat."""
octet: Any = _taker(8)
"""`octet(array, i)`: the numbers i to i + 7."""


@in_code
def put(typing_context: Any, array: Any, index: Any, lanes: Any) -> Any:
    """`put(array, i, lanes)`: write them to i and after."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        place = _place(context, builder, signature.args[0], values[0], values[1], signature.args[2].width)
        builder.store(values[2], place, align=ALIGNMENT)
        return context.get_dummy_value()

    return types.void(array, types.int64, lanes), generate


@in_code
def lane(typing_context: Any, lanes: Any, k: Any) -> Any:
    """The number in lane k."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        return builder.extract_element(*values)

    return types.float64(lanes, types.int64), generate


@in_code
def joined(typing_context: Any, first: Any, second: Any) -> Any:
    """The pair of two numbers."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        lanes = ir.Constant(ir.VectorType(ir.DoubleType(), 2), ir.Undefined)
        for place, value in enumerate(values):
            lanes = builder.insert_element(lanes, value, ir.Constant(ir.IntType(32), place))
        return lanes

    return Lanes(2)(types.float64, types.float64), generate


@in_code
def chopped(typing_context: Any, lanes: Any, least: Any) -> Any:
    """The lanes, with 0 in place of numbers of size at most `least`."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        kind = values[0].type
        limits = (_spread(builder, value, kind.count) for value in (builder.fneg(values[1]), values[1]))
        inside = (
            builder.fcmp_ordered(sign, values[0], limit) for sign, limit in zip((">=", "<="), limits, strict=True)
        )
        return builder.select(builder.and_(*inside), ir.Constant(kind, [0.0] * kind.count), values[0])

    return lanes(lanes, types.float64), generate


def _halves(builder: Any, lanes: Any, width: int) -> Any:
    """The first and the last `width` of twice as many lanes."""
    return (
        builder.shuffle_vector(lanes, lanes, ir.Constant(ir.VectorType(ir.IntType(32), width), list(part)))
        for part in (range(width), range(width, 2 * width))
    )


def _folded(builder: Any, lanes: Any, width: int, join: Callable[[Any, Any], Any]) -> Any:
    """Join the halves, lane by lane, until one number is left."""
    while width > 1:
        width //= 2
        lanes = join(*_halves(builder, lanes, width))
    return builder.extract_element(lanes, ir.Constant(ir.IntType(32), 0))


@in_code
def total_of(typing_context: Any, lanes: Any) -> Any:
    """The sum of all lanes."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        return _folded(builder, values[0], signature.args[0].width, builder.fadd)

    return types.float64(lanes), generate


def _larger(builder: Any, one: Any, other: Any) -> Any:
    return builder.select(builder.fcmp_ordered(">", one, other), one, other)


@in_code
def larger(typing_context: Any, one: Any, other: Any) -> Any:
    """The larger of two numbers in each lane."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        return _larger(builder, *values)

    return one(one, other), generate


@in_code
def largest_of(typing_context: Any, lanes: Any) -> Any:
    """The largest of all lanes."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        return _folded(builder, values[0], signature.args[0].width, partial(_larger, builder))

    return types.float64(lanes), generate


def _comparer(sign: str) -> Any:
    def compare(typing_context: Any, lanes: Any, x: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            width = signature.args[0].width
            found = builder.fcmp_ordered(sign, values[0], _spread(builder, values[1], width))
            return builder.zext(builder.bitcast(found, ir.IntType(width)), ir.IntType(64))

        return types.uint64(lanes, types.float64), generate

    return in_code(compare)


equal_to: Any = _comparer("==")
"""`equal_to(lanes, x)`: which lanes are equal to a number, one bit each."""
at_least: Any = _comparer(">=")
"""`at_least(lanes, x)`: which lanes are as large as a number, or larger."""


@in_code
def plus_product(typing_context: Any, total: Any, lanes: Any, x: Any) -> Any:
    """`plus_product(total, lanes, x)`: total + lanes * x, rounded once and not after the product as well."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        kind = values[0].type
        fused = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(kind, [kind] * 3), f"llvm.fma.v{kind.count}f64"
        )
        return builder.call(fused, (values[1], _spread(builder, values[2], kind.count), values[0]))

    return total(total, lanes, types.float64), generate


@in_code
def eight(typing_context: Any, x: Any) -> Any:
    """An octet with one number in all lanes."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        return _spread(builder, values[0], 8)

    return Lanes(8)(types.float64), generate


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
