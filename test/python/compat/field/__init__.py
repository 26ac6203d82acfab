"""Programs as the field writes them for TVM's te: topi's operators with their GPU schedules, and d2l-tvm's chapters.

Each is a function of its sizes that makes a schedule, its arguments, the inputs, and what NumPy has for the results.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tilewright import te

PROGRAMS: dict[str, Callable[..., Any]] = {}
SIZES: dict[str, list[tuple[int, ...]]] = {}


def program(*sizes: tuple[int, ...]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Registers a program with the sizes that it is run with."""

    def register(made: Callable[..., Any]) -> Callable[..., Any]:
        assert made.__name__ not in PROGRAMS
        PROGRAMS[made.__name__], SIZES[made.__name__] = made, list(sizes)
        return made

    return register


def random(*shape: int, dtype: str = "float32") -> np.ndarray:
    """Numbers of a type: uniform from -1 to 1, or integers of 8 bits."""
    rng = np.random.default_rng(sum(shape))
    if np.dtype(dtype).kind in "iu":
        return rng.integers(0 if dtype.startswith("u") else -100, 100, shape).astype(dtype)
    return rng.uniform(-1, 1, shape).astype(dtype)


def inputs(*arrays: np.ndarray) -> list[te.Tensor]:
    """A placeholder for each."""
    return [te.placeholder(each.shape, each.dtype.name, name=f"in{n}") for n, each in enumerate(arrays)]


def flat(s: te.Schedule, tensor: te.Tensor, threads: int = 32) -> None:
    """topi's schedule of what is injective: all axes fused, blocks and threads along them."""
    fused = s[tensor].fuse(*s[tensor].op.axis)
    bx, tx = s[tensor].split(fused, factor=threads)
    s[tensor].bind(bx, te.thread_axis("blockIdx.x"))
    s[tensor].bind(tx, te.thread_axis("threadIdx.x"))


def fetched(s: te.Schedule, tensor: te.Tensor, ty: int, tx: int) -> None:
    """topi's cooperative fetch: what a tile needs, loaded by all threads of the block."""
    fused = s[tensor].fuse(*s[tensor].op.axis)
    fused, x = s[tensor].split(fused, factor=tx)
    _, y = s[tensor].split(fused, factor=ty)
    s[tensor].bind(y, te.thread_axis((0, ty), "threadIdx.y"))
    s[tensor].bind(x, te.thread_axis((0, tx), "threadIdx.x"))


def windows(x: np.ndarray, kernel: tuple[int, ...], stride: int, dilation: int = 1) -> np.ndarray:
    """The windows along the last axes, in the last axes."""
    n = len(kernel)
    spread = tuple((k - 1) * dilation + 1 for k in kernel)
    found = np.lib.stride_tricks.sliding_window_view(x, spread, axis=tuple(range(-n, 0)))
    steps = (slice(None, None, stride),) * n + (slice(None, None, dilation),) * n
    return found[(..., *steps)]


def padded(x: np.ndarray, pad: int, axes: tuple[int, ...], value: float = 0.0) -> np.ndarray:
    return np.pad(x, [(pad, pad) if axis in axes else (0, 0) for axis in range(x.ndim)], constant_values=value)


def same_pad(A: te.Tensor, pad: int, axes: tuple[int, ...], value: float = 0.0, name: str = "padded") -> te.Tensor:
    """The tensor with a border along some axes."""
    shape = [extent + 2 * pad if axis in axes else extent for axis, extent in enumerate(A.shape)]

    def element(*places):
        held = [te.all(places[axis] >= pad, places[axis] - pad < A.shape[axis]) for axis in axes]
        at = [place - pad if axis in axes else place for axis, place in enumerate(places)]
        return te.if_then_else(te.all(*held), A(*at), te.const(value, A.dtype))

    return te.compute(shape, element, name=name)
