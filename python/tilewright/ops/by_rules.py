"""Operations whose schedules are made by rules: their definitions are in `tilewright.graph.operators`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..errors import TilewrightTypeError as TypeError
from ..errors import TilewrightValueError as ValueError
from ..graph.operators import OPERATORS
from ..rules import auto_schedule
from ..target import Target
from ..te import Tensor, compute, placeholder
from .operator import Operand, Scheduled

__all__ = ["FLOATS", "acc_of", "axes_of", "by_rules", "cast", "expect_floats", "expect_precision", "given", "operate"]

FLOATS = ("float16", "bfloat16", "float32", "float64")


def given(operand: Operand, name: str) -> Tensor:
    """The input that stands for an array."""
    return placeholder(operand.shape, operand.dtype, name=name, strides=operand.strides, align=operand.align)


def operate(name: str, *tensors: Tensor, **attributes: Any) -> Tensor:
    """The first result of an operator of the graph dialect, as tensor expressions."""
    return OPERATORS[name](*tensors, **attributes)[0]


def by_rules(inputs: Sequence[Tensor], output: Tensor, target: Target | None) -> Scheduled:
    """The schedule that rules make, and the arguments. An output that is an input is copied."""
    if any(output.op is one.op for one in inputs):
        same = output
        output = compute(same.shape, lambda *at: same(*at), name="copy")
    return auto_schedule(output, target), [*inputs, output]


def cast(x: Tensor, dtype: str) -> Tensor:
    """The tensor in a type; itself where it has that."""
    return x if x.dtype == dtype else compute(x.shape, lambda *at: x(*at).astype(dtype), name=f"{x.name}_{dtype}")


def acc_of(dtype: str) -> str:
    """The type in which elements are summed: float32 of 16- and 8-bit floats, int32 of int8."""
    if dtype in ("int8", "uint8"):
        return "int32"
    return "float32" if dtype in ("float16", "bfloat16") or dtype.startswith("float8") else dtype


def expect_precision(what: str, precision: str | None, dtype: str) -> dict[str, str]:
    """The notes of a contraction's stage. Raises ValueError for what is no precision of operands of such a type."""
    if precision not in (None, "tf32") or (precision and dtype != "float32"):
        raise ValueError(
            f"{what}: expected a precision of 'tf32', for operands of float32, or none, got {precision!r} for {dtype}"
        )
    return {"precision": precision} if precision else {}


def axes_of(what: str, axis: int | Sequence[int] | None, rank: int) -> tuple[int, ...]:
    """Axes counted from 0, in order; all of them for None."""
    if axis is None:
        return tuple(range(rank))
    found: list[int] = []
    for one in (axis,) if isinstance(axis, int) else axis:
        if not -rank <= one < rank:
            raise ValueError(f"{what}: expected an axis from {-rank} to {rank - 1}, got {one}")
        found.append(one % rank)
    if len(set(found)) != len(found):
        raise ValueError(f"{what}: expected each axis once, got {axis}")
    return tuple(sorted(found))


def expect_floats(what: str, **operands: Operand | None) -> None:
    """Raises TypeError unless each is of floats."""
    for name, operand in operands.items():
        if operand is not None and operand.dtype not in FLOATS:
            raise TypeError(f"{what}: expected {name} of {', '.join(FLOATS)}, got {operand.dtype}")
