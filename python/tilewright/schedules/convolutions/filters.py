"""Filters in the order in which convolutions without tensor cores read them."""

from __future__ import annotations

from ...te import Tensor, thread_axis
from ...te.schedule import Schedule

__all__ = ["schedule_filters"]


def schedule_filters(s: Schedule, W: Tensor, A: Tensor) -> None:
    """A is W with the filters last, by way of shared memory: read along W's last axes, written along the filters."""
    shared = s.cache_read(W, "shared", [A])
    ry, rx, c, f = A.op.axis
    c_block, c = s[A].split(c, factor=8)
    f_block, f = s[A].split(f, factor=32)
    s[A].reorder(c_block, f_block, ry, rx, c, f)
    block = s[A].fuse(c_block, f_block)
    s[A].bind(block, thread_axis("blockIdx.x"))
    s[A].bind(c, thread_axis("threadIdx.y"))
    s[A].bind(f, thread_axis("threadIdx.x"))
    s[shared].compute_at(s[A], block)
    if W.shape[-1] * W.shape[-2] % 2:
        s[shared].storage_align(s[shared].op.axis[0], 2, 1)
