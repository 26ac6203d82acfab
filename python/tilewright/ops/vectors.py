"""Products of matrices and vectors, and sums of columns."""

from __future__ import annotations

from .. import schedules
from ..errors import TilewrightTypeError as TypeError
from ..errors import TilewrightValueError as ValueError
from .operator import Operand, Scheduled, operator
from .shapes import expect_dimensions, expect_float32

__all__ = ["column_sum", "matvec", "vecmat"]

_DTYPES = ("float32", "float16", "bfloat16")


@operator
def matvec(a: Operand, x: Operand) -> Scheduled:
    """a @ x, of float32, float16 or bfloat16; sums and result are float32 (`schedules.matvec`)."""
    _expect("matvec", a, x, 1)
    return schedules.matvec(*a.shape, dtype=a.dtype)


@operator
def vecmat(x: Operand, b: Operand) -> Scheduled:
    """x @ b, of float32, float16 or bfloat16; sums and result are float32 (`schedules.vecmat`)."""
    _expect("vecmat", b, x, 0)
    return schedules.vecmat(*b.shape, dtype=b.dtype)


@operator
def column_sum(x: Operand) -> Scheduled:
    """The sums of the columns of a float32 matrix (`schedules.column_sum`)."""
    expect_float32("column_sum", x=x)
    expect_dimensions("column_sum", 2, x=x)
    return schedules.column_sum(*x.shape)


def _expect(what: str, matrix: Operand, vector: Operand, dimension: int) -> None:
    if len(matrix.shape) != 2 or vector.shape != matrix.shape[dimension : dimension + 1]:
        raise ValueError(
            f"{what}: expected a matrix and a vector that fit, got shapes {matrix.shape} and {vector.shape}"
        )
    if matrix.dtype != vector.dtype or matrix.dtype not in _DTYPES:
        raise TypeError(f"{what}: expected one type of {', '.join(_DTYPES)}, got {matrix.dtype} and {vector.dtype}")
