"""Operators of matrices that the graph has and PyTorch has not: what `linear_algebra` makes its functions of.

Each takes batches of matrices of any shape, also of no elements.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch

from ..graph import Value
from .call import Call, converter

__all__ = [
    "cholesky", "diagonalize", "is_empty", "lu", "orthogonalize", "reflect", "reflections", "refusal_of",
    "row_order", "rows_in", "solve_triangular",
]  # fmt: skip

_MOST_LONG = 4096
_library = torch.library.Library("tilewright", "FRAGMENT")
_broadcast_shapes: Any = torch.broadcast_shapes  # pyright: ignore[reportUnknownVariableType]


def is_empty(x: torch.Tensor) -> bool:
    """Whether a tensor is known to have no elements."""
    return any(isinstance(extent, int) and extent == 0 for extent in x.shape)


def rows_in(order: torch.Tensor, a: torch.Tensor) -> torch.Tensor:
    """By place the row of a matrix that `order` has there."""
    return a.gather(-2, order.unsqueeze(-1).expand(*order.shape, a.shape[-1]))


def refusal_of(a: torch.Tensor, most: int) -> str | None:
    """Why matrices are not taken: `most` is the limit of their rows or of their columns."""
    rows, columns = a.shape[-2:]
    if a.is_complex():
        return "expected matrices of real numbers, got complex ones"
    known = isinstance(rows, int) and isinstance(columns, int)
    if known and min(rows, columns) <= most and max(rows, columns) <= _MOST_LONG:
        return None
    limits = f"at most {most} rows or columns, and of {_MOST_LONG} of the other"
    return f"expected matrices of {limits}, got {rows} x {columns}"


def _operator(
    name: str, schema: str, shapes: Callable[..., Any], options: Sequence[str] = ()
) -> Callable[..., Any]:  # fmt: skip
    """An operator `tilewright::name`, which is only traced; `shapes` makes zeros in place of the results.

    The function that it gives is of matrices in batches of any number of dimensions.
    """
    _library.define(f"{name}{schema}")
    torch.library.register_fake(f"tilewright::{name}", shapes, lib=_library)
    operator: Any = getattr(torch.ops.tilewright, name)

    @converter(f"tilewright.{name}.default")
    def convert(call: Call, *given: Any) -> Any:
        operands = [one for one in given if isinstance(one, Value)]
        made = call.builder.ops(name, *operands, **dict(zip(options, given[len(operands) :])))
        return made[0] if len(made) == 1 else list(made)

    def of_batches(*given: Any) -> Any:
        dims = (1 if name == "row_order" else 2, 1 if name == "reflect" else 2, 2)
        tensors = [one for one in given if isinstance(one, torch.Tensor)]
        batch = _broadcast_shapes(*(one.shape[: one.dim() - d] for one, d in zip(tensors, dims)))
        count = math.prod(batch)
        flat = [one.expand(*batch, *one.shape[one.dim() - d :]).reshape(count, *one.shape[one.dim() - d :])
                for one, d in zip(tensors, dims)]  # fmt: skip
        function = shapes if any(map(is_empty, flat)) else operator
        made = function(*flat, *given[len(tensors) :])
        if isinstance(made, torch.Tensor):
            return made.reshape(*batch, *made.shape[1:])
        return tuple(one.reshape(*batch, *one.shape[1:]) for one in made)

    del convert
    return of_batches


def _zeros(x: torch.Tensor, *shape: Any) -> torch.Tensor:
    return x.new_zeros(shape or x.shape)


def _with_scales(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    return _zeros(x), _zeros(x, x.shape[0], min(x.shape[1:]))


def _of_lu(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    factors, scales = _with_scales(x)
    return factors, scales.to(torch.int32)


def _of_row_order(pivots: torch.Tensor, rows: int) -> torch.Tensor:
    return torch.arange(rows, dtype=torch.int32, device=pivots.device).expand(pivots.shape[0], rows).clone()


def _of_reflect(factors: torch.Tensor, scales: torch.Tensor, x: torch.Tensor, transposed: bool) -> torch.Tensor:
    return x.clone()  # without reflections it stays as it is


def _of_triangle(a: torch.Tensor, b: torch.Tensor, upper: bool, unit: bool) -> torch.Tensor:
    return _zeros(b)


def _of_eigenvalues(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    return _zeros(x, *x.shape[:2]), _zeros(x)


def _of_rotations(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    return _zeros(x), _zeros(x, *x.shape[:2], x.shape[1])


lu: Callable[..., Any] = _operator("lu", "(Tensor x) -> (Tensor, Tensor)", _of_lu)
row_order: Callable[..., Any] = _operator("row_order", "(Tensor pivots, int rows) -> Tensor", _of_row_order, ["rows"])
cholesky: Callable[..., Any] = _operator("cholesky", "(Tensor x) -> Tensor", _zeros)
solve_triangular: Callable[..., Any] = _operator(
    "solve_triangular", "(Tensor a, Tensor b, bool upper, bool unit) -> Tensor", _of_triangle,
    ["upper", "unit"],
)  # fmt: skip
reflections: Callable[..., Any] = _operator("reflections", "(Tensor x) -> (Tensor, Tensor)", _with_scales)
reflect: Callable[..., Any] = _operator(
    "reflect", "(Tensor factors, Tensor scales, Tensor x, bool transposed) -> Tensor", _of_reflect, ["transposed"]
)
diagonalize: Callable[..., Any] = _operator(
    "diagonalize", "(Tensor x) -> (Tensor, Tensor)", _of_eigenvalues
)  # fmt: skip
orthogonalize: Callable[..., Any] = _operator("orthogonalize", "(Tensor x) -> (Tensor, Tensor)", _of_rotations)
