"""The gradients of keys and values that several heads of queries share: the sums over these heads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..te import Expr, Tensor, compute, reduce_axis, sum, thread_axis
from ..te.schedule import Schedule

__all__ = ["is_shared", "of_heads", "schedule_of_heads"]

_THREADS = 256


def is_shared(heads: Sequence[Any], *tensors: Tensor) -> bool:
    """Whether several heads read one of a tensor."""
    return [*heads] != [*tensors[0].shape[:-2]] or [*heads] != [*tensors[1].shape[:-2]]


def of_heads(gradient: Tensor, x: Tensor, name: str) -> Tensor:
    """The sum over what shares an element of x, of a gradient that may have more columns behind those of x."""
    extents = zip(gradient.shape[:-1], x.shape[:-1], strict=True)
    counts = [a // b if isinstance(a, int) and isinstance(b, int) else 1 for a, b in extents]
    axes = {d: reduce_axis((0, count), name=f"g{d}") for d, count in enumerate(counts) if count > 1}
    if not axes:
        return compute(x.shape, lambda *at: gradient(*at).astype(x.dtype), name=name)

    def element(*at: Expr) -> Expr:
        places = [place * counts[d] + axes[d] if d in axes else place for d, place in enumerate(at)]
        return sum(gradient(*places), axis=list(axes.values()))

    total = compute(x.shape, element, name=f"{name}.sum")
    return compute(x.shape, lambda *at: total(*at).astype(x.dtype), name=name)


def schedule_of_heads(s: Schedule, one: Tensor) -> None:
    """A thread for each element."""
    axes = s[one].op.axis
    every = axes[0]
    for axis in axes[1:]:
        every = s[one].fuse(every, axis)
    block, thread = s[one].split(every, factor=_THREADS)
    s[one].bind(block, thread_axis("blockIdx.x"))
    s[one].bind(thread, thread_axis("threadIdx.x"))
    for total in one.op.input_tensors:
        if total.op.reduce_axis:
            s[total].set_scope("local")
            s[total].compute_at(s[one], thread)
