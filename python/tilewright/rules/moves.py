"""Values that are elements of a tensor, which stages between only move or pad."""

from __future__ import annotations

from collections.abc import Collection

from ..te.expr import Const, Expr, Read, Select
from ..te.rewrite import rewrite
from ..te.tensor import ComputeOp, Operation

__all__ = ["moved_by", "through"]


def through(read: Read, ends: Collection[Operation] = ()) -> Expr:
    """The element that is read, computed from what its tensor moves or pads, but that of `ends`."""
    op = read.tensor.op
    if op in ends:
        return read
    body = op.body[0] if isinstance(op, ComputeOp) and op.num_outputs == 1 and op.reduction is None else None
    inner = moved_by(body)
    if body is None or inner is None:
        return read
    places = {id(axis): index for axis, index in zip(op.axis, read.indices)}
    return rewrite(
        rewrite(body, lambda expr: through(inner, ends) if expr is inner else None), lambda expr: places.get(id(expr))
    )


def moved_by(value: Expr | None) -> Read | None:
    """The one element that a value is, or that it is where it is no number."""
    while isinstance(value, Select) and value.lazy and isinstance(value.false_value, Const):
        value = value.true_value
    return value if isinstance(value, Read) else None
