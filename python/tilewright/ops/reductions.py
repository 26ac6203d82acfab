"""Reductions along any axes, of any length, and running sums."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ..errors import TilewrightValueError as ValueError
from ..graph.operators.reductions import reduced
from ..schedules.running_sums import LONGEST, SHORTEST, running_sums_of_rows
from ..target import Target
from ..te import compute
from .by_rules import acc_of, axes_of, by_rules, cast, expect_floats, given, operate
from .empty import is_empty
from .operator import Operand, Operator, Scheduled, operator
from .running import running_sums

__all__ = ["argmax", "argmin", "cumsum", "max", "mean", "min", "prod", "sum"]

Axes = int | Sequence[int] | None


def _reduction(reducer: str, doc: str) -> Operator:
    def reduction(x: Operand, *, axis: Axes = None, keepdims: bool = False, target: Target | None = None) -> Scheduled:
        X, axes = given(x, "X"), axes_of(reducer, axis, len(x.shape))
        if reducer in ("max", "min"):
            _expect_elements(reducer, x, axes)
        return by_rules([X], operate(f"reduce_{reducer}", X, axes=axes, keepdims=keepdims), target)

    reduction.__name__ = reduction.__qualname__ = reducer
    reduction.__doc__ = doc
    return operator(reduction)


def _expect_elements(what: str, x: Operand, axes: Sequence[int]) -> None:
    if any(x.shape[axis] == 0 for axis in axes):
        raise ValueError(f"{what}: expected elements along the axes that are reduced, got shape {x.shape}")


sum: Operator = _reduction(
    "sum",
    """The sum along `axis`, one or several, all by default, in the type of `x`; float16 and bfloat16 are summed in
    float32. With `keepdims`, the result has extents of 1 there.

    >>> import numpy as np
    >>> sum(np.ones((2, 3, 4), "float16"), axis=(0, 2))
    array([8., 8., 8.], dtype=float16)
    """,
)
prod: Operator = _reduction(
    "prod",
    """The product along `axis`, with `keepdims` as of `sum`, in the type of `x`; in float32 of 16 bits.

    >>> import numpy as np
    >>> prod(np.array([[1, 2], [3, 4]], "float32"), axis=1)
    array([ 2., 12.], dtype=float32)
    """,
)
max: Operator = _reduction(
    "max",
    """The largest element of `x` along `axis`, with `keepdims` as of `sum`. There must be elements.

    >>> import numpy as np
    >>> max(np.array([[1, 4], [3, 2]], "float32"), axis=0)
    array([3., 4.], dtype=float32)
    """,
)
min: Operator = _reduction(
    "min",
    """The smallest element of `x` along `axis`, with `keepdims` as of `sum`. There must be elements.

    >>> import numpy as np
    >>> min(np.array([[1, 4], [3, 2]], "float32"), axis=0, keepdims=True)
    array([[1., 2.]], dtype=float32)
    """,
)


@operator
def mean(x: Operand, *, axis: Axes = None, keepdims: bool = False, target: Target | None = None) -> Scheduled:
    """The mean of floats `x` along `axis`, with `keepdims` as of `sum`; of 16-bit types it is computed in float32.

    >>> import numpy as np
    >>> mean(np.arange(6, dtype="float32").reshape(2, 3), axis=1)
    array([1., 4.], dtype=float32)
    """
    expect_floats("mean", x=x)
    X, axes = given(x, "X"), axes_of("mean", axis, len(x.shape))
    acc = acc_of(x.dtype)
    total = reduced("total", X, axes, keepdims, lambda e: e.astype(acc) if acc != x.dtype else e)
    count = math.prod(x.shape[axis] for axis in axes)
    scale = 1.0 / count if count else math.nan
    Y = compute(total.shape, lambda *at: (total(*at) * scale).astype(x.dtype), name="mean")
    return by_rules([X], Y, target)


def _place(name: str, doc: str) -> Operator:
    def place(x: Operand, *, axis: int = -1, keepdims: bool = False, target: Target | None = None) -> Scheduled:
        (along,) = axes_of(name, axis, len(x.shape))
        _expect_elements(name, x, (along,))
        X = given(x, "X")
        return by_rules([X], operate(name, X, axis=along, keepdims=keepdims, select_last=False), target)

    place.__name__ = place.__qualname__ = name
    place.__doc__ = doc
    return operator(place)


argmax: Operator = _place(
    "argmax",
    """The place of the largest element of `x` along `axis`, int64: of equal ones the first, of NaN, where there is one,
    its. With `keepdims`, the result has an extent of 1 there.

    >>> import numpy as np
    >>> argmax(np.array([[1, 5, 5], [7, 0, 1]], "float32"))
    array([1, 0])
    """,
)
argmin: Operator = _place(
    "argmin",
    """The place of the smallest element of `x` along `axis`, int64, with `keepdims` as of `argmax`.

    >>> import numpy as np
    >>> argmin(np.array([[5, 1, 1], [7, 0, 1]], "float32"), keepdims=True)
    array([[1],
           [1]])
    """,
)


@operator
def cumsum(
    x: Operand, *, axis: int = -1, exclusive: bool = False, reverse: bool = False, target: Target | None = None
) -> Scheduled:
    """The sums of the elements of `x` up to each along `axis`; without the element itself if `exclusive`; from the end
    if `reverse`.

    >>> import numpy as np
    >>> cumsum(np.array([1, 2, 3], "int32"))
    array([1, 3, 6], dtype=int32)
    """
    (along,) = axes_of("cumsum", axis, len(x.shape))
    X = given(x, "X")
    if is_empty(x):
        return by_rules([X], X, target)
    if (target is not None and target.kind == "cpu") or not isinstance(x.shape[along], int):
        return by_rules([X], operate("cumsum", X, axis=along, exclusive=exclusive, reverse=reverse), target)
    is_last = along == len(x.shape) - 1 and all(isinstance(size, int) for size in x.shape)
    if is_last and SHORTEST <= x.shape[along] <= LONGEST:
        return running_sums_of_rows(X, acc_of(x.dtype), x.dtype, exclusive=exclusive, reverse=reverse)
    return by_rules([X], cast(running_sums(X, acc_of(x.dtype), along, exclusive, reverse), x.dtype), target)
