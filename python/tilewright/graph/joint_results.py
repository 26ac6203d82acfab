"""Results of a group that are computed together: one of them is made of the other, element by element."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import te
from ..te import Tensor
from ..te.expr import Expr, Read
from ..te.rewrite import rewrite
from ..te.tensor import ComputeOp
from ..te.walks import parts

__all__ = ["as_one_stage"]


def as_one_stage(outputs: Sequence[Tensor]) -> list[Tensor]:
    """The results of one stage that computes both, where the second reads the first at its own place; else themselves.

    >>> X = te.placeholder((4,), name="X")
    >>> Y = te.compute((4,), lambda i: X[i] * 2, name="Y")
    >>> Z = te.compute((4,), lambda i: Y[i].astype("int8"), name="Z")
    >>> as_one_stage([Y, Z])
    [Tensor(name=Z.v0, shape=(4,), dtype=float32), Tensor(name=Z.v1, shape=(4,), dtype=int8)]
    """
    if len(outputs) != 2:
        return list(outputs)
    first, second = outputs
    one, other = _map_of(first), _map_of(second)
    if one is None or other is None or first.shape != second.shape or not _reads_in_place(other, first):
        return list(outputs)

    def values(*axes: Any) -> tuple[Expr, Expr]:
        places = dict(zip(map(id, one.axis), axes))
        value = rewrite(one.body[0], lambda expr: places.get(id(expr)))
        own = dict(zip(map(id, other.axis), axes))

        def replace(expr: Expr) -> Expr | None:
            return value if isinstance(expr, Read) and expr.tensor.op is one else own.get(id(expr))

        return value, rewrite(other.body[0], replace)

    return list(te.compute(second.shape, values, name=other.name))


def _map_of(tensor: Tensor) -> ComputeOp | None:
    op = tensor.op
    return op if isinstance(op, ComputeOp) and op.num_outputs == 1 and op.reduction is None else None


def _reads_in_place(op: ComputeOp, tensor: Tensor) -> bool:
    """Whether a stage reads a tensor, and at its own axes alone."""
    reads = [part for part in parts(op.body) if isinstance(part, Read) and part.tensor.op is tensor.op]
    return bool(reads) and all(
        len(read.indices) == len(op.axis) and all(index is axis for index, axis in zip(read.indices, op.axis))
        for read in reads
    )
