"""The operands of convolutions by warpgroups: stages whose tiles TMA loads and the instruction takes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ...te import Expr, Tensor, compute, if_then_else, indexdiv, indexmod, reduce_axis, select, sum
from ...te import all as all_of
from ...te import max as maximum
from ...te import min as minimum
from .definition import Convolution, Windows
from .wgmma_tiles import BYTES, SPANS

__all__ = [
    "ALIGNED",
    "GRANULE",
    "KTiles",
    "Operands",
    "Weight",
    "channels_of_places",
    "operands_of",
    "rows_of_the_kernel",
]

ALIGNED = 16  # what strides of tensors are multiples of for TMA
GRANULE = ALIGNED // BYTES  # in elements
_WORTH = 0.8  # what K tiles of half the bytes have at most of the elements of whole ones, to be taken
_NARROW = 24  # the most channels of which a row of the kernel is a step


Accumulated = Callable[[Sequence[Expr], Expr | int], Expr]
"""The matmul at an element of Y, of a part of the channels."""
Weight = Callable[[Expr, Expr, Expr, Expr], Expr]


@dataclass(frozen=True, slots=True)
class KTiles:
    """What a K tile is: channels of one place of the kernel, or a row of the kernel with few channels."""

    lanes: int  # elements of a pixel in the workspace that such rows are read from; 0 of channels
    length: int  # elements of whole K tiles
    block_k: int
    item: int = BYTES

    @property
    def is_row(self) -> bool:
        return self.lanes > 0

    @property
    def count(self) -> int:
        return self.length // self.block_k

    @property
    def span(self) -> int:
        """The bytes of a K tile's row."""
        return self.block_k * self.item

    @classmethod
    def of(cls, what: Windows, item: int = BYTES) -> KTiles:
        channels, kernel, stride = what.channels, what.kernel[1], what.strides[1]
        lanes = 0
        is_few = channels < GRANULE or channels <= _NARROW and _saves_by_rows(channels, kernel)
        if what.dilations == (1, 1) and is_few and item == BYTES:
            widths = (1, 2, 4, GRANULE) if channels < GRANULE else (channels,)
            lanes = next(width for width in widths if width >= channels and width * stride % GRANULE == 0)
        granule = ALIGNED // item
        length = kernel * lanes if lanes else -(-channels // granule) * granule
        span = next((one for one in SPANS if one >= length * item), SPANS[-1])
        if span == SPANS[-1] and _padded(length, span // 2, item) <= _WORTH * _padded(length, span, item):
            span //= 2
        return cls(lanes, _padded(length, span, item), span // item, item)


@dataclass(frozen=True, slots=True)
class Operands:
    """X and W, the stages that have their elements as the instruction takes them, and their matmul."""

    X: Tensor
    W: Tensor
    copied: list[Tensor]  # workspaces, which kernels of their own write
    As: Tensor
    Bs: Tensor
    accumulated: Accumulated


def rows_of_the_kernel(
    what: Windows, k_tiles: KTiles, whole: Sequence[int], phases: int, over: int, share: int, image: Weight,
    weight: Weight,
) -> tuple[list[Tensor], Tensor, Tensor, Accumulated]:  # fmt: skip
    """A K tile is a row of the kernel, whose elements are contiguous in a workspace with the margin.

    `image` reads an element of an image, a row, a column and a channel, and `weight` as that of `channels_of_places`.
    The workspaces of images and filters, the stages of both operands, and their matmul.
    """
    lanes, length, (stride, across) = k_tiles.lanes, k_tiles.length, what.strides
    (height, width), (above, left), channels, (kernel, columns) = what.size, what.before, what.channels, what.kernel
    n, h, w, f = whole
    h += over - 1
    # Rows that no other window has, as those of patches, are counted in their window: TMA steps over few rows.
    is_apart = kernel <= stride and over == 1
    # Rows and columns that the last tiles and the last elements of a step reach are there.
    high = (h, phases) if is_apart else ((h - 1) * stride + phases,)
    wide = -(-((w - 1) * across * lanes + length) // GRANULE) * GRANULE

    def framed(n: Expr, *at: Expr) -> Expr:
        # An element is read for each, so that those of a pixel are stored at once.
        *rows, e = at
        y = rows[0] * stride + rows[1] if is_apart else rows[0]
        places = (n, y - above, indexdiv(e, lanes) - left, indexmod(e, lanes))
        ends = (what.batch, height, width, channels)
        inside = all_of(*(one >= 0 for one in places[1:3]), *(one < end for one, end in zip(places, ends, strict=True)))
        read = (maximum(minimum(one, end - 1), 0) for one, end in zip(places, ends, strict=True))
        return select(inside, image(*read), 0)

    def row(r: Expr, f: Expr, e: Expr) -> Expr:
        x, c = indexdiv(e, lanes), indexmod(e, lanes)
        inside = all_of(f < what.filters, r < kernel, x < columns, c < channels)
        return if_then_else(inside, weight(f, r, x, c), 0)

    Xp = compute((n, *high, wide), framed, name="Xp")
    Wp = compute((over * phases, f, length), row, name="Wp")
    As = compute(
        (n, h, w, phases, length),
        lambda n, y, x, b, e: Xp(n, *((y, b) if is_apart else (y * stride + b,)), x * (across * lanes) + e),
        name="As",
    )
    Bs = compute((phases, over, f, length), lambda b, r, f, e: Wp[r * phases + b, f, e], name="Bs")
    r, b, c = reduce_axis((0, over), "r"), reduce_axis((0, phases), "phase"), reduce_axis((0, share), "c")

    def accumulated(at: Sequence[Expr], part: Expr | int) -> Expr:
        n, y, x, f = at
        return sum(As[n, y + r, x, b, c].astype("float32") * Bs[b, r, f, c].astype("float32"), axis=[r, b, c])

    return [Xp, Wp], As, Bs, accumulated


def channels_of_places(
    what: Windows, length: int, whole: Sequence[int], phases: int, over: int, share: int, image: Tensor, weight: Weight,
    *, along_k: bool = True, sums: str = "float32",
) -> tuple[Tensor, Tensor, Accumulated]:  # fmt: skip
    """A K tile is channels of one place of the kernel: the stages of both operands, and their matmul.

    The channels are padded to `length` elements, and sums have the type `sums`. The image has its channels last, and
    may have more than the filters. `weight` reads an element of a filter, a row and a column of the kernel, and a
    channel. The stage of the filters has channels together, or else filters.
    """
    (stride, across), (dilation, apart), (above, left) = what.strides, what.dilations, what.before
    (height, width), (kernel, columns), held = what.size, what.kernel, image.shape[-1]
    n, h, w, f = whole
    h += (over - 1) * dilation

    def pixel(n: Expr, y: Expr, x: Expr, c: Expr) -> Expr:
        inside = all_of(n < what.batch, y >= 0, y < height, x >= 0, x < width, c < held)
        return if_then_else(inside, image[n, y, x, c], 0)

    def element(r: Expr, q: Expr, f: Expr, c: Expr) -> Expr:
        return if_then_else(all_of(f < what.filters, r < kernel, c < held), weight(f, r, q, c), 0)

    As = compute(
        (n, h, w, phases, columns, length),
        lambda n, y, x, b, q, c: pixel(n, y * stride + b * dilation - above, x * across + q * apart - left, c),
        name="As",
    )
    if along_k:
        Bs = compute(
            (phases, columns, over, f, length), lambda b, q, r, f, c: element(r * phases + b, q, f, c), name="Bs"
        )
    else:
        Bs = compute(
            (phases, columns, over, length, f), lambda b, q, r, c, f: element(r * phases + b, q, f, c), name="Bs"
        )
    r, b = reduce_axis((0, over), "r"), reduce_axis((0, phases), "phase")
    q, c = reduce_axis((0, columns), "s"), reduce_axis((0, share), "c")

    def accumulated(at: Sequence[Expr], part: Expr | int) -> Expr:
        n, y, x, f = at
        channel = part * share + c
        a = As[n, y + r * dilation, x, b, q, channel]
        other = Bs[b, q, r, f, channel] if along_k else Bs[b, q, r, channel, f]
        return sum(a.astype(sums) * other.astype(sums), axis=[r, b, q, c])

    return As, Bs, accumulated


def _channels_of_places(
    what: Convolution, k_tiles: KTiles, whole: Sequence[int], phases: int, over: int, share: int
) -> Operands:
    """A K tile is channels of one place of the kernel, of the tensors or, where TMA needs it, of padded copies."""
    X, W = what.placeholders()
    held = -(-what.channels // GRANULE) * GRANULE
    copied: list[Tensor] = []

    def padded(tensor: Tensor, name: str) -> Tensor:
        if held == what.channels:
            return tensor
        shape = (*tensor.shape[:3], held)
        value = compute(shape, lambda *at: if_then_else(at[-1] < what.channels, tensor[at], 0), name=name)
        copied.append(value)
        return value

    Xp, Wp = padded(X, "Xp"), padded(W, "Wp")
    made = channels_of_places(
        what.windows, k_tiles.length, whole, phases, over, share, Xp, lambda f, r, q, c: Wp[f, r, q, c]
    )
    return Operands(X, W, copied, *made)


def operands_of(
    what: Convolution, k_tiles: KTiles, whole: Sequence[int], phases: int, over: int, share: int
) -> Operands:
    """Those of whole tiles: a step has `over` rows of the kernel, one of `phases`, and a block `share` elements."""
    if not k_tiles.is_row:
        return _channels_of_places(what, k_tiles, whole, phases, over, share)
    X, W = what.placeholders()
    made = rows_of_the_kernel(what.windows, k_tiles, whole, phases, over, share, X, W)
    return Operands(X, W, *made)


def _saves_by_rows(channels: int, kernel: int) -> bool:
    """Whether steps of whole rows of the kernel are fewer elements than steps of the channels of each place."""

    def whole(length: int) -> int:
        return _padded(length, next((one for one in SPANS if one >= length * BYTES), SPANS[-1]))

    # With a kernel of three there is little to save, and small images wait for the kernels that copy.
    return kernel > 3 and channels % GRANULE == 0 and whole(kernel * channels) < kernel * whole(channels)


def _padded(length: int, span: int, item: int = BYTES) -> int:
    """The elements of whole K tiles of so many bytes."""
    return -(-length * item // span) * span // item
