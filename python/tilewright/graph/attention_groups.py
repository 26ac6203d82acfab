"""Groups of attention alone: one kernel, where `tilewright.ops.attention` takes one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mlir import ir

from ..schedules.attention_choice import tiles_for
from ..schedules.online_softmax import attention_of
from ..target import Target
from ..te import Schedule, Tensor, Var
from .definitions import attributes_of

__all__ = ["attention_schedule"]


@dataclass(frozen=True, slots=True)
class _Array:
    """A row-major tensor of a model: weights, and places in the arena, are aligned so."""

    shape: tuple[int, ...]
    dtype: str
    strides: tuple[int, ...] | None = None
    align: int = 16


def attention_schedule(
    inputs: Sequence[Tensor], outputs: list[Tensor], operation: ir.Operation, symbols: Mapping[str, Var], target: Target
) -> tuple[Schedule | None, list[Tensor]]:  # fmt: skip
    """The schedule of one kernel and its outputs; None, and the outputs as they are, where the rules are for it.

    An operand that is given twice, as keys that are the values too, is left to the rules.
    """
    tensors = [*inputs, *outputs]
    given = [_operand(one) for one in tensors]
    operands = [operand for operand in given if operand is not None]
    if target.kind == "cpu" or len(operands) < len(tensors) or len(inputs) != len(operation.operands):
        return None, outputs
    options = attributes_of(operation, symbols)
    before, behind = (None if options[side] < 0 else options[side] for side in ("before", "behind"))
    is_causal = behind == 0 and before is None and options["offset"] == 0
    q, k, v = operands[:3]
    tiles = tiles_for(q, k, v, operands[-1].shape, None, target.device, is_causal=is_causal)
    if tiles is None:
        return None, outputs
    schedule, made = attention_of(
        *inputs, scale=options["scale"], before=before, behind=behind, offset=options["offset"],
        softcap=options["softcap"] or None, **tiles,
    )  # fmt: skip
    return schedule, [made[-1]]


def _operand(tensor: Tensor) -> _Array | None:
    """A tensor; None of one with symbolic extents."""
    shape = [extent for extent in tensor.shape if isinstance(extent, int)]
    return _Array(tuple(shape), tensor.dtype) if len(shape) == len(tensor.shape) else None
