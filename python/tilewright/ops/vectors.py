"""Products of matrices and vectors, and sums of columns."""

from __future__ import annotations

from .. import schedules
from ..errors import TilewrightTypeError as TypeError
from ..errors import TilewrightValueError as ValueError
from ..te import Expr, placeholder, reduce_axis, sum
from .empty import is_empty, of_elements
from .operator import Operand, Scheduled, operator
from .shapes import expect_dimensions, expect_float32

__all__ = ["column_sum", "matvec", "vecmat"]

_DTYPES = ("float32", "float16", "bfloat16")


@operator
def matvec(a: Operand, x: Operand) -> Scheduled:
    """a @ x, of float32, float16 or bfloat16; sums and result are float32 (`schedules.matvec`)."""
    _expect("matvec", a, x, 1)
    if is_empty(a):
        return _of_nothing("a", a, "x", x, 1)
    return schedules.matvec(*a.shape, dtype=a.dtype)


@operator
def vecmat(x: Operand, b: Operand) -> Scheduled:
    """x @ b, of float32, float16 or bfloat16; sums and result are float32 (`schedules.vecmat`)."""
    _expect("vecmat", b, x, 0)
    if is_empty(b):
        return _of_nothing("b", b, "x", x, 0)
    return schedules.vecmat(*b.shape, dtype=b.dtype)


@operator
def column_sum(x: Operand) -> Scheduled:
    """The sums of the columns of a float32 matrix (`schedules.column_sum`)."""
    expect_float32("column_sum", x=x)
    expect_dimensions("column_sum", 2, x=x)
    if is_empty(x):
        X, k = placeholder(x.shape, x.dtype, name="X"), reduce_axis((0, x.shape[0]), "k")
        return of_elements((x.shape[1],), lambda j: sum(X[k, j], axis=k), [X])
    return schedules.column_sum(*x.shape)


def _of_nothing(name: str, matrix: Operand, other: str, vector: Operand, summed: int) -> Scheduled:
    """The product of a matrix and a vector of which one has no elements, summed over that dimension of the matrix."""
    A, x = placeholder(matrix.shape, matrix.dtype, name=name), placeholder(vector.shape, vector.dtype, name=other)
    k = reduce_axis((0, matrix.shape[summed]), "k")

    def element(i: Expr) -> Expr:
        read = A[i, k] if summed else A[k, i]
        return sum(read.astype("float32") * x[k].astype("float32"), axis=k)

    return of_elements((matrix.shape[1 - summed],), element, [A, x] if summed else [x, A])


def _expect(what: str, matrix: Operand, vector: Operand, dimension: int) -> None:
    if len(matrix.shape) != 2 or vector.shape != matrix.shape[dimension : dimension + 1]:
        raise ValueError(
            f"{what}: expected a matrix and a vector that fit, got shapes {matrix.shape} and {vector.shape}"
        )
    if matrix.dtype != vector.dtype or matrix.dtype not in _DTYPES:
        raise TypeError(f"{what}: expected one type of {', '.join(_DTYPES)}, got {matrix.dtype} and {vector.dtype}")
