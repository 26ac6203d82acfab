"""What operators of ATen without a converter become: PyTorch's own decompositions."""

from __future__ import annotations

from functools import cache
from typing import Any

import torch
from torch._decomp import decomposition_table  # pyright: ignore[reportUnknownVariableType]

from . import (
    bessel,
    cells,
    complex_functions,
    composites,
    distributions,
    embeddings,
    encoder_layers,
    histograms,
    incomplete_gamma,
    linear_algebra,
    lists,
    losses,
    number_parts,
    polynomials,
    pools,
    resizing,
    sampling,
    scaled_dot_product,
    scattering,
    searching,
    segments,
    special_functions,
)
from .call import CONVERTERS, refused

__all__ = ["aten_decompositions", "decompositions"]


def _short(op: Any) -> str:
    namespace, name = op._schema.name.split("::")
    return f"{name}.{op._overloadname}" if namespace == "aten" else f"{namespace}.{name}.{op._overloadname}"


_PARTS = (
    bessel, cells, composites, distributions, embeddings, encoder_layers, histograms, incomplete_gamma, linear_algebra,
    lists, losses, number_parts, polynomials, pools, resizing, sampling, scaled_dot_product, scattering, searching,
    segments, special_functions, complex_functions,
)  # fmt: skip


_OF_HERMITIAN = [f"fft_{name}{rank}.default" for name in ("hfft", "ihfft") for rank in ("", "2", "n")]
"""What PyTorch itself takes apart. Its decompositions of these have a view that no function has."""


@cache
def aten_decompositions() -> dict[Any, Any]:
    """By operator without a converter, what PyTorch makes of it."""
    unused = {*CONVERTERS, *refused, *losses.TAKEN_APART, *_OF_HERMITIAN}
    table = {  # pyright: ignore[reportUnknownVariableType]
        op: function
        for op, function in decomposition_table.items()  # pyright: ignore[reportUnknownVariableType]
        if isinstance(op, torch._ops.OpOverload) and _short(op) not in unused  # pyright: ignore[reportPrivateUsage]
    }
    for part in _PARTS:
        table.update(part.decompositions())
    return table  # pyright: ignore[reportUnknownVariableType]


def decompositions() -> Any:
    """The table for exported programs: with what operators that are functions of others become, too."""
    table = torch.export.default_decompositions()
    for op in list(table.keys()):  # pyright: ignore[reportUnknownArgumentType]
        if isinstance(op, torch._ops.OpOverload) and (_short(op) in CONVERTERS or _short(op) in refused):  # pyright: ignore[reportPrivateUsage]
            del table[op]
    for op, function in aten_decompositions().items():
        table[op] = function
    return table
