"""Convolutions of images with channels last: what a program says of them, and their stages in whole tiles."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod

from ..dtypes import item_bytes
from ..instructions import WGMMA
from ..schedules.convolutions.definition import Windows
from ..schedules.convolutions.wgmma_operands import ALIGNED, KTiles, Weight, channels_of_places, rows_of_the_kernel
from ..schedules.convolutions.wgmma_tiles import BYTES, Candidate, rows_of_a_step
from ..te import Expr, Tensor, compute, if_then_else
from ..te import min as minimum
from ..te.expr import Call, Cast, Const, IterVar, Read, Select
from ..te.linear import Linear, linear_of
from ..te.rewrite import rewrite
from ..te.tensor import ComputeOp, Operation
from .contraction import contraction_of
from .facts import StageFacts, extent_of
from .inlining import inlined
from .moves import through

__all__ = ["Convolution", "InTiles", "Tiled", "convolution_of", "in_tiles", "padded", "stored_by_tiles"]

# TMA steps over at most so many elements, and a box has at most so many along each axis.
_LARGEST_STEP, _LARGEST_BOX = 8, 256


@dataclass(frozen=True, slots=True)
class Convolution:
    """A stage that is one, its axes named.

    Those of the results are n, y, x and f. Summed over are r and s, places of the kernel, and c, the channels.
    """

    stage: StageFacts
    windows: Windows
    dtype: str  # in which tensor cores multiply, "tf32" for float32
    image: Tensor
    order: str  # of n, y, x and c in the image
    filters: Read
    axes: Mapping[str, IterVar | None]  # none of r and s along which the kernel has one element
    held: int = 0  # channels of padded copies of images and filters; 0 where images are read as they are
    moves_filters: bool = False  # to a copy, as TMA cannot step over them as they are

    @property
    def k_tiles(self) -> KTiles:
        return KTiles.of(self.windows, item_bytes(self.dtype))

    @property
    def last(self) -> IterVar | None:
        """The axis along which elements of filters lie together."""
        longer = [i for i, extent in zip(self.filters.indices, self.filters.tensor.shape) if extent != 1]
        return next((axis for axis in self.axes.values() if longer and axis is longer[-1]), None)

    @property
    def reorders_filters(self) -> bool:
        """Whether the instruction takes them in another order than they are in."""
        return self.last is not self.axes["c"] and (self.last is not self.axes["f"] or item_bytes(self.dtype) != BYTES)

    @property
    def copies_filters(self) -> bool:
        """Whether a kernel of its own copies them, where rows of the kernel are not copied."""
        return self.held > 0 or self.moves_filters or self.reorders_filters

    @property
    def along_k(self) -> bool:
        """Whether channels of a filter lie together where the instruction takes them, and not filters."""
        return self.k_tiles.is_row or self.copies_filters or self.last is self.axes["c"]

    @property
    def copies_images(self) -> bool:
        """Whether a kernel of its own copies the images."""
        return self.k_tiles.is_row or self.held > 0

    @property
    def bytes_copied(self) -> int:
        """Of images and filters, which kernels of their own copy. A copy is written, and read again."""
        of_filters = prod(map(extent_of, self.filters.tensor.shape))
        of_images = prod(map(extent_of, self.image.shape)) if self.copies_images else 0
        if self.held:
            of_images = of_images * (self.windows.channels + 2 * self.held) // (3 * self.windows.channels)
        return (of_images + (of_filters if self.k_tiles.is_row or self.copies_filters else 0)) * item_bytes(self.dtype)

    def pixel(self, n: Expr, y: Expr, x: Expr, c: Expr) -> Expr:
        """An element of an image."""
        places = dict(zip("nyxc", (n, y, x, c)))
        return self.image(*(places[name] for name in self.order))

    def weight(self, f: Expr, r: Expr, s: Expr, c: Expr) -> Expr:
        """An element of a filter."""
        places = {id(axis): value for name, value in zip("frsc", (f, r, s, c)) if (axis := self.axes[name]) is not None}
        return rewrite(self.filters, lambda expr: places.get(id(expr)))


@dataclass(frozen=True, slots=True)
class Tiled:
    """How a convolution is to be tiled."""

    candidate: Candidate
    held: int  # channels of padded copies of images, 0 where there are none
    root: Operation | None  # the stage that stores the results by TMA, if one does
    between: tuple[Operation, ...] = ()


@dataclass(frozen=True, slots=True)
class InTiles:
    """The stages of a convolution in whole tiles: the sums, and what the results' stage reads of them."""

    found: Convolution
    tile: tuple[int, int, int, int]
    over: int  # rows of the kernel that a step serves
    operands: tuple[Tensor, Tensor]
    copied: list[Tensor]  # workspaces, which kernels of their own write
    total: Tensor
    result: Tensor


def convolution_of(stage: StageFacts, ends: Collection[Operation] = ()) -> Convolution | None:
    """The stage as a convolution whose images and filters TMA can step over; None of any other.

    What it reads is what stages move or pad, where these are none of `ends`.
    """
    found = contraction_of(stage)
    if found is None or not stage.is_static or len(stage.spatial) != 4:
        return None
    a, b = found.factor_dtypes
    if a != b or (a, stage.op.dtype) not in WGMMA:
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
    for order in ("nyxc", "ncyx"):
        by = {name: index for name, index in zip(order, indices) if index is not None}
        c = next((axis for axis in found.k if by["c"].is_just(axis)), None)
        if c is not None and by["n"].is_just(n):
            break
    else:
        return None
    down, along = by["y"], by["x"]
    height, width = (extent_of(read.tensor.shape[order.index(name)]) for name in "yx")
    if not _are_inside(image.conditions, (down, along), (height, width)):
        return None
    rows, columns = _moves(down, y), _moves(along, x)
    if rows is None or columns is None:
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
    if (what.batch, channels) != tuple(extent_of(read.tensor.shape[order.index(name)]) for name in "nc"):
        return None
    made = Convolution(
        stage, what, a, read.tensor, order, weights.read, {"n": n, "y": y, "x": x, "f": f, "r": r, "s": s, "c": c}
    )
    if _is_pointwise(what):
        return None
    # Copies have pixels of whole 16 bytes.
    ways = made, replace(made, moves_filters=True), padded(made, ALIGNED)
    return next((one for one in ways if _can_step(one)), None)


def padded(found: Convolution, grain: int) -> Convolution:
    """The convolution of copies whose pixels are a multiple of so many bytes."""
    lanes = grain // item_bytes(found.dtype)
    return replace(found, held=-(-found.windows.channels // lanes) * lanes)


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
    """Whether TMA copies boxes of the images, and of the filters, where these are not copied first."""
    what, item = found.windows, item_bytes(found.dtype)
    read, axes = found.filters, found.axes
    if not _has_static_shape(read.tensor):
        return False
    wanted = [axis for name in "frsc" if (axis := axes[name]) is not None and _extent(axis) > 1]
    seen: list[IterVar] = []
    for index, extent in zip(read.indices, map(extent_of, read.tensor.shape)):
        known = next((axis for axis in wanted if index is axis), None)
        if known is not None and _extent(known) == extent:
            seen.append(known)
        elif extent != 1:
            return False
    if len(seen) != len(wanted) or {id(axis) for axis in seen} != {id(axis) for axis in wanted}:
        return False
    if found.k_tiles.is_row:
        # Rows of images are copied by windows that share none.
        return what.strides[0] <= _LARGEST_STEP or what.kernel[0] <= what.strides[0]
    if max(what.strides) > _LARGEST_STEP:
        return False
    if not found.held and (found.order != "nyxc" or what.channels * item % ALIGNED):
        return False
    if max(what.kernel) * max(what.dilations) > _LARGEST_BOX // 2:
        return False
    if found.copies_filters:
        return True
    return len(read.tensor.shape) <= 5 and found.last is not None and _extent(found.last) * item % ALIGNED == 0


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
    k_tiles = found.k_tiles
    if k_tiles.is_row:
        copied, As, Bs, accumulated = rows_of_the_kernel(
            what, k_tiles, whole, phases, over, k_tiles.length, found.pixel, found.weight
        )
    else:
        weight: Weight = found.weight
        copied = list[Tensor]()
        image = found.image
        if found.copies_filters:
            held = found.held or what.channels
            copy = compute((what.filters, *what.kernel, held), _with_zeros(found.weight, what.channels), name="filters")
            weight, copied = copy, [copy]
        if found.held:
            of_images = (what.batch, *what.size, found.held)
            image = compute(of_images, _with_zeros(found.pixel, what.channels), name="pixels")
            copied.append(image)
        As, Bs, accumulated = channels_of_places(
            what, k_tiles.length, whole, phases, over, k_tiles.length, image, weight,
            along_k=found.along_k, sums=op.dtype,
        )  # fmt: skip
    total = compute(whole, lambda *at: accumulated(at, 0), name=f"{op.name}_product", attrs=op.attrs)
    result = compute(shape, lambda *at: total[at], name=op.name)
    return InTiles(found, tile, over, (As, Bs), copied, total, _from(op, result, As, Bs, total, *copied))


def _with_zeros(element: Weight, channels: int) -> Weight:
    """An element with zeros behind the last of so many channels."""

    def made(*at: Expr) -> Expr:
        return if_then_else(at[-1] < channels, element(*at), 0)

    return made


def stored_by_tiles(op: Operation, made: InTiles, between: Collection[Operation]) -> tuple[Tensor, Tensor]:
    """A stage that is made of a convolution, in whole tiles, and the results, which are read of those.

    `between` are the stages that the stage reads the convolution through.
    """
    assert isinstance(op, ComputeOp)
    whole, is_plain = made.total.shape, op is made.result.op
    ends = [end if end != reached else None for end, reached in zip(op.shape, whole, strict=True)]

    def element(*at: Expr) -> Expr:
        if is_plain:
            return made.total[at]
        # Nothing but the sums has elements past the edges. Of a pixel there the last one's are read, and not used.
        inside = [*(one if end is None else minimum(one, end - 1) for one, end in zip(at[:3], ends)), at[3]]
        places = dict(zip(map(id, op.axis), inside, strict=True))

        def replace(part: Expr) -> Expr | None:
            if isinstance(part, Read) and part.tensor.op is made.result.op:
                return made.total[at]
            return places.get(id(part))

        value = rewrite(inlined(op.body[0], between), replace)
        return value if ends[3] is None else if_then_else(at[3] < ends[3], value, 0)

    tiled = compute(whole, element, name=f"{op.name}_tiles")
    result = compute(op.shape, lambda *at: tiled[at], name=op.name)
    return tiled, _from(op, result, tiled)


def _from(op: Operation, result: Tensor, *others: Tensor) -> Tensor:
    """The result; errors and views name the line of the operation for all of them."""
    for one in (result, *others):
        one.op.source = op.source
    return result
