"""Functions of elements."""

from __future__ import annotations

from .. import schedules
from ..errors import TilewrightTypeError as TypeError
from ..errors import TilewrightValueError as ValueError
from ..target import Target
from ..te import compute, erf
from .by_rules import acc_of, by_rules, expect_floats, given, operate
from .empty import is_empty
from .operator import Operand, Scheduled, operator

__all__ = ["add", "gelu"]


def _is_own(target: Target | None, *operands: Operand) -> bool:
    """Whether a schedule of the library is for them: float32 of one shape, on a GPU."""
    if target is not None and target.kind == "cpu" or is_empty(*operands):
        return False
    return all(one.dtype == "float32" and one.shape == operands[0].shape and one.shape for one in operands)


@operator
def add(x: Operand, y: Operand, *, target: Target | None = None) -> Scheduled:
    """x + y, of one type, broadcast as NumPy does.

    >>> import numpy as np
    >>> add(np.ones((2, 1), "int32"), np.arange(3, dtype="int32"))
    array([[1, 2, 3],
           [1, 2, 3]], dtype=int32)
    """
    if x.dtype != y.dtype:
        raise TypeError(f"add: expected operands of one type, got {x.dtype} and {y.dtype}")
    pairs = zip(x.shape[::-1], y.shape[::-1])
    if any(isinstance(a, int) and isinstance(b, int) and a != b and 1 not in (a, b) for a, b in pairs):
        raise ValueError(f"add: expected shapes that broadcast, got x {x.shape} and y {y.shape}")
    if _is_own(target, x, y):
        return schedules.add(*x.shape)
    X, Y = given(x, "X"), given(y, "Y")
    return by_rules([X, Y], operate("add", X, Y), target)


@operator
def gelu(x: Operand, *, target: Target | None = None) -> Scheduled:
    """x / 2 * (1 + erf(x / sqrt(2))), of floats; 16 bits are computed in float32.

    >>> import numpy as np
    >>> gelu(np.array([-1, 0, 1], "float32")).round(4)
    array([-0.1587,  0.    ,  0.8413], dtype=float32)
    """
    expect_floats("gelu", x=x)
    if _is_own(target, x):
        return schedules.gelu(*x.shape)
    X, acc = given(x, "X"), acc_of(x.dtype)

    def element(*at: object) -> object:
        value = X(*at).astype(acc)  # type: ignore[arg-type]
        return (value * 0.5 * (1.0 + erf(value * 0.5**0.5))).astype(x.dtype)

    return by_rules([X], compute(x.shape, element, name="gelu"), target)  # type: ignore[arg-type]
