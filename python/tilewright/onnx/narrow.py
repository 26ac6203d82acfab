"""Element types of fewer than 8 bits, and of 8 bits that te does not have: bytes in the graph, with tables of values.

A tensor of such a type is one of uint8 in the graph, a byte an element, as ml_dtypes has it in memory. It is converted,
moved, and nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np

from ..graph import Value

if TYPE_CHECKING:
    from .node import Node

__all__ = ["MOVES", "NARROW", "Narrow", "decoded", "encoded"]

NARROW = ("uint4", "int4", "uint2", "int2", "float4_e2m1fn", "float8_e4m3fnuz", "float8_e5m2fnuz", "float8_e8m0fnu")
"""The names of these types, ml_dtypes' own."""

MOVES = frozenset(
    "Identity Reshape Flatten Squeeze Unsqueeze Transpose Concat Slice Split Expand Tile Gather Cast CastLike "
    "QuantizeLinear DequantizeLinear Shape Size".split()
)
"""Operators that take such tensors."""


@dataclass(frozen=True, slots=True)
class Narrow(Value):
    """A tensor of bytes that stand for elements of a narrow type, `stored`."""

    stored: str


def _numpy(name: str) -> np.dtype:
    return np.dtype(getattr(ml_dtypes, name))


@cache
def _values(name: str) -> np.ndarray:
    """The value of every byte."""
    return np.arange(256, dtype=np.uint8).view(_numpy(name)).astype(np.float32)


@cache
def _thresholds(name: str, round_up: bool) -> np.ndarray:
    """For each code but 0 the least float32 that gets it or a larger one. Of positive values larger codes are larger.

    What no finite code has gets the code that ml_dtypes gives it, which is the largest then.
    """
    kind = _numpy(name)
    values = _values(name)
    bits = 7 if name.startswith("float8") and name != "float8_e8m0fnu" else 8 if name == "float8_e8m0fnu" else 3
    finite = [float(v) for v in values[: 1 << bits] if np.isfinite(v)]

    def code(pattern: int) -> int:
        number = np.array([pattern], np.uint32).view(np.float32)
        if round_up:
            return int(np.searchsorted(finite, number[0], side="left"))  # pyright: ignore[reportUnknownArgumentType]
        with np.errstate(all="ignore"):
            got = number.astype(kind)
        exact = got.astype(np.float32)[0]
        is_finite = np.isfinite(exact) and got.view(np.uint8)[0] < 1 << bits
        return int(np.searchsorted(finite, exact)) if is_finite else len(finite)  # pyright: ignore[reportUnknownArgumentType]

    found: list[Any] = []
    infinity = 0x7F800000
    for wanted in range(1, len(finite) + 1):
        low, high = 0, infinity
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if code(middle) >= wanted else (middle + 1, high)
        found.append(low)
    return np.array(found, np.uint32).view(np.float32)


def decoded(node: Node, x: Narrow) -> Value:
    """The elements as float32."""
    table = node.builder.weight(f"values_of_{x.stored}", _values(x.stored))
    return node.op_("gather", table, node.cast(Value(x.value, x.type), "int32"), axis=0)


def encoded(node: Node, x: Value, name: str, saturate: bool = True, round_mode: str = "nearest") -> Narrow:
    """Elements of another type in a narrow one."""
    if "int" in name:
        bits = int(name[-1])
        wrapped = node.op_("and", node.cast(x, "int32"), node.constant((1 << bits) - 1, "int32"))
        codes = np.arange(1 << bits)
        if name.startswith("int"):
            codes = np.where(codes < 1 << bits - 1, codes, codes - (1 << bits))
        table = node.builder.weight(f"codes_of_{name}", codes.astype(_numpy(name)).view(np.uint8))
        return _narrow(node.op_("gather", table, wrapped, axis=0), name)
    return _encoded_float(node, node.cast(x, "float32"), name, saturate, round_mode)


def _narrow(value: Value, name: str) -> Narrow:
    return Narrow(value.value, value.type, name)


def _encoded_float(node: Node, x: Value, name: str, saturate: bool, round_mode: str) -> Narrow:
    kind = _numpy(name)
    has_sign = name != "float8_e8m0fnu"
    thresholds = _thresholds(name, name == "float8_e8m0fnu" and round_mode == "up")
    largest = len(thresholds) - 1
    table = node.builder.weight(f"thresholds_of_{name}_{round_mode}", thresholds)
    size = node.op_("abs", x) if has_sign else x
    above = node.op_("greater_equal", node.reshape(size, [*x.shape, 1]), table)
    code = node.op_("reduce_sum", node.cast(above, "int32"), axes=[x.rank], keepdims=False)

    def code_of(value: float) -> int:
        with np.errstate(all="ignore"):
            return int(np.array([value], np.float32).astype(kind).view(np.uint8)[0])

    def choose(condition: Value, value: int) -> None:
        nonlocal code
        code = node.op_("where", condition, node.constant(value, "int32"), code)

    def compare(op: str, value: Value, number: int) -> Value:
        return node.op_(op, value, node.constant(number, value))

    beyond = compare("greater", code, largest)
    code = node.op_("min", code, node.constant(largest, "int32"))
    if has_sign:
        bits = 8 if "float8" in name else 4
        below = compare("less", x, 0)
        minus = node.op_("and", compare("equal", x, 0), compare("less", node.op_("reciprocal", x), 0))
        signed = node.op_("or", below, minus)
        if name.endswith("fnuz"):  # whose negative zero is NaN
            signed = node.op_("and", signed, compare("greater", code, 0))
        code = node.op_("where", signed, node.op_("or", code, node.constant(1 << bits - 1, "int32")), code)
    if not saturate:
        choose(node.op_("and", beyond, compare("greater", x, 0)), code_of(float("inf")))
        if has_sign:
            choose(node.op_("and", beyond, compare("less", x, 0)), code_of(float("-inf")))
    choose(node.op_("isnan", x), code_of(float("nan")))
    return _narrow(node.cast(code, "uint8"), name)
