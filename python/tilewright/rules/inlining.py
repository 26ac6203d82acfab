"""Expressions with what stages compute in the place of their elements."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from ..te.expr import Expr, IterVar, Read
from ..te.rewrite import rewrite
from ..te.scan_stages import ScanOp
from ..te.tensor import ComputeOp, Operation

__all__ = ["inlined", "substituted"]


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
