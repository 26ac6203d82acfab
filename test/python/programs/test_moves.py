"""A transposition through padded shared memory, and stencils in two dimensions."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from programs.checks import TARGETS, Scheduled, check
from tilewright import te, testing

targets = pytest.mark.parametrize("target", TARGETS)


def transpose(rows: int, columns: int, tile: int = 16) -> Scheduled:
    """A tile goes through shared memory, read along rows and written along columns; its rows are 17 apart."""
    A = te.placeholder((rows, columns), name="A")
    B = te.compute((columns, rows), lambda i, j: A[j, i], name="B")
    s = te.create_schedule(B.op)
    shared = s.cache_read(A, "shared", [B])
    io, jo, ii, ji = s[B].tile(*B.op.axis, tile, tile)
    ii, ty = s[B].split(ii, factor=4)
    s[B].bind(io, te.thread_axis("blockIdx.y"))
    s[B].bind(jo, te.thread_axis("blockIdx.x"))
    s[B].bind(ty, te.thread_axis("threadIdx.y"))
    s[B].bind(ji, te.thread_axis("threadIdx.x"))
    s[shared].compute_at(s[B], jo)
    s[shared].storage_align(s[shared].op.axis[0], tile, 1)
    i, j = s[shared].op.axis
    _, ty = s[shared].split(i, factor=4)
    s[shared].bind(ty, te.thread_axis("threadIdx.y"))
    s[shared].bind(j, te.thread_axis("threadIdx.x"))
    return s, [A, B]


def box(rows: int, columns: int) -> tuple[te.Tensor, te.Tensor, te.Tensor]:
    """A 3 x 3 box in two stages."""
    A = te.placeholder((rows + 2, columns + 2), name="A")
    along_x = te.compute(
        (rows + 2, columns), lambda y, x: (A[y, x] + A[y, x + 1] + A[y, x + 2]) * (1.0 / 3), name="along_x"
    )
    B = te.compute(
        (rows, columns), lambda y, x: (along_x[y, x] + along_x[y + 1, x] + along_x[y + 2, x]) * (1.0 / 3), name="B"
    )
    return A, along_x, B


def blur(rows: int, columns: int) -> Scheduled:
    """A block has the sums along x of its tile, margins included, in shared memory."""
    A, along_x, B = box(rows, columns)
    s = te.create_schedule(B.op)
    yo, xo, yi, xi = s[B].tile(*B.op.axis, 8, 16)
    s[B].bind(yo, te.thread_axis("blockIdx.y"))
    s[B].bind(xo, te.thread_axis("blockIdx.x"))
    _, ty = s[B].split(yi, factor=4)
    s[B].bind(ty, te.thread_axis("threadIdx.y"))
    s[B].bind(xi, te.thread_axis("threadIdx.x"))
    AA = s.cache_read(A, "shared", [along_x])
    s[AA].compute_at(s[B], xo)
    s[along_x].set_scope("shared")
    s[along_x].compute_at(s[B], xo)
    return s, [A, B]


def rolling_blur(rows: int, columns: int) -> Scheduled:
    """A block goes down a strip of columns and keeps the sums along x of three rows, of which each row brings one."""
    A, along_x, B = box(rows, columns)
    s = te.create_schedule(B.op)
    yo, xo, yi, xi = s[B].tile(*B.op.axis, 8, 16)
    s[B].bind(yo, te.thread_axis("blockIdx.y"))
    s[B].bind(xo, te.thread_axis("blockIdx.x"))
    s[B].bind(xi, te.thread_axis("threadIdx.x"))
    s[along_x].set_scope("shared")
    s[along_x].compute_at(s[B], yi)
    s[along_x].rolling_buffer()
    s[along_x].bind(along_x.op.axis[1], te.thread_axis("threadIdx.x"))
    return s, [A, B]


@targets
def test_transpose(target: str) -> None:
    check(lambda: transpose(35, 50), target, lambda a: [(a.T, 0)])


@targets
@pytest.mark.parametrize("program", [blur, rolling_blur])
def test_blur(target: str, program: Callable[[int, int], Scheduled]) -> None:
    def exact(a: NDArray[np.float64]) -> NDArray[np.float64]:
        rows, columns = a.shape[0] - 2, a.shape[1] - 2
        return sum(a[y : y + rows, x : x + columns] for y in range(3) for x in range(3)) / 9

    bound = 8 * testing.unit_roundoff("float32")
    check(lambda: program(21, 37), target, lambda a: [(exact(a), bound * exact(np.abs(a)))])
