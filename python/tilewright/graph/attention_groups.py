"""Groups of attention or its gradients alone: the kernels of `tilewright.ops`, where these take them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mlir import ir

from .. import te
from ..dtypes import itemsize
from ..rules import facts
from ..schedules.attention_choice import is_for_tma, lists_tiles, logarithm_tiles_for, tiles_for
from ..schedules.attention_stages import WIDTHS
from ..schedules.extents import are_equal
from ..schedules.gradient_kernels import gradient_kernels
from ..schedules.online_softmax import attention_of
from ..target import Target
from ..te import Schedule, Tensor, Var
from ..te.strides import Strided
from .definitions import attributes_of, tensors_of
from .operators.attention import mask_and_seed
from .operators.attention_gradients import GRADIENTS
from .types import from_ir
from .views import View, laid_out_by, view_of

__all__ = ["ATTENTION", "AttentionGroup", "attention_group"]

ATTENTION = frozenset({"attention", "attention_with_logarithms", "attention_gradients"})
"""The operators that may have a kernel."""

_OPERANDS = 3  # queries, keys and values, behind which a mask and the seed of dropout may stand
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
    members: Sequence[ir.Operation], constants: Mapping[ir.Value, Tensor], symbols: Mapping[str, Var], target: Target
) -> AttentionGroup | None:
    """The kernels of a group that is attention, or its gradients, and what moves operands and the result.

    None where the rules are for the group.

    The rules are for operands that are given twice, such as keys that are the values too. They are also for moves that
    need a copy.
    """
    (attention,) = (one for one in members if one.name.removeprefix("graph.") in ATTENTION)
    if target.kind == "cpu" or len(set(attention.operands)) < len(attention.operands):
        return None
    operands = _Operands.of(members, attention, constants, symbols)
    if operands is None:
        return None
    if attention.name == "graph.attention_gradients":
        return _gradients(attention, operands, symbols, target)
    behind = list(members[list(members).index(attention) + 1 :])
    shape, with_logarithms = _static(attention.results[0]), len(attention.results) > 1
    is_static = shape is not None
    if shape is None:
        # One symbolic result alone is what the rules make one kernel of, for several classes of extents.
        shape = _nominal(attention.results[0], symbols)
        if behind or not with_logarithms or shape[-1] % WIDTHS or not _are_known(operands.tensors):
            return None
    result = laid_out_by(shape, behind, symbols) if behind else View(shape, _row_major(shape), 0)
    if result is None:
        return None
    inputs, laid = operands.inputs, operands.laid
    strides = None if result.is_whole else result.strides
    options = _options(attention, symbols)
    is_causal = options["behind"] == 0 and options["before"] is None and options["offset"] == 0 and is_static
    choose = logarithm_tiles_for if with_logarithms else tiles_for
    tiles = choose(
        laid[0], laid[1], laid[2], shape, strides, target.device, is_causal=is_causal,
        tf32=_allows_tf32(attention, symbols), compares=is_static,
    )  # fmt: skip
    if tiles is None:
        return None
    laid_mask, mask, seed = operands.mask_and_seed(_OPERANDS, options)
    if laid_mask is not None and is_static:
        tiles["is_listed"] = lists_tiles(laid_mask, shape, laid[1].shape[-2], tiles)
    q, k, v = operands.tensors[:_OPERANDS]
    with target:
        schedule, tensors = attention_of(
            q, k, v, mask, seed=seed, with_logarithms=with_logarithms, **options, **tiles
        )  # fmt: skip
    operands.compute_inline(schedule)
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
    if not all(is_for_tma(one) for one in (head, *laid[: _OPERANDS + 1])):
        return None
    # In tf32 the kernels that store scores take less time, which multiply once where these do three times.
    if _allows_tf32(operation, symbols) or not _are_known(operands.tensors[1:]):
        return None
    options = _options(operation, symbols)
    numbers: list[int] = options.pop("wanted")
    wanted = [GRADIENTS[number] for number in numbers]
    laid_mask, mask, seed = operands.mask_and_seed(_OPERANDS + 3, options)
    *tensors, result, logarithms = operands.tensors[: _OPERANDS + 3]
    with target:
        made = gradient_kernels(
            [*tensors, *([] if mask is None else [mask])], laid[:_OPERANDS], laid_mask, wanted=wanted, result=result,
            logarithms=logarithms, seed=seed, gpu=target.device, **options,
        )  # fmt: skip
    if made is None:
        return None
    schedule, outputs = made
    operands.compute_inline(schedule)
    views = (*operands.views, *[None] * len(outputs))
    return AttentionGroup(schedule, operands.values, views, (*operands.inputs, *outputs))


def _allows_tf32(operation: ir.Operation, symbols: Mapping[str, Var]) -> bool:
    return attributes_of(operation, symbols).get("acc") == "tf32"


def _options(operation: ir.Operation, symbols: Mapping[str, Var]) -> dict[str, Any]:
    """The attributes as schedules take them: None for what is not bounded."""
    options = attributes_of(operation, symbols)
    options.pop("acc", None)
    bounds = {side: None if options[side] < 0 else options[side] for side in ("before", "behind")}
    return {**options, **bounds, "softcap": options["softcap"] or None}


@dataclass(frozen=True, slots=True)
class _Operands:
    """The operands of attention: `tensors`, and how they are `laid` in memory.

    `values` are what the kernel reads, by `views`, as its `inputs`. A mask that is computed in the group is made of
    several inputs, in the stages `made`.
    """

    values: tuple[ir.Value, ...]
    views: tuple[View | None, ...]
    inputs: tuple[Tensor, ...]
    tensors: tuple[Tensor, ...]
    laid: tuple[_Array, ...]
    made: tuple[Tensor, ...]

    @classmethod
    def of(
        cls, members: Sequence[ir.Operation], attention: ir.Operation, constants: Mapping[ir.Value, Tensor],
        symbols: Mapping[str, Var],
    ) -> _Operands | None:  # fmt: skip
        """None where a move needs a copy, or has symbolic extents, or where an address is not aligned."""
        made: dict[ir.Value, ir.Operation] = {one.results[0]: one for one in members}
        values: list[ir.Value] = []
        views: list[View | None] = []
        inputs: list[Tensor] = []
        tensors: list[Tensor] = []
        laid: list[_Array] = []
        mask: dict[ir.Value, Tensor] = {}
        views_of = 2 * _OPERANDS if attention.name == "graph.attention_gradients" else _OPERANDS
        for number, operand in enumerate(attention.operands):
            if number >= views_of and operand in made:
                mask = _computed(operand, made, constants, symbols)
                read = [(value, one) for value, one in mask.items() if value not in made and value not in constants]
                values += [value for value, _ in read]
                views += [None] * len(read)
                inputs += [one for _, one in read]
                tensors.append(mask[operand])
                laid.append(_laid(operand, None, symbols))
                continue
            value, chain = operand, list[ir.Operation]()
            while value in made:
                chain.insert(0, made[value])
                value = made[value].operands[0]
            shape, view = _static(value), None
            if chain:
                view = view_of(shape, chain, symbols) if shape is not None else None
                if view is None:
                    return None
            values.append(value)
            views.append(view)
            inputs.append(_placeholder(number, operand, view, symbols))
            tensors.append(inputs[-1])
            laid.append(_laid(operand, view, symbols))
        if any(one.align < _ALIGNMENT for one in laid):
            return None
        stages = tuple(one for value, one in mask.items() if value in made or value in constants)
        return cls(tuple(values), tuple(views), tuple(inputs), tuple(tensors), tuple(laid), stages)

    def mask_and_seed(
        self, count: int, options: Mapping[str, Any]
    ) -> tuple[_Array | None, Tensor | None, Tensor | None]:  # fmt: skip
        """Of what stands behind the first `count` operands how the mask lies, the mask, and the seed of dropout."""
        p: float = options.get("dropout_p", 0.0)
        mask, seed = mask_and_seed(self.tensors[count:], p)
        return mask_and_seed(self.laid[count:], p)[0], mask, seed

    def compute_inline(self, schedule: Schedule) -> None:
        """Computes a mask where it is read."""
        for stage in self.made:
            schedule[stage].compute_inline()


def _are_known(tensors: Sequence[Tensor]) -> bool:
    """Whether it is known how many sequences, and heads, of queries share one of keys and values."""
    q, *others = (one.shape[:-2] for one in tensors[:_OPERANDS])
    pairs = [pair for other in others for pair in zip(q, other, strict=True)]
    return all(are_equal(*pair) or all(isinstance(extent, int) for extent in pair) for pair in pairs)


def _computed(
    value: ir.Value, made: Mapping[ir.Value, ir.Operation], constants: Mapping[ir.Value, Tensor],
    symbols: Mapping[str, Var],
) -> dict[ir.Value, Tensor]:  # fmt: skip
    """What a value of the group is computed of, and it, as tensor expressions in their order."""
    found: dict[ir.Value, Tensor] = {}

    def visit(one: ir.Value) -> Tensor:
        if one not in found:
            if one in made:
                operation = made[one]
                operands = [visit(operand) for operand in operation.operands]
                found[one] = tensors_of(operation, operands, symbols, by_threads=True)[0]
            elif one in constants:
                found[one] = constants[one]
            else:
                kind = from_ir(one.type, symbols)
                found[one] = te.placeholder(kind.shape, kind.dtype, name=f"m{len(found)}")
        return found[one]

    visit(value)
    return found


def _static(value: ir.Value) -> tuple[int, ...] | None:
    """The extents; None where some are symbolic."""
    kind = ir.RankedTensorType(value.type)
    return tuple(kind.shape) if kind.has_static_shape else None


def _nominal(value: ir.Value, symbols: Mapping[str, Var]) -> tuple[int, ...]:
    """The extents, of symbols what rules take for them."""
    return tuple(facts.extent_of(extent) for extent in from_ir(value.type, symbols).shape)


def _row_major(shape: Sequence[int]) -> tuple[int, ...]:
    strides = [1]
    for extent in reversed(shape[1:]):
        strides.insert(0, strides[0] * extent)
    return tuple(strides)


def _placeholder(number: int, operand: ir.Value, view: View | None, symbols: Mapping[str, Var]) -> Tensor:
    kind = from_ir(operand.type, symbols)
    strides = None if view is None or view.is_whole else view.strides
    return te.placeholder(kind.shape, kind.dtype, name=f"x{number}", strides=strides)


def _laid(operand: ir.Value, view: View | None, symbols: Mapping[str, Var]) -> _Array:
    kind = from_ir(operand.type, symbols)
    shape = _nominal(operand, symbols)
    if view is None:
        return _Array(shape, kind.dtype)
    begins_aligned = view.begin * itemsize(kind.dtype) % _ALIGNMENT == 0
    return _Array(shape, kind.dtype, None if view.is_whole else view.strides, _ALIGNMENT if begins_aligned else 1)
