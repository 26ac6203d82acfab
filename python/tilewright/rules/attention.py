"""Attention as a user writes it: two matmuls with the exponentials of a softmax between them, in one kernel."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .. import te
from ..devices import GPU
from ..schedules.attention_choice import is_long, tiles_for
from ..schedules.attention_memory import takes
from ..schedules.key_splits import Written, WrittenMask
from ..schedules.online_softmax import attention_of
from ..te.derivative import same
from ..te.expr import Call, Cast, Const, Expr, IterVar, Read, Select
from ..te.program import operations
from ..te.rewrite import rewrite
from ..te.schedule import Schedule
from ..te.tensor import ComputeOp, Operation, PlaceholderOp, Tensor
from .attention_masks import ReadMask, eager, is_number, reads_of, stripped
from .context import choice
from .plan import Choice, Decision

__all__ = ["NAME", "Attention", "attention_in"]

NAME = "attention"
_TILES = ((128, 128), (128, 64), (64, 128), (64, 64))
_HALVES = ("float16", "bfloat16")


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

    operands: tuple[Tensor, Tensor, Tensor]
    written: Written
    scale: float | None  # of a score that is a multiple of the dot product where it is not masked
    stages: tuple[str, ...]
    gpu: GPU
    tiles: dict[str, Any]

    def decision(self) -> Decision:
        q, _, v = self.operands
        width: Any = q.shape[-1]
        wide: Any = v.shape[-1]
        memory = self.gpu.shared_bytes_per_block, self.gpu.registers_per_thread
        fitting = [tile for tile in _TILES if takes(tile, width, wide, *memory)]
        return Decision(
            NAME, self.stages, "a softmax between two matmuls, whose reductions over the keys become one loop",
            (choice("tile", self.tiles["tile"], fitting), *self._lists()), rules=(NAME,),
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
    if gpu is None or "wgmma" not in gpu.features or len(outputs) != 1:
        return None
    try:
        return _Matcher(outputs[0], gpu).match()
    except _OtherError:
        return None


class _OtherError(Exception):
    """The program is something else."""


def _expect(holds: object) -> None:
    if not holds:
        raise _OtherError


def _reduced(op: Operation, name: str) -> tuple[ComputeOp, IterVar, Expr]:
    """The axis and the element of a reduction over one axis."""
    if not isinstance(op, ComputeOp) or op.num_outputs != 1 or op.reduction is None:
        raise _OtherError
    _expect(op.reduction.name == name and len(op.reduction.axis) == 1)
    return op, op.reduction.axis[0], op.reduction.exprs[0]


def _substituted(expr: Expr, places: Mapping[IterVar, Any]) -> Expr:
    by_id = {id(axis): place for axis, place in places.items()}
    return rewrite(expr, lambda part: by_id.get(id(part)))


def _inlined(expr: Expr) -> Expr:
    """The expression with the bodies of stages that reduce nothing in place of their elements."""

    def replace(part: Expr) -> Expr | None:
        op = part.tensor.op if isinstance(part, Read) else None
        if not isinstance(part, Read) or not isinstance(op, ComputeOp) or op.reduction is not None:
            return None
        _expect(op.num_outputs == 1)
        return _inlined(_substituted(op.body[0], dict(zip(op.axis, part.indices, strict=True))))

    return rewrite(expr, replace)


def _are(indices: Sequence[Expr], axes: Sequence[IterVar]) -> bool:
    return len(indices) == len(axes) and not [one for one, axis in zip(indices, axes) if one is not axis]


def _is_cast(expr: Expr, dtype: str) -> bool:
    return isinstance(expr, Cast) and expr.dtype == dtype


def _call(expr: Expr, op: str) -> tuple[Expr, ...]:
    expr = stripped(expr)
    if not isinstance(expr, Call) or expr.op != op:
        raise _OtherError
    return expr.args


def _dot_of(raw: Operation) -> tuple[ComputeOp, Read, Read, IterVar]:
    """The operands of Q K^T, whose last axes are summed over."""
    op, d, body = _reduced(raw, "sum")
    _expect(op.output(0).dtype == "float32" and len(op.axis) >= 2)
    made = list[Read]()
    for factor, axis in zip(_factors(body, op.axis[-2]), op.axis[-2:], strict=True):
        _expect(factor.indices[-1] is d and factor.indices[-2] is axis)
        made.append(factor)
    return op, made[0], made[1], d


def _factors(body: Expr, first: IterVar) -> list[Read]:
    """The two reads that are multiplied, that along `first` before the other."""
    found = [stripped(one) for one in _call(body, "mul")]
    reads = [one for one in found if isinstance(one, Read) and len(one.indices) >= 2]
    _expect(len(reads) == 2)
    return reads if reads[0].indices[-2] is first else reads[::-1]


def _scaled(score: Expr, raw: Read) -> tuple[Expr, float] | None:
    """The score without its factor, where it is a positive multiple of `raw` or minus infinity."""
    if score is raw:
        return score, 1.0
    if isinstance(score, Call) and score.op in ("mul", "div"):
        a, b = score.args
        if score.op == "mul" and isinstance(a, Const):
            a, b = b, a
        if a is raw and isinstance(b, Const) and float(b.value) > 0:
            return raw, float(b.value) if score.op == "mul" else 1.0 / float(b.value)
        return None
    if not isinstance(score, Select) or any(read.tensor is raw.tensor for read in reads_of(score.condition)):
        return None
    for chosen, other, is_first in (
        (score.true_value, score.false_value, True),
        (score.false_value, score.true_value, False),
    ):
        made = _scaled(chosen, raw) if is_number(other, -math.inf) else None
        if made is not None:
            values = (made[0], other) if is_first else (other, made[0])
            return Select(score.condition, values[0], values[1], score.lazy, score.source), made[1]
    return None


class _Matcher:
    """Goes from the result to the operands."""

    def __init__(self, output: Operation, gpu: GPU) -> None:
        self._output, self._gpu = output, gpu

    def match(self) -> Attention | None:
        weighted, total = self._weighted()
        op, j, body = _reduced(weighted, "sum")
        _expect(len(op.axis) >= 2)
        outer, i, c = op.axis[:-2], op.axis[-2], op.axis[-1]
        factors = _call(body, "mul")
        reads = [one for one in map(stripped, factors) if isinstance(one, Read) and len(one.indices) >= 2]
        v = next((one for one in reads if one.indices[-1] is c and one.indices[-2] is j), None)
        _expect(v is not None)
        assert v is not None
        _expect(isinstance(v.tensor.op, PlaceholderOp) and v.tensor.dtype in _HALVES)
        weight = factors[0] if stripped(factors[1]) is v else factors[1]
        # Matmuls of halves have weights that are rounded to them.
        _expect(any(_is_cast(one, v.tensor.dtype) for one in self._casts(weight)))
        weight = stripped(_inlined(weight))
        if total is None:
            weight, by = _call(weight, "div")
            total = stripped(by)
        _expect(isinstance(total, Read))
        assert isinstance(total, Read)
        (exponent,) = _call(weight, "exp")
        score, largest = _call(exponent, "sub")
        score, largest = stripped(score), stripped(largest)
        if isinstance(largest, Call) and largest.op == "max":  # a finite number for rows that are masked away
            args = [stripped(one) for one in largest.args]
            largest = args[0] if isinstance(args[1], Const) else args[1]
        _expect(isinstance(largest, Read))
        assert isinstance(largest, Read)
        places: list[Any] = [*outer, i]
        self._check(total, "sum", places, j, stripped(weight))
        self._check(largest, "max", places, j, score)
        return self._made(op, v, score, j)

    def _weighted(self) -> tuple[Operation, Expr | None]:
        """The sum of weighted values, and what it is divided by if it is."""
        op = self._output
        if not isinstance(op, ComputeOp) or op.num_outputs != 1:
            raise _OtherError
        if op.reduction is not None:
            return op, None
        body = stripped(_inlined(op.body[0]))
        if isinstance(body, Select) and is_number(body.true_value, 0.0):  # rows without keys
            body = stripped(body.false_value)
        total = None
        if isinstance(body, Call):
            body, total = (stripped(one) for one in _call(body, "div"))
        if not isinstance(body, Read):
            raise _OtherError
        _expect(_are(body.indices, op.axis))
        made = body.tensor.op
        if isinstance(total, Read):
            _expect(_are(total.indices, op.axis[:-1]))
            axes = made.axis
            total = Read(total.tensor, tuple(axes[:-1]), total.source)
        return made, total

    def _casts(self, expr: Expr) -> list[Expr]:
        """What a factor is cast from and to, also in the stage that it reads."""
        found = list[Expr]()
        while True:
            found.append(expr)
            if isinstance(expr, Cast):
                expr = expr.value
            elif isinstance(expr, Read) and isinstance(expr.tensor.op, ComputeOp) and not expr.tensor.op.reduction:
                expr = expr.tensor.op.body[0]
            else:
                return found

    def _check(self, read: Read, name: str, places: Sequence[IterVar], j: IterVar, element: Expr) -> None:
        """That a row is reduced of the same elements."""
        op, axis, body = _reduced(read.tensor.op, name)
        _expect(_are(read.indices, places) and len(op.axis) == len(places))
        own = _inlined(_substituted(body, {**dict(zip(op.axis, places, strict=True)), axis: j}))
        _expect(same(stripped(own), element))

    def _made(self, op: ComputeOp, v: Read, score: Expr, j: IterVar) -> Attention | None:
        *outer, i, c = op.axis
        raws = [one for one in reads_of(score) if not isinstance(one.tensor.op, PlaceholderOp)]
        _expect(raws and all(same(one, raws[0]) for one in raws) and _are(raws[0].indices, [*outer, i, j]))
        dot, q, k, d = _dot_of(raws[0].tensor.op)
        operands = (q.tensor, k.tensor, v.tensor)
        _expect(all(isinstance(one.op, PlaceholderOp) and one.dtype == v.tensor.dtype for one in operands))
        _expect(len({id(one) for one in operands}) == 3)
        _expect(op.output(0).dtype == "float32" and self._output.output(0).dtype == v.tensor.dtype)
        # One object stands for all reads of the dot product.
        raw = raws[0]
        score = rewrite(
            eager(score), lambda part: raw if isinstance(part, Read) and part.tensor is raw.tensor else None
        )
        scaled = _scaled(score, raw)
        shape = tuple(extent for extent in self._output.shape if isinstance(extent, int))
        _expect(len(shape) == len(self._output.shape))
        heads = shape[:-2]
        laid = [self._laid(one, heads) for one in operands]
        tiles = tiles_for(laid[0], laid[1], laid[2], shape, None, self._gpu)
        if tiles is None or "key_splits" in tiles:
            return None

        def reads(read: Read, axes: Sequence[IterVar], row: IterVar, column: IterVar) -> Callable[..., Expr]:
            def at(outer: Sequence[Any], *last: Any) -> Expr:
                return _substituted(read, dict(zip((*axes, row, column), (*outer, *last), strict=True)))

            return at

        def placed(expr: Expr, at: Sequence[Any], there: Sequence[Any], value: Expr | None = None) -> Expr:
            axes = (*outer, i, j)
            by_id = {id(axis): place for axis, place in zip(axes, at, strict=True)}
            inside = dict(zip(axes, there, strict=True))

            def replace(part: Expr) -> Expr | None:
                if part is raw:
                    return value
                return _substituted(part, inside) if isinstance(part, Read) else by_id.get(id(part))

            return rewrite(expr, replace)

        changed = score if scaled is None else scaled[0]
        mask = ReadMask.of(changed, raw)

        def apart(mask: ReadMask) -> WrittenMask:
            choose = te.if_then_else if mask.is_lazy else te.select

            def of_seen(value: Expr, at: Sequence[Any], there: Sequence[Any], seen: Expr) -> Expr:
                return choose(seen, placed(mask.score, at, there, value), te.const(-math.inf, value.dtype))

            heads_of = zip(outer, heads, strict=True)
            own = tuple(extent if mask.depends_on(axis) else 1 for axis, extent in heads_of)
            return WrittenMask(lambda at, there: placed(mask.sees, at, there), of_seen, own)

        written = Written(
            self._output.name,
            {
                q.tensor: reads(q, dot.axis[:-2], dot.axis[-2], d),
                k.tensor: reads(k, dot.axis[:-2], dot.axis[-1], d),
                v.tensor: reads(v, outer, j, c),
            },
            lambda value, at, there: placed(changed, at, there, value),
            heads,
            None if mask is None or not mask.is_read_at(i, j) else apart(mask),
        )
        names = tuple(one.name for one in operations([self._output])[::-1] if isinstance(one, ComputeOp))
        return Attention(operands, written, None if scaled is None else scaled[1], names, self._gpu, tiles)

    def _laid(self, tensor: Tensor, heads: tuple[int, ...]) -> _Laid:
        op = tensor.op
        assert isinstance(op, PlaceholderOp)
        extents = [extent for extent in tensor.shape[-2:] if isinstance(extent, int)]
        _expect(len(extents) == 2 and op.strides is None and op.given is None)
        return _Laid((*heads, *extents), tensor.dtype, None, op.align)
