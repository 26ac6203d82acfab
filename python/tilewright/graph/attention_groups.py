"""Groups of attention or its gradients alone: the kernels of `tilewright.ops`, where these take them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mlir import ir

from .. import te
from ..dtypes import itemsize
from ..schedules.attention_choice import is_for_tma, lists_tiles, logarithm_tiles_for, tiles_for
from ..schedules.gradient_kernels import gradient_kernels
from ..schedules.online_softmax import attention_of
from ..target import Target
from ..te import Schedule, Tensor, Var
from ..te.strides import Strided
from .definitions import attributes_of
from .operators.attention_gradients import GRADIENTS
from .types import from_ir
from .views import View, laid_out_by, view_of

__all__ = ["ATTENTION", "AttentionGroup", "attention_group"]

ATTENTION = frozenset({"attention", "attention_with_logarithms", "attention_gradients"})
"""The operators that may have a kernel."""

_OPERANDS = 3  # queries, keys and values, behind which a mask may stand
_ALIGNMENT = 16  # bytes, of places in the arena and of weights


@dataclass(frozen=True, slots=True)
class AttentionGroup:
    """The kernels of a group: its operands and its results as they read and write them.

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
    """The kernels of a group that is attention, or its gradients, and what moves operands and the result.

    None where the rules are for the group.

    The rules are for operands that are given twice, such as keys that are the values too. They are also for moves that
    need a copy.
    """
    (attention,) = (one for one in members if one.name.removeprefix("graph.") in ATTENTION)
    if target.kind == "cpu" or len(set(attention.operands)) < len(attention.operands):
        return None
    operands = _Operands.of(members, attention, symbols)
    if operands is None:
        return None
    if attention.name == "graph.attention_gradients":
        return _gradients(attention, operands, symbols, target)
    behind = list(members[list(members).index(attention) + 1 :])
    shape = _static(attention.results[0])
    if shape is None:
        return None
    result = laid_out_by(shape, behind, symbols) if behind else View(shape, _row_major(shape), 0)
    if result is None:
        return None
    inputs, laid = operands.inputs, operands.laid
    strides = None if result.is_whole else result.strides
    options = _options(attention, symbols)
    is_causal = options["behind"] == 0 and options["before"] is None and options["offset"] == 0
    with_logarithms = len(attention.results) > 1
    choose = logarithm_tiles_for if with_logarithms else tiles_for
    tiles = choose(laid[0], laid[1], laid[2], shape, strides, target.device, is_causal=is_causal)
    if tiles is None:
        return None
    if len(laid) > _OPERANDS:
        tiles["is_listed"] = lists_tiles(laid[_OPERANDS], shape, laid[1].shape[-2], tiles)
    schedule, tensors = attention_of(*inputs, with_logarithms=with_logarithms, **options, **tiles)
    outputs: list[Tensor | Strided] = [*tensors[-len(attention.results) :]]
    if strides is not None:
        outputs = [te.strided(tensors[-1], strides)]
    views = (*operands.views, result if behind else None, *[None] * (len(outputs) - 1))
    return AttentionGroup(schedule, operands.values, views, (*inputs, *outputs))


def _gradients(
    operation: ir.Operation, operands: _Operands, symbols: Mapping[str, Var], target: Target
) -> AttentionGroup | None:  # fmt: skip
    head, *laid = operands.laid
    # The result stands behind the values.
    if not all(is_for_tma(one.shape, one.strides) for one in (head, *laid[: _OPERANDS + 1])):
        return None
    options = _options(operation, symbols)
    wanted = [GRADIENTS[number] for number in options.pop("wanted")]
    mask = laid[_OPERANDS + 2] if len(laid) > _OPERANDS + 2 else None
    result, logarithms, *masks = operands.inputs[_OPERANDS + 1 :]
    made = gradient_kernels(
        [*operands.inputs[: _OPERANDS + 1], *masks], laid[:_OPERANDS], mask, wanted=wanted, result=result,
        logarithms=logarithms, gpu=target.device, **options,
    )  # fmt: skip
    if made is None:
        return None
    schedule, outputs = made
    views = (*operands.views, *[None] * len(outputs))
    return AttentionGroup(schedule, operands.values, views, (*operands.inputs, *outputs))


def _options(operation: ir.Operation, symbols: Mapping[str, Var]) -> dict[str, Any]:
    """The attributes as schedules take them: None for what is not bounded."""
    options = attributes_of(operation, symbols)
    bounds = {side: None if options[side] < 0 else options[side] for side in ("before", "behind")}
    return {**options, **bounds, "softcap": options["softcap"] or None}


@dataclass(frozen=True, slots=True)
class _Operands:
    """The operands of attention: `values` that `views` are taken of, and what the kernel knows of them."""

    values: tuple[ir.Value, ...]
    views: tuple[View | None, ...]
    inputs: tuple[Tensor, ...]
    laid: tuple[_Array, ...]

    @classmethod
    def of(
        cls, members: Sequence[ir.Operation], attention: ir.Operation, symbols: Mapping[str, Var]
    ) -> _Operands | None:
        """None where an extent is symbolic, where a move needs a copy, or where an address is not aligned."""
        made = {one.results[0]: one for one in members}
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
        pairs = list(zip(attention.operands, views, strict=True))
        inputs = tuple(_placeholder(i, *pair) for i, pair in enumerate(pairs))
        laid = tuple(_laid(*pair) for pair in pairs)
        if any(one.align < _ALIGNMENT for one in laid):
            return None
        return cls(tuple(values), tuple(views), inputs, laid)


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
