"""Eigenvalues of symmetric matrices, singular values and what is made of them. All are computed in float64."""

from __future__ import annotations

from typing import Any

import torch

from .matrix_operators import diagonalize, is_empty, orthogonalize, reflect, reflections, refusal_of, rows_in

__all__ = ["MOST", "eigenvalues", "pseudo_inverse", "refusal", "singular_values"]

MOST = 1024
"""Of so many rows or columns a matrix may have singular values or eigenvalues."""


def refusal(a: torch.Tensor) -> str | None:
    """Why the singular values or eigenvalues of matrices are not taken."""
    return refusal_of(a, MOST)


def eigenvalues(a: torch.Tensor, uplo: str = "L", compute_v: bool = True) -> tuple[torch.Tensor, torch.Tensor]:
    """The eigenvalues in ascending order, and the eigenvectors; half of the matrix is read."""
    wide = a.to(torch.float64)
    half = wide.tril() if uplo.upper() == "L" else wide.triu().mT
    values, vectors = diagonalize(half + half.tril(-1).mT)
    values, order = values.sort(-1)
    if not compute_v:
        return values.to(a.dtype), a.new_empty(0)
    return values.to(a.dtype), rows_in(order, vectors).mT.to(a.dtype)


def singular_values(
    a: torch.Tensor, full_matrices: bool = False, compute_uv: bool = True, *, driver: str | None = None
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """U, the singular values in descending order, and V transposed.

    A tall matrix is Q R; the columns of R are made orthogonal, and divided by their norms they are the columns of U.
    This is done by another Q, so that those of norm 0 are orthogonal, too.
    """
    del driver
    rows, columns = a.shape[-2:]
    if rows < columns:
        u, values, v = singular_values(a.mT, full_matrices, compute_uv)
        return (v.mT if compute_uv else v), values, (u.mT if compute_uv else u)
    wide = a.to(torch.float64)
    factors, scales = reflections(wide)
    orthogonal, rotations = _orthogonal(factors[..., :columns, :].triu().mT, a.dtype)
    values, order = orthogonal.square().sum(-1).sqrt().sort(-1, descending=True)
    if not compute_uv:
        return a.new_empty(0), values.to(a.dtype), a.new_empty(0)
    inner, inner_scales = reflections(rows_in(order, orthogonal).mT)
    signs = torch.where(inner.diagonal(dim1=-2, dim2=-1) < 0, -1.0, 1.0).to(torch.float64)
    one = torch.eye(columns, dtype=torch.float64, device=a.device)
    u = reflect(inner, inner_scales, one, False) * signs.unsqueeze(-2)
    more = rows - columns
    u = torch.nn.functional.pad(u, (0, more if full_matrices else 0, 0, more))
    if full_matrices and more:
        u = u + torch.diag((torch.arange(rows, device=a.device) >= columns).to(torch.float64))
    u = reflect(factors, scales, u, False)
    return u.to(a.dtype), values.to(a.dtype), rows_in(order, rotations).to(a.dtype)


def _orthogonal(rows: torch.Tensor, dtype: torch.dtype) -> tuple[torch.Tensor, torch.Tensor]:
    """Orthogonal rows, and the rotations of `rows` that they are. The matrix is one of `dtype`, in float64.

    The eigenvectors of the matrix times its transpose are these rotations but for errors of rounding in float64. They
    are below those of float32. For float64 a few more rotations mend them.
    """
    _, rotations = diagonalize(rows @ rows.mT)
    orthogonal = rotations @ rows
    if dtype != torch.float64:
        return orthogonal, rotations
    orthogonal, more = orthogonalize(orthogonal)
    return orthogonal, more @ rotations


def pseudo_inverse(
    a: torch.Tensor, *, atol: torch.Tensor | None = None, rtol: torch.Tensor | None = None, hermitian: bool = False
) -> torch.Tensor:
    """The inverse of the part whose singular values are above the tolerances."""
    rows, columns = a.shape[-2:]
    if is_empty(a):
        return a.new_zeros(*a.shape[:-2], columns, rows)
    least: Any = torch.zeros((), dtype=torch.float64, device=a.device) if atol is None else atol.to(torch.float64)
    if rtol is None:
        rtol = torch.where(least > 0, 0.0, torch.finfo(a.dtype).eps * max(rows, columns))
    wide = a.to(torch.float64)
    if hermitian:
        values, vectors = eigenvalues(wide)
        left, right, sizes = vectors, vectors.mT, values.abs()
    else:
        u, values, v = singular_values(wide)
        left, right, sizes = v.mT, u.mT, values
    bound = torch.maximum(least.unsqueeze(-1), rtol.to(torch.float64).unsqueeze(-1) * sizes.amax(-1, keepdim=True))
    inverse = torch.where(sizes > bound, 1 / torch.where(sizes > bound, values, 1.0), 0.0)
    return ((left * inverse.unsqueeze(-2)) @ right).to(a.dtype)
