"""What operators of ATen without a converter become: PyTorch's own decompositions."""

from __future__ import annotations

from functools import cache
from typing import Any

import torch
from torch._decomp import decomposition_table

from .call import CONVERTERS, refused

__all__ = ["aten_decompositions", "decompositions"]


def _short(op: Any) -> str:
    namespace, name = op._schema.name.split("::")
    return f"{name}.{op._overloadname}" if namespace == "aten" else f"{namespace}.{name}.{op._overloadname}"


def _attention(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
    """PyTorch's decomposition, with a result that lies in memory as the operator's: views of it were traced so."""
    op = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu.default
    output, sums = decomposition_table[op](query, key, value, *args, **kwargs)
    return output.transpose(1, 2).contiguous().transpose(1, 2), sums


@cache
def aten_decompositions() -> dict[Any, Any]:
    """By operator without a converter, what PyTorch makes of it."""
    table = {
        op: function
        for op, function in decomposition_table.items()
        if isinstance(op, torch._ops.OpOverload) and _short(op) not in CONVERTERS and _short(op) not in refused
    }
    table[torch.ops.aten._scaled_dot_product_flash_attention_for_cpu.default] = _attention
    return table


def decompositions() -> Any:
    """The table for exported programs: with what operators that are functions of others become, too."""
    table = torch.export.default_decompositions()
    for op in list(table.keys()):
        if isinstance(op, torch._ops.OpOverload) and (_short(op) in CONVERTERS or _short(op) in refused):
            del table[op]
    for op, function in aten_decompositions().items():
        table[op] = function
    return table
