"""Convolutions by the warpgroups of sm_90a, which asynchronous copies feed."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...devices import current
from ...dtypes import item_bytes
from ...errors import TilewrightValueError as ValueError
from ...instructions import wgmma
from ...te import (
    Expr,
    IterVar,
    Tensor,
    compute,
    if_then_else,
    indexdiv,
    indexmod,
    placeholder,
    reduce_axis,
    sum,
    thread_axis,
)
from ...te import all as all_of
from ...te.schedule import Schedule, Stage, create_schedule
from ..sizes import sizes
from ..workspaces import add_up, copy
from .wgmma_tiles import (
    BYTES,
    MAX_STAGES,
    SPANS,
    Problem,
    choose,
    columns_at_once,
    rows_of_a_step,
    shared_bytes,
    slot_bytes,
)

__all__ = ["conv2d_wgmma"]

_DTYPES = ("float16", "bfloat16")
_MADE = ("float16", "bfloat16", "float32")
_ALIGNED = 16  # what strides of tensors are multiples of for TMA
_WORTH = 0.8  # what K tiles of half the bytes have at most of the elements of whole ones, to be taken
_NARROW = 24  # the most channels of which a row of the kernel is a step


@sizes(batch=0, channels=0, size=0, filters=0, kernel=1)
def conv2d_wgmma(
    batch: int,
    channels: int,
    size: int,
    filters: int,
    kernel: int,
    in_dtype: str = "float16",
    out_dtype: str | None = None,
    *,
    stride: int = 1,
    dilation: int = 1,
    epilogue: Callable[..., Expr] | None = None,
    operands: Sequence[Tensor] = (),
    tile: tuple[int, int, int, int] | None = None,
    split_k: int | None = None,
    share_rows: bool | None = None,
    stages: int | None = None,
    consumers: int = 1,
    cluster: tuple[int, int] = (1, 1),
    blocks: int | None = 0,
    group: int = 8,
) -> tuple[Schedule, list[Tensor]]:
    """Y = X * W by ``wgmma``, channels last, with a float32 accumulator.

    X is batch x size x size x channels. W is filters x kernel x kernel x channels. Y is batch x out x out x filters.
    Each has type `in_dtype`, and Y `out_dtype` if that is given.

    The images have a margin of kernel // 2 times the dilation zeros. A block computes a `tile` of images, rows, columns
    and filters, and each warpgroup 64 pixels of it. A K tile is up to 128 bytes of the channels. The pixels that one
    place of the kernel reads are a box of X. TMA loads this box for the next `stages - 1` K tiles, with zeros outside
    of the image. With `share_rows`, a TMA load serves several rows of the kernel, whose boxes overlap. With a stride of
    1 it serves all rows, which loads a third of X for three rows. With a stride of 2 it serves every second row.
    Warpgroups then have pixels of one image, in rows of multiples of 8.

    With two `consumers`, a block has two sets of consumer warpgroups, which alternate (ping-pong): one multiplies while
    the other stores.

    Where there are too few tiles for a GPU, `split_k` blocks share the channels of each tile, and another kernel adds
    their results. A `cluster` has as many tiles of pixels and of filters; its blocks multicast the loads that they have
    in common. As many blocks as the device has SMs, or `blocks`, are persistent (None: a block for each tile). They
    take tiles in groups of `group` rows of tiles.

    If the channels are fewer than 16 bytes, a first kernel copies the images to a workspace. The workspace has the
    margin, and as many elements per pixel as a TMA step needs. A K tile is then a row of the kernel, whose elements are
    contiguous, and TMA loads overlapping boxes of it. The same is done for 8 and 24 channels with kernels of five
    or more, if such K tiles have fewer elements in all.

    `epilogue` is a function of the accumulator and of n, y, x and the filter. It may read `operands`, the arguments
    between W and Y. It is computed in registers.

    Raises
    ------
    ValueError
        Where the types are not float16 or bfloat16; where `tile` has no multiple of 64 pixels or of 8 filters that
        warpgroups can share, or `split_k` does not divide the steps of the channels; where rows cannot be shared.

    >>> import tilewright as tw
    >>> func = tw.build(*conv2d_wgmma(1, 64, 16, 64, 3), target="cuda -arch=sm_90a", name="conv2d")
    >>> "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16" in func.ptx
    True
    """
    out_dtype = out_dtype or in_dtype
    if in_dtype not in _DTYPES or out_dtype not in _MADE:
        raise ValueError(
            f"expected images of {' or '.join(_DTYPES)} and results of {', '.join(_MADE)}, got {in_dtype} and "
            f"{out_dtype}"
        )
    margin = kernel // 2 * dilation
    out = (size + 2 * margin - dilation * (kernel - 1) - 1) // stride + 1
    granule = _ALIGNED // BYTES
    # A few channels: a row of the kernel is a step. Else a step is channels of one place.
    is_narrow = dilation == 1 and (channels < granule or channels <= _NARROW and _saves_by_rows(channels, kernel))
    lanes = 0
    if is_narrow:
        widths = (1, 2, 4, granule) if channels < granule else (channels,)
        lanes = next(width for width in widths if width >= channels and width * stride % granule == 0)
    length = kernel * lanes if is_narrow else -(-channels // granule) * granule
    span = next((one for one in SPANS if one >= length * BYTES), SPANS[-1])
    if span == SPANS[-1] and _padded(length, span // 2) <= _WORTH * _padded(length, span):
        span //= 2
    block_k = span // BYTES
    length = _padded(length, span)
    if tile is None:
        tile, split_k, share_rows = choose(
            Problem(batch, out, filters, kernel, dilation, length // block_k, block_k, stride, is_narrow),
            split_k,
            share_rows,
        )
    split_k = split_k or 1
    images, rows, columns, width = tile
    pixels = images * rows * columns
    warpgroups = pixels // 64
    shared_by = (
        (images // warpgroups, rows, columns)
        if warpgroups and images % warpgroups == 0
        else (images, rows // warpgroups, columns)
        if warpgroups and images == 1 and rows % warpgroups == 0
        else None
    )
    if (
        pixels % 64
        or shared_by is None
        or width % 8
        or width > 256
        or (length // block_k) % split_k
        or (is_narrow and split_k > 1)
    ):
        raise ValueError(
            "expected a tile of whole images, or of rows of one, that warpgroups share, 64 pixels each, and of a "
            f"multiple of 8 filters up to 256, and a split_k that divides {length // block_k} K tiles of the channels, "
            f"got a tile of {tile} and a split_k of {split_k}"
        )
    can_share = kernel > stride and 1 in (stride, dilation) and columns % 8 == 0 and shared_by[0] == 1
    if share_rows is None:
        share_rows = can_share
    elif share_rows and not can_share:
        raise ValueError(
            "expected a kernel larger than the stride, without dilation unless that is 1, and tiles with rows of "
            "multiples of 8 pixels, of one image for each warpgroup, to share rows, got a kernel of "
            f"{kernel} with stride {stride} and dilation {dilation}, and a tile of {tile}"
        )
    # Row r of the kernel is number r // phases of those that share what a step fetches; a stride has as many steps.
    phases, over = rows_of_a_step(kernel, stride, share_rows)

    # What tiles have past the edges is computed, and not stored.
    whole = tuple(-(-extent // one) * one for extent, one in zip((batch, out, out, filters), tile, strict=True))
    share = length // split_k
    X = placeholder((batch, size, size, channels), in_dtype, name="X")
    W = placeholder((filters, kernel, kernel, channels), in_dtype, name="W")
    copied: list[Tensor] = []
    r, b = reduce_axis((0, over), "r"), reduce_axis((0, phases), "phase")
    q, c = reduce_axis((0, kernel), "s"), reduce_axis((0, share), "c")
    n, h, w, f = whole
    h += (over - 1) * dilation

    if is_narrow:
        # Rows and columns that the last tiles and the last elements of a step reach are there.
        high = (h - 1) * stride + phases
        across = -(-((w - 1) * stride * lanes + length) // granule) * granule

        def framed(n: Expr, y: Expr, e: Expr) -> Expr:
            x, c = indexdiv(e, lanes) - margin, indexmod(e, lanes)
            inside = all_of(n < batch, y >= margin, y < size + margin, x >= 0, x < size, c < channels)
            return if_then_else(inside, X[n, y - margin, x, c], 0)

        def row(r: Expr, f: Expr, e: Expr) -> Expr:
            x, c = indexdiv(e, lanes), indexmod(e, lanes)
            return if_then_else(all_of(f < filters, r < kernel, x < kernel, c < channels), W[f, r, x, c], 0)

        Xp = compute((n, high, across), framed, name="Xp")
        Wp = compute((over * phases, f, length), row, name="Wp")
        copied += [Xp, Wp]
        As = compute(
            (n, h, w, phases, length),
            lambda n, y, x, b, e: Xp[n, y * stride + b, x * (stride * lanes) + e],
            name="As",
        )
        Bs = compute((phases, over, f, length), lambda b, r, f, e: Wp[r * phases + b, f, e], name="Bs")
        summed = [r, b, c]

        def factors(n: Expr, y: Expr, x: Expr, f: Expr, part: Expr | int) -> tuple[Expr, Expr]:
            return As[n, y + r, x, b, c], Bs[b, r, f, c]
    else:
        Xp, Wp = X, W
        held = -(-channels // granule) * granule
        if held != channels:

            def padded(tensor: Tensor, name: str) -> Tensor:
                shape = (*tensor.shape[:3], held)
                value = compute(shape, lambda *at: if_then_else(at[-1] < channels, tensor[at], 0), name=name)
                copied.append(value)
                return value

            Xp, Wp = padded(X, "Xp"), padded(W, "Wp")

        def pixel(n: Expr, y: Expr, x: Expr, c: Expr) -> Expr:
            inside = all_of(n < batch, y >= 0, y < size, x >= 0, x < size, c < held)
            return if_then_else(inside, Xp[n, y, x, c], 0)

        def element(r: Expr, q: Expr, f: Expr, c: Expr) -> Expr:
            return if_then_else(all_of(f < filters, r < kernel, c < held), Wp[f, r, q, c], 0)

        As = compute(
            (n, h, w, phases, kernel, length),
            lambda n, y, x, b, q, c: pixel(
                n, y * stride + b * dilation - margin, x * stride + q * dilation - margin, c
            ),
            name="As",
        )
        Bs = compute(
            (phases, kernel, over, f, length), lambda b, q, r, f, c: element(r * phases + b, q, f, c), name="Bs"
        )
        summed = [r, b, q, c]

        def factors(n: Expr, y: Expr, x: Expr, f: Expr, part: Expr | int) -> tuple[Expr, Expr]:
            at = part * share + c
            return As[n, y + r * dilation, x, b, q, at], Bs[b, q, r, f, at]

    def product(at: Sequence[Expr], part: Expr | int) -> Expr:
        a, b = factors(at[0], at[1], at[2], at[3], part)
        return sum(a.astype("float32") * b.astype("float32"), axis=summed)

    def result(value: Expr, *at: Expr) -> Expr:
        return (epilogue(value, *at) if epilogue else value).astype(out_dtype)

    shape = (batch, out, out, filters)
    made = out_dtype if split_k == 1 else "float32"
    # The engine stores rows that it can step over.
    is_copied = filters * item_bytes(made) % _ALIGNED == 0 and width * item_bytes(made) % SPANS[-1] == 0
    if split_k == 1:
        P = compute(whole, lambda *at: product(at, 0), name="P")

        def inside(*at: Expr) -> Expr:
            # Operands have no elements past the edges.
            ends = [index < end for index, end, reached in zip(at, shape, whole, strict=True) if end != reached]
            value = result(P[at], *at)
            return if_then_else(all_of(*ends), value, 0) if operands and ends else value

        stored = compute(whole, inside, name="made") if is_copied else None
        Y = tiled = compute(shape, lambda *at: stored[at] if stored is not None else result(P[at], *at), name="Y")
        total = None
    else:

        def of_part(part: Expr, *at: Expr) -> Expr:
            return product(at, part)

        P = compute((split_k, *whole), of_part, name="P")
        stored = compute((split_k, *whole), lambda *at: P[at], name="made") if is_copied else None
        tiled = compute((split_k, *shape), lambda *at: P[at] if stored is None else stored[at], name="parts")
        part = reduce_axis((0, split_k), "part")
        total = compute(shape, lambda *at: sum(tiled[(part, *at)], axis=part), name="total")
        Y = compute(shape, lambda *at: result(total[at], *at), name="Y")

    s = create_schedule(Y.op)
    for one in copied:
        _write_pixels(s[one], lanes) if lanes else copy(s[one])
    if total is not None:
        add_up(s, Y, total)
    outer, inner = list[IterVar](), list[IterVar]()
    *some, n, y, x, f = s[tiled].op.axis
    for axis, extent in zip((n, y, x, f), tile, strict=True):
        block, rest = s[tiled].split(axis, factor=extent)
        outer.append(block)
        inner.append(rest)
    s[tiled].reorder(*some, *outer, *inner)
    by, bx = s[tiled].fuse(*outer[:3]), outer[3]
    for axis, tag in zip((*some, by, bx), ("blockIdx.z", "blockIdx.y", "blockIdx.x")[-2 - len(some) :], strict=True):
        s[tiled].bind(axis, thread_axis(tag))
    s[tiled].env_threads([thread_axis((0, 128), "threadIdx.x")])
    bytes_stored = 0
    slot = slot_bytes(tile, over, dilation, span)
    if stored is not None:
        # All columns at once where that leaves room for the tiles of three steps.
        at_once = columns_at_once(pixels * consumers, width, item_bytes(made), slot)
        s[stored].set_scope("shared")
        s[stored].compute_at(s[tiled], bx)
        s[tiled].copy_by("tma", swizzle=SPANS[-1], columns=at_once)
        bytes_stored = pixels * consumers * at_once * item_bytes(made)
        n, y, x, f = s[stored].op.axis[-4:]
        ends = stored
    else:
        n, y, x, f = inner
        ends = tiled
    by_images = images % warpgroups == 0
    warpgroup, rest = s[ends].split(n if by_images else y, nparts=warpgroups)
    s[ends].reorder(warpgroup, *((rest, y) if by_images else (n, rest)), x, f)
    s[ends].bind(warpgroup, thread_axis("threadIdx.y"))

    s[P].set_scope("local")
    s[P].compute_at(s[ends], warpgroup)
    *_, n, y, x, f = s[P].op.axis
    r, *places, c = s[P].op.reduce_axis
    co, ci = s[P].split(c, factor=block_k)
    s[P].reorder(*places, co, r, n, y, x, f, ci)
    ko = s[P].fuse(*places, co)
    s[P].tensorize(n, wgmma(in_dtype, "float32", n=width, k=block_k, rows=shared_by, transpose_b=True))
    for stage in (As, Bs):
        s[stage].set_scope("shared")
        s[stage].compute_at(s[P], ko)
        s[stage].copy_by("tma", swizzle=span)
    s[P].software_pipeline(ko, stages or max(2, min((shared_bytes() - bytes_stored) // slot, MAX_STAGES)))
    multiplying = warpgroups * consumers
    copying = 40 if multiplying < 3 else 24
    each = min(256, current().sm.registers_per_sm // (128 * (multiplying + 1)) // 8 * 8)
    registers = min(240, (each + (each - copying) // multiplying) // 8 * 8)
    s[P].specialize(ko, copying, registers, consumers=consumers)
    for axis, number in zip((by, bx), cluster, strict=True):
        if number > 1:
            s[tiled].cluster(axis, number)
    if blocks is not None:
        s[tiled].persistent(blocks or current().sms, raster="grouped", group=group)
    return s, [X, W, *operands, Y]


def _saves_by_rows(channels: int, kernel: int) -> bool:
    """Whether steps of whole rows of the kernel are fewer elements than steps of the channels of each place."""

    def whole(length: int) -> int:
        return _padded(length, next((one for one in SPANS if one >= length * BYTES), SPANS[-1]))

    # With a kernel of three there is little to save, and small images wait for the kernels that copy.
    return kernel > 3 and channels % (_ALIGNED // BYTES) == 0 and whole(kernel * channels) < kernel * whole(channels)


def _padded(length: int, span: int) -> int:
    """The elements of whole K tiles of so many bytes."""
    return -(-length * BYTES // span) * span // BYTES


def _write_pixels(stage: Stage, lanes: int) -> None:
    """A kernel of its own, in which neighbouring threads have neighbouring pixels, all elements of each."""
    *outer, e = stage.op.axis
    pixel, c = stage.split(e, factor=min(lanes, _ALIGNED // BYTES))
    block, thread = stage.split(stage.fuse(*outer, pixel), factor=256)
    stage.bind(block, thread_axis("blockIdx.x"))
    stage.bind(thread, thread_axis("threadIdx.x"))
    stage.vectorize(c)
