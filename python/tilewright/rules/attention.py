"""Attention as a user writes it: two matmuls with the exponentials of a softmax between them, in one kernel."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from .. import te
from ..devices import GPU
from ..dtypes import item_bytes
from ..schedules.attention_choice import is_long, multiplies_by, tiles_by, tiles_for
from ..schedules.attention_memory import takes
from ..schedules.key_splits import Written, WrittenMask
from ..schedules.online_softmax import attention_of
from ..schedules.scores import if_any
from ..te.expr import Expr, IterVar, Read, Var
from ..te.program import operations
from ..te.rewrite import rewrite
from ..te.schedule import Schedule
from ..te.tag import allows_tf32
from ..te.tensor import ComputeOp, Operation, PlaceholderOp, Tensor
from ..te.walks import parts
from . import facts
from .attention_masks import ReadMask, eager
from .attention_roles import OtherError, Roles, expect, extent_of, roles_of, scaled
from .context import choice
from .facts import is_static
from .inlining import substituted
from .plan import Choice, Decision

__all__ = ["Attention", "attention_in"]

_STEP = 16  # bytes, which the strides of what TMA loads are multiples of
# The reductions of attention: the scores, their maximum, the sum of the exponentials, and the weighted values.
_REDUCTIONS = ["max", "sum", "sum", "sum"]


@dataclass(frozen=True, slots=True)
class _Laid:
    """An operand, with the heads of the result."""

    shape: tuple[int, ...]
    dtype: str
    strides: tuple[int, ...] | None
    align: int


@dataclass(frozen=True, slots=True)
class Attention:
    """What a program computes, where that is attention: the operands, how they are read, and the score."""

    name = "attention"

    operands: tuple[Tensor, Tensor, Tensor]  # … x heads x rows x width, whose elements `written` reads
    written: Written
    scale: float | None  # of a score that is a multiple of the dot product where it is not masked
    stages: tuple[str, ...]
    gpu: GPU
    tiles: dict[str, Any]

    def decision(self) -> Decision:
        q, _, v = self.operands
        width: Any = q.shape[-1]
        wide: Any = v.shape[-1]
        memory, item = (self.gpu.shared_bytes_per_block, self.gpu.registers_per_thread), item_bytes(q.dtype)
        tiles = tiles_by(multiplies_by(self.gpu, q.dtype) or "")
        fitting = [tile for tile in tiles if takes(tile, width, wide, *memory, item=item)]
        return Decision(
            self.name, self.stages, "a softmax between two matmuls, whose reductions over the keys become one loop",
            (choice("tile", self.tiles["tile"], fitting), *self._lists()), rules=(self.name,),
        )  # fmt: skip

    def schedule(self, decision: Decision) -> tuple[Schedule, Tensor]:
        """The schedule, and the result in it."""
        s, tensors = attention_of(
            *self.operands, scale=self.scale, written=self.written, tile=decision["tile"],
            is_listed=decision.settings.get("is_listed", False),
        )  # fmt: skip
        return s, tensors[-1]

    def _lists(self) -> tuple[Choice, ...]:
        """Whether tiles of keys are listed: a mask that is read says in no place of its own which ones it leaves."""
        if self.written.mask is None:
            return ()
        q, k, _ = self.operands
        queries, keys = (extent for extent in (q.shape[-2], k.shape[-2]) if isinstance(extent, int))
        return (
            choice("is_listed", is_long((*self.written.heads, queries, 1), keys, self.tiles["tile"]), (False, True)),
        )


def attention_in(outputs: Sequence[Operation], gpu: GPU | None) -> Attention | None:
    """The attention that the program computes; None where it computes something else, or no kernel is for it.

    It is attention if its stages are a maximum, a sum and a sum of weighted values over one axis. The weights are
    exponentials of scores less the maximum. The division by the sum may come before or after the values.
    """
    if gpu is None or len(outputs) != 1 or multiplies_by(gpu, outputs[0].output(0).dtype) is None:
        return None
    reductions = [op.reduction for op in operations(outputs) if isinstance(op, ComputeOp) and op.reduction is not None]
    # Asked before bodies are inlined: those of a chain of stages grow by the number of reads in each.
    if sorted(one.name for one in reductions) != _REDUCTIONS:
        return None
    try:
        return _made(roles_of(outputs[0]), outputs[0], gpu)
    except OtherError:
        return None


def _made(found: Roles, output: Operation, gpu: GPU) -> Attention | None:
    q, k, v = found.q, found.k, found.v
    dtype, heads = v.tensor.dtype, [extent_of(axis) for axis in found.heads]
    counts = [facts.extent_of(extent) for extent in heads]
    expect(all(one.dtype == dtype for one in (q.tensor, k.tensor, output.output(0))))
    # Rows of results lie together in memory, as those of queries do.
    expect(found.order[-1] == len(heads) + 1 and _steps(output.output(0)))
    keys = extent_of(found.key)
    expect(isinstance(keys, (int, Var)))
    operands, reads, transposed = list[Tensor](), dict[Tensor, Callable[..., Expr]](), set[Tensor]()
    for name, read, row, column in (
        ("Q", q, found.query, found.depth), ("K", k, found.key, found.depth), ("V", v, found.key, found.column)
    ):  # fmt: skip
        expect(_steps(read.tensor))
        # TMA steps over numbers of heads: a head that several share has one among them.
        expect(not any(isinstance(part, Var) for part in parts(read.indices)))
        align = _align_of(read.tensor)
        expect(is_static([column]))
        one = te.placeholder((*heads, extent_of(row), extent_of(column)), dtype, name=name, align=align)
        operands.append(one)
        reads[one] = _elements(read, (*found.heads, row, column))
        if read.indices[-1] is not column:
            expect(name != "Q" and read.indices[-1] is row)
            transposed.add(one)
    # One object stands for all reads of the dot product.
    raw = found.raw
    score = rewrite(
        eager(found.score), lambda part: raw if isinstance(part, Read) and part.tensor is raw.tensor else None
    )
    factored = scaled(score, raw)
    # Of more than two axes of heads the kernel has one in place of all but the first.
    grid = (*counts[:1], math.prod(counts[1:])) if len(counts) > 2 else tuple(counts)
    q_laid, k_laid, v_laid = (_Laid((*grid, *_extents(one)[-2:]), dtype, None, _align_of(one)) for one in operands)
    shape = (*grid, *_extents(operands[0])[-2:-1], v_laid.shape[-1])
    tf32 = allows_tf32(found.raw.tensor.op.attrs)
    # Without constant extents, matmuls of scores in memory would have no tensor cores.
    compares = is_static([*found.heads, found.query, found.key])
    tiles = tiles_for(q_laid, k_laid, v_laid, shape, None, gpu, may_split=False, tf32=tf32, compares=compares)
    if tiles is None:
        return None
    axes = (*found.heads, found.query, found.key)

    def placed(expr: Expr, at: Sequence[Any], there: Sequence[Any], value: Expr | None = None) -> Expr:
        by_id = {id(axis): place for axis, place in zip(axes, at, strict=True)}
        inside = dict(zip(axes, there, strict=True))

        def replace(part: Expr) -> Expr | None:
            if part is raw:
                return value
            if not isinstance(part, Read):
                return by_id.get(id(part))
            # What is read for a key behind the last is that of the last, if there is one.
            return if_any(substituted(part, inside), keys)

        return rewrite(expr, replace)

    changed = score if factored is None else factored[0]
    mask = ReadMask.of(changed, raw)

    def apart(mask: ReadMask) -> WrittenMask:
        choose = te.if_then_else if mask.is_lazy else te.select

        def of_seen(value: Expr, at: Sequence[Any], there: Sequence[Any], seen: Expr) -> Expr:
            return choose(seen, placed(mask.score, at, there, value), te.const(-math.inf, value.dtype))

        heads_of = zip(found.heads, heads, strict=True)
        own = tuple(extent if mask.depends_on(axis) else 1 for axis, extent in heads_of)
        return WrittenMask(lambda at, there: placed(mask.sees, at, there), of_seen, own)

    # TMA loads rows that lie side by side from multiples of 16 bytes, which a list of tiles does not promise.
    is_apart = (
        mask is not None
        and mask.is_read_at(*axes[-2:])
        and not transposed
        and is_static([*found.heads, found.query, found.key])
    )
    written = Written(
        output.name, reads, lambda value, at, there: placed(changed, at, there, value), tuple(heads), found.order,
        frozenset(transposed), apart(mask) if mask is not None and is_apart else None,
    )  # fmt: skip
    names = tuple(one.name for one in operations([output])[::-1] if isinstance(one, ComputeOp))
    scale = None if factored is None else factored[1]
    return Attention((operands[0], operands[1], operands[2]), written, scale, names, gpu, tiles)


def _align_of(tensor: Tensor) -> int:
    """What divides the address of an input that each call gives."""
    op = tensor.op
    if not isinstance(op, PlaceholderOp) or op.given is not None:
        raise OtherError
    return op.align


def _extents(tensor: Tensor) -> list[int]:
    return [facts.extent_of(extent) for extent in tensor.shape]


def _elements(read: Read, axes: Sequence[IterVar]) -> Callable[..., Expr]:
    """The element that is read at other places of its axes: heads, row and column."""

    def at(outer: Sequence[Any], *last: Any) -> Expr:
        return substituted(read, dict(zip(axes, (*outer, *last), strict=True)))

    return at


def _steps(tensor: Tensor) -> bool:
    """Whether TMA steps over all dimensions of a tensor but the last, which lies together in memory."""
    strides = tensor.op.strides if isinstance(tensor.op, PlaceholderOp) else None
    if strides is None:
        extent = tensor.shape[-1]
        return isinstance(extent, int) and extent * item_bytes(tensor.dtype) % _STEP == 0
    *others, last = strides
    steps = [one for one in others if isinstance(one, int) and one > 0 and one * item_bytes(tensor.dtype) % _STEP == 0]
    return isinstance(last, int) and last == 1 and len(steps) == len(others)
