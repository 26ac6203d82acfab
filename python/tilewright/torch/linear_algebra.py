"""Factors, inverses and determinants of matrices, as functions of other operators.

Whether a matrix is singular is not checked: its inverse has infinities and NaN.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch.fx import Node

from . import singular_values
from .least_squares import least_squares, make_traceable
from .matrix_operators import cholesky, lu, reflect, reflections, refusal_of, row_order, rows_in, solve_triangular

__all__ = ["WHOLE", "decompositions", "refusal"]

_aten: Any = torch.ops.aten
_broadcast_shapes: Any = torch.broadcast_shapes  # pyright: ignore[reportUnknownVariableType]
_MOST = 2048
WHOLE = 512
"""Matrices of more columns are factored by halves, with a matmul between these."""


def _refusal(a: torch.Tensor) -> str | None:
    """Why matrices are not taken."""
    return refusal_of(a, _MOST)


def _order(pivots: torch.Tensor, rows: int) -> torch.Tensor:
    """By row of the permuted matrix, which row it was."""
    return row_order(pivots - 1, rows).to(torch.int64)


def _info(a: torch.Tensor) -> torch.Tensor:
    return torch.zeros(a.shape[:-2], dtype=torch.int32, device=a.device)


def _half(count: int) -> int:
    """How many columns the first half has: whole panels."""
    return count // 64 * 32 or count // 2


def _lower_factor(a: torch.Tensor) -> torch.Tensor:
    """The lower triangle L of L L' = a, of which the lower half is read."""
    rows = a.shape[-1]
    if rows <= WHOLE:
        return cholesky(a)
    half = _half(rows)
    first = _lower_factor(a[..., :half, :half])
    below = solve_triangular(first, a[..., half:, :half].mT, False, False)
    last = _lower_factor(a[..., half:, half:] - below.mT @ below)
    above = torch.nn.functional.pad(first, (0, rows - half))
    return torch.cat([above, torch.cat([below.mT, last], -1)], -2)


def _factors(a: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """L and U in one matrix, and by step the row that was exchanged with its own, from 0 on."""
    rows, columns = a.shape[-2:]
    if min(rows, columns) <= WHOLE:
        return lu(a)
    half = _half(min(rows, columns))
    first, pivots = _factors(a[..., :half])
    right = rows_in(row_order(pivots, rows).to(torch.int64), a[..., half:])
    upper = solve_triangular(first[..., :half, :], right[..., :half, :], False, True)
    last, more = _factors(right[..., half:, :] - first[..., half:, :] @ upper)
    below = rows_in(row_order(more, rows - half).to(torch.int64), first[..., half:, :])
    above = torch.cat([first[..., :half, :], upper], -1)
    return torch.cat([above, torch.cat([below, last], -1)], -2), torch.cat([pivots, more + half], -1)


def _reflections(a: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """R and the vectors of Q's reflections in one matrix, and their scales."""
    count = min(a.shape[-2:])
    if count <= WHOLE:
        return reflections(a)
    half = _half(count)
    first, scales = _reflections(a[..., :half])
    right = reflect(first, scales, a[..., half:], True)
    last, more = _reflections(right[..., half:, :])
    return torch.cat([first, torch.cat([right[..., :half, :], last], -2)], -1), torch.cat([scales, more], -1)


def _lu_factor(a: torch.Tensor, *, pivot: bool = True, check_errors: bool = False) -> Any:
    del check_errors, pivot
    made, pivots = _factors(a)
    return made, pivots + 1, _info(a)


def _lu_unpack(
    made: torch.Tensor, pivots: torch.Tensor, unpack_data: bool = True, unpack_pivots: bool = True
) -> tuple[torch.Tensor, ...]:
    rows, columns = made.shape[-2:]
    count = min(rows, columns)
    empty = made.new_empty(0)
    places = torch.arange(rows, device=made.device)
    lower, upper, permutation = empty, empty, empty
    if unpack_data:
        one = torch.eye(rows, count, dtype=made.dtype, device=made.device)
        lower, upper = made[..., :count].tril(-1) + one, made[..., :count, :].triu()
    if unpack_pivots:
        permutation = (_order(pivots, rows).unsqueeze(-2) == places.unsqueeze(-1)).to(made.dtype)
    return permutation, lower, upper


def _lu(a: torch.Tensor, *, pivot: bool = True) -> Any:
    del pivot
    made, pivots = _factors(a)
    return _lu_unpack(made, pivots + 1)


def _lu_solve(made: torch.Tensor, pivots: torch.Tensor, b: torch.Tensor, *, left: bool = True, adjoint: bool = False
              ) -> torch.Tensor:  # fmt: skip
    if not left:  # x a = b is a' x' = b'
        return _lu_solve(made, pivots, b.mT, adjoint=not adjoint).mT
    order = _order(pivots, made.shape[-1])
    if adjoint:
        lower = solve_triangular(made.mT, b, False, False)
        solved = solve_triangular(made.mT, lower, True, True)
        return rows_in(order.argsort(-1).expand(solved.shape[:-1]), solved)
    batch = _broadcast_shapes(made.shape[:-2], b.shape[:-2])
    moved = rows_in(order.expand(*batch, order.shape[-1]), b.expand(*batch, *b.shape[-2:]))
    return solve_triangular(made, solve_triangular(made, moved, False, True), True, False)


def _as_kept(a: torch.Tensor) -> torch.Tensor:
    """The matrix whose factors PyTorch keeps for a determinant's gradient: the transpose of one that is row-major."""
    return a.mT if a.is_contiguous() else a


def _solve(a: torch.Tensor, b: torch.Tensor, *, left: bool = True, check_errors: bool = False) -> Any:
    del check_errors
    made, pivots, info = _lu_factor(a)
    is_vector = b.dim() == 1 or (b.dim() == a.dim() - 1 and b.shape == a.shape[:-1])
    right = b.unsqueeze(-1) if is_vector else b
    solved = _lu_solve(made, pivots, right, left=left or is_vector)
    return (solved.squeeze(-1) if is_vector else solved), made, pivots, info


def _inverse(a: torch.Tensor, *, check_errors: bool = False) -> tuple[torch.Tensor, torch.Tensor]:
    del check_errors
    one = torch.eye(a.shape[-1], dtype=a.dtype, device=a.device)
    made, pivots, info = _lu_factor(a)
    return _lu_solve(made, pivots, one), info


def _with_sign(a: torch.Tensor) -> tuple[torch.Tensor, ...]:
    """L and U in one matrix, the pivots, the diagonal of U, and the sign of the exchanges."""
    made, pivots = _factors(_as_kept(a))
    places = torch.arange(pivots.shape[-1], device=a.device)
    sign = torch.where(pivots == places, 1.0, -1.0).to(a.dtype).prod(-1)
    return made, pivots + 1, made.diagonal(dim1=-2, dim2=-1), sign


def _determinant(a: torch.Tensor) -> Any:
    made, pivots, diagonal, sign = _with_sign(a)
    return sign * diagonal.prod(-1), made, pivots


def _logarithm(a: torch.Tensor) -> Any:
    made, pivots, diagonal, sign = _with_sign(a)
    return sign * diagonal.sign().prod(-1), diagonal.abs().log().sum(-1), made, pivots


def _cholesky(a: torch.Tensor, *, upper: bool = False, check_errors: bool = False) -> Any:
    """The matrix's lower half is read, or its upper one."""
    del check_errors
    made = _lower_factor(a.mT if upper else a)
    return (made.mT if upper else made), _info(a)


def _solve_triangular(
    a: torch.Tensor, b: torch.Tensor, *, upper: bool, left: bool = True, unitriangular: bool = False
) -> torch.Tensor:  # fmt: skip
    if not left:
        return solve_triangular(a.mT, b.mT, not upper, unitriangular).mT
    return solve_triangular(a, b, upper, unitriangular)


def _old_triangular_solve(
    b: torch.Tensor, a: torch.Tensor, upper: bool = True, transpose: bool = False, unitriangular: bool = False
) -> Any:  # fmt: skip
    whole = a.mT if transpose else a
    return solve_triangular(whole, b, upper != transpose, unitriangular), a.clone()


def _cholesky_solve(b: torch.Tensor, factor: torch.Tensor, upper: bool = False) -> torch.Tensor:
    lower = factor.mT if upper else factor
    return solve_triangular(lower.mT, solve_triangular(lower, b, False, False), True, False)


def _cholesky_inverse(factor: torch.Tensor, upper: bool = False) -> torch.Tensor:
    one = torch.eye(factor.shape[-1], dtype=factor.dtype, device=factor.device)
    return _cholesky_solve(one, factor, upper)


def _old_cholesky(a: torch.Tensor, upper: bool = False) -> torch.Tensor:
    return _cholesky(a, upper=upper)[0]


_SQUARINGS = 12
"""Matrices whose norm is up to 2 to this power times `_SMALL_NORM` have exponentials of full accuracy."""
_SMALL_NORM, _TERMS, _POWERS = 0.5, 16, 4


def _series(a: torch.Tensor, one: torch.Tensor) -> torch.Tensor:
    """The series of the exponential, as a polynomial of the highest power whose coefficients are polynomials."""
    powers = [one, a]
    for _ in range(_POWERS - 1):
        powers.append(powers[-1] @ a)
    highest = powers.pop()
    total: Any = None
    for first in range(_TERMS - _POWERS, -1, -_POWERS):
        # The last term is the highest power itself.
        total = highest / math.factorial(_TERMS) if total is None else total @ highest
        for i, power in enumerate(powers):
            total = total + power / math.factorial(first + i)
    return total


def _exponential(a: torch.Tensor) -> torch.Tensor:
    """The series of a matrix that is halved until its norm is small; the sum is squared as many times."""
    wide = a.to(torch.complex128 if a.is_complex() else torch.float64)
    one = torch.eye(a.shape[-1], dtype=wide.dtype, device=a.device).expand(a.shape)
    norm = wide.abs().sum(-2).amax(-1)[..., None, None]
    halvings = torch.log2(torch.clamp(norm / _SMALL_NORM, min=1.0)).ceil().clamp(max=_SQUARINGS)
    total = _series(wide * torch.exp2(-halvings), one)
    for i in range(_SQUARINGS):
        total = torch.where(halvings > i, total @ total, total)
    return total.to(a.dtype)


def _qr(a: torch.Tensor, mode: str = "reduced") -> tuple[torch.Tensor, torch.Tensor]:
    """By reflections, one a column, as LAPACK has them."""
    rows, columns = a.shape[-2:]
    factors, scales = _reflections(a)
    count = rows if mode == "complete" else min(rows, columns)
    upper = factors[..., :count, :].triu()
    if mode == "r":
        return a.new_empty(0), upper
    return reflect(factors, scales, torch.eye(rows, count, dtype=a.dtype, device=a.device), False), upper


def _householder_product(factors: torch.Tensor, scales: torch.Tensor) -> torch.Tensor:
    one = torch.eye(*factors.shape[-2:], dtype=factors.dtype, device=factors.device)
    return reflect(factors, scales, one, False)


def _with_reflections(
    factors: torch.Tensor, scales: torch.Tensor, other: torch.Tensor, left: bool = True, transpose: bool = False
) -> torch.Tensor:  # fmt: skip
    if left:
        return reflect(factors, scales, other, transpose)
    return reflect(factors, scales, other.mT, not transpose).mT


@dataclass(frozen=True)
class _Function:
    """What makes the others of an operator, which of its operands is the matrix, and why some are not taken."""

    make: Callable[..., Any]
    matrices: tuple[int, ...] = (0,)
    refusal: Callable[[torch.Tensor], str | None] = _refusal

    def refused(self, given: Sequence[Any], named: Mapping[str, Any]) -> str | None:
        """Why these operands are not taken."""
        if not named.get("pivot", True):
            return "expected a factorisation with pivots, got one without"
        reasons = (self.refusal(given[one]) for one in self.matrices if given[one].dim() > 1)
        return next((reason for reason in reasons if reason), None)

    def or_left(self, *given: Any, **named: Any) -> Any:
        """What it makes of the matrices that it takes; an operator with others is left as it is."""
        return NotImplemented if self.refused(given, named) else self.make(*given, **named)


_FUNCTIONS: dict[Any, _Function] = {
    _aten.linalg_lu_factor_ex.default: _Function(_lu_factor), _aten.linalg_lu.default: _Function(_lu),
    _aten.lu_unpack.default: _Function(_lu_unpack), _aten.linalg_lu_solve.default: _Function(_lu_solve, (0, 2)),
    _aten._linalg_solve_ex.default: _Function(_solve, (0, 1)), _aten.linalg_inv_ex.default: _Function(_inverse),
    _aten._linalg_det.default: _Function(_determinant), _aten._linalg_slogdet.default: _Function(_logarithm),
    _aten.linalg_cholesky_ex.default: _Function(_cholesky), _aten.cholesky.default: _Function(_old_cholesky),
    _aten.linalg_solve_triangular.default: _Function(_solve_triangular, (0, 1)),
    _aten.triangular_solve.default: _Function(_old_triangular_solve, (0, 1)),
    _aten.cholesky_solve.default: _Function(_cholesky_solve, (0, 1)),
    _aten.cholesky_inverse.default: _Function(_cholesky_inverse),
    _aten.linalg_qr.default: _Function(_qr), _aten.geqrf.default: _Function(_reflections),
    _aten.linalg_householder_product.default: _Function(_householder_product),
    _aten.ormqr.default: _Function(_with_reflections, (0, 2)),
    _aten.linalg_matrix_exp.default: _Function(_exponential, refusal=lambda _: None),
    _aten._linalg_eigh.default: _Function(singular_values.eigenvalues, refusal=singular_values.refusal),
    _aten._linalg_svd.default: _Function(singular_values.singular_values, refusal=singular_values.refusal),
    _aten.linalg_lstsq.default: _Function(partial(least_squares, _reflections), (0, 1)),
    _aten.linalg_pinv.atol_rtol_tensor: _Function(singular_values.pseudo_inverse, refusal=singular_values.refusal),
}  # fmt: skip
make_traceable(_FUNCTIONS[_aten.linalg_lstsq.default].make)


def decompositions() -> dict[Any, Any]:
    """By operator, what makes the others of it."""
    return {op: function.or_left for op, function in _FUNCTIONS.items()}


def refusal(node: Node) -> str | None:
    """Why an operator was left as it is, where it is one of this file."""
    target: Any = node.target
    function = _FUNCTIONS.get(target)
    if function is None:
        return None
    given = [one.meta["val"] if isinstance(one, Node) else one for one in node.args]
    return function.refused(given, node.kwargs)
