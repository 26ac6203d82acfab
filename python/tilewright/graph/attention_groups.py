"""Groups of attention alone: one kernel, where `tilewright.ops.attention` takes one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mlir import ir

from .. import te
from ..dtypes import itemsize
from ..schedules.attention_choice import lists_tiles, tiles_for
from ..schedules.online_softmax import attention_of
from ..target import Target
from ..te import Schedule, Tensor, Var
from ..te.strides import Strided
from .definitions import attributes_of
from .types import from_ir
from .views import View, laid_out_by, view_of

__all__ = ["AttentionGroup", "attention_group"]

_OPERANDS = 3  # queries, keys and values, behind which a mask may stand
_ALIGNMENT = 16  # bytes, of places in the arena and of weights


@dataclass(frozen=True, slots=True)
class AttentionGroup:
    """One kernel for a group: its operands and its result as the kernel reads and writes them.

    `values` are the tensors of the model that the operands are views of.
    """

    schedule: Schedule
    values: tuple[ir.Value, ...]
    views: tuple[View | None, ...]
    arguments: tuple[Tensor | Strided, ...]


@dataclass(frozen=True, slots=True)
class _Array:
    """A tensor of a model, row-major or with the strides of a view."""

    shape: tuple[int, ...]
    dtype: str
    strides: tuple[int, ...] | None = None
    align: int = 16


def attention_group(
    members: Sequence[ir.Operation], symbols: Mapping[str, Var], target: Target
) -> AttentionGroup | None:
    """The kernel of a group that is attention and what moves its operands and its result; None where the rules are for
    the group.

    The rules are for operands that are given twice, such as keys that are the values too. They are also for moves that
    need a copy.
    """
    (attention,) = (one for one in members if one.name == "graph.attention")
    made = {one.result: one for one in members}
    if target.kind == "cpu" or len(set(attention.operands)) < len(attention.operands):
        return None
    values: list[ir.Value] = []
    views: list[View | None] = []
    for operand in attention.operands:
        chain: list[ir.Operation] = []
        while operand in made:
            chain.insert(0, made[operand])
            operand = made[operand].operands[0]
        shape = _static(operand)
        view = view_of(shape, chain, symbols) if shape is not None else None
        if view is None:
            return None
        values.append(operand)
        views.append(None if not chain else view)
    behind = list(members[list(members).index(attention) + 1 :])
    shape = _static(attention.result)
    if shape is None:
        return None
    result = laid_out_by(shape, behind, symbols) if behind else View(shape, _row_major(shape), 0)
    if result is None:
        return None
    inputs = [_placeholder(i, operand, view) for i, (operand, view) in enumerate(zip(attention.operands, views))]
    laid = [_laid(operand, view) for operand, view in zip(attention.operands, views)]
    strides = None if result.is_whole else result.strides
    if any(one.align < _ALIGNMENT for one in laid):
        return None
    options = attributes_of(attention, symbols)
    before, after = (None if options[side] < 0 else options[side] for side in ("before", "behind"))
    is_causal = after == 0 and before is None and options["offset"] == 0
    tiles = tiles_for(laid[0], laid[1], laid[2], shape, strides, target.device, is_causal=is_causal)
    if tiles is None:
        return None
    if len(laid) > _OPERANDS:
        tiles["is_listed"] = lists_tiles(laid[_OPERANDS], shape, laid[1].shape[-2], tiles)
    schedule, tensors = attention_of(
        *inputs, scale=options["scale"], before=before, behind=after, offset=options["offset"],
        softcap=options["softcap"] or None, **tiles,
    )  # fmt: skip
    output = tensors[-1] if strides is None else te.strided(tensors[-1], strides)
    return AttentionGroup(schedule, tuple(values), (*views, result if behind else None), (*inputs, output))


def _static(value: ir.Value) -> tuple[int, ...] | None:
    """The extents; None where some are symbolic."""
    kind = ir.RankedTensorType(value.type)
    return tuple(kind.shape) if kind.has_static_shape else None


def _row_major(shape: Sequence[int]) -> tuple[int, ...]:
    strides = [1]
    for extent in reversed(shape[1:]):
        strides.insert(0, strides[0] * extent)
    return tuple(strides)


def _placeholder(number: int, operand: ir.Value, view: View | None) -> Tensor:
    kind = from_ir(operand.type, {})
    strides = None if view is None or view.is_whole else view.strides
    return te.placeholder(kind.shape, kind.dtype, name=f"x{number}", strides=strides)


def _laid(operand: ir.Value, view: View | None) -> _Array:
    kind = from_ir(operand.type, {})
    shape = tuple(ir.RankedTensorType(operand.type).shape)
    if view is None:
        return _Array(shape, kind.dtype)
    begins_aligned = view.begin * itemsize(kind.dtype) % _ALIGNMENT == 0
    return _Array(shape, kind.dtype, None if view.is_whole else view.strides, _ALIGNMENT if begins_aligned else 1)
