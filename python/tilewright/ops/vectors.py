"""Matrix-vector multiplications, and sums of columns."""

from __future__ import annotations

from .. import schedules
from ..dtypes import item_bytes
from ..errors import TilewrightTypeError as TypeError
from ..errors import TilewrightValueError as ValueError
from ..target import Target
from ..te import Expr, compute, reduce_axis, sum
from .by_rules import by_rules, given, operate
from .empty import is_empty
from .operator import Operand, Scheduled, operator
from .shapes import expect_dimensions, expect_float32

__all__ = ["column_sum", "matvec", "vecmat"]

_DTYPES = ("float32", "float16", "bfloat16")


@operator
def matvec(a: Operand, x: Operand, *, target: Target | None = None) -> Scheduled:
    """a @ x, of float32, float16 or bfloat16; accumulator and result are float32 (`schedules.matvec`).

    >>> import numpy as np
    >>> matvec(np.ones((2, 4), "float16"), np.arange(4, dtype="float16"))
    array([6., 6.], dtype=float32)
    """
    _expect("matvec", a, x, 1)
    if not _is_own(a, target):
        return _by_rules("a", a, "x", x, 1, target)
    return schedules.matvec(*a.shape, dtype=a.dtype)


@operator
def vecmat(x: Operand, b: Operand, *, target: Target | None = None) -> Scheduled:
    """x @ b, of float32, float16 or bfloat16; accumulator and result are float32 (`schedules.vecmat`).

    >>> import numpy as np
    >>> vecmat(np.arange(4, dtype="float16"), np.ones((4, 2), "float16"))
    array([6., 6.], dtype=float32)
    """
    _expect("vecmat", b, x, 0)
    if not _is_own(b, target):
        return _by_rules("b", b, "x", x, 0, target)
    return schedules.vecmat(*b.shape, dtype=b.dtype)


@operator
def column_sum(x: Operand, *, target: Target | None = None) -> Scheduled:
    """The sums of the columns of a float32 matrix `x` (`schedules.column_sum`).

    >>> import numpy as np
    >>> column_sum(np.ones((2, 3), "float32"))
    array([2., 2., 2.], dtype=float32)
    """
    expect_float32("column_sum", x=x)
    expect_dimensions("column_sum", 2, x=x)
    if not _is_own(x, target):
        X = given(x, "X")
        return by_rules([X], operate("reduce_sum", X, axes=(0,), keepdims=False), target)
    return schedules.column_sum(*x.shape)


def _is_own(matrix: Operand, target: Target | None) -> bool:
    """Whether a schedule of the library is for it: on a GPU, rows of whole 16 bytes."""
    whole = 16 // item_bytes(matrix.dtype)
    return not is_empty(matrix) and matrix.shape[1] % whole == 0 and (target is None or target.kind != "cpu")


def _by_rules(name: str, matrix: Operand, other: str, vector: Operand, summed: int, target: Target | None) -> Scheduled:
    """A matrix times a vector, summed over that dimension of the matrix."""
    A, x = given(matrix, name), given(vector, other)
    k = reduce_axis((0, matrix.shape[summed]), "k")

    def element(i: Expr) -> Expr:
        read = A[i, k] if summed else A[k, i]
        return sum(read.astype("float32") * x[k].astype("float32"), axis=k)

    Y = compute((matrix.shape[1 - summed],), element, name="y")
    return by_rules([A, x] if summed else [x, A], Y, target)


def _expect(what: str, matrix: Operand, vector: Operand, dimension: int) -> None:
    if len(matrix.shape) != 2 or vector.shape != matrix.shape[dimension : dimension + 1]:
        raise ValueError(
            f"{what}: expected a matrix and a vector that fit, got shapes {matrix.shape} and {vector.shape}"
        )
    if matrix.dtype != vector.dtype or matrix.dtype not in _DTYPES:
        raise TypeError(f"{what}: expected one type of {', '.join(_DTYPES)}, got {matrix.dtype} and {vector.dtype}")
