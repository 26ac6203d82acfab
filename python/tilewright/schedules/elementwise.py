"""Operators that treat each element alone, one or chains of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import cast

from ..te import Expr, Tensor, compute, erf, placeholder, thread_axis
from ..te.definitions import ElementFunction
from ..te.schedule import Schedule, create_schedule

__all__ = ["add", "elementwise", "gelu"]


def elementwise(
    function: ElementFunction,
    shape: Sequence[int],
    *,
    inputs: int = 1,
    dtype: str = "float32",
    threads: int = 128,
    unroll: int = 1,
) -> tuple[Schedule, list[Tensor]]:
    """Y = function(X0, X1, ...), element by element, whatever the function computes of them on the way.

    All tensors have the extents `shape` and the type `dtype`. A block has `threads` threads. A thread takes 16 bytes of
    each tensor, or `unroll` times as much, a block's width apart.

    >>> import tilewright as tw
    >>> from tilewright import te
    >>> chain = elementwise(lambda x, y: te.tanh(x * y + 1.0) * x, (64, 1024), inputs=2)
    >>> func = tw.build(*chain, target="cuda -arch=sm_90a", name="chain")
    >>> "ld.global.nc.v4" in func.ptx
    True
    """
    tensors = [placeholder(tuple(shape), dtype, f"X{i}" if inputs > 1 else "X") for i in range(inputs)]
    of_elements = cast(Callable[..., Expr], function)
    Y = compute(tuple(shape), lambda *at: of_elements(*(tensor[at] for tensor in tensors)), name="Y")
    s = create_schedule(Y.op)
    lanes = 4 if Y.dtype == "float32" else 8
    axis, lane = s[Y].split(s[Y].fuse(*Y.op.axis), factor=lanes)
    axis, thread = s[Y].split(axis, factor=threads)
    block, turn = s[Y].split(axis, factor=unroll)
    s[Y].bind(block, thread_axis("blockIdx.x"))
    s[Y].bind(thread, thread_axis("threadIdx.x"))
    s[Y].unroll(turn)
    s[Y].vectorize(lane)
    return s, [*tensors, Y]


def gelu(*shape: int) -> tuple[Schedule, list[Tensor]]:
    """Y = X / 2 * (1 + erf(X / sqrt(2))), float32, of the extents `shape`.

    >>> import tilewright as tw
    >>> func = tw.build(*gelu(64, 1024), target="cuda -arch=sm_90a", name="gelu")
    >>> "ld.global.nc.v4" in func.ptx
    True
    """
    return elementwise(lambda x: x * 0.5 * (1.0 + erf(x * 0.5**0.5)), shape)


def add(*shape: int) -> tuple[Schedule, list[Tensor]]:
    """Y = X0 + X1, float32, of the extents `shape`.

    >>> import tilewright as tw
    >>> func = tw.build(*add(64, 1024), target="cuda -arch=sm_90a", name="add")
    >>> "ld.global.nc.v4" in func.ptx
    True
    """
    return elementwise(lambda x, y: x + y, shape, inputs=2)
