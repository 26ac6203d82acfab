"""Matmuls whose leading dimensions are broadcast, also with vectors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..errors import TilewrightValueError as ValueError
from ..te import Expr, Tensor, compute, placeholder, reduce_axis, sum
from .operator import Operand

__all__ = ["define_any"]


def _broadcast(a: tuple[Any, ...], b: tuple[Any, ...]) -> tuple[Any, ...] | None:
    """The dimensions of both, as NumPy broadcasts them; None where they do not fit."""
    rank = max(len(a), len(b))
    pairs = list(zip((1,) * (rank - len(a)) + a, (1,) * (rank - len(b)) + b))
    if any(isinstance(x, int) and isinstance(y, int) and x != y and 1 not in (x, y) for x, y in pairs):
        return None
    return tuple(y if isinstance(x, int) and x == 1 else x for x, y in pairs)


def define_any(
    a: Operand, b: Operand, transpose_a: bool, transpose_b: bool, acc_dtype: str, notes: Mapping[str, str]
) -> tuple[list[Tensor], Tensor]:
    """The operands and their matmul, accumulated in `acc_dtype`, with `notes`. Operands have any number of dimensions
    but 0.

    Raises ValueError if the operands do not fit.
    """
    words = f"{a.shape}{' transposed' * transpose_a} and {b.shape}{' transposed' * transpose_b}"
    if not a.shape or not b.shape or (transpose_a and len(a.shape) == 1) or (transpose_b and len(b.shape) == 1):
        raise ValueError(f"matmul: expected vectors or matrices, and only of matrices transposed ones, got {words}")
    rows, columns = a.shape[-2:][:-1], b.shape[-2:][1:]
    K, other = a.shape[-1], b.shape[-2] if columns else b.shape[-1]
    if transpose_a:
        rows, K = a.shape[-1:], a.shape[-2]
    if transpose_b:
        columns, other = b.shape[-2:-1], b.shape[-1]
    some = _broadcast(a.shape[:-2], b.shape[:-2])
    if some is None or K != other:
        raise ValueError(f"matmul: expected operands that fit, got shapes {words}")
    A, B = placeholder(a.shape, a.dtype, name="A"), placeholder(b.shape, b.dtype, name="B")
    k = reduce_axis((0, K), "k")

    def front(tensor: Tensor, at: tuple[Expr, ...]) -> tuple[Any, ...]:
        """Where an operand's matrix is: at 0 along the dimensions that are broadcast."""
        extents = tensor.shape[:-2]
        return tuple(0 if e == 1 else i for e, i in zip(extents, at[len(at) - len(extents) :])) if extents else ()

    def multiplied(*at: Expr) -> Expr:
        of = at[: len(some)]
        i, j = at[len(some) : len(some) + len(rows)], at[len(at) - len(columns) :] if columns else ()
        x = A[(*front(A, of), k, *i) if transpose_a else (*front(A, of), *i, k)]
        y = B[(*front(B, of), *j, k) if transpose_b else (*front(B, of), k, *j)]
        return sum(x.astype(acc_dtype) * y.astype(acc_dtype), axis=k)

    return [A, B], compute((*some, *rows, *columns), multiplied, name="total", attrs=notes)
