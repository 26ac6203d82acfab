"""Least squares: by QR of matrices of full rank, by singular values where the rank is asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch._subclasses.fake_impls import (
    op_implementations_dict,  # pyright: ignore[reportUnknownVariableType]
    register_op_impl,  # pyright: ignore[reportUnknownVariableType]
)

from .matrix_operators import is_empty, reflect, solve_triangular
from .singular_values import MOST, singular_values

__all__ = ["least_squares", "make_traceable"]

_lstsq: Any = torch.ops.aten.linalg_lstsq.default


_Reflections = Callable[[torch.Tensor], tuple[torch.Tensor, torch.Tensor]]


def least_squares(
    reflections: _Reflections, a: torch.Tensor, b: torch.Tensor, rcond: float | None = None, *,
    driver: str | None = None,
) -> tuple[torch.Tensor, ...]:  # fmt: skip
    """The solution, the squares of what is left, the ranks and the singular values.

    As in PyTorch, only some drivers give the last three; the others have no elements. Of "gelsd" and "gelss", PyTorch
    leaves out the squares where a matrix is not of full rank; here they are always there. Matrices of more rows and of
    more columns than singular values can be computed of are taken to have full rank. `reflections` is for QR.
    """
    is_vector = b.dim() == 1 or (b.dim() == a.dim() - 1 and b.shape == a.shape[:-1])
    right = b.unsqueeze(-1) if is_vector else b
    rows, columns = a.shape[-2:]
    count = min(rows, columns)
    driver = driver or ("gels" if a.device.type == "cuda" else "gelsy")
    none = a.new_empty(0)
    values, ranks = none, torch.full(a.shape[:-2], count, dtype=torch.int64, device=a.device)
    if is_empty(a) or is_empty(right):
        solution = right.new_zeros(*right.shape[:-2], columns, right.shape[-1])
        values = a.new_zeros(*a.shape[:-2], count)
    elif driver == "gels" or count > MOST:
        solution = _of_full_rank(reflections, a, right)
    else:
        u, values, v = singular_values(a.to(torch.float64))
        least = torch.finfo(a.dtype).eps * max(rows, columns) if rcond is None else rcond
        used = values > least * values[..., :1]
        inverse = torch.where(used, 1 / torch.where(used, values, 1.0), 0.0)
        solution = (v.mT @ (inverse.unsqueeze(-1) * (u.mT @ right.to(torch.float64)))).to(a.dtype)
        values, ranks = values.to(a.dtype), used.sum(-1)
    left = none
    if driver != "gelsy" and rows > columns:
        left = (right - a @ solution).square().sum(-2)
    return (
        solution.squeeze(-1) if is_vector else solution,
        left,
        ranks if driver != "gels" else torch.empty(0, dtype=torch.int64, device=a.device),
        values if driver in ("gelsd", "gelss") else none,
    )


def _of_full_rank(reflections: _Reflections, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    rows, columns = a.shape[-2:]
    if rows >= columns:
        factors, scales = reflections(a)
        upper = factors[..., :columns, :]
        return solve_triangular(upper, reflect(factors, scales, b, True)[..., :columns, :], True, False)
    # The shortest of the solutions is in the space of the rows.
    factors, scales = reflections(a.mT)
    short = solve_triangular(factors[..., :rows, :].mT, b, False, False)
    return reflect(factors, scales, torch.nn.functional.pad(short, (0, 0, 0, columns - rows)), False)


def make_traceable(function: Callable[..., Any]) -> None:
    """Lets PyTorch trace the operator by `function`. PyTorch's own results may have shapes that data decide."""
    if _lstsq in op_implementations_dict:
        return

    def traced(mode: Any, operator: Any, *given: Any, **named: Any) -> Any:
        del operator
        with mode:
            return function(*given, **named)

    register_op_impl(_lstsq)(traced)  # pyright: ignore[reportUnknownMemberType]
