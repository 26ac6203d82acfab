"""Factors, inverses and determinants of small matrices, as functions of other operators: each step is written out.

Whether a matrix is singular is not checked: its inverse has infinities and NaN.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch.fx import Node

__all__ = ["decompositions", "refusal"]

_aten: Any = torch.ops.aten
_broadcast_shapes: Any = torch.broadcast_shapes  # pyright: ignore[reportUnknownVariableType]
_MOST_ROWS = 32


def _refusal(a: torch.Tensor) -> str | None:
    """Why matrices are not taken."""
    rows, columns = a.shape[-2:]
    if isinstance(rows, int) and rows == columns and 0 < rows <= _MOST_ROWS:
        return None
    return f"expected square matrices of at most {_MOST_ROWS} rows, got {rows} x {columns}"


def _factored(a: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """L and U in one matrix, by step the row that comes in its place, and the sign of these exchanges."""
    count = a.shape[-1]
    numbers = torch.arange(count, device=a.device)
    sign: Any = torch.ones(a.shape[:-2], dtype=a.dtype, device=a.device)
    pivots: list[torch.Tensor] = []
    for k in range(count):
        sizes = torch.where(numbers >= k, a[..., k].abs(), -1.0)
        pivot = sizes.argmax(-1)
        pivots.append(pivot)
        place = pivot.unsqueeze(-1)
        order = torch.where(numbers == k, place, torch.where(numbers == place, k, numbers))
        a = a.gather(-2, order.unsqueeze(-1).expand(a.shape))
        sign = torch.where(pivot == k, sign, -sign)
        row = a[..., k : k + 1, :]
        factors = torch.where(numbers > k, a[..., k] / row[..., k], 0.0).unsqueeze(-1)
        behind = torch.where(numbers > k, row, 0.0)
        is_below = (numbers > k).unsqueeze(-1)
        a = torch.where(is_below & (numbers == k), factors, a - factors * behind)
    return a, torch.stack(pivots, -1), sign


def _triangular(a: torch.Tensor, b: torch.Tensor, *, upper: bool, unit: bool = False) -> torch.Tensor:
    """x of a @ x = b, one row after the other; a's other half is not read."""
    count = a.shape[-1]
    shape = _broadcast_shapes(a.shape[:-2], b.shape[:-2])
    b = b.expand(*shape, *b.shape[-2:])
    known: list[torch.Tensor] = []
    for k in range(count - 1, -1, -1) if upper else range(count):
        row = b[..., k, :]
        if known:
            columns = a[..., k, k + 1 :] if upper else a[..., k, :k]
            row = row - (columns.unsqueeze(-2) @ torch.stack(known, -2)).squeeze(-2)
        row = row if unit else row / a[..., k, k].unsqueeze(-1)
        known = [row, *known] if upper else [*known, row]
    return torch.stack(known, -2)


def _order(pivots: torch.Tensor) -> torch.Tensor:
    """By row of the permuted matrix, which row it was."""
    count = pivots.shape[-1]
    numbers = torch.arange(count, device=pivots.device)
    order = numbers.expand(pivots.shape)
    for k in range(count):
        place = pivots[..., k : k + 1]
        step = torch.where(numbers == k, place, torch.where(numbers == place, k, numbers))
        order = order.gather(-1, step)
    return order


def _info(a: torch.Tensor) -> torch.Tensor:
    return torch.zeros(a.shape[:-2], dtype=torch.int32, device=a.device)


def _lu_factor(a: torch.Tensor, *, pivot: bool = True, check_errors: bool = False) -> Any:
    del check_errors
    if not pivot:
        return NotImplemented
    made, pivots, _ = _factored(a)
    return made, (pivots + 1).to(torch.int32), _info(a)


def _lu_solve(lu: torch.Tensor, pivots: torch.Tensor, b: torch.Tensor, *, left: bool = True, adjoint: bool = False
              ) -> torch.Tensor:  # fmt: skip
    if not left:  # x a = b is a' x' = b'
        return _lu_solve(lu, pivots, b.mT, adjoint=not adjoint).mT
    order = _order(pivots.to(torch.int64) - 1)
    batch = _broadcast_shapes(lu.shape[:-2], b.shape[:-2])
    b = b.expand(*batch, *b.shape[-2:])
    if adjoint:
        lower = _triangular(lu.mT, b, upper=False)
        made = _triangular(lu.mT, lower, upper=True, unit=True)
        back = order.argsort(-1)
        return made.gather(-2, back.unsqueeze(-1).expand(made.shape))
    moved = b.gather(-2, order.unsqueeze(-1).expand(b.shape))
    return _triangular(lu, _triangular(lu, moved, upper=False, unit=True), upper=True)


def _as_kept(a: torch.Tensor) -> torch.Tensor:
    """The matrix whose factors PyTorch keeps for a determinant's gradient: the transpose of one that is row-major."""
    return a.mT if a.is_contiguous() else a


def _solve(a: torch.Tensor, b: torch.Tensor, *, left: bool = True, check_errors: bool = False) -> Any:
    del check_errors
    lu, pivots, info = _lu_factor(a)
    is_vector = b.dim() == 1 or (b.dim() == a.dim() - 1 and b.shape == a.shape[:-1])
    right = b.unsqueeze(-1) if is_vector else b
    made = _lu_solve(lu, pivots, right, left=left or is_vector)
    return (made.squeeze(-1) if is_vector else made), lu, pivots, info


def _inverse(a: torch.Tensor, *, check_errors: bool = False) -> tuple[torch.Tensor, torch.Tensor]:
    del check_errors
    one = torch.eye(a.shape[-1], dtype=a.dtype, device=a.device)
    lu, pivots, info = _lu_factor(a)
    return _lu_solve(lu, pivots, one), info


def _determinant(a: torch.Tensor) -> Any:
    lu, pivots, sign = _factored(_as_kept(a))
    return sign * lu.diagonal(dim1=-2, dim2=-1).prod(-1), lu, (pivots + 1).to(torch.int32)


def _logarithm(a: torch.Tensor) -> Any:
    lu, pivots, sign = _factored(_as_kept(a))
    factors = lu.diagonal(dim1=-2, dim2=-1)
    return sign * factors.sign().prod(-1), factors.abs().log().sum(-1), lu, (pivots + 1).to(torch.int32)


def _cholesky(a: torch.Tensor, *, upper: bool = False, check_errors: bool = False) -> Any:
    """Column by column; the matrix's lower half is read, or its upper one."""
    del check_errors
    count = a.shape[-1]
    lower = a.mT if upper else a
    columns: list[torch.Tensor] = []
    numbers = torch.arange(count, device=a.device)
    for k in range(count):
        column = lower[..., k]
        if columns:
            done = torch.stack(columns, -1)
            column = column - (done @ done[..., k, :].unsqueeze(-1)).squeeze(-1)
        columns.append(torch.where(numbers >= k, column / column[..., k : k + 1].sqrt(), 0.0))
    made = torch.stack(columns, -1)
    return (made.mT if upper else made), _info(a)


def _solve_triangular(
    a: torch.Tensor, b: torch.Tensor, *, upper: bool, left: bool = True, unitriangular: bool = False
) -> torch.Tensor:  # fmt: skip
    if not left:
        return _triangular(a.mT, b.mT, upper=not upper, unit=unitriangular).mT
    return _triangular(a, b, upper=upper, unit=unitriangular)


def _old_triangular_solve(
    b: torch.Tensor, a: torch.Tensor, upper: bool = True, transpose: bool = False, unitriangular: bool = False
) -> Any:  # fmt: skip
    whole = a.mT if transpose else a
    return _triangular(whole, b, upper=upper != transpose, unit=unitriangular), a.clone()


def _cholesky_solve(b: torch.Tensor, factor: torch.Tensor, upper: bool = False) -> torch.Tensor:
    lower = factor.mT if upper else factor
    return _triangular(lower.mT, _triangular(lower, b, upper=False), upper=True)


def _cholesky_inverse(factor: torch.Tensor, upper: bool = False) -> torch.Tensor:
    one = torch.eye(factor.shape[-1], dtype=factor.dtype, device=factor.device)
    return _cholesky_solve(one.expand(factor.shape), factor, upper)


def _old_cholesky(a: torch.Tensor, upper: bool = False) -> torch.Tensor:
    return _cholesky(a, upper=upper)[0]


_SQUARINGS = 12
"""Matrices whose norm is up to 2 to this power times `_SMALL_NORM` have exponentials of full accuracy."""
_SMALL_NORM, _TERMS = 0.5, 16


def _exponential(a: torch.Tensor) -> torch.Tensor:
    """The series of a matrix that is halved until its norm is small; the sum is squared as many times."""
    wide = a.to(torch.float64)
    one = torch.eye(a.shape[-1], dtype=torch.float64, device=a.device).expand(a.shape)
    norm = wide.abs().sum(-2).amax(-1)[..., None, None]
    halvings = torch.log2(torch.clamp(norm / _SMALL_NORM, min=1.0)).ceil().clamp(max=_SQUARINGS)
    halved = wide * torch.exp2(-halvings)
    total = one
    for i in range(_TERMS, 0, -1):
        total = one + halved @ total / i
    for i in range(_SQUARINGS):
        total = torch.where(halvings > i, total @ total, total)
    return total.to(a.dtype)


def _qr(a: torch.Tensor, mode: str = "reduced") -> tuple[torch.Tensor, torch.Tensor]:
    """By reflections, one a column, as LAPACK has them."""
    rows, columns = a.shape[-2:]
    numbers = torch.arange(rows, device=a.device)
    q = torch.eye(rows, dtype=a.dtype, device=a.device).expand(*a.shape[:-2], rows, rows)
    r = a
    for k in range(min(rows - 1, columns)):
        column = torch.where(numbers >= k, r[..., k], 0.0)
        first, below = column[..., k : k + 1], torch.where(numbers > k, column, 0.0)
        norm = column.square().sum(-1, keepdim=True).sqrt()
        moved = first + torch.where(first < 0, -norm, norm)
        vector = torch.where(numbers == k, moved, below)
        is_done = below.abs().amax(-1, keepdim=True) == 0
        size = vector.square().sum(-1, keepdim=True)
        vector = torch.where(is_done, 0.0, vector * (2 / torch.where(is_done, 1.0, size)).sqrt()).unsqueeze(-1)
        r = r - vector @ (vector.mT @ r)
        q = q - (q @ vector) @ vector.mT
    count = rows if mode == "complete" else min(rows, columns)
    return (a.new_empty(0) if mode == "r" else q[..., :count]), r[..., :count, :].triu()


def _refusal_of_qr(a: torch.Tensor) -> str | None:
    """Why a matrix is not taken: there are as many reflections as it has rows or columns."""
    rows, columns = a.shape[-2:]
    if isinstance(rows, int) and isinstance(columns, int) and min(rows, columns) <= _MOST_ROWS:
        return None
    return f"expected matrices of at most {_MOST_ROWS} rows or columns, got {rows} x {columns}"


@dataclass(frozen=True)
class _Function:
    """What makes the others of an operator, which of its operands is the matrix, and why some are not taken."""

    make: Callable[..., Any]
    matrix: int = 0
    refusal: Callable[[torch.Tensor], str | None] = _refusal

    def or_left(self, *given: Any, **named: Any) -> Any:
        """What it makes of the matrices that it takes; an operator with others is left as it is."""
        return NotImplemented if self.refusal(given[self.matrix]) else self.make(*given, **named)


_FUNCTIONS: dict[Any, _Function] = {
    _aten.linalg_lu_factor_ex.default: _Function(_lu_factor), _aten.linalg_lu_solve.default: _Function(_lu_solve),
    _aten._linalg_solve_ex.default: _Function(_solve), _aten.linalg_inv_ex.default: _Function(_inverse),
    _aten._linalg_det.default: _Function(_determinant), _aten._linalg_slogdet.default: _Function(_logarithm),
    _aten.linalg_cholesky_ex.default: _Function(_cholesky), _aten.cholesky.default: _Function(_old_cholesky),
    _aten.linalg_solve_triangular.default: _Function(_solve_triangular),
    _aten.triangular_solve.default: _Function(_old_triangular_solve, 1),
    _aten.cholesky_solve.default: _Function(_cholesky_solve, 1),
    _aten.cholesky_inverse.default: _Function(_cholesky_inverse),
    _aten.linalg_qr.default: _Function(_qr, refusal=_refusal_of_qr),
    _aten.linalg_matrix_exp.default: _Function(_exponential, refusal=lambda _: None),
}  # fmt: skip


def decompositions() -> dict[Any, Any]:
    """By operator, what makes the others of it."""
    return {op: function.or_left for op, function in _FUNCTIONS.items()}


def refusal(node: Node) -> str | None:
    """Why an operator was left as it is, where it is one of this file."""
    target: Any = node.target
    function = _FUNCTIONS.get(target)
    if function is None:
        return None
    matrix: Any = node.args[function.matrix]
    return function.refusal(matrix.meta["val"])
