"""A program in double precision: what results in narrower types are compared with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ..dtypes import DType, as_dtype, dtype_of
from ..errors import TilewrightError
from .definitions import placeholder
from .expr import Call, Cast, Const, Expr, Previous, Read, ReduceItem, Select, Var
from .program import operations
from .reduction import Reduction
from .rewrite import rebuild
from .tensor import ComputeOp, Operation, PlaceholderOp, Tensor

__all__ = ["NoDouble", "in_double"]

_DOUBLE = dtype_of("float64")


class NoDouble(TilewrightError):
    """A program that has no counterpart in double precision: statements."""


def in_double(outputs: Sequence[Tensor], *, rounded: int = 0) -> tuple[list[Tensor], dict[Tensor, Tensor]]:
    """The program with float64 in the place of each other float type, and its placeholders by those of `outputs`.

    Each float is computed in double precision; conversions between float types round nothing. With `rounded`, what the
    program computes in, or converts to, a type of that many bits or fewer is rounded to that type. Integers, bools and
    indices stay as they are, and so do placeholders of them.

    Raises
    ------
    NoDouble
        Of a program with a `te.extern`.

    >>> from tilewright import te
    >>> A = te.placeholder((4,), "float16", name="A")
    >>> B = te.compute((4,), lambda i: te.exp(A[i]).astype("float32") * 0.5, name="B")
    >>> (wide,), inputs = in_double([B])
    >>> wide.dtype, inputs[A].dtype, wide.op.body[0]
    ('float64', 'float64', exp(A[i]) * 0.5)
    """
    made: dict[Tensor, Tensor] = {}
    for op in operations([one.op for one in outputs]):
        new = _operation(op, made, rounded)
        made.update((op.output(i), new.output(i)) for i in range(op.num_outputs))
    return [made[one] for one in outputs], {old: new for old, new in made.items() if isinstance(old.op, PlaceholderOp)}


def _wide(dtype: DType) -> DType:
    return _DOUBLE if dtype.is_float else dtype


def _operation(op: Operation, made: Mapping[Tensor, Tensor], rounded: int) -> Operation:
    if isinstance(op, PlaceholderOp):
        dtype = op.element_types[0]
        return placeholder(op.shape, "float64", op.name).op if dtype.is_float else op
    if not isinstance(op, ComputeOp):
        raise NoDouble(f"{op.source}: {op.name}: expected a te.compute or te.scan, got {type(op).__name__}")
    reduction = op.reduction
    if reduction is None:
        body = tuple(_expr(one, made, {}, rounded) for one in op.body)
    else:
        wide = _reduction(reduction, made, rounded)
        body = tuple(ReduceItem(wide, one.index) for one in op.body if isinstance(one, ReduceItem))
    return type(op)(op.name, tuple(op.axis), op.shape, body, op.source)


def _reduction(reduction: Reduction, made: Mapping[Tensor, Tensor], rounded: int) -> Reduction:
    exprs = tuple(_expr(one, made, {}, rounded) for one in reduction.exprs)
    wide = Reduction(reduction.name, exprs, reduction.axis, reduction.source)
    if reduction.name == "reduce":
        news = {
            one: Var(one.name, _wide(one.element_type), one.source, one.is_index)
            for one in (*reduction.lhs, *reduction.rhs)
        }
        wide.lhs = tuple(news[one] for one in reduction.lhs)
        wide.rhs = tuple(news[one] for one in reduction.rhs)
        wide.combined = tuple(_expr(one, made, news, rounded) for one in reduction.combined)
        wide.identity = tuple(_const(one) for one in reduction.identity)
    return wide


def _const(expr: Const) -> Const:
    if not expr.element_type.is_float:
        return expr
    return Const(float(np.asarray(expr.value, as_dtype(expr.element_type.name))), _DOUBLE, expr.source)


def _expr(expr: Expr, made: Mapping[Tensor, Tensor], variables: Mapping[Var, Var], rounded: int) -> Expr:
    def part_of(part: Expr, operands: Sequence[Expr]) -> Expr:
        made_here = _rebuilt(part, operands, made, variables)
        narrow = part.element_type
        if not rounded or not isinstance(part, (Call, Cast)) or not narrow.is_float or narrow.bits > rounded:
            return made_here
        return Cast(Cast(made_here, narrow, part.source), _DOUBLE, part.source)

    return rebuild(expr, part_of)


def _rebuilt(expr: Expr, operands: Sequence[Expr], made: Mapping[Tensor, Tensor], variables: Mapping[Var, Var]) -> Expr:
    if isinstance(expr, Const):
        return _const(expr)
    if isinstance(expr, Var):
        new = variables.get(expr, expr)
        return Cast(new, _DOUBLE, expr.source) if new.element_type.is_float and new.element_type != _DOUBLE else new
    if isinstance(expr, Previous):
        return Previous(expr.result, expr.lag, _wide(expr.element_type), expr.source)
    if isinstance(expr, Read):
        return Read(made[expr.tensor], tuple(operands), expr.source)
    if isinstance(expr, Select):
        condition, yes, no = operands
        return Select(condition, yes, no, expr.lazy, expr.source)
    if isinstance(expr, Cast):
        (value,) = operands
        if expr.element_type.is_float and value.element_type == _DOUBLE:
            return value
        return Cast(value, _wide(expr.element_type), expr.source)
    if isinstance(expr, Call):
        return Call(expr.op, tuple(operands), _wide(expr.element_type), expr.source, expr.is_index)
    return expr  # an axis
