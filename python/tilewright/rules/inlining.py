"""Expressions with what stages compute in the place of their elements."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from copy import copy
from typing import Any

from ..te.expr import Expr, IterVar, Read, ReduceItem
from ..te.rewrite import rewrite
from ..te.scan_stages import ScanOp
from ..te.tensor import ComputeOp, Operation

__all__ = ["inlined", "rewritten", "substituted"]


def rewritten(op: ComputeOp, replace: Callable[[Expr], Expr | None]) -> ComputeOp:
    """The operation with what `replace` gives in place of parts of its elements, where it gives something."""
    body: tuple[Expr, ...]
    if op.reduction is None:
        body = tuple(rewrite(expr, replace) for expr in op.body)
    else:
        reduction = copy(op.reduction)
        reduction.exprs = tuple(rewrite(expr, replace) for expr in reduction.exprs)
        body = tuple(ReduceItem(reduction, item.index) for item in op.body if isinstance(item, ReduceItem))
    made = ComputeOp(op.name, tuple(op.axis), tuple(op.shape), body, op.source)
    made.attrs = op.attrs
    return made


def substituted(expr: Expr, places: Mapping[IterVar, Any]) -> Expr:
    """The expression at other places of its axes."""
    by_id = {id(axis): place for axis, place in places.items()}
    return rewrite(expr, lambda part: by_id.get(id(part)))


def inlined(expr: Expr, only: Collection[Operation] | None = None) -> Expr:
    """The expression with the bodies of stages that reduce nothing in place of their elements, or of `only` such ones.
    Those of several results and of scans stay."""

    def replace(part: Expr) -> Expr | None:
        op = part.tensor.op if isinstance(part, Read) else None
        if not isinstance(part, Read) or not isinstance(op, ComputeOp) or op.reduction is not None:
            return None
        if isinstance(op, ScanOp) or op.num_outputs != 1 or only is not None and op not in only:
            return None
        return inlined(substituted(op.body[0], dict(zip(op.axis, part.indices, strict=True))), only)

    return rewrite(expr, replace)
