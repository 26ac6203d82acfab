"""Softmax and normalisations."""

from __future__ import annotations

from collections.abc import Sequence

from .. import schedules
from ..target import Target
from ..te import Expr
from .by_rules import axes_of, by_rules, expect_floats, given, operate
from .empty import is_empty
from .normalization import normalized, softmax_along
from .operator import Operand, Scheduled, operator
from .shapes import expect_dimensions, expect_float32, expect_shape

__all__ = ["layer_norm", "rms_norm", "row_sum", "softmax"]


# Rows that are kept in registers, of which a schedule of the library has as many as there are blocks for, and of which
# a warp has its work.
_SHORTEST, _LONGEST = 128, 32768


@operator
def softmax(x: Operand, *, axis: int = -1, target: Target | None = None) -> Scheduled:
    """exp(x - largest) / their sum along an axis, of floats of any rank; 16 bits are computed in float32.

    Rows of a float32 matrix are by `schedules.softmax`, others by rules (`tw.auto_schedule`).

    >>> import numpy as np
    >>> softmax(np.zeros((2, 4), "float16"))
    array([[0.25, 0.25, 0.25, 0.25],
           [0.25, 0.25, 0.25, 0.25]], dtype=float16)
    """
    if _is_own(x, axis, target):
        return schedules.softmax(*x.shape)
    return softmax_along("softmax", x, axis, target)


@operator
def row_sum(x: Operand, *, target: Target | None = None) -> Scheduled:
    """The sums of the rows of a float32 matrix `x` (`schedules.row_sum`).

    >>> import numpy as np
    >>> row_sum(np.ones((2, 3), "float32"))
    array([3., 3.], dtype=float32)
    """
    expect_float32("row_sum", x=x)
    expect_dimensions("row_sum", 2, x=x)
    if _is_own(x, -1, target):
        return schedules.row_sum(*x.shape)
    X = given(x, "X")
    return by_rules([X], operate("reduce_sum", X, axes=(1,), keepdims=False), target)


@operator
def layer_norm(
    x: Operand,
    gamma: Operand | None = None,
    beta: Operand | None = None,
    *,
    axis: int | Sequence[int] = -1,
    epsilon: float = 1e-5,
    target: Target | None = None,
) -> Scheduled:
    """(x - mean) / sqrt(variance + epsilon) * gamma + beta along `axis`, one or several, of floats of any rank.

    `gamma` and `beta`, both or neither needed, have the extents of these axes. 16 bits are computed in float32. Rows of
    a float32 matrix with both are by `schedules.layer_norm`.

    >>> import numpy as np
    >>> layer_norm(np.array([[1.0, 3.0]], "float32"), epsilon=0.0)
    array([[-1.,  1.]], dtype=float32)
    """
    axes, some = _scales("layer_norm", x, axis, gamma=gamma, beta=beta)
    if len(some) == 2 and _is_own(x, axis, target) and {one.dtype for one in some.values()} == {"float32"}:
        return schedules.layer_norm(*x.shape, epsilon=epsilon)
    return _normalized(x, axes, epsilon, some, target, centred=True)


@operator
def rms_norm(
    x: Operand,
    gamma: Operand | None = None,
    *,
    axis: int | Sequence[int] = -1,
    epsilon: float = 1e-5,
    target: Target | None = None,
) -> Scheduled:
    """x / sqrt(mean of the squares + epsilon) * gamma along `axis`, as `layer_norm` has it.

    >>> import numpy as np
    >>> rms_norm(np.array([[3.0, 3.0]], "float32"), epsilon=0.0)
    array([[1., 1.]], dtype=float32)
    """
    axes, some = _scales("rms_norm", x, axis, gamma=gamma)
    if some and _is_own(x, axis, target) and some["gamma"].dtype == "float32":
        return schedules.rms_norm(*x.shape, epsilon=epsilon)
    return _normalized(x, axes, epsilon, some, target, centred=False)


def _is_own(x: Operand, axis: int | Sequence[int], target: Target | None) -> bool:
    """Whether a schedule of the library is for it: rows of a float32 matrix on a GPU that fit registers."""
    if x.dtype != "float32" or len(x.shape) != 2 or axis not in (-1, 1) or is_empty(x):
        return False
    return (target is None or target.kind != "cpu") and _SHORTEST <= x.shape[1] <= _LONGEST


def _scales(
    what: str, x: Operand, axis: int | Sequence[int], **scales: Operand | None
) -> tuple[tuple[int, ...], dict[str, Operand]]:
    expect_floats(what, x=x, **scales)
    axes = axes_of(what, axis, len(x.shape))
    some = {name: one for name, one in scales.items() if one is not None}
    for name, one in some.items():
        expect_shape(what, tuple(x.shape[axis] for axis in axes), **{name: one})
    return axes, some


def _normalized(
    x: Operand,
    axes: tuple[int, ...],
    epsilon: float,
    scales: dict[str, Operand],
    target: Target | None,
    *,
    centred: bool,
) -> Scheduled:
    X = given(x, "X")
    some = {name: given(one, name) for name, one in scales.items()}

    def scaled(value: Expr, *at: Expr) -> Expr:
        place = [at[axis] for axis in axes]
        if "gamma" in some:
            value = value * some["gamma"](*place).astype(value.dtype)
        return value + some["beta"](*place).astype(value.dtype) if "beta" in some else value

    return by_rules([X, *some.values()], normalized(X, axes, epsilon, scaled, centred=centred, target=target), target)
