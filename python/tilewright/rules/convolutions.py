"""Convolutions of images with channels last: what a program says of them, and their stages in whole tiles."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ..dtypes import item_bytes
from ..instructions import WGMMA
from ..schedules.convolutions.definition import Windows
from ..schedules.convolutions.wgmma_operands import ALIGNED, channels_of_places, span_of
from ..schedules.convolutions.wgmma_tiles import Candidate, rows_of_a_step
from ..te import Expr, Tensor, compute, if_then_else
from ..te import all as all_of
from ..te.expr import Call, Cast, Const, IterVar, Read, Select
from ..te.linear import Linear, linear_of
from ..te.rewrite import rewrite
from ..te.tensor import ComputeOp, Operation
from .contraction import contraction_of
from .facts import StageFacts, extent_of
from .moves import through

__all__ = ["Convolution", "InTiles", "Tiled", "convolution_of", "in_tiles", "stored_by_tiles"]

# TMA steps over at most so many elements, and a box has at most so many along each axis.
_LARGEST_STEP, _LARGEST_BOX = 8, 256


@dataclass(frozen=True, slots=True)
class Convolution:
    """A stage that is one, its axes named.

    Those of the results are n, y, x and f. Summed over are r and s, places of the kernel, and c, the channels.
    """

    stage: StageFacts
    windows: Windows
    image: Tensor
    filters: Read
    axes: Mapping[str, IterVar | None]  # none of r and s along which the kernel has one element

    @property
    def dtype(self) -> str:
        return self.image.dtype

    @property
    def along_k(self) -> bool:
        """Whether channels of a filter lie together, and not filters."""
        longer = [i for i, extent in zip(self.filters.indices, self.filters.tensor.shape) if extent != 1]
        return bool(longer) and longer[-1] is self.axes["c"]

    @property
    def span(self) -> int:
        """The bytes of a K tile's row."""
        return span_of(self.windows.channels, item_bytes(self.dtype))

    @property
    def block_k(self) -> int:
        return self.span // item_bytes(self.dtype)

    @property
    def steps(self) -> int:
        """The K tiles of a place of the kernel."""
        return -(-self.windows.channels // self.block_k)

    def weight(self, f: Expr, r: Expr, s: Expr, c: Expr) -> Expr:
        """An element of a filter."""
        places = {id(axis): value for name, value in zip("frsc", (f, r, s, c)) if (axis := self.axes[name]) is not None}
        return rewrite(self.filters, lambda expr: places.get(id(expr)))


@dataclass(frozen=True, slots=True)
class Tiled:
    """How a convolution is to be tiled: the tile, and the stage that stores the results by TMA, if one does."""

    candidate: Candidate
    root: Operation | None


@dataclass(frozen=True, slots=True)
class InTiles:
    """The stages of a convolution in whole tiles: the sums, and what the results' stage reads of them."""

    found: Convolution
    tile: tuple[int, int, int, int]
    over: int  # rows of the kernel that a step serves
    operands: tuple[Tensor, Tensor]
    total: Tensor
    result: Tensor


def convolution_of(stage: StageFacts, ends: Collection[Operation] = ()) -> Convolution | None:
    """The stage as a convolution whose images and filters TMA can step over; None of any other.

    What it reads is what stages move or pad, where these are none of `ends`.
    """
    found = contraction_of(stage)
    if found is None or not stage.is_static or len(stage.spatial) != 4:
        return None
    a, b = found.operand_dtypes
    if a != b or a == "float32" or (a, stage.op.dtype) not in WGMMA:
        return None
    n, y, x, f = stage.spatial
    if [id(axis) for axis in found.m] != [id(axis) for axis in (n, y, x)] or found.batch:
        return None
    parts = [_element_of(arg, ends) for arg in _factors(stage)]
    image, weights = (
        next((one for one in parts if one is not None and one.of.op is access.tensor.op), None)
        for access in (found.a, found.b)
    )
    if image is None or weights is None or weights.conditions or len(image.read.tensor.shape) != 4:
        return None
    read = image.read
    indices = [linear_of(index) for index in read.indices]
    if not _has_static_shape(read.tensor) or any(index is None for index in indices):
        return None
    batch, down, along, channel = (index for index in indices if index is not None)
    height, width = map(extent_of, read.tensor.shape[1:3])
    if not batch.is_just(n) or not _are_inside(image.conditions, (down, along), (height, width)):
        return None
    rows, columns = _moves(down, y), _moves(along, x)
    c = next((axis for axis in found.k if channel.is_just(axis)), None)
    if rows is None or columns is None or c is None:
        return None
    (stride, r, dilation), (across, s, apart) = rows, columns
    summed = {id(axis) for axis in (r, s, c) if axis is not None and _extent(axis) > 1}
    if summed != {id(axis) for axis in found.k if _extent(axis) > 1} or r is s and r is not None:
        return None
    # Axes of one element, which images may not be read at.
    spare = [axis for axis in found.k if _extent(axis) == 1]
    r = spare.pop() if r is None and spare else r
    s = spare.pop() if s is None and spare else s
    out, channels = (_extent(y), _extent(x)), _extent(c)
    what = Windows(
        _extent(n), (height, width), channels, _extent(f), (_extent(r), _extent(s)), (stride, across),
        (dilation, apart), (-down.constant, -along.constant), out,
    )  # fmt: skip
    if (what.batch, channels) != tuple(map(extent_of, (read.tensor.shape[0], read.tensor.shape[3]))):
        return None
    made = Convolution(stage, what, read.tensor, weights.read, {"n": n, "y": y, "x": x, "f": f, "r": r, "s": s, "c": c})
    return made if _can_step(made) and not _is_pointwise(what) else None


def _moves(index: Linear, axis: IterVar) -> tuple[int, IterVar | None, int] | None:
    """How far windows move with an axis of the results, the axis of their elements, and how far these are apart."""
    others = [(one, count) for one, count in index.terms.values() if one is not axis and _extent(one) > 1]
    step = index.of(axis) or 1
    if len(others) > 1 or step < 1 or (not index.of(axis) and _extent(axis) > 1):
        return None
    element, apart = others[0] if others else (None, 1)
    return (step, element, apart) if apart > 0 else None


@dataclass(frozen=True, slots=True)
class _Element:
    """A factor: an element of a tensor where conditions hold, and else zero."""

    of: Tensor  # which the convolution reads
    read: Read  # what that moves or pads
    conditions: list[Expr]


def _factors(stage: StageFacts) -> Sequence[Expr]:
    """What is multiplied, and then added up; none of any other reduction."""
    op = stage.op
    assert isinstance(op, ComputeOp) and op.reduction is not None
    body = op.reduction.exprs[0]
    return body.args if op.reduction.name == "sum" and isinstance(body, Call) and body.op == "mul" else ()


def _element_of(arg: Expr, ends: Collection[Operation]) -> _Element | None:
    """None of a factor that is no element, or something else than zero elsewhere."""
    conditions: list[Expr] = []
    first, casts = None, 0
    while not isinstance(arg, Read) or first is None:
        if isinstance(arg, Read):
            first, arg = arg.tensor, through(arg, ends)
        elif isinstance(arg, Cast) and first is None and casts == 0:
            casts, arg = 1, arg.value
        elif isinstance(arg, Select) and arg.lazy and isinstance(arg.false_value, Const) and arg.false_value.value == 0:
            conditions += _parts(arg.condition)
            arg = arg.true_value
        else:
            return None
    return _Element(first, arg, conditions)


def _are_inside(conditions: Sequence[Expr], indices: Sequence[Linear], extents: Sequence[int]) -> bool:
    """Whether all conditions are that an index is inside of an image."""
    known = [one for index, extent in zip(indices, extents) for one in (index, Linear.number(extent - 1) - index)]
    for condition in conditions:
        least = _at_least_zero(condition)
        if least is None or not any(_is_same(least, one) for one in known):
            return False
    return True


def _parts(condition: Expr) -> Iterator[Expr]:
    """The conditions that one is true with."""
    if isinstance(condition, Call) and condition.op == "and":
        for one in condition.args:
            yield from _parts(one)
    else:
        yield condition


def _at_least_zero(condition: Expr) -> Linear | None:
    """What a comparison asks to be at least zero."""
    if not isinstance(condition, Call) or condition.op not in ("ge", "gt", "le", "lt"):
        return None
    first, second = (linear_of(arg) for arg in condition.args)
    if first is None or second is None:
        return None
    difference = first - second if condition.op in ("ge", "gt") else second - first
    return difference - Linear.number(condition.op in ("gt", "lt"))


def _is_same(one: Linear, other: Linear) -> bool:
    difference = one - other
    return not difference.constant and not difference.terms


def _can_step(found: Convolution) -> bool:
    """Whether TMA copies boxes of the images, and of the filters in the layout that the instruction takes."""
    what, item = found.windows, item_bytes(found.dtype)
    read, axes = found.filters, found.axes
    if what.channels * item % ALIGNED or not _has_static_shape(read.tensor) or not 2 <= len(read.tensor.shape) <= 5:
        return False
    if max(what.strides) > _LARGEST_STEP or max(what.kernel) * max(what.dilations) > _LARGEST_BOX // 2:
        return False
    wanted = [axes[name] for name in "frsc" if (axis := axes[name]) is not None and _extent(axis) > 1]
    seen: list[IterVar] = []
    for index, extent in zip(read.indices, map(extent_of, read.tensor.shape)):
        known = next((axis for axis in wanted if index is axis), None)
        if known is None or _extent(known) != extent:
            if extent == 1:
                continue
            return False
        seen.append(known)
    if len(seen) != len(wanted) or {id(axis) for axis in seen} != {id(axis) for axis in wanted}:
        return False
    last = seen[-1]
    if last is not axes["c"] and (last is not axes["f"] or item != 2):
        return False  # only operands of 16 bits may have columns together
    return _extent(last) * item % ALIGNED == 0


def _is_pointwise(what: Windows) -> bool:
    """Whether it is a matmul of rows of pixels."""
    return what.kernel == what.strides == (1, 1) and what.before == (0, 0) and what.out == what.size


def _has_static_shape(tensor: Tensor) -> bool:
    return all(isinstance(extent, int) for extent in tensor.shape)


def _extent(axis: IterVar | None) -> int:
    return 1 if axis is None or axis.dom is None else extent_of(axis.dom.extent)


def in_tiles(found: Convolution, candidate: Candidate) -> InTiles:
    """The convolution in whole tiles. What they have past the edges is computed, and not stored."""
    tile, _, shares = candidate
    what, op = found.windows, found.stage.op
    shape = (what.batch, *what.out, what.filters)
    whole = tuple(-(-extent // one) * one for extent, one in zip(shape, tile, strict=True))
    phases, over = rows_of_a_step(what.kernel[0], what.strides[0], shares)
    length = found.steps * found.block_k
    As, Bs, accumulated = channels_of_places(
        what, length, whole, phases, over, length, found.image, found.weight, along_k=found.along_k, sums=op.dtype
    )
    total = compute(whole, lambda *at: accumulated(at, 0), name=f"{op.name}_product")
    result = compute(shape, lambda *at: total[at], name=op.name)
    return InTiles(found, tile, over, (As, Bs), total, _from(op, result, As, Bs, total))


def stored_by_tiles(op: Operation, made: InTiles) -> tuple[Tensor, Tensor]:
    """A stage that is made of a convolution, in whole tiles, and the results, which are read of those."""
    assert isinstance(op, ComputeOp)
    whole = made.total.shape
    is_plain = op is made.result.op

    def element(*at: Expr) -> Expr:
        places = dict(zip(map(id, op.axis), at, strict=True))
        value = made.total[at] if is_plain else rewrite(op.body[0], lambda expr: places.get(id(expr)))
        # Nothing but the sums has elements past the edges.
        ends = [index < end for index, end, reached in zip(at, op.shape, whole, strict=True) if end != reached]
        return value if is_plain or not ends else if_then_else(all_of(*ends), value, 0)

    tiled = compute(whole, element, name=f"{op.name}_tiles")
    result = compute(op.shape, lambda *at: tiled[at], name=op.name)
    return tiled, _from(op, result, tiled)


def _from(op: Operation, result: Tensor, *others: Tensor) -> Tensor:
    """The result; errors and views name the line of the operation for all of them."""
    for one in (result, *others):
        one.op.source = op.source
    return result
