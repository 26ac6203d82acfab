"""The bodies of the stages that a schedule makes, for people to read: what is computed is made of IR."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..arithmetic import literal
from ..expr import Expr, ExprLike, IterVar, Read, ReduceItem
from ..reduction import Reduction
from ..rewrite import rewrite
from ..tensor import Operation

__all__ = ["body_of", "elements", "over_axes", "reduced"]


def body_of(op: Operation) -> tuple[Expr, ...]:
    """The values of one element of what an operation computes."""
    return getattr(op, "body", ())


def elements(op: Operation, axes: Sequence[ExprLike]) -> tuple[Expr, ...]:
    """The elements of an operation's tensors at these places."""
    places = tuple(literal(axis, None, op.source) for axis in axes)
    return tuple(Read(op.output(i), places, op.source) for i in range(op.num_outputs))


def over_axes(
    body: Sequence[Expr], values: Mapping[IterVar, Expr], reduce_axis: Sequence[IterVar] | None = None
) -> tuple[Expr, ...]:
    """A body with its axes replaced; a reduction runs over other axes where such are given."""
    known = {id(axis): value for axis, value in values.items()}

    def at(expr: Expr) -> Expr:
        return rewrite(expr, lambda part: known.get(id(part)))

    if not body or not isinstance(body[0], ReduceItem):
        return tuple(map(at, body))
    old = body[0].reduction
    return reduced(old, tuple(map(at, old.exprs)), old.axis if reduce_axis is None else reduce_axis)


def reduced(like: Reduction, exprs: Sequence[Expr], axis: Sequence[IterVar]) -> tuple[Expr, ...]:
    """The results of a reduction as `like` is, of other elements over other axes."""
    reduction = Reduction(like.name, tuple(exprs), tuple(axis), like.source)
    reduction.lhs, reduction.rhs = like.lhs, like.rhs
    reduction.combined, reduction.identity = like.combined, like.identity
    return tuple(ReduceItem(reduction, i) for i in range(len(reduction.exprs))) if axis else tuple(reduction.exprs)
