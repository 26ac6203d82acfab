"""Operations of arrays without elements: there is nothing to tile, and sums of nothing are zeros."""

from __future__ import annotations

from collections.abc import Callable

from ..te import Expr, Tensor, compute, placeholder, thread_axis
from ..te.schedule import Schedule, create_schedule
from .operator import Operand, Scheduled

__all__ = ["copy_of_nothing", "is_empty", "of_elements", "spread"]


def is_empty(*operands: Operand | None) -> bool:
    """Whether an extent of any of them is the number 0."""
    return any(isinstance(extent, int) and extent == 0 for one in operands if one for extent in one.shape)


def spread(s: Schedule, *stages: Tensor) -> None:
    """An element a thread, in a kernel for each stage."""
    for stage in stages:
        block, thread = s[stage].split(s[stage].fuse(*stage.op.axis), factor=128)
        s[stage].bind(block, thread_axis("blockIdx.x"))
        s[stage].bind(thread, thread_axis("threadIdx.x"))


def of_elements(shape: tuple[int, ...], element: Callable[..., Expr], tensors: list[Tensor]) -> Scheduled:
    """What `element` says, an element a thread."""
    Y = compute(shape, element, name="Y")
    s = create_schedule(Y.op)
    spread(s, Y)
    return s, [*tensors, Y]


def copy_of_nothing(x: Operand, **rows: Operand) -> Scheduled:
    """A result without elements, of the shape of `x`; the others are as long as its rows."""
    X = placeholder(x.shape, x.dtype, name="X")
    more = [placeholder(one.shape, one.dtype, name=name) for name, one in rows.items()]

    def element(*at: Expr) -> Expr:
        value = X[at]
        for one in more:
            value = value + one[at[-1]]
        return value

    return of_elements(x.shape, element, [X, *more])
